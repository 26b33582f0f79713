use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::Pair;

use super::*;

fn line(run: &[&str]) -> CommandLine {
    CommandLine { run: run.iter().map(|word| (*word).to_owned()).collect(), timeout: 20.0 }
}

fn picture() -> Image {
    Image::from_gray16(4, 3, (0..12).map(|i| i * 5000).collect()).unwrap()
}

#[cfg(unix)]
fn measure(script: &str) -> Result<f64, String> {
    let engine = CommandEngine { line: line(&["sh", "-c", script, "sh", "{image}"]) };
    let image = picture();
    let measured = engine.measure(&ToolInput::new(Pair::single(&image)));
    measured.map(|measurement| measurement.score).map_err(|failure| failure.message().to_owned())
}

#[test]
fn command_lines_are_checked() {
    let reason = |run: &[&str], kind| line(run).check(kind).unwrap_err().to_string();
    let (nr, fr) = (ToolType::NoReference, ToolType::FullReference);
    assert!(reason(&[], nr).starts_with("command.run must name a program"));
    assert!(reason(&[" ", "{image}"], nr).contains("must begin with the name of a program"));
    assert!(reason(&["score", "picture"], nr).contains("must have {image}"));
    assert!(reason(&["{image}"], nr).contains("must have {image}"));
    assert!(reason(&["score", "{image}"], fr).contains("must have {reference}"));
    assert!(reason(&["score", "{image}", "{reference}"], nr).contains("must not have {reference}"));
    assert!(line(&["score", "--in={image}"]).check(nr).is_ok());
    for timeout in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        let flaw = CommandLine { timeout, ..line(&["score", "{image}"]) }.check(nr).unwrap_err();
        assert_eq!(flaw.field, "command.timeout", "{timeout}");
    }
}

#[test]
fn placeholders_stand_anywhere_and_files_are_never_options() {
    let (image, reference) = (Path::new("-a b.png"), Path::new("/r {image}.png"));
    let filled = |argument| fill(argument, image, Some(reference)).into_string().unwrap();
    assert_eq!(filled("{image}"), "./-a b.png");
    assert_eq!(filled("--pair={image},{reference}!"), "--pair=-a b.png,/r {image}.png!");
    assert_eq!(filled("{other} {}"), "{other} {}");
}

#[cfg(unix)]
#[test]
fn the_last_line_is_the_score_as_a_number_or_as_json() {
    assert_eq!(measure("echo loading; echo 12.5; echo"), Ok(12.5));
    assert_eq!(measure("echo '{\"score\": -3e-1, \"unit\": 1}'"), Ok(-0.3));
}

#[cfg(unix)]
#[test]
fn what_goes_wrong_is_said() {
    let no_number = |script: &str| measure(script).unwrap_err();
    assert_eq!(no_number("echo broken >&2; exit 4"), "sh ended with exit code 4: broken");
    assert_eq!(no_number("kill -9 $$"), "sh ended with a signal");
    assert_eq!(no_number("echo why >&2"), "sh printed nothing: why");
    assert_eq!(no_number("echo good"), "sh printed no number but \"good\"");
    assert_eq!(no_number("echo nan"), "sh printed no number but \"nan\"");
    assert_eq!(no_number("echo inf"), "sh printed no number but \"inf\"");
    assert_eq!(no_number("echo '{\"score\": \"good\"}'"), "sh printed no number but \"{\\\"score\\\": \\\"good\\\"}\"");
    assert!(no_number("yes").contains("more than 16 MB"));
    let slow = CommandLine { timeout: 0.2, ..line(&["sh", "-c", "sleep 30", "{image}"]) };
    let image = picture();
    let failure = CommandEngine { line: slow }.measure(&ToolInput::new(Pair::single(&image))).unwrap_err();
    assert_eq!(failure.message(), "sh was stopped after 0.2 s; command.timeout allows more");
}

#[test]
fn a_missing_program_is_told_before_it_is_run() {
    let engine = CommandEngine { line: line(&["no-such-program-7", "{image}"]) };
    let reason = "the program no-such-program-7 was not found: check command.run of its entry, or install the program";
    assert_eq!(engine.availability().reason(), Some(reason));
    let image = picture();
    assert_eq!(engine.measure(&ToolInput::new(Pair::single(&image))).unwrap_err().message(), reason);
}

#[cfg(unix)]
#[test]
fn pixels_without_a_file_are_handed_over_bit_by_bit_and_taken_away_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, seen) = (folder.path().join("kept.png"), folder.path().join("seen"));
    let script = format!("cp \"$1\" {}; echo \"$1\" > {}; echo 1", kept.display(), seen.display());
    assert_eq!(measure(&script), Ok(1.0));
    let back = Decoder::default().open(&kept).unwrap();
    assert_eq!(back.image.samples(), picture().samples());
    assert!(!Path::new(std::fs::read_to_string(seen).unwrap().trim()).exists());
}

#[cfg(unix)]
#[test]
fn a_file_is_handed_over_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("the picture.png");
    std::fs::write(&file, encode_png_exact(&picture()).unwrap()).unwrap();
    let image = picture();
    let engine = CommandEngine {
        line: line(&["sh", "-c", "[ \"$1\" = \"$2\" ] && echo 2", "sh", "{image}", file.to_str().unwrap()]),
    };
    let input = ToolInput::new(Pair::single(&image)).with_files(Some(&file), None);
    assert_eq!(engine.measure(&input).unwrap().score, 2.0);
}

#[test]
fn another_edition_of_the_program_is_another_tool() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("score");
    std::fs::write(&program, "one").unwrap();
    let engine = CommandEngine { line: line(&[program.to_str().unwrap(), "{image}"]) };
    let before = engine.fingerprint();
    assert_eq!(before, engine.fingerprint());
    std::fs::write(&program, "another").unwrap();
    assert_ne!(before, engine.fingerprint());
}
