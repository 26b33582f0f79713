//! Reports the configuration, what is missing, and how to fix it. Of keys, only their presence is
//! reported.

mod api;

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::{self, Environment, Origin, Settings};
use agenticiqa_tools::{Availability, Registry, Remedy};
use agenticiqa_vlm::Provider;

pub use api::{ApiFact, check_api};

/// The report of `doctor`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The version of the program.
    pub version: String,
    /// The processor and the operating system of the build.
    pub target: String,
    /// The number of threads for tools.
    pub threads: usize,
    /// The configuration files that were read.
    pub config_files: Vec<PathBuf>,
    /// The effective configuration.
    pub settings: Vec<Setting>,
    /// The backend of each role.
    pub roles: Vec<RoleFact>,
    /// The presence of API keys.
    pub keys: Vec<KeyFact>,
    /// The availability of the tools.
    pub tools: Vec<ToolFact>,
    /// The folders that are read or written.
    pub folders: Vec<FolderFact>,
    /// Problems in the configuration.
    pub problems: Vec<String>,
    /// Suggested next steps. Front ends put them into words.
    #[serde(skip)]
    pub suggestions: Vec<Suggestion>,
}

/// A suggested next step. Front ends put it into their own terms.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Suggestion {
    /// A key is set but not used.
    UseBackend {
        /// The variables for the key.
        variables: Vec<String>,
        /// A backend that would use the key.
        backend: String,
    },
    /// No model is configured; the built-in analyst answers.
    AddModel,
    /// A built-in tool is incomplete.
    CompleteTool {
        /// The name of the tool.
        tool: String,
        /// What is missing.
        reason: String,
        /// How to complete it.
        remedy: Option<Remedy>,
    },
}

/// A field of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The name of the field.
    pub field: String,
    /// The value.
    pub value: String,
    /// The origin of the value.
    pub source: String,
    /// Whether the value equals the built-in default, regardless of its origin.
    pub default: bool,
}

/// The backend of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleFact {
    /// The name of the role.
    pub role: String,
    /// The backend.
    pub backend: String,
    /// The address, if it differs from the provider's; without user name and password.
    pub base_url: Option<String>,
    /// The backend to use when the first one fails.
    pub fallback_backend: Option<String>,
}

/// The presence of a provider's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyFact {
    /// The name of the provider.
    pub provider: String,
    /// The variables for the key.
    pub variables: Vec<String>,
    /// Whether a key is set.
    pub present: bool,
    /// Whether a role needs the key.
    pub needed: bool,
}

/// The availability of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolFact {
    /// The name of the tool.
    pub name: String,
    /// Whether it can run.
    pub available: bool,
    /// Why it cannot run, and what it needs.
    pub reason: Option<String>,
}

/// The state of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FolderFact {
    /// The purpose.
    pub purpose: String,
    /// The path.
    pub path: PathBuf,
    /// Whether the folder exists.
    pub exists: bool,
    /// Whether files can be written to it, or it can be created.
    pub writable: bool,
}

/// Collects everything that is known without calling a model.
pub fn facts(settings: &Settings, environment: &Environment, registry: &Registry) -> Report {
    let keys: Vec<KeyFact> = Provider::ALL.map(|provider| key(provider, settings, environment)).into();
    let folders = folders(settings, environment);
    let builtin = Settings::builtin().map(|builtin| builtin.sources).unwrap_or_default();
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        config_files: settings.files.clone(),
        settings: settings.sources.iter().map(|source| setting(source, &builtin)).collect(),
        roles: roles(settings),
        keys,
        tools: registry.iter().map(|tool| tool_fact(tool.name(), &tool.availability())).collect(),
        folders,
        problems: Vec::new(),
        suggestions: Vec::new(),
    };
    report.problems = problems(&report, settings, environment);
    report.suggestions = suggestions(&report, settings, registry);
    report
}

fn setting(source: &config::Source, builtin: &[config::Source]) -> Setting {
    let same = |default: &config::Source| default.field == source.field && default.value == source.value;
    Setting {
        field: source.field.clone(),
        value: source.value.clone(),
        source: source.origin.to_string(),
        default: source.origin == Origin::Default || builtin.iter().any(same),
    }
}

fn roles(settings: &Settings) -> Vec<RoleFact> {
    let fact = |(name, role): (&str, &config::Role)| RoleFact {
        role: name.to_owned(),
        backend: role.backend.to_string(),
        base_url: settings.models.base_url(role).filter(|_| !role.backend.is_builtin()).map(ToString::to_string),
        fallback_backend: role.fallback_backend.as_ref().map(ToString::to_string),
    };
    settings.models.roles().map(fact).into()
}

fn key(provider: Provider, settings: &Settings, environment: &Environment) -> KeyFact {
    let variables = settings.models.key_variables(provider);
    KeyFact {
        provider: provider.name().to_owned(),
        present: settings.models.key(provider, environment).is_some(),
        needed: provider.needs_key() && calls_own_server(provider, settings),
        variables: variables.into_iter().map(str::to_owned).collect(),
    }
}

/// Returns whether a role or a fallback calls the provider's own server. Servers given by
/// `base_url` may need no key.
fn calls_own_server(provider: Provider, settings: &Settings) -> bool {
    let models = &settings.models;
    models.roles().into_iter().any(|(_, role)| {
        let first = (Some(&role.backend), models.base_url(role));
        let fallback = (role.fallback_backend.as_ref(), models.fallback_base_url(role));
        [first, fallback].into_iter().any(|(backend, base_url)| {
            base_url.is_none() && backend.and_then(config::Backend::provider) == Some(provider)
        })
    })
}

fn tool_fact(name: &str, availability: &Availability) -> ToolFact {
    ToolFact {
        name: name.to_owned(),
        available: availability.is_available(),
        reason: availability.reason().map(str::to_owned),
    }
}

fn folders(settings: &Settings, environment: &Environment) -> Vec<FolderFact> {
    let pipeline = &settings.pipeline;
    let known = [
        ("configuration", config::user_folder(environment)),
        ("installed tools", settings.data_folder.clone()),
        ("cache", pipeline.cache.disk.clone()),
        ("checkpoints", pipeline.checkpoints.dir.clone()),
    ];
    let fact = |(purpose, path): (&str, Option<PathBuf>)| {
        let path = path?;
        let (exists, writable) = (path.is_dir(), is_writable(&path));
        Some(FolderFact { purpose: purpose.to_owned(), path, exists, writable })
    };
    known.into_iter().filter_map(fact).collect()
}

/// Returns whether files can be written to a folder or, if it does not exist, to its nearest
/// parent. Tested by writing, because permissions do not reveal read-only file systems and full
/// disks.
fn is_writable(folder: &Path) -> bool {
    let above = folder.ancestors().map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path });
    let Some(existing) = above.into_iter().find(|path| path.exists()) else { return false };
    let probe = existing.join(format!(".agenticiqa-doctor-{}", std::process::id()));
    let written = OpenOptions::new().write(true).create_new(true).open(&probe).is_ok();
    written && std::fs::remove_file(&probe).is_ok()
}

fn problems(report: &Report, settings: &Settings, environment: &Environment) -> Vec<String> {
    let missing = report.keys.iter().filter(|key| key.needed && !key.present).map(|key| {
        let names = key.variables.join(" or ");
        format!("{} is called but has no key: set {names} in the environment or in .env", key.provider)
    });
    // The configuration folder is only read, and so is the tools folder unless tools are installed.
    let only_read = ["configuration", "installed tools"];
    let folders =
        report.folders.iter().filter(|folder| !folder.writable && !only_read.contains(&folder.purpose.as_str()));
    let folders =
        folders.map(|folder| format!("the folder for {} cannot be written: {}", folder.purpose, folder.path.display()));
    let tools = &settings.pipeline.tools;
    let files = tools.models.values().chain(&tools.metadata).filter(|path| !path.is_file());
    let files = files.map(|path| format!("no such file: {}", path.display()));
    missing.chain(folders).chain(files).chain(unknown_variables(environment)).collect()
}

/// Returns variables that look like ours but are unknown, most likely misspelled.
fn unknown_variables(environment: &Environment) -> Vec<String> {
    let known: Vec<&str> = config::variables().chain(["AGENTICIQA_THREADS"]).collect();
    let strange = environment
        .names()
        .into_iter()
        .filter(|name| name.starts_with("AGENTICIQA_") && !known.contains(&name.as_str()));
    let folded: Vec<String> = known.iter().map(|known| known.to_lowercase()).collect();
    let suggestion = |name: &str| {
        let nearest = config::nearest(name, folded.iter().map(String::as_str)).map(str::to_uppercase);
        config::did_you_mean(nearest.as_deref())
    };
    strange.map(|name| format!("the variable {name} sets nothing{}", suggestion(&name))).collect()
}

fn suggestions(report: &Report, settings: &Settings, registry: &Registry) -> Vec<Suggestion> {
    let in_use = settings.models.providers_in_use();
    let mut suggestions = Vec::new();
    for (provider, key) in Provider::ALL.into_iter().zip(&report.keys) {
        if key.present && provider.needs_key() && !in_use.contains(&provider) {
            let (variables, backend) = (key.variables.clone(), provider.example().to_owned());
            suggestions.push(Suggestion::UseBackend { variables, backend });
        }
    }
    if in_use.is_empty() && suggestions.is_empty() {
        suggestions.push(Suggestion::AddModel);
    }
    for tool in registry.iter().filter(|tool| tool.info().is_some()) {
        if let Availability::Missing { reason, remedy } = tool.availability() {
            suggestions.push(Suggestion::CompleteTool { tool: tool.name().to_owned(), reason, remedy });
        }
    }
    suggestions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    fn report(folder: &Path, variables: &[(&str, &str)], overrides: &Overrides) -> Report {
        let environment = Environment::with_variables(folder, variables.iter().copied()).unwrap();
        let settings = Settings::load(None, &environment, overrides).unwrap();
        facts(&settings, &environment, &Registry::builtin().unwrap())
    }

    fn backend(name: &str) -> Overrides {
        Overrides { backend: Some(name.to_owned()), ..Overrides::default() }
    }

    #[test]
    fn without_keys_the_built_in_analyst_is_no_problem() {
        let folder = tempfile::tempdir().unwrap();
        let report = report(folder.path(), &[], &Overrides::default());
        assert_eq!(report.problems, Vec::<String>::new());
        assert!(report.keys.iter().all(|key| !key.present && !key.needed));
        assert_eq!(report.suggestions[0], Suggestion::AddModel);
        assert!(report.settings.iter().all(|setting| setting.default && setting.source == "default"));
        assert!(report.roles.iter().all(|role| role.backend == "builtin"));
        assert!(report.threads >= 1 && report.target.contains(std::env::consts::OS));
    }

    #[test]
    fn a_missing_key_is_a_problem_and_an_unused_one_a_suggestion() {
        let folder = tempfile::tempdir().unwrap();
        let report = report(folder.path(), &[("GEMINI_API_KEY", "sk-secret")], &backend("openai.gpt-4o"));
        assert_eq!(
            report.problems,
            ["openai is called but has no key: set OPENAI_API_KEY in the environment or in .env"]
        );
        assert_eq!(
            report.suggestions[0],
            Suggestion::UseBackend {
                variables: vec!["GOOGLE_API_KEY".to_owned(), "GEMINI_API_KEY".to_owned()],
                backend: "google.gemini-2.0-flash".to_owned(),
            }
        );
        let json = serde_json::to_string(&report).unwrap();
        assert!(!json.contains("sk-secret") && !format!("{report:?}").contains("sk-secret"));
        assert!(json.contains(
            r#"{"provider":"google","variables":["GOOGLE_API_KEY","GEMINI_API_KEY"],"present":true,"needed":false}"#
        ));
    }

    #[test]
    fn a_server_of_ones_own_needs_no_key_and_its_password_is_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let url = [("OPENAI_BASE_URL", "http://me:sk-secret@localhost:8000/v1")];
        let report = report(folder.path(), &url, &backend("openai.qwen2.5-vl"));
        assert_eq!(report.problems, Vec::<String>::new());
        assert_eq!(report.roles[0].base_url.as_deref(), Some("http://***@localhost:8000/v1"));
        assert!(!serde_json::to_string(&report).unwrap().contains("sk-secret"));
    }

    #[test]
    fn the_key_of_a_fallback_is_needed_too() {
        let folder = tempfile::tempdir().unwrap();
        let assignments = vec![("planner.fallback_backend".to_owned(), "anthropic.claude-3.5-sonnet".to_owned())];
        let overrides = Overrides { assignments, ..backend("ollama.llava") };
        let report = report(folder.path(), &[], &overrides);
        assert!(report.problems[0].contains("set ANTHROPIC_API_KEY"), "{:?}", report.problems);
        assert_eq!(report.problems.len(), 1);
    }

    #[test]
    fn folders_are_tried_and_left_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let cache = folder.path().join("new").join("cache");
        let (cache, checkpoints) = (cache.to_str().unwrap(), file.join("below"));
        let variables = [("AGENTICIQA_CACHE_DIR", cache), ("AGENTICIQA_CHECKPOINT_DIR", checkpoints.to_str().unwrap())];
        let report = report(folder.path(), &variables, &Overrides::default());
        let fact = |purpose: &str| report.folders.iter().find(|folder| folder.purpose == purpose).unwrap();
        assert!(fact("cache").writable && !fact("cache").exists);
        assert!(!fact("checkpoints").writable);
        assert!(report.problems[0].starts_with("the folder for checkpoints cannot be written"));
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["file"]);
    }

    #[test]
    fn misspelt_variables_and_missing_files_are_problems() {
        let folder = tempfile::tempdir().unwrap();
        let variables = [("AGENTICIQA_BAKCEND", "openai.gpt-4o"), ("AGENTICIQA_ILNIQE_MODEL", "/no/such.mat")];
        let report = report(folder.path(), &variables, &Overrides::default());
        assert_eq!(
            report.problems,
            [
                "no such file: /no/such.mat",
                "the variable AGENTICIQA_BAKCEND sets nothing, did you mean AGENTICIQA_BACKEND?"
            ]
        );
    }

    #[test]
    fn tools_that_cannot_run_say_why() {
        let folder = tempfile::tempdir().unwrap();
        let report = report(folder.path(), &[], &Overrides::default());
        let tool = |name: &str| report.tools.iter().find(|tool| tool.name == name).unwrap();
        assert!(tool("SSIM").available && tool("SSIM").reason.is_none());
        assert!(!tool("LPIPS").available && tool("LPIPS").reason.is_some());
        let ilniqe = |one: &Suggestion| matches!(one, Suggestion::CompleteTool { tool, .. } if tool == "ILNIQE");
        assert!(report.suggestions.iter().any(ilniqe));
    }
}
