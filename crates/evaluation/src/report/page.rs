//! Renders the report as HTML and Markdown. All text from records is escaped.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::cases::Kind;
use super::details::Case;
use super::document::{Fact, Section, Table};
use super::run::Run;
use super::{Error, Report, sections};
use crate::eval::plot::short;

const STYLE: &str = include_str!("templates/style.css");
const SCRIPT: &str = include_str!("templates/script.js");
const PAGE: &str = include_str!("templates/report.html");
const MARKDOWN: &str = include_str!("templates/report.md");

/// The data for the templates.
#[derive(Serialize)]
struct Page<'a> {
    title: &'a str,
    made: String,
    version: &'static str,
    style: &'static str,
    script: &'static str,
    /// The hash of the only script that the browser may run.
    script_hash: String,
    runs: Vec<RunView<'a>>,
    comparisons: Option<Table>,
}

#[derive(Serialize)]
struct RunView<'a> {
    number: usize,
    name: &'a str,
    path: String,
    facts: Vec<Fact>,
    sections: Vec<Section>,
    not_compared: &'a Option<String>,
    kinds: Vec<KindView>,
    cases: Vec<CaseView<'a>>,
}

#[derive(Serialize)]
struct KindView {
    word: &'static str,
    label: &'static str,
    count: usize,
}

#[derive(Serialize)]
struct CaseView<'a> {
    id: &'a str,
    sample_id: &'a str,
    kinds: Vec<KindView>,
    reasons: &'a [String],
    query: &'a str,
    options: &'a [String],
    answer: &'a Option<String>,
    right_answer: &'a Option<String>,
    score: Option<String>,
    interval: Option<String>,
    level: &'a Option<String>,
    status: &'a str,
    mos: Option<String>,
    opinion: Option<String>,
    meter: Option<Meter>,
    groups: &'a [(String, String)],
    image_path: &'a Option<String>,
    reference_path: &'a Option<String>,
    plan: &'a [(&'static str, String)],
    contributions: &'a Table,
    distortions: &'a Table,
    attributes: &'a Table,
    tools: &'a Table,
    reasoning: &'a [(String, Vec<String>)],
    problems: &'a [String],
    pictures: Vec<PictureView<'a>>,
    missing: Vec<String>,
}

/// Positions on the scale from 1 to 5, in percent of its length.
#[derive(Serialize)]
struct Meter {
    at: f64,
    from: Option<f64>,
    width: Option<f64>,
    opinion: Option<f64>,
}

#[derive(Serialize)]
struct PictureView<'a> {
    label: &'a str,
    address: &'a str,
    width: usize,
    height: usize,
}

impl<'a> CaseView<'a> {
    fn of(case: &'a Case) -> Self {
        let kind = |kind: &Kind| KindView { word: kind.word(), label: kind.label(), count: 1 };
        let share = |score: f64| (10_000.0 * (score.clamp(1.0, 5.0) - 1.0) / 4.0).round() / 100.0;
        let meter = case.score.map(|score| Meter {
            at: share(score),
            from: case.interval.map(|(low, _)| share(low)),
            width: case.interval.map(|(low, high)| share(high) - share(low)),
            opinion: case.opinion.map(share),
        });
        let (mut pictures, mut missing) = (Vec::new(), Vec::new());
        for picture in &case.pictures {
            match &picture.content {
                Ok((address, width, height)) => {
                    pictures.push(PictureView { label: &picture.label, address, width: *width, height: *height });
                }
                Err(reason) => missing.push(format!("{} cannot be shown: {reason}", picture.label)),
            }
        }
        Self {
            id: &case.id,
            sample_id: &case.sample_id,
            kinds: case.kinds.iter().map(kind).collect(),
            reasons: &case.reasons,
            query: &case.query,
            options: &case.options,
            answer: &case.answer,
            right_answer: &case.right_answer,
            score: case.score.map(|score| format!("{score:.2}")),
            interval: case.interval.map(|(low, high)| format!("{low:.2} – {high:.2}")),
            level: &case.level,
            status: &case.status,
            mos: case.mos.map(short),
            opinion: case.opinion.map(|opinion| format!("{opinion:.2}")),
            meter,
            groups: &case.groups,
            image_path: &case.image_path,
            reference_path: &case.reference_path,
            plan: &case.plan,
            contributions: &case.contributions,
            distortions: &case.distortions,
            attributes: &case.attributes,
            tools: &case.tools,
            reasoning: &case.reasoning,
            problems: &case.problems,
            pictures,
            missing,
        }
    }
}

impl<'a> RunView<'a> {
    fn of(run: &'a Run, seed: u64) -> Self {
        let count = |kind: Kind| run.cases.iter().filter(|case| case.kinds.contains(&kind)).count();
        let kinds = Kind::ALL.map(|kind| KindView { word: kind.word(), label: kind.label(), count: count(kind) });
        Self {
            number: run.number,
            name: &run.name,
            path: run.path.display().to_string(),
            facts: sections::facts(run),
            sections: sections::all(run, seed),
            not_compared: &run.not_compared,
            kinds: kinds.into_iter().filter(|kind| kind.count > 0).collect(),
            cases: run.cases.iter().map(CaseView::of).collect(),
        }
    }
}

impl<'a> Page<'a> {
    fn of(report: &'a Report) -> Self {
        Self {
            title: &report.title,
            made: format!("{:.0}", Timestamp::now()),
            version: env!("CARGO_PKG_VERSION"),
            style: STYLE,
            script: SCRIPT,
            script_hash: STANDARD.encode(Sha256::digest(SCRIPT.as_bytes())),
            runs: report.runs.iter().map(|run| RunView::of(run, report.seed)).collect(),
            comparisons: sections::comparisons(&report.comparisons),
        }
    }
}

/// Renders the HTML page.
pub(super) fn html(report: &Report) -> Result<String, Error> {
    let mut environment = environment()?;
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    Ok(environment.render_named_str("report.html", PAGE, Serde(Page::of(report)))?)
}

/// Renders the Markdown.
pub(super) fn markdown(report: &Report) -> Result<String, Error> {
    let mut environment = environment()?;
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.add_filter("plain", |text: String| plain(&text));
    Ok(environment.render_named_str("report.md", MARKDOWN, Serde(Page::of(report)))?)
}

/// Creates the template environment. A missing value is an error.
fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    Ok(environment)
}

/// Escapes text for Markdown and puts it on one line.
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => escaped.extend(['\\', c]),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_cannot_be_broken_by_names() {
        let name = "a|b\n# <script>`x`</script> [link](http://x) *_~";
        let safe = plain(name);
        assert_eq!(safe, "a\\|b \\# &lt;script&gt;\\`x\\`&lt;/script&gt; \\[link\\](http://x) \\*\\_\\~");
    }
}
