//! The agent for Python. Assessments run on background threads and send events to a queue that
//! Python reads.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use agenticiqa::agent::{self as engine, Request};
use agenticiqa::batch::Line;
use agenticiqa::config::Overrides;
use agenticiqa::events::EventLog;
use agenticiqa::repair::Effort;
use agenticiqa::setup;
use agenticiqa::state::{AnswerForm, AssessmentRecord, RegionBox};
use agenticiqa::vlm::{Calls, Limiter, Traffic};
use pyo3::prelude::*;
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{AbortHandle, JoinError};

use crate::errors::Problem;
use crate::limiter::Remote;
use crate::pictures::ImageArgument;
use crate::settings;
use crate::threads;

/// Threads that wait for models. Computation runs on other threads.
const WAITING: usize = 2;

/// Returns the runtime of assessments and downloads. A fork does not copy its threads, so
/// [`threads::begin_agent`] returns an error in a forked process.
pub fn runtime() -> Result<&'static Runtime, Problem> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    threads::begin_agent()?;
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let built = Builder::new_multi_thread().worker_threads(WAITING).enable_all().build();
    let built = built.map_err(|error| Problem::Other(format!("threads cannot be started: {error}")))?;
    Ok(RUNTIME.get_or_init(|| built))
}

/// A question, as sent by the Python code.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    query: Option<String>,
    sample_id: Option<String>,
    options: Vec<String>,
    regions: Vec<RegionBox>,
    tools: Vec<String>,
    answer: Option<AnswerForm>,
    max_replan: Option<u32>,
    what_if: bool,
}

impl Question {
    fn request(self, image: engine::Input, reference: Option<engine::Input>) -> Request {
        let default = Request::new(image);
        Request {
            sample_id: self.sample_id,
            query: self.query.unwrap_or_else(|| default.query.clone()),
            options: self.options,
            reference,
            regions: self.regions,
            tools: self.tools,
            form: self.answer,
            max_replan_iterations: self.max_replan,
            what_if: self.what_if.then_some(Effort::Full),
            ..default
        }
    }
}

/// The agent with its settings, tools and models.
#[pyclass(frozen, module = "agenticiqa._native")]
pub struct Agent {
    agent: Arc<engine::Agent>,
}

#[pymethods]
impl Agent {
    #[new]
    #[pyo3(signature = (config=None, backend=None, max_replan=None, overrides=Vec::new(), calls=None, limiter=None))]
    fn new(
        py: Python<'_>,
        config: Option<PathBuf>,
        backend: Option<String>,
        max_replan: Option<u32>,
        overrides: Vec<(String, String)>,
        calls: Option<usize>,
        limiter: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let overrides = Overrides { backend, max_replan, assignments: overrides, ..Overrides::default() };
        let limiter = limiter.map(|object| Arc::new(Remote::new(object)) as Arc<dyn Limiter>);
        let made = py.detach(move || -> Result<Self, Problem> {
            let (settings, environment) = settings::load(config.as_deref(), &overrides)?;
            let registry = setup::registry(&settings)?;
            let traffic = Traffic { calls: calls.map(Calls::new), limiter, ..setup::traffic(&settings) };
            let agent = setup::agent_with(&settings, &environment, registry, traffic)?;
            Ok(Self { agent: Arc::new(agent) })
        });
        Ok(made?)
    }

    /// The backends of planner, executor and summarizer.
    #[getter]
    fn backends(&self) -> (String, String, String) {
        let backends = self.agent.backends();
        (backends.planner, backends.executor, backends.summarizer)
    }

    /// Starts to answer a question, given as JSON. `names` are the names of image and reference in
    /// the record. `wake` is called without arguments, on another thread, whenever a message is
    /// ready.
    #[pyo3(signature = (image, reference, question, names=(None, None), wake=None))]
    fn start(
        &self,
        py: Python<'_>,
        image: &Bound<'_, PyAny>,
        reference: Option<&Bound<'_, PyAny>>,
        question: &str,
        names: (Option<String>, Option<String>),
        wake: Option<Py<PyAny>>,
    ) -> PyResult<Run> {
        let question: Question =
            serde_json::from_str(question).map_err(|error| Problem::Settings(error.to_string()))?;
        let (image, reference) = (ImageArgument::of(image)?, reference.map(ImageArgument::of_reference).transpose()?);
        let agent = Arc::clone(&self.agent);
        let encode = move || {
            threads::compute(|| {
                rayon::join(|| image.input(names.0), || reference.map(|reference| reference.input(names.1)).transpose())
            })
        };
        let start = move |events| async move {
            // Encoding a large image must not block the event loop or Ctrl-C.
            let encoded = tokio::task::spawn_blocking(encode).await.map_err(|failure| failed(&failure))?;
            let (image, reference) = encoded?;
            let request = question.request(image?, reference?);
            agent.assess(request, events).await.map_err(Problem::from)
        };
        Ok(py.detach(|| Run::start(wake, start))?)
    }

    /// Starts the assessment of a manifest line: name, number and fields as JSON. The record is the
    /// one that `agenticiqa batch` writes. `pictures` are file bytes that replace the image and the
    /// reference of the line.
    #[pyo3(signature = (line, pictures=(None, None), tools=Vec::new(), timeout=None, wake=None))]
    fn start_line(
        &self,
        line: (String, u64, String),
        pictures: (Option<Vec<u8>>, Option<Vec<u8>>),
        tools: Vec<String>,
        timeout: Option<f64>,
        wake: Option<Py<PyAny>>,
    ) -> PyResult<Run> {
        let (name, number, fields) = line;
        let fields = serde_json::from_str(&fields).map_err(|error| Problem::Settings(error.to_string()))?;
        let limit = timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let (line, agent) = (Line { name, number, fields }, Arc::clone(&self.agent));
        let start = move |_| async move { Ok(line.assess(agent, pictures, tools, limit).await) };
        Ok(Run::start(wake, start)?)
    }
}

/// A message of a running assessment.
enum Message {
    Event(String),
    End(Result<Box<AssessmentRecord>, Problem>),
}

/// A running assessment.
#[pyclass(frozen, module = "agenticiqa._native")]
pub struct Run {
    messages: Mutex<Receiver<Message>>,
    task: AbortHandle,
}

/// Sends messages and wakes the listener.
struct Voice {
    sender: Mutex<Sender<Message>>,
    wake: Option<Py<PyAny>>,
}

impl Voice {
    fn say(&self, message: Message) {
        let sent = self.sender.lock().unwrap_or_else(PoisonError::into_inner).send(message);
        if let (Ok(()), Some(wake)) = (sent, &self.wake) {
            // Waking fails if the event loop of the listener is closed; no one needs the error.
            threads::visit(|py| wake.call0(py).map(drop));
        }
    }
}

fn failed(failure: &JoinError) -> Problem {
    Problem::Other(format!("internal error on this image: {failure}"))
}

impl Run {
    fn start<F>(wake: Option<Py<PyAny>>, work: impl FnOnce(EventLog) -> F) -> Result<Self, Problem>
    where
        F: Future<Output = Result<AssessmentRecord, Problem>> + Send + 'static,
    {
        let (sender, receiver) = channel();
        let voice = Arc::new(Voice { sender: Mutex::new(sender), wake });
        let events = Arc::clone(&voice);
        let events = EventLog::heard_by(move |event| {
            if let Ok(event) = serde_json::to_string(event) {
                events.say(Message::Event(event));
            }
        });
        let runtime = runtime()?;
        let worked = runtime.spawn(work(events));
        let task = worked.abort_handle();
        runtime.spawn(async move {
            let ended = worked.await.unwrap_or_else(|failure| {
                Err(match failure.is_cancelled() {
                    true => Problem::Other("the assessment was canceled".to_owned()),
                    false => failed(&failure),
                })
            });
            voice.say(Message::End(ended.map(Box::new)));
        });
        Ok(Self { messages: Mutex::new(receiver), task })
    }
}

#[pymethods]
impl Run {
    /// Waits up to `seconds` for a message. Returns `(False, event)`, `(True, record)`, both as
    /// JSON, or `None`. Raises the error of an assessment that ended without a record.
    fn hear(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<(bool, String)>> {
        let queue_time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let heard = py.detach(|| self.messages.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(queue_time));
        match heard {
            Ok(Message::Event(event)) => Ok(Some((false, event))),
            Ok(Message::End(record)) => {
                let record = serde_json::to_string(&*record?).map_err(|error| Problem::Other(error.to_string()))?;
                Ok(Some((true, record)))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(Problem::Other("the assessment has ended and its result was already read".to_owned()).into())
            }
        }
    }

    /// Cancels the assessment. Steps that have not started are skipped.
    fn cancel(&self) {
        self.task.abort();
    }
}
