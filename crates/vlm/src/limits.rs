//! Limits on the calls to a backend: concurrent calls, requests and tokens per minute.
//!
//! The limits per minute are token buckets with a capacity of one request: a call waits until the
//! calls before it are paid for, so no minute exceeds the limit. The token count is known only
//! after a call. Each call reserves the average of the earlier calls, and the difference is settled
//! afterwards. Waiting does not count toward the time limit of a call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use garde::Validate;
use serde::{Deserialize, Deserializer, Serialize};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use super::rates::{closest, named};
use super::{Answer, Attachment, Capabilities, Error, ErrorKind, KeptSize, Options, Prompt, Vlm};
use crate::queue_timeout;
use crate::rules::within;

/// The token estimate for the first call: an image and a prompt.
const FIRST_GUESS: f64 = 2000.0;
/// The pause after a rate limit error without a requested pause.
const RESPITE: Duration = Duration::from_secs(2);
/// The maximum pause after a rate limit error.
const LONGEST_RESPITE: Duration = Duration::from_secs(120);

/// The limits of one backend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "requests_per_minute and tokens_per_minute")]
pub struct Limits {
    /// The maximum number of calls per minute.
    #[serde(default)]
    #[garde(inner(custom(within(0.01, 1e6))))]
    pub requests_per_minute: Option<f64>,
    /// The maximum number of tokens per minute, input and output.
    #[serde(default)]
    #[garde(inner(custom(within(1.0, 1e12))))]
    pub tokens_per_minute: Option<f64>,
}

/// Limits by backend name. A name that ends in `*` matches all names with that prefix; the longest
/// match wins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Validate)]
#[serde(transparent)]
#[garde(transparent)]
pub struct LimitCard(
    #[serde(deserialize_with = "named_limits")]
    #[garde(dive)]
    pub BTreeMap<String, Limits>,
);

fn named_limits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Limits>, D::Error> {
    named(deserializer)
}

impl LimitCard {
    /// Returns the limits of a backend, or no limits if the card does not list it.
    pub fn limits(&self, backend: &str) -> Limits {
        closest(&self.0, backend).copied().unwrap_or_default()
    }
}

/// Decides when a call may start. [`Pace`] works within one process. Implement this trait to share
/// a limit between processes.
pub trait Limiter: std::fmt::Debug + Send + Sync {
    /// Waits until a call to `backend` may start and returns the number of reserved tokens. An
    /// error fails the call.
    fn turn<'a>(&'a self, backend: &'a str) -> BoxFuture<'a, Result<f64, Error>>;

    /// Reports the end of a call. `reserved` is the result of `turn`; `used` is unknown for failed
    /// calls.
    fn settle(&self, backend: &str, reserved: f64, used: Option<f64>);

    /// Pauses all calls to the backend after a rate limit error.
    fn rest(&self, backend: &str, respite: Duration);
}

/// The limiter of one backend in one process.
#[derive(Debug)]
pub(super) struct Alone {
    /// Held by the next call, so that its tokens are estimated as late as possible.
    next: tokio::sync::Mutex<()>,
    pace: Mutex<Pace>,
}

impl Alone {
    pub fn new(limits: Limits) -> Self {
        Self { next: tokio::sync::Mutex::default(), pace: Mutex::new(Pace::new(limits)) }
    }

    fn pace<T>(&self, change: impl FnOnce(&mut Pace) -> T) -> T {
        change(&mut self.pace.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Limiter for Alone {
    fn turn<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<f64, Error>> {
        Box::pin(async {
            let _next = self.next.lock().await;
            let (start, reserved) = self.pace(|pace| pace.reserve(Instant::now()));
            sleep_until(start).await;
            Ok(reserved)
        })
    }

    fn settle(&self, _: &str, reserved: f64, used: Option<f64>) {
        self.pace(|pace| pace.settle(reserved, used));
    }

    fn rest(&self, _: &str, respite: Duration) {
        self.pace(|pace| pace.rest_until(Instant::now() + respite));
    }
}

/// A backend that respects its limits.
#[derive(Debug)]
pub(super) struct Limited {
    model: Arc<dyn Vlm>,
    calls: Option<Arc<Semaphore>>,
    limiter: Arc<dyn Limiter>,
}

impl Limited {
    /// `calls` is shared by all backends with a common limit on concurrent calls.
    pub fn new(model: Arc<dyn Vlm>, limiter: Arc<dyn Limiter>, calls: Option<Arc<Semaphore>>) -> Self {
        Self { model, calls, limiter }
    }
}

impl Vlm for Limited {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn generate<'a>(
        &'a self,
        prompt: &'a Prompt,
        images: &'a [Attachment],
        options: &'a Options,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        Box::pin(async move {
            let _turn = match &self.calls {
                Some(calls) => queue_timeout::queue(calls.acquire()).await.ok(),
                None => None,
            };
            let reserved = queue_timeout::queue(self.limiter.turn(self.name())).await?;
            let answer = self.model.generate(prompt, images, options).await;
            let used = answer.as_ref().ok().map(|answer| answer.usage.prompt_tokens + answer.usage.completion_tokens);
            self.limiter.settle(self.name(), reserved, used.map(|tokens| tokens as f64));
            if let Err(error) = &answer
                && let ErrorKind::RateLimit { retry_after } = error.kind()
            {
                self.limiter.rest(self.name(), retry_after.unwrap_or(RESPITE).min(LONGEST_RESPITE));
            }
            answer
        })
    }

    fn models(&self, timeout: Duration) -> BoxFuture<'_, Result<Vec<String>, Error>> {
        self.model.models(timeout)
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn accepts(&self, mime: &str) -> bool {
        self.model.accepts(mime)
    }

    fn kept_size(&self) -> KeptSize {
        self.model.kept_size()
    }

    fn max_image_bytes(&self) -> usize {
        self.model.max_image_bytes()
    }
}

/// Computes when the next call to a backend may start.
#[derive(Debug)]
pub struct Pace {
    seconds_per_request: f64,
    seconds_per_token: f64,
    next: Option<Instant>,
    /// When the tokens of all calls so far are paid for, in seconds relative to `epoch`.
    tokens_paid: f64,
    epoch: Instant,
    tokens: f64,
    calls: f64,
}

impl Pace {
    /// Creates a pace without any calls.
    pub fn new(limits: Limits) -> Self {
        let seconds = |limit: Option<f64>| limit.map_or(0.0, |limit| 60.0 / limit);
        Self {
            seconds_per_request: seconds(limits.requests_per_minute),
            seconds_per_token: seconds(limits.tokens_per_minute),
            next: None,
            tokens_paid: 0.0,
            epoch: Instant::now(),
            tokens: 0.0,
            calls: 0.0,
        }
    }

    /// Returns when the call may start, and the number of reserved tokens.
    pub fn reserve(&mut self, now: Instant) -> (Instant, f64) {
        let expected = if self.calls > 0.0 { self.tokens / self.calls } else { FIRST_GUESS };
        let paid = if self.seconds_per_token > 0.0 { later(self.epoch, self.tokens_paid) } else { now };
        let start = self.next.map_or(now, |next| next.max(now)).max(paid);
        self.next = Some(later(start, self.seconds_per_request));
        if self.seconds_per_token > 0.0 {
            let begun = start.saturating_duration_since(self.epoch).as_secs_f64();
            self.tokens_paid = self.tokens_paid.max(begun) + expected * self.seconds_per_token;
        }
        (start, expected)
    }

    /// Replaces the `reserved` tokens of a finished call by the `used` ones. A failed call counts
    /// as 0.
    pub fn settle(&mut self, reserved: f64, used: Option<f64>) {
        self.tokens_paid += (used.unwrap_or(0.0) - reserved) * self.seconds_per_token;
        if let Some(used) = used {
            self.tokens += used;
            self.calls += 1.0;
        }
    }

    /// Prevents calls from starting before `end`.
    pub fn rest_until(&mut self, end: Instant) {
        self.next = Some(self.next.map_or(end, |next| next.max(end)));
    }
}

fn later(start: Instant, seconds: f64) -> Instant {
    let pause = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    start.checked_add(pause).unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;

    use super::super::Usage;
    use super::*;

    /// Answers after one second and records the time of each call. The first calls may be rejected.
    #[derive(Debug)]
    struct Clocked {
        asked: Mutex<Vec<f64>>,
        start: Instant,
        tokens: u64,
        refused: Mutex<Vec<Option<Duration>>>,
    }

    impl Clocked {
        fn new(tokens: u64) -> Arc<Self> {
            Arc::new(Self { asked: Mutex::default(), start: Instant::now(), tokens, refused: Mutex::default() })
        }
    }

    impl Vlm for Clocked {
        fn name(&self) -> &str {
            "test.clocked"
        }

        fn generate<'a>(
            &'a self,
            _: &'a Prompt,
            _: &'a [Attachment],
            _: &'a Options,
        ) -> BoxFuture<'a, Result<Answer, Error>> {
            Box::pin(async move {
                self.asked.lock().unwrap().push(self.start.elapsed().as_secs_f64());
                tokio::time::sleep(Duration::from_secs(1)).await;
                if let Some(retry_after) = self.refused.lock().unwrap().pop() {
                    return Err(Error::new("test.clocked", ErrorKind::RateLimit { retry_after }, "too many calls"));
                }
                let usage = Usage { prompt_tokens: self.tokens, completion_tokens: 0 };
                Ok(Answer { text: "yes".into(), logprobs: None, usage, model: String::new(), truncated: false })
            })
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities { json_schema: true, logprobs: false }
        }

        fn accepts(&self, _: &str) -> bool {
            true
        }
    }

    async fn ask(limited: &Limited, calls: usize) -> Vec<Result<Answer, Error>> {
        let (prompt, options) = (Prompt::default(), Options::default());
        join_all((0..calls).map(|_| limited.generate(&prompt, &[], &options))).await
    }

    /// Returns the maximum number of calls in any minute.
    fn busiest_minute(asked: &[f64]) -> usize {
        let within = |start: f64| asked.iter().filter(|time| (start..start + 60.0 - 1e-6).contains(*time)).count();
        asked.iter().map(|start| within(*start)).max().unwrap_or(0)
    }

    #[tokio::test(start_paused = true)]
    async fn no_minute_has_more_requests_than_allowed_and_none_is_wasted() {
        let model = Clocked::new(10);
        let limits = Limits { requests_per_minute: Some(90.0), tokens_per_minute: None };
        let limited = Limited::new(Arc::clone(&model) as Arc<dyn Vlm>, Arc::new(Alone::new(limits)), None);
        ask(&limited, 300).await;
        let asked = model.asked.lock().unwrap().clone();
        assert_eq!(busiest_minute(&asked), 90);
        let last = asked.iter().copied().fold(0.0, f64::max);
        assert!((last - 299.0 / 1.5).abs() < 0.5, "{last}");
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_are_learned_and_kept_to() {
        let model = Clocked::new(500);
        let limits = Limits { requests_per_minute: None, tokens_per_minute: Some(30_000.0) };
        let limited = Limited::new(Arc::clone(&model) as Arc<dyn Vlm>, Arc::new(Alone::new(limits)), None);
        ask(&limited, 240).await;
        let asked = model.asked.lock().unwrap().clone();
        // 60 calls of 500 tokens per minute, plus one that is not paid for yet.
        assert!(busiest_minute(&asked) <= 61, "{}", busiest_minute(&asked));
        let last = asked.iter().copied().fold(0.0, f64::max);
        assert!(last < 260.0, "the first guess of 2000 tokens is soon forgotten: {last}");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_at_a_time_are_shared_by_all_backends() {
        let (first, second) = (Clocked::new(1), Clocked::new(1));
        let calls = Some(Arc::new(Semaphore::new(3)));
        let of = |model: &Arc<Clocked>| {
            let limiter = Arc::new(Alone::new(Limits::default()));
            Limited::new(Arc::clone(model) as Arc<dyn Vlm>, limiter, calls.clone())
        };
        let (one, other) = (of(&first), of(&second));
        let start = Instant::now();
        futures_util::future::join(ask(&one, 6), ask(&other, 6)).await;
        assert_eq!(start.elapsed().as_secs(), 4, "12 calls of a second, 3 at a time");
    }

    #[tokio::test(start_paused = true)]
    async fn a_backend_that_refuses_is_left_alone_by_all() {
        let model = Clocked::new(1);
        model.refused.lock().unwrap().push(Some(Duration::from_secs(30)));
        let limited = Limited::new(Arc::clone(&model) as Arc<dyn Vlm>, Arc::new(Alone::new(Limits::default())), None);
        assert!(ask(&limited, 1).await[0].is_err());
        ask(&limited, 5).await;
        let asked = model.asked.lock().unwrap().clone();
        assert!(asked[1..].iter().all(|time| *time >= 31.0), "{asked:?}");
    }

    #[test]
    fn the_closest_name_counts() {
        let card: LimitCard = serde_json::from_str(
            r#"{"openai.*": {"requests_per_minute": 500}, "openai.gpt-4o": {"tokens_per_minute": 30000}}"#,
        )
        .unwrap();
        assert_eq!(card.limits("openai.gpt-4o").requests_per_minute, None);
        assert_eq!(card.limits("openai.o3").requests_per_minute, Some(500.0));
        assert_eq!(card.limits("ollama.x"), Limits::default());
        assert!(serde_json::from_str::<LimitCard>(r#"{"gpt": {}}"#).is_err());
    }
}
