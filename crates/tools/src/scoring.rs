//! Scores images with tools, without the agent: one row per image, region and tool.

use std::path::{Path, PathBuf};

use agenticiqa_imaging::files::path_text;
use agenticiqa_imaging::{Decoder, Error as DecodeError, Picture};
use agenticiqa_metrics::{Image, Map};
use agenticiqa_vision::vocabulary::RegionBox;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Failure, Part, Registry, Tool, ToolRun, ToolType, raw_number};

/// Default tools for an image with a reference: one for each aspect of damage, all of them fast.
const DEFAULT_PAIR: &[&str] = &["Fused-FR", "PSNR", "SSIM", "MS-SSIM", "FSIM", "VSI", "GMSD", "MDSI", "HaarPSI"];
/// Default tools for an image without a reference, and the measurements that explain them.
const DEFAULT_SINGLE: &[&str] = &[
    "Fused-NR",
    "BRISQUE",
    "NIQE",
    "PIQE",
    "Noise",
    "Blur",
    "Blockiness",
    "Brightness",
    "Clipped-Shadows",
    "Clipped-Highlights",
    "Contrast",
    "Colorfulness",
];

/// Reasons why a scoring request cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A tool is unknown or cannot run on this machine.
    #[error(transparent)]
    Tool(#[from] crate::Error),
    /// A full-reference tool was requested without a reference.
    #[error("{tool} compares with a reference image, and there is none")]
    ReferenceMissing {
        /// The tool's name.
        tool: String,
    },
    /// The reference cannot be read.
    #[error("the reference cannot be used: {0}")]
    Reference(#[source] DecodeError),
    /// Two regions have the same name.
    #[error("two regions are called {0:?}")]
    RepeatedRegion(String),
}

/// The tools to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// The default tools.
    Default,
    /// Every tool that can run on the given input.
    All,
    /// The tools with these names.
    Named(Vec<String>),
}

/// A scoring request: reference, tools and regions.
#[derive(Debug, Clone)]
pub struct Request {
    /// Path of the reference image.
    pub reference: Option<PathBuf>,
    /// The tools to run.
    pub selection: Selection,
    /// The regions to score; the whole image if empty.
    pub regions: Vec<RegionBox>,
    /// Whether to compute quality maps.
    pub maps: bool,
}

/// The score of one tool on one image or region.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "ScoreRow")]
pub struct Row {
    /// Path or name of the image.
    pub image_path: String,
    /// Path or name of the reference image.
    pub reference_path: Option<String>,
    /// Name of the region; null for the whole image.
    pub region: Option<String>,
    /// Tool name.
    pub tool: String,
    /// `FR` (full-reference) or `NR` (no-reference).
    #[serde(rename = "type")]
    pub tool_type: ToolType,
    /// Whether lower raw scores are better; null for plain measurements.
    pub lower_is_better: Option<bool>,
    /// Score on the tool's own scale; infinity is written as 1e999.
    #[serde(serialize_with = "raw_number")]
    pub raw_score: Option<f64>,
    /// Quality score from 1 (bad) to 5 (excellent).
    pub normalized_score: Option<f64>,
    /// Execution time of the tool in seconds.
    pub execution_time: f64,
    /// Error message, if the tool failed.
    pub error: Option<String>,
    /// 90% prediction interval of the mean opinion, from 1 to 5; omitted for tools without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Conversions applied to the image before measuring; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Path of the heat map; omitted if none was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map_path: Option<String>,
    /// The failure, if there is no score.
    #[serde(skip)]
    pub failure: Option<Failure>,
    /// The quality map, with the pixels that it belongs to.
    #[serde(skip)]
    pub map: Option<(Image, Map)>,
}

/// The result of one image.
#[derive(Debug)]
pub struct Scored {
    /// The decoded image, or the error.
    pub picture: Result<Picture, DecodeError>,
    /// One row per region and tool.
    pub rows: Vec<Row>,
    /// Tools that do not apply to this image and were not requested by name, with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Scores images one after the other. The reference is decoded once.
#[derive(Debug)]
pub struct Scorer<'a> {
    decoder: Decoder,
    tools: Vec<&'a Tool>,
    named: bool,
    reference: Option<(String, Picture)>,
    regions: Vec<RegionBox>,
    maps: bool,
    /// Whether names are paths of files that tools may read.
    in_files: bool,
}

impl<'a> Scorer<'a> {
    /// Creates a scorer: resolves the tools and decodes the reference.
    pub fn new(registry: &'a Registry, decoder: Decoder, request: Request) -> Result<Self, Error> {
        let path = request.reference.clone();
        let mut scorer = Self::of_pictures(registry, request, path.is_some(), None)?;
        let open = |path: PathBuf| decoder.open(&path).map(|picture| (path_text(&path), picture));
        scorer.reference = path.map(open).transpose().map_err(Error::Reference)?;
        Ok(Self { decoder, in_files: true, ..scorer })
    }

    /// Creates a scorer for images that are already decoded. `reference` is a name and its pixels;
    /// the path in the request is ignored.
    pub fn with_pictures(
        registry: &'a Registry,
        request: Request,
        reference: Option<(String, Picture)>,
    ) -> Result<Self, Error> {
        Self::of_pictures(registry, request, reference.is_some(), reference)
    }

    fn of_pictures(
        registry: &'a Registry,
        request: Request,
        with_reference: bool,
        reference: Option<(String, Picture)>,
    ) -> Result<Self, Error> {
        let tools = select(registry, &request.selection, with_reference)?;
        for (index, region) in request.regions.iter().enumerate() {
            if request.regions[..index].iter().any(|earlier| earlier.name == region.name) {
                return Err(Error::RepeatedRegion(region.name.to_string()));
            }
        }
        tools.iter().for_each(|tool| tool.prepare());
        let named = matches!(request.selection, Selection::Named(_));
        if request.selection != Selection::Default {
            tools.iter().for_each(|tool| tool.warn_of_linear_scale());
        }
        let (decoder, in_files) = (Decoder::default(), false);
        Ok(Self { decoder, tools, named, reference, regions: request.regions, maps: request.maps, in_files })
    }

    /// Returns the tools that will run.
    pub fn tools(&self) -> &[&'a Tool] {
        &self.tools
    }

    /// Returns the path and pixels of the reference.
    pub fn reference(&self) -> Option<(&str, &Picture)> {
        self.reference.as_ref().map(|(path, picture)| (path.as_str(), picture))
    }

    /// Decodes an image and scores it with every tool on every region.
    pub fn score(&self, path: &Path) -> Scored {
        let picture = self.decoder.open(path);
        let image_path = path_text(path);
        match picture {
            Ok(picture) => self.score_picture(&image_path, picture, &|| true),
            Err(error) => {
                let failure = Failure::Input(error.to_string());
                let rows = self.tools.iter().map(|tool| self.failed_row(&image_path, tool, None, &failure)).collect();
                Scored { picture: Err(error), rows, skipped: Vec::new() }
            }
        }
    }

    /// Scores a decoded image with every tool on every region. Stops early once `wants` returns
    /// false.
    pub fn score_picture(&self, name: &str, picture: Picture, wants: &dyn Fn() -> bool) -> Scored {
        let (mut rows, skipped) = self.score_regions(name, &picture, wants);
        let notes: Vec<String> = picture.notes.iter().map(ToString::to_string).collect();
        rows.iter_mut().for_each(|row| row.notes.clone_from(&notes));
        Scored { picture: Ok(picture), rows, skipped }
    }

    fn score_regions(
        &self,
        image_path: &str,
        picture: &Picture,
        wants: &dyn Fn() -> bool,
    ) -> (Vec<Row>, Vec<(String, String)>) {
        let reference = self.reference.as_ref().map(|(_, picture)| picture.image.clone());
        let file = |path: &str| self.in_files.then(|| PathBuf::from(path));
        let reference_file = self.reference.as_ref().and_then(|(path, _)| file(path));
        let whole = Part::new(picture.image.clone(), reference).with_files(file(image_path), reference_file);
        let (mut rows, mut skipped) = (Vec::new(), Vec::new());
        if self.regions.is_empty() {
            self.score_part(image_path, None, &whole, wants, (&mut rows, &mut skipped));
        }
        for region in &self.regions {
            let name = region.name.as_str();
            match whole.crop(Some(&region.region())) {
                Ok(part) => self.score_part(image_path, Some(name), &part, wants, (&mut rows, &mut skipped)),
                Err(error) => {
                    let failure = Failure::Input(format!("{name}: {error}"));
                    let failed = |tool: &&Tool| self.failed_row(image_path, tool, Some(name.to_owned()), &failure);
                    rows.extend(self.tools.iter().map(failed));
                }
            }
        }
        (rows, skipped)
    }

    fn score_part(
        &self,
        image_path: &str,
        region: Option<&str>,
        part: &Part,
        wants: &dyn Fn() -> bool,
        (rows, skipped): (&mut Vec<Row>, &mut Vec<(String, String)>),
    ) {
        for tool in self.tools.iter().take_while(|_| wants()) {
            let run = part.measure(tool, self.maps);
            match &run.error {
                Some(Failure::NotApplicable(reason)) if !self.named => skipped.push((run.tool, reason.clone())),
                _ => rows.push(self.row(image_path, tool, region.map(str::to_owned), Some(&part.image), run)),
            }
        }
    }

    fn row(&self, image_path: &str, tool: &Tool, region: Option<String>, image: Option<&Image>, run: ToolRun) -> Row {
        let reference = self.reference.as_ref().filter(|_| tool.needs_reference());
        Row {
            image_path: image_path.to_owned(),
            reference_path: reference.map(|(path, _)| path.clone()),
            region,
            tool: run.tool,
            tool_type: tool.metadata().tool_type,
            lower_is_better: tool.metadata().lower_is_better,
            raw_score: run.raw_score,
            normalized_score: run.normalized_score,
            execution_time: run.execution_time,
            error: run.error.as_ref().map(|failure| failure.message().to_owned()),
            interval: run.interval.and_then(|interval| tool.scale().normalize_interval(interval)),
            notes: Vec::new(),
            map_path: None,
            failure: run.error,
            map: image.cloned().zip(run.map),
        }
    }

    fn failed_row(&self, image_path: &str, tool: &Tool, region: Option<String>, failure: &Failure) -> Row {
        self.row(image_path, tool, region, None, ToolRun::failed(tool, failure.clone(), 0.0))
    }
}

fn select<'a>(registry: &'a Registry, selection: &Selection, with_reference: bool) -> Result<Vec<&'a Tool>, Error> {
    let names: Vec<&str> = match selection {
        Selection::Named(names) => names.iter().map(String::as_str).collect(),
        Selection::Default if with_reference => DEFAULT_PAIR.to_vec(),
        Selection::Default => DEFAULT_SINGLE.to_vec(),
        Selection::All => {
            let fits = |tool: &&Tool| tool.availability().is_available() && (with_reference || !tool.needs_reference());
            return Ok(registry.iter().filter(fits).collect());
        }
    };
    let mut tools: Vec<&Tool> = Vec::new();
    for name in names {
        let tool = registry.runnable(name)?;
        if tool.needs_reference() && !with_reference {
            return Err(Error::ReferenceMissing { tool: tool.name().to_owned() });
        }
        if !tools.iter().any(|chosen| chosen.name() == tool.name()) {
            tools.push(tool);
        }
    }
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_chosen_by_what_is_given() {
        let registry = Registry::builtin().unwrap();
        let names = |selection, with_reference| -> Vec<String> {
            let tools = select(&registry, &selection, with_reference).unwrap();
            tools.iter().map(|tool| tool.name().to_owned()).collect()
        };
        assert_eq!(names(Selection::Default, true), DEFAULT_PAIR);
        assert_eq!(names(Selection::Default, false), DEFAULT_SINGLE);
        assert_eq!(names(Selection::Named(vec!["ssim".into(), "SSIM".into()]), true), ["SSIM"]);
        assert!(!names(Selection::All, false).contains(&"SSIM".to_owned()));
        assert!(names(Selection::All, true).contains(&"NIQE".to_owned()));
        let missing = select(&registry, &Selection::Named(vec!["SSIM".into()]), false).unwrap_err();
        assert!(missing.to_string().starts_with("SSIM compares with a reference"));
        let learned = select(&registry, &Selection::Named(vec!["LPIPS".into()]), true).unwrap_err();
        assert!(learned.to_string().starts_with("LPIPS cannot run here"));
    }
}
