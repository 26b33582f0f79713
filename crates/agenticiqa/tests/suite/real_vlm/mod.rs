//! The OpenAI protocol against a real llama.cpp server with image input (`scripts/fetch-tiny-vlm`).
//! Its weights are random, so tests check the protocol and the form of answers, not their content.

mod graph;
mod grounded;
mod replay;
mod server;

use std::sync::Arc;
use std::time::Duration;

use agenticiqa::imaging::{Decoder, encode_png};
use agenticiqa::metrics::Image;
use agenticiqa::vlm::{
    Answer, Attachment, Client, Error, ErrorKind, ImageLimits, JsonSchema, Options, Prompt, RetryPolicy, prepare,
};
use serde::Deserialize;
use serde_json::json;

fn prompt() -> Prompt {
    Prompt { system: "You judge the quality of images.".into(), user: "Which distortions do you see?".into() }
}

fn options() -> Options {
    // Random weights on a busy machine are slow, but a real hang still ends.
    Options { max_tokens: 16, timeout: Duration::from_secs(120), seed: Some(1), ..Options::default() }
}

/// An image with stripes of the given width.
fn stripes(label: &str, width: usize) -> Attachment {
    let color = |i: usize| if (i / width).is_multiple_of(2) { [250, 120, 10] } else { [5, 60, 200] };
    let samples = (0..96 * 64).flat_map(color).collect();
    let file: Arc<[u8]> = encode_png(&Image::from_rgb8(96, 64, samples).unwrap()).unwrap().into();
    let picture = Decoder::default().decode(&file).unwrap();
    prepare(label, &file, &picture, &ImageLimits::of(&*server::model(), 2048)).unwrap()
}

async fn ask(images: &[Attachment], options: &Options) -> Result<Answer, Error> {
    server::model().generate(&prompt(), images, options).await
}

#[tokio::test]
async fn every_picture_is_looked_at() {
    let without = ask(&[], &options()).await.unwrap();
    let one = ask(&[stripes("Image:", 3)], &options()).await.unwrap();
    let two = ask(&[stripes("Image:", 3), stripes("Reference image:", 5)], &options()).await.unwrap();
    assert_eq!(one.model, "tiny-vlm");
    // 49 patches per image, and its label.
    let tokens = [&without, &one, &two].map(|answer| answer.usage.prompt_tokens);
    assert!(tokens[1] > tokens[0] + 49 && tokens[2] > tokens[1] + 49, "{tokens:?}");
    let other = ask(&[stripes("Image:", 40)], &options()).await.unwrap();
    assert_ne!(one.text, other.text, "another image, another answer");
    let again = ask(&[stripes("Image:", 3)], &options()).await.unwrap();
    assert_eq!(one.text, again.text, "the same image, the same answer");
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdict {
    severity: String,
    objects: Vec<String>,
    score: Option<f64>,
}

#[tokio::test]
async fn answers_follow_the_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "severity": {"type": "string", "enum": ["none", "moderate", "extreme"]},
            "objects": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 12}},
            "score": {"anyOf": [{"type": "number"}, {"type": "null"}]}
        },
        "required": ["severity", "objects", "score"],
        "additionalProperties": false
    });
    let schema = Some(JsonSchema { name: "verdict".into(), schema });
    for seed in 0..5 {
        // Every string, list and number is bounded, so the longest possible answer still fits.
        let options =
            Options { schema: schema.clone(), max_tokens: 2000, temperature: 0.8, seed: Some(seed), ..options() };
        let answer = ask(&[stripes("Image:", 3)], &options).await.unwrap();
        let verdict: Verdict = serde_json::from_str(&answer.text).unwrap_or_else(|_| panic!("{}", answer.text));
        assert!(verdict.objects.len() <= 3, "{verdict:?}");
        assert!(verdict.objects.iter().all(|object| object.chars().count() <= 12), "{verdict:?}");
        assert!(verdict.score.is_none_or(f64::is_finite) && !answer.truncated);
        assert!(["none", "moderate", "extreme"].contains(&verdict.severity.as_str()), "{verdict:?}");
    }
}

#[tokio::test]
async fn log_probabilities_come_with_their_alternatives() {
    let answer = ask(&[stripes("Image:", 3)], &Options { logprobs: true, ..options() }).await.unwrap();
    let logprobs = answer.logprobs.unwrap();
    // The server omits tokens without text (parts of a character, end tokens).
    assert!(logprobs.len() > 1 && logprobs.len() as u64 <= answer.usage.completion_tokens, "{}", logprobs.len());
    let text: String = logprobs.iter().map(|token| token.token.as_str()).collect();
    assert_eq!(text.trim(), answer.text);
    for token in &logprobs {
        assert!(token.logprob <= 0.0 && token.top.len() == 20, "{token:?}");
        assert!(token.top.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{token:?}");
        // Greedy sampling takes the most likely token.
        assert_eq!(token.top[0].0, token.token);
        assert!(token.top.iter().map(|(_, logprob)| logprob.exp()).sum::<f64>() <= 1.0 + 1e-6);
    }
    assert_eq!(ask(&[], &options()).await.unwrap().logprobs, None);
}

#[tokio::test]
async fn the_limit_of_tokens_is_kept_and_told() {
    for max_tokens in [1, 7] {
        let answer = ask(&[stripes("Image:", 3)], &Options { max_tokens, ..options() }).await.unwrap();
        assert_eq!((answer.usage.completion_tokens, answer.truncated), (u64::from(max_tokens), true));
    }
}

#[tokio::test]
async fn a_broken_picture_is_a_bad_request_and_not_tried_again() {
    let broken = Attachment { label: "Image:".into(), mime: "image/png", bytes: Arc::from(&b"\x89PNG not really"[..]) };
    let client = Client::new(server::model()).with_policy(RetryPolicy::default());
    let events = std::sync::Mutex::new(Vec::new());
    let on_event = |event| events.lock().unwrap().push(event);
    let error = client.generate(&prompt(), &[broken], &options(), &on_event).await.unwrap_err();
    assert_eq!((error.backend(), error.kind()), ("openai.tiny-vlm", ErrorKind::BadRequest), "{error}");
    assert!(error.to_string().contains("status 400"), "{error}");
    assert!(events.into_inner().unwrap().is_empty());
}

#[tokio::test]
async fn questions_at_the_same_time_are_all_answered() {
    let image = [stripes("Image:", 3)];
    let options = options();
    let answers = futures_util::future::join_all((0..4).map(|_| ask(&image, &options))).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
}

#[tokio::test]
async fn the_server_names_its_model() {
    assert_eq!(server::model().models(Duration::from_secs(120)).await.unwrap(), ["tiny-vlm"]);
}
