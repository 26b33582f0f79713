//! Rejected values, their messages, and secrets that messages never contain.

use super::*;

#[test]
fn a_bad_variable_is_named() {
    for (name, value, says) in [
        ("AGENTICIQA_MAX_REPLAN", "many", "max_replan_iterations: must be a whole number, 0 or more, not many"),
        ("AGENTICIQA_MAX_REPLAN", "6", "max_replan_iterations: must be from 0 to 5, not 6"),
        ("AGENTICIQA_BACKEND", "gpt-4o", "such as openai.gpt-4o, not gpt-4o: did you mean openai.gpt-4o?"),
        ("OPENAI_BASE_URL", "localhost", "providers.openai.base_url: is not an address"),
    ] {
        let error = Place::new().variable(name, value).error();
        assert!(error.starts_with(&format!("environment variable {name}: ")), "{error}");
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn errors_of_model_backends_name_file_line_and_field() {
    for (text, says) in [
        ("planner:\n  temprature: 1\n", "2:3: planner.temprature: there is no such field, did you mean temperature?"),
        ("plannr:\n  temperature: 1\n", "1:1: plannr: there is no such field, did you mean planner?"),
        ("planner:\n  temperature: hot\n", "2:16: planner.temperature: must be a number, not hot"),
        ("planner:\n  temperature: 2.5\n", "2:16: planner.temperature: must be from 0 to 2, not 2.5"),
        ("planner:\n  top_p: 0\n", "2:10: planner.top_p: must be from 0.000001 to 1, not 0"),
        ("planner: {max_tokens: 0}\n", "1:23: planner.max_tokens: must be from 1 to 1000000, not 0"),
        ("planner:\n  max_tokens: 1.5\n", "2:15: planner.max_tokens: must be a whole number, 0 or more, not 1.5"),
        ("planner:\n  max_tokens: 5000000000\n", "2:15: planner.max_tokens: must be a smaller number, not 5000000000"),
        ("planner:\n  temperature: null\n", "2:16: planner.temperature: must be a number, not null"),
        ("\nplanner:\n  retry_attempts: 0\n", "3:19: planner.retry_attempts: must be from 1 to 10, not 0"),
        ("executor:\n  backend: opnai.gpt-4o\n", "2:12: executor.backend: must begin with a provider"),
        (
            "executor:\n  backend: 3\n",
            "2:12: executor.backend: must be builtin or provider.model, such as openai.gpt-4o, not 3",
        ),
        (
            "executor:\n  fallback_backend: gpt-4o\n",
            "2:21: executor.fallback_backend: must be builtin or provider.model",
        ),
        ("executor:\n  base_url: localhost\n", "2:13: executor.base_url: is not an address"),
        ("executor:\n  grounding: off\n", "2:3: executor.grounding: there is no such field"),
        ("fusion:\n  eta: 1\n", "1:1: fusion: this field belongs in pipeline.yaml"),
        (
            "providers:\n  mistral: {}\n",
            "2:3: providers.mistral: there is no such field; known here: openai, anthropic, google, ollama",
        ),
        (
            "rates:\n  openai.gpt-4o: {prompt: -1}\n",
            "2:27: rates.openai.gpt-4o.prompt: must be from 0 to 1000000, not -1",
        ),
        ("rates:\n  gpt: {prompt: 1}\n", "2:3: rates.gpt: the name of a rate is a backend"),
        ("rates:\n  openai.x: {prompt: 1}\n", "2:13: rates.openai.x: needs the field completion"),
        ("planner: 3\n", "1:10: planner: must be the fields of a role"),
        ("providers: 3\n", "1:12: providers: must be providers with their fields, not 3"),
        ("providers:\n  olama: {}\n", "2:3: providers.olama: there is no such field, did you mean ollama?"),
        ("providers:\n  openai: 3\n", "2:11: providers.openai: must be the fields of a provider, such as base_url"),
        ("- planner\n", "1:1: the file: must be fields with values"),
    ] {
        let error = models(text).error();
        assert!(error.starts_with(&format!("configs/model_backends.yaml:{says}")), "{text}: {error}");
    }
}

#[test]
fn errors_of_pipeline_name_file_line_and_field() {
    for (text, says) in [
        ("max_replan_iterations: 6\n", "1:24: max_replan_iterations: must be from 0 to 5, not 6"),
        ("max_replan: 1\n", "1:1: max_replan: there is no such field"),
        ("executor:\n  grounding: maybe\n", "2:14: executor.grounding: must be one of auto, off, not maybe"),
        ("executor:\n  grounding: true\n", "2:14: executor.grounding: must be one of auto, off, not true"),
        ("executor:\n  backend: builtin\n", "2:3: executor.backend: there is no such field"),
        (
            "logging:\n  level: wran\n",
            "2:10: logging.level: must be one of off, error, warn, info, debug, trace, not wran: did you mean warn?",
        ),
        ("fusion:\n  levels: [1, 2, 3]\n", "2:11: fusion.levels: must be an array of length 5, not 3"),
        ("fusion:\n  levels: [1, 2, 3, 4, 5, 5]\n", "2:11: fusion.levels: contains too many values"),
        ("fusion:\n  levels: [1, 2, x, 4, 5]\n", "2:18: fusion.levels[2]: must be a number, not x"),
        ("fusion:\n  levels: [5, 4, 3, 2, 1]\n", "2:11: fusion.levels: must be five numbers from 1 to 5"),
        ("fusion:\n  eta: .nan\n", "2:8: fusion.eta: must be a number, not .nan"),
        ("images:\n  max_pixels: 0\n", "2:15: images.max_pixels: must be 1 or more, not 0"),
        ("cache:\n  disk: {a: b}\n", "2:9: cache.disk: must be path"),
        ("planner:\n  backend: builtin\n", "1:1: planner: this field belongs in model_backends.yaml"),
    ] {
        let error = pipeline(text).error();
        assert!(error.starts_with(&format!("configs/pipeline.yaml:{says}")), "{text}: {error}");
    }
}

#[test]
fn texts_that_are_no_yaml_are_refused_with_their_line() {
    for (text, line) in
        [("a: [1\n", ""), ("planner:\n  backend: builtin\n backend: x\n", "3:"), ("cache: {}\ncache: {}\n", "2:")]
    {
        let error = models(text).error();
        assert!(error.starts_with(&format!("configs/model_backends.yaml:{line}")), "{error}");
        assert!(error.contains("not valid YAML"), "{error}");
    }
    let binary = Place::new();
    std::fs::create_dir(binary.folder.path().join("configs")).unwrap();
    std::fs::write(binary.folder.path().join("configs/pipeline.yaml"), [0xff, 0xfe, 0x00]).unwrap();
    assert_eq!(binary.error(), "configs/pipeline.yaml: cannot be read: not a text file (UTF-8)");
}

#[test]
fn keys_in_files_are_refused_and_not_shown() {
    for text in [
        "providers:\n  openai:\n    api_key: sk-secret\n",
        "providers:\n  openai:\n    api_key_env: sk-secret\n",
        "planner:\n  api_key: ${KEY}\n",
        "planner:\n  base_url: ${KEY}\n",
        "planner:\n  max_tokens: ${KEY}\n",
        "planner:\n  backend: ${KEY}\n",
        "planner:\n  api_key: \"sk-secret\n",
        "api_key: sk-secret\n",
    ] {
        let place = models(text).variable("KEY", "sk-secret");
        let error = place.load(None, &Overrides::default()).unwrap_err();
        assert!(error.to_string().contains("model_backends.yaml:"), "{error}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
    let error = models("providers:\n  openai:\n    api_key: sk-secret\n").error();
    assert_eq!(
        error,
        "configs/model_backends.yaml:3:5: providers.openai.api_key: keys do not belong in files: set OPENAI_API_KEY, \
         ANTHROPIC_API_KEY or GOOGLE_API_KEY in the environment or in .env, or name another variable with api_key_env \
         below providers"
    );
}

#[test]
fn secrets_that_variables_hold_are_never_printed() {
    let place = models("planner:\n  backend: openai.a\n  base_url: http://me:${PASSWORD}@server/${PASSWORD}/?k=${PASSWORD}\nexecutor: {base_url: 'http://x:sk-secret@y'}\n")
        .variable("PASSWORD", "sk-secret")
        .variable("OPENAI_API_KEY", "sk-secret")
        .variable("OPENAI_BASE_URL", "http://sk-secret@server");
    let settings = place.settings();
    assert!(settings.models.planner.base_url.as_ref().unwrap().as_str().contains("sk-secret"));
    let rows = settings.describe();
    assert!(!format!("{rows:?} {:?} {:?}", settings.sources, place.environment()).contains("secret"));
    let row = rows.iter().find(|(field, ..)| field == "planner.base_url").unwrap();
    assert_eq!(row.1, "http://***@server/${PASSWORD}/?***");
    assert!(row.2.ends_with("configs/model_backends.yaml:3:13"), "{row:?}");
}

#[test]
fn a_file_that_is_cut_off_is_read_or_refused_with_its_place() {
    let whole = include_str!("../../../configs/pipeline.yaml");
    let place = Place::new().file("configs/pipeline.yaml", "");
    let mut refused = 0;
    for (end, _) in whole.char_indices().step_by(5) {
        std::fs::write(place.folder.path().join("configs/pipeline.yaml"), &whole[..end]).unwrap();
        if let Err(error) = place.load(None, &Overrides::default()) {
            refused += 1;
            assert!(error.to_string().contains("configs/pipeline.yaml:"), "{error}");
        }
    }
    assert!(refused > 0);
}
