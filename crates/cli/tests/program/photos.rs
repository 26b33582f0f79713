//! `rank` and `cull`: formats, shared ranks, groups, dry runs, writing and undoing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::support::*;

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A folder with three versions of one photo, a copy, two other photos and a file that is no image.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let photos = home.path().join("photos");
    fs::create_dir_all(photos.join("deep")).unwrap();
    for (from, to) in [
        ("osprey.jpg", "osprey.jpg"),
        ("osprey-blurred.jpg", "osprey-blurred.jpg"),
        ("osprey.jpg", "deep/same\nfile.jpg"),
        ("regions/landscape.jpg", "landscape.jpg"),
        ("regions/portrait.jpg", "portrait.jpg"),
    ] {
        fs::copy(example(from), photos.join(to)).unwrap();
    }
    fs::write(photos.join("broken.jpg"), "not an image").unwrap();
    (home, photos)
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    program(arguments).env("AGENTICIQA_DATA_DIR", home.join("data")).output().unwrap()
}

fn of<'a>(rows: &'a [Value], name: &str) -> &'a Value {
    rows.iter().find(|row| row["image_path"].as_str().unwrap().ends_with(name)).unwrap()
}

#[test]
fn photos_are_ranked_with_the_fields_of_the_contract_and_bad_ones_do_not_stop_the_others() {
    let (home, photos) = folder();
    let output = run(home.path(), &["rank", &text(&photos), "--format", "json"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("broken.jpg: not an image"), "{}", stderr(&output));
    let ranked = rows(&output);
    assert_eq!(ranked.len(), 6);
    let fields: Vec<&String> = ranked[0].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["image_path", "score", "interval", "rank", "percentile", "main_reason"]);
    let scores: Vec<f64> = ranked[..5].iter().map(|row| row["score"].as_f64().unwrap()).collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
    assert_eq!((&ranked[0]["rank"], &ranked[0]["percentile"]), (&1.into(), &100.0.into()));
    assert!(ranked[5]["score"].is_null() && ranked[5]["error"].as_str().unwrap().contains("not an image"));
    let blurred = of(&ranked, "blurred.jpg");
    assert!(blurred["main_reason"].as_str().unwrap().contains("blur"), "{blurred}");
    // The same from the cache, without it, and worst first.
    fs::remove_file(photos.join("broken.jpg")).unwrap();
    let again = run(home.path(), &["rank", &text(&photos), "--format", "json", "--resume"]);
    assert_eq!((code(&again), rows(&again)), (0, ranked[..5].to_vec()));
    let anew = run(home.path(), &["rank", &text(&photos), "--format", "json", "--no-cache"]);
    assert_eq!(stdout(&anew), stdout(&again));
    let worst = rows(&run(home.path(), &["rank", &text(&photos), "--format", "json", "--worst", "--top", "20%"]));
    assert_eq!(worst, ranked[4..5]);
}

#[test]
fn photos_are_ranked_by_axes_tools_and_answers_in_every_format() {
    let (home, photos) = folder();
    fs::remove_file(photos.join("broken.jpg")).unwrap();
    let ranked = |by: &[&str]| {
        let output = run(home.path(), &[&["rank", &text(&photos), "--format", "json"], by].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        rows(&output)
    };
    for by in [&["--by", "sharpness"][..], &["--by", "Blur"], &["-Q", "Is it sharp?"]] {
        let rows = ranked(by);
        let place =
            |name: &str| rows.iter().position(|row| row["image_path"].as_str().unwrap().ends_with(name)).unwrap();
        assert!(place("/osprey.jpg") < place("osprey-blurred.jpg"), "{by:?}: {rows:?}");
    }
    assert!(of(&ranked(&["--by", "sharpness"]), "blurred.jpg")["main_reason"].as_str().unwrap().contains("sharpness:"));
    assert!(of(&ranked(&["-Q", "Is it sharp?"]), "blurred.jpg")["main_reason"].as_str().unwrap().starts_with("No."));
    let plain = |format: &str| stdout(&run(home.path(), &["rank", &text(&photos), "--format", format, "--top", "5"]));
    assert!(
        plain("text").contains("same\\u000afile.jpg") && plain("text").contains("share a rank"),
        "{}",
        plain("text")
    );
    assert!(plain("csv").starts_with("image_path,score,interval_low"));
    let page = plain("html");
    assert!(page.starts_with("<!doctype html>") && page.matches("data:image/jpeg;base64,").count() == 5);
    assert!(!page.contains("src=\"http"), "the page needs nothing else");
}

#[test]
fn what_cannot_be_ranked_is_refused_with_advice() {
    let (home, photos) = folder();
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    for (arguments, expected) in [
        (vec!["rank", &text(&empty)], "there is no image there"),
        (vec!["rank", &text(&photos), "--by", "sharpnes"], "no tool is called"),
        (vec!["rank", &text(&photos), "--by", "SSIM"], "compares with a reference"),
        (vec!["rank", &text(&photos), "--top", "0%"], "neither a number"),
        (vec!["cull", &text(&photos.join("osprey.jpg"))], "this is not a folder"),
        (vec!["cull", &text(&photos), "--apply"], "there is nothing to write"),
        (vec!["cull", &text(&photos), "--undo"], "nothing to undo"),
    ] {
        let output = run(home.path(), &arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_folder_is_culled_written_and_put_back() {
    let (home, photos) = folder();
    fs::remove_file(photos.join("broken.jpg")).unwrap();
    let tree = || -> Vec<(PathBuf, Vec<u8>)> {
        let all = [photos.clone(), photos.join("deep")].into_iter().flat_map(|folder| fs::read_dir(folder).unwrap());
        let files = all.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let mut files: Vec<_> = files.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        files.sort();
        files
    };
    let before = tree();
    let (rejects, keepers) = (home.path().join("rejects"), home.path().join("keepers"));
    let (rejects_name, keepers_name, photos_name) = (text(&rejects), text(&keepers), text(&photos));
    let mut arguments = vec!["cull", &photos_name, "--format", "json"];
    arguments.extend(["--xmp", "--move-rejects", &rejects_name, "--link-keepers", &keepers_name]);
    let dry = run(home.path(), &arguments);
    assert_eq!(code(&dry), 0, "{}", stderr(&dry));
    assert!(stderr(&dry).contains("this was a dry run"), "{}", stderr(&dry));
    assert_eq!((tree(), rejects.exists(), keepers.exists()), (before.clone(), false, false));
    let culled = rows(&dry);
    let fields: Vec<&String> = culled[0].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["image_path", "group", "decision", "score", "reason"]);
    let blurred = of(&culled, "osprey-blurred.jpg");
    assert_eq!((&blurred["decision"], &of(&culled, "landscape.jpg")["decision"]), (&"reject".into(), &"keep".into()));
    assert_eq!(of(&culled, "/osprey.jpg")["group"], blurred["group"]);
    let copies = [of(&culled, "/osprey.jpg"), of(&culled, "file.jpg")].map(|row| row["decision"].as_str().unwrap());
    assert!(copies.contains(&"keep") && copies.contains(&"reject"), "{culled:?}");
    assert!(blurred["reason"].as_str().unwrap().contains("against"), "{blurred}");

    arguments.push("--apply");
    let done = run(home.path(), &arguments);
    assert_eq!((code(&done), rows(&done)), (0, culled), "{}", stderr(&done));
    let moved = rejects.join("osprey-blurred.jpg");
    assert_eq!(fs::read(&moved).unwrap(), fs::read(example("osprey-blurred.jpg")).unwrap());
    assert!(fs::read_to_string(moved.with_extension("xmp")).unwrap().contains("xmp:Rating=\"-1\""));
    assert!(fs::read_to_string(photos.join("landscape.xmp")).unwrap().contains("xmp:Label=\"Green\""));
    assert_eq!(fs::read(keepers.join("landscape.jpg")).unwrap(), fs::read(example("regions/landscape.jpg")).unwrap());
    let undone = run(home.path(), &["cull", &photos_name, "--undo"]);
    assert_eq!(code(&undone), 0, "{}", stderr(&undone));
    assert_eq!((tree(), rejects.exists(), keepers.exists()), (before, false, false));
}
