//! Progress bar of a batch run, on a terminal only.

use std::io::{self, IsTerminal};
use std::time::Duration;

use agenticiqa::batch::{Progress, Summary};
use indicatif::{ProgressBar, ProgressStyle};

/// The progress bar.
pub struct Live {
    bar: ProgressBar,
}

impl Live {
    /// Starts the bar on stderr, unless it is hidden or stderr is not a terminal.
    pub fn new(hidden: bool) -> Self {
        if hidden || !io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden() };
        }
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {per_sec} ETA {eta} {wide_msg}");
        let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }

    /// Updates the bar.
    pub fn show(&self, progress: &Progress<'_>) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_length(progress.expected.max(progress.summary.written()));
        self.bar.set_position(progress.summary.written());
        self.bar.set_message(counts(progress.summary));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Describes the counts so far.
pub fn counts(summary: &Summary) -> String {
    let mut words = vec![format!("{} ok", summary.succeeded + summary.partial)];
    if summary.partial > 0 {
        words.push(format!("{} partial", summary.partial));
    }
    words.push(format!("{} errors", summary.failed));
    if summary.tokens > 0 {
        words.push(format!("{} tokens", summary.tokens));
        words.push(summary.cost_usd.map_or("cost unknown".to_owned(), |cost| format!("{cost:.4} USD")));
    }
    words.join(", ")
}
