//! Rate limits for a whole cluster: one process schedules calls ([`RateLimiter`]), all others ask
//! it ([`Remote`]).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agenticiqa::vlm::{Error, ErrorKind, LimitCard, Limiter, Pace};
use futures_util::future::BoxFuture;
use pyo3::prelude::*;
use tokio::time::Instant;

use crate::errors::Problem;
use crate::threads;

/// Schedules the calls of each backend.
#[pyclass(frozen, module = "agenticiqa._native")]
pub struct RateLimiter {
    card: LimitCard,
    paces: Mutex<HashMap<String, Pace>>,
}

impl RateLimiter {
    fn pace<T>(&self, backend: &str, change: impl FnOnce(&mut Pace) -> T) -> T {
        let mut paces = self.paces.lock().unwrap_or_else(PoisonError::into_inner);
        let pace = paces.entry(backend.to_owned()).or_insert_with(|| Pace::new(self.card.limits(backend)));
        change(pace)
    }
}

#[pymethods]
impl RateLimiter {
    /// Creates a limiter from JSON, in the form of `limits` in `model_backends.yaml`.
    #[new]
    fn new(limits: &str) -> PyResult<Self> {
        let card = serde_json::from_str(limits);
        let card = card.map_err(|error| Problem::Settings(format!("limits: {error}")))?;
        Ok(Self { card, paces: Mutex::default() })
    }

    /// Returns the seconds until the call may start, and the estimated number of tokens.
    fn reserve(&self, backend: &str) -> (f64, f64) {
        let now = Instant::now();
        let (start, tokens) = self.pace(backend, |pace| pace.reserve(now));
        (start.saturating_duration_since(now).as_secs_f64(), tokens)
    }

    /// Reports the end of a call. `used` is the number of tokens, or `None` if the call failed.
    #[pyo3(signature = (backend, reserved, used=None))]
    fn settle(&self, backend: &str, reserved: f64, used: Option<f64>) {
        self.pace(backend, |pace| pace.settle(reserved, used));
    }

    /// Pauses all calls to a backend for some seconds.
    fn rest(&self, backend: &str, seconds: f64) {
        let respite = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        self.pace(backend, |pace| pace.rest_until(Instant::now() + respite));
    }
}

/// A limiter in another process, used through a Python object with the methods of [`RateLimiter`].
pub struct Remote(Py<PyAny>);

impl Remote {
    pub fn new(object: Py<PyAny>) -> Self {
        Self(object)
    }

    /// Calls a method on another thread, without waiting for the result.
    fn emit(&self, method: &'static str, arguments: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + 'static) {
        let Some(object) = threads::visit(|py| self.0.clone_ref(py)) else { return };
        tokio::task::spawn_blocking(move || {
            threads::visit(|py| -> PyResult<()> {
                let arguments = arguments(py)?.into_bound(py);
                object.bind(py).call_method1(method, arguments.cast_into::<pyo3::types::PyTuple>()?).map(drop)
            })
        });
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Remote")
    }
}

impl Limiter for Remote {
    fn turn<'a>(&'a self, backend: &'a str) -> BoxFuture<'a, Result<f64, Error>> {
        let failed = move |reason: &dyn fmt::Display| {
            let message = format!("the rate limiter of the cluster cannot be reached: {reason}");
            Error::new(backend, ErrorKind::Connection, message)
        };
        Box::pin(async move {
            let object = threads::visit(|py| self.0.clone_ref(py));
            let object = object.ok_or_else(|| failed(&"the interpreter is shutting down"))?;
            let name = backend.to_owned();
            let ask = move || {
                threads::visit(|py| -> PyResult<(f64, f64)> {
                    object.bind(py).call_method1("reserve", (name,))?.extract()
                })
            };
            let asked = tokio::task::spawn_blocking(ask).await.map_err(|error| failed(&error))?;
            let asked = asked.ok_or_else(|| failed(&"the interpreter is shutting down"))?;
            let (seconds, tokens) = asked.map_err(|error| failed(&error))?;
            tokio::time::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default()).await;
            Ok(tokens)
        })
    }

    fn settle(&self, backend: &str, reserved: f64, used: Option<f64>) {
        let backend = backend.to_owned();
        self.emit("settle", move |py| Ok((backend, reserved, used).into_pyobject(py)?.into_any().unbind()));
    }

    fn rest(&self, backend: &str, respite: Duration) {
        let (backend, seconds) = (backend.to_owned(), respite.as_secs_f64());
        self.emit("rest", move |py| Ok((backend, seconds).into_pyobject(py)?.into_any().unbind()));
    }
}
