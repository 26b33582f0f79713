//! `score_image`: what the metrics say of an image.

use rmcp::RoleServer;
use rmcp::service::RequestContext;

use super::arguments::{RegionArgument, ScoreArguments};
use super::maps::{self, Wanted};
use super::pictures::name_of;
use super::progress::Progress;
use super::results::{Measured, Overall, ScoreResult};
use super::{Reply, Service, words};
use crate::answers::Scores;
use crate::error::Problem;
use crate::requests::OneRegion;

/// The tools that were fitted to people's opinions; the first that ran stands for the image.
const OVERALL: [&str; 2] = ["Fused-FR", "Fused-NR"];

impl Service {
    /// Measures an image.
    pub(super) async fn score(
        &self,
        arguments: ScoreArguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, Problem> {
        let request = arguments.request()?;
        let map = arguments.map.filter(|tool| !tool.trim().is_empty());
        if let Some(tool) = &map {
            maps::check(&self.app, tool, arguments.reference.is_some())?;
        }
        let image = self.picture(context, "image", &arguments.image, "picture").await?;
        let reference = self.reference(context, arguments.reference.as_deref()).await?;
        let mut progress = Progress::of(context, Some(1 + u32::from(map.is_some())));
        let scores = self.app.score(request, image.clone(), reference.clone()).await?;
        progress.step("the image is measured").await;
        let mut result = ScoreResult {
            image: name_of(&image),
            reference: reference.as_ref().map(name_of),
            ..ScoreResult::of(scores)?
        };
        let mut pictures = Vec::new();
        if let Some(tool) = map {
            let named = |given| (name_of(&given), given);
            let region = only(arguments.regions.as_deref());
            let wanted = Wanted { tool, image: named(image), against: reference.map(named), region };
            let (map, png) = maps::draw(&self.app, wanted, maps::ROOM).await?;
            progress.step("the map is drawn").await;
            result.map = Some(map);
            pictures.push(png);
        }
        Reply::new(text(&result), &result, pictures)
    }
}

/// The region, if there is just one.
fn only(regions: Option<&[RegionArgument]>) -> Option<(String, OneRegion)> {
    let [region] = regions? else { return None };
    Some((region.name.clone(), OneRegion::Corners([region.x, region.y, region.width, region.height])))
}

impl ScoreResult {
    /// What is told of scores; if every tool failed, why.
    fn of(scores: Scores) -> Result<Self, Problem> {
        let measured: Vec<Measured> = scores.rows.iter().map(Measured::from).collect();
        let failed = measured.iter().filter_map(|row| row.error.as_ref());
        if let Some(error) = failed.clone().next().filter(|_| failed.count() == measured.len()) {
            return Err(Problem::invalid(format!("nothing could be measured: {error}")));
        }
        Ok(Self {
            image: String::new(),
            reference: None,
            overall: overall(&measured),
            notes: scores.rows.first().map(|row| row.notes.clone()).unwrap_or_default(),
            scores: measured,
            skipped: scores.skipped,
            map: None,
        })
    }
}

/// The score that stands for the whole image, if one of these tools gave it.
fn overall(rows: &[Measured]) -> Option<Overall> {
    let of_tool = |name: &&str| rows.iter().find(|row| row.tool == **name && row.region.is_none());
    OVERALL.iter().filter_map(of_tool).find_map(Overall::of)
}

fn text(result: &ScoreResult) -> String {
    let against = result.reference.as_ref().map(|name| format!(" beside {name}")).unwrap_or_default();
    let mut lines = vec![match &result.overall {
        Some(overall) => format!("{}{against}: {} by {}", result.image, words::overall(overall), overall.tool),
        None => format!("{}{against}:", result.image),
    }];
    lines.extend(result.scores.iter().map(words::measured));
    if let Some(map) = &result.map {
        lines.push(format!("Heat map: {}", map.meaning));
    }
    lines.join("\n")
}
