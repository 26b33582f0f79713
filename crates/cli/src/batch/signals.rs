//! Ctrl-C: the first finishes the running samples, the second stops at once.

use agenticiqa::batch::StopSignal;

/// Exit code of a program that Ctrl-C has stopped, by the convention of shells.
pub const INTERRUPTED: i32 = 130;

/// Starts to listen for Ctrl-C and SIGTERM.
pub fn listen(stop: StopSignal, quiet: bool) {
    tokio::spawn(async move {
        asked().await;
        stop.stop();
        if !quiet {
            eprintln!("finishing the running samples; press Ctrl-C again to stop at once");
        }
        asked().await;
        // The output has only whole lines, so --resume works here too.
        std::process::exit(INTERRUPTED);
    });
}

/// Waits for Ctrl-C, or for SIGTERM, which service managers send.
#[cfg(unix)]
pub async fn asked() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                heard = tokio::signal::ctrl_c() => heard.unwrap_or_else(|error| tracing::warn!("cannot listen for Ctrl-C: {error}")),
                _ = terminate.recv() => {}
            }
        }
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub async fn asked() {
    drop(tokio::signal::ctrl_c().await);
}
