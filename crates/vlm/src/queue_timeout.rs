//! Limits of time that do not count the time in a queue.
//!
//! A call that waits for its turn (a limit of calls at a time, or a minute) is not slow: neither its node nor its sample has
//! run out of time. Every assessment has one [`QueueTime`]; queues add to it, limits take it into account.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio::time::error::Elapsed;

tokio::task_local! {
    static QUEUE_TIME: Arc<QueueTime>;
}

/// How long one assessment has stood in queues.
#[derive(Debug, Default)]
struct QueueTime(Mutex<Queued>);

#[derive(Debug, Default, Clone, Copy)]
struct Queued {
    before: Duration,
    /// Several calls of one assessment may wait at the same time: since when any of them does.
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

/// Leaves the queue when it is dropped, also by a limit that has run out.
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

/// Runs one assessment with a queue_time of its own, unless it has one.
pub async fn within<F: Future>(assessment: F) -> F::Output {
    match QUEUE_TIME.try_with(|_| ()) {
        Ok(()) => assessment.await,
        Err(_) => QUEUE_TIME.scope(Arc::default(), assessment).await,
    }
}

/// Waits for a turn; the time does not count.
pub async fn queue<F: Future>(turn: F) -> F::Output {
    let waiting = QUEUE_TIME.try_with(Arc::clone).ok().map(Turn::wait);
    let output = turn.await;
    drop(waiting);
    output
}

/// Gives `work` so much time, time in queues aside.
pub async fn timeout<F: Future>(limit: Duration, work: F) -> Result<F::Output, Elapsed> {
    let Ok(queue_time) = QUEUE_TIME.try_with(Arc::clone) else { return tokio::time::timeout(limit, work).await };
    let (start, before) = (Instant::now(), queue_time.total());
    let mut work = pin!(work);
    loop {
        let allowed = limit.saturating_add(queue_time.total().saturating_sub(before));
        let Some(end) = start.checked_add(allowed) else { return Ok(work.await) };
        match tokio::time::timeout_at(end, &mut work).await {
            Ok(output) => return Ok(output),
            // The queue has grown meanwhile: so has the limit.
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
