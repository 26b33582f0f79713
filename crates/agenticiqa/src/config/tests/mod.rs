//! Tests of the whole configuration: defaults, layers, partial files, origins.

mod errors;

use super::*;
use agenticiqa_agent::executor::Grounding;
use agenticiqa_agent::fusion::Fusion;
use agenticiqa_agent::state::DEFAULT_REPLAN_ITERATIONS;
use agenticiqa_vlm::{Provider, Rates};

/// A folder with files and variables.
struct Place {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn environment(&self) -> Environment {
        Environment::with_variables(self.folder.path(), self.variables.clone()).unwrap()
    }

    fn load(&self, config: Option<&str>, overrides: &Overrides) -> Result<Settings, Error> {
        Settings::load(config.map(Path::new), &self.environment(), overrides)
    }

    fn settings(&self) -> Settings {
        self.load(None, &Overrides::default()).unwrap()
    }

    /// Returns the error message without the name of the folder.
    fn error(&self) -> String {
        let error = self.load(None, &Overrides::default()).unwrap_err();
        error.to_string().replace(&format!("{}/", self.folder.path().display()), "")
    }
}

fn models(text: &str) -> Place {
    Place::new().file("configs/model_backends.yaml", text)
}

fn pipeline(text: &str) -> Place {
    Place::new().file("configs/pipeline.yaml", text)
}

fn assign(key: &str, value: &str) -> Overrides {
    Overrides { assignments: vec![(key.to_owned(), value.to_owned())], ..Overrides::default() }
}

#[test]
fn the_defaults_are_those_of_the_specification() {
    let Settings { models, pipeline, .. } = Settings::builtin().unwrap();
    for (name, role) in models.roles() {
        assert!(role.backend.is_builtin(), "{name}");
        assert_eq!((role.temperature, role.retry_attempts), (0.0, 3), "{name}");
        assert_eq!((&role.fallback_backend, &role.base_url), (&None, &None), "{name}");
    }
    assert_eq!((models.planner.top_p, models.executor.top_p, models.summarizer.top_p), (Some(0.1), None, None));
    let tokens = models.roles().map(|(_, role)| role.max_tokens);
    let seconds = models.roles().map(|(_, role)| role.timeout().as_secs());
    assert_eq!((tokens, seconds), ([2048, 2048, 512], [60, 300, 60]));
    assert_eq!(models.rates.rates("openai.gpt-4o"), Some(Rates { prompt: 2.5, completion: 10.0 }));
    assert_eq!(pipeline.max_replan_iterations, DEFAULT_REPLAN_ITERATIONS);
    assert_eq!(pipeline.executor, Executor { grounding: Grounding::Auto, concurrency: 4 });
    assert_eq!(pipeline.fusion, Fusion { eta: 1.0, levels: [1.0, 2.0, 3.0, 4.0, 5.0] });
    assert_eq!(pipeline.images, Images { max_side: 2048, max_pixels: 1_000_000_000, max_memory_bytes: None });
    assert_eq!(pipeline.cache, Cache { memory_entries: 10_000, disk: None, model_answers: true });
    assert_eq!((pipeline.checkpoints.dir, pipeline.tools.metadata), (None, None));
    assert!(pipeline.tools.models.is_empty());
    assert_eq!(pipeline.logging, Logging { level: LogLevel::Warn, format: LogFormat::Text });
}

#[test]
fn nothing_set_anywhere_gives_the_defaults() {
    assert_eq!(Place::new().settings(), Settings::builtin().unwrap());
}

#[test]
fn partial_files_keep_what_they_do_not_name() {
    let place = models(
        "planner:\n  backend: openai.gpt-4o\nsummarizer:\n#  max_tokens: 99\nrates:\n  openai.mine: {prompt: 1, completion: 2}\n",
    );
    let settings = place.settings();
    let Role { backend, top_p, max_tokens, .. } = &settings.models.planner;
    assert_eq!((backend.as_str(), *top_p, *max_tokens), ("openai.gpt-4o", Some(0.1), 2048));
    assert!(settings.models.executor.backend.is_builtin());
    assert_eq!(settings.models.summarizer.max_tokens, 512);
    assert_eq!(settings.models.rates.rates("openai.mine"), Some(Rates { prompt: 1.0, completion: 2.0 }));
    assert!(settings.models.rates.rates("openai.gpt-4o").is_some());
    assert_eq!(pipeline("").settings().pipeline, Settings::builtin().unwrap().pipeline);
}

#[test]
fn each_layer_wins_over_the_one_before() {
    let place = models("planner:\n  backend: openai.file\nexecutor:\n  backend: openai.file\n");
    assert_eq!(place.settings().models.planner.backend.as_str(), "openai.file");
    let place = place.file(".env", "AGENTICIQA_BACKEND=openai.dotenv\n");
    assert_eq!(place.settings().models.planner.backend.as_str(), "openai.dotenv");
    let place = place.variable("AGENTICIQA_BACKEND", "openai.all");
    assert_eq!(place.settings().models.planner.backend.as_str(), "openai.all");
    let place = place.variable("AGENTICIQA_PLANNER_BACKEND", "openai.planner");
    let settings = place.settings();
    assert_eq!(settings.models.planner.backend.as_str(), "openai.planner");
    assert_eq!(settings.models.executor.backend.as_str(), "openai.all");
    let mut overrides = Overrides { backend: Some("openai.flag".to_owned()), ..Overrides::default() };
    let planner = |overrides: &Overrides| place.load(None, overrides).unwrap().models.planner.backend.to_string();
    assert_eq!(planner(&overrides), "openai.flag");
    overrides.planner_backend = Some("openai.own-flag".to_owned());
    assert_eq!(planner(&overrides), "openai.own-flag");
    overrides.assignments = vec![("planner.backend".to_owned(), "builtin".to_owned())];
    assert_eq!(planner(&overrides), "builtin");
    assert_eq!(place.load(None, &overrides).unwrap().models.summarizer.backend.as_str(), "openai.flag");
}

#[test]
fn every_variable_sets_its_field() {
    let variables = [
        ("AGENTICIQA_EXECUTOR_BACKEND", "ollama.llava:7b", "executor.backend"),
        ("AGENTICIQA_SUMMARIZER_BACKEND", "google.gemini-2.0-flash", "summarizer.backend"),
        ("AGENTICIQA_MAX_REPLAN", "0", "max_replan_iterations"),
        ("AGENTICIQA_CACHE_DIR", "/tmp/cache", "cache.disk"),
        ("AGENTICIQA_CHECKPOINT_DIR", "/tmp/checkpoints", "checkpoints.dir"),
        ("AGENTICIQA_ILNIQE_MODEL", "model.mat", "tools.models.ILNIQE"),
        ("AGENTICIQA_PYTHON", "/opt/pyiqa/bin/python", "tools.worker.python"),
        ("OPENAI_BASE_URL", "http://a/v1", "providers.openai.base_url"),
        ("ANTHROPIC_BASE_URL", "http://b", "providers.anthropic.base_url"),
        ("GOOGLE_API_BASE_URL", "http://c", "providers.google.base_url"),
        ("OLLAMA_HOST", "10.0.0.1:11434", "providers.ollama.base_url"),
    ];
    let place = variables.iter().fold(Place::new(), |place, (name, value, _)| place.variable(name, value));
    let settings = place.settings();
    for (name, value, field) in variables {
        let Source { value: shown, origin, .. } = settings.source(field).unwrap();
        assert!(shown.ends_with(value), "{field}: {shown}");
        assert_eq!(origin.to_string(), format!("environment variable {name}"));
    }
    assert_eq!(settings.pipeline.max_replan_iterations, 0);
    assert_eq!(settings.pipeline.cache.disk, Some(PathBuf::from("/tmp/cache")));
    assert_eq!(settings.models.base_url(&settings.models.executor).unwrap().as_str(), "http://10.0.0.1:11434");
}

#[test]
fn ollamas_own_variable_becomes_an_address() {
    for (host, address) in [("0.0.0.0", "http://127.0.0.1:11434"), ("gpu-box", "http://gpu-box:11434")] {
        let providers = Place::new().variable("OLLAMA_HOST", host).settings().models.providers;
        assert_eq!(providers.get(Provider::Ollama).base_url.as_ref().unwrap().as_str(), address);
    }
}

#[test]
fn assignments_reach_every_field() {
    let place = Place::new();
    let load = |key: &str, value: &str| place.load(None, &assign(key, value)).unwrap();
    assert_eq!(load("summarizer.temperature", "0.2").models.summarizer.temperature, 0.2);
    assert_eq!(load("executor.grounding", "off").pipeline.executor.grounding, Grounding::Off);
    assert_eq!(load("executor.max_tokens", "77").models.executor.max_tokens, 77);
    assert_eq!(load("fusion.levels", "[1, 1.5, 2, 3, 5]").pipeline.fusion.levels[1], 1.5);
    assert_eq!(load("rates.openai.gpt-4o.prompt", "9").models.rates.rates("openai.gpt-4o").unwrap().prompt, 9.0);
    assert_eq!(load("tools.models.ILNIQE", "a b.mat").pipeline.tools.models["ILNIQE"], Path::new("a b.mat"));
    assert_eq!(load("planner.top_p", "null").models.planner.top_p, None);
    assert_eq!(load("planner.top_p", "").models.planner.top_p, None);
    let settings = load("planner.backend", "ollama.qwen2.5vl:7b");
    assert_eq!(settings.models.planner.backend.as_str(), "ollama.qwen2.5vl:7b");
    assert_eq!(
        settings.source("planner.backend").unwrap().origin.to_string(),
        "override backend_override planner.backend"
    );
    for (key, value, says) in [
        (
            "planner.temprature",
            "1",
            "override backend_override planner.temprature: planner.temprature: there is no such field, did you mean temperature?",
        ),
        ("planer.backend", "builtin", "planer: there is no such field, did you mean planner?"),
        (
            "planner",
            "openai.gpt-4o",
            "planner: must be the fields of a role, such as backend and temperature, not openai.gpt-4o",
        ),
        ("summarizer.temperature", "3", "summarizer.temperature: must be from 0 to 2, not 3"),
        ("summarizer.temperature", "[", "override backend_override summarizer.temperature: not valid YAML"),
    ] {
        let error = place.load(None, &assign(key, value)).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let too_many = Overrides { max_replan: Some(9), ..Overrides::default() };
    assert_eq!(
        place.load(None, &too_many).unwrap_err().to_string(),
        "override max_replan: max_replan_iterations: must be from 0 to 5, not 9"
    );
}

#[test]
fn variables_in_files_are_expanded_quoted_or_not() {
    let text =
        "planner:\n  backend: ${MODEL:-builtin}\n  base_url: \"${URL}/v1\"\n  max_tokens: ${TOKENS:-64} # ${COMMENT}\n";
    let place = models(text).variable("URL", "http://server").file(".env", "MODEL=openai.from-dotenv\n");
    let Role { backend, base_url, max_tokens, .. } = place.settings().models.planner;
    assert_eq!((backend.as_str(), max_tokens), ("openai.from-dotenv", 64));
    assert_eq!(base_url.unwrap().as_str(), "http://server/v1");
    assert_eq!(
        models("planner:\n  base_url: '${URL}'\n").error(),
        "configs/model_backends.yaml:2:13: planner.base_url: the environment variable URL is not set: set it, or write \
         ${URL:-default}"
    );
    assert_eq!(models("planner:\n  base_url: ${URL:-}\n").settings().models.planner.base_url, None);
}

#[test]
fn the_file_that_was_asked_for_is_read() {
    let place = pipeline("max_replan_iterations: 1\n")
        .file("other/pipeline.yaml", "max_replan_iterations: 3\n")
        .file("mine.yaml", "max_replan_iterations: 4\nexecutor:\n  grounding: off\n  backend: ollama.llava\n")
        .file("user/agenticiqa/pipeline.yml", "max_replan_iterations: 5\n")
        .file("empty/readme.txt", "");
    let replans =
        |config| place.load(config, &Overrides::default()).map(|settings| settings.pipeline.max_replan_iterations);
    assert_eq!(replans(None).unwrap(), 1);
    assert_eq!(replans(Some("other")).unwrap(), 3);
    assert_eq!(replans(Some("other/pipeline.yaml")).unwrap(), 3);
    let mine = place.load(Some("mine.yaml"), &Overrides::default()).unwrap();
    assert_eq!((mine.pipeline.max_replan_iterations, mine.pipeline.executor.grounding), (4, Grounding::Off));
    assert_eq!(mine.models.executor.backend.as_str(), "ollama.llava");
    assert!(replans(Some("empty")).unwrap_err().to_string().contains("contains neither model_backends.yaml nor"));
    assert!(replans(Some("absent.yaml")).unwrap_err().to_string().contains("absent.yaml: cannot be read"));
}

#[test]
fn the_users_folder_is_read_if_there_is_no_local_one() {
    let user = Place::new().file("agenticiqa/pipeline.yml", "max_replan_iterations: 5\n");
    let folder = user.folder.path().to_str().unwrap();
    let settings = Place::new().variable("XDG_CONFIG_HOME", folder).settings();
    assert_eq!(settings.pipeline.max_replan_iterations, 5);
    assert_eq!(settings.files, [user.folder.path().join("agenticiqa/pipeline.yml")]);
    let local = pipeline("max_replan_iterations: 1\n").variable("XDG_CONFIG_HOME", folder);
    assert_eq!(local.settings().pipeline.max_replan_iterations, 1);
    let home = Place::new().file(".config/agenticiqa/pipeline.yaml", "max_replan_iterations: 4\n");
    let at_home = Place::new().variable("HOME", home.folder.path().to_str().unwrap());
    assert_eq!(at_home.settings().pipeline.max_replan_iterations, 4);
}

#[test]
fn the_address_of_one_provider_is_not_used_for_another() {
    let place = models("planner:\n  backend: openai.qwen\n  base_url: http://localhost:8000/v1\n");
    let address = |overrides: &Overrides| {
        let models = place.load(None, overrides).unwrap().models;
        models.planner.base_url.map(|url| url.to_string())
    };
    let backend = |name: &str| Overrides { backend: Some(name.to_owned()), ..Overrides::default() };
    assert_eq!(address(&backend("openai.other")).as_deref(), Some("http://localhost:8000/v1"));
    assert_eq!(address(&backend("anthropic.claude-3.5-sonnet")), None);
    let both =
        Overrides { assignments: vec![("planner.base_url".to_owned(), "http://b".to_owned())], ..backend("google.x") };
    assert_eq!(address(&both).as_deref(), Some("http://b"));
}

#[test]
fn a_role_is_reached_at_its_own_address_and_its_fallback_at_the_providers() {
    let place = models(
        "planner: {backend: openai.a, base_url: 'http://role', fallback_backend: openai.b}\nproviders: {openai: {base_url: 'http://provider', api_key_env: MY_KEY}}\n",
    );
    let models = place.settings().models;
    assert_eq!(models.base_url(&models.planner).unwrap().as_str(), "http://role");
    assert_eq!(models.fallback_base_url(&models.planner).unwrap().as_str(), "http://provider");
    assert_eq!(models.base_url(&models.executor), None);
    assert_eq!(models.key_variables(Provider::OpenAi), ["MY_KEY"]);
    assert_eq!(models.key_variables(Provider::Google), ["GOOGLE_API_KEY", "GEMINI_API_KEY"]);
    assert_eq!(models.providers_in_use(), [Provider::OpenAi]);
}

#[test]
fn describe_tells_every_field_once_with_its_source() {
    let place = models("rates:\n  openai.gpt-4o: {prompt: 3}\n");
    let rows = place.settings().describe();
    let row = |field: &str| rows.iter().find(|row| row.0 == field).unwrap();
    assert_eq!(row("planner.max_tokens"), &("planner.max_tokens".into(), "2048".into(), "default".into()));
    assert_eq!(row("fusion.levels").1, "[1, 2, 3, 4, 5]");
    assert_eq!(row("tools.models").1, "{}");
    assert_eq!(row("rates.openai.gpt-4o").1, "{completion: 10, prompt: 3}");
    assert!(row("rates.openai.gpt-4o").2.contains("model_backends.yaml:2:"));
    let mut fields: Vec<&String> = rows.iter().map(|row| &row.0).collect();
    fields.sort();
    fields.dedup();
    assert_eq!(fields.len(), rows.len());
}

#[test]
fn the_files_that_ship_say_what_is_built_in() {
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let settings = Settings::load(Some(&configs), &Place::new().environment(), &Overrides::default()).unwrap();
    let builtin = Settings::builtin().unwrap();
    assert_eq!((settings.models, settings.pipeline), (builtin.models, builtin.pipeline));
    assert_eq!(settings.files.len(), 2);
}

#[test]
fn the_data_folder_is_the_variables_the_files_or_the_users_own() {
    let home = Place::new().variable("HOME", "/home/me");
    if cfg!(target_os = "linux") {
        assert_eq!(home.settings().data_folder, Some("/home/me/.local/share/agenticiqa".into()));
    }
    let home = home.variable("XDG_DATA_HOME", "/data");
    assert_eq!(home.settings().data_folder, Some("/data/agenticiqa".into()));
    let file = home.file("configs/pipeline.yaml", "tools: {data_dir: /files}");
    assert_eq!(file.settings().data_folder, Some("/files".into()));
    let variable = file.variable("AGENTICIQA_DATA_DIR", "/variable");
    assert_eq!(variable.settings().data_folder, Some("/variable".into()));
    assert_eq!(Place::new().settings().data_folder, None);
}

#[test]
fn a_mirror_is_an_address_whose_password_is_hidden() {
    let settings = Place::new().variable("AGENTICIQA_PYPI_MIRROR", "https://me:sk-secret@mirror.example/").settings();
    assert_eq!(settings.pipeline.tools.pypi_mirror.as_ref().unwrap().as_str(), "https://me:sk-secret@mirror.example/");
    assert!(!format!("{settings:?} {:?}", settings.describe()).contains("secret"));
    let error = Place::new().variable("AGENTICIQA_PYPI_MIRROR", "mirror").error();
    assert!(error.contains("tools.pypi_mirror"), "{error}");
}
