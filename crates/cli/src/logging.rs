//! Logs go to stderr, as text or as JSON lines.

use tracing::level_filters::LevelFilter;

use crate::arguments::{Arguments, LogFormat};

/// Starts logging at the level that was asked for.
pub fn start(arguments: &Arguments) {
    let level = if arguments.quiet { LevelFilter::ERROR } else { arguments.log_level };
    let subscriber = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(level).with_target(false);
    match arguments.log_format {
        LogFormat::Text => subscriber.without_time().with_ansi(false).init(),
        LogFormat::Json => subscriber.json().init(),
    }
}
