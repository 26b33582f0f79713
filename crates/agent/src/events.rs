//! What happens while an assessment runs: a stream of events for terminal, server and logs, tokens spent, problems met.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::state::{ByNode, FinalStatus, PlannerOutput, ToolExecutionLog};

/// A node of the agent graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Node {
    /// Turns the question into a plan.
    Planner,
    /// Gathers evidence.
    Executor,
    /// Concludes, or asks for a new plan.
    Summarizer,
}

impl Node {
    /// The name in logs and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Executor => "executor",
            Self::Summarizer => "summarizer",
        }
    }
}

impl<T> ByNode<T> {
    /// The one of `node`.
    pub fn get(&self, node: Node) -> &T {
        match node {
            Node::Planner => &self.planner,
            Node::Executor => &self.executor,
            Node::Summarizer => &self.summarizer,
        }
    }

    /// The one of `node`, to be changed.
    pub fn get_mut(&mut self, node: Node) -> &mut T {
        match node {
            Node::Planner => &mut self.planner,
            Node::Executor => &mut self.executor,
            Node::Summarizer => &mut self.summarizer,
        }
    }
}

/// A step of the executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subtask {
    /// Says where the objects of the question are.
    Grounding,
    /// Finds distortions.
    DistortionDetection,
    /// Judges how bad they are.
    DistortionAnalysis,
    /// Chooses tools.
    ToolSelection,
    /// Runs them.
    ToolExecution,
}

impl Subtask {
    /// The name in logs and messages.
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

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A node begins.
    NodeStarted {
        /// Which.
        node: Node,
        /// The round, counted from 0.
        iteration: u32,
    },
    /// A node has ended.
    NodeEnded {
        /// Which.
        node: Node,
        /// The round.
        iteration: u32,
        /// How long it took.
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
        /// Which.
        subtask: Subtask,
        /// How long it took.
        seconds: f64,
        /// Why there is no result.
        problem: Option<String>,
    },
    /// A tool has ended.
    ToolEnded {
        /// How it went.
        log: ToolExecutionLog,
    },
    /// A model is asked again.
    Retry {
        /// Whose call.
        node: Node,
        /// The model.
        backend: String,
        /// The attempt that failed, counted from 1.
        attempt: u32,
        /// Why it failed.
        reason: String,
    },
    /// Another model takes over.
    Fallback {
        /// Whose call.
        node: Node,
        /// The model that failed.
        from: String,
        /// The one that takes over.
        to: String,
    },
    /// A new plan is asked for.
    Replan {
        /// The round that was not enough.
        iteration: u32,
        /// What is missing.
        reason: String,
    },
    /// The assessment has ended.
    Done {
        /// How.
        status: FinalStatus,
    },
}

/// Tokens that one model spent for one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spending {
    /// For whom.
    pub node: Node,
    /// The model.
    pub backend: String,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
}

type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// What happens while one assessment runs.
#[derive(Clone, Default)]
pub struct EventLog {
    listener: Option<Listener>,
    spent: Arc<Mutex<Vec<Spending>>>,
    problems: Arc<Mutex<Vec<String>>>,
    notes: Arc<Mutex<Vec<String>>>,
}

impl std::fmt::Debug for EventLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventLog").field("spent", &self.spent).field("problems", &self.problems).finish_non_exhaustive()
    }
}

impl EventLog {
    /// A events whose events `listener` hears.
    pub fn heard_by(listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..Self::default() }
    }

    /// Tells that something happened.
    pub fn emit(&self, event: Event) {
        tracing::debug!(event = ?event, "event");
        if let Some(listener) = &self.listener {
            listener(&event);
        }
    }

    /// Remembers tokens that were spent.
    pub fn spend(&self, spending: Spending) {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).push(spending);
    }

    /// Remembers a problem that did not end the assessment; each is kept once.
    pub fn problem(&self, problem: impl Into<String>) {
        let problem = problem.into();
        tracing::warn!("{problem}");
        keep(&self.problems, problem);
    }

    /// Tells that another one takes over, and remembers why: a problem that did not end the assessment.
    pub fn fallback(&self, node: Node, from: &str, to: &str, reason: &dyn std::error::Error) {
        tracing::warn!(%reason, "Model fallback: {from} -> {to}");
        keep(&self.problems, format!("Model fallback: {from} -> {to}: {reason}"));
        self.emit(Event::Fallback { node, from: from.to_owned(), to: to.to_owned() });
    }

    /// Remembers something that the reader of the record should know, and that is no problem; each is kept once.
    pub fn note(&self, note: impl Into<String>) {
        let note = note.into();
        tracing::info!("{note}");
        keep(&self.notes, note);
    }

    /// The tokens that were spent.
    pub fn spent(&self) -> Vec<Spending> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The notes that were made.
    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The problems that were met.
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
