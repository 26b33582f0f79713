//! Every write path is killed (SIGKILL) at every moment, then continued or undone.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agenticiqa_photos::journal::{Journal, Moment, Step};
use agenticiqa_photos::{Actions, Decision, plan};

use crate::{photo, snapshot};

const OTHERS: &str = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\
    <rdf:Description rdf:about='' xmlns:d='urn:d' d:history='kept'/></rdf:RDF></x:xmpmeta>";

/// Creates photos: one to keep, two to reject, of which one has a sidecar of another program.
fn photos(folder: &Path) -> PathBuf {
    let photos = folder.join("photos");
    std::fs::create_dir_all(photos.join("deep")).unwrap();
    for name in ["best.jpg", "soft.jpg", "deep/dark\nname.jpg"] {
        std::fs::write(photos.join(name), format!("pixels of {name}")).unwrap();
    }
    std::fs::write(photos.join("soft.xmp"), OTHERS).unwrap();
    photos
}

fn steps(photos: &Path) -> Vec<Step> {
    let decided = [
        photo(&photos.join("best.jpg"), Decision::Keep, 4.2),
        photo(&photos.join("soft.jpg"), Decision::Reject, 2.2),
        photo(&photos.join("deep/dark\nname.jpg"), Decision::Reject, 2.0),
    ];
    let parent = photos.parent().unwrap();
    let actions =
        Actions { xmp: true, move_rejects: Some(parent.join("rejects")), link_keepers: Some(parent.join("keepers")) };
    let plan = plan(photos, &decided, &actions);
    assert!(plan.problems.is_empty(), "{:?}", plan.problems);
    plan.steps
}

/// Runs in a child process: applies or undoes, and kills itself at one moment.
#[test]
fn child() {
    let Ok(folder) = std::env::var("PHOTOS_FOLDER") else { return };
    let at: usize = std::env::var("PHOTOS_KILL_AT").unwrap().parse().unwrap();
    let (folder, moments) = (PathBuf::from(folder), Cell::new(0));
    let watch = |_: Moment| {
        if moments.replace(moments.get() + 1) == at {
            let killed = Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
            panic!("still alive after kill -9: {killed:?}");
        }
    };
    let photos = folder.join("photos");
    let journal = Journal::open(&folder.join("state"), &photos).unwrap();
    match std::env::var("PHOTOS_MODE").unwrap().as_str() {
        "apply" => drop(journal.apply(&steps(&photos), &watch).unwrap()),
        _ => drop(journal.undo(&watch).unwrap()),
    }
}

/// Returns whether the child was killed; otherwise it had no such moment and ended.
fn killed(folder: &Path, mode: &str, at: usize) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "kill::child"]).env("PHOTOS_FOLDER", folder).env("PHOTOS_MODE", mode);
    let output =
        child.env("PHOTOS_KILL_AT", at.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || output.status.code().is_none(), "{text}");
    !output.status.success()
}

fn journal(folder: &Path) -> Journal {
    Journal::open(&folder.join("state"), &folder.join("photos")).unwrap()
}

/// Returns the files without the log, with paths below the folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let relative = |(path, content): (PathBuf, String)| {
        let content = content.replace(&folder.display().to_string(), "FOLDER");
        (path.strip_prefix(folder).unwrap().to_owned(), content)
    };
    snapshot(folder).into_iter().map(relative).filter(|(path, _)| !path.starts_with("state")).collect()
}

/// Every photo, and every sidecar with what another program wrote, is somewhere.
fn assert_nothing_lost(files: &BTreeMap<PathBuf, String>, at: usize) {
    for name in ["best.jpg", "soft.jpg", "deep/dark\nname.jpg"] {
        assert!(files.values().any(|content| *content == format!("pixels of {name}")), "{at}: {name} is lost");
    }
    assert!(files.values().any(|content| content.contains("d:history='kept'")), "{at}: the sidecar is lost");
}

#[test]
fn a_run_that_is_killed_at_any_moment_is_completed_or_undone() {
    let whole = tempfile::tempdir().unwrap();
    let photos_of_whole = photos(whole.path());
    let before = files(whole.path());
    journal(whole.path()).apply(&steps(&photos_of_whole), &|_| ()).unwrap();
    let after = files(whole.path());
    assert_eq!(after.len(), before.len() + 6, "{after:?}");
    assert_nothing_lost(&after, 0);
    let mut at = 0;
    loop {
        let folder = tempfile::tempdir().unwrap();
        photos(folder.path());
        if !killed(folder.path(), "apply", at) {
            break;
        }
        assert_nothing_lost(&files(folder.path()), at);
        let planned = journal(folder.path()).finish(&|_| ()).unwrap();
        match planned {
            Some(outcome) => {
                assert!(outcome.problems.is_empty(), "{at}: {:?}", outcome.problems);
                assert_eq!(files(folder.path()), after, "completed after kill at {at}");
                journal(folder.path()).undo(&|_| ()).unwrap();
            }
            // The plan was not complete on disk, or the run had ended.
            None => assert!([&before, &after].contains(&&files(folder.path())), "kill at {at}"),
        }
        if files(folder.path()) != before {
            journal(folder.path()).undo(&|_| ()).unwrap();
        }
        assert_eq!(files(folder.path()), before, "completed, then undone after kill at {at}");
        at += 1;
    }
    assert!(at > 20, "only {at} moments were tried");
}

#[test]
fn an_undo_that_is_killed_at_any_moment_is_undone_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let (mut at, mut before);
    at = 0;
    loop {
        let again = folder.path().join(at.to_string());
        std::fs::create_dir(&again).unwrap();
        let photos = photos(&again);
        before = files(&again);
        journal(&again).apply(&steps(&photos), &|_| ()).unwrap();
        if !killed(&again, "undo", at) {
            assert_eq!(files(&again), before);
            break;
        }
        assert_nothing_lost(&files(&again), at);
        let outcome = journal(&again).undo(&|_| ()).unwrap();
        assert!(outcome.problems.is_empty(), "{at}: {:?}", outcome.problems);
        assert_eq!(files(&again), before, "undone after kill at {at}");
        at += 1;
    }
    assert!(at > 15, "only {at} moments were tried");
}

#[test]
fn a_killed_run_can_be_undone_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for at in 0.. {
        let again = folder.path().join(at.to_string());
        std::fs::create_dir(&again).unwrap();
        photos(&again);
        let before = files(&again);
        if !killed(&again, "apply", at) {
            break;
        }
        match journal(&again).undo(&|_| ()) {
            Ok(outcome) => assert!(outcome.problems.is_empty(), "{at}: {:?}", outcome.problems),
            Err(error) => assert!(error.to_string().contains("nothing to undo"), "{error}"),
        }
        assert_eq!(files(&again), before, "undone after kill at {at}");
    }
}
