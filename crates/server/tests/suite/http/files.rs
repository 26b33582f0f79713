//! Uploaded images and files named by path.

use agenticiqa::imaging::Decoder;
use serde_json::json;

use crate::http::support::{Answer, Form, PHOTO, bytes, plain, repository, start, with_root};

#[tokio::test]
async fn a_picture_comes_back_as_sent_as_decoded_and_small() {
    let (_data, server) = plain().await;
    let photo = bytes(PHOTO);
    let sent = server.form("/pictures", Form::default().file("image", "osprey.jpg", &photo)).await;
    assert_eq!(sent.status, 201);
    let kept = sent.good();
    assert_eq!((kept["name"].as_str(), kept["format"].as_str()), (Some("osprey.jpg"), Some("JPEG")));
    let id = kept["id"].as_str().unwrap();
    let same = server.show(&format!("/pictures/{id}")).await;
    assert_eq!(same.body, photo);
    assert_eq!((same.header("content-type"), same.header("content-disposition")), ("image/jpeg", "inline"));
    assert_eq!(same.header("x-content-type-options"), "nosniff");
    let tagged =
        server.get(&format!("/pictures/{id}")).header("if-none-match", same.header("etag")).send().await.unwrap();
    assert_eq!(tagged.status(), 304);
    let decoded = Decoder::default().decode(&photo).unwrap().image;
    let view = server.show(&format!("/pictures/{id}/view")).await;
    let seen = Decoder::default().decode(&view.body).unwrap().image;
    assert_eq!(seen.samples(), decoded.samples());
    let small = server.show(&format!("/pictures/{id}/thumbnail?size=64")).await;
    let small = Decoder::default().decode(&small.body).unwrap().image;
    assert_eq!(small.width().max(small.height()), 64);
    let asked = server.show(&format!("/pictures/{id}/questions")).await.good();
    let questions: Vec<&str> =
        asked["questions"].as_array().unwrap().iter().filter_map(|one| one["en"].as_str()).collect();
    assert!(questions.contains(&"Is the bird sharp?") && questions.contains(&"Would it print well at A4?"), "{asked}");
    assert!(asked["questions"].as_array().unwrap().iter().any(|one| one["zh"] == "鸟清晰吗？"), "{asked}");
    let less = server.show(&format!("/pictures/{id}/view?max=100")).await;
    let less = Decoder::default().decode(&less.body).unwrap().image;
    assert_eq!(less.width().max(less.height()), 100);
    server.show(&format!("/pictures/{id}/thumbnail?size=100000")).await.problem(422);
    server.show(&format!("/pictures/{id}/view?max=0")).await.problem(422);
    server.show(&format!("/pictures/{}/view", "0".repeat(64))).await.problem(404);
}

#[tokio::test]
async fn what_is_no_picture_is_refused_by_content() {
    let (_data, server) = plain().await;
    let send = async |bytes: &[u8]| server.form("/pictures", Form::default().file("image", "a.png", bytes)).await;
    assert!(send(b"hello").await.problem(400).contains("it looks like text"));
    assert!(send(b"").await.problem(400).contains("empty"));
    assert!(send(b"<svg xmlns='x'/>").await.problem(400).contains("SVG"));
    let photo = bytes(PHOTO);
    assert!(send(&photo[..photo.len() / 2]).await.problem(400).contains("truncated"));
    let none = server.form("/pictures", Form::default().text("note", "a")).await;
    assert!(none.problem(422).contains("image is missing"));
    let json = server.json("/pictures", &json!({"image": "a"})).await;
    json.problem(422);
}

#[tokio::test]
async fn only_files_below_a_root_are_read() {
    let (_data, server) = with_root().await;
    let read = async |path: &str| server.json("/score", &json!({"image_path": path, "tools": ["Brightness"]})).await;
    let absolute = repository(PHOTO).canonicalize().unwrap().display().to_string();
    for good in ["osprey.jpg", "./ci/../osprey.jpg", &absolute] {
        read(good).await.good();
    }
    let outside = repository("tests/data/otters.jpg").canonicalize().unwrap().display().to_string();
    for bad in [
        "../tests/data/otters.jpg",
        "/etc/passwd",
        "/etc/none",
        &outside,
        "\\\\host\\share\\a.png",
        "//host/share/a.png",
    ] {
        let problem = read(bad).await.problem(403);
        assert!(!problem.contains("No such file"), "{bad}: {problem}");
    }
    for broken in ["osprey.jpg\0.png", "none.jpg", "ci", "LICENSES.md"] {
        read(broken).await.problem(400);
    }
    read("").await.problem(422);
    let (_other, closed) = plain().await;
    let problem = closed.json("/score", &json!({"image_path": "osprey.jpg"})).await.problem(403);
    assert!(problem.contains("the operator to allow a folder (server.allow_roots)"), "{problem}");
}

#[cfg(unix)]
#[tokio::test]
async fn links_that_lead_out_of_a_root_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let root = data.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let outside = data.path().join("secret.jpg");
    std::fs::copy(repository(PHOTO), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("link.jpg")).unwrap();
    std::os::unix::fs::symlink(data.path(), root.join("up")).unwrap();
    let server = start(data.path(), &[("NO", "KEY")], |server| server.allow_roots = vec![root.clone()]).await;
    for path in ["link.jpg", "up/secret.jpg"] {
        server.json("/score", &json!({"image_path": path})).await.problem(403);
    }
    server.end().await;
}

#[tokio::test]
async fn names_of_files_can_do_no_harm() {
    let (_data, server) = plain().await;
    let photo = bytes(PHOTO);
    let send = async |name: &str| server.form("/pictures", Form::default().file("image", name, &photo)).await.good();
    let kept = send("../../../../etc/cron.d/x.jpg").await;
    assert_eq!(kept["name"], "x.jpg");
    let id = kept["id"].as_str().unwrap().to_owned();
    let other = crate::http::support::noise(16, 9);
    let odd = Form::default().file("image", "a%0d%0aX-Evil: 1.png", &other);
    let odd = server.form("/pictures", odd).await.good();
    let shown =
        Answer::of(server.get(&format!("/pictures/{}", odd["id"].as_str().unwrap())).send().await.unwrap()).await;
    assert_eq!(shown.header("x-evil"), "");
    assert_eq!(shown.header("content-disposition"), "inline");
    assert_eq!(server.show(&format!("/pictures/{id}")).await.body, photo);
}

#[tokio::test]
async fn what_is_kept_is_bounded_and_survives_the_server() {
    let data = tempfile::tempdir().unwrap();
    let limit = |server: &mut agenticiqa::config::Server| server.kept_picture_bytes = 30_000;
    let server = start(data.path(), &[("NO", "KEY")], limit).await;
    let mut ids = Vec::new();
    for seed in 0..4 {
        let form = Form::default().file("image", "n.png", &crate::http::support::noise(64, 100 + seed));
        ids.push(server.form("/pictures", form).await.good()["id"].as_str().unwrap().to_owned());
    }
    server.show(&format!("/pictures/{}", ids[0])).await.problem(404);
    server.end().await;
    let server = start(data.path(), &[("NO", "KEY")], limit).await;
    assert_eq!(server.show(&format!("/pictures/{}", ids[3])).await.status, 200);
    server.end().await;
}
