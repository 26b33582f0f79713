//! A test server and its client.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agenticiqa::config::{Environment, Overrides, Server as ServerSettings, Settings};
use agenticiqa::setup;
use agenticiqa_server::{App, Reload, Server, router};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;
use tokio::task::JoinHandle;

/// A running server with its own data folder.
pub struct Running {
    pub app: Arc<App>,
    pub address: SocketAddr,
    pub client: Client,
    task: JoinHandle<()>,
}

/// Returns a path in the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Reads a file of the repository.
pub fn bytes(path: &str) -> Vec<u8> {
    std::fs::read(repository(path)).unwrap()
}

pub const PHOTO: &str = "examples/osprey.jpg";
pub const BLURRED: &str = "examples/osprey-blurred.jpg";

/// Starts a server with changed settings and environment variables.
pub async fn start(data: &Path, variables: &[(&str, &str)], change: impl FnOnce(&mut ServerSettings)) -> Running {
    let environment = Environment::with_variables(data, variables.iter().copied()).unwrap();
    let mut settings = Settings::load(None, &environment, &Overrides::default()).unwrap();
    let server = &mut settings.pipeline.server;
    server.port = 0;
    server.data_dir = Some(data.join("server"));
    change(server);
    let registry = setup::registry(&settings).unwrap();
    let app = App::new(settings, environment, registry, Reload::default()).unwrap();
    let server = Server::bind(Arc::clone(&app)).await.unwrap();
    let address = server.address().unwrap();
    let task = tokio::spawn(server.run(router(&app)));
    // Fails if another test has installed the same provider, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = Client::builder().no_proxy().no_gzip().build().unwrap();
    Running { app, address, client, task }
}

/// Starts a server with default settings.
pub async fn plain() -> (tempfile::TempDir, Running) {
    let data = tempfile::tempdir().unwrap();
    let running = start(data.path(), &[("NO", "KEY")], |_| {}).await;
    (data, running)
}

/// Starts a server that may read the example images.
pub async fn with_root() -> (tempfile::TempDir, Running) {
    let data = tempfile::tempdir().unwrap();
    let running =
        start(data.path(), &[("NO", "KEY")], |server| server.allow_roots = vec![repository("examples")]).await;
    (data, running)
}

impl Running {
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.url(path))
    }

    pub fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(self.url(path))
    }

    pub async fn json(&self, path: &str, body: &Value) -> Answer {
        let request = self.post(path).header("content-type", "application/json").body(body.to_string());
        Answer::of(request.send().await.unwrap()).await
    }

    pub async fn form(&self, path: &str, form: Form) -> Answer {
        Answer::of(form.on(self.post(path)).send().await.unwrap()).await
    }

    pub async fn show(&self, path: &str) -> Answer {
        Answer::of(self.get(path).send().await.unwrap()).await
    }

    /// Shuts the server down, as ctrl-C does, and waits for it.
    pub async fn end(self) {
        self.app.end();
        self.task.await.unwrap();
    }

    /// Waits until a condition holds.
    pub async fn until(&self, what: &str, is: impl AsyncFn() -> bool) {
        for _ in 0..1200 {
            if is().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("timed out waiting for {what}");
    }
}

/// A response with its body.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub async fn of(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, body: response.bytes().await.unwrap().to_vec() }
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// Checks that this is an error with that status and returns its message.
    #[track_caller]
    pub fn problem(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("content-type"), "application/json");
        let detail = &self.value()["detail"];
        assert!(detail["error_type"].as_str().unwrap().ends_with("Error"), "{detail}");
        detail["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        detail["message"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub fn good(&self) -> Value {
        assert!((200..300).contains(&self.status), "{}: {}", self.status, String::from_utf8_lossy(&self.body));
        self.value()
    }
}

const BOUNDARY: &str = "a-boundary-of-the-test";

/// A multipart form, built by hand so that it can also be invalid.
#[derive(Default)]
pub struct Form(pub Vec<u8>);

impl Form {
    pub fn text(mut self, name: &str, text: &str) -> Self {
        self.0.extend(
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n").bytes(),
        );
        self
    }

    pub fn file(mut self, name: &str, file_name: &str, bytes: &[u8]) -> Self {
        let head = format!("name=\"{name}\"; filename=\"{file_name}\"\r\nContent-Type: application/octet-stream");
        self.0.extend(format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n").bytes());
        self.0.extend(bytes);
        self.0.extend(b"\r\n");
        self
    }

    pub fn kind() -> String {
        format!("multipart/form-data; boundary={BOUNDARY}")
    }

    pub fn body(mut self) -> Vec<u8> {
        self.0.extend(format!("--{BOUNDARY}--\r\n").bytes());
        self.0
    }

    pub fn on(self, request: RequestBuilder) -> RequestBuilder {
        request.header("content-type", Self::kind()).body(self.body())
    }
}

/// A server-sent event.
#[derive(Debug, Clone)]
pub struct Event {
    pub name: String,
    pub data: Value,
}

/// Reads all events of a stream.
pub async fn events(response: Response) -> Vec<Event> {
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = String::from_utf8(response.bytes().await.unwrap().to_vec()).unwrap();
    let event = |block: &str| {
        let field =
            |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).map(str::to_owned);
        Some(Event { name: field("event")?, data: serde_json::from_str(&field("data")?).unwrap() })
    };
    text.split("\n\n").filter_map(event).collect()
}

/// A noise image that depends on the seed, so that no cache contains it.
pub fn noise(side: usize, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let samples = (0..side * side * 3).map(|_| random.u8(..)).collect();
    let image = agenticiqa::metrics::Image::from_rgb8(side, side, samples).unwrap();
    agenticiqa::imaging::encode_png(&image).unwrap()
}
