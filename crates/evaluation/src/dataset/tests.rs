//! Small imitations of every dataset in its published layout.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::testing::{Folder, Mat, mat, workbook};
use super::*;
use agenticiqa_agent::question;
use agenticiqa_agent::state::AnswerForm;

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

/// ID, image, reference and opinion of every sample.
fn rows(prepared: &Prepared) -> Vec<(&str, &str, Option<&str>, f64)> {
    let row = |sample| {
        let Sample { sample_id, image_path, reference_path, mos, .. }: &Sample = sample;
        (sample_id.as_str(), file_name(image_path), reference_path.as_deref().map(file_name), mos.unwrap())
    };
    prepared.samples.iter().map(row).collect()
}

#[test]
fn the_question_asks_for_a_score() {
    assert_eq!(question::answer_form(QUERY, &[], None), AnswerForm::Score);
}

#[test]
fn tid2013_finds_names_in_any_case() {
    let folder = Folder::new();
    folder
        .file("tid2013/mos_with_names.txt", "5.51429 I01_01_1.bmp\r\n3.20000 i01_10_5.bmp\n2.5 i25_24_3.bmp\n")
        .file("tid2013/mos_std.txt", "0.1\n0.2\n0.3\n")
        .pictures(&["tid2013/distorted_images/i01_01_1.bmp", "tid2013/distorted_images/I01_10_5.BMP"])
        .pictures(&["tid2013/distorted_images/i25_24_3.bmp", "tid2013/reference_images/I01.BMP"])
        .pictures(&["tid2013/reference_images/i25.bmp"]);
    let prepared = folder.prepare("tid-2013");
    assert_eq!(
        rows(&prepared),
        [
            ("tid2013_i01_01_1", "i01_01_1.bmp", Some("I01.BMP"), 5.51429),
            ("tid2013_i01_10_5", "I01_10_5.BMP", Some("I01.BMP"), 3.2),
            ("tid2013_i25_24_3", "i25_24_3.bmp", Some("i25.bmp"), 2.5),
        ]
    );
    let second = &prepared.samples[1];
    assert_eq!((second.mos_range, second.higher_is_better, second.mos_std), (Some([0.0, 9.0]), Some(true), Some(0.2)));
    assert_eq!(second.metadata["distortion"], "JPEG compression");
    assert_eq!((&second.metadata["distortion_type"], &second.metadata["level"]), (&json!(10), &json!(5)));
    assert_eq!(second.dataset.as_deref(), Some("TID2013"));
    assert_eq!(prepared.samples[0].split, second.split);
    assert!(Path::new(&second.image_path).is_absolute());
}

#[test]
fn bad_score_files_are_told_by_file_and_line() {
    let folder = Folder::new();
    assert!(folder.refused("TID2013").contains("no mos_with_names.txt in it: unpack tid2013.rar"));
    folder.file("mos_with_names.txt", "5.5 i01_01_1.bmp\nhigh i01_01_2.bmp\n");
    assert!(folder.refused("TID2013").ends_with("mos_with_names.txt, line 2: \"high\" is not a number"));
    folder.file("mos_with_names.txt", "5.5 i01_25_1.bmp\n");
    assert!(folder.refused("TID2013").contains("line 1: \"i01_25_1.bmp\" is not a name such as"));
    folder.file("dmos.csv", "image,score\na,1\n");
    assert!(folder.refused("KADID-10k").contains("dmos.csv: no row names the columns dist_img, ref_img, dmos"));
    folder.file("AllMOS_release.mat", "no MATLAB").file("AllImages_release.mat", "");
    assert!(folder.refused("LIVE-Challenge").contains("AllMOS_release.mat: it is too short"));
    folder.file("csiq.DMOS.xlsx", "no workbook");
    assert!(folder.refused("CSIQ").contains("csiq.DMOS.xlsx: not a workbook"));
    assert!(folder.refused("KADIS").contains("no dataset is called \"KADIS\"; there are TID2013, KADID-10k"));
    let absent = prepare("BID", Path::new("/nowhere/bid"), &Options::default()).unwrap_err().to_string();
    assert!(absent.starts_with("/nowhere/bid: "), "{absent}");
}

#[test]
fn pictures_that_are_not_there_stop_it_or_are_left_out() {
    let folder = Folder::new();
    folder.file("dmos.csv", "dist_img,ref_img,dmos,var\nI01_01_01.png,I01.png,4.5,0.25\nI01_01_02.png,I01.png,4.1,0\n");
    folder.pictures(&["images/I01_01_01.png", "images/I01.png"]);
    let error = folder.refused("KADID-10k");
    assert!(error.contains("1 images with scores are not there, such as I01_01_02.png"), "{error}");
    let options = Options { skip_missing: true, ..Options::default() };
    let prepared = prepare("kadid10k", folder.path(), &options).unwrap();
    assert_eq!(prepared.missing, ["I01_01_02.png"]);
    assert_eq!(rows(&prepared), [("kadid10k_i01_01_01", "I01_01_01.png", Some("I01.png"), 4.5)]);
    let sample = &prepared.samples[0];
    assert_eq!((sample.mos_std, sample.mos_range), (Some(0.5), Some([1.0, 5.0])));
    assert_eq!(sample.metadata["distortion"], "Gaussian blur");
}

#[test]
fn live_lists_its_folders_one_after_the_other() {
    let folder = Folder::new();
    let names = ["a.bmp", "b.bmp", "a.bmp", "a.bmp", "b.bmp", "a.bmp"];
    let scores = vec![30.5, 0.0, 50.0, 110.5, 20.0, 70.0];
    folder
        .file("dmos.mat", mat(&[("dmos", Mat::Row(vec![9.0; 6])), ("orgs", Mat::Row(vec![0.0; 6]))]))
        .file("refnames_all.mat", mat(&[("refnames_all", Mat::Names(names.to_vec()))]))
        .pictures(&["refimgs/a.bmp", "refimgs/b.bmp", "jp2k/img1.bmp", "jp2k/img2.bmp", "jpeg/img1.bmp"])
        .pictures(&["wn/img1.bmp", "gblur/img1.bmp", "fastfading/img1.bmp"]);
    assert_eq!(folder.prepare("LIVE").samples.len(), 6);
    folder.file(
        "dmos_realigned.mat",
        mat(&[
            ("dmos_new", Mat::Row(scores)),
            ("dmos_std", Mat::Row(vec![1.0, 0.0, 2.0, 3.0, 4.0, 5.0])),
            ("orgs", Mat::Row(vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0])),
        ]),
    );
    let prepared = folder.prepare("LIVE");
    assert_eq!(
        rows(&prepared),
        [
            ("live_jp2k_img1", "img1.bmp", Some("a.bmp"), 30.5),
            ("live_jpeg_img1", "img1.bmp", Some("a.bmp"), 50.0),
            ("live_wn_img1", "img1.bmp", Some("a.bmp"), 110.5),
            ("live_gblur_img1", "img1.bmp", Some("b.bmp"), 20.0),
            ("live_fastfading_img1", "img1.bmp", Some("a.bmp"), 70.0),
        ]
    );
    assert!(prepared.samples[2].image_path.ends_with("wn/img1.bmp"));
    let fading = &prepared.samples[4];
    assert_eq!((fading.mos_range, fading.higher_is_better), (Some([0.0, 111.0]), Some(false)));
    assert_eq!((fading.mos_std, &fading.metadata["distortion"]), (Some(5.0), &json!("fast fading")));
}

#[test]
fn csiq_is_read_from_its_workbook_or_from_labels() {
    let folder = Folder::new();
    folder
        .pictures(&["src_imgs/1600.png", "src_imgs/elk.png", "dst_imgs/awgn/1600.AWGN.2.png"])
        .pictures(&["dst_imgs/jpeg2000/elk.jpeg2000.5.png"])
        .file("csiq_label.txt", "1600.AWGN.2.png 0.206\nelk.jpeg2000.5.png\t0.9\n");
    let wanted = [
        ("csiq_1600.awgn.2", "1600.AWGN.2.png", Some("1600.png"), 0.206),
        ("csiq_elk.jpeg2000.5", "elk.jpeg2000.5.png", Some("elk.png"), 0.9),
    ];
    assert_eq!(rows(&folder.prepare("CSIQ")), wanted);
    let sheet: [&[&str]; 5] = [
        &["", "CSIQ, all by image"],
        &[""],
        &["", "", "", "image", "dst_idx", "dst_type", "dst_lev", "dmos_std", "dmos"],
        &["", "", "", "1600", "1", "noise", "2", "0.097", "0.206"],
        &["", "", "", "elk", "6", "jpeg 2000", "5", "0.1", "0.9"],
    ];
    folder.file("csiq.DMOS.xlsx", workbook("all_by_image", &sheet));
    let prepared = folder.prepare("csiq");
    assert_eq!(rows(&prepared), wanted);
    let sample = &prepared.samples[1];
    assert_eq!((sample.mos_std, sample.higher_is_better), (Some(0.1), Some(false)));
    assert_eq!(
        (&sample.metadata["distortion"], &sample.metadata["level"]),
        (&json!("JPEG2000 compression"), &json!(5.0))
    );
}

#[test]
fn live_challenge_leaves_the_training_pictures_out() {
    let folder = Folder::new();
    folder
        .file(
            "Data/AllImages_release.mat",
            mat(&[("AllImages_release", Mat::Names(vec!["t1.bmp", "3.bmp", "10.JPG"]))]),
        )
        .file("Data/AllMOS_release.mat", mat(&[("AllMOS_release", Mat::Row(vec![63.9, 77.38, 33.1]))]))
        .file("Data/AllStdDev_release.mat", mat(&[("AllStdDev_release", Mat::Row(vec![19.0, 16.0, 21.5]))]))
        .pictures(&["Images/trainingImages/t1.bmp", "Images/3.bmp", "Images/10.JPG"]);
    let prepared = folder.prepare("live challenge");
    assert_eq!(rows(&prepared), [("livec_3", "3.bmp", None, 77.38), ("livec_10", "10.JPG", None, 33.1)]);
    assert_eq!(prepared.samples[1].mos_std, Some(21.5));
}

#[test]
fn koniq_prefers_the_official_split_and_the_large_pictures() {
    let folder = Folder::new();
    folder
        .file(
            "koniq10k_scores_and_distributions.csv",
            "\"image_name\",\"c1\",\"c_total\",\"MOS\",\"SD\",\"MOS_zscore\"\n\"1.jpg\",0,103,3.9,0.6,77.38\n\"2.jpg\",0,105,2.1,0.5,33.0\n",
        )
        .pictures(&["512x384/1.jpg", "512x384/2.jpg", "1024x768/1.jpg"]);
    let prepared = folder.prepare("KonIQ-10k");
    assert_eq!(rows(&prepared), [("koniq10k_1", "1.jpg", None, 77.38), ("koniq10k_2", "2.jpg", None, 33.0)]);
    assert!(prepared.samples[0].image_path.contains("1024x768"));
    assert!(prepared.samples[1].image_path.contains("512x384"));
    assert_eq!((prepared.samples[0].mos_std, prepared.samples[0].mos_range), (None, Some([0.0, 100.0])));
    folder.file(
        "koniq10k_distributions_sets.csv",
        "image_name,c1,c2,c3,c4,c5,c_total,MOS,SD,set\n1.jpg,0,0,25,73,7,105,77.38,0.52,training\n2.jpg,0,3,45,47,1,96,33.0,0.6,validation\n",
    );
    let splits: Vec<_> = folder.prepare("KonIQ-10k").samples.into_iter().map(|sample| sample.split.unwrap()).collect();
    assert_eq!(splits, ["train", "validation"]);
}

#[test]
fn bid_and_spaq_are_read_from_workbooks_and_exports() {
    let folder = Folder::new();
    let grades: [&[&str]; 3] = [&["Image number", "Average grade"], &["1", "2.5"], &["586", "4.125"]];
    folder
        .file("DatabaseGrades.xlsx", workbook("Plan1", &grades))
        .pictures(&["ImageDatabase/DatabaseImage0001.JPG", "ImageDatabase/DatabaseImage0586.JPG"]);
    let wanted = [
        ("bid_databaseimage0001", "DatabaseImage0001.JPG", None, 2.5),
        ("bid_databaseimage0586", "DatabaseImage0586.JPG", None, 4.125),
    ];
    assert_eq!(rows(&folder.prepare("BID")), wanted);
    std::fs::remove_file(folder.path().join("DatabaseGrades.xlsx")).unwrap();
    folder.file("DatabaseGrades.csv", "number;grade\n1;2.5\n586;4.125\n");
    assert_eq!(rows(&folder.prepare("BID")), wanted);

    let scores: [&[&str]; 2] =
        [&["Image name", "MOS", "Brightness", "Sharpness"], &["00001.jpg", "42.13", "40", "35.5"]];
    folder
        .file("Annotations/MOS and Image attribute scores.xlsx", workbook("Sheet1", &scores))
        .pictures(&["TestImage/00001.jpg"]);
    let prepared = folder.prepare("SPAQ");
    assert_eq!(rows(&prepared), [("spaq_00001", "00001.jpg", None, 42.13)]);
    assert_eq!(prepared.samples[0].metadata["sharpness"], 35.5);
}

#[test]
fn agiqa_pictures_of_one_prompt_are_one_scene() {
    let folder = Folder::new();
    let mut table = "name,prompt,adj1,adj2,style,mos_quality,std_quality,mos_align,std_align\n".to_owned();
    for number in 0..40 {
        let (generator, prompt) = (["sdxl", "glide"][number % 2], number / 4);
        let name = format!("{generator}_normal_{number:03}.jpg");
        table += &format!("{name},\"prompt {prompt}, painted\",,,anime,3.1{number:02},0.4,2.5,0.3\n");
        folder.pictures(&[&format!("AGIQA-3K/{name}")]);
    }
    let prepared = folder.file("data.csv", table).prepare("AGIQA-3K");
    assert_eq!(prepared.samples[0].metadata["generator"], "sdxl");
    let mut splits: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for sample in &prepared.samples {
        let prompt = sample.metadata["prompt"].as_str().unwrap().to_owned();
        splits.entry(prompt).or_default().push(sample.split.clone().unwrap());
    }
    assert_eq!(splits.len(), 10);
    assert!(splits.values().all(|splits| splits.iter().all(|split| *split == splits[0])));
    assert_eq!(splits.values().filter(|splits| splits[0] == "test").count(), 2);
}

#[test]
fn pipal_has_a_file_of_ratings_for_each_reference() {
    let folder = Folder::new();
    folder
        .file("Train_Label/A0001.txt", "A0001_00_00.bmp,1500.1149\nA0001_05_03.bmp,1871.25\n")
        .file("Val_Label/A0201.txt", "A0201_06_01.bmp,1300\n")
        .file("readme.txt", "this is no label")
        .pictures(&["Train_Ref/A0001.bmp", "Distortion_1/A0001_00_00.bmp", "Distortion_2/A0001_05_03.bmp"])
        .pictures(&["Val_Ref/A0201.bmp", "Val_Dist/A0201_06_01.bmp"]);
    let prepared = folder.prepare("PIPAL");
    assert_eq!(
        rows(&prepared),
        [
            ("pipal_a0001_00_00", "A0001_00_00.bmp", Some("A0001.bmp"), 1500.1149),
            ("pipal_a0001_05_03", "A0001_05_03.bmp", Some("A0001.bmp"), 1871.25),
            ("pipal_a0201_06_01", "A0201_06_01.bmp", Some("A0201.bmp"), 1300.0),
        ]
    );
    let samples = &prepared.samples;
    assert_eq!(samples[1].metadata["distortion"], "super-resolution, GAN");
    assert_eq!((samples[2].split.as_deref(), samples[2].mos_range), (Some("validation"), Some([900.0, 1872.0])));
}

#[test]
fn questions_of_llvisionqa_get_the_letter_of_their_answer() {
    let folder = Folder::new();
    let dev = json!([{"img_path": "1.jpg", "question": "How is the lighting?", "candidates": ["Dim", "Bright", "Normal"],
                      "correct_ans": "Bright", "type": 2, "concern": 1}]);
    let test = json!([{"img_path": "2.jpg", "question": "Is it blurry?", "candidates": ["Yes", "No"], "type": 0, "concern": 2}]);
    folder
        .file("llvisionqa_dev.json", dev.to_string())
        .file("llvisionqa_test.json", test.to_string())
        .pictures(&["images/1.jpg", "images/2.jpg"]);
    let samples = folder.prepare("llvisionqa").samples;
    assert_eq!((samples[0].answer.as_deref(), samples[0].split.as_deref()), (Some("B"), Some("validation")));
    assert_eq!(
        (&samples[0].metadata["question_type"], &samples[0].metadata["concern"]),
        (&json!("how"), &json!("other"))
    );
    assert_eq!((samples[1].answer.clone(), samples[1].split.as_deref()), (None, Some("test")));
    let wrong = dev.to_string().replace("\"correct_ans\":\"Bright\"", "\"correct_ans\":\"Green\"");
    folder.file("llvisionqa_dev.json", wrong);
    assert!(folder.refused("LLVisionQA").contains("question 0: correct_ans \"Green\" is none of its candidates"));
}

#[test]
fn agenticiqa_eval_is_read_by_task_in_several_forms() {
    let folder = Folder::new();
    let planner = json!([{"id": 7, "question": "Which plan fits?", "options": {"A": "Detect", "B": "Score"}, "answer": "B",
                          "image_path": "imgs/1.png"}]);
    let line = json!({"query": "Which tool?", "candidates": ["SSIM", "NIQE"], "correct_ans": "NIQE", "img_path": "1.png",
                      "ref_path": "imgs/ref.png", "task_type": "executor-tool", "type": "which"});
    folder
        .file("planner.json", planner.to_string())
        .file("rest.jsonl", format!("{line}\n"))
        .pictures(&["imgs/1.png", "imgs/ref.png"]);
    let samples = folder.prepare("AgenticIQA-Eval").samples;
    let task = |index: usize| samples[index].metadata["task_type"].as_str().unwrap();
    assert_eq!((task(0), task(1)), ("planner", "executor_tool"));
    assert_eq!((samples[0].answer.as_deref(), samples[1].answer.as_deref()), (Some("B"), Some("B")));
    assert_eq!(samples[0].sample_id, "agenticiqa_eval_planner_7");
    assert_eq!(
        (&samples[1].metadata["reference_mode"], &samples[1].metadata["question_type"]),
        (&json!("FR"), &json!("which"))
    );
    folder.file(
        "bad.jsonl",
        "{\"question\": \"?\", \"options\": [\"a\", \"b\"], \"answer\": \"C\", \"image\": \"1.png\"}\n",
    );
    assert!(folder.refused("AgenticIQA-Eval").contains("line 1: its answer \"C\" is none of its 2 options"));
}

/// Prepared manifests are valid, and every kind of fault is reported with line and field.
#[test]
fn validation_names_line_and_field() {
    let folder = Folder::new();
    folder.file("dmos.csv", "dist_img,ref_img,dmos,var\nI01_01_01.png,I01.png,4.5,0.25\nI02_01_02.png,I02.png,4.1,0\n");
    folder.pictures(&["images/I01_01_01.png", "images/I01.png", "images/I02_01_02.png", "images/I02.png"]);
    let samples = folder.prepare("KADID-10k").samples;
    let path = folder.path().join("manifest.jsonl");
    Manifest::write(&path, &samples).unwrap();
    let good = validate(&path, true).unwrap();
    assert_eq!((good.samples, good.with_reference, good.with_mos, good.problems.len()), (2, 2, 2, 0));
    assert_eq!(Manifest::read(&path).unwrap().samples[1].1, samples[1]);

    let line = |text: &str| text.replace("PIC", "images/I01.png");
    let bad = [
        line(r#"{"sample_id": "a", "query": "q", "image_path": "PIC", "reference_path": "PIC", "split": "train"}"#),
        line(r#"{"sample_id": "a", "query": "q", "image_path": "PIC", "reference_path": "PIC", "split": "test"}"#),
        line(r#"{"sample_id": "b", "image_path": "PIC", "mos": 7, "mos_range": [1, 5], "query": " "}"#),
        line(r#"{"sample_id": "c", "query": "q", "image_path": "images/none.png", "mos_range": [5, 1]}"#),
        line(r#"{"sample_id": "d", "query": "q", "image_path": "PIC", "options": ["x", "y"], "answer": "C"}"#),
        line(r#"{"sample_id": true, "query": "q", "image_path": "PIC"}"#),
        "{\"sample_id\": \"e\", ".to_owned(),
        line(r#"{"sample_id": "f", "query": "q", "image_path": "PIC", "mos": "high"}"#),
    ];
    std::fs::write(&path, bad.join("\n\n")).unwrap();
    let found = validate(&path, true).unwrap();
    let told: Vec<(usize, &str)> =
        found.problems.iter().map(|problem| (problem.line, problem.field.as_str())).collect();
    let wanted = [
        (3, "sample_id"),
        (3, "split"),
        (5, "query"),
        (5, "mos"),
        (7, "mos_range"),
        (7, "image_path"),
        (9, "answer"),
        (11, "sample_id"),
        (13, "line"),
        (15, "mos"),
    ];
    assert_eq!(told, wanted, "{:#?}", found.problems);
    assert!(!validate(&path, false).unwrap().problems.iter().any(|problem| problem.field == "image_path"));
    std::fs::write(&path, "\n").unwrap();
    assert_eq!(validate(&path, true).unwrap().problems[0].reason, "there are no samples in it");
}
