//! Jobs: progress, results, and resuming after a restart.

use std::path::Path;

use serde_json::{Value, json};

use crate::http::support::{Answer, BLURRED, Form, PHOTO, Running, bytes, events, noise, repository, start};

/// Creates a folder of `count` small images.
fn folder(data: &Path, count: u64) -> std::path::PathBuf {
    let folder = data.join("photos");
    std::fs::create_dir_all(folder.join("deep")).unwrap();
    for seed in 0..count {
        let name = if seed % 2 == 0 { format!("deep/n{seed:02}.png") } else { format!("n{seed:02}.png") };
        std::fs::write(folder.join(name), noise(96, 1000 + seed)).unwrap();
    }
    folder
}

async fn begin(data: &Path, root: &Path) -> Running {
    let root = root.to_owned();
    start(data, &[("NO", "KEY")], move |server| server.allow_roots = vec![root]).await
}

async fn ended(server: &Running, id: &str) -> Value {
    let path = format!("/jobs/{id}");
    let over = async || !matches!(server.show(&path).await.good()["state"].as_str(), Some("queued" | "running"));
    server.until("the job to end", over).await;
    server.show(&path).await.good()
}

#[tokio::test]
async fn a_folder_becomes_results_that_can_be_filtered_sorted_paged_and_exported() {
    let data = tempfile::tempdir().unwrap();
    let root = folder(data.path(), 3);
    std::fs::copy(repository(PHOTO), root.join("good.jpg")).unwrap();
    std::fs::copy(repository(BLURRED), root.join("blurred.jpg")).unwrap();
    std::fs::write(root.join("broken.jpg"), b"\xff\xd8 nothing").unwrap();
    let server = begin(data.path(), &root).await;
    let created = server.json("/jobs", &json!({"name": "holiday", "folder": ".", "query": "Rate its quality."})).await;
    assert_eq!(created.status, 202);
    let created = created.good();
    assert_eq!((&created["state"], &created["total"]), (&json!("queued"), &json!(6)));
    let id = created["id"].as_str().unwrap();
    let heard = events(server.get(&format!("/jobs/{id}/events")).send().await.unwrap()).await;
    assert_eq!(heard[heard.len() - 1].name, "end");
    assert!(heard[..heard.len() - 1].iter().all(|event| event.name == "progress"));
    let job = ended(&server, id).await;
    assert_eq!(
        (&job["state"], &job["done"], &job["ok"], &job["errors"]),
        (&json!("done"), &json!(6), &json!(5), &json!(1))
    );
    assert_eq!((&job["name"], &job["problem"], &job["cost_usd"]), (&json!("holiday"), &json!(null), &json!(0.0)));
    assert_eq!(server.show("/jobs").await.good()["jobs"][0]["id"], id);
    let results = async |query: &str| server.show(&format!("/jobs/{id}/results?{query}")).await.good();
    let all = results("sort=-score").await;
    let scores: Vec<f64> = all["rows"].as_array().unwrap().iter().filter_map(|row| row["score"].as_f64()).collect();
    assert!(scores.len() == 5 && scores.is_sorted_by(|first, second| first >= second), "{scores:?}");
    assert_eq!((&all["total"], &all["matching"], &all["hidden"]), (&json!(6), &json!(6), &json!(0)));
    let failed = results("status=error").await;
    assert_eq!((&failed["matching"], &failed["hidden"]), (&json!(1), &json!(5)));
    assert_eq!(failed["rows"][0]["image_name"], "broken.jpg");
    assert!(failed["rows"][0]["error"].is_string());
    let blurred = results("distortion=Blurs").await;
    let names: Vec<&str> =
        blurred["rows"].as_array().unwrap().iter().map(|row| row["sample_id"].as_str().unwrap()).collect();
    assert!(names.contains(&"blurred.jpg"), "{blurred}");
    assert_eq!(results("sort=name&offset=1&limit=2").await["rows"].as_array().unwrap().len(), 2);
    server.show(&format!("/jobs/{id}/results?sort=color")).await.problem(422);
    let deep = all["rows"].as_array().unwrap().iter().find(|row| row["sample_id"] == "deep/n00.png").unwrap();
    let thumbnail = server.show(&format!("{}?size=32", deep["thumbnail"].as_str().unwrap())).await;
    assert_eq!((thumbnail.status, thumbnail.header("content-type")), (200, "image/png"));
    let record = server.show(&format!("/jobs/{id}/results/deep%2Fn00.png")).await.good();
    assert_eq!(record["sample_id"], "deep/n00.png");
    let view = server.show(&format!("/jobs/{id}/pictures/good.jpg/view?max=50")).await;
    assert_eq!(view.status, 200);
    let table = server.show(&format!("/jobs/{id}/export?format=csv&status=success,partial")).await;
    assert!(table.header("content-disposition").contains(".csv"));
    let table = table.text();
    assert_eq!(table.lines().count(), 6);
    assert!(table.starts_with("sample_id,image_path,status,score"));
    let lines = server.show(&format!("/jobs/{id}/export?format=jsonl&min=1")).await.text();
    assert_eq!(lines.lines().count(), 5);
    assert!(lines.lines().all(|line| serde_json::from_str::<agenticiqa::state::AssessmentRecord>(line).is_ok()));
    let gone = server.client.delete(server.url(&format!("/jobs/{id}"))).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    server.show(&format!("/jobs/{id}")).await.problem(404);
    server.end().await;
}

#[tokio::test]
async fn pictures_that_are_sent_and_manifests_are_jobs_too() {
    let data = tempfile::tempdir().unwrap();
    let root = folder(data.path(), 2);
    let server = begin(data.path(), &root).await;
    let form = Form::default().file("image", "a.jpg", &bytes(PHOTO)).file("image", "a.jpg", &bytes(BLURRED));
    let sent = server.form("/jobs", form.text("query", "Is it sharp?")).await.good();
    assert_eq!(sent["total"], 2);
    let id = sent["id"].as_str().unwrap();
    assert_eq!(ended(&server, id).await["ok"], 2);
    let rows = server.show(&format!("/jobs/{id}/results?sort=name")).await.good();
    assert_eq!((&rows["rows"][0]["sample_id"], &rows["rows"][1]["sample_id"]), (&json!("2-a.jpg"), &json!("a.jpg")));
    let lines = [
        json!({"sample_id": "one", "query": "Is it noisy?", "image_path": "n01.png", "mos": 3.5}),
        json!({"sample_id": "two", "query": "Is it noisy?", "image_path": "none.png"}),
        json!({"sample_id": "three", "image_path": "n01.png"}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(root.join("manifest.jsonl"), lines.join("\n")).unwrap();
    let listed = server.json("/jobs", &json!({"manifest": "manifest.jsonl", "tools": ["NIQE"]})).await.good();
    assert_eq!(listed["total"], 3);
    let job = ended(&server, listed["id"].as_str().unwrap()).await;
    assert_eq!((&job["ok"], &job["errors"], &job["state"]), (&json!(1), &json!(2), &json!("done")));
    let record = server.show(&format!("/jobs/{}/results/one", listed["id"].as_str().unwrap())).await.good();
    assert_eq!(record["input"]["mos"], 3.5);
    server.end().await;
}

#[tokio::test]
async fn jobs_that_make_no_sense_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let root = folder(data.path(), 2);
    std::fs::write(data.path().join("outside.png"), noise(16, 1)).unwrap();
    let line = json!({"sample_id": "x", "query": "q", "image_path": data.path().join("outside.png")});
    std::fs::write(root.join("bad.jsonl"), line.to_string()).unwrap();
    std::fs::write(root.join("empty.jsonl"), "").unwrap();
    let server = begin(data.path(), &root).await;
    let ask = async |body: Value| server.json("/jobs", &body).await;
    ask(json!({})).await.problem(422);
    ask(json!({"folder": ".", "manifest": "bad.jsonl"})).await.problem(422);
    ask(json!({"folder": ".."})).await.problem(403);
    ask(json!({"folder": "n01.png"})).await.problem(400);
    ask(json!({"manifest": "none.jsonl"})).await.problem(400);
    assert!(ask(json!({"manifest": "bad.jsonl"})).await.problem(403).contains("line 1"));
    assert!(ask(json!({"manifest": "empty.jsonl"})).await.problem(422).contains("nothing"));
    ask(json!({"folder": ".", "tools": ["SIMM"]})).await.problem(422);
    ask(json!({"folder": ".", "concurrency": 0})).await.problem(422);
    ask(json!({"folder": ".", "reference_folder": "deep"})).await.problem(422);
    assert_eq!(server.show("/jobs").await.good()["jobs"], json!([]));
    assert_eq!(std::fs::read_dir(data.path().join("server/jobs")).map_or(0, Iterator::count), 0);
    for path in ["/jobs/none", "/jobs/none/results", "/jobs/none/events", "/jobs/none/export"] {
        server.show(path).await.problem(404);
    }
    server.end().await;
}

#[tokio::test]
async fn a_job_that_was_stopped_goes_on_where_it_was() {
    let data = tempfile::tempdir().unwrap();
    let root = folder(data.path(), 24);
    let server = begin(data.path(), &root).await;
    let id =
        server.json("/jobs", &json!({"folder": ".", "concurrency": 1})).await.good()["id"].as_str().unwrap().to_owned();
    let path = format!("/jobs/{id}");
    server.until("some records", async || server.show(&path).await.good()["done"].as_u64() >= Some(2)).await;
    let stopped = Answer::of(server.post(&format!("{path}/stop")).send().await.unwrap()).await;
    stopped.good();
    let job = ended(&server, &id).await;
    let before = job["done"].as_u64().unwrap();
    assert_eq!(job["state"], "stopped");
    assert!(before < 24, "{job}");
    Answer::of(server.post(&format!("{path}/resume")).send().await.unwrap()).await.good();
    let job = ended(&server, &id).await;
    assert_eq!((&job["state"], &job["done"], &job["ok"]), (&json!("done"), &json!(24), &json!(24)));
    let results = server.show(&format!("{path}/results?limit=1000")).await.good();
    let mut names: Vec<&str> =
        results["rows"].as_array().unwrap().iter().map(|row| row["sample_id"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 24);
    server.end().await;
}

#[tokio::test]
async fn a_server_that_starts_again_goes_on_with_its_jobs() {
    let data = tempfile::tempdir().unwrap();
    let root = folder(data.path(), 24);
    let server = begin(data.path(), &root).await;
    let id =
        server.json("/jobs", &json!({"folder": ".", "concurrency": 1})).await.good()["id"].as_str().unwrap().to_owned();
    let path = format!("/jobs/{id}");
    server.until("some records", async || server.show(&path).await.good()["done"].as_u64() >= Some(2)).await;
    server.end().await;
    let server = begin(data.path(), &root).await;
    let job = ended(&server, &id).await;
    assert_eq!((&job["state"], &job["total"], &job["ok"]), (&json!("done"), &json!(24), &json!(24)));
    assert_eq!(server.show(&format!("{path}/results")).await.good()["total"], 24);
    server.end().await;
}

/// A model that accepts requests and never answers.
async fn silent_model() -> (String, tokio::task::JoinHandle<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let accepting = tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((connection, _)) = listener.accept().await {
            open.push(connection);
        }
    });
    (address, accepting)
}

#[tokio::test]
async fn stopping_or_deleting_a_stuck_job_frees_the_queue() {
    let data = tempfile::tempdir().unwrap();
    let root = folder(data.path(), 2);
    let (model, accepting) = silent_model().await;
    let variables = [("OLLAMA_HOST", model.as_str()), ("AGENTICIQA_BACKEND", "ollama.silent")];
    let server = start(data.path(), &variables, |server| server.allow_roots = vec![root.clone()]).await;
    let create = async |body: Value| server.json("/jobs", &body).await.good()["id"].as_str().unwrap().to_owned();
    let state = async |id: &str| server.show(&format!("/jobs/{id}")).await.good()["state"].clone();
    let (first, second) = (create(json!({"folder": "."})).await, create(json!({"folder": "."})).await);
    let third = create(json!({"folder": ".", "backend": "builtin"})).await;
    server.until("the first job", async || state(&first).await == "running").await;
    assert_eq!(state(&second).await, "queued");
    Answer::of(server.post(&format!("/jobs/{first}/stop")).send().await.unwrap()).await.good();
    server.until("the second job", async || state(&second).await == "running").await;
    assert_eq!(state(&first).await, "stopped");
    let deleted = server.client.delete(server.url(&format!("/jobs/{second}"))).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    let job = ended(&server, &third).await;
    assert_eq!((&job["state"], &job["ok"]), (&json!("done"), &json!(2)));
    server.end().await;
    accepting.abort();
}

#[cfg(unix)]
#[tokio::test]
async fn a_named_pipe_in_a_folder_does_not_hang_a_job() {
    let data = tempfile::tempdir().unwrap();
    let root = folder(data.path(), 2);
    assert!(std::process::Command::new("mkfifo").arg(root.join("pipe.png")).status().unwrap().success());
    let line = |name: &str| json!({"sample_id": name, "query": "Rate it.", "image_path": name}).to_string();
    std::fs::write(root.join("pipes.jsonl"), line("pipe.png")).unwrap();
    let server = begin(data.path(), &root).await;
    for (request, ok, errors) in [(json!({"folder": "."}), 2, 0), (json!({"manifest": "pipes.jsonl"}), 0, 1)] {
        let id = server.json("/jobs", &request).await.good()["id"].as_str().unwrap().to_owned();
        let job = ended(&server, &id).await;
        assert_eq!((&job["state"], &job["ok"], &job["errors"]), (&json!("done"), &json!(ok), &json!(errors)), "{job}");
    }
    server.end().await;
}

#[tokio::test]
async fn an_accepted_job_is_stored_before_it_is_answered() {
    let data = tempfile::tempdir().unwrap();
    let root = folder(data.path(), 2);
    let server = begin(data.path(), &root).await;
    let created = server.json("/jobs", &json!({"folder": "."})).await.good();
    let id = created["id"].as_str().unwrap();
    let stored = server.app.store.jobs().unwrap();
    assert!(stored.iter().any(|job| serde_json::from_slice::<Value>(job).unwrap()["id"] == id));
    server.end().await;
}
