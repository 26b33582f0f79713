//! A worker fault is a clear error of that tool, and the next call works.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use agenticiqa::metrics::Pair;
use agenticiqa::tools::{Worker, WorkerSection};

use crate::worker::support::{PYTHON, Stage, is_running, number, picture, settings, until};

/// An executable in place of Python.
fn script(stage: &Stage, name: &str, text: &str) -> PathBuf {
    let path = stage.file(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn reason(worker: &Worker, metric: &str) -> Option<String> {
    worker.availability(&WorkerSection::new(metric)).reason().map(str::to_owned)
}

#[test]
fn an_exception_is_the_error_of_that_picture_alone() {
    let stage = Stage::new();
    let images = [picture(8, 8, 1), picture(8, 8, 0), picture(8, 8, 2)];
    let scores = stage.worker.measure(&WorkerSection::new("raises"), &images.each_ref().map(Pair::single));
    let scores: Vec<Result<f64, String>> = scores.into_iter().map(number).collect();
    let error = Err("ValueError: a black corner is more than it can bear".to_owned());
    assert_eq!(scores, [Ok(1.0), error, Ok(1.0)]);
    assert_eq!(stage.created().len(), 1);
}

#[test]
fn what_is_printed_does_not_disturb() {
    let stage = Stage::new();
    for _ in 0..3 {
        assert_eq!(stage.score("prints", &picture(8, 8, 1)), Ok(0.25));
    }
    assert_eq!(stage.created().len(), 1);
}

#[test]
fn no_number_and_too_many_are_errors() {
    let stage = Stage::new();
    assert_eq!(stage.score("nan", &picture(8, 8, 1)), Err("the metric returned nan".to_owned()));
    assert!(stage.score("many", &picture(8, 8, 1)).unwrap_err().contains("192 numbers"));
}

#[test]
fn a_death_is_followed_by_another_try_in_a_new_process() {
    let stage = Stage::new();
    assert_eq!(stage.score("dies_once", &picture(8, 8, 1)), Ok(0.75));
    let created = stage.created();
    assert_eq!(created.len(), 2);
    assert_ne!(created[0].1, created[1].1);
}

#[test]
fn a_metric_that_always_kills_the_worker_is_left_alone_and_others_go_on() {
    let stage = Stage::new();
    let error = stage.score("dies", &picture(8, 8, 1)).unwrap_err();
    assert!(error.contains("the worker died while it measured with dies"), "{error}");
    assert!(error.contains("exit status: 7") && error.contains("out of luck"), "{error}");
    assert_eq!(stage.created().len(), 2, "tried twice");
    assert_eq!(stage.score("dies", &picture(8, 8, 1)), Err(error.clone()));
    assert_eq!(stage.created().len(), 2, "and not again");
    assert_eq!(reason(&stage.worker, "dies"), Some(error));
    assert_eq!(stage.score("constant", &picture(8, 8, 1)), Ok(0.5));
    assert_eq!(reason(&stage.worker, "constant"), None);
}

#[test]
fn a_worker_that_fails_five_times_in_a_row_is_left_alone() {
    let stage = Stage::new();
    for _ in 0..5 {
        assert_eq!(reason(&stage.worker, "constant"), None);
        stage.score("garbage", &picture(8, 8, 1)).unwrap_err();
    }
    let error = stage.score("constant", &picture(8, 8, 1)).unwrap_err();
    assert!(error.starts_with("the worker failed 5 times in a row and is not restarted"), "{error}");
    assert_eq!(reason(&stage.worker, "constant"), Some(error));
}

#[test]
fn a_call_that_hangs_is_ended_and_the_next_one_works() {
    let stage = Stage::with(|settings| settings.timeout = Duration::from_secs(3));
    stage.score("constant", &picture(8, 8, 1)).unwrap();
    let stuck = stage.worker.process_id().unwrap();
    let error = stage.score("hangs", &picture(8, 8, 1)).unwrap_err();
    assert_eq!(error, "hangs took more than 3 seconds and was ended (tools.worker.timeout_seconds)");
    assert!(!is_running(stuck));
    assert_eq!(reason(&stage.worker, "hangs"), None, "another image may be faster");
    assert_eq!(stage.score("constant", &picture(8, 8, 1)), Ok(0.5));
}

#[test]
fn a_metric_that_is_never_made_is_ended_and_remembered() {
    let stage = Stage::with(|settings| settings.timeout = Duration::from_secs(3));
    let error = stage.score("hangs_while_created", &picture(8, 8, 1)).unwrap_err();
    assert!(error.starts_with("hangs_while_created was not ready after 3 seconds"), "{error}");
    assert_eq!(reason(&stage.worker, "hangs_while_created"), Some(error));
    assert_eq!(stage.score("constant", &picture(8, 8, 1)), Ok(0.5));
}

#[test]
fn garbage_in_the_stream_is_an_error_and_no_hang() {
    let stage = Stage::new();
    let error = stage.score("garbage", &picture(8, 8, 1)).unwrap_err();
    assert!(error.contains("no JSON at all"), "{error}");
    let error = stage.score("floods", &picture(8, 8, 1)).unwrap_err();
    assert!(error.contains("a line of more than 1048576 bytes"), "{error}");
    assert_eq!(stage.score("constant", &picture(8, 8, 1)), Ok(0.5));
}

#[test]
fn weights_that_cannot_be_had_are_a_state_that_is_told() {
    let stage = Stage::new();
    assert_eq!(reason(&stage.worker, "no_weights"), None);
    let error = stage.score("no_weights", &picture(8, 8, 1)).unwrap_err();
    assert!(error.starts_with("the weights of no_weights are not here and cannot be downloaded"), "{error}");
    assert!(
        error.contains("Name or service not known") && error.contains("pyiqa.create_metric('no_weights')"),
        "{error}"
    );
    assert_eq!(reason(&stage.worker, "no_weights"), Some(error));
    let created = stage.created().len();
    stage.score("no_weights", &picture(8, 8, 1)).unwrap_err();
    assert_eq!(stage.created().len(), created, "not tried again");
    assert!(stage.score("no_module", &picture(8, 8, 1)).unwrap_err().contains("'a_package_that_nobody_has'"));
    let unknown = stage.score("maen", &picture(8, 8, 1)).unwrap_err();
    assert_eq!(unknown, "pyiqa 0.0-stand-in has no metric 'maen', did you mean mean?");
}

#[test]
fn no_python_and_what_is_no_python_are_told_without_a_worker() {
    let image = picture(8, 8, 1);
    let off = Worker::default();
    let words = reason(&off, "mean").unwrap();
    assert!(words.starts_with("needs pyiqa: set AGENTICIQA_PYTHON (or tools.worker.python)"), "{words}");
    let error = number(off.measure(&WorkerSection::new("mean"), &[Pair::single(&image)]).pop().unwrap());
    assert_eq!(error, Err(words));
    let elsewhere = Stage::with(|settings| settings.python = "/no/such/python".into());
    let words = reason(&elsewhere.worker, "mean").unwrap();
    assert!(words.starts_with("/no/such/python cannot be started: No such file"), "{words}");
    assert_eq!(elsewhere.score("mean", &image), Err(words));
    for (text, expected) in
        [("echo hello", "is no Python"), ("exit 3", "is no Python"), ("echo python 3 6", "is Python 3.6")]
    {
        let stage = Stage::new();
        let python = script(&stage, "python", text);
        let stage = Stage::with(|settings| settings.python = python.clone());
        let words = reason(&stage.worker, "mean").unwrap();
        assert!(words.contains(expected), "{words}");
        assert_eq!(stage.score("mean", &image), Err(words));
        assert_eq!(stage.worker.process_id(), None, "no worker was started");
    }
}

#[test]
fn a_python_without_pyiqa_says_how_to_install_it() {
    let stage = Stage::with(|settings| settings.variables.retain(|(name, _)| name != "PYTHONPATH"));
    let words = reason(&stage.worker, "mean").unwrap();
    assert_eq!(words, format!("{PYTHON} has no pyiqa: install it with `{PYTHON} -m pip install pyiqa`"));
}

#[test]
fn an_interpreter_that_is_none_after_all_is_an_error_and_no_hang() {
    let answers = "case \"$2\" in *find_spec*) echo python 3 12; echo pyiqa 1.0; exit;; esac";
    let image = picture(8, 8, 1);
    for (behavior, expected) in [
        ("echo garbage; sleep 60", "garbage"),
        ("echo '{\"hello\": \"agenticiqa-worker\", \"protocol\": 99}'; sleep 60", "protocol: 99"),
        ("echo broken installation >&2; exit 4", "broken installation"),
        ("head -c 3000000 /dev/zero; sleep 60", "more than 1048576 bytes"),
        ("exec >&-; sleep 60", "closed its output"),
        ("sleep 60", "not ready after 2 seconds"),
    ] {
        let stage = Stage::new();
        let python = script(&stage, "python", &format!("{answers}\n{behavior}"));
        let broken = Stage::with(|settings| {
            settings.python = python;
            settings.timeout = Duration::from_secs(2);
        });
        let error = broken.score("mean", &image).unwrap_err();
        assert!(error.contains(expected), "{behavior}: {error}");
    }
}

#[test]
fn the_working_directory_is_no_place_for_modules() {
    // A folder of images may contain a json.py or a pyiqa.py. Neither is run.
    let folder = tempfile::tempdir().unwrap();
    for name in ["json.py", "pyiqa.py", "torch.py", "argparse.py"] {
        std::fs::write(folder.path().join(name), "open('was_run', 'w')").unwrap();
    }
    let home = tempfile::tempdir().unwrap();
    let python = home.path().join("python");
    std::fs::write(&python, format!("#!/bin/sh\ncd '{}' && exec {PYTHON} \"$@\"\n", folder.path().display())).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let stage = Stage::with(|settings| settings.python = python.clone());
    assert_eq!(stage.score("constant", &picture(8, 8, 1)), Ok(0.5));
    assert!(!folder.path().join("was_run").exists());
}

#[test]
fn it_ends_with_the_last_handle() {
    let stage = Stage::new();
    stage.score("constant", &picture(8, 8, 1)).unwrap();
    let process = stage.worker.process_id().unwrap();
    let clone = stage.worker.clone();
    drop(stage);
    assert!(is_running(process));
    drop(clone);
    assert!(!is_running(process));
}

/// Not a test: the program that the next test kills.
#[test]
fn a_program_that_is_killed() {
    if let Some(home) = std::env::var_os("WORKER_TEST_HOME") {
        let worker = Worker::new(settings(PathBuf::from(home).as_path()));
        worker.measure(&WorkerSection::new("hangs"), &[Pair::single(&picture(8, 8, 1))]);
    }
}

#[test]
fn it_dies_with_a_program_that_is_killed() {
    let stage = Stage::new();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worker::faults::a_program_that_is_killed"])
        .env("WORKER_TEST_HOME", stage.home.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("the metric is at work", || stage.file("hanging.pid").exists());
    let worker: u32 = std::fs::read_to_string(stage.file("hanging.pid")).unwrap().parse().unwrap();
    assert!(is_running(worker));
    parent.kill().unwrap();
    parent.wait().unwrap();
    until("the worker is gone", || !is_running(worker));
}
