//! Ctrl-C: the first finishes the running samples, the second stops at once.

use crate::terminal::tell;
use agenticiqa::batch::StopSignal;

/// Exit code of a program that Ctrl-C has stopped, by the convention of shells.
pub const INTERRUPTED: i32 = 130;

/// Starts to listen for Ctrl-C and SIGTERM.
pub fn listen(stop: StopSignal, quiet: bool) {
    let mut signals = Signals::listen();
    tokio::spawn(async move {
        signals.asked().await;
        stop.stop();
        if !quiet {
            tell!("finishing the running samples; press Ctrl-C again to stop at once");
        }
        signals.asked().await;
        // The output has only whole lines, so --resume works here too.
        std::process::exit(INTERRUPTED);
    });
}

/// Listens for Ctrl-C and for SIGTERM, which service managers send. It listens as soon as it exists: a
/// signal that comes before the first wait is not lost.
#[cfg(unix)]
pub struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    /// Starts to listen. Must be called in a runtime.
    pub fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        let heard = |kind| signal(kind).inspect_err(|error| tracing::warn!("cannot listen for signals: {error}")).ok();
        Self(kinds.into_iter().filter_map(heard).collect())
    }

    /// Waits for the next signal.
    pub async fn asked(&mut self) {
        match self.0.as_mut_slice() {
            [first, second] => {
                tokio::select! {
                    _ = first.recv() => {}
                    _ = second.recv() => {}
                }
            }
            [only] => drop(only.recv().await),
            _ => std::future::pending().await,
        }
    }
}

/// Listens for Ctrl-C.
#[cfg(not(unix))]
pub struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Starts to listen.
    pub fn listen() -> Self {
        Self
    }

    /// Waits for the next Ctrl-C.
    pub async fn asked(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}
