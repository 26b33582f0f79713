//! Progress events, token use and problems of a running assessment, for terminals, servers and
//! logs.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::state::{ByNode, FinalStatus, Node, PlannerOutput, ToolExecutionLog};

/// A step of the executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subtask {
    /// Locates the objects that the question names.
    Grounding,
    /// Finds distortions.
    DistortionDetection,
    /// Judges the severity of each distortion.
    DistortionAnalysis,
    /// Chooses tools.
    ToolSelection,
    /// Runs the tools.
    ToolExecution,
}

impl Subtask {
    /// The name used in logs and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grounding => "grounding",
            Self::DistortionDetection => "distortion detection",
            Self::DistortionAnalysis => "distortion analysis",
            Self::ToolSelection => "tool selection",
            Self::ToolExecution => "tool execution",
        }
    }
}

/// An event of a running assessment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A node has started.
    NodeStarted {
        /// The node.
        node: Node,
        /// The round, counted from 0.
        iteration: u32,
    },
    /// A node has ended.
    NodeEnded {
        /// The node.
        node: Node,
        /// The round.
        iteration: u32,
        /// The duration in seconds.
        seconds: f64,
    },
    /// The planner has made a plan.
    Plan {
        /// The round.
        iteration: u32,
        /// The plan.
        plan: Box<PlannerOutput>,
    },
    /// A step of the executor has ended.
    SubtaskEnded {
        /// The step.
        subtask: Subtask,
        /// The duration in seconds.
        seconds: f64,
        /// The reason why there is no result.
        problem: Option<String>,
    },
    /// A tool has ended.
    ToolEnded {
        /// The log entry of the run.
        log: ToolExecutionLog,
    },
    /// A call to a model failed and is repeated.
    Retry {
        /// The node that made the call.
        node: Node,
        /// The model.
        backend: String,
        /// The attempt that failed, counted from 1.
        attempt: u32,
        /// Why it failed.
        reason: String,
    },
    /// The fallback backend takes over.
    Fallback {
        /// The node that made the call.
        node: Node,
        /// The backend that failed.
        from: String,
        /// The backend that takes over.
        to: String,
    },
    /// The summarizer asks for a new plan.
    Replan {
        /// The round without enough evidence.
        iteration: u32,
        /// What is missing.
        reason: String,
    },
    /// The assessment has ended.
    Done {
        /// The final status.
        status: FinalStatus,
    },
}

/// The tokens that one model used for one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spending {
    /// The node that made the calls.
    pub node: Node,
    /// The model.
    pub backend: String,
    /// Number of input tokens.
    pub prompt_tokens: u64,
    /// Number of output tokens.
    pub completion_tokens: u64,
}

type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// Collects the events, token use, notes and problems of one assessment.
#[derive(Clone, Default)]
pub struct EventLog {
    listener: Option<Listener>,
    spent: Arc<Mutex<Vec<Spending>>>,
    problems: Arc<Mutex<Vec<String>>>,
    notes: Arc<Mutex<Vec<String>>>,
    reused: Arc<Mutex<ByNode<u64>>>,
}

impl std::fmt::Debug for EventLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventLog").field("spent", &self.spent).field("problems", &self.problems).finish_non_exhaustive()
    }
}

impl EventLog {
    /// Creates a log that passes each event to `listener`.
    pub fn heard_by(listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..Self::default() }
    }

    /// Passes an event to the listener.
    pub fn emit(&self, event: Event) {
        tracing::debug!(event = ?event, "event");
        if let Some(listener) = &self.listener {
            listener(&event);
        }
    }

    /// Records token use.
    pub fn spend(&self, spending: Spending) {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).push(spending);
    }

    /// Counts an answer of a model that came from the cache.
    pub fn reuse(&self, node: Node) {
        *self.reused.lock().unwrap_or_else(PoisonError::into_inner).get_mut(node) += 1;
    }

    /// Returns the number of answers of each node that came from the cache.
    pub fn reused(&self) -> ByNode<u64> {
        self.reused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records a problem that did not end the assessment. Duplicates are dropped.
    pub fn problem(&self, problem: impl Into<String>) {
        let problem = problem.into();
        tracing::warn!("{problem}");
        keep(&self.problems, problem);
    }

    /// Emits a fallback event and records its reason as a problem.
    pub fn fallback(&self, node: Node, from: &str, to: &str, reason: &dyn std::error::Error) {
        tracing::warn!(%reason, "Model fallback: {from} -> {to}");
        keep(&self.problems, format!("Model fallback: {from} -> {to}: {reason}"));
        self.emit(Event::Fallback { node, from: from.to_owned(), to: to.to_owned() });
    }

    /// Records a note for the reader of the record that is not a problem. Duplicates are dropped.
    pub fn note(&self, note: impl Into<String>) {
        let note = note.into();
        tracing::info!("{note}");
        keep(&self.notes, note);
    }

    /// Returns the recorded token use.
    pub fn spent(&self) -> Vec<Spending> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the recorded notes.
    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the recorded problems.
    pub fn problems(&self) -> Vec<String> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn keep(list: &Mutex<Vec<String>>, line: String) {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    if !list.contains(&line) {
        list.push(line);
    }
}
