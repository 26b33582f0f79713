//! `assess_image`: answers a question about an image.

use agenticiqa::state::QualityLevel;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::sync::mpsc::unbounded_channel;

use super::arguments::{self, AssessArguments};
use super::maps::{self, Wanted};
use super::pictures::name_of;
use super::progress::{self, Progress};
use super::results::AssessResult;
use super::{Reply, Service, words};
use crate::error::Problem;
use crate::requests::AssessRequest;

impl Service {
    /// Answers a question and reports progress.
    pub(super) async fn assess(
        &self,
        arguments: AssessArguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, Problem> {
        let request = AssessRequest {
            query: arguments.query,
            options: arguments.options.unwrap_or_default(),
            regions: arguments::regions(arguments.regions)?,
            max_replan_iterations: arguments.max_replan_iterations,
            tools: arguments.tools.unwrap_or_default(),
            ..AssessRequest::default()
        };
        request.check(self.app.limits.query)?;
        let map = arguments.map.filter(|tool| !tool.trim().is_empty());
        if let Some(tool) = &map {
            maps::check(&self.app, tool, arguments.reference.is_some())?;
        }
        let image = self.picture(context, "image", &arguments.image, "picture").await?;
        let reference = self.reference(context, arguments.reference.as_deref()).await?;
        let mut progress = Progress::of(context, None);
        let assessment = self.app.prepare(request, image.clone(), reference.clone()).await?;
        progress.step("images loaded").await;
        let (tell, heard) = unbounded_channel();
        let work = self.app.assess(assessment, move |event| {
            if let Some(line) = progress::line(event) {
                // Sending fails only after the client has disconnected.
                drop(tell.send(line));
            }
        });
        let answer = progress.through(heard, work).await?;
        let direction =
            |name: &str| self.app.registry().get(name).ok().and_then(|tool| tool.metadata().lower_is_better);
        let mut result = AssessResult::new(answer, direction);
        let mut pictures = Vec::new();
        if let Some(tool) = map {
            let named = |image| (name_of(&image), image);
            let wanted = Wanted { tool, image: named(image), against: reference.map(named), region: None };
            let (map, png) = maps::draw(&self.app, wanted, maps::MAX_BYTES).await?;
            result.map = Some(map);
            pictures.push(png);
        }
        Reply::new(text(&result), &result, pictures)
    }
}

/// Formats the result as text.
fn text(result: &AssessResult) -> String {
    let mut lines = vec![format!("Answer: {}", result.final_answer)];
    if let Some(score) = result.quality_score {
        let level = result.quality_level.map(QualityLevel::name);
        lines.push(format!("Quality: {}", words::score(score, level, result.score_interval)));
    }
    if !result.reasoning.is_empty() {
        lines.push(format!("Reasoning: {}", result.reasoning));
    }
    let distortions: Vec<String> = result
        .distortions
        .iter()
        .map(|found| {
            let severity = found.severity.as_ref().map(|severity| format!(" ({severity})")).unwrap_or_default();
            format!("{}{severity} of {}", found.distortion, found.object)
        })
        .collect();
    if !distortions.is_empty() {
        lines.push(format!("Distortions: {}", distortions.join("; ")));
    }
    if !result.contributions.is_empty() {
        let parts = result.contributions.iter().map(|part| format!("{} {:+.2}", part.name, part.value));
        lines.push(format!("Parts of the score: {}", parts.collect::<Vec<_>>().join("; ")));
    }
    if !result.recommendations.is_empty() {
        lines.push(format!("What to do: {}", result.recommendations.join(" ")));
    }
    if let Some(map) = &result.map {
        lines.push(format!("Heat map: {}", map.meaning));
    }
    if result.evidence_missing {
        lines.push("Some evidence is missing: see `notes`.".to_owned());
    }
    lines.join("\n")
}
