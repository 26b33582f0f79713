//! Progress events, token use and problems of a running assessment, for terminals, servers and
//! logs.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::state::{ByNode, FinalStatus, ModelCall, Node, PlannerOutput, ToolExecutionLog, View};
use agenticiqa_vlm::{RateCard, Usage};

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
    /// A call to a model has ended, with its tokens and its cost.
    ModelCall {
        /// The call.
        call: ModelCall,
    },
    /// A view of the image was made for a model.
    View {
        /// The view.
        view: View,
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

type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// Collects the events, token use, notes and problems of one assessment.
#[derive(Clone, Default)]
pub struct EventLog {
    listener: Option<Listener>,
    rates: Arc<RateCard>,
    calls: Arc<Mutex<Vec<ModelCall>>>,
    problems: Arc<Mutex<Vec<String>>>,
    notes: Arc<Mutex<Vec<String>>>,
}

impl std::fmt::Debug for EventLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventLog").field("calls", &self.calls).field("problems", &self.problems).finish_non_exhaustive()
    }
}

impl EventLog {
    /// Creates a log that passes each event to `listener`.
    pub fn heard_by(listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..Self::default() }
    }

    /// Sets the prices of tokens, for the cost of each call.
    #[must_use]
    pub fn with_rates(self, rates: RateCard) -> Self {
        Self { rates: Arc::new(rates), ..self }
    }

    /// Passes an event to the listener.
    pub fn emit(&self, event: Event) {
        tracing::debug!(event = ?event, "event");
        if let Some(listener) = &self.listener {
            listener(&event);
        }
    }

    /// Records a call to a model and tells the listener. Its cost follows from its tokens.
    pub fn call(&self, mut call: ModelCall) {
        let usage = Usage { prompt_tokens: call.prompt_tokens, completion_tokens: call.completion_tokens };
        call.cost_usd = if call.cached { Some(0.0) } else { self.rates.cost(&call.backend, usage) };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call.clone());
        self.emit(Event::ModelCall { call });
    }

    /// Returns the calls to models.
    pub fn calls(&self) -> Vec<ModelCall> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of answers of each node that came from the cache.
    pub fn reused(&self) -> ByNode<u64> {
        let mut reused = ByNode::default();
        for call in self.calls().iter().filter(|call| call.cached) {
            *reused.get_mut(call.node) += 1;
        }
        reused
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
