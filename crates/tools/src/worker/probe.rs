//! Checks whether a Python interpreter has pyiqa, in a short process that imports nothing heavy.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::WorkerSettings;

/// Timeout of the check; longer than the slowest start of an interpreter.
const QUEUE_TIME: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(2);
/// Oldest Python version that the worker supports.
const OLDEST: (u32, u32) = (3, 9);
/// Prints the versions of Python and, if installed, pyiqa. Does not import from the working
/// directory.
const QUESTION: &str = "import sys; sys.path[:] = [p for p in sys.path if p]
print('python', *sys.version_info[:2])
import importlib.util
if importlib.util.find_spec('pyiqa'):
    try:
        from importlib.metadata import version
        print('pyiqa', version('pyiqa'))
    except Exception:
        print('pyiqa', 'unknown')";

/// Returns the version of pyiqa, or what is missing and how to get it.
pub(super) fn probe(settings: &WorkerSettings) -> Result<String, String> {
    let python = settings.python.display();
    let said = ask(settings)?;
    let words = |name: &str| -> Option<Vec<&str>> {
        let line = said.lines().find(|line| line.starts_with(name))?;
        Some(line.split_whitespace().skip(1).collect())
    };
    let version: Option<Vec<u32>> =
        words("python ").and_then(|words| words.iter().map(|word| word.parse().ok()).collect());
    match version.as_deref() {
        Some([major, minor]) if (*major, *minor) >= OLDEST => {}
        Some([major, minor]) => {
            let (oldest_major, oldest_minor) = OLDEST;
            return Err(format!(
                "{python} is Python {major}.{minor}: pyiqa needs {oldest_major}.{oldest_minor} or newer \
                 (AGENTICIQA_PYTHON or tools.worker.python)"
            ));
        }
        _ => return Err(format!("{python} is no Python: see AGENTICIQA_PYTHON or tools.worker.python")),
    }
    match words("pyiqa ") {
        Some(version) => Ok(version.join(" ")),
        None => Err(format!("{python} has no pyiqa: install it with `{python} -m pip install pyiqa`")),
    }
}

/// Runs the interpreter and returns its output.
fn ask(settings: &WorkerSettings) -> Result<String, String> {
    let python = settings.python.display();
    let mut child = Command::new(&settings.python)
        .args(["-c", QUESTION])
        .envs(settings.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| {
            format!("{python} cannot be started: {error}; see AGENTICIQA_PYTHON or tools.worker.python")
        })?;
    let start = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(_)) => break true,
            Ok(None) if start.elapsed() < QUEUE_TIME => std::thread::sleep(PAUSE),
            _ => break false,
        }
    };
    if !ended {
        // The process has already ended or ends now.
        let _ = child.kill().and_then(|()| child.wait());
        return Err(format!("{python} said nothing within {} seconds", QUEUE_TIME.as_secs()));
    }
    let mut said = String::new();
    if let Some(out) = child.stdout.take() {
        // Output that is not text is not an answer.
        let _ = out.take(4096).read_to_string(&mut said);
    }
    Ok(said)
}
