//! `POST /assess` and `POST /assess/stream`.

use serde_json::{Value, json};

use crate::http::support::{Answer, BLURRED, Form, PHOTO, bytes, events, noise, plain, start, with_root};

#[track_caller]
fn check(answer: &Value) {
    assert!((1.0..=5.0).contains(&answer["quality_score"].as_f64().unwrap()), "{answer}");
    assert!(!answer["quality_reasoning"].as_str().unwrap().is_empty());
    assert_eq!(answer["need_replan"], false);
    let metadata = &answer["execution_metadata"];
    assert!(metadata["execution_time_seconds"].as_f64().unwrap() > 0.0 && metadata["replan_history"].is_array());
    assert_eq!(answer["record"]["metadata"]["backends"]["planner"], "builtin");
    let result = &answer["record"]["summarizer_result"];
    assert_eq!(
        (&result["final_answer"], &result["quality_score"]),
        (&answer["final_answer"], &answer["quality_score"])
    );
}

#[tokio::test]
async fn a_form_is_answered_and_the_answer_is_kept() {
    let (_data, server) = plain().await;
    let form = Form::default().file("image", "blurred.jpg", &bytes(BLURRED)).text("query", "Is it blurry?");
    let answer = server.form("/assess", form).await.good();
    check(&answer);
    assert_eq!(answer["record"]["query"], "Is it blurry?");
    assert_eq!(answer["record"]["image_path"], "blurred.jpg");
    assert!(
        answer["detected_distortions"].as_array().unwrap().iter().any(|found| found["type"] == "Blurs"),
        "{answer}"
    );
    let (id, image_id) = (answer["id"].as_str().unwrap(), answer["image_id"].as_str().unwrap());
    assert_eq!(server.show(&format!("/assessments/{id}")).await.good(), answer);
    let list = server.show("/assessments").await.good();
    let row = &list["assessments"][0];
    assert_eq!((row["id"].as_str(), row["image_id"].as_str()), (Some(id), Some(image_id)));
    assert_eq!((&row["query"], &row["quality_score"]), (&json!("Is it blurry?"), &answer["quality_score"]));
    // The image can now be named by its ID.
    let again = json!({"query": "Is it blurry?", "image_id": image_id});
    let second = server.json("/assess", &again).await.good();
    assert_eq!((&second["quality_score"], &second["image_id"]), (&answer["quality_score"], &answer["image_id"]));
    assert_eq!(server.show("/assessments?limit=1").await.good()["assessments"].as_array().unwrap().len(), 1);
    let newest = second["id"].as_str().unwrap();
    assert_eq!(server.show(&format!("/assessments?before={newest}")).await.good()["assessments"][0]["id"], id);
    server.show("/assessments/none").await.problem(404);
    server.show("/assessments?limit=many").await.problem(422);
}

#[tokio::test]
async fn json_names_files_below_the_root_with_everything_that_can_be_asked() {
    let (_data, server) = with_root().await;
    let body = json!({
        "query": "What is wrong with the bird?", "image_path": "osprey-blurred.jpg", "reference_path": "osprey.jpg",
        "options": ["Blur", "Noise", "JPEG blocks"], "regions": {"bird": [10, 10, 120, 100]},
        "max_replan_iterations": 0, "tools": ["ssim"], "answer": "choice", "backend": "builtin", "sample_id": "bird-1",
    });
    for path in ["/assess", "/assess-path"] {
        let answer = server.json(path, &body).await.good();
        check(&answer);
        assert_eq!(answer["final_answer"], "A", "{answer}");
        assert_eq!(answer["record"]["sample_id"], "bird-1");
        assert_eq!(answer["record"]["regions"][0]["name"], "bird");
        let logs = answer["record"]["executor_evidence"]["tool_logs"].as_array().unwrap();
        assert!(logs.iter().any(|log| log["tool_name"] == "SSIM"));
        assert!(answer["reference_id"].is_string());
    }
}

#[tokio::test]
async fn fields_that_are_missing_or_wrong_are_named() {
    let (_data, server) = with_root().await;
    let says = async |body: Value, status: u16, message: &str| {
        let answer = server.json("/assess", &body).await;
        let problem = answer.problem(status);
        assert!(problem.contains(message), "{body}: {problem}");
    };
    says(json!({"image_path": "osprey.jpg"}), 422, "query").await;
    says(json!({"query": "Rate it."}), 422, "image is missing").await;
    says(json!({"query": "  ", "image_path": "osprey.jpg"}), 422, "query is empty").await;
    says(json!({"query": 3, "image_path": "osprey.jpg"}), 422, "query: invalid type").await;
    says(json!({"query": "a", "image_path": "osprey.jpg", "color": 1}), 422, "unknown field `color`").await;
    says(json!({"query": "a", "image_path": "osprey.jpg", "max_replan_iterations": 6}), 422, "from 0 to 5").await;
    says(json!({"query": "a", "image_path": "osprey.jpg", "max_replan_iterations": -1}), 422, "max_replan_iterations")
        .await;
    says(json!({"query": "a", "image_path": "osprey.jpg", "tools": ["SIMM"]}), 422, "did you mean").await;
    says(json!({"query": "a", "image_path": "osprey.jpg", "backend": "nobody.model"}), 422, "backend").await;
    says(json!({"query": "a", "image_path": "osprey.jpg", "regions": {"face": [1, 2]}}), 422, "regions").await;
    says(json!({"query": "a", "image_path": "osprey.jpg", "regions": {"face": [0, 0, 99999, 5]}}), 422, "face").await;
    says(json!({"query": "a", "image_path": "osprey.jpg", "answer": "choice"}), 422, "options").await;
    says(json!({"query": "a", "image_path": "osprey.jpg", "image_id": "x"}), 422, "not several").await;
    says(json!({"query": "a", "image_id": "0".repeat(64)}), 404, "no image").await;
    says(json!({"query": "a", "image_path": "none.jpg"}), 400, "none.jpg").await;
    says(json!({"query": "a".repeat(1 << 20), "image_path": "osprey.jpg"}), 422, "characters").await;
    let large = Form::default().file("image", "a.jpg", &bytes(PHOTO)).text("query", &"a".repeat(1 << 20));
    server.form("/assess", large).await.problem(422);
    let empty = Answer::of(server.post("/assess").send().await.unwrap()).await;
    assert!(empty.problem(422).contains("empty"));
    let broken = server.post("/assess").header("content-type", "application/json").body("{\"query\": ");
    assert!(Answer::of(broken.send().await.unwrap()).await.problem(422).contains("not JSON"));
    let odd = server.post("/assess").header("content-type", "text/plain").body("hello");
    Answer::of(odd.send().await.unwrap()).await.problem(415);
    let twice = Form::default().text("query", "a").text("query", "b");
    assert!(server.form("/assess", twice).await.problem(422).contains("given twice"));
    let other = Form::default().text("query", "a").file("picture", "a.jpg", &bytes(PHOTO));
    assert!(server.form("/assess", other).await.problem(422).contains("picture"));
}

#[tokio::test]
async fn a_stream_tells_every_step_and_ends_with_the_answer() {
    let (_data, server) = plain().await;
    let form = Form::default().file("image", "a.jpg", &bytes(BLURRED)).text("query", "Rate its quality.");
    let heard = events(form.on(server.post("/assess/stream")).send().await.unwrap()).await;
    let names: Vec<&str> = heard.iter().map(|event| event.name.as_str()).collect();
    assert_eq!((names[0], names[names.len() - 1]), ("started", "answer"));
    let started = &heard[0].data;
    assert_eq!(started["backends"]["executor"], "builtin");
    let answer = &heard[heard.len() - 1].data;
    check(answer);
    assert_eq!((&answer["id"], &answer["image_id"]), (&started["id"], &started["image_id"]));
    let place =
        |name: &str| names.iter().position(|known| *known == name).unwrap_or_else(|| panic!("{name}: {names:?}"));
    assert!(place("node_started") < place("tool_ended") && place("tool_ended") < place("done"));
    let tool = &heard[place("tool_ended")].data;
    assert_eq!(tool["event"], "tool_ended");
    assert!(tool["log"]["tool_name"].is_string());
    let nodes: Vec<&str> = heard
        .iter()
        .filter(|event| event.name == "node_ended")
        .map(|event| event.data["node"].as_str().unwrap())
        .collect();
    assert_eq!(nodes, ["planner", "executor", "summarizer"]);
    // Errors in the request set the status.
    let bad = Form::default().file("image", "a.jpg", b"no image").text("query", "Rate it.");
    server.form("/assess/stream", bad).await.problem(400);
}

#[tokio::test]
async fn a_model_that_cannot_be_reached_is_503_and_the_last_event_of_a_stream() {
    let data = tempfile::tempdir().unwrap();
    let variables = [("OPENAI_API_KEY", "sk-very-secret"), ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")];
    let offer = |server: &mut agenticiqa::config::Server| server.backends = vec!["openai.gpt-4o".to_owned()];
    let server = start(data.path(), &variables, offer).await;
    let form = || {
        let form = Form::default().file("image", "a.png", &noise(64, 1)).text("query", "Rate it.");
        form.text("backend", "openai.gpt-4o")
    };
    let answer = server.form("/assess", form()).await;
    let problem = answer.problem(503);
    assert!(!problem.contains("very-secret"), "{problem}");
    let heard = events(form().on(server.post("/assess/stream")).send().await.unwrap()).await;
    let last = &heard[heard.len() - 1];
    assert_eq!((last.name.as_str(), &last.data["status"]), ("error", &json!(503)));
    assert!(last.data["detail"]["message"].is_string());
    assert!(heard.iter().any(|event| event.name == "retry"), "{heard:?}");
    server.end().await;
}

#[tokio::test]
async fn work_ends_when_the_client_goes_away() {
    let data = tempfile::tempdir().unwrap();
    // A model that never answers: only canceling ends the work before the timeout.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", silent.local_addr().unwrap());
    let variables = [("OPENAI_API_KEY", "sk-a"), ("OPENAI_BASE_URL", url.as_str())];
    let server = start(data.path(), &variables, |server| server.backends = vec!["openai.*".to_owned()]).await;
    for path in ["/assess", "/assess/stream"] {
        let form = Form::default().file("image", "a.png", &noise(64, 2)).text("query", "Rate it.");
        let request = form.text("backend", "openai.gpt-4o").on(server.post(path));
        let call = tokio::spawn(async move {
            let mut response = request.send().await?;
            while response.chunk().await?.is_some() {}
            Ok::<_, reqwest::Error>(())
        });
        server.until("the work to begin", async || server.app.admission.running() == 1).await;
        call.abort();
        server.until("the work to end", async || server.app.admission.running() == 0).await;
    }
    server.end().await;
}

#[tokio::test]
async fn a_client_cannot_spend_the_keys_of_backends_that_are_not_offered() {
    let data = tempfile::tempdir().unwrap();
    // Nothing is asked: a request would fail with 503.
    let variables = [("OPENAI_API_KEY", "sk-very-secret"), ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")];
    let offer = |server: &mut agenticiqa::config::Server| server.backends = vec!["ollama.qwen*".to_owned()];
    let server = start(data.path(), &variables, offer).await;
    let ask = async |backend: &str| {
        let form = Form::default().file("image", "a.png", &noise(64, 1)).text("query", "Rate it.");
        server.form("/assess", form.text("backend", backend)).await
    };
    let problem = ask("openai.gpt-4o").await.problem(403);
    assert!(problem.contains("it offers builtin, ollama.qwen*"), "{problem}");
    ask("ollama.llava").await.problem(403);
    ask("builtin").await.good();
    let job = Form::default().file("image", "a.png", &noise(64, 1)).text("backend", "openai.gpt-4o");
    server.form("/jobs", job).await.problem(403);
    server.end().await;
}
