//! `compare_images`: ranks images and shows where they differ.

use std::cmp::Ordering;

use agenticiqa::scoring::Row;
use agenticiqa::{fused_fr, fused_nr};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use super::arguments::CompareArguments;
use super::maps::{self, Wanted};
use super::pictures::name_of;
use super::progress::Progress;
use super::results::{CompareResult, Comparison, MapResult, Measured, Overall, Ranked};
use super::{Reply, Service, words};
use crate::error::Problem;
use crate::requests::ScoreRequest;
use crate::sources::RequestImage;

/// The tools that rank images with and without a reference.
const WITH_REFERENCE: &str = fused_fr::NAME;
const ALONE: &str = fused_nr::NAME;
/// The default tool for maps of differences.
const MAP: &str = "SSIM";
/// The maximum number of images and of maps.
const MOST_PICTURES: usize = 16;
const MOST_MAPS: usize = 4;

/// An image, its name and its measurements.
struct Compared {
    index: Option<usize>,
    name: String,
    image: RequestImage,
    rows: Vec<Measured>,
}

impl Compared {
    fn overall(&self, tool: &str) -> Option<Overall> {
        self.rows.iter().find(|row| row.tool == tool).and_then(Overall::of)
    }
}

impl Service {
    /// Compares images.
    pub(super) async fn compare(
        &self,
        arguments: CompareArguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, Problem> {
        let map = self.check(&arguments)?;
        let mut images = Vec::new();
        for (index, text) in arguments.images.iter().enumerate() {
            let field = format!("images[{index}]");
            let image = self.picture(context, &field, text, &format!("picture-{}", index + 1)).await?;
            let name = unique(&images, name_of(&image));
            images.push(Compared { index: Some(index), name, image, rows: Vec::new() });
        }
        let reference = self.reference(context, arguments.reference.as_deref()).await?;
        let steps = images.len() + usize::from(reference.is_some());
        let mut progress = Progress::of(context, u32::try_from(steps).ok());
        let mut notes = Vec::new();
        let named = arguments.tools.unwrap_or_default();
        for compared in &mut images {
            let rows = self.measure(compared, reference.as_ref(), &named).await?;
            note(&mut notes, &compared.name, &rows);
            compared.rows = rows.iter().map(Measured::from).collect();
            progress.step(format!("{} scored", compared.name)).await;
        }
        let ranked_by = self.ranker(&mut images, reference.as_ref()).await?;
        images.sort_by(|a, b| by_score(a.overall(&ranked_by).as_ref(), b.overall(&ranked_by).as_ref()));
        let reference = match reference {
            Some(image) => {
                let rows = self.rows(&image, None, &[ALONE.to_owned()]).await?;
                progress.step("reference scored").await;
                let rows = rows.iter().map(Measured::from).collect();
                Some(Compared { index: None, name: name_of(&image), image, rows })
            }
            None => None,
        };
        let (maps, pictures) = self.difference(map, &images, reference.as_ref(), &mut notes).await;
        let comparisons = comparisons(&images, reference.as_ref(), &ranked_by);
        let verdict = verdict(&images, reference.as_ref(), &ranked_by, &comparisons);
        let result = CompareResult {
            verdict,
            pictures: ranked(&images, &ranked_by),
            reference: reference.map(|compared| Ranked {
                overall: compared.overall(ALONE),
                image: compared.name,
                index: None,
                rank: None,
                scores: compared.rows,
            }),
            ranked_by,
            comparisons,
            maps,
            notes,
        };
        Reply::new(text(&result), &result, pictures)
    }

    /// Checks the arguments before anything is read. Returns the tool of the map, if one is
    /// requested.
    fn check(&self, arguments: &CompareArguments) -> Result<Option<String>, Problem> {
        let (count, alone) = (arguments.images.len(), arguments.reference.is_none());
        if count == 0 || (count == 1 && alone) {
            return Err(Problem::invalid("images: pass two or more images, or one image and its `reference`"));
        }
        if count > MOST_PICTURES {
            return Err(Problem::invalid(format!("images: at most {MOST_PICTURES} can be compared at a time")));
        }
        let map = arguments.map.as_deref().map(str::trim).filter(|tool| !tool.is_empty()).unwrap_or(MAP);
        if map.eq_ignore_ascii_case("none") {
            return Ok(None);
        }
        maps::check(&self.app, map, true)?;
        match self.app.registry().get(map)?.needs_reference() {
            true => Ok(Some(map.to_owned())),
            false => Err(Problem::invalid(format!(
                "map: {map} uses one image alone: choose a metric of type FR, such as {MAP}"
            ))),
        }
    }

    /// Scores an image with the named tools. Without names, runs a default selection with the
    /// reference and scores the image alone as well.
    async fn measure(
        &self,
        compared: &Compared,
        reference: Option<&RequestImage>,
        named: &[String],
    ) -> Result<Vec<Row>, Problem> {
        let mut rows = self.rows(&compared.image, reference, named).await?;
        if reference.is_some() && named.is_empty() {
            rows.extend(self.rows(&compared.image, None, &[ALONE.to_owned()]).await?);
        }
        Ok(rows)
    }

    async fn rows(
        &self,
        image: &RequestImage,
        reference: Option<&RequestImage>,
        tools: &[String],
    ) -> Result<Vec<Row>, Problem> {
        let request = ScoreRequest { tools: tools.to_vec(), ..ScoreRequest::default() };
        Ok(self.app.score(request, image.clone(), reference.cloned()).await?.rows)
    }

    /// Returns the first tool that scored every image from 1 to 5. If there is none, runs a default
    /// tool.
    async fn ranker(&self, images: &mut [Compared], reference: Option<&RequestImage>) -> Result<String, Problem> {
        let scores_all =
            |images: &[Compared], tool: &str| images.iter().all(|compared| compared.overall(tool).is_some());
        let tried = images.first().map(|compared| compared.rows.iter().map(|row| row.tool.clone()).collect::<Vec<_>>());
        if let Some(tool) = tried.into_iter().flatten().find(|tool| scores_all(images, tool)) {
            return Ok(tool);
        }
        let ranker = if reference.is_some() { WITH_REFERENCE } else { ALONE };
        for compared in images.iter_mut().filter(|compared| compared.overall(ranker).is_none()) {
            let rows = self.rows(&compared.image, reference, &[ranker.to_owned()]).await?;
            compared.rows.extend(rows.iter().map(Measured::from));
            if compared.overall(ranker).is_none() {
                let reason = rows.iter().find_map(|row| row.error.clone()).unwrap_or_default();
                return Err(Problem::invalid(format!("{} cannot be ranked: {ranker}: {reason}", compared.name)));
            }
        }
        Ok(ranker.to_owned())
    }

    /// Draws maps of the differences from the reference, or from the best image without one. Maps
    /// that cannot be drawn are reported in the notes.
    async fn difference(
        &self,
        tool: Option<String>,
        images: &[Compared],
        reference: Option<&Compared>,
        notes: &mut Vec<String>,
    ) -> (Vec<MapResult>, Vec<Vec<u8>>) {
        let Some(tool) = tool else { return (Vec::new(), Vec::new()) };
        let Some((against, others)) = reference.map(|reference| (reference, images)).or_else(|| images.split_first())
        else {
            return (Vec::new(), Vec::new());
        };
        let (mut maps, mut pictures) = (Vec::new(), Vec::new());
        let max_bytes = maps::MAX_BYTES / others.len().clamp(1, MOST_MAPS);
        for compared in others.iter().take(MOST_MAPS) {
            let wanted = Wanted {
                tool: tool.clone(),
                image: (compared.name.clone(), compared.image.clone()),
                against: Some((against.name.clone(), against.image.clone())),
                region: None,
            };
            match maps::draw(&self.app, wanted, max_bytes).await {
                Ok((map, png)) => {
                    maps.push(map);
                    pictures.push(png);
                }
                Err(problem) => {
                    notes.push(format!("no map of {} compared with {}: {problem}", compared.name, against.name))
                }
            }
        }
        if others.len() > MOST_MAPS {
            notes.push(format!("only the first {MOST_MAPS} of {} images have maps", others.len()));
        }
        (maps, pictures)
    }
}

/// Makes a name unique by adding a number.
fn unique(images: &[Compared], name: String) -> String {
    let taken = |name: &str| images.iter().any(|compared| compared.name == name);
    if !taken(&name) {
        return name;
    }
    let numbered = (2..).map(|number| format!("{name} ({number})")).find(|name| !taken(name));
    numbered.unwrap_or(name)
}

fn note(notes: &mut Vec<String>, name: &str, rows: &[Row]) {
    let told = rows.first().into_iter().flat_map(|row| &row.notes);
    notes.extend(told.map(|note| format!("{name}: {note}")));
}

/// Orders by score, best first.
fn by_score(first: Option<&Overall>, second: Option<&Overall>) -> Ordering {
    let score = |overall: Option<&Overall>| overall.map_or(f64::NEG_INFINITY, |overall| overall.score);
    score(second).total_cmp(&score(first))
}

/// Returns the images with their ranks. Equal scores have equal ranks.
fn ranked(images: &[Compared], tool: &str) -> Vec<Ranked> {
    let scores: Vec<Option<Overall>> = images.iter().map(|compared| compared.overall(tool)).collect();
    let rank = |overall: &Option<Overall>| {
        1 + scores.iter().filter(|other| by_score(other.as_ref(), overall.as_ref()).is_lt()).count()
    };
    let ranked = |(compared, overall): (&Compared, &Option<Overall>)| Ranked {
        image: compared.name.clone(),
        index: compared.index,
        rank: Some(rank(overall)),
        overall: overall.clone(),
        scores: compared.rows.clone(),
    };
    images.iter().zip(&scores).map(ranked).collect()
}

/// Compares the best image with each other image. A single image is compared with its reference,
/// each scored alone.
fn comparisons(images: &[Compared], reference: Option<&Compared>, ranked_by: &str) -> Vec<Comparison> {
    let Some((best, others)) = images.split_first() else { return Vec::new() };
    match reference {
        Some(reference) if others.is_empty() => compare_pair(reference, best, ALONE).into_iter().collect(),
        _ => others.iter().filter_map(|other| compare_pair(best, other, ranked_by)).collect(),
    }
}

fn compare_pair(first: &Compared, second: &Compared, tool: &str) -> Option<Comparison> {
    let (mut better, mut worse) = ((first, first.overall(tool)?), (second, second.overall(tool)?));
    if better.1.score < worse.1.score {
        std::mem::swap(&mut better, &mut worse);
    }
    let difference = words::short(better.1.score - worse.1.score);
    let overlap = |[low, _]: [f64; 2], [_, high]: [f64; 2]| low <= high;
    Some(Comparison {
        better: (difference > 0.0).then(|| better.0.name.clone()),
        images: [better.0.name.clone(), worse.0.name.clone()],
        tool: tool.to_owned(),
        difference,
        intervals_overlap: better.1.interval.zip(worse.1.interval).map(|(better, worse)| overlap(better, worse)),
    })
}

fn verdict(images: &[Compared], reference: Option<&Compared>, ranked_by: &str, comparisons: &[Comparison]) -> String {
    let told = |compared: &Compared, tool: &str| {
        compared.overall(tool).map_or_else(|| "no score".to_owned(), |overall| words::overall(&overall))
    };
    let Some(best) = images.first() else { return String::new() };
    if let (Some(reference), [_]) = (reference, images) {
        let compared =
            format!("Compared with the reference, {} scores {} by {ranked_by}.", best.name, told(best, ranked_by));
        let alone = comparisons.first().map(|alone| {
            let (picture, reference) = (told(best, ALONE), told(reference, ALONE));
            format!(
                " Without a reference, {ALONE} scores the original {reference} and the image {picture}: {}.",
                sentence(alone)
            )
        });
        return compared + &alone.unwrap_or_default();
    }
    let scores: Vec<String> =
        images.iter().map(|compared| format!("{} scores {}", compared.name, told(compared, ranked_by))).collect();
    let first = comparisons.first().map(sentence).unwrap_or_default();
    format!("{} by {ranked_by}: {first}.", scores.join("; "))
}

/// Describes a comparison in one sentence.
fn sentence(comparison: &Comparison) -> String {
    let Some(better) = &comparison.better else {
        return format!("{} and {} score the same", comparison.images[0], comparison.images[1]);
    };
    let certainty = match comparison.intervals_overlap {
        Some(true) => ", but their prediction intervals overlap, so viewers may disagree",
        Some(false) => ", and their prediction intervals do not overlap, so most viewers would agree",
        None => "",
    };
    format!("{better} is better than {} by {:.2}{certainty}", comparison.images[1], comparison.difference)
}

fn text(result: &CompareResult) -> String {
    let mut lines = vec![result.verdict.clone()];
    let others = result.comparisons.iter().skip(1);
    lines.extend(others.map(|comparison| format!("{}.", sentence(comparison))));
    let map = |map: &MapResult| {
        let against = map.against.as_deref().unwrap_or_default();
        format!("Heat map of {} compared with {against}: {}", map.image, map.meaning)
    };
    lines.extend(result.maps.iter().map(map));
    lines.extend(result.notes.iter().map(|note| format!("Note: {note}")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(name: &str, score: f64, interval: Option<[f64; 2]>) -> Compared {
        let row = Measured {
            tool: ALONE.into(),
            region: None,
            raw_score: Some(score),
            lower_is_better: Some(false),
            score: Some(score),
            interval,
            error: None,
        };
        Compared { index: Some(0), name: name.into(), image: RequestImage::Path(name.into()), rows: vec![row] }
    }

    #[test]
    fn the_better_one_is_named_and_doubt_is_said() {
        let (a, b) = (compared("a", 3.0, Some([2.5, 3.5])), compared("b", 4.0, Some([3.5, 4.5])));
        let told = compare_pair(&a, &b, ALONE).unwrap();
        assert_eq!((told.better.as_deref(), told.difference, told.intervals_overlap), (Some("b"), 1.0, Some(true)));
        assert_eq!(
            sentence(&told),
            "b is better than a by 1.00, but their prediction intervals overlap, so viewers may disagree"
        );
        let c = compared("c", 4.6, Some([4.51, 4.9]));
        assert_eq!(compare_pair(&b, &c, ALONE).unwrap().intervals_overlap, Some(false));
        let same = compare_pair(&a, &compared("d", 3.0, None), ALONE).unwrap();
        assert_eq!((same.better, same.intervals_overlap), (None, None));
    }

    #[test]
    fn equal_scores_have_equal_ranks_and_names_differ() {
        let images = [compared("a", 4.0, None), compared("b", 4.0, None), compared("c", 2.0, None)];
        let ranks: Vec<_> = ranked(&images, ALONE).iter().map(|one| one.rank).collect();
        assert_eq!(ranks, [Some(1), Some(1), Some(3)]);
        assert_eq!(unique(&images, "a".into()), "a (2)");
        assert_eq!(unique(&images, "z".into()), "z");
    }
}
