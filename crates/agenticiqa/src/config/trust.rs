//! Trust in the working folder. A folder that was downloaded may contain a configuration that runs
//! a program, or that sends images and the user's key to another server. Such settings of
//! `./configs` and `./.env` count only if the user trusts the folder; all others always count.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::tree::{Node, Value, join};
use super::{Environment, Source, files};
use agenticiqa_imaging::files::{read_limited, write_atomically};
use agenticiqa_vlm::Provider;

/// The variable that trusts the working folder: `1`, or a list of trusted folders.
pub const TRUST_VARIABLE: &str = "AGENTICIQA_TRUST";

/// The file of the answers, in the user's configuration folder.
const FILE: &str = "trusted-folders.json";

/// The maximum size of that file in bytes.
const LARGEST: u64 = 4 << 20;

/// Variables that name a program or a server, apart from those of the providers.
const VARIABLES: [&str; 2] = ["AGENTICIQA_PYTHON", "AGENTICIQA_PYPI_MIRROR"];

/// Fields that name a program or a server, or the variable whose value is sent to one.
const FIELDS: [&[&str]; 8] = [
    &["planner", "base_url"],
    &["executor", "base_url"],
    &["summarizer", "base_url"],
    &["providers", "*", "base_url"],
    &["providers", "*", "api_key_env"],
    &["tools", "pypi_mirror"],
    &["tools", "worker", "python"],
    &["tools", "add", "*"],
];

/// Returns whether a variable needs trust if it comes from `.env`.
pub(super) fn needs_trust(variable: &str) -> bool {
    VARIABLES.contains(&variable)
        || Provider::ALL.iter().any(|provider| provider.base_url_variables().contains(&variable))
}

/// Removes what needs trust from a file of the working folder, and adds it to `ignored`.
pub(super) fn withhold(layer: &mut Node, directory: &Path, ignored: &mut Vec<Source>) {
    for field in FIELDS {
        take(layer, "", field, &|node| node.value != Value::Null && is_program(field, node), ignored);
    }
    let runs_programs = |node: &Node| match &node.value {
        Value::Text(path) => list_has_programs(&directory.join(&path.expanded)),
        _ => false,
    };
    take(layer, "", &["tools", "metadata"], &runs_programs, ignored);
}

/// Whether a field with one of these paths needs trust: a tool only if it runs a program or names
/// a server.
fn is_program(field: &[&str], node: &Node) -> bool {
    field != ["tools", "add", "*"] || node.get(&["command"]).is_some() || node.get(&["install"]).is_some()
}

/// Whether a list of tools has one that runs a program. A list that cannot be read is an error
/// later.
fn list_has_programs(path: &Path) -> bool {
    fn has_command(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Object(fields) => fields.contains_key("command") || fields.values().any(has_command),
            serde_json::Value::Array(items) => items.iter().any(has_command),
            _ => false,
        }
    }
    let read = read_limited(path, agenticiqa_tools::LARGEST_LIST).ok();
    read.and_then(|json| serde_json::from_slice(&json).ok()).is_some_and(|json| has_command(&json))
}

fn take(node: &mut Node, section: &str, path: &[&str], is: &dyn Fn(&Node) -> bool, taken: &mut Vec<Source>) {
    let (Value::Map(fields), Some((first, rest))) = (&mut node.value, path.split_first()) else { return };
    let names: Vec<String> = fields.keys().filter(|name| *first == "*" || name == first).cloned().collect();
    for name in names {
        let field = join(section, &name);
        if !rest.is_empty() {
            if let Some(entry) = fields.get_mut(&name) {
                take(&mut entry.node, &field, rest, is, taken);
            }
        } else if fields.get(&name).is_some_and(|entry| is(&entry.node))
            && let Some(entry) = fields.remove(&name)
        {
            taken.push(Source { field, value: entry.node.to_string(), origin: entry.name_origin });
        }
    }
}

/// What the user has said about folders.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Answers {
    trusted: Vec<PathBuf>,
    declined: Vec<PathBuf>,
}

/// The user's answers about folders, remembered by path.
#[derive(Debug, Clone)]
pub struct TrustStore {
    file: PathBuf,
}

impl TrustStore {
    /// Returns the store in the user's configuration folder.
    pub fn open(environment: &Environment) -> Option<Self> {
        Some(Self { file: files::user_folder(environment)?.join(FILE) })
    }

    /// Returns what the user has said about a folder; `None` if nothing.
    pub fn answer(&self, folder: &Path) -> Option<bool> {
        let folder = folder.canonicalize().ok()?;
        let answers = self.read();
        match (answers.trusted.contains(&folder), answers.declined.contains(&folder)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// Remembers an answer about a folder.
    pub fn remember(&self, folder: &Path, trusted: bool) -> io::Result<()> {
        let folder = folder.canonicalize()?;
        let mut answers = self.read();
        answers.trusted.retain(|known| *known != folder);
        answers.declined.retain(|known| *known != folder);
        if trusted { &mut answers.trusted } else { &mut answers.declined }.push(folder);
        write_atomically(&self.file, &serde_json::to_vec_pretty(&answers)?)
    }

    /// A file that cannot be read trusts nothing.
    fn read(&self) -> Answers {
        let read = read_limited(&self.file, LARGEST).ok();
        read.and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default()
    }
}

/// Whether the value of [`TRUST_VARIABLE`] trusts a folder.
pub(super) fn is_named(value: &str, folder: &Path) -> bool {
    match value.trim() {
        "1" | "true" | "yes" => true,
        "" | "0" | "false" | "no" => false,
        list => folder.canonicalize().is_ok_and(|folder| {
            std::env::split_paths(list).filter_map(|named| named.canonicalize().ok()).any(|named| named == folder)
        }),
    }
}
