//! Bad input: one error that names the file and the reason, exit code 2; the other images are still
//! scored.

use std::fs;
use std::path::Path;

use crate::support::*;

/// Scores a bad image and a good one: the bad one gets one error line, the good one a score.
fn refused(bad: &Path, arguments: &[&str], reason: &str) {
    let good = example("osprey.jpg");
    let (bad, good) = (bad.to_str().unwrap(), good.to_str().unwrap());
    let output = agenticiqa(&[&["score", bad, good, "--format", "json", "-t", "Brightness"], arguments].concat());
    assert_eq!(code(&output), 2, "{bad}: {}", stdout(&output));
    let text = stderr(&output);
    let (advice, errors): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("  help: "));
    assert!(errors.len() == 1 && advice.len() <= 1, "{text}");
    assert!(errors[0].contains(bad) && text.contains(reason), "{text} does not say {reason:?}");
    assert!(rows(&output).iter().filter(|row| row["image_path"] == good).all(|row| row["raw_score"].is_number()));
    let failed: Vec<_> = rows(&output).into_iter().filter(|row| row["image_path"] == bad).collect();
    assert!(failed.iter().any(|row| row["raw_score"].is_null() && row["error"].is_string()));
}

#[test]
fn files_that_are_no_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    refused(&file("empty.png", b""), &[], "empty");
    refused(&file("renamed.jpg", b"Dear reader, this is a letter.\n"), &[], "text");
    let jpeg = fs::read(example("osprey.jpg")).unwrap();
    refused(&file("truncated.jpg", &jpeg[..jpeg.len() / 2]), &[], "truncated");
    refused(&file("zero.bmp", &bmp_header(0, 0, 0)), &[], "");
    refused(&folder.path().join("absent.png"), &[], "");
    refused(folder.path(), &[], "directory");
}

/// The AV1 decoder panics on some damaged files; the user must not see that.
#[test]
fn a_damaged_avif_is_one_line_on_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let good = concat!(env!("CARGO_MANIFEST_DIR"), "/../imaging/tests/data/444.avif");
    let mut bytes = fs::read(good).unwrap();
    let data = bytes.windows(4).position(|name| name == b"mdat").unwrap() + 4;
    bytes[data + 22] = 255;
    let bad = folder.path().join("bad.avif");
    fs::write(&bad, bytes).unwrap();
    refused(&bad, &[], "the AVIF data is damaged: the decoder cannot make sense of it");
}

#[test]
fn pictures_beyond_the_cap_are_refused_before_they_are_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let bomb = folder.path().join("bomb.bmp");
    fs::write(&bomb, bmp_header(60_000, 60_000, 0)).unwrap();
    refused(&bomb, &[], "--max-pixels");
    let small = folder.path().join("small.bmp");
    write_bmp(&small, 800, 600, |_, _| [1, 2, 3]);
    refused(&small, &["--max-pixels", "400000"], "--max-pixels");
}

#[test]
fn pictures_too_small_for_a_tool_are_an_error_of_that_tool() {
    let folder = tempfile::tempdir().unwrap();
    let dot = folder.path().join("dot.bmp");
    write_bmp(&dot, 1, 1, |_, _| [9, 9, 9]);
    refused(&dot, &["-t", "NIQE"], "1x1");
    let ribbon = folder.path().join("ribbon.bmp");
    write_bmp(&ribbon, 3, 60_000, |_, y| [y as u8, 0, 0]);
    refused(&ribbon, &["-t", "BRISQUE"], "3x60000");
}

#[test]
fn a_black_picture_never_gives_a_score_that_is_no_number() {
    let folder = tempfile::tempdir().unwrap();
    let black = folder.path().join("black.bmp");
    write_bmp(&black, 256, 256, |_, _| [0; 3]);
    let black = black.to_str().unwrap();
    let output = agenticiqa(&["score", black, "-r", black, "--all", "--format", "csv"]);
    for line in stdout(&output).lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let score: Option<f64> = fields[6].parse().ok();
        assert!(score.is_some_and(|score| !score.is_nan()) || !fields[9].is_empty(), "{line}");
    }
}

#[test]
fn a_reference_of_another_size_is_an_error_and_never_resized() {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small.bmp");
    write_bmp(&small, 64, 64, |x, y| [x as u8, y as u8, 0]);
    let (small, image) = (small.to_str().unwrap(), example("osprey.jpg"));
    let output = agenticiqa(&["score", image.to_str().unwrap(), "--reference", small, "--tool", "SSIM"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("the reference is 64x64 but the image is 768x512"), "{}", stderr(&output));
}

#[test]
fn bad_usage_says_what_to_do() {
    let picture = example("osprey.jpg");
    let picture = picture.to_str().unwrap();
    let says = |arguments: &[&str], advice: &str| {
        let output = agenticiqa(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(advice), "{}", stderr(&output));
    };
    says(&["score"], "<IMAGE>");
    says(&["score", picture, "--tool", "SSIM"], "--reference");
    says(&["score", picture, "--tool", "BRISK"], "did you mean BRISQUE?");
    says(&["score", picture, "--tool", "LPIPS", "-r", picture], "cannot run here");
    says(&["score", picture, "--tool", "ILNIQE"], "--model ILNIQE=PATH");
    says(&["score", picture, "--model", "ILNIQE=/nowhere.mat"], "/nowhere.mat");
    says(&["score", picture, "--model", "NIQE=/nowhere.mat"], "NIQE takes no model file");
    says(&["score", picture, "--reference", "/nowhere.png"], "/nowhere.png");
    says(&["score", picture, "--region", "a=1,1,5,5", "--region", "a=2,2,5,5"], "two regions");
}
