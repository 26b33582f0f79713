//! Runs a program with a timeout and bounded output, and ends it together with its child
//! processes.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Maximum output of a program in bytes; it is killed if it prints more.
const MAXIMUM_OUTPUT: usize = 16 << 20;
/// Number of bytes at the end of the output that are kept.
const KEPT: usize = 64 << 10;
/// How long to wait for the output to close after the program has ended, because a child process
/// may keep it open.
const GRACE: Duration = Duration::from_millis(500);
/// Minimum and maximum pause between two checks of a program.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(10));

/// Result of a program that has ended.
#[derive(Debug)]
pub(super) struct Finished {
    pub status: ExitStatus,
    /// End of the standard output.
    pub stdout: String,
    /// End of the standard error.
    pub stderr: String,
}

/// Reasons why a program did not finish.
#[derive(Debug)]
pub(super) enum Trouble {
    NotStarted(io::Error),
    TimedOut,
    TooMuchOutput,
    Lost(io::Error),
}

/// Runs a program until it ends. If it takes too long or prints too much, it is killed together
/// with its child processes.
pub(super) fn run(command: &mut Command, timeout: Duration) -> Result<Finished, Trouble> {
    let deadline = Instant::now() + timeout;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A separate process group, so that child processes can be killed with the program.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn().map_err(Trouble::NotStarted)?;
    let stdout = child.stdout.take().map(read_apart);
    let stderr = child.stderr.take().map(read_apart);
    let outcome = wait(&mut child, deadline, stdout, stderr);
    if outcome.is_err() {
        end(&mut child);
    }
    outcome
}

type Output = Receiver<Result<Vec<u8>, Trouble>>;

fn wait(
    child: &mut Child,
    deadline: Instant,
    stdout: Option<Output>,
    stderr: Option<Output>,
) -> Result<Finished, Trouble> {
    let mut pause = PAUSES.0;
    let mut early = [None, None];
    let status = loop {
        if let Some(status) = child.try_wait().map_err(Trouble::Lost)? {
            break status;
        }
        for (kept, output) in early.iter_mut().zip([&stdout, &stderr]) {
            if let Some(Ok(text)) = output.as_ref().map(Receiver::try_recv) {
                *kept = Some(text?);
            }
        }
        if Instant::now() >= deadline {
            return Err(Trouble::TimedOut);
        }
        std::thread::sleep(pause.min(deadline.saturating_duration_since(Instant::now())));
        pause = (pause * 2).min(PAUSES.1);
    };
    let mut rest = |index: usize, output: Option<Output>| match (early[index].take(), output) {
        (Some(text), _) => Ok(text),
        (None, None) => Ok(Vec::new()),
        (None, Some(output)) => match output.recv_timeout(GRACE) {
            Ok(text) => text,
            Err(RecvTimeoutError::Disconnected) => Ok(Vec::new()),
            Err(RecvTimeoutError::Timeout) => {
                end(child);
                output.recv_timeout(GRACE).unwrap_or(Ok(Vec::new()))
            }
        },
    };
    let (stdout, stderr) = (rest(0, stdout)?, rest(1, stderr)?);
    // The program has the environment of ours, and may print it.
    let text = |bytes: Vec<u8>| agenticiqa_http::redacted(&String::from_utf8_lossy(&bytes)).into_owned();
    Ok(Finished { status, stdout: text(stdout), stderr: text(stderr) })
}

/// Reads a pipe on a separate thread, so that a full pipe never blocks the program. Keeps only the
/// end of the output.
fn read_apart(mut pipe: impl Read + Send + 'static) -> Output {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = [0; 8192];
        let mut total = 0;
        let end = loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break Ok(kept),
                Ok(count) => {
                    total += count;
                    if total > MAXIMUM_OUTPUT {
                        break Err(Trouble::TooMuchOutput);
                    }
                    kept.extend_from_slice(&buffer[..count]);
                    if kept.len() > 2 * KEPT {
                        kept.drain(..kept.len() - KEPT);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(Trouble::Lost(error)),
            }
        };
        // Sending fails if the program was abandoned.
        let _ = sender.send(end);
    });
    receiver
}

/// Kills a program and its child processes.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = rustix::process::Pid::from_child(child);
        // The program may have ended already.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, seconds: f64) -> Result<Finished, Trouble> {
        run(Command::new("/bin/sh").args(["-c", script]), Duration::from_secs_f64(seconds))
    }

    #[test]
    fn output_status_and_complaints_are_kept() {
        let finished = shell("echo 1; echo 2; echo no >&2; exit 3", 20.0).unwrap();
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("1\n2\n", "no\n"));
        assert_eq!(finished.status.code(), Some(3));
    }

    #[test]
    fn what_takes_too_long_is_killed_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let alive = folder.path().join("alive");
        // The grandchild would write the file if it survived the timeout.
        let script = format!("(sleep 2; touch '{}') & wait", alive.display());
        assert!(matches!(shell(&script, 0.3), Err(Trouble::TimedOut)));
        std::thread::sleep(Duration::from_millis(2500));
        assert!(!alive.exists());
    }

    #[test]
    fn endless_output_is_stopped_and_long_output_is_cut() {
        assert!(matches!(shell("yes", 60.0), Err(Trouble::TooMuchOutput)));
        let finished = shell("seq 1 200000; echo 7.5", 60.0).unwrap();
        assert!(finished.stdout.len() <= 2 * KEPT && finished.stdout.ends_with("\n200000\n7.5\n"));
    }

    #[test]
    fn a_program_that_leaves_something_behind_still_ends() {
        let finished = shell("sleep 30 & echo 5", 20.0).unwrap();
        assert_eq!(finished.stdout, "5\n");
    }

    #[test]
    fn a_missing_program_is_said_to_be_missing() {
        let trouble = run(&mut Command::new("/no/such/program"), Duration::from_secs(1)).unwrap_err();
        assert!(matches!(trouble, Trouble::NotStarted(error) if error.kind() == io::ErrorKind::NotFound));
    }
}
