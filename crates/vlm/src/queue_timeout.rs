//! Time limits that do not count the time spent in queues.
//!
//! A call that waits for a limit (concurrent calls, or calls per minute) is not slow, so waiting
//! must not cause a timeout. Each assessment has one `QueueTime`. Queues add to it, and time limits
//! are extended by it.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio::time::error::Elapsed;

tokio::task_local! {
    static QUEUE_TIME: Arc<QueueTime>;
}

/// The time that one assessment has spent in queues.
#[derive(Debug, Default)]
struct QueueTime(Mutex<Queued>);

#[derive(Debug, Default, Clone, Copy)]
struct Queued {
    before: Duration,
    /// The number of calls of the assessment that are waiting, and since when any of them is.
    waiting: usize,
    since: Option<Instant>,
}

impl Queued {
    fn total(&self) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl QueueTime {
    fn change(&self, change: impl FnOnce(&mut Queued)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn total(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).total()
    }
}

/// Leaves the queue when dropped, also after a timeout.
struct Turn(Arc<QueueTime>);

impl Turn {
    fn wait(queue_time: Arc<QueueTime>) -> Self {
        queue_time.change(|queued| {
            queued.waiting += 1;
            queued.since.get_or_insert_with(Instant::now);
        });
        Self(queue_time)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.change(|queued| {
            queued.waiting -= 1;
            if queued.waiting == 0 {
                queued.before = queued.total();
                queued.since = None;
            }
        });
    }
}

/// Runs an assessment with its own queue time, unless it already has one.
pub async fn within<F: Future>(assessment: F) -> F::Output {
    match QUEUE_TIME.try_with(|_| ()) {
        Ok(()) => assessment.await,
        Err(_) => QUEUE_TIME.scope(Arc::default(), assessment).await,
    }
}

/// Waits in a queue. The time does not count toward time limits.
pub async fn queue<F: Future>(turn: F) -> F::Output {
    let waiting = QUEUE_TIME.try_with(Arc::clone).ok().map(Turn::wait);
    let output = turn.await;
    drop(waiting);
    output
}

/// Runs `work` with a time limit that excludes the time in queues.
pub async fn timeout<F: Future>(limit: Duration, work: F) -> Result<F::Output, Elapsed> {
    let Ok(queue_time) = QUEUE_TIME.try_with(Arc::clone) else { return tokio::time::timeout(limit, work).await };
    let (start, before) = (Instant::now(), queue_time.total());
    let mut work = pin!(work);
    loop {
        let allowed = limit.saturating_add(queue_time.total().saturating_sub(before));
        let Some(end) = start.checked_add(allowed) else { return Ok(work.await) };
        match tokio::time::timeout_at(end, &mut work).await {
            Ok(output) => return Ok(output),
            // The time in queues has grown, so the limit is extended.
            Err(elapsed) if queue_time.total().saturating_sub(before) + limit <= allowed => return Err(elapsed),
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn time_in_a_queue_does_not_count() {
        let work = async {
            sleep(SECOND).await;
            queue(sleep(100 * SECOND)).await;
            sleep(SECOND).await;
            queue(sleep(50 * SECOND)).await;
        };
        let start = Instant::now();
        within(timeout(3 * SECOND, work)).await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 152);
    }

    #[tokio::test(start_paused = true)]
    async fn work_beyond_the_limit_ends() {
        let work = async {
            queue(sleep(100 * SECOND)).await;
            sleep(4 * SECOND).await;
        };
        let start = Instant::now();
        within(timeout(3 * SECOND, work)).await.unwrap_err();
        assert_eq!(start.elapsed().as_secs(), 103);
    }

    #[tokio::test(start_paused = true)]
    async fn two_queues_at_once_count_once_and_a_dropped_one_is_left() {
        let work = async {
            futures_util::future::join(queue(sleep(10 * SECOND)), queue(sleep(4 * SECOND))).await;
            let given_up = tokio::time::timeout(2 * SECOND, queue(sleep(9 * SECOND))).await;
            assert!(given_up.is_err());
            sleep(5 * SECOND).await;
        };
        let start = Instant::now();
        within(timeout(4 * SECOND, work)).await.unwrap_err();
        assert_eq!(start.elapsed().as_secs(), 16);
    }
}
