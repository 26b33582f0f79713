//! Limits and recordings between the agent and its models.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::limits::{Alone, Limited, Limiter};
use super::recorded::{Player, Recorder};
use super::{BackendName, Error, LimitCard, Limits, ProviderSettings, Recording, Vlm, connect};

/// Settings for all calls to models.
#[derive(Debug, Clone, Default)]
pub struct Traffic {
    /// Requests and tokens per minute, by backend.
    pub limits: LimitCard,
    /// Limits for every backend, in addition to those of the card. The smaller limit wins.
    pub for_all: Limits,
    /// Whether answers are recorded or replayed.
    pub recording: Option<Recording>,
    /// The maximum number of concurrent calls over all models.
    pub calls: Option<Calls>,
    /// Decides when a call may start, instead of the limits above. Use it to share limits between
    /// processes.
    pub limiter: Option<Arc<dyn Limiter>>,
}

/// A limit on concurrent calls, shared by all clones.
#[derive(Debug, Clone)]
pub struct Calls {
    at_a_time: usize,
    turns: Arc<Semaphore>,
}

impl Calls {
    /// Creates a limit of at least one.
    pub fn new(at_a_time: usize) -> Self {
        let at_a_time = at_a_time.max(1);
        Self { at_a_time, turns: Arc::new(Semaphore::new(at_a_time)) }
    }

    /// The maximum number of concurrent calls.
    pub fn at_a_time(&self) -> usize {
        self.at_a_time
    }
}

impl Traffic {
    /// Creates the model for a backend name, or its replay. Nothing is sent.
    pub fn connect(&self, backend: &BackendName, settings: &ProviderSettings) -> Result<Arc<dyn Vlm>, Error> {
        if let Some(Recording::Replay(folder)) = &self.recording {
            return Ok(Arc::new(Player::open(folder, backend)?));
        }
        let model = self.around(connect(backend, settings)?);
        match &self.recording {
            Some(Recording::Record(folder)) => Ok(Arc::new(Recorder::new(model, folder)?)),
            _ => Ok(model),
        }
    }

    /// Wraps a model with the limits.
    pub fn around(&self, model: Arc<dyn Vlm>) -> Arc<dyn Vlm> {
        let turns = self.calls.as_ref().map(|calls| Arc::clone(&calls.turns));
        let limits = self.limits_of(model.name());
        let limiter = match &self.limiter {
            Some(limiter) => Arc::clone(limiter),
            None if limits == Limits::default() && turns.is_none() => return model,
            None => Arc::new(Alone::new(limits)),
        };
        Arc::new(Limited::new(model, limiter, turns))
    }

    fn limits_of(&self, backend: &str) -> Limits {
        let (own, all) = (self.limits.limits(backend), self.for_all);
        let smaller = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Limits {
            requests_per_minute: smaller(own.requests_per_minute, all.requests_per_minute),
            tokens_per_minute: smaller(own.tokens_per_minute, all.tokens_per_minute),
        }
    }
}
