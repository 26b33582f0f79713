//! The tools: their list, and one of them on one image.

use std::path::PathBuf;
use std::sync::Arc;

use agenticiqa::config::Overrides;
use agenticiqa::imaging::Decoder;
use agenticiqa::metrics::{Direction, Pair, Region};
use agenticiqa::scoring;
use agenticiqa::setup;
use agenticiqa::tools::{self as engine, Failure, Registry, ToolInput, ToolRun};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::errors::{self, Problem, unusable_reference};
use crate::pictures::{ImageArgument, Pixels};
use crate::settings;
use crate::threads;

/// All tools by the settings.
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
            Ok(Self { registry, decoder: Decoder { max_pixels: settings.pipeline.images.max_pixels } })
        });
        Ok(made?)
    }

    /// The tool of that name, in any spelling; it must be able to run here.
    fn get(&self, name: &str) -> PyResult<Tool> {
        let tool = self.registry.runnable(name).map_err(Problem::from)?;
        tool.prepare();
        Ok(Tool { tool: Arc::new(tool.clone()), decoder: self.decoder })
    }

    /// All tools, each as JSON.
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

/// Lowest and highest raw score, where known and finite: the list's usual range, or the metric's own bounds.
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

/// What a tool is run on.
pub struct Task {
    pub tool: Arc<engine::Tool>,
    pub image: Pixels,
    pub reference: Option<Pixels>,
    pub region: Option<Region>,
    pub map: bool,
}

impl Task {
    /// Runs the tool. A failure is part of the result.
    pub fn run(&self) -> Result<ToolRun, Problem> {
        let (tool, part) = (&self.tool, |pixels: &Pixels| match &self.region {
            Some(region) => pixels.image.crop(region),
            None => Ok(pixels.image.clone()),
        });
        if tool.metric().is_none() && !tool.name().starts_with("Fused") {
            // Engines of their own have threads of their own.
            threads::check_fork()?;
        }
        let image = part(&self.image)?;
        let reference = self.reference.as_ref().filter(|_| tool.needs_reference()).map(part).transpose()?;
        let pair = match &reference {
            Some(reference) => Pair::new(reference, &image)?,
            None if tool.needs_reference() => {
                return Err(scoring::Error::ReferenceMissing { tool: tool.name().to_owned() }.into());
            }
            None => Pair::single(&image),
        };
        let pair = if self.map { pair.with_map() } else { pair };
        let whole = |pixels: &Pixels| pixels.path.clone().filter(|_| self.region.is_none());
        let (image_file, reference_file) = (whole(&self.image), self.reference.as_ref().and_then(whole));
        Ok(tool.run(&ToolInput::new(pair).with_files(image_file.as_deref(), reference_file.as_deref())))
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

/// The reference; what is wrong with it is said of it.
pub fn open_reference(reference: ImageArgument, decoder: &Decoder) -> Result<Pixels, Problem> {
    reference.open(decoder).map_err(|problem| {
        let message = unusable_reference(&problem.to_string());
        if matches!(problem, Problem::Missing(_)) { Problem::Missing(message) } else { Problem::Picture(message) }
    })
}

#[pymethods]
impl Tool {
    /// The name as papers spell it.
    #[getter]
    fn name(&self) -> &str {
        self.tool.name()
    }

    /// Whether it compares with a reference.
    #[getter]
    fn needs_reference(&self) -> bool {
        self.tool.needs_reference()
    }

    /// The direction of the raw score; `None` for plain measurements.
    #[getter]
    fn lower_is_better(&self) -> Option<bool> {
        let told = |direction| match direction {
            Direction::LowerIsBetter => Some(true),
            Direction::HigherIsBetter => Some(false),
            Direction::Neutral => None,
        };
        self.tool.metadata().lower_is_better.or_else(|| self.tool.info().and_then(|info| told(info.direction)))
    }

    /// Lowest and highest raw score; `None` where there is no bound or it is not known.
    #[getter]
    fn range(&self) -> (Option<f64>, Option<f64>) {
        let [low, high] = range(&self.tool);
        (low, high)
    }

    /// What it is, in a sentence.
    #[getter]
    fn description(&self) -> &str {
        self.tool.description()
    }

    /// Whether it gives a map.
    #[getter]
    fn has_map(&self) -> bool {
        self.tool.has_map()
    }

    /// The raw score.
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

    /// The raw score and what belongs to it.
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

    /// The map: its values as an array, and the values of a flawless and of a fully damaged place.
    #[pyo3(signature = (image, reference=None, region=None))]
    fn map<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'_, PyAny>,
        reference: Option<&Bound<'_, PyAny>>,
        region: Option<(usize, usize, usize, usize)>,
    ) -> PyResult<(Bound<'py, PyArray2<f32>>, f32, f32)> {
        if !self.tool.has_map() {
            return Err(Problem::Tool(format!("{} gives no map", self.tool.name())).into());
        }
        let (run, _) = self.run(py, image, reference, region, true)?;
        let missing = || Failure::Tool(format!("{} gave no map of this image", self.tool.name()));
        let map = run.map.ok_or_else(missing).map_err(Problem::from)?;
        let (width, height) = (map.plane.width(), map.plane.height());
        let values = PyArray1::from_slice(py, map.plane.data()).reshape([height, width])?;
        Ok((values, map.best, map.worst))
    }

    fn __repr__(&self) -> String {
        format!("Tool({:?})", self.tool.name())
    }
}
