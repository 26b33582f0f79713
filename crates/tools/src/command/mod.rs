//! User-defined tools: a program that reads image files and prints a score.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use agenticiqa_imaging::encode_png_exact;
use agenticiqa_metrics::{Image, Measurement};
use serde::{Deserialize, Serialize};

use super::engine::{Absent, Engine};
use super::process::{self, Finished, Trouble};
use super::{Availability, Failure, Flaw, Metadata, ToolInput, ToolType};

const IMAGE: &str = "{image}";
const REFERENCE: &str = "{reference}";
/// Default timeout of a program in seconds.
const TIMEOUT: f64 = 60.0;
const LONGEST_TIMEOUT: f64 = 86400.0;

/// A program that prints a score. The last line of its output is a number, or JSON with the number
/// as `score`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandLine {
    /// The program and its arguments. `{image}` and `{reference}` are replaced by file paths. No
    /// shell is involved.
    pub run: Vec<String>,
    /// Timeout in seconds, after which the program is killed.
    #[serde(default = "default_timeout")]
    pub timeout: f64,
}

fn default_timeout() -> f64 {
    TIMEOUT
}

impl CommandLine {
    pub(super) fn check(&self, tool_type: ToolType) -> Result<(), Flaw> {
        let run = |reason: &str| Err(Flaw::new("command.run", reason));
        let given = |placeholder| self.run.iter().skip(1).any(|argument| argument.contains(placeholder));
        match (self.run.first(), tool_type) {
            (None, _) => return run("must name a program and its arguments, such as [./score.sh, \"{image}\"]"),
            (Some(program), _) if program.trim().is_empty() => return run("must begin with the name of a program"),
            _ if !given(IMAGE) => return run("must have {image} among the arguments, which stands for the image"),
            (_, ToolType::FullReference) if !given(REFERENCE) => {
                return run("must have {reference} among the arguments of a tool of type FR");
            }
            (_, ToolType::NoReference) if given(REFERENCE) => {
                return run("must not have {reference}: a tool of type NR gets none");
            }
            _ => {}
        }
        if self.timeout > 0.0 && self.timeout <= LONGEST_TIMEOUT {
            Ok(())
        } else {
            Err(Flaw::new("command.timeout", "must be seconds, above 0 and at most 86400"))
        }
    }

    /// Resolves the program: a path is used as it is, a plain name is looked up in `PATH`.
    fn program(&self) -> Option<PathBuf> {
        let program = Path::new(self.run.first()?);
        if program.components().count() > 1 {
            return program.is_file().then(|| program.to_owned());
        }
        let endings: &[&str] = if cfg!(windows) { &["", ".exe", ".bat", ".cmd"] } else { &[""] };
        let folders = std::env::var_os("PATH")?;
        let mut candidates = std::env::split_paths(&folders).flat_map(|folder| {
            let spelled = |ending: &&str| {
                let mut name = program.as_os_str().to_owned();
                name.push(ending);
                folder.join(name)
            };
            endings.iter().map(spelled).collect::<Vec<_>>()
        });
        candidates.find(|path| path.is_file())
    }
}

/// Returns the engine of an entry with the backend `command`.
pub(super) fn engine(metadata: &Metadata) -> Arc<dyn Engine> {
    match &metadata.command {
        Some(line) => Arc::new(CommandEngine { line: line.clone() }),
        None => Absent::because("its entry names no command"),
    }
}

/// Engine that runs a program of the user.
#[derive(Debug)]
struct CommandEngine {
    line: CommandLine,
}

impl Engine for CommandEngine {
    fn availability(&self) -> Availability {
        match self.line.program() {
            Some(_) => Availability::Ready,
            None => Availability::missing(self.not_found()),
        }
    }

    fn waits(&self) -> bool {
        true
    }

    /// The command line, and the version of the program file that it runs.
    fn fingerprint(&self) -> String {
        let edition = self.line.program().and_then(|path| std::fs::metadata(path).ok()).map(|file| {
            let changed = file.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            (file.len(), changed.unwrap_or_default())
        });
        format!("{:?} {edition:?}", self.line.run)
    }

    fn measure(&self, input: &ToolInput<'_>) -> Result<Measurement, Failure> {
        let scratch = Scratch::default();
        let pair = input.pair();
        let image = scratch.file(pair.distorted(), input.image_file(), "image.png")?;
        let reference = match pair.reference() {
            Some(reference) => Some(scratch.file(reference, input.reference_file(), "reference.png")?),
            None => None,
        };
        let mut words = self.line.run.iter();
        let program = words.next().map_or("", String::as_str);
        let mut command = Command::new(program);
        command.args(words.map(|word| fill(word, &image, reference.as_deref())));
        match process::run(&mut command, Duration::from_secs_f64(self.line.timeout)) {
            Ok(finished) => score(program, &finished).map(Measurement::new).map_err(Failure::Tool),
            Err(trouble) => Err(Failure::Tool(self.explain(&trouble))),
        }
    }
}

impl CommandEngine {
    fn not_found(&self) -> String {
        let program = self.line.run.first().map_or("", String::as_str);
        format!("the program {program} was not found: check command.run of its entry, or install the program")
    }

    fn explain(&self, trouble: &Trouble) -> String {
        let program = self.line.run.first().map_or("", String::as_str);
        match trouble {
            Trouble::NotStarted(error) if error.kind() == std::io::ErrorKind::NotFound => self.not_found(),
            Trouble::NotStarted(error) => format!("{program} cannot be started: {error}"),
            Trouble::TimedOut => {
                format!("{program} was stopped after {} s; command.timeout allows more", self.line.timeout)
            }
            Trouble::TooMuchOutput => format!("{program} was stopped: it printed more than 16 MB and no score"),
            Trouble::Lost(error) => format!("{program} was lost: {error}"),
        }
    }
}

/// Replaces the placeholders in an argument by the files.
fn fill(argument: &str, image: &Path, reference: Option<&Path>) -> OsString {
    let mut filled = OsString::new();
    let mut rest = argument;
    while let Some((at, placeholder)) = next_placeholder(rest) {
        filled.push(&rest[..at]);
        let file = if placeholder == IMAGE { Some(image) } else { reference };
        // The program would read a path with a leading hyphen as an option.
        if filled.is_empty() && file.is_some_and(|file| file.as_os_str().as_encoded_bytes().starts_with(b"-")) {
            filled.push("./");
        }
        filled.push(file.map_or(OsStr::new(""), Path::as_os_str));
        rest = &rest[at + placeholder.len()..];
    }
    filled.push(rest);
    filled
}

fn next_placeholder(text: &str) -> Option<(usize, &'static str)> {
    [IMAGE, REFERENCE].into_iter().filter_map(|name| Some((text.find(name)?, name))).min()
}

/// Parses the score that a program printed.
fn score(program: &str, finished: &Finished) -> Result<f64, String> {
    let complaint = match last_line(&finished.stderr) {
        "" => String::new(),
        line => format!(": {}", shown(line)),
    };
    if !finished.status.success() {
        let how = match finished.status.code() {
            Some(code) => format!("exit code {code}"),
            None => "a signal".to_owned(),
        };
        return Err(format!("{program} ended with {how}{complaint}"));
    }
    let line = last_line(&finished.stdout);
    let number = line.parse::<f64>().ok().or_else(|| {
        let answer: serde_json::Value = serde_json::from_str(line).ok()?;
        answer.get("score")?.as_f64()
    });
    match number {
        Some(number) if number.is_finite() => Ok(number),
        None if line.is_empty() => Err(format!("{program} printed nothing{complaint}")),
        _ => Err(format!("{program} printed no number but {:?}{complaint}", shown(line))),
    }
}

fn last_line(text: &str) -> &str {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("")
}

/// Shortens output of a program for an error message.
fn shown(line: &str) -> String {
    let mut text: String = line.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().nth(200).is_some() {
        text.push('…');
    }
    text
}

/// A temporary folder for images that are not files, created on demand and removed afterwards.
#[derive(Default)]
struct Scratch(std::cell::OnceCell<tempfile::TempDir>);

impl Scratch {
    /// Returns the file of an image, or writes its pixels to a PNG file.
    fn file(&self, image: &Image, own: Option<&Path>, name: &str) -> Result<PathBuf, Failure> {
        if let Some(own) = own.filter(|path| path.is_file()) {
            return Ok(own.to_owned());
        }
        let failed = |error: &dyn std::fmt::Display| Failure::Tool(format!("the image cannot be handed over: {error}"));
        let folder = match self.0.get() {
            Some(folder) => folder,
            None => {
                let made = tempfile::Builder::new().prefix("agenticiqa-").tempdir().map_err(|error| failed(&error))?;
                self.0.get_or_init(|| made)
            }
        };
        let path = folder.path().join(name);
        let png = encode_png_exact(image).map_err(|error| failed(&error))?;
        std::fs::write(&path, png).map_err(|error| failed(&error))?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests;
