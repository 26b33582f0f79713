//! `POST /score`, `POST /regions` and `POST /map`.

use agenticiqa::imaging::Decoder;
use agenticiqa::scoring::{Request, Scorer, Selection};
use base64::Engine as _;
use serde_json::{Value, json};

use crate::http::support::{BLURRED, Form, PHOTO, bytes, plain, repository, with_root};

fn row<'a>(scores: &'a Value, tool: &str) -> &'a Value {
    let rows = scores["rows"].as_array().unwrap();
    rows.iter().find(|row| row["tool"] == tool).unwrap_or_else(|| panic!("{tool}: {scores}"))
}

#[tokio::test]
async fn scores_are_those_of_the_library() {
    let (_data, server) = with_root().await;
    let request = Request {
        reference: Some(repository(PHOTO)),
        selection: Selection::Named(vec!["SSIM".into(), "Fused-FR".into()]),
        regions: Vec::new(),
        maps: false,
    };
    let scorer = Scorer::new(server.app.registry(), Decoder::default(), request).unwrap();
    let expected = scorer.score(&repository(BLURRED)).rows;
    let named =
        json!({"image_path": "osprey-blurred.jpg", "reference_path": "osprey.jpg", "tools": ["ssim", "fused_fr"]});
    let named = server.json("/score", &named).await.good();
    let form = Form::default().file("image", "b.jpg", &bytes(BLURRED)).file("reference", "r.jpg", &bytes(PHOTO));
    let sent = server.form("/score", form.text("tools", "SSIM").text("tools", "Fused-FR")).await.good();
    for scores in [&named, &sent] {
        for row_expected in &expected {
            let row = row(scores, &row_expected.tool);
            assert_eq!(row["raw_score"].as_f64(), row_expected.raw_score);
            assert_eq!(row["normalized_score"].as_f64(), row_expected.normalized_score);
            assert_eq!((&row["type"], &row["error"]), (&json!("FR"), &json!(null)));
        }
        assert!(row(scores, "Fused-FR")["interval"].is_array());
        // As on the command line, a row has no fields without content.
        let fields = row(scores, "SSIM").as_object().unwrap();
        assert!(!fields.contains_key("interval") && !fields.contains_key("notes") && !fields.contains_key("map_path"));
    }
    assert_eq!(named["image_id"], json!(null));
    assert!(sent["image_id"].is_string() && sent["reference_id"].is_string());
}

#[tokio::test]
async fn regions_defaults_and_all_tools() {
    let (_data, server) = plain().await;
    let kept = server.form("/pictures", Form::default().file("image", "a.jpg", &bytes(BLURRED))).await.good();
    let id = kept["id"].clone();
    let default = server.json("/score", &json!({"image_id": id})).await.good();
    assert!(row(&default, "Fused-NR")["normalized_score"].is_number());
    let regions = json!([{"name": "eye", "x": 5, "y": 6, "width": 100, "height": 90}]);
    let part = server
        .json("/score", &json!({"image_id": id, "tools": ["NIQE", "Brightness"], "regions": regions}))
        .await
        .good();
    assert_eq!(row(&part, "Brightness")["region"], "eye");
    let all = server.json("/score", &json!({"image_id": id, "all": true})).await.good();
    assert!(all["rows"].as_array().unwrap().len() > default["rows"].as_array().unwrap().len());
    server.json("/score", &json!({"image_id": id, "all": true, "tools": ["NIQE"]})).await.problem(422);
    assert!(
        server.json("/score", &json!({"image_id": id, "tools": ["SSIM"]})).await.problem(422).contains("reference")
    );
    assert!(
        server
            .json("/score", &json!({"image_id": id, "tools": ["LPIPS"]}))
            .await
            .problem(422)
            .contains("cannot run here")
    );
    let identical = server.json("/score", &json!({"image_id": id, "reference_id": id, "tools": ["PSNR"]})).await;
    assert!(identical.text().contains("\"raw_score\":1e999"), "{}", identical.text());
}

#[tokio::test]
async fn pictures_of_different_size_are_no_pair() {
    let (_data, server) = plain().await;
    let small = crate::http::support::noise(64, 3);
    let form = Form::default().file("image", "a.jpg", &bytes(PHOTO)).file("reference", "b.png", &small);
    assert!(server.form("/score", form).await.problem(422).contains("64x64"));
}

#[tokio::test]
async fn maps_have_the_size_of_the_picture_or_of_the_region() {
    let (_data, server) = with_root().await;
    let pair = |extra: Value| {
        let mut body = json!({"image_path": "osprey-blurred.jpg", "reference_path": "osprey.jpg", "tool": "SSIM"});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        body
    };
    let photo = Decoder::default().open(repository(BLURRED)).unwrap().image;
    let whole = server.json("/map", &pair(json!({}))).await;
    assert_eq!((whole.status, whole.header("content-type")), (200, "image/png"));
    assert_eq!((whole.header("x-map-low"), whole.header("x-map-high")), ("0", "1"));
    assert!(whole.header("x-map-meaning").contains("SSIM"));
    let map = Decoder::default().decode(&whole.body).unwrap().image;
    assert_eq!((map.width(), map.height(), map.channels()), (photo.width(), photo.height(), 3));
    let values = server.json("/map?format=json", &pair(json!({"region": [8, 9, 120, 80]}))).await.good();
    assert_eq!(
        (&values["width"], &values["height"], &values["lower_is_better"]),
        (&json!(120), &json!(80), &json!(false))
    );
    let png = base64::engine::general_purpose::STANDARD.decode(values["values_png"].as_str().unwrap()).unwrap();
    let gray = Decoder::default().decode(&png).unwrap().image;
    assert_eq!((gray.width(), gray.height(), gray.channels()), (120, 80, 1));
    let overlay = server.json("/map?format=overlay", &pair(json!({}))).await;
    assert!(Decoder::default().decode(&overlay.body).unwrap().image.height() > photo.height());
    assert!(server.json("/map", &pair(json!({"tool": "BRISQUE"}))).await.problem(422).contains("no map"));
    assert!(server.json("/map", &pair(json!({"region": [0, 0, 9999, 1]}))).await.problem(422).contains("region"));
    server.json("/map?format=gif", &pair(json!({}))).await.problem(422);
    let alone = json!({"image_path": "osprey.jpg", "tool": "SSIM"});
    assert!(server.json("/map", &alone).await.problem(422).contains("reference"));
}

#[tokio::test]
async fn regions_are_found_in_sent_and_named_images() {
    let (_data, server) = with_root().await;
    let names = json!(["upper left", "the chandelier"]);
    let named = server.json("/regions", &json!({"image_path": "osprey.jpg", "names": names})).await.good();
    let regions = named["regions"].as_array().unwrap();
    assert_eq!((&regions[0]["origin"], &regions[0]["x"]), (&json!("position"), &json!(0)));
    assert_eq!((&regions[1]["origin"], &regions[1]["width"]), (&json!("whole image"), &named["width"]));
    let form = Form::default().file("image", "r.jpg", &bytes(PHOTO));
    let sent = server.form("/regions", form.text("names", "upper left").text("names", "the chandelier")).await.good();
    assert_eq!(sent["regions"], named["regions"]);
    assert!(sent["image_id"].is_string());
    for (body, field) in [(json!({"image_path": "osprey.jpg", "names": [" "]}), "names[0]"), (json!({}), "image")] {
        assert!(server.json("/regions", &body).await.problem(422).contains(field));
    }
}
