//! The page, the service information and the headers of all responses.

use std::io::Read as _;

use serde_json::json;

use crate::http::support::{Answer, plain};

#[tokio::test]
async fn the_root_is_a_page_for_people_and_json_for_programs() {
    let (_data, server) = plain().await;
    let about = server.show("/").await.good();
    assert_eq!((about["name"].as_str(), about["docs_url"].as_str()), (Some("AgenticIQA"), Some("/docs")));
    assert_eq!(about["health_check"], "/health");
    assert!(about["version"].is_string() && about["description"].is_string());
    let page = Answer::of(server.get("/").header("accept", "text/html,*/*;q=0.8").send().await.unwrap()).await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.text().to_lowercase().starts_with("<!doctype html"));
    let policy = page.header("content-security-policy");
    assert!(
        policy.contains("default-src 'self'")
            && policy.contains("frame-ancestors 'none'")
            && !policy.contains("unsafe")
    );
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    let again = server.get("/").header("accept", "text/html").header("if-none-match", page.header("etag"));
    assert_eq!(again.send().await.unwrap().status(), 304);
}

#[tokio::test]
async fn health_ids_and_unknown_calls() {
    let (_data, server) = plain().await;
    let health = server.show("/health").await;
    assert_eq!(health.good()["status"], "healthy");
    assert_eq!(health.header("x-request-id").len(), 24);
    let named = Answer::of(server.get("/health").header("x-request-id", "trace-7").send().await.unwrap()).await;
    assert_eq!(named.header("x-request-id"), "trace-7");
    let odd = Answer::of(server.get("/health").header("x-request-id", "a b<c>").send().await.unwrap()).await;
    assert_ne!(odd.header("x-request-id"), "a b<c>");
    server.show("/nowhere").await.problem(404);
    server.show("/assess").await.problem(405);
    server.show("/assets/none.js").await.problem(404);
    server.show("/assets/..%2f..%2fCargo.toml").await.problem(404);
    server.show("/pictures/..%2f..%2fetc%2fpasswd").await.problem(404);
}

#[tokio::test]
async fn the_description_is_openapi_and_its_page_loads_nothing_from_outside() {
    let (_data, server) = plain().await;
    let document = server.show("/openapi.json").await.good();
    assert_eq!(document["openapi"], "3.1.0");
    for path in ["/assess", "/assess/stream", "/score", "/map", "/jobs", "/jobs/{id}/results", "/pictures/{id}/view"] {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    let docs = Answer::of(server.get("/docs").send().await.unwrap()).await;
    assert_eq!(docs.status, 200);
    assert!(!docs.text().contains("://") && !docs.text().contains("<style") && docs.text().contains("/docs/docs.js"));
    for path in ["/docs/docs.js", "/docs/docs.css"] {
        assert_eq!(server.show(path).await.status, 200);
    }
}

#[tokio::test]
async fn answers_are_compressed_for_those_who_ask() {
    let (_data, server) = plain().await;
    let packed = Answer::of(server.get("/openapi.json").header("accept-encoding", "gzip").send().await.unwrap()).await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_string(&mut text).unwrap();
    assert!(text.starts_with('{') && text.len() > 3 * packed.body.len());
    let plain = server.show("/openapi.json").await;
    assert_eq!(plain.header("content-encoding"), "");
    assert_eq!(plain.text(), text);
}

#[tokio::test]
async fn tools_and_backends_are_listed() {
    let (_data, server) = plain().await;
    let tools = server.show("/tools").await.good();
    let find =
        |name: &str| tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
    let ssim = find("SSIM");
    assert_eq!((ssim["type"].as_str(), ssim["lower_is_better"].as_bool()), (Some("FR"), Some(false)));
    assert_eq!((&ssim["available"], &ssim["has_map"], &ssim["reason"]), (&json!(true), &json!(true), &json!(null)));
    let learned = find("LPIPS");
    assert_eq!(learned["available"], false);
    assert!(learned["reason"].as_str().unwrap().contains("install"));
    let psnr = find("PSNR");
    assert_eq!(psnr["range"][1], json!(null));
    let backends = server.show("/backends").await.good();
    assert_eq!(backends["planner"], json!({"name": "builtin", "kind": "builtin", "ready": true, "problem": null}));
}

#[tokio::test]
async fn what_is_counted_can_be_read() {
    let (_data, server) = plain().await;
    server.show("/health").await.good();
    server.show("/pictures/none").await.problem(404);
    let metrics = server.show("/metrics").await.text();
    assert!(
        metrics.contains("agenticiqa_http_requests_total{method=\"GET\",route=\"/health\",status=\"200\"} 1"),
        "{metrics}"
    );
    assert!(metrics.contains("route=\"/pictures/{id}\",status=\"404\"} 1"));
    assert!(metrics.contains("agenticiqa_http_request_seconds_bucket{route=\"/health\",le=\"+Inf\"} 1"));
}
