//! The configuration of planner, executor and summarizer.

use std::time::Duration;

use agenticiqa::config::{Environment, Overrides, Settings};
use agenticiqa::setup;
use agenticiqa::tools::Registry;

fn settings(yaml: &str) -> (Settings, Environment, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model_backends.yaml"), yaml).unwrap();
    let keys =
        [("OPENAI_API_KEY", "sk-secret-key"), ("ANTHROPIC_API_KEY", "secret-too"), ("MY_SERVER", "http://127.0.0.1:9")];
    let environment = Environment::with_variables(folder.path(), keys).unwrap();
    let settings = Settings::load(Some(folder.path()), &environment, &Overrides::default()).unwrap();
    (settings, environment, folder)
}

const YAML: &str = "\
planner:
  backend: openai.gpt-4o
  temperature: 0.0
  max_tokens: 2048
  top_p: 0.1
  retry_attempts: 3
  fallback_backend: anthropic.claude-3.5-sonnet
executor:
  backend: openai.local-qwen
  temperature: 0.0
  base_url: ${MY_SERVER}
summarizer:
  backend: openai.gpt-4o
  temperature: 0.0
  max_tokens: 512
";

#[test]
fn load_executor_configuration() {
    let (settings, environment, _folder) = settings(YAML);
    let executor = &settings.models.executor;
    assert_eq!((executor.backend.as_str(), executor.temperature), ("openai.local-qwen", 0.0));
    assert_eq!(settings.models.base_url(executor).unwrap().as_str(), "http://127.0.0.1:9");
    let agent = setup::agent(&settings, &environment, Registry::builtin().unwrap()).unwrap();
    assert_eq!(agent.reasoners.executor.name(), "openai.local-qwen");
    assert_eq!(agent.options.timeouts.executor, Duration::from_secs(300));
}

#[test]
fn load_vlm_client_from_config() {
    let (settings, environment, _folder) = settings(YAML);
    assert_eq!((settings.models.summarizer.max_tokens, settings.models.summarizer.temperature), (512, 0.0));
    let agent = setup::agent(&settings, &environment, Registry::builtin().unwrap()).unwrap();
    assert_eq!(agent.reasoners.summarizer.name(), "openai.gpt-4o");
    assert!(!format!("{agent:?}").contains("secret"), "keys are never printed");
}

#[test]
fn the_planner_has_the_settings_of_the_design() {
    let (settings, environment, _folder) = settings(YAML);
    let planner = &settings.models.planner;
    assert_eq!((planner.top_p, planner.max_tokens, planner.retry_attempts), (Some(0.1), 2048, 3));
    assert_eq!(planner.fallback_backend.as_ref().unwrap().as_str(), "anthropic.claude-3.5-sonnet");
    let agent = setup::agent(&settings, &environment, Registry::builtin().unwrap()).unwrap();
    assert!(format!("{:?}", agent.reasoners.planner).starts_with("WithFallback"));
}

#[test]
fn with_no_file_and_no_key_the_built_in_analyst_thinks() {
    let environment = Environment::with_variables("/nowhere", [("X", "y")]).unwrap();
    let settings = Settings::load(None, &environment, &Overrides::default()).unwrap();
    let agent = setup::agent(&settings, &environment, Registry::builtin().unwrap()).unwrap();
    assert_eq!(agent.reasoners.planner.name(), "builtin");
}

#[test]
fn a_backend_without_its_key_is_an_error_that_names_the_variable() {
    let environment = Environment::with_variables("/nowhere", [("X", "y")]).unwrap();
    let overrides = Overrides { backend: Some("openai.gpt-4o".to_owned()), ..Overrides::default() };
    let settings = Settings::load(None, &environment, &overrides).unwrap();
    let error = setup::agent(&settings, &environment, Registry::builtin().unwrap()).unwrap_err();
    assert!(error.to_string().contains("OPENAI_API_KEY"), "{error}");
}
