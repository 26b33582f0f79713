//! Logs go to stderr, as text or as JSON lines.

use agenticiqa::config;
use tracing::level_filters::LevelFilter;

use crate::arguments::{Arguments, LogFormat};

/// Starts logging as the command line says, else as the configuration does.
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
    let subscriber = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(level).with_target(false);
    match json {
        false => subscriber.without_time().with_ansi(false).init(),
        true => subscriber.json().init(),
    }
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
