//! The registry: all tools by name, from the tool list and the built-in metrics.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa_metrics as metrics;
use agenticiqa_metrics::fold_name;
use metrics::{Direction, Info, Kind, Metric};

use super::command;
use super::engine::{Absent, Engine, Native};
use super::fused_fr::FusedFr;
use super::fused_nr::FusedNr;
use super::model_file::FromModelFile;
#[cfg(feature = "onnx")]
use super::onnx::OnnxTool;
use super::{Availability, Backend, Error, Metadata, Scale, ToolList, ToolType, Worker};
use agenticiqa_vision::vocabulary::Distortion;

/// A tool: its metadata and the engine that runs it.
#[derive(Debug, Clone)]
pub struct Tool {
    name: String,
    metadata: Metadata,
    engine: Arc<dyn Engine>,
    added: bool,
    files: Vec<PathBuf>,
}

impl Tool {
    /// Returns the name as spelled in the literature.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns type, strengths, direction and scale.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns the metric, if the tool is a built-in metric.
    pub fn metric(&self) -> Option<&dyn Metric> {
        self.engine.metric()
    }

    /// Returns the description of the metric, if the tool is a built-in metric.
    pub fn info(&self) -> Option<&'static Info> {
        self.metric().map(Metric::info)
    }

    /// Returns whether its scores come with a prediction interval: it was fitted to opinions on
    /// whole images.
    pub fn has_interval(&self) -> bool {
        self.engine.has_interval()
    }

    /// Returns whether it runs in this process, on the threads of its caller.
    pub fn is_builtin(&self) -> bool {
        matches!(self.metadata.backend, Backend::Native | Backend::Builtin)
    }

    /// Returns whether the tool has a quality map.
    pub fn has_map(&self) -> bool {
        self.engine.has_map()
    }

    /// Returns a description in one sentence, from the tool list or from the metric.
    pub fn description(&self) -> &str {
        let own = self.info().map_or("", |info| info.summary);
        if self.metadata.description.is_empty() { own } else { &self.metadata.description }
    }

    /// Returns whether the tool needs a reference.
    pub fn needs_reference(&self) -> bool {
        self.metadata.tool_type == ToolType::FullReference
    }

    /// Returns whether the tool can run on this machine.
    pub fn availability(&self) -> Availability {
        self.engine.availability()
    }

    /// Returns whether the user added the tool, that is, it is neither built in nor on the
    /// built-in list.
    pub fn is_added(&self) -> bool {
        self.added
    }

    /// Returns the paths of the files that `tools install` writes; empty if the tool needs none.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Identifies what the scores depend on besides the name and the release, for use in cache
    /// keys.
    pub fn fingerprint(&self) -> String {
        self.engine.fingerprint()
    }

    /// Starts loading what the tool needs on another thread. Useful if the tool will run soon.
    pub fn prepare(&self) {
        self.engine.prepare();
    }

    /// Returns whether running the tool only waits for another process.
    pub fn waits(&self) -> bool {
        self.engine.waits()
    }

    pub(super) fn engine(&self) -> &dyn Engine {
        self.engine.as_ref()
    }

    /// Returns whether the tool is known to be accurate for a distortion.
    pub fn is_strong_at(&self, distortion: Distortion) -> bool {
        self.metadata.strengths.iter().any(|name| name == distortion.name())
    }

    /// Returns the map from raw scores to scores from 1 to 5.
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

/// Resources of tools that are not built in.
#[derive(Debug, Clone, Default)]
pub struct ToolResources {
    /// Folder of installed model files.
    pub models: Option<PathBuf>,
    /// The Python process for pyiqa metrics, shared by all tools that use it.
    pub worker: Worker,
    /// Folder of the tool list. Files of the user's tools are looked up below it.
    pub own: Option<PathBuf>,
    /// Shared library of ONNX Runtime. If it is `None`, `ORT_DYLIB_PATH` or the built-in engine is
    /// used.
    pub onnx_runtime: Option<PathBuf>,
}

impl ToolResources {
    /// Returns the resources that are installed in a data folder.
    pub fn in_folder(data: &Path) -> Self {
        let library = data.join("lib").join(format!("{DLL_PREFIX}onnxruntime{DLL_SUFFIX}"));
        Self { models: Some(data.join("tools")), onnx_runtime: library.is_file().then_some(library), ..Self::default() }
    }

    /// Returns the path of a model file: next to the tool list if it exists there, otherwise in
    /// the folder of installed models.
    #[cfg(feature = "onnx")]
    pub(super) fn model_file(&self, file: &str) -> PathBuf {
        // Joining an absolute path returns that path.
        let own = self.own.as_ref().map(|folder| folder.join(file)).filter(|path| path.exists());
        own.or_else(|| Some(self.models.as_ref()?.join(file))).unwrap_or_else(|| file.into())
    }
}

/// All tools by name. See the [crate documentation](crate) for an example.
#[derive(Debug, Clone)]
pub struct Registry {
    tools: Vec<Tool>,
}

impl Registry {
    /// Creates a registry of the built-in list and all native metrics, without installed files.
    pub fn builtin() -> Result<Self, Error> {
        Self::from_list(ToolList::builtin()?, &ToolResources::default())
    }

    /// Creates a registry from a list in the format of `tools.json`, plus all native metrics.
    pub fn new(json: &str, resources: &ToolResources) -> Result<Self, Error> {
        Self::from_list(ToolList::parse(json, "tools.json")?, resources)
    }

    /// Creates a registry from a list, plus all native metrics.
    pub fn from_list(mut list: ToolList, resources: &ToolResources) -> Result<Self, Error> {
        let builtin = ToolList::builtin()?;
        let files = |metadata: &Metadata| match (&resources.models, &metadata.install) {
            (Some(folder), Some(install)) => install.files.keys().map(|file| folder.join(file)).collect(),
            _ => Vec::new(),
        };
        let mut tools = Vec::new();
        for metric in metrics::all() {
            let info = metric.info();
            let metadata = list.remove(info.name).unwrap_or_else(|| describe(info));
            let files: Vec<PathBuf> = files(&metadata);
            let engine = match metadata.backend {
                Backend::Native => native(metric, files.first().cloned()),
                _ => engine(info.name, &metadata, resources),
            };
            tools.push(Tool { name: info.name.to_owned(), metadata, engine, added: false, files });
        }
        tools.extend(list.into_entries().map(|(name, metadata)| {
            let engine = engine(&name, &metadata, resources);
            let (added, files) = (!builtin.contains(&name), files(&metadata));
            Tool { name, metadata, engine, added, files }
        }));
        Ok(Self { tools })
    }

    /// Loads the model file that a tool needs.
    pub fn load_model(&mut self, name: &str, path: &Path) -> Result<(), Error> {
        let failed = |reason: String| Error::Model { path: path.display().to_string(), reason };
        let tool = self.get(name)?.name.clone();
        let metric = metrics::find(ILNIQE).filter(|_| tool == ILNIQE);
        let metric = metric.ok_or_else(|| failed(format!("{tool} takes no model file")))?;
        let engine = FromModelFile::given(metric, path).map_err(failed)?;
        if let Some(tool) = self.tools.iter_mut().find(|tool| tool.name == ILNIQE) {
            tool.engine = Arc::new(engine);
        }
        Ok(())
    }

    /// Iterates over all tools: native ones in the order of the documentation, then the others by
    /// name.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    /// Returns the tool of that name. Case, `-` and `_` do not matter.
    pub fn get(&self, name: &str) -> Result<&Tool, Error> {
        let wanted = fold_name(name);
        self.tools
            .iter()
            .find(|tool| fold_name(&tool.name) == wanted)
            .ok_or_else(|| Error::UnknownTool { name: name.to_owned(), suggestion: self.nearest(&wanted) })
    }

    /// Returns the tool of that name, or an error if it cannot run on this machine.
    pub fn runnable(&self, name: &str) -> Result<&Tool, Error> {
        let tool = self.get(name)?;
        match tool.availability() {
            Availability::Ready => Ok(tool),
            Availability::Missing { reason, remedy } => {
                Err(Error::Unavailable { tool: tool.name().to_owned(), reason, remedy })
            }
        }
    }

    /// Returns the tools that are most accurate for a distortion, in the order of the list.
    pub fn get_tools_for_distortion(&self, distortion: Distortion) -> Vec<&Tool> {
        self.iter().filter(|tool| tool.is_strong_at(distortion)).collect()
    }

    /// Returns the tools of a type: those that need a reference, or those that do not.
    pub fn get_tools_by_type(&self, tool_type: ToolType) -> Vec<&Tool> {
        self.iter().filter(|tool| tool.metadata.tool_type == tool_type).collect()
    }

    /// Returns whether a tool of that name exists and can run on this machine.
    pub fn is_tool_available(&self, name: &str) -> bool {
        self.get(name).is_ok_and(|tool| tool.availability().is_available())
    }

    fn nearest(&self, wanted: &str) -> Option<String> {
        let distance = |tool: &&Tool| strsim::damerau_levenshtein(&fold_name(&tool.name), wanted);
        let nearest = self.tools.iter().min_by_key(distance)?;
        (distance(&nearest) <= wanted.len().div_ceil(2)).then(|| nearest.name.clone())
    }
}

/// Returns the engine of a built-in metric. `file` is the installed model file, for metrics that
/// need one.
fn native(metric: &'static dyn Metric, file: Option<PathBuf>) -> Arc<dyn Engine> {
    match metric.info().name {
        ILNIQE => Arc::new(FromModelFile::new(metric, file)),
        _ => Arc::new(Native(metric)),
    }
}

/// Returns the engine of a tool that is not built in.
fn engine(name: &str, metadata: &Metadata, resources: &ToolResources) -> Arc<dyn Engine> {
    match metadata.backend {
        Backend::Native => Absent::because(format!("no metric called {name} is built in")),
        Backend::Builtin if name == agenticiqa_vision::fused_fr::NAME => Arc::new(FusedFr),
        Backend::Builtin if name == agenticiqa_vision::fused_nr::NAME => Arc::new(FusedNr),
        Backend::Builtin => Absent::because(format!("no model called {name} is built in")),
        Backend::Command => command::engine(metadata),
        Backend::Worker => by_worker(metadata, resources)
            .unwrap_or_else(|| Absent::because("a tool of the worker that names no metric of pyiqa")),
        Backend::Onnx => by_onnx(name, metadata, resources),
    }
}

/// Returns the engine of an ONNX tool: its file if it is installed, otherwise the worker if there
/// is one.
fn by_onnx(name: &str, metadata: &Metadata, resources: &ToolResources) -> Arc<dyn Engine> {
    let file = onnx_engine(name, metadata, resources);
    let worker = || by_worker(metadata, resources).filter(|_| resources.worker.is_on());
    match file {
        Some(file) if file.availability().is_available() => file,
        file => worker().unwrap_or_else(|| match (file, &metadata.install) {
            (_, Some(_)) => Absent::without_weights(name),
            (Some(file), None) => file,
            (None, None) => Absent::because("an ONNX tool without an onnx section that names its file"),
        }),
    }
}

#[cfg(feature = "onnx")]
fn onnx_engine(name: &str, metadata: &Metadata, resources: &ToolResources) -> Option<Arc<dyn Engine>> {
    let section = metadata.onnx.as_ref()?;
    Some(Arc::new(OnnxTool::new(name, metadata.tool_type, section, resources)))
}

#[cfg(not(feature = "onnx"))]
fn onnx_engine(_: &str, metadata: &Metadata, _: &ToolResources) -> Option<Arc<dyn Engine>> {
    metadata.onnx.as_ref().map(|_| Absent::because("this build cannot run ONNX models (feature `onnx`)"))
}

/// Returns the worker engine of a tool that names a pyiqa metric.
fn by_worker(metadata: &Metadata, resources: &ToolResources) -> Option<Arc<dyn Engine>> {
    let full_reference = metadata.tool_type == ToolType::FullReference;
    metadata.worker.clone().map(|section| resources.worker.engine(section, full_reference))
}

/// Creates the metadata of a native metric that is not on the list.
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
        calibration: None,
        command: None,
        install: None,
        check: None,
        worker: None,
        onnx: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn british_names_of_earlier_versions_still_find_their_tools() {
        let registry = Registry::builtin().unwrap();
        for (old, new) in [("Colourfulness", "Colorfulness"), ("colour_cast", "Color-Cast")] {
            assert_eq!(registry.get(old).unwrap().name(), new);
        }
    }

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
        assert_eq!(error, "no tool is called \"BRISK\", did you mean BRISQUE?");
    }

    #[test]
    fn every_native_score_with_a_direction_in_the_list_has_a_scale() {
        for tool in Registry::builtin().unwrap().iter().filter(|tool| ToolList::builtin().unwrap().contains(&tool.name))
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
            let mut scores: Vec<f64> = steps.filter_map(|raw| scale.normalize(raw)).collect();
            if lower {
                scores.reverse();
            }
            let fall = scores.windows(2).map(|pair| pair[0] - pair[1]).fold(0.0, f64::max);
            assert!(fall < 0.02, "{} falls by {fall}", tool.name);
        }
    }
}
