//! Test support: a small image, and a model with scripted answers.
//!
//! A real model cannot be made to fail on demand. Tests with a real server are separate.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenticiqa::agent::{Agent, Input, Options as AgentOptions, Request};
use agenticiqa::events::EventLog;
use agenticiqa::imaging::{Decoder, encode_png};
use agenticiqa::inputs::{Inputs, Source};
use agenticiqa::metrics::Image;
use agenticiqa::reasoner::vlm::VlmReasoner;
use agenticiqa::reasoner::{Context, Reasoner};
use agenticiqa::state::Node;
use agenticiqa::state::{AgenticIqaState, AnswerForm, AssessmentRecord, ByNode, ExecutorOutput, PlannerOutput, Text};
use agenticiqa::tools::{Registry, ToolCache, ToolList, ToolResources};
use agenticiqa::vlm::{
    Answer, Attachment, Capabilities, Client, Error, KeptSize, Options, Prompt, RetryPolicy, TokenLogprob, Usage, Vlm,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// A call that the model received.
#[derive(Debug, Clone)]
pub struct Call {
    pub prompt: Prompt,
    pub images: Vec<String>,
    pub options: Options,
}

/// The answers of a model, in order.
type Script = VecDeque<Result<String, Error>>;

/// A model with scripted answers for each role. The last answer of a role repeats.
#[derive(Debug, Default)]
pub struct Scripted {
    name: String,
    answers: Mutex<Vec<(&'static str, Script)>>,
    logprobs: Option<Vec<TokenLogprob>>,
    delay: Duration,
    kept: Option<KeptSize>,
    calls: Mutex<Vec<Call>>,
}

/// The roles, recognized by the beginning of their instructions.
const ROLES: [(&str, &str); 8] = [
    ("joined", "Do the following tasks"),
    ("plan", "You are a planner"),
    ("detect", "You are an expert in distortion detection"),
    ("analyze", "You are a distortion analysis expert"),
    ("select", "You are a tool executor"),
    ("ground", "You locate objects"),
    ("answer", "You are a visual quality assessment assistant. Your task is to select"),
    ("score", "You are a visual quality assessment assistant. Given the question"),
];

impl Scripted {
    pub fn new() -> Self {
        Self { name: "openai.scripted".to_owned(), ..Self::default() }
    }

    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Sets the answers of a role, in order.
    pub fn says(self, role: &'static str, answers: &[&str]) -> Self {
        self.gives(role, answers.iter().map(|answer| Ok((*answer).to_owned())).collect())
    }

    pub fn gives(self, role: &'static str, answers: Script) -> Self {
        self.answers.lock().unwrap().push((role, answers));
        self
    }

    /// Replaces the answers of a role.
    pub fn replaces(self, role: &'static str, answers: &[&str]) -> Self {
        self.answers.lock().unwrap().retain(|(of, _)| *of != role);
        self.says(role, answers)
    }

    /// Sets the delay of each answer.
    pub fn slow(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// Sets the size to which the provider shrinks images.
    pub fn keeping(self, kept: KeptSize) -> Self {
        Self { kept: Some(kept), ..self }
    }

    pub fn with_logprobs(self, logprobs: Vec<TokenLogprob>) -> Self {
        Self { logprobs: Some(logprobs), ..self }
    }

    pub fn calls(&self, role: &str) -> Vec<Call> {
        self.calls.lock().unwrap().iter().filter(|call| role_of(&call.prompt) == role).cloned().collect()
    }
}

fn role_of(prompt: &Prompt) -> &'static str {
    ROLES.iter().find(|(_, begin)| prompt.system.starts_with(begin)).map(|(role, _)| *role).unwrap()
}

impl Vlm for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn generate<'a>(
        &'a self,
        prompt: &'a Prompt,
        images: &'a [Attachment],
        options: &'a Options,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        async move {
            let labels = images.iter().map(|image| image.label.clone()).collect();
            self.calls.lock().unwrap().push(Call { prompt: prompt.clone(), images: labels, options: options.clone() });
            if !self.delay.is_zero() {
                tokio::time::sleep(self.delay).await;
            }
            let role = role_of(prompt);
            let mut answers = self.answers.lock().unwrap();
            let (_, script) = answers.iter_mut().find(|(of, _)| *of == role).unwrap_or_else(|| panic!("no {role}"));
            let text = if script.len() > 1 { script.pop_front().unwrap() } else { script[0].clone() }?;
            let usage = Usage { prompt_tokens: 100, completion_tokens: 10 };
            let logprobs = self.logprobs.clone().filter(|_| options.logprobs);
            Ok(Answer { text, logprobs, usage, model: self.name.clone(), truncated: false })
        }
        .boxed()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { json_schema: true, logprobs: self.logprobs.is_some() }
    }

    fn accepts(&self, mime: &str) -> bool {
        mime == "image/png"
    }

    fn kept_size(&self) -> KeptSize {
        self.kept.unwrap_or(KeptSize::UNKNOWN)
    }
}

/// A reasoner for a node that calls a model, without pauses between attempts.
pub fn reasoner(model: &Arc<Scripted>, node: Node) -> VlmReasoner {
    let policy = RetryPolicy { attempts: 2, base_delay: Duration::ZERO, max_delay: Duration::ZERO, jitter: 0.0 };
    let client = Client::new(Arc::clone(model) as Arc<dyn Vlm>).with_policy(policy);
    VlmReasoner::new(node, client)
}

/// An agent whose three nodes call the model.
pub fn agent(model: &Arc<Scripted>) -> Agent {
    let of = |node| -> Arc<dyn Reasoner> { Arc::new(reasoner(model, node)) };
    Agent {
        registry: Arc::new(Registry::builtin().unwrap()),
        cache: Arc::new(ToolCache::new(100, None)),
        reasoners: ByNode {
            planner: of(Node::Planner),
            executor: of(Node::Executor),
            summarizer: of(Node::Summarizer),
        },
        options: AgentOptions::default(),
    }
}

/// An image with structure at every scale; `blur` smooths it.
pub fn picture(blur: usize) -> Vec<u8> {
    let (width, height) = (240, 200);
    let value = |x: usize, y: usize| ((x * x / 7 + y * y / 5 + (x * 31 + y * 17) % 23 * 6) % 256) as u32;
    let smooth = |x: usize, y: usize| {
        let (xs, ys) =
            (x.saturating_sub(blur)..=(x + blur).min(width - 1), y.saturating_sub(blur)..=(y + blur).min(height - 1));
        let (count, sum) =
            ys.flat_map(|y| xs.clone().map(move |x| (x, y))).fold((0, 0), |(n, s), (x, y)| (n + 1, s + value(x, y)));
        (sum / count) as u8
    };
    let pixels =
        (0..width * height).flat_map(|i| [smooth(i % width, i / width), smooth(i % width, i / width) / 2 + 40, 90]);
    encode_png(&Image::from_rgb8(width, height, pixels.collect()).unwrap()).unwrap()
}

pub fn request(query: &str) -> Request {
    Request { query: query.to_owned(), ..Request::new(Input::Bytes("photo.png".to_owned(), picture(1))) }
}

pub fn with_reference(request: Request) -> Request {
    Request { reference: Some(Input::Bytes("original.png".to_owned(), picture(0))), ..request }
}

pub async fn assess(model: &Arc<Scripted>, request: Request) -> AssessmentRecord {
    agent(model).assess(request, EventLog::default()).await.unwrap()
}

pub fn text(text: &str) -> Text {
    Text::new(text).unwrap()
}

/// A plan with the given scope and flags (detection, analysis, selection, execution).
pub fn plan_json(scope: Value, flags: [bool; 4]) -> Value {
    json!({
        "query_type": "IQA", "query_scope": scope, "distortion_source": "Inferred", "distortions": null,
        "reference_mode": "No-Reference", "required_tool": null,
        "plan": {"distortion_detection": flags[0], "distortion_analysis": flags[1],
                 "tool_selection": flags[2], "tool_execution": flags[3]},
    })
}

pub fn plan(scope: Value, flags: [bool; 4]) -> PlannerOutput {
    serde_json::from_value(plan_json(scope, flags)).unwrap()
}

pub fn evidence(value: Value) -> ExecutorOutput {
    serde_json::from_value(value).unwrap()
}

/// One run of a tool, as JSON.
pub fn log(tool: &str, object: &str, distortion: &str, score: f64) -> Value {
    json!({"tool_name": tool, "object_name": object, "distortion": distortion, "raw_score": 0.5,
           "normalized_score": score, "execution_time": 0.01, "fallback": false, "error": null,
           "timestamp": "2026-01-02T03:04:05Z"})
}

/// A registry with tools that are programs: what they print is their score.
pub fn registry_with(tools: &[(&str, &str, &str)]) -> Arc<Registry> {
    let mut list = ToolList::builtin().unwrap();
    for (name, kind, printed) in tools {
        let run = ["sh", "-c", &format!("echo {printed}"), "sh", "{image}"];
        let entry = json!({"type": kind, "strengths": ["Noise", "Blurs"], "lower_is_better": false, "range": [1, 5],
                           "backend": "command", "command": {"run": run}});
        list.add(name, serde_json::from_value(entry).unwrap());
    }
    Arc::new(Registry::from_list(list, &ToolResources::default()).unwrap())
}

/// The context of a node, owned.
pub struct Scene {
    pub state: AgenticIqaState,
    pub inputs: Arc<Inputs>,
    pub registry: Arc<Registry>,
    pub events: EventLog,
    pub form: AnswerForm,
}

impl Scene {
    pub fn new(query: &str, form: AnswerForm) -> Self {
        let image = Source::decode(&Decoder::default(), picture(1)).unwrap();
        Self {
            state: AgenticIqaState::new(text("sample"), text(query), text("photo.png")),
            inputs: Arc::new(Inputs::new(image, None).unwrap()),
            registry: Arc::new(Registry::builtin().unwrap()),
            events: EventLog::default(),
            form,
        }
    }

    pub fn with_reference(mut self) -> Self {
        let source = |blur| Source::decode(&Decoder::default(), picture(blur)).unwrap();
        self.inputs = Arc::new(Inputs::new(source(1), Some(source(0))).unwrap());
        self.state.reference_path = Some(text("original.png"));
        self
    }

    pub fn context(&self) -> Context<'_> {
        Context {
            state: &self.state,
            form: self.form,
            inputs: &self.inputs,
            registry: &self.registry,
            events: &self.events,
        }
    }
}

/// Returns everything that is logged while `work` runs, from `level` on.
pub fn logged<T>(level: tracing::Level, work: impl FnOnce() -> T) -> (T, String) {
    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let buffer = Buffer::default();
    let writer = buffer.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(level).with_ansi(false).with_writer(move || writer.clone());
    let value = tracing::subscriber::with_default(subscriber.finish(), work);
    let bytes = buffer.0.lock().unwrap().clone();
    (value, String::from_utf8(bytes).unwrap())
}

/// Runs a future on this thread, so that its log messages are captured.
pub fn block_on<T>(work: impl std::future::Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
