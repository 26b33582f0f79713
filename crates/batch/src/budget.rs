//! How much a run may cost and how long it may take.

use std::time::Duration;

use tokio::time::Instant;

/// What may be spent. Both ends are clean: running samples are finished and written, the rest waits for the next run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// US dollars.
    pub max_cost: Option<f64>,
    /// The time after which no further sample is begun.
    pub max_time: Option<Duration>,
}

/// The spending of a run.
#[derive(Debug)]
pub struct Spending {
    budget: Budget,
    start: Instant,
    cost: f64,
    finished: u64,
}

impl Spending {
    /// Nothing is spent yet.
    pub fn new(budget: Budget) -> Self {
        Self { budget, start: Instant::now(), cost: 0.0, finished: 0 }
    }

    /// A sample has ended and cost so much.
    pub fn finish(&mut self, cost: Option<f64>) {
        self.cost += cost.unwrap_or_default();
        self.finished += 1;
    }

    /// When no further sample may be begun.
    pub fn deadline(&self) -> Option<Instant> {
        self.start.checked_add(self.budget.max_time?)
    }

    /// Whether another sample fits beside those that run: each is taken to cost what the others did on average.
    pub fn affords_another(&self, running: usize) -> bool {
        let Some(limit) = self.budget.max_cost else { return true };
        let each = if self.finished == 0 { 0.0 } else { self.cost / self.finished as f64 };
        self.cost < limit && self.cost + each * (running + 1) as f64 <= limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_samples_are_paid_for_in_advance() {
        let mut spending = Spending::new(Budget { max_cost: Some(1.0), max_time: None });
        assert!(spending.affords_another(7), "nothing is known of the cost yet");
        for _ in 0..4 {
            spending.finish(Some(0.1));
        }
        assert!(spending.affords_another(5), "0.4 spent, 0.5 running, 0.1 more");
        assert!(!spending.affords_another(6));
        spending.finish(Some(0.6));
        assert!(!spending.affords_another(0), "the limit is reached");
    }

    #[test]
    fn without_a_limit_all_is_affordable() {
        let mut spending = Spending::new(Budget::default());
        spending.finish(Some(1e9));
        assert!(spending.affords_another(1000));
        assert_eq!(spending.deadline(), None);
    }
}
