//! What other programs read from the sidecars that are written.

use std::path::Path;
use std::process::Command;

use agenticiqa_photos::sidecar::{Mark, create, merge};

/// Runs a program that `scripts/fetch-exif-tools` installs.
fn run(program: &str, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(arguments).arg(file).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}; run scripts/fetch-exif-tools"));
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn read_by_both(file: &Path, rating: &str, words: &str) {
    let seen = run("exiftool", &["-s3", "-XMP-xmp:Rating", "-XMP-xmp:Label", "-XMP-dc:Description"], file);
    assert_eq!(seen, format!("{rating}\nGreen\n{words}\n"));
    let seen = run("exiv2", &["-q", "-PXkt", "pr"], file);
    let field =
        |key: &str| seen.lines().find(|line| line.starts_with(key)).map(|line| line[key.len()..].trim().to_owned());
    assert_eq!(field("Xmp.xmp.Rating").as_deref(), Some(rating), "{seen}");
    assert_eq!(field("Xmp.xmp.Label").as_deref(), Some("Green"), "{seen}");
    assert!(field("Xmp.dc.description").is_some_and(|text| text.ends_with(words)), "{seen}");
}

#[test]
fn exiftool_and_exiv2_read_new_and_merged_sidecars() {
    let folder = tempfile::tempdir().unwrap();
    let mark = |rating| Mark { rating, label: "Green".into(), description: "sharper <bird> & \"sky\" 清晰".into() };
    for rating in [-1, 3, 5] {
        let file = folder.path().join(format!("new{rating}.xmp"));
        std::fs::write(&file, create(&mark(rating))).unwrap();
        read_by_both(&file, &rating.to_string(), &mark(rating).description);
    }
    // A sidecar that exiftool wrote, with fields of other programs.
    let file = folder.path().join("theirs.xmp");
    run("exiftool", &["-q", "-XMP-dc:Subject=bird", "-XMP-photoshop:City=Oslo", "-XMP-xmp:Rating=0", "-o"], &file);
    let theirs = std::fs::read(&file).unwrap();
    let merged = merge(&theirs, &mark(4)).unwrap();
    std::fs::write(&file, &merged.content).unwrap();
    read_by_both(&file, "4", &mark(4).description);
    let others = run("exiftool", &["-s3", "-XMP-dc:Subject", "-XMP-photoshop:City"], &file);
    assert_eq!(others, "bird\nOslo\n");
}
