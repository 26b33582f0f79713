//! Retries failed calls with growing pauses. The fallback to another backend is up to the caller.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::{Answer, Attachment, Capabilities, Error, ErrorKind, ImageLimits, KeptSize, Options, Prompt, Vlm};
use crate::queue_timeout;

/// How often and how fast failed calls are retried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// The maximum number of calls, at least 1.
    pub attempts: u32,
    /// The pause after the first failure. It doubles after each further failure.
    pub base_delay: Duration,
    /// The maximum pause, including pauses requested by the server.
    pub max_delay: Duration,
    /// The random share of a pause (0 to 1), so that many clients do not retry at the same moment.
    pub jitter: f64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        let (base_delay, max_delay) = (Duration::from_millis(500), Duration::from_secs(60));
        Self { attempts: 3, base_delay, max_delay, jitter: 0.5 }
    }
}

impl RetryPolicy {
    /// Returns the pause after failure number `failures` (from 1); `chance` is between 0 and 1.
    ///
    /// A pause requested by the server is not shortened by jitter, only by `max_delay`.
    fn delay(&self, failures: u32, kind: ErrorKind, chance: f64) -> Duration {
        let jitter = self.jitter.clamp(0.0, 1.0) * chance;
        if let ErrorKind::RateLimit { retry_after: Some(asked) } = kind {
            return asked.saturating_add(self.base_delay.mul_f64(jitter)).min(self.max_delay);
        }
        let factor = 2_u32.saturating_pow(failures.saturating_sub(1));
        self.base_delay.saturating_mul(factor).min(self.max_delay).mul_f64(1.0 - jitter)
    }
}

/// An event during a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A call failed and will be repeated after a pause.
    Retry {
        /// The name of the backend.
        backend: String,
        /// The number of the next attempt, from 2.
        attempt: u32,
        /// The pause before the attempt.
        delay: Duration,
        /// The error of the last attempt.
        error: Error,
    },
}

/// A backend with a retry policy and a limit on concurrent calls.
#[derive(Debug, Clone)]
pub struct Client {
    model: Arc<dyn Vlm>,
    policy: RetryPolicy,
    calls: Option<Arc<Semaphore>>,
}

impl Client {
    /// Creates a client with the default policy.
    pub fn new(model: Arc<dyn Vlm>) -> Self {
        Self { model, policy: RetryPolicy::default(), calls: None }
    }

    /// Sets the retry policy.
    #[must_use]
    pub fn with_policy(self, policy: RetryPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Limits the number of concurrent calls, shared with all clones of this client.
    #[must_use]
    pub fn with_concurrency(self, calls: usize) -> Self {
        Self { calls: Some(Arc::new(Semaphore::new(calls.max(1)))), ..self }
    }

    /// The name of the backend.
    pub fn name(&self) -> &str {
        self.model.name()
    }

    /// The optional features of the backend.
    pub fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    /// The image limits of the backend, with the longer side at most `max_side`.
    pub fn image_limits(&self, max_side: usize) -> ImageLimits {
        ImageLimits::of(&*self.model, max_side)
    }

    /// The size to which the provider shrinks images.
    pub fn kept_size(&self) -> KeptSize {
        self.model.kept_size()
    }

    /// Sends one request, with retries. `options.timeout` limits each attempt, not their sum.
    pub async fn generate(
        &self,
        prompt: &Prompt,
        images: &[Attachment],
        options: &Options,
        on_event: &(dyn Fn(Event) + Send + Sync),
    ) -> Result<Answer, Error> {
        let mut failures = 0;
        loop {
            let error = match self.call(prompt, images, options).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            failures += 1;
            if !error.is_transient() || failures >= self.policy.attempts.max(1) {
                return Err(error);
            }
            let delay = self.policy.delay(failures, error.kind(), fastrand::f64());
            tracing::info!(attempt = failures + 1, ?delay, "{error}; trying again");
            let (backend, attempt) = (self.name().to_owned(), failures + 1);
            on_event(Event::Retry { backend, attempt, delay, error });
            tokio::time::sleep(delay).await;
        }
    }

    async fn call(&self, prompt: &Prompt, images: &[Attachment], options: &Options) -> Result<Answer, Error> {
        let _turn = match &self.calls {
            // The semaphore is never closed, so acquiring cannot fail.
            Some(calls) => queue_timeout::queue(calls.acquire()).await.ok(),
            None => None,
        };
        self.model.generate(prompt, images, options).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::BoxFuture;

    use super::super::Usage;
    use super::*;

    /// Fails with the given kinds in order, then answers. Each call takes one second.
    #[derive(Debug, Default)]
    struct Scripted {
        failures: Mutex<Vec<ErrorKind>>,
        running: AtomicUsize,
        most_running: AtomicUsize,
    }

    impl Scripted {
        fn failing(kinds: &[ErrorKind]) -> Arc<Self> {
            let failures = Mutex::new(kinds.iter().rev().copied().collect());
            Arc::new(Self { failures, ..Self::default() })
        }
    }

    impl Vlm for Scripted {
        fn name(&self) -> &str {
            "test.scripted"
        }

        fn generate<'a>(
            &'a self,
            _: &'a Prompt,
            _: &'a [Attachment],
            _: &'a Options,
        ) -> BoxFuture<'a, Result<Answer, Error>> {
            Box::pin(async move {
                let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
                self.most_running.fetch_max(running, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_secs(1)).await;
                self.running.fetch_sub(1, Ordering::SeqCst);
                match self.failures.lock().unwrap().pop() {
                    Some(kind) => Err(Error::new("test.scripted", kind, "failed")),
                    None => {
                        let (text, model) = ("yes".to_owned(), "scripted".to_owned());
                        Ok(Answer { text, logprobs: None, usage: Usage::default(), model, truncated: false })
                    }
                }
            })
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities { json_schema: false, logprobs: false }
        }

        fn accepts(&self, _: &str) -> bool {
            false
        }
    }

    /// Returns the answer and the elapsed time of the test clock.
    async fn ask(model: &Arc<Scripted>, policy: RetryPolicy) -> (Result<Answer, Error>, Duration) {
        let client = Client::new(Arc::clone(model) as Arc<dyn Vlm>).with_policy(policy);
        let start = tokio::time::Instant::now();
        let answer = client.generate(&Prompt::default(), &[], &Options::default(), &|_| ()).await;
        (answer, start.elapsed())
    }

    const EXACT: RetryPolicy = RetryPolicy {
        attempts: 4,
        base_delay: Duration::from_secs(2),
        max_delay: Duration::from_secs(30),
        jitter: 0.0,
    };

    #[tokio::test(start_paused = true)]
    async fn pauses_double() {
        let model = Scripted::failing(&[ErrorKind::Server, ErrorKind::Connection, ErrorKind::Timeout]);
        let (answer, took) = ask(&model, EXACT).await;
        answer.unwrap();
        assert_eq!(took.as_secs(), 4 + 2 + 4 + 8);
    }

    #[tokio::test(start_paused = true)]
    async fn the_server_sets_the_pause_up_to_the_cap() {
        let limit = |seconds| ErrorKind::RateLimit { retry_after: Some(Duration::from_secs(seconds)) };
        let model = Scripted::failing(&[limit(17), limit(3600)]);
        let (answer, took) = ask(&model, EXACT).await;
        answer.unwrap();
        assert_eq!(took.as_secs(), 3 + 17 + 30);
    }

    #[tokio::test(start_paused = true)]
    async fn after_the_last_attempt_the_error_is_returned() {
        let model = Scripted::failing(&[ErrorKind::Server; 9]);
        let (answer, took) = ask(&model, RetryPolicy { attempts: 2, ..EXACT }).await;
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::Server);
        assert_eq!(took.as_secs(), 2 + 2);
        assert_eq!(model.failures.lock().unwrap().len(), 7);
        let (_, took) = ask(&model, RetryPolicy { attempts: 0, ..EXACT }).await;
        assert_eq!(took.as_secs(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn calls_beyond_the_limit_wait_for_their_turn() {
        let model = Scripted::failing(&[]);
        let client = Client::new(Arc::clone(&model) as Arc<dyn Vlm>).with_concurrency(2);
        let (prompt, options) = (Prompt::default(), Options::default());
        let start = tokio::time::Instant::now();
        let call = || client.generate(&prompt, &[], &options, &|_| ());
        let answers = futures_util::future::join_all([call(), call(), call(), call(), call()]).await;
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!((model.most_running.load(Ordering::SeqCst), start.elapsed().as_secs()), (2, 3));
    }

    #[test]
    fn chance_shortens_pauses_but_not_those_that_the_server_asked_for() {
        let policy = RetryPolicy { jitter: 0.5, ..EXACT };
        let seconds = |failures, kind, chance| policy.delay(failures, kind, chance).as_secs_f64();
        assert_eq!(seconds(2, ErrorKind::Server, 0.0), 4.0);
        assert_eq!(seconds(2, ErrorKind::Server, 1.0), 2.0);
        assert_eq!(seconds(60, ErrorKind::Server, 0.0), 30.0);
        let limit = ErrorKind::RateLimit { retry_after: Some(Duration::from_secs(10)) };
        assert_eq!(seconds(1, limit, 0.0), 10.0);
        assert_eq!(seconds(1, limit, 1.0), 11.0);
        assert_eq!(seconds(1, ErrorKind::RateLimit { retry_after: None }, 0.0), 2.0);
    }
}
