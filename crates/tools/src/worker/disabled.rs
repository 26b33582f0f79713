//! The worker of a build without the feature `worker`: it runs nothing.

use std::sync::Arc;

use super::{WorkerSection, WorkerSettings};
use crate::engine::{Absent, Engine};

/// Measures with pyiqa in a Python process; this build cannot.
#[derive(Debug, Clone, Default)]
pub struct Worker;

impl Worker {
    /// Creates a worker that runs nothing.
    pub fn new(_: WorkerSettings) -> Self {
        Self
    }

    /// Returns whether a Python is configured.
    pub fn is_on(&self) -> bool {
        false
    }

    pub(crate) fn engine(&self, _: WorkerSection, _: bool) -> Arc<dyn Engine> {
        Absent::because("this build cannot run pyiqa (feature `worker`)")
    }
}
