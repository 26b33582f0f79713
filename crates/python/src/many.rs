//! Scores many images, one image per thread. All threads stay busy, and memory holds at most one
//! image per thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use agenticiqa::imaging::Decoder;
use agenticiqa::tools as engine;
use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Problem;
use crate::pictures::{ImageArgument, Pixels};
use crate::threads;
use crate::tools::{Task, Tool, open_reference};

/// The work, shared by all threads.
struct Job {
    tools: Vec<Arc<engine::Tool>>,
    decoder: Decoder,
    images: Vec<Py<PyAny>>,
    references: References,
    next: AtomicUsize,
    /// Set when the caller no longer waits for results.
    stopped: AtomicBool,
}

/// The references of the images.
enum References {
    /// No reference.
    None,
    /// The same reference for all images, decoded once.
    One(Result<Pixels, Problem>),
    /// One reference per image; `None` for images without one.
    Each(Vec<Py<PyAny>>),
}

/// The result of one tool on one image.
type Cell = Result<Score, Problem>;

#[derive(Clone, Copy)]
struct Score {
    raw: f64,
    normalized: f64,
    low: f64,
    high: f64,
    seconds: f64,
}

/// An image, and its reference if it has one of its own.
type Given = (Result<ImageArgument, Problem>, Option<Result<ImageArgument, Problem>>);

impl Job {
    /// Scores images until none are left.
    fn work(&self, results: &Sender<(usize, Vec<Cell>)>) {
        while !self.stopped.load(Ordering::SeqCst) {
            let index = self.next.fetch_add(1, Ordering::SeqCst);
            if index >= self.images.len() {
                return;
            }
            // If the interpreter is shutting down, no one waits for results.
            let Some(given) = threads::visit(|py| self.given(py, index)) else { return };
            if results.send((index, self.cells(given))).is_err() {
                return;
            }
        }
    }

    /// Returns an image and its own reference.
    fn given(&self, py: Python<'_>, index: usize) -> Given {
        let told = |error: PyErr| Problem::of_picture(py, &error);
        let image = ImageArgument::of(self.images[index].bind(py)).map_err(told);
        let reference = match &self.references {
            References::Each(all) if !all[index].is_none(py) => {
                Some(ImageArgument::of_reference(all[index].bind(py)).map_err(told))
            }
            _ => None,
        };
        (image, reference)
    }

    /// Scores an image with all tools, without the interpreter.
    fn cells(&self, (image, reference): Given) -> Vec<Cell> {
        let image = image.and_then(|image| image.open(&self.decoder));
        let reference = match (reference, &self.references) {
            (Some(given), _) => Some(given.and_then(|given| open_reference(given, &self.decoder))),
            (None, References::One(one)) => Some(one.clone()),
            _ => None,
        };
        self.tools.iter().map(|tool| self.cell(tool, &image, &reference)).collect()
    }

    fn cell(
        &self,
        tool: &Arc<engine::Tool>,
        image: &Result<Pixels, Problem>,
        reference: &Option<Result<Pixels, Problem>>,
    ) -> Cell {
        let reference = reference.clone().filter(|_| tool.needs_reference()).transpose();
        let (tool, image) = (Arc::clone(tool), image.clone()?);
        let run = Task { tool: Arc::clone(&tool), image, reference: reference?, region: None, map: false }.run()?;
        match run.error {
            Some(failure) => Err(failure.into()),
            None => {
                let interval = run.interval.and_then(|interval| tool.scale().normalize_interval(interval));
                let [low, high] = interval.unwrap_or([f64::NAN; 2]);
                let number = |score: Option<f64>| score.unwrap_or(f64::NAN);
                let (raw, normalized) = (number(run.raw_score), number(run.normalized_score));
                Ok(Score { raw, normalized, low, high, seconds: run.execution_time })
            }
        }
    }
}

/// Scores all images with all tools. Returns arrays of images by tools, with NaN for missing
/// scores, and a dictionary of errors. `references` is `None`, a list with one reference per image,
/// or, if `shared`, one reference for all.
#[pyfunction]
#[pyo3(signature = (tools, images, references, shared, threads, progress=None))]
pub fn score_many<'py>(
    py: Python<'py>,
    tools: Vec<Py<Tool>>,
    images: Vec<Py<PyAny>>,
    references: Option<Bound<'py, PyAny>>,
    shared: bool,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let decoder = tools.first().map_or_else(Decoder::default, |tool| tool.get().decoder);
    let tools: Vec<Arc<engine::Tool>> = tools.iter().map(|tool| Arc::clone(&tool.get().tool)).collect();
    let references = match references {
        None => References::None,
        Some(one) if shared => {
            let given = ImageArgument::of_reference(&one)?;
            References::One(threads::attended(py, move || open_reference(given, &decoder))?)
        }
        Some(each) => References::Each(each.extract()?),
    };
    let (rows, columns) = (images.len(), tools.len());
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let job = Arc::new(Job { tools, decoder, images, references, next, stopped });
    let (sender, mut receiver) = channel();
    // With fewer images than threads, all threads work on the same image.
    let wanted = threads.unwrap_or_else(threads::threads);
    let crew = if rows < wanted { vec![threads::team()?] } else { threads::crew(wanted)? };
    for thread in crew {
        let (job, sender) = (Arc::clone(&job), sender.clone());
        thread.spawn(move || {
            job.work(&sender);
            // In this order, so that the receiver is the last owner of the images when the channel
            // closes.
            drop(job);
            drop(sender);
        });
    }
    drop(sender);
    let mut table = Table::new(py, rows, columns);
    for done in 1..=rows {
        let received = threads::wait(py, &mut receiver).and_then(|received| {
            let (index, cells) = received.ok_or_else(lost)?;
            table.put(index, cells)?;
            progress.as_ref().map_or(Ok(()), |progress| progress.call1((done, rows)).map(drop))
        });
        if let Err(error) = received {
            job.stopped.store(true, Ordering::SeqCst);
            threads::abandon();
            return Err(error);
        }
    }
    // Wait for the threads: Python objects dropped without the interpreter lock stay until the next
    // call.
    while threads::wait(py, &mut receiver)?.is_some() {}
    table.finish(rows, columns)
}

fn lost() -> Problem {
    Problem::Other("internal error on one of these images: please report it".to_owned())
}

/// The results as columns.
struct Table<'py> {
    py: Python<'py>,
    columns: usize,
    numbers: [Vec<f64>; 5],
    errors: Bound<'py, PyDict>,
}

const NAMES: [&str; 5] = ["raw", "normalized", "low", "high", "seconds"];

impl<'py> Table<'py> {
    fn new(py: Python<'py>, rows: usize, columns: usize) -> Self {
        Self { py, columns, numbers: std::array::from_fn(|_| vec![f64::NAN; rows * columns]), errors: PyDict::new(py) }
    }

    fn put(&mut self, row: usize, cells: Vec<Cell>) -> PyResult<()> {
        for (column, cell) in cells.into_iter().enumerate() {
            match cell {
                Ok(Score { raw, normalized, low, high, seconds }) => {
                    for (numbers, value) in self.numbers.iter_mut().zip([raw, normalized, low, high, seconds]) {
                        numbers[row * self.columns + column] = value;
                    }
                }
                Err(problem) => self.errors.set_item((row, column), PyErr::from(problem).into_value(self.py))?,
            }
        }
        Ok(())
    }

    fn finish(self, rows: usize, columns: usize) -> PyResult<Bound<'py, PyDict>> {
        let table = PyDict::new(self.py);
        for (name, numbers) in NAMES.into_iter().zip(self.numbers) {
            let array: Bound<'py, PyArray2<f64>> =
                numpy::PyArray1::from_vec(self.py, numbers).reshape([rows, columns])?;
            table.set_item(name, array)?;
        }
        table.set_item("errors", self.errors)?;
        Ok(table)
    }
}
