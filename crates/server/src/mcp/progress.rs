//! What a client is told while it waits, if it wants to know.

use std::future::Future;

use agenticiqa::events::Event;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc::UnboundedReceiver;

use super::words::number;

/// Tells a client how far its call is.
#[derive(Debug)]
pub struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    steps: u32,
    total: Option<u32>,
}

impl Progress {
    /// Of a call whose number of steps may be known.
    pub fn of(context: &RequestContext<RoleServer>, total: Option<u32>) -> Self {
        Self { peer: context.peer.clone(), token: context.meta.get_progress_token(), steps: 0, total }
    }

    /// One step further.
    pub async fn step(&mut self, message: impl Into<String>) {
        self.steps += 1;
        let Some(token) = &self.token else { return };
        let mut progress = ProgressNotificationParam::new(token.clone(), f64::from(self.steps)).with_message(message);
        progress.total = self.total.map(|total| f64::from(total.max(self.steps)));
        // A client that has gone is noticed elsewhere.
        drop(self.peer.notify_progress(progress).await);
    }

    /// Does the work, and tells what is heard of it.
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

/// An event in words, if it is one that somebody who waits wants to hear of.
pub fn line(event: &Event) -> Option<String> {
    match event {
        Event::NodeStarted { node, iteration: 0 } => Some(format!("{} begins", node.name())),
        Event::NodeStarted { node, iteration } => Some(format!("{} begins, round {}", node.name(), iteration + 1)),
        Event::SubtaskEnded { subtask, problem: Some(problem), .. } => Some(format!("{}: {problem}", subtask.name())),
        Event::SubtaskEnded { subtask, seconds, .. } => Some(format!("{} done in {seconds:.1} s", subtask.name())),
        Event::ToolEnded { log } => Some(match (&log.error, log.raw_score, log.normalized_score) {
            (Some(error), ..) => format!("{}: {error}", log.tool_name),
            (None, _, Some(score)) => format!("{} of {}: {:.2} of 5", log.tool_name, log.object_name, score.value()),
            (None, Some(raw), None) => format!("{} of {}: {}", log.tool_name, log.object_name, number(raw.0)),
            (None, None, None) => format!("{} has ended", log.tool_name),
        }),
        Event::Retry { backend, attempt, reason, .. } => {
            Some(format!("{backend} is asked again ({attempt}): {reason}"))
        }
        Event::Fallback { from, to, .. } => Some(format!("{to} takes over from {from}")),
        Event::Replan { reason, .. } => Some(format!("a new plan is made: {reason}")),
        _ => None,
    }
}
