//! Scoring without the agent: images in, one row for each image, region and tool out.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use agenticiqa_imaging::{Decoder, Error as DecodeError, Picture};
use agenticiqa_metrics::{Image, Map, Pair, Region};
use serde::Serialize;

use crate::{Failure, Registry, Tool, ToolInput, ToolRun, ToolType, raw_number};

/// The tools that judge a pair when none is named: one for each view of the damage, all fast.
const DEFAULT_PAIR: &[&str] = &["Fused-FR", "PSNR", "SSIM", "MS-SSIM", "FSIM", "VSI", "GMSD", "MDSI", "HaarPSI"];
/// The tools that judge a single image when none is named, and the measurements that explain them.
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

/// Why a request could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A tool is unknown or cannot run here.
    #[error(transparent)]
    Tool(#[from] crate::Error),
    /// A full-reference tool was named and there is no reference.
    #[error("{tool} compares with a reference image, and there is none")]
    ReferenceMissing {
        /// The tool's name.
        tool: String,
    },
    /// The reference cannot be read.
    #[error("the reference cannot be used: {0}")]
    Reference(#[source] DecodeError),
    /// Two regions have one name.
    #[error("two regions are called {0:?}")]
    RepeatedRegion(String),
}

/// Which tools to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// A sensible few.
    Default,
    /// Every tool that can run here on what is given.
    All,
    /// These.
    Named(Vec<String>),
}

/// A region with the name that the user gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRegion {
    /// The name.
    pub name: String,
    /// The rectangle.
    pub region: Region,
}

impl FromStr for NamedRegion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let malformed = || format!("{text:?} is not NAME=x,y,w,h, for example face=120,40,200,200");
        let (name, numbers) = text.split_once('=').ok_or_else(malformed)?;
        let numbers: Vec<usize> = numbers
            .split(',')
            .map(|number| number.trim().parse())
            .collect::<Result<_, _>>()
            .map_err(|_| malformed())?;
        let [x, y, width, height] = numbers[..] else { return Err(malformed()) };
        if name.trim().is_empty() {
            return Err(malformed());
        }
        if width == 0 || height == 0 {
            return Err(format!("region {name:?} has no pixels: width and height must be at least 1"));
        }
        Ok(Self { name: name.trim().to_owned(), region: Region { x, y, width, height } })
    }
}

/// What to score images with.
#[derive(Debug, Clone)]
pub struct Request {
    /// The image to compare with.
    pub reference: Option<PathBuf>,
    /// Which tools to run.
    pub selection: Selection,
    /// The regions to score; none means the whole image.
    pub regions: Vec<NamedRegion>,
    /// Whether maps are wanted.
    pub maps: bool,
}

/// One score of one tool on one image or region.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The image.
    pub image_path: String,
    /// What it was compared with.
    pub reference_path: Option<String>,
    /// The name of the region; the whole image without.
    pub region: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// FR or NR.
    #[serde(rename = "type")]
    pub tool_type: ToolType,
    /// The direction of the raw score; `None` for plain measurements.
    pub lower_is_better: Option<bool>,
    /// The score on the tool's own scale.
    #[serde(serialize_with = "raw_number")]
    pub raw_score: Option<f64>,
    /// The score from 1 to 5.
    pub normalized_score: Option<f64>,
    /// Seconds of the metric alone.
    pub execution_time: f64,
    /// Why there is no score.
    pub error: Option<String>,
    /// The interval that nine of ten mean opinions are in, from 1 to 5; for tools that know theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// What was done to the image before it was measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Where the heat map was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map_path: Option<String>,
    /// Whose fault a failure is.
    #[serde(skip)]
    pub failure: Option<Failure>,
    /// The map itself, with the pixels that it belongs to.
    #[serde(skip)]
    pub map: Option<(Image, Map)>,
}

/// An image and its rows.
#[derive(Debug)]
pub struct Scored {
    /// The image as decoded, or why it could not be.
    pub picture: Result<Picture, DecodeError>,
    /// One row for each region and tool.
    pub rows: Vec<Row>,
    /// Tools that do not apply to this image and were not asked for by name, with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Scores images one after the other; the reference is decoded once.
#[derive(Debug)]
pub struct Scorer<'a> {
    decoder: Decoder,
    tools: Vec<&'a Tool>,
    named: bool,
    reference: Option<(String, Picture)>,
    regions: Vec<NamedRegion>,
    maps: bool,
    /// Whether names are paths of files that tools may read.
    in_files: bool,
}

impl<'a> Scorer<'a> {
    /// Resolves tools and decodes the reference.
    pub fn new(registry: &'a Registry, decoder: Decoder, request: Request) -> Result<Self, Error> {
        let path = request.reference.clone();
        let mut scorer = Self::of_pictures(registry, request, path.is_some(), None)?;
        let open = |path: PathBuf| decoder.open(&path).map(|picture| (path.display().to_string(), picture));
        scorer.reference = path.map(open).transpose().map_err(Error::Reference)?;
        Ok(Self { decoder, in_files: true, ..scorer })
    }

    /// Resolves tools for images that are decoded already: `reference` has a name and its pixels. The path of the
    /// request is not looked at.
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
                return Err(Error::RepeatedRegion(region.name.clone()));
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

    /// The tools that will run.
    pub fn tools(&self) -> &[&'a Tool] {
        &self.tools
    }

    /// The reference's path and image.
    pub fn reference(&self) -> Option<(&str, &Picture)> {
        self.reference.as_ref().map(|(path, picture)| (path.as_str(), picture))
    }

    /// Scores one image with every tool on every region.
    pub fn score(&self, path: &Path) -> Scored {
        let picture = self.decoder.open(path);
        let image_path = path.display().to_string();
        match picture {
            Ok(picture) => self.score_picture(&image_path, picture, &|| true),
            Err(error) => {
                let failure = Failure::Input(error.to_string());
                let rows = self.tools.iter().map(|tool| self.failed_row(&image_path, tool, None, &failure)).collect();
                Scored { picture: Err(error), rows, skipped: Vec::new() }
            }
        }
    }

    /// Scores an image that is decoded already, with every tool on every region, as long as somebody `wants` the rows.
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
        let reference = self.reference.as_ref().map(|(_, picture)| &picture.image);
        let (mut rows, mut skipped) = (Vec::new(), Vec::new());
        if self.regions.is_empty() {
            self.score_pixels(image_path, None, (&picture.image, reference), wants, (&mut rows, &mut skipped));
        }
        for NamedRegion { name, region } in &self.regions {
            let crop = |image: &Image| image.crop(region).map_err(|error| Failure::Input(format!("{name}: {error}")));
            match crop(&picture.image).and_then(|part| Ok((part, reference.map(crop).transpose()?))) {
                Ok((part, reference)) => {
                    let pixels = (&part, reference.as_ref());
                    self.score_pixels(image_path, Some(name), pixels, wants, (&mut rows, &mut skipped));
                }
                Err(failure) => rows.extend(
                    self.tools.iter().map(|tool| self.failed_row(image_path, tool, Some(name.clone()), &failure)),
                ),
            }
        }
        (rows, skipped)
    }

    fn score_pixels(
        &self,
        image_path: &str,
        region: Option<&String>,
        (image, reference): (&Image, Option<&Image>),
        wants: &dyn Fn() -> bool,
        (rows, skipped): (&mut Vec<Row>, &mut Vec<(String, String)>),
    ) {
        for tool in self.tools.iter().take_while(|_| wants()) {
            let pair = match reference.filter(|_| tool.needs_reference()) {
                Some(reference) => Pair::new(reference, image),
                None => Ok(Pair::single(image)),
            };
            let run = match pair {
                Ok(pair) => tool.run(&self.input(image_path, region, if self.maps { pair.with_map() } else { pair })),
                Err(error) => {
                    rows.push(self.failed_row(image_path, tool, region.cloned(), &error.into()));
                    continue;
                }
            };
            match &run.error {
                Some(Failure::NotApplicable(reason)) if !self.named => skipped.push((run.tool, reason.clone())),
                _ => rows.push(self.row(image_path, tool, region.cloned(), Some(image), run)),
            }
        }
    }

    /// The pixels, with their files where they are whole images.
    fn input<'b>(&'b self, image_path: &'b str, region: Option<&String>, pair: Pair<'b>) -> ToolInput<'b> {
        let whole = |path: &'b str| (self.in_files && region.is_none()).then_some(Path::new(path));
        let reference = self.reference.as_ref().and_then(|(path, _)| whole(path));
        ToolInput::new(pair).with_files(whole(image_path), reference)
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
    fn regions_are_parsed_and_bad_ones_explained() {
        let face: NamedRegion = "face=1, 2,3,4".parse().unwrap();
        assert_eq!(face.region, Region { x: 1, y: 2, width: 3, height: 4 });
        for bad in ["face", "face=1,2,3", "face=1,2,3,x", "=1,2,3,4", "face=-1,2,3,4"] {
            assert!(bad.parse::<NamedRegion>().unwrap_err().contains("NAME=x,y,w,h"), "{bad}");
        }
        assert!("face=1,2,0,4".parse::<NamedRegion>().unwrap_err().contains("no pixels"));
    }

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
