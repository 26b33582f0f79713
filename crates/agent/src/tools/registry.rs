//! All tools by name: the tool list joined with the metrics that are built in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa_metrics as metrics;
use metrics::{Direction, Ilniqe, Info, Kind, Metric};

use super::engine::{Absent, Engine, Native};
use super::metadata::{self, BUILTIN};
use super::onnx::OnnxTool;
use super::{Availability, Backend, Error, Metadata, Scale, ToolType};
use crate::state::Distortion;

/// A tool: what is known of it, and what runs it.
#[derive(Debug, Clone)]
pub struct Tool {
    name: String,
    metadata: Metadata,
    engine: Arc<dyn Engine>,
}

impl Tool {
    /// The name as papers spell it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Type, strengths, direction and scale.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The metric behind the tool, if it is built in.
    pub fn metric(&self) -> Option<&dyn Metric> {
        self.engine.metric()
    }

    /// What the metric says of itself, if it is built in.
    pub fn info(&self) -> Option<&'static Info> {
        self.metric().map(Metric::info)
    }

    /// What it is, in a sentence: the list's, or the metric's own.
    pub fn description(&self) -> &str {
        let own = self.info().map_or("", |info| info.summary);
        if self.metadata.description.is_empty() { own } else { &self.metadata.description }
    }

    /// Whether it compares with a reference.
    pub fn needs_reference(&self) -> bool {
        self.metadata.tool_type == ToolType::FullReference
    }

    /// Whether it can run here.
    pub fn availability(&self) -> Availability {
        self.engine.availability()
    }

    /// What its scores depend on besides its name and the release.
    pub fn fingerprint(&self) -> String {
        self.engine.fingerprint()
    }

    pub(super) fn engine(&self) -> &dyn Engine {
        self.engine.as_ref()
    }

    /// Whether it is known to judge a distortion well.
    pub fn is_strong_at(&self, distortion: Distortion) -> bool {
        self.metadata.strengths.iter().any(|name| name == distortion.name())
    }

    /// How its raw scores become scores from 1 to 5.
    pub fn scale(&self) -> Scale {
        match (self.metadata.logistic_params, self.metadata.range, self.metadata.lower_is_better) {
            (Some(logistic), _, _) => Scale::Logistic(logistic),
            (None, Some((low, high)), Some(true)) => Scale::Linear { worst: high, best: low },
            (None, Some((low, high)), Some(false)) => Scale::Linear { worst: low, best: high },
            _ => Scale::None,
        }
    }
}

const ILNIQE: &str = "ILNIQE";
const ILNIQE_HINT: &str =
    "needs the authors' templateModel.mat: give it with --model ILNIQE=PATH or AGENTICIQA_ILNIQE_MODEL";

/// Where tools that are not built in find what they need.
#[derive(Debug, Clone, Default)]
pub struct Workshop {
    /// The folder of installed model files.
    pub models: Option<PathBuf>,
    /// The folder of the tool list, below which a user's own tools have their files.
    pub own: Option<PathBuf>,
    /// The shared library of ONNX Runtime; `ORT_DYLIB_PATH` or the built-in engine where there is none.
    pub onnx_runtime: Option<PathBuf>,
}

impl Workshop {
    /// Where a model file is: below the tool list if it exists there, else among the installed models.
    pub(super) fn model_file(&self, file: &str) -> PathBuf {
        // An absolute path stays itself when it is joined.
        let own = self.own.as_ref().map(|folder| folder.join(file)).filter(|path| path.exists());
        own.or_else(|| Some(self.models.as_ref()?.join(file))).unwrap_or_else(|| file.into())
    }
}

/// All tools by name.
#[derive(Debug, Clone)]
pub struct Registry {
    tools: Vec<Tool>,
}

impl Registry {
    /// The tools of the built-in list and every native metric, with nothing installed.
    pub fn builtin() -> Result<Self, Error> {
        Self::new(BUILTIN, &Workshop::default())
    }

    /// The tools of a list in the form of `tools.json`, and every native metric.
    pub fn new(json: &str, workshop: &Workshop) -> Result<Self, Error> {
        let mut listed: BTreeMap<String, (String, Metadata)> =
            metadata::parse(json)?.into_iter().map(|(name, entry)| (fold(&name), (name, entry))).collect();
        let mut tools: Vec<Tool> = metrics::all()
            .map(|metric| {
                let info = metric.info();
                let metadata = listed.remove(&fold(info.name)).map_or_else(|| describe(info), |(_, entry)| entry);
                Tool { name: info.name.to_owned(), metadata, engine: native(metric) }
            })
            .collect();
        tools.extend(listed.into_values().map(|(name, metadata)| {
            let engine = engine(&name, &metadata, workshop);
            Tool { name, metadata, engine }
        }));
        Ok(Self { tools })
    }

    /// Gives a tool the model file that it needs.
    pub fn load_model(&mut self, name: &str, path: &Path) -> Result<(), Error> {
        let failed = |reason: String| Error::Model { path: path.display().to_string(), reason };
        let tool = self.get(name)?.name.clone();
        if tool != ILNIQE {
            return Err(failed(format!("{tool} takes no model file")));
        }
        let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        let metric = Ilniqe::from_mat(&bytes).map_err(|error| failed(error.to_string()))?;
        if let Some(tool) = self.tools.iter_mut().find(|tool| tool.name == ILNIQE) {
            tool.engine = Arc::new(Native::Loaded(Box::new(metric)));
        }
        Ok(())
    }

    /// All tools: native ones in the order of the documentation, then the others by name.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    /// The tool of that name, without regard to case, `-` or `_`.
    pub fn get(&self, name: &str) -> Result<&Tool, Error> {
        let wanted = fold(name);
        self.tools
            .iter()
            .find(|tool| fold(&tool.name) == wanted)
            .ok_or_else(|| Error::UnknownTool { name: name.to_owned(), suggestion: self.nearest(&wanted) })
    }

    /// The tools that judge a distortion best, in the order of the list.
    pub fn get_tools_for_distortion(&self, distortion: Distortion) -> Vec<&Tool> {
        self.iter().filter(|tool| tool.is_strong_at(distortion)).collect()
    }

    /// The tools that compare with a reference, or those that do not.
    pub fn get_tools_by_type(&self, tool_type: ToolType) -> Vec<&Tool> {
        self.iter().filter(|tool| tool.metadata.tool_type == tool_type).collect()
    }

    /// Whether a tool of that name exists and can run here.
    pub fn is_tool_available(&self, name: &str) -> bool {
        self.get(name).is_ok_and(|tool| tool.availability().is_available())
    }

    fn nearest(&self, wanted: &str) -> Option<String> {
        let distance = |tool: &&Tool| strsim::damerau_levenshtein(&fold(&tool.name), wanted);
        let nearest = self.tools.iter().min_by_key(distance)?;
        (distance(&nearest) <= wanted.len().div_ceil(2)).then(|| nearest.name.clone())
    }
}

/// What runs a built-in metric.
fn native(metric: &'static dyn Metric) -> Arc<dyn Engine> {
    Arc::new(match metric.info().name {
        ILNIQE => Native::Unloaded { metric, hint: ILNIQE_HINT },
        _ => Native::Builtin(metric),
    })
}

/// What runs a tool that is not built in.
fn engine(name: &str, metadata: &Metadata, workshop: &Workshop) -> Arc<dyn Engine> {
    match metadata.backend {
        Backend::Native => Absent::because(format!("no metric called {name} is built in")),
        Backend::Onnx => match &metadata.onnx {
            Some(section) => Arc::new(OnnxTool::new(name, metadata.tool_type, section, workshop)),
            None => Absent::because("a learned tool; its weights are not part of this release"),
        },
        Backend::Worker => Absent::because("a learned tool; its weights are not part of this release"),
    }
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// What a native metric that the list does not name says of itself.
fn describe(info: &Info) -> Metadata {
    Metadata {
        tool_type: match info.kind {
            Kind::FullReference => ToolType::FullReference,
            Kind::NoReference => ToolType::NoReference,
        },
        backend: Backend::Native,
        description: info.summary.to_owned(),
        strengths: Vec::new(),
        lower_is_better: match info.direction {
            Direction::LowerIsBetter => Some(true),
            Direction::HigherIsBetter => Some(false),
            Direction::Neutral => None,
        },
        range: None,
        logistic_params: None,
        fitted_on: None,
        onnx: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_agrees_with_what_the_metrics_say_of_themselves() {
        for tool in Registry::builtin().unwrap().iter() {
            if let Some(info) = tool.info() {
                let described = describe(info);
                assert_eq!(tool.metadata.tool_type, described.tool_type, "{}", tool.name);
                assert_eq!(tool.metadata.lower_is_better, described.lower_is_better, "{}", tool.name);
            }
        }
    }

    #[test]
    fn tools_are_found_by_distortion_type_and_availability() {
        let registry = Registry::builtin().unwrap();
        let names = |tools: Vec<&Tool>| tools.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>();
        let blur = names(registry.get_tools_for_distortion(Distortion::Blurs));
        assert!(blur.contains(&"MS-SSIM".to_owned()) && blur.contains(&"TOPIQ_FR".to_owned()), "{blur:?}");
        assert!(!names(registry.get_tools_by_type(ToolType::NoReference)).contains(&"SSIM".to_owned()));
        assert!(registry.is_tool_available("ms_ssim"));
        assert!(!registry.is_tool_available("QAlign") && !registry.is_tool_available("nonsense"));
    }

    #[test]
    fn every_tool_is_described() {
        for tool in Registry::builtin().unwrap().iter() {
            assert!(!tool.description().is_empty(), "{}", tool.name);
            assert_eq!(tool.metadata.backend == Backend::Native, tool.info().is_some(), "{}", tool.name);
        }
    }

    #[test]
    fn names_match_in_any_spelling_and_near_misses_are_suggested() {
        let registry = Registry::builtin().unwrap();
        assert_eq!(registry.get("ms_ssim").unwrap().name(), "MS-SSIM");
        assert_eq!(registry.get("topiq-fr").unwrap().name(), "TOPIQ_FR");
        let error = registry.get("BRISK").unwrap_err().to_string();
        assert_eq!(error, "no tool is called \"BRISK\", did you mean BRISQUE?; `agenticiqa tools list` shows all");
    }

    #[test]
    fn every_native_score_with_a_direction_in_the_list_has_a_scale() {
        for tool in Registry::builtin()
            .unwrap()
            .iter()
            .filter(|tool| metadata::parse(BUILTIN).unwrap().contains_key(&tool.name))
        {
            if tool.info().is_some() {
                assert_ne!(tool.scale(), Scale::None, "{}", tool.name);
            }
        }
    }

    #[test]
    fn better_raw_scores_never_get_a_worse_score() {
        for tool in Registry::builtin().unwrap().iter().filter(|tool| tool.info().is_some()) {
            let (scale, Some(lower)) = (tool.scale(), tool.metadata.lower_is_better) else { continue };
            let Some(info) = tool.info() else { continue };
            let (low, high) = (info.range.0.max(-20.0), info.range.1.min(100.0));
            let steps = (0..=1000).map(|step| low + (high - low) * f64::from(step) / 1000.0);
            let mut scores: Vec<f64> = steps.filter_map(|raw| scale.normalise(raw)).collect();
            if lower {
                scores.reverse();
            }
            let fall = scores.windows(2).map(|pair| pair[0] - pair[1]).fold(0.0, f64::max);
            assert!(fall < 0.02, "{} falls by {fall}", tool.name);
        }
    }
}
