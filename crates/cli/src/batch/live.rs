//! How far the run is: a bar on a terminal, nothing elsewhere.

use std::io::{self, IsTerminal};
use std::time::Duration;

use agenticiqa::batch::{Progress, Summary};
use indicatif::{ProgressBar, ProgressStyle};

/// The bar.
pub struct Live {
    bar: ProgressBar,
}

impl Live {
    /// A bar on stderr, unless it is no terminal or nobody wants to see it.
    pub fn new(hidden: bool) -> Self {
        if hidden || !io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden() };
        }
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {per_sec} ETA {eta} {wide_msg}");
        let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }

    /// Shows how far it is.
    pub fn show(&self, progress: &Progress<'_>) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_length(progress.expected.max(progress.summary.written()));
        self.bar.set_position(progress.summary.written());
        self.bar.set_message(counts(progress.summary));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// What happened so far, in a few words.
pub fn counts(summary: &Summary) -> String {
    let mut words = vec![format!("{} ok", summary.succeeded + summary.partial)];
    if summary.partial > 0 {
        words.push(format!("{} of them partial", summary.partial));
    }
    words.push(format!("{} errors", summary.failed));
    if summary.tokens > 0 {
        words.push(format!("{} tokens", summary.tokens));
        words.push(summary.cost_usd.map_or("cost unknown".to_owned(), |cost| format!("{cost:.4} USD")));
    }
    words.join(", ")
}
