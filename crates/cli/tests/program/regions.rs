//! `regions`: formats, names, overlay.

use serde_json::Value;

use crate::support::*;

fn text(path: &std::path::Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn found(arguments: &[&str]) -> Vec<Value> {
    let output = agenticiqa(&[&["regions", "--format", "json"], arguments].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn json_lines_have_the_fields_of_the_contract() {
    let image = text(&example("regions/landscape.jpg"));
    let sky = found(&[&image, "--name", "the sky", "--name", "the chandelier"]);
    let mut fields: Vec<&String> = sky[0].as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(fields, ["height", "name", "origin", "probability", "width", "x", "y"]);
    assert_eq!((&sky[0]["name"], &sky[0]["origin"]), (&"the sky".into(), &"position".into()));
    assert_eq!((&sky[1]["origin"], &sky[1]["width"]), (&"whole image".into(), &640.into()));
    assert!(found(&[&image]).iter().any(|region| region["name"] == "sky"));
}

#[test]
fn the_overlay_is_written_and_never_replaces_the_image() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("photo.jpg");
    std::fs::copy(example("regions/landscape.jpg"), &image).unwrap();
    let overlay = folder.path().join("found.png");
    let output = agenticiqa(&["regions", &text(&image), "--overlay", &text(&overlay)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("sky"));
    assert!(std::fs::read(&overlay).unwrap().starts_with(b"\x89PNG"));
    let refused = agenticiqa(&["regions", &text(&image), "--overlay", &text(&image)]);
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("would replace the image"));
}

#[test]
fn bad_files_and_empty_names_are_refused() {
    let image = text(&example("osprey.jpg"));
    for (arguments, expected) in
        [(["regions", "no-such.jpg", "--name", "sky"], "no-such.jpg"), (["regions", &image, "--name", " "], "text")]
    {
        let output = agenticiqa(&arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

/// A file that says "turn me by 90 degrees" has its boxes in the upright image.
#[test]
fn boxes_of_a_rotated_file_are_those_of_the_upright_image() {
    let folder = tempfile::tempdir().unwrap();
    let rotated = folder.path().join("rotated.jpg");
    let stored = std::fs::read(example("regions/landscape.jpg")).unwrap();
    // Exif with one entry: the orientation 6.
    let exif = b"\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00";
    std::fs::write(&rotated, [&stored[..2], exif, &stored[2..]].concat()).unwrap();
    let boxes = found(&[&text(&rotated), "--name", "bottom", "--name", "the chandelier"]);
    assert_eq!([&boxes[0]["width"], &boxes[0]["y"], &boxes[0]["height"]], [360, 426, 214]);
    assert_eq!([&boxes[1]["width"], &boxes[1]["height"]], [360, 640]);
}
