//! The engine that uses the shared library of ONNX Runtime.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::session::{OutputSelector, RunOptions, Session as OrtSession, SessionInputValue};
use ort::value::{DynValue, TensorRef};

use crate::guard::guarded;
use crate::model::Session;
use crate::{Data, Error, Tensor};

/// The library of this process, once it is loaded.
static LOADED: Mutex<Option<(PathBuf, Environment)>> = Mutex::new(None);

/// Loads the library once per process.
pub(crate) fn environment(path: &Path) -> Result<Environment, Error> {
    let unusable = |reason: String| Error::Library { path: path.to_owned(), reason };
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*loaded {
        Some((own, environment)) if own == path => Ok(environment.clone()),
        Some((own, _)) => Err(unusable(format!("the program already uses {}, and can use one only", own.display()))),
        None => {
            let environment = guarded(|| start(path)).map_err(unusable)?;
            *loaded = Some((path.to_owned(), environment.clone()));
            Ok(environment)
        }
    }
}

fn start(path: &Path) -> Result<Environment, String> {
    // The loader would look up a relative path in the folder of the program first.
    let absolute = std::path::absolute(path).map_err(|error| error.to_string())?;
    let builder = ort::init_from(absolute).map_err(|error| error.to_string())?;
    // Errors carry the messages; the library would also write them to the terminal.
    let silent = Arc::new(|_: ort::logging::LogLevel, _: &str, _: &str, _: &str, _: &str| {});
    builder.with_name("agenticiqa").with_telemetry(false).with_logger(silent).build().map_err(|error| error.to_string())
}

fn start_session(environment: &Environment, bytes: &[u8], threads: usize) -> ort::Result<OrtSession> {
    // Threads that spin while waiting for the next graph would take time from other tools.
    let builder = OrtSession::builder(environment)?.with_intra_threads(threads)?.with_intra_op_spinning(false);
    builder?.commit_from_memory(bytes)
}

/// A graph loaded by ONNX Runtime.
pub(crate) struct Library {
    // Runs share one set of threads, so running several at once gains nothing.
    session: Mutex<OrtSession>,
}

impl Library {
    pub fn load(environment: &Environment, bytes: &[u8]) -> Result<Self, String> {
        let threads = rayon::current_num_threads();
        let session = guarded(|| start_session(environment, bytes, threads).map_err(|error| error.to_string()));
        session.map(|session| Self { session: Mutex::new(session) })
    }

    fn compute(&self, inputs: &[(&str, &Tensor)], outputs: &[&str]) -> ort::Result<Vec<Tensor>> {
        let views = inputs.iter().map(|(name, tensor)| Ok((*name, view(tensor)?)));
        let views = views.collect::<ort::Result<Vec<_>>>()?;
        let selector = outputs.iter().fold(OutputSelector::no_default(), |selector, name| selector.with(*name));
        let options = RunOptions::new()?.with_outputs(selector);
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let values = session.run_with_options(views, &options)?;
        let missing = || ort::Error::new("an output is missing");
        outputs.iter().map(|name| tensor(values.get(name).ok_or_else(missing)?)).collect()
    }
}

impl Session for Library {
    fn run(&self, inputs: &[(&str, &Tensor)], outputs: &[&str]) -> Result<Vec<Tensor>, String> {
        guarded(|| self.compute(inputs, outputs).map_err(|error| error.to_string()))
    }
}

fn view(tensor: &Tensor) -> ort::Result<SessionInputValue<'_>> {
    let shape = tensor.shape();
    Ok(match tensor.data() {
        Data::Float(elements) => TensorRef::from_array_view((shape, elements.as_slice()))?.into(),
        Data::Integer(elements) => TensorRef::from_array_view((shape, elements.as_slice()))?.into(),
    })
}

fn tensor(value: &DynValue) -> ort::Result<Tensor> {
    let shape = |sides: &ort::value::Shape| sides.iter().map(|&side| side as usize).collect::<Vec<_>>();
    let tensor = match value.try_extract_tensor::<f32>() {
        Ok((sides, elements)) => Tensor::float(shape(sides), elements.to_vec()),
        Err(_) => {
            let (sides, elements) = value.try_extract_tensor::<i64>()?;
            Tensor::integer(shape(sides), elements.to_vec())
        }
    };
    tensor.map_err(|error| ort::Error::new(error.to_string()))
}
