use agenticiqa::agent::Agent;
use agenticiqa::config::{Environment, Overrides, Settings};
use agenticiqa::events::EventLog;
use agenticiqa::setup;
use agenticiqa::state::{AssessmentRecord, ByNode, FinalStatus};
use agenticiqa::tools::Registry;
use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::seeds::support::{plan_json, request};
use crate::vlm::support::{KEY, calls, completion, ok};

/// The number of requests of one assessment: plan, detection, analysis, selection, conclusion.
const QUESTIONS: usize = 5;

/// Answers each role, which is known by its answer schema.
struct Roles;

impl Respond for Roles {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        let blur = json!([{"type": "Blurs", "severity": "slight", "explanation": "soft"}]);
        let answer = match body["response_format"]["json_schema"]["name"].as_str().unwrap() {
            "plan" => plan_json(json!("Global"), [true; 4]),
            "distortion_set" => json!({"distortion_set": {"Global": ["Blurs"]}}),
            "distortion_analysis" => json!({"distortion_analysis": {"Global": blur}}),
            "selected_tools" => json!({"selected_tools": {"Global": {"Blurs": "PIQE"}}}),
            _ => json!({"final_answer": "B", "quality_reasoning": "PIQE is high."}),
        };
        ok(completion(&answer.to_string()))
    }
}

async fn server() -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(Roles).mount(&server).await;
    server
}

/// The agent of the program, with this text as pipeline.yaml.
fn agent(server: &MockServer, pipeline: &str) -> Agent {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pipeline.yaml"), pipeline).unwrap();
    let variables = [("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", &server.uri())];
    let environment = Environment::with_variables(folder.path(), variables).unwrap();
    // The answers of the server contradict the measurements, which would lead to new plans.
    let assignments = vec![("pipeline.mode".to_owned(), "paper".to_owned())];
    let overrides = Overrides { backend: Some("openai.gpt-4o".to_owned()), assignments, ..Overrides::default() };
    let settings = Settings::load(Some(folder.path()), &environment, &overrides).unwrap();
    setup::agent(&settings, &environment, Registry::builtin().unwrap()).unwrap()
}

async fn assess(agent: &Agent) -> AssessmentRecord {
    let record = agent.assess(request("Rate the quality."), EventLog::default()).await.unwrap();
    assert_eq!(record.metadata.final_status, FinalStatus::Success, "{:?}", record.metadata.error_details);
    record
}

const ALL: ByNode<u64> = ByNode { planner: 1, executor: 3, summarizer: 1 };

#[tokio::test]
async fn by_default_the_same_question_is_sent_once() {
    let server = server().await;
    let agent = agent(&server, "");
    let first = assess(&agent).await;
    assert_eq!((calls(&server).await, first.metadata.cached_answers), (QUESTIONS, ByNode::default()));
    let second = assess(&agent).await;
    assert_eq!((calls(&server).await, second.metadata.cached_answers), (QUESTIONS, ALL));
    assert_eq!(second.summarizer_result, first.summarizer_result);
    assess(&self::agent(&server, "")).await;
    assert_eq!(calls(&server).await, 2 * QUESTIONS, "without a folder, another agent knows nothing");
}

#[tokio::test]
async fn a_cache_that_is_off_asks_every_time() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let pipeline = json!({"cache": {"model_answers": false, "disk": folder.path()}}).to_string();
    let agent = agent(&server, &pipeline);
    for asked in 1..=2 {
        let record = assess(&agent).await;
        assert_eq!((calls(&server).await, record.metadata.cached_answers), (asked * QUESTIONS, ByNode::default()));
    }
    assert!(!folder.path().join("answers").exists());
}

#[tokio::test]
async fn a_folder_keeps_the_answers_for_other_agents() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let pipeline = json!({"cache": {"disk": folder.path()}}).to_string();
    let first = assess(&agent(&server, &pipeline)).await;
    let second = assess(&agent(&server, &pipeline)).await;
    assert_eq!((calls(&server).await, second.metadata.cached_answers), (QUESTIONS, ALL));
    assert_eq!(second.summarizer_result, first.summarizer_result);
    let elsewhere = self::server().await;
    assess(&agent(&elsewhere, &pipeline)).await;
    assert_eq!(calls(&elsewhere).await, QUESTIONS, "a model of the same name at another address is another model");
}
