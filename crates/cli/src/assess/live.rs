//! Status line of a running assessment, on a terminal only.

use std::io::{self, IsTerminal};
use std::time::Duration;

use agenticiqa::events::{Event, EventLog};
use agenticiqa::state::Node;
use indicatif::{ProgressBar, ProgressStyle};

use crate::terminal;

/// The status line.
pub struct Live {
    line: ProgressBar,
}

impl Live {
    /// Starts the line on stderr, unless it is hidden or stderr is not a terminal.
    pub fn new(hidden: bool) -> Self {
        if hidden || !io::stderr().is_terminal() {
            return Self { line: ProgressBar::hidden() };
        }
        let style = ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg}");
        let line = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        line.enable_steady_tick(Duration::from_millis(100));
        Self { line }
    }

    /// Returns an event log that updates the line.
    pub fn events(&self) -> EventLog {
        let line = self.line.clone();
        EventLog::heard_by(move |event| {
            if let Some(message) = message(event) {
                line.set_message(terminal::shown(message));
            }
        })
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.line.finish_and_clear();
    }
}

fn message(event: &Event) -> Option<String> {
    Some(match event {
        Event::NodeStarted { node, iteration } => {
            let round = if *iteration > 0 { format!(" (round {})", iteration + 1) } else { String::new() };
            let doing = match node {
                Node::Planner => "planning",
                Node::Executor => "collecting evidence",
                Node::Summarizer => "summarizing",
            };
            format!("{doing}{round}")
        }
        Event::SubtaskEnded { subtask, problem: None, .. } => format!("{} done", subtask.name()),
        Event::SubtaskEnded { problem: Some(problem), .. } => problem.clone(),
        Event::ToolEnded { log } => match log.normalized_score {
            Some(score) => format!("{} {:.2} of 5", log.tool_name, score.value()),
            None => format!("{}: no score", log.tool_name),
        },
        Event::Retry { backend, reason, .. } => format!("retrying {backend}: {reason}"),
        Event::Fallback { from, to, .. } => format!("falling back from {from} to {to}"),
        Event::Replan { reason, .. } => format!("replanning: {reason}"),
        _ => return None,
    })
}
