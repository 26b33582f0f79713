//! Runs the ONNX model of a tool.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agenticiqa_metrics::{Image, Measurement, Pair};
use agenticiqa_onnx::{self as onnx, Model, Runtime, Tensor};
use sha2::{Digest as _, Sha256};

use super::picture::{Picture, Window, batch};
use super::section::{Feed, OnnxSection, Reduce};
use super::tiles;

use crate::engine::{Engine, ToolInput};
use crate::{Availability, Failure, ToolResources, ToolType};

/// Name of the output of a graph that processes tiles.
const STATISTICS: &str = "statistics";

/// Engine of an ONNX tool.
#[derive(Debug)]
pub(crate) struct OnnxTool {
    name: String,
    tool_type: ToolType,
    section: OnnxSection,
    model: PathBuf,
    head: Option<PathBuf>,
    library: Option<PathBuf>,
    loaded: Mutex<Option<Arc<Graphs>>>,
    digest: OnceLock<String>,
}

/// The loaded graphs of a tool.
#[derive(Debug)]
struct Graphs {
    model: Model,
    head: Option<Model>,
    /// Name of the output that becomes the score.
    output: String,
}

impl OnnxTool {
    /// Creates the engine from its section, without opening a file.
    pub fn new(name: &str, tool_type: ToolType, section: &OnnxSection, resources: &ToolResources) -> Self {
        Self {
            name: name.to_owned(),
            tool_type,
            model: resources.model_file(&section.model),
            head: section.head.as_ref().map(|file| resources.model_file(file)),
            section: section.clone(),
            library: resources.onnx_runtime.clone(),
            loaded: Mutex::new(None),
            digest: OnceLock::new(),
        }
    }

    fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.model.as_path()).chain(self.head.as_deref())
    }

    /// Returns the graphs, which the first call loads. A failure is not cached, because the file
    /// may be replaced.
    fn graphs(&self) -> Result<Arc<Graphs>, onnx::Error> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(graphs) = &*loaded {
            return Ok(Arc::clone(graphs));
        }
        let graphs = Arc::new(self.load()?);
        *loaded = Some(Arc::clone(&graphs));
        Ok(graphs)
    }

    fn load(&self) -> Result<Graphs, onnx::Error> {
        let runtime = Runtime::find(self.library.as_deref());
        let model = Model::load(&self.model, &runtime)?;
        for (input, _) in self.section.inputs.feeds(self.tool_type) {
            model.input(input)?;
        }
        let head = self.head.as_ref().map(|head| Model::load(head, &runtime)).transpose()?;
        if let Some(head) = &head {
            model.input(self.section.inputs.inner())?;
            model.output(STATISTICS)?;
            head.input(STATISTICS)?;
        }
        let last = head.as_ref().unwrap_or(&model);
        let output = match (&self.section.output.name, last.outputs()) {
            (None, [only]) => only.name.clone(),
            (name, _) => last.output(name.as_deref().unwrap_or_default())?.name.clone(),
        };
        Ok(Graphs { model, head, output })
    }

    fn score(&self, graphs: &Graphs, pair: &Pair<'_>) -> Result<f64, Failure> {
        let inputs = Pictures::new(self, pair)?;
        let (width, height) = inputs.size();
        let scores = match (&graphs.head, self.section.tiles) {
            (Some(head), Some(tiles)) => {
                let statistics = stacked(tiles::cut(width, height, tiles).into_iter().map(|tile| {
                    let inner = Tensor::integer([4], tile.inner.to_vec()).map_err(broken)?;
                    inputs.run(&graphs.model, tile.window, Some(&inner), STATISTICS)
                }))?;
                only(head.run(&[(STATISTICS, &statistics)], &[&graphs.output]).map_err(broken)?)?
            }
            _ => inputs.run(&graphs.model, Window { left: 0, top: 0, width, height }, None, &graphs.output)?,
        };
        reduce(&scores, self.section.output.reduce)
    }
}

impl Engine for OnnxTool {
    fn availability(&self) -> Availability {
        match self.files().find(|file| !file.is_file()) {
            None => Availability::Ready,
            Some(file) => Availability::missing(format!("its model file {} does not exist", file.display())),
        }
    }

    fn fingerprint(&self) -> String {
        if let Some(digest) = self.digest.get() {
            return digest.clone();
        }
        // A file that cannot be read has no score to cache, and it may be readable next time.
        self.compute_digest().map_or_else(|_| String::new(), |digest| self.digest.get_or_init(|| digest).clone())
    }

    fn measure(&self, input: &ToolInput<'_>) -> Result<Measurement, Failure> {
        let graphs = self.graphs().map_err(broken)?;
        self.score(&graphs, input.pair()).map(Measurement::new)
    }
}

impl OnnxTool {
    /// Computes the SHA-256 of the files and of the settings.
    fn compute_digest(&self) -> std::io::Result<String> {
        let mut hasher = Sha256::new();
        hasher.update(serde_json::to_vec(&self.section)?);
        for file in self.files() {
            hasher.update(Sha256::digest(std::fs::read(file)?));
        }
        Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

fn broken(error: onnx::Error) -> Failure {
    Failure::Tool(error.to_string())
}

/// The images of a tool and the inputs that take them.
struct Pictures<'a> {
    tool: &'a OnnxTool,
    distorted: Picture<'a>,
    reference: Option<Picture<'a>>,
}

impl<'a> Pictures<'a> {
    fn new(tool: &'a OnnxTool, pair: &Pair<'a>) -> Result<Self, Failure> {
        let picture = |image: &'a Image| {
            Picture::new(image, &tool.section).map_err(|failure| match failure {
                Failure::Input(reason) => Failure::Input(format!("{} {reason}", tool.name)),
                other => other,
            })
        };
        let reference = match (tool.tool_type, pair.reference()) {
            (ToolType::NoReference, _) => None,
            (ToolType::FullReference, Some(reference)) => Some(picture(reference)?),
            (ToolType::FullReference, None) => {
                let message = format!("{} compares with a reference image, and there is none", tool.name);
                return Err(Failure::Input(message));
            }
        };
        Ok(Self { tool, distorted: picture(pair.distorted())?, reference })
    }

    fn size(&self) -> (usize, usize) {
        self.distorted.size()
    }

    /// Runs the graph on a part of the images.
    fn run(&self, model: &Model, part: Window, inner: Option<&Tensor>, output: &str) -> Result<Tensor, Failure> {
        let section = &self.tool.section;
        let reference = || self.reference.iter();
        let tensors = section.inputs.feeds(self.tool.tool_type).into_iter().map(|(name, feed)| {
            let pictures: Vec<&Picture<'_>> = match feed {
                Feed::Image | Feed::Distorted => vec![&self.distorted],
                Feed::Reference => reference().collect(),
                Feed::Both => reference().chain([&self.distorted]).collect(),
            };
            Ok((name, batch(&pictures, part, section)?))
        });
        let tensors = tensors.collect::<Result<Vec<_>, Failure>>()?;
        let mut inputs: Vec<(&str, &Tensor)> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
        inputs.extend(inner.map(|inner| (section.inputs.inner(), inner)));
        only(model.run(&inputs, &[output]).map_err(broken)?)
    }
}

fn only(outputs: Vec<Tensor>) -> Result<Tensor, Failure> {
    outputs.into_iter().next().ok_or_else(|| Failure::Tool("the graph returned nothing".to_owned()))
}

/// Stacks the statistics of all tiles, one row per tile.
fn stacked(rows: impl Iterator<Item = Result<Tensor, Failure>>) -> Result<Tensor, Failure> {
    let (mut numbers, mut count, mut width) = (Vec::new(), 0, None);
    for row in rows {
        let row = row?;
        match (row.shape(), row.floats()) {
            (&[1, columns], Some(floats)) if width.is_none_or(|width| width == columns) => {
                numbers.extend_from_slice(floats);
                width = Some(columns);
                count += 1;
            }
            (shape, _) => return Err(Failure::Tool(format!("the statistics of a tile have the shape {shape:?}"))),
        }
    }
    Tensor::float([count, width.unwrap_or(0)], numbers).map_err(broken)
}

/// Tolerance for the sum of probabilities.
const PROBABILITY_TOLERANCE: f64 = 1e-2;

/// Reduces an output to one number.
fn reduce(output: &Tensor, reduce: Reduce) -> Result<f64, Failure> {
    let failed = |reason: String| Err(Failure::Tool(reason));
    let Some(floats) = output.floats() else { return failed("the score is not a floating point number".to_owned()) };
    let numbers = || floats.iter().map(|&number| f64::from(number));
    match (reduce, floats) {
        (_, []) => failed("the graph returned no number".to_owned()),
        (Reduce::Value, [score]) => Ok(f64::from(*score)),
        (Reduce::Value, _) => {
            failed(format!("the graph returned {} numbers of shape {:?}, not one", floats.len(), output.shape()))
        }
        (Reduce::Mean, _) => Ok(numbers().sum::<f64>() / floats.len() as f64),
        (Reduce::ExpectedRating, _) => {
            let sum: f64 = numbers().sum();
            // This form of comparison also rejects NaN.
            if !((sum - 1.0).abs() <= PROBABILITY_TOLERANCE && numbers().all(|number| number >= 0.0)) {
                return failed(format!("the graph returned no probabilities: they sum to {sum}"));
            }
            Ok(numbers().zip(1u32..).map(|(probability, rating)| probability * f64::from(rating)).sum::<f64>() / sum)
        }
    }
}
