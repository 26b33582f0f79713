//! Limits on the cost and the duration of a run.

use std::time::Duration;

use tokio::time::Instant;

/// The budget of a run. At either limit, running samples are finished and written; the next run can
/// continue.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// The maximum cost in US dollars.
    pub max_cost: Option<f64>,
    /// The time after which no new sample starts.
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
    /// Starts with nothing spent.
    pub fn new(budget: Budget) -> Self {
        Self { budget, start: Instant::now(), cost: 0.0, finished: 0 }
    }

    /// Records the end of a sample and its cost.
    pub fn finish(&mut self, cost: Option<f64>) {
        self.cost += cost.unwrap_or_default();
        self.finished += 1;
    }

    /// The time after which no new sample may start.
    pub fn deadline(&self) -> Option<Instant> {
        self.start.checked_add(self.budget.max_time?)
    }

    /// Returns whether the budget covers another sample in addition to the running ones. Each is
    /// estimated at the average cost so far.
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
