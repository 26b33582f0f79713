use super::*;

fn case(name: &str, score: Option<f64>) -> Case {
    Case { name: name.to_owned(), score, error: None, seconds: 0.25 }
}

fn file(lines: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    (folder, path)
}

const RECORD: &str = r#"{"sample_id":"a","image_path":"a.png","summarizer_result":{"quality_score":4.0},
    "metadata":{"final_status":"success","error_details":null,"execution_time_ms":1500}}"#;
const FAILED: &str = r#"{"sample_id":"b","summarizer_result":null,
    "metadata":{"final_status":"error","error_details":["line 2: gone"],"execution_time_ms":0}}"#;
const ROW: &str =
    r#"{"image_path":"a.png","region":"face","tool":"SSIM","normalized_score":3.5,"error":null,"execution_time":0.01}"#;
const MEASUREMENT: &str =
    r#"{"image_path":"a.png","region":null,"tool":"Noise","normalized_score":null,"error":null,"execution_time":0.01}"#;

#[test]
fn limits_and_drops_are_told_apart_and_both_told() {
    let (_folder, path) = file(&[&RECORD.replace('\n', "")]);
    let gate = Gate::open().fail_under(3.0).unwrap().against(Baseline::read(&path).unwrap(), 0.1).unwrap();
    assert_eq!(gate.violations(&case("a", Some(3.9))), [], "a drop of exactly 0.1 is allowed");
    assert_eq!(gate.violations(&case("a", Some(3.89))), [Violation::Dropped { before: 4.0, score: 3.89 }]);
    assert_eq!(gate.violations(&case("a", Some(4.9))), []);
    assert_eq!(gate.violations(&case("new", Some(3.0))), []);
    let both = gate.violations(&case("a", Some(2.0)));
    assert_eq!(
        both.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["2.00 is below 3", "dropped by 2.00, from 4.00 to 2.00"]
    );
    let cases = [case("a", Some(2.0)), case("new", Some(4.0)), case("none", None)];
    let verdict = gate.check(cases.into_iter().map(Ok)).unwrap();
    assert_eq!((verdict.cases, verdict.failures, verdict.compared, verdict.missing, verdict.unscored), (3, 1, 1, 0, 1));
    assert_eq!(verdict.shown[0].0, "a");
}

#[test]
fn records_and_rows_are_read() {
    let (_folder, path) = file(&[&RECORD.replace('\n', ""), &FAILED.replace('\n', ""), "", ROW, MEASUREMENT]);
    let read: Vec<Case> = cases(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(read.len(), 3);
    assert_eq!((read[0].score, read[0].seconds), (Some(4.0), 1.5));
    assert_eq!((read[1].score, read[1].error.as_deref()), (None, Some("line 2: gone")));
    assert_eq!((read[2].name.as_str(), read[2].score), ("a.png face SSIM", Some(3.5)));
}

#[test]
fn what_cannot_be_read_is_named() {
    let (_folder, path) = file(&[ROW, "{\"x\": 1}"]);
    let error = Baseline::read(&path).unwrap_err().to_string();
    assert!(error.contains("scores.jsonl, line 2: neither an assessment record nor"), "{error}");
    let (_folder, path) = file(&[MEASUREMENT]);
    assert!(Baseline::read(&path).unwrap_err().to_string().contains("there is no score in it"));
    assert!(Gate::open().fail_under(0.5).is_err() && Gate::open().fail_under(f64::NAN).is_err());
    assert!(Gate::open().against(Baseline::default(), -0.1).is_err());
}

#[test]
fn junit_counts_and_escapes() {
    let gate = Gate::open().fail_under(3.0).unwrap();
    let failed = Case { error: Some("no \"file\" <here>\u{1}".into()), ..case("b & c", None) };
    let cases = [case("a", Some(4.0)), failed, case("d", Some(2.5)), case("e", None)];
    let verdict = gate.check(cases.iter().cloned().map(Ok)).unwrap();
    let mut out = Vec::new();
    write_junit(&mut out, "agenticiqa batch", &gate, &verdict, cases.into_iter().map(Ok)).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"1.000\""), "{text}");
    assert!(text.contains("name=\"a\" time=\"0.250\"/>"), "{text}");
    assert!(text.contains("name=\"b &amp; c\"") && text.contains("no &quot;file&quot; &lt;here&gt;\u{fffd}"), "{text}");
    assert!(text.contains("<failure type=\"BelowLimit\" message=\"2.50 is below 3\"/>"), "{text}");
    assert_eq!(text.matches("<testcase ").count(), text.matches("</testcase>").count() + 1);
}
