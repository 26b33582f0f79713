//! Ctrl-C: the first finishes what runs, the second ends at once.

use agenticiqa::batch::StopSignal;

/// The exit code of a program that ctrl-C has ended, as shells know it.
pub const INTERRUPTED: i32 = 130;

/// Listens from now on.
pub fn listen(stop: StopSignal, quiet: bool) {
    tokio::spawn(async move {
        asked().await;
        stop.stop();
        if !quiet {
            eprintln!("finishing the samples that are running; once more to stop at once");
        }
        asked().await;
        // Whole lines only are in the output: --resume goes on from here too.
        std::process::exit(INTERRUPTED);
    });
}

/// Waits for ctrl-C, or for the signal that service managers send.
#[cfg(unix)]
pub async fn asked() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                heard = tokio::signal::ctrl_c() => heard.unwrap_or_else(|error| tracing::warn!("ctrl-C cannot be heard: {error}")),
                _ = terminate.recv() => {}
            }
        }
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

/// Waits for ctrl-C.
#[cfg(not(unix))]
pub async fn asked() {
    drop(tokio::signal::ctrl_c().await);
}
