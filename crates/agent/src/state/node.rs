//! The nodes of the agent graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ByNode;

/// A node of the agent graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Node {
    /// Turns the question into a plan.
    Planner,
    /// Gathers evidence.
    Executor,
    /// Writes the answer, or asks for a new plan.
    Summarizer,
}

impl Node {
    /// The name used in logs and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Executor => "executor",
            Self::Summarizer => "summarizer",
        }
    }
}

impl<T> ByNode<T> {
    /// Returns the value of `node`.
    pub fn get(&self, node: Node) -> &T {
        match node {
            Node::Planner => &self.planner,
            Node::Executor => &self.executor,
            Node::Summarizer => &self.summarizer,
        }
    }

    /// Returns a mutable reference to the value of `node`.
    pub fn get_mut(&mut self, node: Node) -> &mut T {
        match node {
            Node::Planner => &mut self.planner,
            Node::Executor => &mut self.executor,
            Node::Summarizer => &mut self.summarizer,
        }
    }
}
