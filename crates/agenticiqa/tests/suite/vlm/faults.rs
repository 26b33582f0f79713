use std::time::Duration;

use agenticiqa::vlm::{ErrorKind, Options};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wiremock::ResponseTemplate;

use crate::vlm::support::{ask, completion, model, ok, prompt, server};

/// Returns the error of one call to a server with this response.
async fn fault(answer: ResponseTemplate) -> (ErrorKind, String) {
    let server = server(answer).await;
    let error = ask(&model("openai.gpt-4o", &server.uri())).await.unwrap_err();
    assert_eq!(error.backend(), "openai.gpt-4o");
    assert!(!error.to_string().contains('\n'), "{error}");
    (error.kind(), error.to_string())
}

#[tokio::test]
async fn a_wrong_key_says_which_variable_to_set() {
    let (kind, text) = fault(ResponseTemplate::new(401).set_body_json(json!({"error": {"message": "bad key"}}))).await;
    assert_eq!(kind, ErrorKind::Authentication);
    assert_eq!(text, "openai.gpt-4o: the key was refused: set OPENAI_API_KEY");
    let (kind, _) = fault(ResponseTemplate::new(403)).await;
    assert_eq!(kind, ErrorKind::Authentication);
}

#[tokio::test]
async fn too_many_calls_tell_when_to_come_back() {
    let (kind, _) = fault(ResponseTemplate::new(429).insert_header("retry-after", "12")).await;
    assert_eq!(kind, ErrorKind::RateLimit { retry_after: Some(Duration::from_secs(12)) });
    let (kind, _) = fault(ResponseTemplate::new(429)).await;
    assert_eq!(kind, ErrorKind::RateLimit { retry_after: None });
}

#[tokio::test]
async fn no_credit_is_not_too_many_calls() {
    let body = json!({"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}});
    let (kind, text) = fault(ResponseTemplate::new(429).set_body_json(body)).await;
    assert_eq!(kind, ErrorKind::Quota);
    assert!(text.contains("billing"), "{text}");
}

#[tokio::test]
async fn a_server_fault_repeats_what_the_server_said() {
    for status in [500, 503, 529] {
        let body = json!({"error": {"message": "overloaded"}});
        let (kind, text) = fault(ResponseTemplate::new(status).set_body_json(body)).await;
        assert_eq!(kind, ErrorKind::Server);
        assert!(text.contains(&status.to_string()) && text.contains("overloaded"), "{text}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up() {
    let server = server(ok(completion("late")).set_delay(Duration::from_secs(600))).await;
    let model = model("openai.gpt-4o", &server.uri());
    let options = Options { timeout: Duration::from_millis(50), ..Options::default() };
    let error = model.generate(&prompt(), &[], &options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(error.to_string(), "openai.gpt-4o: no answer within 0.05 s");
}

/// A server that reads a request, sends `answer` and closes the connection.
async fn server_that_sends(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 65_536];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer).await;
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn a_cut_connection_is_a_connection_error() {
    let half = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{\"choices\": [";
    for answer in [&b""[..], b"HTTP/1.1 200 OK\r\nconte", half] {
        let error = ask(&model("openai.gpt-4o", &server_that_sends(answer).await)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connection, "{error}");
        assert!(error.to_string().contains("http://127.0.0.1:"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = ask(&model("ollama.llava", &address)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection);
    assert!(error.to_string().starts_with(&format!("ollama.llava: {address} cannot be reached (")), "{error}");
}

#[tokio::test]
async fn what_is_no_http_is_a_connection_error() {
    let error = ask(&model("openai.gpt-4o", &server_that_sends(b"220 smtp ready\r\n").await)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection, "{error}");
}

#[tokio::test]
async fn a_refusal_is_told_with_its_reason() {
    let mut body = completion("");
    body["choices"][0]["message"] =
        json!({"role": "assistant", "content": null, "refusal": "I cannot help with that."});
    let (kind, text) = fault(ok(body)).await;
    assert_eq!(kind, ErrorKind::Refusal);
    assert!(text.ends_with("I cannot help with that."), "{text}");

    let mut body = completion("half a sen");
    body["choices"][0]["finish_reason"] = json!("content_filter");
    assert_eq!(fault(ok(body)).await.0, ErrorKind::Refusal);

    let body = json!({"error": {"code": "content_filter", "message": "filtered"}});
    assert_eq!(fault(ResponseTemplate::new(400).set_body_json(body)).await.0, ErrorKind::Refusal);
}

#[tokio::test]
async fn answers_that_are_none() {
    let mut thought_only = completion("");
    thought_only["choices"][0]["finish_reason"] = json!("length");
    for (body, says) in [
        (completion(""), "the answer is empty"),
        (completion(" \n "), "the answer is empty"),
        (json!({"choices": []}), "the answer is empty"),
        (json!({"error": "loading"}), "the answer is empty"),
        (json!([1, 2]), "the answer is empty"),
        (thought_only, "raise max_tokens"),
        (completion(&"prose ".repeat(350_000)), "2099999 bytes of text"),
    ] {
        let (kind, text) = fault(ok(body)).await;
        assert_eq!(kind, ErrorKind::BadAnswer, "{text}");
        assert!(text.contains(says), "{text}");
        assert!(text.len() < 500);
    }
}

#[tokio::test]
async fn what_is_no_json_is_a_bad_answer() {
    let page = ResponseTemplate::new(200).set_body_raw("<html>hotel login</html>", "text/html");
    let (kind, text) = fault(page).await;
    assert_eq!(kind, ErrorKind::BadAnswer);
    assert_eq!(text, "openai.gpt-4o: the server sent text/html instead of JSON: check base_url");
    let half = ResponseTemplate::new(200).set_body_raw("{\"choices\": [", "application/json");
    assert_eq!(fault(half).await.0, ErrorKind::BadAnswer);
}

#[tokio::test]
async fn a_request_that_is_not_accepted_says_why() {
    let body = json!({"error": {"message": "Invalid image data"}});
    let (kind, text) = fault(ResponseTemplate::new(400).set_body_json(body)).await;
    assert_eq!(kind, ErrorKind::BadRequest);
    assert_eq!(text, "openai.gpt-4o: the request was not accepted (status 400, Invalid image data)");
    let (kind, text) = fault(ResponseTemplate::new(404)).await;
    assert_eq!(kind, ErrorKind::BadRequest);
    assert!(text.contains("\"gpt-4o\""), "{text}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = server(ok(completion("stolen"))).await;
    let (kind, text) = fault(ResponseTemplate::new(307).insert_header("location", elsewhere.uri().as_str())).await;
    assert_eq!(kind, ErrorKind::BadRequest);
    assert!(text.contains("base_url"), "{text}");
    assert!(elsewhere.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn anthropic_and_gemini_refuse_in_their_own_words() {
    let refusal = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [],
        "stop_reason": "refusal", "usage": {"input_tokens": 9, "output_tokens": 1}
    });
    let claude = server(ok(refusal)).await;
    let error = ask(&model("anthropic.claude-sonnet-4.5", &claude.uri())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refusal);

    let safety =
        json!({"candidates": [{"finishReason": "SAFETY", "index": 0}], "usageMetadata": {"promptTokenCount": 5}});
    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}});
    for (body, says) in [(safety, "SAFETY"), (blocked, "PROHIBITED_CONTENT")] {
        let gemini = server(ok(body)).await;
        let error = ask(&model("google.gemini-2.5-flash", &gemini.uri())).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refusal, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[tokio::test]
async fn anthropic_and_gemini_complain_in_their_own_words() {
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let claude = server(ResponseTemplate::new(529).set_body_json(overloaded)).await;
    let error = ask(&model("anthropic.claude-3.5-sonnet", &claude.uri())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server);

    let key = json!({"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]}});
    let gemini = server(ResponseTemplate::new(400).set_body_json(key)).await;
    let error = ask(&model("google.gemini-2.0-flash", &gemini.uri())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert!(error.to_string().contains("GOOGLE_API_KEY"), "{error}");

    let busy = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota", "details":
        [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]}});
    let gemini = server(ResponseTemplate::new(429).set_body_json(busy)).await;
    let error = ask(&model("google.gemini-2.0-flash", &gemini.uri())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimit { retry_after: Some(Duration::from_secs(34)) });
}

#[tokio::test]
async fn a_body_without_end_is_a_bad_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 65_536];
            let _ = stream.read(&mut request).await;
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"choices\": \"").await;
            // Until the client hangs up.
            while stream.write_all(&[b'x'; 65_536]).await.is_ok() {}
        }
    });
    let error = ask(&model("openai.gpt-4o", &address)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadAnswer, "{error}");
    assert!(error.to_string().contains("more than 8 MB"), "{error}");
    // The same for the body of an error, and for a length that was announced.
    for status in [200, 500] {
        let body = completion(&"prose ".repeat(2_000_000));
        let (kind, text) = fault(ResponseTemplate::new(status).set_body_json(body)).await;
        assert_eq!(kind, ErrorKind::BadAnswer, "{text}");
    }
}
