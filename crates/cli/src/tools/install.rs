//! `tools install` and `tools remove`.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use agenticiqa::config::Settings;
use agenticiqa::tools::Registry;
use agenticiqa::tools::install::{Event, Installer, Package, State, named, packages};
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::Install;
use crate::exit::{Exit, Stop};
use crate::table;
use crate::terminal::{self, tell};

/// Installs the named packages; without names, lists what can be installed.
pub fn run(arguments: &Install, settings: &Settings, registry: &Registry, quiet: bool) -> Result<Exit, Stop> {
    let data = settings.tools_folder()?;
    let available = packages(registry)?;
    if arguments.names.is_empty() && !arguments.all {
        return list(&available, data);
    }
    let wanted = if arguments.all {
        let fits = |package: &&Package| !package.is_library && package.installation.is_downloadable();
        available.iter().filter(fits).cloned().collect()
    } else {
        named(&arguments.names, registry)?
    };
    let mut missing = Vec::new();
    for package in wanted {
        if package.state(data) == State::Installed && !arguments.force {
            writeln!(terminal::stdout(), "{} is already installed (--force reinstalls it)", package.name)?;
        } else {
            missing.push(package);
        }
    }
    let installer = Installer::new(data)
        .with_mirror(settings.pipeline.tools.pypi_mirror.clone())
        .with_files(arguments.from.clone());
    let reporter = Reporter::new(quiet);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if !missing.is_empty() {
        runtime.block_on(installer.install(&missing, &|event| reporter.emit(event)))?;
    }
    Ok(Exit::Done)
}

/// Removes the named packages.
pub fn remove(names: &[String], settings: &Settings, registry: &Registry) -> Result<Exit, Stop> {
    let data = settings.tools_folder()?;
    let available = packages(registry)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for package in named(names, registry)? {
        let needs = |other: &&Package| **other != package && other.state(data) == State::Installed;
        let others: Vec<Package> = available.iter().filter(needs).cloned().collect();
        let removed = runtime.block_on(Installer::new(data).remove(&package, &others))?;
        if removed.is_empty() {
            writeln!(terminal::stdout(), "{} is not installed", package.name)?;
        }
        for path in removed {
            writeln!(terminal::stdout(), "removed {}", path.display())?;
        }
    }
    Ok(Exit::Done)
}

fn list(available: &[Package], data: &Path) -> Result<Exit, Stop> {
    let mut table = table::new(&["name", "download", "license", "status", "about"]);
    for package in available {
        let section = &package.installation;
        let size = if section.is_downloadable() { size(section.download_size()) } else { "with --from".to_owned() };
        let state = match package.state(data) {
            State::Installed => "installed",
            State::Incomplete => "incomplete",
            State::Absent => "not installed",
        };
        table.add_row([package.name.as_str(), &size, &section.license, state, &section.notice]);
    }
    writeln!(terminal::stdout(), "{table}\n\nFiles go to {}.", data.display())?;
    Ok(Exit::Done)
}

/// Formats a number of bytes with a unit.
pub fn size(bytes: u64) -> String {
    match bytes as f64 {
        size if size >= 1e9 => format!("{:.1} GB", size / 1e9),
        size if size >= 1e6 => format!("{:.1} MB", size / 1e6),
        size => format!("{:.0} kB", (size / 1e3).max(1.0)),
    }
}

/// Reports an installation: results on stdout, a progress bar on stderr if it is a terminal.
struct Reporter {
    bar: ProgressBar,
}

impl Reporter {
    fn new(quiet: bool) -> Self {
        if quiet || !io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden() };
        }
        let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} ETA {eta} {wide_msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Self { bar: ProgressBar::no_length().with_style(style) }
    }

    fn emit(&self, event: &Event<'_>) {
        match event {
            Event::Downloading { source, done } => {
                self.bar.reset();
                self.bar.set_length(source.size.unwrap_or(0));
                self.bar.set_message(terminal::shown(source.file_name()));
                self.bar.set_position(*done);
                if *done > 0 {
                    self.say(&format!("  resuming after {}", size(*done)));
                } else if let (Some(url), Some(sha256)) = (&source.url, &source.sha256) {
                    let bytes = size(source.size.unwrap_or(0));
                    self.say(&format!("  from     {url} ({bytes})\n  SHA-256  {sha256}"));
                }
            }
            Event::Progress { done } => self.bar.set_position(*done),
            Event::Waiting => self.note("waiting for another installation to finish"),
            Event::Retrying { reason } => self.note(&format!("{reason}; retrying")),
            Event::Package(package) => {
                let section = &package.installation;
                self.say(&format!("{}\n  license  {}: {}", package.name, section.license, section.notice));
            }
            Event::Found { path, .. } => self.say(&format!("  from     {}", path.display())),
            Event::Verified { .. } => {
                self.bar.finish_and_clear();
                self.say("  checksum ok");
            }
            Event::Installed { path, size: bytes, sha256 } => {
                self.say(&format!("  file     {} ({})\n  SHA-256  {sha256}", path.display(), size(*bytes)));
            }
            _ => {}
        }
    }

    /// Prints a line of the result. Ignores errors: a closed pipe must not stop the installation.
    fn say(&self, line: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(terminal::stdout(), "{line}");
        });
    }

    /// Prints a note on stderr.
    fn note(&self, line: &str) {
        self.bar.suspend(|| tell!("note: {line}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_for_people() {
        assert_eq!([20_501, 63_794_605, 2_500_000_000, 10].map(size), ["21 kB", "63.8 MB", "2.5 GB", "1 kB"]);
    }
}
