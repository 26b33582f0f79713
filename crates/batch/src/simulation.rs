//! Tests of throughput, budgets and limits with a slow model and a simulated clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::run::Crew;
use super::testing::{folder, with_reasoners};
use super::writer::Writer;
use super::*;
use agenticiqa_agent::Agent;
use agenticiqa_agent::reasoner::Reasoner;
use agenticiqa_agent::reasoner::vlm::VlmReasoner;
use agenticiqa_agent::state::{Mode, Node};
use agenticiqa_vlm::{
    Answer, Attachment, Calls, Capabilities, Client, Limits, Options as CallOptions, Prompt, Traffic, Usage, Vlm,
};

const PLAN: &str = r#"{"query_type": "IQA", "query_scope": "Global", "distortion_source": "Inferred", "distortions": null,
    "reference_mode": "No-Reference", "required_tool": null, "plan": {"distortion_detection": true,
    "distortion_analysis": true, "tool_selection": false, "tool_execution": false}}"#;
const ANSWERS: [(&str, &str); 4] = [
    ("You are a planner", PLAN),
    ("You are an expert", r#"{"distortion_set": {"Global": ["Blurs"]}}"#),
    (
        "You are a distortion",
        r#"{"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "none", "explanation": "x"}]}}"#,
    ),
    ("You are a visual", r#"{"final_answer": "B", "quality_reasoning": "Sharp."}"#),
];
/// The number of calls per sample with that plan.
const CALLS: u64 = 4;

/// A model with a simulated delay.
#[derive(Debug, Default)]
struct Slow {
    takes: Duration,
    calls: AtomicU64,
    running: AtomicUsize,
    most: AtomicUsize,
}

impl Vlm for Slow {
    fn name(&self) -> &str {
        "openai.slow"
    }

    fn generate<'a>(
        &'a self,
        prompt: &'a Prompt,
        _: &'a [Attachment],
        _: &'a CallOptions,
    ) -> BoxFuture<'a, Result<Answer, agenticiqa_vlm::Error>> {
        Box::pin(async move {
            let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(running, Ordering::SeqCst);
            tokio::time::sleep(self.takes).await;
            self.running.fetch_sub(1, Ordering::SeqCst);
            self.calls.fetch_add(1, Ordering::SeqCst);
            let text = ANSWERS.iter().find(|(begin, _)| prompt.system.starts_with(begin)).map_or("", |(_, text)| text);
            let usage = Usage { prompt_tokens: 900_000, completion_tokens: 100_000 };
            Ok(Answer { text: text.to_owned(), logprobs: None, usage, model: "slow".into(), truncated: false })
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { json_schema: true, logprobs: true }
    }

    fn accepts(&self, _: &str) -> bool {
        true
    }
}

fn agent(model: &Arc<Slow>, calls: usize, limits: Limits) -> Agent {
    let traffic = Traffic { for_all: limits, calls: Some(Calls::new(calls)), ..Traffic::default() };
    let model = traffic.around(Arc::clone(model) as Arc<dyn Vlm>);
    let of = |node: Node| -> Arc<dyn Reasoner> {
        let client = Client::new(Arc::clone(&model));
        // Measurements of hundreds of images would take minutes of real time.
        Arc::new(VlmReasoner { attempts: 1, mode: Mode::Paper, ..VlmReasoner::new(node, client) })
    };
    let mut agent = with_reasoners(of(Node::Planner), of(Node::Executor), of(Node::Summarizer));
    agent.options.max_replan_iterations = 0;
    agent.options.rates = serde_json::from_str(r#"{"openai.*": {"prompt": 0.1, "completion": 0.1}}"#).unwrap();
    agent
}

/// Runs the batch with a paused clock: lines are available at once and the disk takes no time.
async fn simulate(batch: &Batch, agent: Agent) -> (Summary, Duration) {
    let items: Vec<_> = batch.input.items(&batch.paths).unwrap().collect();
    let (sender, lines) = mpsc::channel(items.len().max(1));
    let total = items.len() as u64;
    for item in items {
        sender.try_send(item).unwrap();
    }
    drop(sender);
    let writer = Writer::start("nowhere".into(), Output::new(tempfile::tempfile().unwrap(), 0), None);
    let mut crew = Crew::new(batch, Arc::new(agent), writer);
    let mut summary = Summary::new(total, 0, 0);
    let start = Instant::now();
    summary.ending = crew.work(lines, &StopSignal::default(), &mut summary, &mut |_, _| ()).await.unwrap();
    (summary, start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn thirty_two_calls_at_a_time_are_kept_going() {
    let (_place, mut batch) = folder(600);
    batch.options.concurrency = 34;
    let model = Arc::new(Slow { takes: Duration::from_millis(200), ..Slow::default() });
    let (summary, elapsed) = simulate(&batch, agent(&model, 32, Limits::default())).await;
    assert_eq!((summary.failed, summary.written()), (0, 600));
    assert_eq!(model.calls.load(Ordering::SeqCst), 600 * CALLS);
    assert_eq!(model.most.load(Ordering::SeqCst), 32);
    let ideal = 0.2 * (600 * CALLS) as f64 / 32.0;
    let reached = ideal / elapsed.as_secs_f64();
    assert!(reached > 0.9, "{reached:.3} of the ideal throughput");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_limit_is_no_timeout() {
    let (_place, mut batch) = folder(30);
    batch.options.concurrency = 30;
    batch.options.sample_timeout = Some(Duration::from_secs(20));
    let model = Arc::new(Slow { takes: Duration::from_secs(1), ..Slow::default() });
    let limits = Limits { requests_per_minute: Some(10.0), tokens_per_minute: None };
    let (summary, elapsed) = simulate(&batch, agent(&model, 8, limits)).await;
    assert_eq!((summary.failed, summary.partial), (0, 0), "{:?}", summary.errors);
    let minutes = elapsed.as_secs_f64() / 60.0;
    assert!((minutes - 12.0).abs() < 0.2, "120 calls at 10 a minute: {minutes:.2}");
}

#[tokio::test(start_paused = true)]
async fn time_and_money_end_a_run_cleanly() {
    let (_place, mut batch) = folder(50);
    batch.options.concurrency = 1;
    batch.options.budget = Budget { max_time: Some(Duration::from_secs(10)), max_cost: None };
    let model = Arc::new(Slow { takes: Duration::from_millis(500), ..Slow::default() });
    let (summary, elapsed) = simulate(&batch, agent(&model, 1, Limits::default())).await;
    // Two seconds per sample: the fifth ends at the limit, or a sixth has just started.
    assert_eq!(summary.ending, Ending::MaxTime);
    assert!((5..=6).contains(&summary.written()) && elapsed.as_secs() <= 12, "{} {elapsed:?}", summary.written());
    batch.options.concurrency = 5;
    // A million tokens per call for ten cents: 40 cents per sample.
    batch.options.budget = Budget { max_time: None, max_cost: Some(8.0) };
    let (summary, _) = simulate(&batch, agent(&model, 5, Limits::default())).await;
    assert_eq!(summary.ending, Ending::MaxCost);
    let cost = summary.cost_usd.unwrap();
    assert!((7.5..=8.0 + 1e-9).contains(&cost), "{cost}");
}
