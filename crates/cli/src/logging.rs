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
    quiet_codecs();
}

/// What a damaged file makes a codec panic with is for the log: the error of the file says it to the user.
fn quiet_codecs() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if agenticiqa::imaging::in_codec() {
            tracing::debug!("{panic}");
        } else {
            report(panic);
        }
    }));
}
