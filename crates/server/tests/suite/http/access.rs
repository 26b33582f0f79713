//! Access checks and limits: token, origin, host name, queue and timeout.

use std::time::Duration;

use serde_json::json;

use crate::http::support::{Answer, Form, noise, plain, start};

#[tokio::test]
async fn with_a_token_the_page_stays_open_and_the_interface_does_not() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path(), &[("AGENTICIQA_TOKEN", "correct-horse")], |_| {}).await;
    for open in ["/", "/health", "/docs", "/openapi.json"] {
        assert_eq!(server.show(open).await.status, 200, "{open}");
    }
    let refused = server.show("/tools").await;
    assert!(refused.problem(401).contains("Bearer"));
    assert_eq!(refused.header("www-authenticate"), "Bearer");
    for path in ["/metrics", "/jobs", "/assessments", "/nowhere"] {
        server.show(path).await.problem(401);
    }
    server.json("/assess", &json!({})).await.problem(401);
    for wrong in ["Bearer correct-hors", "Bearer correct-horse2", "Basic correct-horse", "correct-horse"] {
        let answer = server.get("/tools").header("authorization", wrong).send().await.unwrap();
        assert_eq!(answer.status(), 401, "{wrong}");
    }
    let shown = server.get("/tools").header("authorization", "Bearer correct-horse").send().await.unwrap();
    assert_eq!(shown.status(), 200);
    assert!(!format!("{:?}", server.app.token).contains("horse"));
    server.end().await;
}

#[tokio::test]
async fn pages_of_other_sites_may_neither_call_nor_read() {
    let (_data, server) = plain().await;
    let foreign =
        server.post("/score").header("origin", "https://evil.example").header("content-type", "application/json");
    Answer::of(foreign.body("{}").send().await.unwrap()).await.problem(403);
    let read = Answer::of(server.get("/tools").header("origin", "https://evil.example").send().await.unwrap()).await;
    assert_eq!(read.header("access-control-allow-origin"), "");
    assert_eq!(read.header("cross-origin-resource-policy"), "same-origin");
    let own = server.url("");
    let own = server.post("/score").header("origin", &own).header("content-type", "application/json").body("{}");
    Answer::of(own.send().await.unwrap()).await.problem(422);
    let renamed = server.get("/tools").header("host", "rebound.example");
    Answer::of(renamed.send().await.unwrap()).await.problem(421);
    for name in ["localhost:1234", "127.0.0.1", "[::1]:80"] {
        assert_eq!(server.get("/tools").header("host", name).send().await.unwrap().status(), 200, "{name}");
    }
}

#[tokio::test]
async fn pages_that_the_settings_name_may_call() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path(), &[("NO", "KEY")], |server| {
        server.cors_origins = vec!["https://friend.example".to_owned()];
        server.host_names = vec!["quality.example".to_owned()];
    })
    .await;
    let ask = server.client.request(reqwest::Method::OPTIONS, server.url("/assess"));
    let ask = ask.header("origin", "https://friend.example").header("access-control-request-method", "POST");
    let allowed = Answer::of(ask.send().await.unwrap()).await;
    assert_eq!(allowed.header("access-control-allow-origin"), "https://friend.example");
    assert!(allowed.header("access-control-allow-methods").contains("POST"));
    let call =
        server.post("/score").header("origin", "https://friend.example").header("content-type", "application/json");
    let call = Answer::of(call.body("{}").send().await.unwrap()).await;
    assert_eq!((call.status, call.header("access-control-allow-origin")), (422, "https://friend.example"));
    let other = server.get("/tools").header("origin", "https://evil.example").send().await.unwrap();
    assert!(!other.headers().contains_key("access-control-allow-origin"));
    assert_eq!(server.get("/tools").header("host", "quality.example:80").send().await.unwrap().status(), 200);
    server.end().await;
}

#[tokio::test]
async fn who_finds_the_queue_full_is_told_when_to_come_back() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path(), &[("NO", "KEY")], |server| {
        (server.assessments, server.queue) = (Some(1), 1);
    })
    .await;
    let turn = server.app.admission.enter().await.unwrap();
    let picture = noise(64, 5);
    let form = || Form::default().file("image", "a.png", &picture).text("tools", "Brightness");
    let waiting = tokio::spawn(form().on(server.post("/score")).send());
    server.until("the first to wait", async || server.app.admission.waiting() == 1).await;
    let refused = server.form("/score", form()).await;
    refused.problem(429);
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(server.show("/health").await.status, 200);
    drop(turn);
    assert_eq!(waiting.await.unwrap().unwrap().status(), 200);
    server.end().await;
}

#[tokio::test]
async fn what_takes_too_long_is_504() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path(), &[("NO", "KEY")], |server| {
        (server.assessments, server.timeout_seconds) = (Some(1), 0.3);
    })
    .await;
    let turn = server.app.admission.enter().await.unwrap();
    let form = Form::default().file("image", "a.png", &noise(64, 6)).text("query", "Rate it.");
    let late = server.form("/assess", form).await;
    assert!(late.problem(504).contains("timeout_seconds"));
    drop(turn);
    server.end().await;
}

#[tokio::test]
async fn an_end_finishes_what_is_running() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path(), &[("NO", "KEY")], |server| server.assessments = Some(2)).await;
    let turns = [server.app.admission.enter().await.unwrap(), server.app.admission.enter().await.unwrap()];
    let form = Form::default().file("image", "a.png", &noise(64, 7)).text("query", "Rate it.");
    let running = tokio::spawn(form.on(server.post("/assess")).send());
    server.until("the work to wait", async || server.app.admission.waiting() == 1).await;
    let url = server.url("/health");
    let client = server.client.clone();
    let app = std::sync::Arc::clone(&server.app);
    let ending = tokio::spawn(server.end());
    while !app.is_ending() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(turns);
    assert_eq!(running.await.unwrap().unwrap().status(), 200);
    ending.await.unwrap();
    assert!(client.get(url).send().await.is_err());
}
