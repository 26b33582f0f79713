//! A synthetic TID2013 through `dataset prepare`, `batch`, `eval` and `report`.

use std::fs;
use std::path::{Path, PathBuf};

use agenticiqa::imaging::Decoder;
use agenticiqa::metrics::Image;
use agenticiqa_distort::{Kind, distort};
use base64::Engine as _;
use serde_json::{Value, json};

use crate::support::*;

/// Distortions of the synthetic dataset: numbers of TID2013, and our kinds.
const DISTORTIONS: [(u32, Kind); 3] = [(1, Kind::WhiteNoise), (8, Kind::GaussianBlur), (10, Kind::Jpeg)];
const LEVELS: [u8; 3] = [1, 3, 5];
/// A name that injects a script if the page does not escape it.
const HOSTILE: &str = "<script>alert(\"1\")</script>'|`*";

fn scene(number: u32) -> Image {
    let (width, height) = (128_u32, 96_u32);
    let pixel = |x: u32, y: u32| {
        let wave = 90.0
            + 60.0 * (f64::from(x * (number + 1)) / 19.0).sin()
            + 40.0 * (f64::from(y) / (5.0 + f64::from(number))).cos();
        let patch = if (x / 24 + y / 17 + number).is_multiple_of(3) { 35.0 } else { 0.0 };
        [wave + patch, 0.6 * wave + 50.0, 200.0 - 0.7 * wave - patch].map(|value: f64| value.clamp(0.0, 255.0) as u8)
    };
    let samples = (0..height).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y))).collect();
    Image::from_rgb8(width as usize, height as usize, samples).unwrap()
}

fn write_picture(path: &Path, image: &Image) {
    let planes = [0, 1, 2].map(|channel| image.channel(channel));
    let pixel = |x: u32, y: u32| planes.each_ref().map(|plane| plane.at(x as usize, y as usize) as u8);
    write_bmp(path, image.width() as u32, image.height() as u32, pixel);
}

/// A folder with the dataset in its published layout.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        let root = desk.path("tid2013");
        fs::create_dir_all(root.join("distorted_images")).unwrap();
        fs::create_dir_all(root.join("reference_images")).unwrap();
        let (mut opinions, mut deviations) = (String::new(), String::new());
        for reference in 1..=4_u32 {
            let clean = scene(reference);
            write_picture(&root.join(format!("reference_images/I{reference:02}.BMP")), &clean);
            for (number, kind) in DISTORTIONS {
                for level in LEVELS {
                    let name = format!("i{reference:02}_{number:02}_{level}.bmp");
                    let damaged = distort(&clean, kind, level, u64::from(reference)).unwrap();
                    write_picture(&root.join("distorted_images").join(&name), &damaged);
                    let opinion = 7.5 - 1.1 * f64::from(level) + 0.07 * f64::from(reference) - 0.02 * f64::from(number);
                    opinions += &format!("{opinion:.5} {name}\n");
                    deviations += "0.5\n";
                }
            }
        }
        fs::write(root.join("mos_with_names.txt"), opinions).unwrap();
        fs::write(root.join("mos_std.txt"), deviations).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// The records of all samples, of one with a hostile name, and of two with missing images.
    fn records(&self) -> String {
        let (root, manifest, records) = (self.text("tid2013"), self.text("tid2013.jsonl"), self.text("records.jsonl"));
        let output = agenticiqa(&["dataset", "prepare", "TID2013", "--root", &root, "--output", &manifest]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let mut lines = fs::read_to_string(&manifest).unwrap();
        let mut hostile: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        hostile["sample_id"] = HOSTILE.into();
        hostile["query"] = "</style><img src=x onerror=alert(1)> Rate the quality.".into();
        // The lowest opinion for an image with little noise: far from its score.
        hostile["mos"] = json!(0.1);
        lines += &format!("{hostile}\n");
        for number in 1..=2 {
            let missing = json!({"sample_id": format!("missing-{number}"), "query": "Rate it.", "image_path": "/nowhere/a.png", "mos": 3.0, "mos_range": [0, 9]});
            lines += &format!("{missing}\n");
        }
        fs::write(&manifest, lines).unwrap();
        let output = agenticiqa(&["batch", "--input", &manifest, "--output", &records]);
        assert_eq!(code(&output), 1, "two samples have no image: {}", stderr(&output));
        records
    }

    fn report(&self, arguments: &[&str]) -> (String, String, std::process::Output) {
        let folder = self.text("report");
        let output = agenticiqa(&[&["report", "--output", &folder], arguments].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let read = |name: &str| fs::read_to_string(self.path("report").join(name)).unwrap();
        (read("report.html"), read("report.md"), output)
    }
}

/// Returns all values of an attribute.
fn attribute<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    html.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// Checks that all tags are closed in order, and returns their names.
fn parse(html: &str) -> Vec<&str> {
    const VOID: [&str; 4] = ["meta", "img", "br", "hr"];
    let (mut open, mut seen, mut rest) = (Vec::new(), Vec::new(), html.trim_start());
    rest = rest.strip_prefix("<!doctype html>").unwrap();
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let tag = rest.split('>').next().unwrap();
        rest = &rest[tag.len() + 1..];
        let name = tag.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap();
        assert!(!name.is_empty(), "a stray < before {:?}", &tag[..tag.len().min(60)]);
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes another tag");
            continue;
        }
        seen.push(name);
        if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
        if ["script", "style"].contains(&name) {
            rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    seen
}

/// Checks that the page loads nothing, runs only its own script, and that every image can be
/// decoded.
fn assert_self_contained(html: &str) -> usize {
    for scheme in ["http:", "https:", "//", "@import", "url("] {
        let outside = html.replace("alert(1)", "");
        let text: String = outside.lines().filter(|line| !line.starts_with("//")).collect();
        let images =
            text.split("data:image/jpeg;base64,").map(|part| part.split_once('"').map_or(part, |(_, rest)| rest));
        assert!(!images.collect::<String>().contains(scheme), "{scheme}");
    }
    assert!(attribute(html, "href").iter().all(|address| address.starts_with('#')));
    let tags = parse(html);
    assert_eq!(tags.iter().filter(|tag| **tag == "script").count(), 1);
    assert!(!tags.iter().any(|tag| ["link", "iframe", "object", "embed", "base"].contains(tag)));
    let pictures: Vec<&str> = attribute(html, "src");
    for picture in &pictures {
        let data = picture.strip_prefix("data:image/jpeg;base64,").unwrap();
        let file = base64::engine::general_purpose::STANDARD.decode(data).unwrap();
        let shown = Decoder::default().decode(&file).unwrap().image;
        assert!(shown.width() >= 128 && shown.width() <= 480, "{}", shown.width());
    }
    for target in attribute(html, "href") {
        assert!(html.contains(&format!("id=\"{}\"", &target[1..])), "{target} leads nowhere");
    }
    pictures.len()
}

#[test]
fn from_a_dataset_to_a_report() {
    let desk = Desk::new();
    let records = desk.records();
    let arguments = ["eval", "correlation", &records, "--group-by", "metadata.distortion", "--format", "json"];
    let figures = rows(&agenticiqa(&arguments)).remove(0);
    let (html, markdown, output) = desk.report(&["--input", &records]);

    // The results of `eval`, next to those of the paper.
    let evaluated = &figures["evaluated"][0];
    let four = |value: &Value| format!("{:.4}", value.as_f64().unwrap());
    let mut told =
        vec!["0.9165".to_owned(), "AgenticIQA (GPT-4o), paper".to_owned(), "37 of 39 records used".to_owned()];
    for agreement in
        evaluated["groups"].as_array().unwrap().iter().map(|group| &group["agreement"]).chain([&evaluated["overall"]])
    {
        for name in ["srcc", "plcc", "krcc"] {
            let (value, ends) = (&agreement[name]["value"], &agreement[name]["interval"]);
            let ends = ["low", "high"].map(|end| format!("{:.3}", ends[end].as_f64().unwrap()));
            told.push(format!("{} [{}, {}]", four(value), ends[0], ends[1]));
        }
    }
    assert_eq!(told.len(), 3 + 4 * 3);
    for part in &told {
        assert!(html.contains(part), "{part} is not in the page");
        assert!(markdown.replace('\\', "").contains(part), "{part} is not in the Markdown");
    }
    assert!(stdout(&output).contains(&four(&evaluated["overall"]["srcc"]["value"])), "{}", stdout(&output));

    // Cases with images, references and maps; one is the sample with the wrong opinion.
    let pictures = assert_self_contained(&html);
    let cases = html.matches("<article class=\"case\"").count();
    assert!(cases >= 8 && pictures == 3 * cases, "{pictures} images of {cases} cases");
    assert!(html.contains("distortion map of SSIM") && html.contains("far from opinion"));
    assert!(html.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;") && !html.contains("<script>alert"));
    assert!(!html.contains("<img src=x") && !markdown.contains("<script>") && !markdown.contains("<img"));

    // Errors by kind.
    let failed = fs::read_to_string(&records).unwrap();
    let failed: Value = failed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .find(|record: &Value| record["sample_id"] == "missing-1")
        .unwrap();
    let kind = failed["metadata"]["error_type"].as_str().unwrap();
    for text in [&html, &markdown] {
        assert!(
            text.contains(kind) && text.contains("missing-1, missing-2") || text.contains("missing-2, missing-1"),
            "{kind}"
        );
    }
    assert!(stdout(&output).contains(&format!("2x {kind}")), "{}", stdout(&output));
}

#[test]
fn what_is_missing_or_broken_is_said_and_runs_are_compared() {
    let desk = Desk::new();
    let records = desk.records();
    let text = fs::read_to_string(&records).unwrap();
    let other = desk.text("other.jsonl");
    fs::write(&other, format!("{{\"sample_id\": \n{text}[1]\n{{\"sample_id\": \"no record\"}}\n")).unwrap();
    fs::remove_dir_all(desk.path("tid2013/distorted_images")).unwrap();
    let (html, markdown, output) =
        desk.report(&["-i", &records, "-i", &other, "--title", "A & <B>", "--cases", "1", "-g", "metadata.level"]);
    assert!(html.contains("<title>A &amp; &lt;B&gt;</title>") && markdown.starts_with("# A &amp; &lt;B&gt;\n"));
    assert!(html.contains("image cannot be shown") && markdown.contains("image cannot be shown"));
    assert!(html.contains("Comparison of runs") && html.contains("By metadata.level"));
    for part in ["it is not valid JSON", "it is not a JSON object", "it has no summarizer_result"] {
        assert!(html.contains(part), "{part}");
    }
    assert!(
        stderr(&output).contains("skipped 3 lines that cannot be read as a record, e.g. line 1"),
        "{}",
        stderr(&output)
    );
    let lines = text.lines().count() + 1;
    assert!(markdown.contains(&format!("| {} | it is not a JSON object |", lines + 1)), "{markdown}");

    let (small, ..) = desk.report(&["-i", &records, "--no-pictures", "--resamples", "0"]);
    assert_eq!(assert_self_contained(&small), 0);
    assert!(small.len() < html.len() && !small.contains("cannot be shown"));
}

#[test]
fn files_without_records_are_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    let (input, report) = (path.to_str().unwrap(), folder.path().join("report"));
    let refused = |content: &str, reason: &str| {
        fs::write(&path, content).unwrap();
        let output = agenticiqa(&["report", "--input", input, "--output", report.to_str().unwrap()]);
        assert_eq!(code(&output), 2, "{}", stdout(&output));
        assert!(stderr(&output).contains(reason), "{} does not say {reason:?}", stderr(&output));
        assert!(!report.exists());
    };
    refused("", "the file is empty");
    refused("\n\n", "is empty");
    refused("not json\n", "line 1: it is not valid JSON");
    refused("{\"sample_id\": \"a\", \"image_path\": \"a.png\"}\n", "line 1: it is not an assessment record");
    refused("PAR1\u{0}\u{1}", "no assessment records");
    let output = agenticiqa(&["report", "--input", "/nowhere.jsonl", "--output", report.to_str().unwrap()]);
    assert_eq!((code(&output), stderr(&output).contains("/nowhere.jsonl: No such file")), (2, true));
    let output = agenticiqa(&["report", "--input", input, "--output", input]);
    assert_eq!((code(&output), stderr(&output).contains("--output is a file, not a folder")), (2, true));
    assert_eq!(code(&agenticiqa(&["report", "--output", "x"])), 2);
}
