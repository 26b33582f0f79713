//! `score`: formats, tools, regions, maps.

use crate::support::*;

fn text(path: &std::path::Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn json_rows_have_the_fields_of_the_contract_in_order() {
    let (image, reference) = (text(&example("osprey-compressed.jpg")), text(&example("osprey.jpg")));
    let output = agenticiqa(&[
        "score",
        &image,
        "--reference",
        &reference,
        "--tool",
        "ssim",
        "--tool",
        "gmsd",
        "--format",
        "json",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let first = stdout(&output).lines().next().unwrap().to_owned();
    let mut position = 0;
    for field in [
        "image_path",
        "reference_path",
        "region",
        "tool",
        "type",
        "lower_is_better",
        "raw_score",
        "normalized_score",
        "execution_time",
        "error",
    ] {
        let found = first.find(&format!("\"{field}\":")).unwrap_or_else(|| panic!("{field} is missing in {first}"));
        assert!(found >= position, "{field} is out of order");
        position = found;
    }
    let rows = rows(&output);
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&rows[0]["tool"], &rows[0]["type"], &rows[0]["lower_is_better"]),
        (&"SSIM".into(), &"FR".into(), &false.into())
    );
    assert_eq!((&rows[1]["tool"], &rows[1]["lower_is_better"]), (&"GMSD".into(), &true.into()));
    for row in &rows {
        assert_eq!(row["image_path"], image.as_str());
        assert_eq!(row["reference_path"], reference.as_str());
        assert!((1.0..=5.0).contains(&row["normalized_score"].as_f64().unwrap()));
        assert!(row["execution_time"].as_f64().unwrap() > 0.0);
        assert!(row["error"].is_null() && row["region"].is_null());
    }
}

#[test]
fn identical_pictures_get_the_perfect_score_of_every_full_reference_tool() {
    let picture = text(&example("osprey.jpg"));
    let output = agenticiqa(&["score", &picture, "-r", &picture, "--all", "--format", "csv"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let mut compared = 0;
    for line in stdout(&output).lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[4] != "FR" {
            continue;
        }
        let score: f64 = fields[6].parse().unwrap();
        let perfect = match fields[3] {
            "PSNR" | "PSNR-Y" => f64::INFINITY,
            "SSIMULACRA2" => 100.0,
            "Fused-FR" => 5.0,
            _ if fields[5] == "true" => 0.0,
            _ => 1.0,
        };
        assert!(score == perfect || (score - perfect).abs() < 1e-5, "{}: {score}", fields[3]);
        compared += 1;
    }
    assert!(compared >= 12, "only {compared} tools ran");
}

#[test]
fn infinity_is_a_json_number() {
    let picture = text(&example("osprey.jpg"));
    let output = agenticiqa(&["score", &picture, "-r", &picture, "-t", "PSNR", "--format", "json"]);
    assert!(stdout(&output).contains("\"raw_score\":1e999,\"normalized_score\":5.0"), "{}", stdout(&output));
}

#[test]
fn a_picture_alone_gets_the_default_tools_as_a_table() {
    let output = agenticiqa(&["score", &text(&example("osprey-blurred.jpg"))]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    for tool in ["BRISQUE", "NIQE", "PIQE", "Noise", "Blur"] {
        assert!(stdout(&output).contains(tool), "{tool} is missing");
    }
}

#[test]
fn csv_has_a_header_and_a_line_for_each_picture_and_tool() {
    let (sharp, blurred) = (text(&example("osprey.jpg")), text(&example("osprey-blurred.jpg")));
    let output = agenticiqa(&["score", &sharp, &blurred, "-t", "BRISQUE", "-t", "Blur", "--format", "csv"]);
    let lines: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[0].starts_with("image_path,reference_path,region,tool,type"));
    let blur = |line: &str| line.split(',').nth(6).unwrap().parse::<f64>().unwrap();
    assert!(blur(&lines[4]) > blur(&lines[2]), "the blurred image has wider edges");
}

#[test]
fn regions_are_scored_on_their_own_pixels() {
    let (image, reference) = (text(&example("osprey-compressed.jpg")), text(&example("osprey.jpg")));
    let arguments = ["score", &image, "-r", &reference, "-t", "PSNR", "--format", "json"];
    let with = |regions: &[&str]| agenticiqa(&[&arguments[..], regions].concat());
    let output = with(&["--region", "head=250,90,90,80", "--region", "all=0,0,768,512"]);
    let rows = rows(&output);
    assert_eq!((&rows[0]["region"], &rows[1]["region"]), (&"head".into(), &"all".into()));
    assert_ne!(rows[0]["raw_score"], rows[1]["raw_score"]);
    assert_eq!(rows[1]["raw_score"], self::rows(&with(&[]))[0]["raw_score"]);

    let beyond = with(&["--region", "sky=700,0,100,100"]);
    assert_eq!(code(&beyond), 2);
    assert!(stderr(&beyond).contains("sky"), "{}", stderr(&beyond));
    assert_eq!(code(&with(&["--region", "sky=700,0"])), 2);
}

#[test]
fn maps_are_written_as_png_and_named_after_picture_and_tool() {
    let folder = tempfile::tempdir().unwrap();
    let (image, reference) = (text(&example("osprey-compressed.jpg")), text(&example("osprey.jpg")));
    let maps = text(&folder.path().join("new"));
    let output = agenticiqa(&[
        "score", &image, "-r", &reference, "-t", "SSIM", "-t", "Noise", "--map", &maps, "--format", "json",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    for (row, name) in rows(&output).iter().zip(["osprey-compressed-SSIM.png", "osprey-compressed-Noise.png"]) {
        let path = folder.path().join("new").join(name);
        assert_eq!(row["map_path"], text(&path).as_str());
        assert!(std::fs::read(&path).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn the_score_does_not_depend_on_threads() {
    let (image, reference) = (text(&example("osprey-compressed.jpg")), text(&example("osprey.jpg")));
    let scores = |threads: &str| {
        let output = agenticiqa(&["--threads", threads, "score", &image, "-r", &reference, "--all", "--format", "csv"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let column = |line: &str| line.split(',').skip(3).take(5).collect::<Vec<_>>().join(",");
        stdout(&output).lines().map(column).collect::<Vec<_>>()
    };
    let one = scores("1");
    assert!(one.len() > 30, "a line for each tool: {one:?}");
    assert_eq!(one, scores("3"));
}

#[test]
fn a_tool_that_knows_its_interval_gives_it_in_every_format() {
    let (image, reference) = (text(&example("osprey-compressed.jpg")), text(&example("osprey.jpg")));
    let scored = |format: &str| {
        let tools = ["-t", "Fused-FR", "-t", "SSIM", "--format", format];
        agenticiqa(&[&["score", &image, "-r", &reference][..], &tools].concat())
    };
    let rows = rows(&scored("json"));
    let ends: Vec<f64> = rows[0]["interval"].as_array().unwrap().iter().map(|end| end.as_f64().unwrap()).collect();
    let score = rows[0]["normalized_score"].as_f64().unwrap();
    assert!(1.0 <= ends[0] && ends[0] < score && score < ends[1] && ends[1] <= 5.0, "{}", rows[0]);
    assert!(rows[1].get("interval").is_none(), "SSIM knows no interval");
    let csv: Vec<Vec<String>> =
        stdout(&scored("csv")).lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    assert_eq!(csv[0][10..], ["interval_low", "interval_high"]);
    assert_eq!(csv[1][10..], [ends[0].to_string(), ends[1].to_string()]);
    assert_eq!(csv[2][10..], ["", ""]);
    let written = format!("{score:.2} ({:.1}–{:.1})", ends[0], ends[1]);
    assert!(stdout(&scored("text")).contains(&written), "{written} is not in {}", stdout(&scored("text")));
}
