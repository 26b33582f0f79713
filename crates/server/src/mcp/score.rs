//! `score_image`: scores an image with metrics.

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

impl Service {
    /// Scores an image.
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
        progress.step("image scored").await;
        let mut result = ScoreResult {
            image: name_of(&image),
            reference: reference.as_ref().map(name_of),
            ..ScoreResult::of(scores)?
        };
        let mut pictures = Vec::new();
        if let Some(tool) = map {
            let named = |image| (name_of(&image), image);
            let region = only(arguments.regions.as_deref());
            let wanted = Wanted { tool, image: named(image), against: reference.map(named), region };
            let (map, png) = maps::draw(&self.app, wanted, maps::MAX_BYTES).await?;
            progress.step("heat map drawn").await;
            result.map = Some(map);
            pictures.push(png);
        }
        Reply::new(text(&result), &result, pictures)
    }
}

/// Returns the region, if there is exactly one.
fn only(regions: Option<&[RegionArgument]>) -> Option<(String, OneRegion)> {
    let [region] = regions? else { return None };
    Some((region.name.clone(), OneRegion::Corners([region.x, region.y, region.width, region.height])))
}

impl ScoreResult {
    /// Builds the result from scores. Returns an error if every tool failed.
    fn of(scores: Scores) -> Result<Self, Problem> {
        let measured: Vec<Measured> = scores.rows.iter().map(Measured::from).collect();
        let failed = measured.iter().filter_map(|row| row.error.as_ref());
        if let Some(error) = failed.clone().next().filter(|_| failed.count() == measured.len()) {
            return Err(Problem::invalid(format!("all metrics failed: {error}")));
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

/// Returns the first score of the whole image that has a prediction interval.
fn overall(rows: &[Measured]) -> Option<Overall> {
    let of_whole = rows.iter().filter(|row| row.region.is_none() && row.interval.is_some());
    of_whole.filter_map(Overall::of).next()
}

fn text(result: &ScoreResult) -> String {
    let against = result.reference.as_ref().map(|name| format!(" compared with {name}")).unwrap_or_default();
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
