//! Logging to stderr, as text or as JSON lines.

use agenticiqa::config;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::arguments::{Arguments, Command, LogFormat};
use crate::terminal;

/// Starts logging. The command line takes precedence over the configuration.
pub fn start(arguments: &Arguments, configured: &config::Logging) {
    let level = match (arguments.quiet, arguments.log_level) {
        (true, _) => LevelFilter::ERROR,
        (false, Some(level)) => level,
        (false, None) => level(configured.level),
    };
    let json = match arguments.log_format {
        Some(format) => format == LogFormat::Json,
        None => configured.format == config::LogFormat::Json,
    };
    // Only our own crates: log lines of HTTP libraries could contain an API key.
    let mut ours = Targets::new().with_target("agenticiqa", level);
    let asked = arguments.quiet || arguments.log_level.is_some() || configured.level != config::LogLevel::Warn;
    if matches!(arguments.command, Command::Batch(_)) && !asked {
        // Failures of single samples are in the records and in the summary.
        ours = ours.with_target("agenticiqa", LevelFilter::OFF).with_target("agenticiqa::batch", LevelFilter::WARN);
    }
    if matches!(arguments.command, Command::Serve(_)) && !asked {
        // One line per request; failures of single assessments are in their records.
        ours = ours.with_target("agenticiqa", LevelFilter::ERROR).with_target("agenticiqa_server", LevelFilter::INFO);
    }
    let lines = tracing_subscriber::fmt::layer().with_writer(terminal::shared_stderr).with_target(false);
    let log = tracing_subscriber::registry();
    match json {
        false => log.with(lines.without_time().with_ansi(false).with_filter(ours)).init(),
        true => log.with(lines.json().with_filter(ours)).init(),
    }
    quiet_codecs();
}

fn level(level: config::LogLevel) -> LevelFilter {
    match level {
        config::LogLevel::Off => LevelFilter::OFF,
        config::LogLevel::Error => LevelFilter::ERROR,
        config::LogLevel::Warn => LevelFilter::WARN,
        config::LogLevel::Info => LevelFilter::INFO,
        config::LogLevel::Debug => LevelFilter::DEBUG,
        config::LogLevel::Trace => LevelFilter::TRACE,
    }
}

/// Logs panics of codecs and of the ONNX engine instead of printing them: they become errors of the
/// file.
fn quiet_codecs() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if agenticiqa::imaging::in_codec() || agenticiqa::onnx::in_engine() {
            tracing::debug!("{panic}");
        } else {
            report(panic);
        }
    }));
}
