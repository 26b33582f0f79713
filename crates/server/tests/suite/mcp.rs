//! MCP: an `rmcp` client in the same process, and plain requests over HTTP.

#![expect(
    deprecated,
    reason = "current clients announce folders with a request that newer versions of the protocol removed"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenticiqa::config::{Environment, Overrides, Server as ServerSettings, Settings};
use agenticiqa::imaging::Decoder;
use agenticiqa::metrics::Image;
use agenticiqa::setup;
use agenticiqa_server::mcp::{Access, Service};
use agenticiqa_server::{App, Reload, Server, router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    Implementation, ListRootsResult, ProgressNotificationParam, Root,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceError, ServiceExt as _};
use serde_json::{Value, json};

/// A client that announces folders and records progress notifications.
#[derive(Debug, Clone, Default)]
struct Client {
    roots: Option<Arc<Mutex<Vec<String>>>>,
    heard: Arc<Mutex<Vec<ProgressNotificationParam>>>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder();
        let capabilities = match self.roots {
            Some(_) => capabilities.enable_roots().enable_roots_list_changed().build(),
            None => capabilities.build(),
        };
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, rmcp::ErrorData> {
        let roots = self.roots.iter().flat_map(|roots| roots.lock().unwrap().clone());
        Ok(ListRootsResult::new(roots.map(Root::new).collect()))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.heard.lock().unwrap().push(progress);
    }
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn app(data: &Path, variables: &[(&str, &str)], change: impl FnOnce(&mut ServerSettings)) -> Arc<App> {
    let environment = Environment::with_variables(data, variables.iter().copied()).unwrap();
    let mut settings = Settings::load(None, &environment, &Overrides::default()).unwrap();
    let server = &mut settings.pipeline.server;
    server.port = 0;
    server.data_dir = Some(data.join("server"));
    change(server);
    let registry = setup::registry(&settings).unwrap();
    App::new(settings, environment, registry, Reload::default()).unwrap()
}

/// A client and the server it is connected to.
struct Connected {
    _data: tempfile::TempDir,
    app: Arc<App>,
    client: RunningService<RoleClient, Client>,
}

async fn connect(client: Client, access: Access, change: impl FnOnce(&mut ServerSettings)) -> Connected {
    let data = tempfile::tempdir().unwrap();
    let app = app(data.path(), &[("NO", "KEY")], change);
    let (near, far) = tokio::io::duplex(1 << 20);
    let service = Service::new(Arc::clone(&app), access);
    tokio::spawn(async move { service.serve(far).await.unwrap().waiting().await });
    let client = client.serve(near).await.unwrap();
    Connected { _data: data, app, client }
}

/// Connects to a server that may read the images of the repository.
async fn connected() -> Connected {
    connect(Client::default(), Access::Server, |server| {
        server.allow_roots = vec![repository("examples"), repository("tests/data")];
    })
    .await
}

impl Connected {
    async fn try_call(&self, tool: &'static str, arguments: Value) -> Result<CallToolResult, ServiceError> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        self.client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await
    }

    /// Calls a tool, validates the result against its schema, and returns data, text and decoded
    /// images.
    async fn call(&self, tool: &'static str, arguments: Value) -> (Value, String, Vec<Image>) {
        let result = self.try_call(tool, arguments).await.unwrap();
        let text = text(&result);
        assert_eq!(result.is_error, Some(false), "{text}");
        let data = result.structured_content.unwrap();
        let tools = self.client.list_all_tools().await.unwrap();
        let schema = tools.into_iter().find(|one| one.name == tool).unwrap().output_schema.unwrap();
        let validator = jsonschema::validator_for(&Value::Object(schema.as_ref().clone())).unwrap();
        let errors: Vec<String> = validator.iter_errors(&data).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}: {data}");
        let pictures = result.content.iter().filter_map(|block| block.as_image());
        let decode = |picture: &rmcp::model::ImageContent| {
            assert_eq!(picture.mime_type, "image/png");
            let bytes = STANDARD.decode(&picture.data).unwrap();
            let image = Decoder::default().decode(&bytes).unwrap().image;
            assert!(image.width() <= 1024 && image.height() <= 1024, "{}x{}", image.width(), image.height());
            image
        };
        (data, text, pictures.map(decode).collect())
    }

    /// Returns the message of a call that fails with a tool error.
    async fn fail(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.try_call(tool, arguments).await.unwrap();
        assert_eq!(result.is_error, Some(true), "{result:?}");
        assert_eq!(result.structured_content, None);
        text(&result)
    }
}

fn text(result: &CallToolResult) -> String {
    result.content.first().and_then(|block| block.as_text()).map(|text| text.text.clone()).unwrap()
}

#[tokio::test]
async fn every_tool_says_what_it_takes_and_gives() {
    let connected = connected().await;
    let tools = connected.client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["assess_image", "score_image", "compare_images", "find_regions", "list_tools"]);
    for tool in &tools {
        assert!(tool.description.as_ref().unwrap().len() > 100 && tool.output_schema.is_some(), "{}", tool.name);
        assert_eq!(tool.annotations.as_ref().unwrap().read_only_hint, Some(true));
    }
    let info = connected.client.peer_info().unwrap();
    assert!(info.instructions.as_ref().unwrap().contains("assess_image"));
    assert_eq!(info.server_info.as_ref().unwrap().name, "agenticiqa");
}

#[tokio::test]
async fn a_picture_is_scored_with_its_original_and_a_map() {
    let connected = connected().await;
    let arguments =
        json!({"image": "osprey-blurred.jpg", "reference": "osprey.jpg", "tools": ["SSIM", "Fused-FR"], "map": "SSIM"});
    let (data, text, pictures) = connected.call("score_image", arguments).await;
    let scores = data["scores"].as_array().unwrap();
    assert_eq!(scores.len(), 2);
    let ssim = &scores[0];
    assert_eq!((&ssim["tool"], &ssim["lower_is_better"]), (&json!("SSIM"), &json!(false)));
    let raw = ssim["raw_score"].as_f64().unwrap();
    assert!((0.3..0.99).contains(&raw), "{raw}");
    assert_eq!(data["overall"]["tool"], "Fused-FR");
    let [low, high] = [0, 1].map(|end| data["overall"]["interval"][end].as_f64().unwrap());
    let overall = data["overall"]["score"].as_f64().unwrap();
    assert!(low < overall && overall < high && high < 5.0, "{low} {overall} {high}");
    assert!(text.contains("SSIM: 0.") && text.contains("higher is better"), "{text}");
    assert_eq!(data["map"]["against"], "osprey.jpg");
    // The map shows damage, so some pixels are colored.
    let colorful = (0..pictures[0].width()).any(|x| {
        let [red, _, blue] = [0, 1, 2].map(|channel| pictures[0].channel(channel).at(x, pictures[0].height() / 3));
        (red - blue).abs() > 40.0
    });
    assert!(pictures.len() == 1 && colorful);
}

#[tokio::test]
async fn a_region_is_scored_alone_and_identical_pictures_are_infinitely_close() {
    let connected = connected().await;
    let region = json!({"name": "bird", "x": 10, "y": 20, "width": 200, "height": 160});
    let arguments = json!({"image": "osprey.jpg", "tools": ["Noise", "NIQE"], "regions": [region], "map": "NIQE"});
    let (data, _, pictures) = connected.call("score_image", arguments).await;
    assert!(data["scores"].as_array().unwrap().iter().all(|row| row["region"] == "bird"));
    assert_eq!((&data["map"]["region"], &data["overall"]), (&json!("bird"), &Value::Null));
    // 200x160 is enlarged, with the same aspect ratio.
    assert_eq!(pictures[0].width(), 400);
    let same = json!({"image": "osprey.jpg", "reference": "osprey.jpg", "tools": ["PSNR"]});
    let (data, text, _) = connected.call("score_image", same).await;
    assert_eq!((&data["scores"][0]["raw_score"], &data["scores"][0]["score"]), (&Value::Null, &json!(5.0)));
    assert!(text.contains("PSNR: infinite"), "{text}");
}

#[tokio::test]
async fn regions_are_found_by_name() {
    let connected = connected().await;
    let arguments = json!({"image": "osprey.jpg", "names": ["lower right", "the chandelier"]});
    let (data, text, _) = connected.call("find_regions", arguments).await;
    assert_eq!((&data["regions"][0]["origin"], &data["regions"][0]["probability"]), (&json!("position"), &json!(1.0)));
    assert!(text.contains("the chandelier: not found"), "{text}");
}

#[tokio::test]
async fn a_question_is_answered_and_the_client_hears_of_every_step() {
    let connected = connected().await;
    let arguments = json!({
        "image": "osprey-blurred.jpg", "reference": "osprey.jpg", "query": "Which distortion is worst?",
        "options": ["Noise", "Blur", "Too dark"], "tools": ["SSIM"], "max_replan_iterations": 0, "map": "GMSD"
    });
    let (data, text, pictures) = connected.call("assess_image", arguments).await;
    assert_eq!((&data["final_answer"], &data["answer_form"]), (&json!("B"), &json!("choice")));
    assert!(
        data["measurements"].as_array().unwrap().iter().any(|row| row["tool"] == "SSIM" && row["raw_score"].is_f64())
    );
    assert_eq!(data["backends"], json!(["builtin"]));
    assert!(data["distortions"].as_array().unwrap().iter().any(|found| found["type"] == "Blurs"), "{data}");
    assert!(text.starts_with("Answer: B\n") && pictures.len() == 1, "{text}");
    let heard = connected.client.service().heard.lock().unwrap().clone();
    let steps: Vec<f64> = heard.iter().map(|progress| progress.progress).collect();
    assert!(steps.len() > 4 && steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    let messages: Vec<&str> = heard.iter().filter_map(|progress| progress.message.as_deref()).collect();
    for part in ["planner started", "tool execution finished", "SSIM of", "summarizer started"] {
        assert!(messages.iter().any(|message| message.contains(part)), "{part}: {messages:?}");
    }
}

#[tokio::test]
async fn a_score_comes_with_its_parts_and_with_advice() {
    let connected = connected().await;
    let arguments = json!({"image": "osprey-compressed.jpg", "query": "Assess the overall quality of this image."});
    let (data, text, _) = connected.call("assess_image", arguments).await;
    let parts = data["contributions"].as_array().unwrap();
    let sum: f64 = parts.iter().map(|part| part["value"].as_f64().unwrap()).sum();
    assert!(parts.len() > 2 && (sum - data["quality_score"].as_f64().unwrap()).abs() < 0.05, "{data}");
    assert_eq!((&parts[0]["name"], &parts[1]["name"]), (&json!("clean image"), &json!("compression")));
    assert_eq!(data["advice"][0]["operation"], "deblock");
    let todo = data["recommendations"][0].as_str().unwrap();
    assert!(
        todo.contains("quality 80 or more") && text.contains(todo) && text.contains("Parts of the score"),
        "{text}"
    );
}

#[tokio::test]
async fn the_better_picture_is_found_with_and_without_the_original() {
    let connected = connected().await;
    let pair = json!({"images": ["osprey-blurred.jpg", "osprey.jpg"]});
    let (data, text, pictures) = connected.call("compare_images", pair).await;
    assert_eq!(data["ranked_by"], "Fused-NR");
    assert_eq!((&data["pictures"][0]["image"], &data["pictures"][0]["index"]), (&json!("osprey.jpg"), &json!(1)));
    let comparison = &data["comparisons"][0];
    assert_eq!(comparison["better"], "osprey.jpg");
    let score = |place: usize| data["pictures"][place]["overall"]["score"].as_f64().unwrap();
    assert!(
        (comparison["difference"].as_f64().unwrap() - (score(0) - score(1))).abs() < 1e-9 && score(0) > score(1) + 0.2
    );
    assert!(comparison["intervals_overlap"].is_boolean());
    assert!(text.contains("osprey.jpg is better than osprey-blurred.jpg by "), "{text}");
    assert_eq!((pictures.len(), &data["maps"][0]["against"]), (1, &json!("osprey.jpg")));

    let request = json!({"images": ["osprey-blurred.jpg"], "reference": "osprey.jpg", "map": "none"});
    let (data, text, pictures) = connected.call("compare_images", request).await;
    assert_eq!((&data["ranked_by"], &data["reference"]["image"]), (&json!("Fused-FR"), &json!("osprey.jpg")));
    assert_eq!(
        (&data["comparisons"][0]["better"], &data["comparisons"][0]["tool"]),
        (&json!("osprey.jpg"), &json!("Fused-NR"))
    );
    assert!(
        pictures.is_empty() && text.starts_with("Compared with the reference, osprey-blurred.jpg scores "),
        "{text}"
    );

    let three = json!({"images": ["osprey-blurred.jpg", "osprey.jpg", "osprey.jpg"], "reference": "osprey.jpg", "tools": ["Noise", "SSIM"]});
    let (data, _, pictures) = connected.call("compare_images", three).await;
    assert_eq!(data["ranked_by"], "SSIM");
    let ranks: Vec<_> = data["pictures"].as_array().unwrap().iter().map(|one| one["rank"].as_u64().unwrap()).collect();
    assert_eq!((ranks, pictures.len()), (vec![1, 1, 3], 3));
}

#[tokio::test]
async fn pictures_of_other_sizes_are_ranked_and_what_cannot_be_drawn_is_said() {
    let connected = connected().await;
    let (data, text, pictures) =
        connected.call("compare_images", json!({"images": ["otters.jpg", "osprey.jpg"]})).await;
    assert_eq!((data["pictures"].as_array().unwrap().len(), pictures.len()), (2, 0));
    assert!(text.contains("Note: no map of "), "{text}");
    let request = json!({"images": ["otters.jpg"], "reference": "osprey.jpg"});
    assert!(connected.fail("compare_images", request).await.contains("size"));
}

#[tokio::test]
async fn bytes_are_taken_in_base64_with_and_without_a_header() {
    let connected = connect(Client::default(), Access::Server, |_| {}).await;
    let bytes = STANDARD.encode(std::fs::read(repository("examples/osprey.jpg")).unwrap());
    for image in [bytes.clone(), format!("data:image/jpeg;base64,{bytes}")] {
        let (data, ..) = connected.call("score_image", json!({"image": image, "tools": ["Brightness"]})).await;
        assert!(data["scores"][0]["raw_score"].as_f64().unwrap() > 1.0);
    }
    let refused = connected.fail("score_image", json!({"image": "osprey.jpg"})).await;
    assert!(refused.contains("allow a folder (server.allow_roots)") && refused.contains("send the image"), "{refused}");
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_outside_of_the_allowed_folders_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in");
    std::fs::create_dir(&inside).unwrap();
    for place in [inside.join("a.jpg"), folder.path().join("secret.jpg")] {
        std::fs::copy(repository("examples/osprey.jpg"), place).unwrap();
    }
    std::os::unix::fs::symlink(folder.path().join("secret.jpg"), inside.join("link.jpg")).unwrap();
    let connected =
        connect(Client::default(), Access::Server, |server| server.allow_roots = vec![inside.clone()]).await;
    let score = |image: String| json!({"image": image, "tools": ["Brightness"]});
    connected.call("score_image", score("a.jpg".into())).await;
    connected.call("score_image", score(format!("file://{}", inside.join("a.jpg").display()))).await;
    let secret = folder.path().join("secret.jpg").display().to_string();
    for path in ["link.jpg", "../secret.jpg", "../in/../secret.jpg", &secret, "/etc/passwd", "../none.jpg"] {
        let message = connected.fail("score_image", score(path.to_owned())).await;
        assert!(
            message.contains("outside of the allowed folders")
                && message.contains("allow a folder (server.allow_roots)"),
            "{path}: {message}"
        );
    }
    let compared = connected.fail("compare_images", json!({"images": ["a.jpg", secret]})).await;
    assert!(compared.contains("outside of the allowed folders"), "{compared}");
}

#[tokio::test]
async fn the_folders_of_the_client_count_and_may_change() {
    let data = tempfile::tempdir().unwrap();
    std::fs::copy(repository("examples/osprey.jpg"), data.path().join("mine.jpg")).unwrap();
    let address = |path: &Path| format!("file://{}", path.canonicalize().unwrap().display());
    let roots = Arc::new(Mutex::new(vec![address(data.path()), "file:///none/such".to_owned()]));
    let client = Client { roots: Some(Arc::clone(&roots)), ..Client::default() };
    let connected = connect(client, Access::of_client(), |_| {}).await;
    let score = |image: &str| json!({"image": image, "tools": ["Brightness"]});
    connected.call("score_image", score("mine.jpg")).await;
    let other = repository("examples/osprey.jpg").canonicalize().unwrap();
    let refused = connected.fail("score_image", score(&other.display().to_string())).await;
    let folder = data.path().canonicalize().unwrap();
    assert!(refused.contains(&format!("name a file below {}", folder.display())), "{refused}");
    *roots.lock().unwrap() = vec![address(&repository("examples"))];
    connected.client.notify_roots_list_changed().await.unwrap();
    connected.call("score_image", score(&other.display().to_string())).await;
    assert!(connected.fail("score_image", score("mine.jpg")).await.contains("mine.jpg"));
}

#[tokio::test]
async fn a_client_without_folders_may_name_files_of_the_working_folder() {
    let connected = connect(Client::default(), Access::of_client(), |_| {}).await;
    // Tests run in the folder of their crate.
    let refused = connected.fail("score_image", json!({"image": "../../examples/osprey.jpg"})).await;
    assert!(refused.contains("outside of the allowed folders"), "{refused}");
    let no_picture = connected.fail("score_image", json!({"image": "Cargo.toml"})).await;
    assert!(no_picture.contains("Cargo.toml"), "{no_picture}");
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_said_to_the_model() {
    let connected = connected().await;
    let cases = [
        ("assess_image", json!({"image": "osprey.jpg"}), "query"),
        ("assess_image", json!({"image": "osprey.jpg", "query": " "}), "query is empty"),
        ("assess_image", json!({"image": "osprey.jpg", "query": "ok?", "max_replan_iterations": 9}), "0 to 5"),
        ("assess_image", json!({"image": "osprey.jpg", "query": "ok?", "tools": ["SSIMM"]}), "SSIMM"),
        ("score_image", json!({"picture": "osprey.jpg"}), "unknown field `picture`, expected one of `image`"),
        ("score_image", json!({"image": 3}), "image: invalid type"),
        ("score_image", json!({"image": "none.jpg"}), "none.jpg"),
        ("score_image", json!({"image": "https://example.org/a.png"}), "URLs are not downloaded"),
        ("score_image", json!({"image": "data:image/png;base64,aGVsbG8gd29ybGQ="}), "image"),
        ("score_image", json!({"image": "data:image/png;base64,****"}), "not base64"),
        ("score_image", json!({"image": "osprey.jpg", "tools": ["SSIM"]}), "reference"),
        ("score_image", json!({"image": "osprey.jpg", "tools": ["NIQE"], "all": true}), "not both"),
        (
            "score_image",
            json!({"image": "osprey.jpg", "map": "BRISQUE"}),
            "map: BRISQUE has no map; metrics with a map: ",
        ),
        ("score_image", json!({"image": "osprey.jpg", "map": "SSIM"}), "needs a `reference`"),
        (
            "score_image",
            json!({"image": "osprey.jpg", "regions": [{"name": "far", "x": 99999, "y": 0, "width": 5, "height": 5}]}),
            "far",
        ),
        ("compare_images", json!({"images": ["osprey.jpg"]}), "two or more"),
        ("compare_images", json!({"images": vec!["osprey.jpg"; 17]}), "at most 16"),
        ("compare_images", json!({"images": ["osprey.jpg", "otters.jpg"], "map": "NIQE"}), "type FR"),
        ("list_tools", json!({"type": "XR"}), "type"),
    ];
    for (tool, arguments, part) in cases {
        let message = connected.fail(tool, arguments.clone()).await;
        assert!(message.contains(part), "{tool} {arguments}: {message}");
    }
    let unknown = connected.try_call("paint_image", json!({})).await.unwrap_err();
    assert!(unknown.to_string().contains("unknown tool"), "{unknown}");
    // The server still works.
    let (data, text, _) = connected.call("list_tools", json!({"type": "NR"})).await;
    assert!(data["tools"].as_array().unwrap().iter().all(|tool| tool["type"] == "NR" && tool["available"] == true));
    assert!(text.contains("BRISQUE (NR, lower is better)"), "{text}");
}

/// A noise image that no cache contains, large enough to take a while.
fn noise(side: usize) -> String {
    let mut random = fastrand::Rng::with_seed(7);
    let samples = (0..side * side * 3).map(|_| random.u8(..)).collect();
    let image = Image::from_rgb8(side, side, samples).unwrap();
    STANDARD.encode(agenticiqa::imaging::encode_png(&image).unwrap())
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_without_an_answer_and_makes_room() {
    let connected = connected().await;
    let Value::Object(arguments) = json!({"image": noise(1500), "query": "How good is it?"}) else { unreachable!() };
    let params = CallToolRequestParams::new("assess_image").with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let call = connected.client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
    until("work has begun", || connected.app.admission.running() == 1).await;
    call.cancel(Some("enough".into())).await.unwrap();
    until("work has ended", || connected.app.admission.running() == 0).await;
    connected.call("assess_image", json!({"image": "osprey.jpg", "query": "Is it dark?"})).await;
    // Only the second assessment was stored.
    let rows = connected.app.store.assessment_rows(None, 10).unwrap();
    assert!(rows.len() == 1 && String::from_utf8_lossy(&rows[0]).contains("Is it dark?"), "{rows:?}");
}

async fn until(what: &str, is: impl Fn() -> bool) {
    for _ in 0..2400 {
        if is() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("timed out waiting until {what}");
}

/// A running HTTP server.
struct Listening {
    _data: tempfile::TempDir,
    app: Arc<App>,
    url: String,
    http: reqwest::Client,
    served: tokio::task::JoinHandle<()>,
}

async fn listen(variables: &[(&str, &str)], change: impl FnOnce(&mut ServerSettings)) -> Listening {
    let data = tempfile::tempdir().unwrap();
    let app = app(data.path(), variables, |server| {
        server.allow_roots = vec![repository("examples")];
        change(server);
    });
    let server = Server::bind(Arc::clone(&app)).await.unwrap();
    let url = format!("http://{}/mcp", server.address().unwrap());
    let served = tokio::spawn(server.run(router(&app)));
    // Another test may have done this already.
    drop(rustls::crypto::ring::default_provider().install_default());
    Listening { _data: data, app, url, http: reqwest::Client::builder().no_proxy().build().unwrap(), served }
}

impl Listening {
    fn post(&self, message: &Value) -> reqwest::RequestBuilder {
        let request = self.http.post(&self.url).header("content-type", "application/json");
        request.header("accept", "application/json, text/event-stream").body(message.to_string())
    }
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
}

/// Returns the response with an ID from an event stream.
fn answer(stream: &str, id: u64) -> Value {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let messages = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    messages.into_iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("no answer {id}: {stream}"))
}

#[tokio::test]
async fn the_same_is_offered_over_http_in_a_session_that_can_be_closed() {
    let server = listen(&[("NO", "KEY")], |_| {}).await;
    let begun = server.post(&initialize()).send().await.unwrap();
    assert_eq!(begun.status(), 200);
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let told = answer(&begun.text().await.unwrap(), 1);
    assert_eq!(told["result"]["serverInfo"]["name"], "agenticiqa");
    let with = |request: reqwest::RequestBuilder| request.header("mcp-session-id", &session);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(with(server.post(&initialized)).send().await.unwrap().status(), 202);
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params":
        {"name": "score_image", "arguments": {"image": "osprey.jpg", "tools": ["NIQE"], "map": "NIQE"}}});
    let called = with(server.post(&call)).send().await.unwrap().text().await.unwrap();
    let result = &answer(&called, 2)["result"];
    assert_eq!((&result["isError"], &result["content"][1]["mimeType"]), (&json!(false), &json!("image/png")));
    assert!(result["structuredContent"]["scores"][0]["raw_score"].as_f64().unwrap() > 0.0);
    let closed = with(server.http.delete(&server.url)).send().await.unwrap();
    assert_eq!(closed.status(), 204);
    assert_eq!(with(server.post(&call)).send().await.unwrap().status(), 404);
    server.app.end();
    tokio::time::timeout(Duration::from_secs(20), server.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_call_over_http_is_cancelled_by_a_message_of_its_session() {
    let server = listen(&[("NO", "KEY")], |_| {}).await;
    let begun = server.post(&initialize()).send().await.unwrap();
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    begun.text().await.unwrap();
    let post = |message: &Value| server.post(message).header("mcp-session-id", &session);
    post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).send().await.unwrap();
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params":
        {"name": "assess_image", "arguments": {"image": noise(1500), "query": "How good is it?"}}});
    let _stream = post(&call).send().await.unwrap();
    until("work has begun", || server.app.admission.running() == 1).await;
    let enough = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(post(&enough).send().await.unwrap().status(), 202);
    until("work has ended", || server.app.admission.running() == 0).await;
    let list = json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list"});
    let listed = answer(&post(&list).send().await.unwrap().text().await.unwrap(), 8);
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 5);
    assert!(server.app.store.assessment_rows(None, 10).unwrap().is_empty());
}

#[tokio::test]
async fn over_http_the_token_is_asked_for_and_other_sites_are_refused() {
    let server = listen(&[("AGENTICIQA_TOKEN", "open-sesame")], |_| {}).await;
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status().as_u16();
    let shown = |request: reqwest::RequestBuilder| request.header("authorization", "Bearer open-sesame");
    assert_eq!(status(server.post(&initialize())).await, 401);
    assert_eq!(status(server.post(&initialize()).header("authorization", "Bearer open")).await, 401);
    assert_eq!(status(shown(server.post(&initialize()))).await, 200);
    assert_eq!(status(shown(server.post(&initialize())).header("origin", "http://evil.example")).await, 403);
    assert_eq!(status(shown(server.post(&initialize())).header("origin", "null")).await, 403);
    assert_eq!(status(shown(server.post(&initialize())).header("host", "evil.example")).await, 421);
    let stream = |request: reqwest::RequestBuilder| shown(request).header("accept", "text/event-stream");
    assert_eq!(status(stream(server.http.get(&server.url)).header("origin", "http://evil.example")).await, 403);
    let own = server.url.trim_end_matches("/mcp").to_owned();
    assert_eq!(status(shown(server.post(&initialize())).header("origin", own)).await, 200);
}

#[tokio::test]
async fn over_http_messages_are_bounded_and_nonsense_is_refused() {
    let server = listen(&[("NO", "KEY")], |server| server.max_body_bytes = 10_000).await;
    let large = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x".repeat(20_000)}});
    let refused = server.post(&large).send().await.unwrap();
    assert_eq!(refused.status(), 413);
    for body in ["", "nonsense", "[]", "{\"jsonrpc\":\"2.0\"}"] {
        let refused = server.post(&Value::Null).body(body).send().await.unwrap();
        assert!((400..500).contains(&refused.status().as_u16()), "{body:?}: {}", refused.status());
    }
    assert_eq!(server.post(&initialize()).send().await.unwrap().status(), 200);
}
