//! `POST /what-if`.

use agenticiqa::imaging::Decoder;
use serde_json::json;

use crate::http::support::{Form, PHOTO, bytes, repository, with_root};

const COMPRESSED: &str = "examples/osprey-compressed.jpg";

#[tokio::test]
async fn edits_are_tried_and_the_best_of_them_are_applied() {
    let (_data, server) = with_root().await;
    let answer = server.json("/what-if", &json!({"image_path": "osprey-compressed.jpg"})).await.good();
    let first = &answer["tried"][0];
    assert_eq!((&first["problem"], &first["operation"]), (&json!("compression"), &json!("deblock")), "{answer}");
    let [before, after] = ["before", "after"].map(|name| first[name].as_f64().unwrap());
    let score = answer["mended"]["score"].as_f64().unwrap();
    assert!(before < after && before < score, "{answer}");
    let original = Decoder::default().open(repository(COMPRESSED)).unwrap().image;
    let mended = server.form("/what-if?format=png", Form::default().file("image", "c.jpg", &bytes(COMPRESSED))).await;
    assert_eq!((mended.status, mended.header("content-type")), (200, "image/png"));
    let mended = Decoder::default().decode(&mended.body).unwrap().image;
    assert_eq!((mended.width(), mended.height()), (original.width(), original.height()));
    assert_ne!(mended.samples(), original.samples());
}

#[tokio::test]
async fn given_edits_are_applied_and_bad_ones_refused() {
    let (_data, server) = with_root().await;
    let with = |edits: serde_json::Value| json!({"image_path": "osprey.jpg", "edits": edits});
    let brighter = with(json!([{"operation": "exposure", "amount": 1.0}]));
    let answer = server.json("/what-if", &brighter).await.good();
    assert_eq!(answer["mended"]["edits"], brighter["edits"]);
    let shown = server.json("/what-if?format=png", &brighter).await;
    let mean = |image: &agenticiqa::metrics::Image| image.gray().data().iter().sum::<f32>();
    let photo = Decoder::default().open(repository(PHOTO)).unwrap().image;
    assert!(mean(&Decoder::default().decode(&shown.body).unwrap().image) > 1.2 * mean(&photo));
    for edits in [json!([{"operation": "exposure", "amount": 99.0}]), json!([{"operation": "paint", "amount": 1.0}])] {
        server.json("/what-if", &with(edits)).await.problem(422);
    }
    let good = server.json("/what-if?format=png", &with(json!([]))).await.problem(422);
    assert!(good.contains("no edit raises the score"), "{good}");
    server.json("/what-if", &json!({})).await.problem(422);
}
