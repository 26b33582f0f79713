//! Admission control: a limited number of requests run, a limited number wait, the rest are
//! refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Problem;

/// Limits the number of running and waiting requests.
#[derive(Debug)]
pub struct Admission {
    slots: Arc<Semaphore>,
    width: usize,
    waiting: AtomicUsize,
    queue: usize,
}

/// Permission to run. Dropping it frees the slot.
#[derive(Debug)]
pub struct Turn {
    _permit: OwnedSemaphorePermit,
}

/// Counts a waiting request until it is dropped, even if its future is canceled.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Admission {
    /// Allows `width` requests to run and `queue` more to wait.
    pub fn new(width: usize, queue: usize) -> Self {
        let width = width.max(1);
        Self { slots: Arc::new(Semaphore::new(width)), width, waiting: AtomicUsize::new(0), queue }
    }

    /// Waits for a free slot. Returns an error if the queue is full.
    pub async fn enter(&self) -> Result<Turn, Problem> {
        if let Ok(permit) = Arc::clone(&self.slots).try_acquire_owned() {
            return Ok(Turn { _permit: permit });
        }
        let ahead = self.waiting.fetch_add(1, Ordering::SeqCst);
        let _waiting = Waiting(&self.waiting);
        if ahead >= self.queue {
            let seconds = 1 + (ahead / self.width) as u64;
            return Err(Problem::busy(
                format!(
                    "the server is busy: {} requests running, {ahead} waiting; try again in {seconds} s",
                    self.width
                ),
                seconds,
            ));
        }
        let permit = Arc::clone(&self.slots).acquire_owned().await;
        permit.map(|permit| Turn { _permit: permit }).map_err(Problem::internal)
    }

    /// Returns the number of running requests.
    pub fn running(&self) -> usize {
        self.width.saturating_sub(self.slots.available_permits())
    }

    /// Returns the number of waiting requests.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_comes_when_the_queue_is_full_is_sent_away_and_who_gives_up_leaves_room() {
        let admission = Arc::new(Admission::new(1, 1));
        let first = admission.enter().await.unwrap();
        let second = tokio::spawn({
            let admission = Arc::clone(&admission);
            async move { admission.enter().await }
        });
        while admission.waiting() == 0 {
            tokio::task::yield_now().await;
        }
        let refused = admission.enter().await.unwrap_err();
        assert_eq!(refused.status().as_u16(), 429);
        assert_eq!((admission.running(), admission.waiting()), (1, 1));
        second.abort();
        assert!(second.await.unwrap_err().is_cancelled());
        assert_eq!(admission.waiting(), 0);
        drop(first);
        assert!(admission.enter().await.is_ok());
    }
}
