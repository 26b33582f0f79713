//! The tools: the list of tools, and running one tool on one image.

use std::path::PathBuf;
use std::sync::Arc;

use agenticiqa::config::Overrides;
use agenticiqa::imaging::Decoder;
use agenticiqa::metrics::{Direction, Region};
use agenticiqa::scoring;
use agenticiqa::setup;
use agenticiqa::tools::{self as engine, Failure, Part, Registry, ToolRun};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::errors::{self, Problem, unusable_reference};
use crate::pictures::{ImageArgument, Pixels};
use crate::settings;
use crate::threads;

/// All tools, configured by the settings.
#[pyclass(frozen, module = "agenticiqa._native")]
pub struct Tools {
    pub registry: Arc<Registry>,
    pub decoder: Decoder,
}

#[pymethods]
impl Tools {
    #[new]
    #[pyo3(signature = (config=None))]
    fn new(py: Python<'_>, config: Option<PathBuf>) -> PyResult<Self> {
        let made = py.detach(|| -> Result<Self, Problem> {
            let (settings, _) = settings::load(config.as_deref(), &Overrides::default())?;
            let registry = Arc::new(setup::registry(&settings)?);
            Ok(Self { registry, decoder: agenticiqa::setup::decoder(&settings) })
        });
        Ok(made?)
    }

    /// Returns a tool by name, in any spelling. The tool must be able to run on this machine.
    fn get(&self, name: &str) -> PyResult<Tool> {
        let tool = self.registry.runnable(name).map_err(Problem::from)?;
        tool.prepare();
        Ok(Tool { tool: Arc::new(tool.clone()), decoder: self.decoder })
    }

    /// Returns the descriptions of all tools, each as JSON.
    fn list(&self) -> Vec<String> {
        let describe = |tool: &engine::Tool| {
            let availability = tool.availability();
            json!({
                "name": tool.name(),
                "type": tool.metadata().tool_type,
                "lower_is_better": tool.metadata().lower_is_better,
                "range": range(tool),
                "description": tool.description(),
                "has_map": tool.has_map(),
                "available": availability.is_available(),
                "reason": availability.reason(),
            })
            .to_string()
        };
        self.registry.iter().map(describe).collect()
    }
}

/// Returns the lowest and highest raw score, if known and finite: the usual range from the tool
/// list, or the metadata.
fn range(tool: &engine::Tool) -> [Option<f64>; 2] {
    let finite = |value: f64| value.is_finite().then_some(value);
    match (tool.info(), tool.metadata().range) {
        (Some(info), _) => [finite(info.range.0), finite(info.range.1)],
        (None, Some((low, high))) => [finite(low), finite(high)],
        _ => [None, None],
    }
}

/// A tool.
#[pyclass(frozen, module = "agenticiqa._native")]
pub struct Tool {
    pub tool: Arc<engine::Tool>,
    pub decoder: Decoder,
}

/// A tool and its input.
pub struct Task {
    pub tool: Arc<engine::Tool>,
    pub image: Pixels,
    pub reference: Option<Pixels>,
    pub region: Option<Region>,
    pub map: bool,
}

impl Task {
    /// Runs the tool. A failure of the tool is part of the result.
    pub fn run(&self) -> Result<ToolRun, Problem> {
        let tool = &self.tool;
        if !tool.is_builtin() {
            // Other engines start threads of their own.
            threads::check_fork()?;
        }
        if tool.needs_reference() && self.reference.is_none() {
            return Err(scoring::Error::ReferenceMissing { tool: tool.name().to_owned() }.into());
        }
        let reference = self.reference.as_ref().filter(|_| tool.needs_reference());
        let whole = Part::new(self.image.image.clone(), reference.map(|pixels| pixels.image.clone()))
            .with_files(self.image.path.clone(), reference.and_then(|pixels| pixels.path.clone()));
        let part = whole.crop(self.region.as_ref())?;
        part.pair(tool)?;
        Ok(part.measure(tool, self.map))
    }
}

impl Tool {
    fn run(
        &self,
        py: Python<'_>,
        image: &Bound<'_, PyAny>,
        reference: Option<&Bound<'_, PyAny>>,
        region: Option<(usize, usize, usize, usize)>,
        map: bool,
    ) -> PyResult<(ToolRun, Vec<String>)> {
        let image = ImageArgument::later(image)?;
        let reference =
            reference.map(ImageArgument::later).transpose().map_err(|error| errors::of_reference(py, error))?;
        let (tool, decoder) = (Arc::clone(&self.tool), self.decoder);
        let region = region.map(|(x, y, width, height)| Region { x, y, width, height });
        let done = threads::attended(py, move || -> Result<(ToolRun, Vec<String>), Problem> {
            let (image, reference) = rayon::join(
                || image.open(&decoder),
                || reference.map(|reference| open_reference(reference, &decoder)).transpose(),
            );
            let task = Task { tool, image: image?, reference: reference?, region, map };
            let run = task.run()?;
            Ok((run, task.image.notes))
        })?;
        let (run, notes) = done?;
        match run.error {
            Some(failure) => Err(Problem::from(failure).into()),
            None => Ok((run, notes)),
        }
    }
}

/// Opens the reference. Errors name it.
pub fn open_reference(reference: ImageArgument, decoder: &Decoder) -> Result<Pixels, Problem> {
    reference.open(decoder).map_err(|problem| {
        let message = unusable_reference(&problem.to_string());
        if matches!(problem, Problem::Missing(_)) { Problem::Missing(message) } else { Problem::Picture(message) }
    })
}

#[pymethods]
impl Tool {
    /// The name of the tool, spelled as in its paper.
    #[getter]
    fn name(&self) -> &str {
        self.tool.name()
    }

    /// Whether the tool needs a reference image.
    #[getter]
    fn needs_reference(&self) -> bool {
        self.tool.needs_reference()
    }

    /// Whether a lower raw score is better. `None` for tools that measure a property and not
    /// quality.
    #[getter]
    fn lower_is_better(&self) -> Option<bool> {
        let told = |direction| match direction {
            Direction::LowerIsBetter => Some(true),
            Direction::HigherIsBetter => Some(false),
            Direction::Neutral => None,
        };
        self.tool.metadata().lower_is_better.or_else(|| self.tool.info().and_then(|info| told(info.direction)))
    }

    /// Lowest and highest raw score. `None` if unbounded or unknown.
    #[getter]
    fn range(&self) -> (Option<f64>, Option<f64>) {
        let [low, high] = range(&self.tool);
        (low, high)
    }

    /// A one-sentence description.
    #[getter]
    fn description(&self) -> &str {
        self.tool.description()
    }

    /// Whether the tool can compute a map.
    #[getter]
    fn has_map(&self) -> bool {
        self.tool.has_map()
    }

    /// Whether the tool computes a prediction interval of its score.
    #[getter]
    fn has_interval(&self) -> bool {
        self.tool.has_interval()
    }

    /// Returns the raw score.
    #[pyo3(signature = (image, reference=None, region=None))]
    fn score(
        &self,
        py: Python<'_>,
        image: &Bound<'_, PyAny>,
        reference: Option<&Bound<'_, PyAny>>,
        region: Option<(usize, usize, usize, usize)>,
    ) -> PyResult<f64> {
        let (run, _) = self.run(py, image, reference, region, false)?;
        Ok(run.raw_score.unwrap_or(f64::NAN))
    }

    /// Returns the raw score with its details.
    #[pyo3(signature = (image, reference=None, region=None))]
    fn measure<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'_, PyAny>,
        reference: Option<&Bound<'_, PyAny>>,
        region: Option<(usize, usize, usize, usize)>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (run, notes) = self.run(py, image, reference, region, false)?;
        let measured = PyDict::new(py);
        let interval = run.interval.and_then(|interval| self.tool.scale().normalize_interval(interval));
        measured.set_item("tool", run.tool)?;
        measured.set_item("raw_score", run.raw_score)?;
        measured.set_item("normalized_score", run.normalized_score)?;
        measured.set_item("interval", interval.map(|[low, high]| (low, high)))?;
        measured.set_item("execution_time", run.execution_time)?;
        measured.set_item("notes", notes)?;
        Ok(measured)
    }

    /// Returns the map as an array, and the values of a flawless and of a fully damaged location.
    #[pyo3(signature = (image, reference=None, region=None))]
    fn map<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'_, PyAny>,
        reference: Option<&Bound<'_, PyAny>>,
        region: Option<(usize, usize, usize, usize)>,
    ) -> PyResult<(Bound<'py, PyArray2<f32>>, f32, f32)> {
        if !self.tool.has_map() {
            return Err(Problem::Tool(format!("{} cannot compute a map", self.tool.name())).into());
        }
        let (run, _) = self.run(py, image, reference, region, true)?;
        let missing = || Failure::Tool(format!("{} returned no map for this image", self.tool.name()));
        let map = run.map.ok_or_else(missing).map_err(Problem::from)?;
        let (width, height) = (map.plane.width(), map.plane.height());
        let values = PyArray1::from_slice(py, map.plane.data()).reshape([height, width])?;
        Ok((values, map.best, map.worst))
    }

    fn __repr__(&self) -> String {
        format!("Tool({:?})", self.tool.name())
    }
}
