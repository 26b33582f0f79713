use std::sync::atomic::{AtomicU64, Ordering};

use super::super::{JsonSchema, Provider};
use super::*;
use crate::{TokenLogprob, Usage};

/// Returns a different answer each time, with numbers that few JSON readers preserve.
#[derive(Debug, Default)]
struct Fickle {
    calls: AtomicU64,
    failing: std::sync::Mutex<Vec<ErrorKind>>,
}

impl Vlm for Fickle {
    fn name(&self) -> &str {
        "openai.fickle:1"
    }

    fn generate<'a>(
        &'a self,
        prompt: &'a Prompt,
        _: &'a [Attachment],
        _: &'a Options,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        Box::pin(async move {
            let call = self.calls.fetch_add(1, Ordering::SeqCst);
            if let Some(kind) = self.failing.lock().unwrap().pop() {
                return Err(Error::new(self.name(), kind, "failed"));
            }
            let odd = |seed: u64| -f64::from_bits(0x3fb9_9999_9999_0000 + (call * 7919 + seed) * 104_729 % 65_536);
            let top = (0..20).map(|i| (format!("t{i}"), odd(i))).collect();
            Ok(Answer {
                text: format!("{} {call}", prompt.user),
                logprobs: Some(vec![TokenLogprob { token: " yes".into(), logprob: odd(99), top }]),
                usage: Usage { prompt_tokens: 100 + call, completion_tokens: 3 },
                model: "fickle".into(),
                truncated: call % 2 == 1,
            })
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { json_schema: true, logprobs: true }
    }

    fn accepts(&self, mime: &str) -> bool {
        mime == "image/jpeg"
    }

    fn max_image_bytes(&self) -> usize {
        12_345
    }
}

fn prompt(user: &str) -> Prompt {
    Prompt { system: "You judge.".into(), user: user.into() }
}

fn backend() -> BackendName {
    let backend: BackendName = "openai.fickle:1".parse().unwrap();
    assert_eq!(backend.provider(), Provider::OpenAi);
    backend
}

#[tokio::test]
async fn the_same_request_gets_the_same_answer_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let model = Arc::new(Fickle::default());
    let recorder = Recorder::new(Arc::clone(&model) as Arc<dyn Vlm>, folder.path()).unwrap();
    let options = Options::default();
    let mut recorded = Vec::new();
    for number in 0..50 {
        recorded.push(recorder.generate(&prompt(&format!("q{number}")), &[], &options).await.unwrap());
    }
    assert_eq!(recorder.generate(&prompt("q7"), &[], &options).await.unwrap(), recorded[7], "no second answer");
    assert_eq!(model.calls.load(Ordering::SeqCst), 50);
    let player = Player::open(folder.path(), &backend()).unwrap();
    for (number, expected) in recorded.iter().enumerate() {
        let played = player.generate(&prompt(&format!("q{number}")), &[], &options).await.unwrap();
        assert_eq!(played, *expected);
        let bits = |answer: &Answer| {
            answer.logprobs.as_ref().unwrap()[0].top.iter().map(|(_, p)| p.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(bits(&played), bits(expected));
    }
    assert_eq!((player.accepts("image/jpeg"), player.accepts("image/png")), (true, false));
    assert_eq!((player.max_image_bytes(), player.capabilities()), (12_345, model.capabilities()));
}

#[tokio::test]
async fn whatever_shapes_the_answer_makes_another_request() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(Arc::new(Fickle::default()), folder.path()).unwrap();
    let (base, image) = (Options::default(), |bytes: &[u8]| Attachment {
        label: "Image:".into(),
        mime: "image/png",
        bytes: bytes.into(),
    });
    let schema = Some(JsonSchema { name: "x".into(), schema: serde_json::json!({"type": "object"}) });
    let others = [
        Options { temperature: 0.1, ..base.clone() },
        Options { top_p: Some(0.5), ..base.clone() },
        Options { max_tokens: 7, ..base.clone() },
        Options { seed: Some(1), ..base.clone() },
        Options { logprobs: true, ..base.clone() },
        Options { schema, ..base.clone() },
    ];
    let mut answers = vec![recorder.generate(&prompt("q"), &[], &base).await.unwrap().text];
    for options in &others {
        answers.push(recorder.generate(&prompt("q"), &[], options).await.unwrap().text);
    }
    for bytes in [&b"one"[..], b"two"] {
        answers.push(recorder.generate(&prompt("q"), &[image(bytes)], &base).await.unwrap().text);
    }
    let distinct: std::collections::BTreeSet<&String> = answers.iter().collect();
    assert_eq!(distinct.len(), answers.len());
    let patient = Options { timeout: Duration::from_secs(1), ..base };
    assert_eq!(recorder.generate(&prompt("q"), &[], &patient).await.unwrap().text, answers[0], "time shapes nothing");
}

#[tokio::test]
async fn failures_are_kept_until_there_is_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let model = Arc::new(Fickle::default());
    let retry_after = Some(Duration::from_millis(1500));
    *model.failing.lock().unwrap() = vec![ErrorKind::Refusal, ErrorKind::RateLimit { retry_after }];
    let recorder = Recorder::new(Arc::clone(&model) as Arc<dyn Vlm>, folder.path()).unwrap();
    let options = Options::default();
    recorder.generate(&prompt("q"), &[], &options).await.unwrap_err();
    let player = Player::open(folder.path(), &backend()).unwrap();
    let error = player.generate(&prompt("q"), &[], &options).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::RateLimit { retry_after }, "openai.fickle:1: failed")
    );
    recorder.generate(&prompt("r"), &[], &options).await.unwrap_err();
    assert_eq!(player.generate(&prompt("r"), &[], &options).await.unwrap_err().kind(), ErrorKind::Refusal);
    let answer = recorder.generate(&prompt("q"), &[], &options).await.unwrap();
    assert_eq!(player.generate(&prompt("q"), &[], &options).await.unwrap(), answer);
}

#[tokio::test]
async fn what_was_not_recorded_is_said_so_and_not_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Player::open(folder.path(), &backend()).unwrap_err();
    assert!(missing.to_string().contains("there is no recording of it"), "{missing}");
    Recorder::new(Arc::new(Fickle::default()), folder.path()).unwrap();
    let player = Player::open(folder.path(), &backend()).unwrap();
    let error = player.generate(&prompt("q"), &[], &Options::default()).await.unwrap_err();
    assert!(error.to_string().contains("no answer to this request is recorded") && !error.is_transient(), "{error}");
}
