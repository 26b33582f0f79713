//! Progress notifications for clients that request them.

use std::future::Future;

use agenticiqa::events::Event;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc::UnboundedReceiver;

use super::words::number;

/// Reports the progress of a call to the client.
#[derive(Debug)]
pub struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    steps: u32,
    total: Option<u32>,
}

impl Progress {
    /// Creates a reporter for a call. `total` is the number of steps, if known.
    pub fn of(context: &RequestContext<RoleServer>, total: Option<u32>) -> Self {
        Self { peer: context.peer.clone(), token: context.meta.get_progress_token(), steps: 0, total }
    }

    /// Reports one step.
    pub async fn step(&mut self, message: impl Into<String>) {
        self.steps += 1;
        let Some(token) = &self.token else { return };
        let mut progress = ProgressNotificationParam::new(token.clone(), f64::from(self.steps)).with_message(message);
        progress.total = self.total.map(|total| f64::from(total.max(self.steps)));
        // A disconnected client is handled elsewhere.
        drop(self.peer.notify_progress(progress).await);
    }

    /// Runs the work and reports the messages that arrive meanwhile.
    pub async fn through<T>(&mut self, mut heard: UnboundedReceiver<String>, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        let done = loop {
            tokio::select! {
                biased;
                Some(message) = heard.recv() => self.step(message).await,
                done = &mut work => break done,
            }
        };
        while let Ok(message) = heard.try_recv() {
            self.step(message).await;
        }
        done
    }
}

/// Describes an event, if it is relevant for a waiting client.
pub fn line(event: &Event) -> Option<String> {
    match event {
        Event::NodeStarted { node, iteration: 0 } => Some(format!("{} started", node.name())),
        Event::NodeStarted { node, iteration } => Some(format!("{} started, round {}", node.name(), iteration + 1)),
        Event::SubtaskEnded { subtask, problem: Some(problem), .. } => Some(format!("{}: {problem}", subtask.name())),
        Event::SubtaskEnded { subtask, seconds, .. } => Some(format!("{} finished in {seconds:.1} s", subtask.name())),
        Event::ToolEnded { log } => Some(match (&log.error, log.raw_score, log.normalized_score) {
            (Some(error), ..) => format!("{}: {error}", log.tool_name),
            (None, _, Some(score)) => format!("{} of {}: {:.2} of 5", log.tool_name, log.object_name, score.value()),
            (None, Some(raw), None) => format!("{} of {}: {}", log.tool_name, log.object_name, number(raw.0)),
            (None, None, None) => format!("{} finished", log.tool_name),
        }),
        Event::Retry { backend, attempt, reason, .. } => {
            Some(format!("retrying {backend} (attempt {attempt} failed): {reason}"))
        }
        Event::ModelCall { call } => {
            let tokens = call.prompt_tokens + call.completion_tokens;
            Some(format!("{} answered ({}): {tokens} tokens", call.backend, call.task))
        }
        Event::Fallback { from, to, .. } => Some(format!("falling back from {from} to {to}")),
        Event::Replan { reason, .. } => Some(format!("replanning: {reason}")),
        _ => None,
    }
}
