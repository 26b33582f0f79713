//! Which rows of a job are wanted: filters, order, pages, and what the page draws beside them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::index::{Finding, Row};

/// Steps of the histogram from 1 to 5.
const STEPS: usize = 20;

/// The order of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Sort {
    /// Worst first.
    #[serde(rename = "score")]
    Score,
    /// Best first.
    #[serde(rename = "-score")]
    ScoreDown,
    /// By name.
    #[serde(rename = "name")]
    Name,
    /// By name, last first.
    #[serde(rename = "-name")]
    NameDown,
    /// As they were written.
    #[default]
    #[serde(rename = "time")]
    Time,
    /// The last written first.
    #[serde(rename = "-time")]
    TimeDown,
}

/// `csv` or `jsonl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// A table, one row a sample.
    #[default]
    Csv,
    /// The records.
    Jsonl,
}

/// Which rows are wanted; the same words for results and export.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResultsQuery {
    /// Rows to skip.
    #[serde(default)]
    pub offset: usize,
    /// Rows to give, at most 1000; 100 by default.
    #[schemars(range(max = 1000))]
    pub limit: Option<usize>,
    /// The order.
    #[serde(default)]
    pub sort: Sort,
    /// Only samples with this distortion; several with commas between them.
    pub distortion: Option<String>,
    /// Only samples with a distortion of this severity; several with commas between them.
    pub severity: Option<String>,
    /// Only samples with at least this score.
    pub min: Option<f64>,
    /// Only samples with at most this score.
    pub max: Option<f64>,
    /// Only samples that this tool has scored.
    pub tool: Option<String>,
    /// Only samples that the tool gives at least this score, from 1 to 5.
    pub tool_min: Option<f64>,
    /// Only samples that the tool gives at most this score, from 1 to 5.
    pub tool_max: Option<f64>,
    /// Only samples that ended like this: success, partial or error.
    pub status: Option<String>,
    /// The form of an export.
    pub format: Option<ExportFormat>,
}

/// A row, as the interface shows it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResultRow {
    /// The name of the sample.
    pub sample_id: String,
    /// The file name of the image.
    pub image_name: String,
    /// The address of a small image.
    pub thumbnail: String,
    /// The score from 1 to 5.
    pub score: Option<f64>,
    /// The level next to it.
    pub level: Option<String>,
    /// The scores that nine of ten mean opinions are expected among.
    pub interval: Option<[f64; 2]>,
    /// The answer.
    pub answer: Option<String>,
    /// What was found.
    pub distortions: Vec<Finding>,
    /// The scores of the tools, from 1 to 5.
    pub tools: BTreeMap<String, f64>,
    /// `success`, `partial` or `error`.
    pub status: String,
    /// Why there is no answer.
    pub error: Option<String>,
    /// Milliseconds.
    pub ms: f64,
}

/// How many samples have which score.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Histogram {
    /// The ends of the steps.
    pub edges: Vec<f64>,
    /// All samples.
    pub counts: Vec<u64>,
    /// Those that match.
    pub matching: Vec<u64>,
}

/// What there is to filter by.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Facets {
    /// Samples by distortion.
    pub distortions: BTreeMap<String, u64>,
    /// Samples by severity.
    pub severities: BTreeMap<String, u64>,
    /// The tools that gave scores.
    pub tools: BTreeSet<String>,
}

/// A page of results.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Results {
    /// Samples with a record.
    pub total: usize,
    /// Those that match.
    pub matching: usize,
    /// Those that do not.
    pub hidden: usize,
    /// This page of those that match.
    pub rows: Vec<ResultRow>,
    /// How many have which score.
    pub histogram: Histogram,
    /// What there is to filter by.
    pub facets: Facets,
}

impl ResultsQuery {
    /// Whether a row is wanted.
    pub fn wants(&self, row: &Row) -> bool {
        let listed = |given: &Option<String>, value: &str| {
            given.as_ref().is_none_or(|given| given.split(',').any(|one| one.trim().eq_ignore_ascii_case(value)))
        };
        let inside = |value: f64, low: Option<f64>, high: Option<f64>| {
            low.is_none_or(|low| value >= low) && high.is_none_or(|high| value <= high)
        };
        let found = self.distortion.is_none() && self.severity.is_none()
            || row.distortions.iter().any(|finding| {
                listed(&self.distortion, &finding.name)
                    && listed(&self.severity, finding.severity.as_deref().unwrap_or("unknown"))
            });
        let score = self.min.is_none() && self.max.is_none()
            || row.score.is_some_and(|score| inside(score, self.min, self.max));
        let of_tool = |tool: &String| {
            row.tools
                .iter()
                .any(|(name, score)| name.eq_ignore_ascii_case(tool) && inside(*score, self.tool_min, self.tool_max))
        };
        found && score && listed(&self.status, row.status) && self.tool.as_ref().is_none_or(of_tool)
    }

    /// The rows that are wanted, in order.
    pub fn select<'a>(&self, rows: &'a [Row]) -> Vec<&'a Row> {
        let mut wanted: Vec<&Row> = rows.iter().filter(|row| self.wants(row)).collect();
        // Samples without a score come last, whichever way the others stand.
        let by_score = |first: &Row, second: &Row, down: bool| match (first.score, second.score) {
            (Some(first), Some(second)) if down => second.total_cmp(&first),
            (Some(first), Some(second)) => first.total_cmp(&second),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        match self.sort {
            Sort::Time => {}
            Sort::TimeDown => wanted.reverse(),
            Sort::Name => wanted.sort_by(|first, second| first.sample_id.cmp(&second.sample_id)),
            Sort::NameDown => wanted.sort_by(|first, second| second.sample_id.cmp(&first.sample_id)),
            Sort::Score => wanted.sort_by(|first, second| by_score(first, second, false)),
            Sort::ScoreDown => wanted.sort_by(|first, second| by_score(first, second, true)),
        }
        wanted
    }

    /// A page of the rows that are wanted, with all that is drawn beside it.
    pub fn page(&self, job: &str, rows: &[Row]) -> Results {
        let wanted = self.select(rows);
        let limit = self.limit.unwrap_or(100).min(1000);
        Results {
            total: rows.len(),
            matching: wanted.len(),
            hidden: rows.len() - wanted.len(),
            rows: wanted.iter().skip(self.offset).take(limit).map(|row| shown(job, row)).collect(),
            histogram: Histogram {
                edges: (0..=STEPS).map(|step| 1.0 + 4.0 * step as f64 / STEPS as f64).collect(),
                counts: counts(rows.iter()),
                matching: counts(wanted.iter().copied()),
            },
            facets: facets(rows),
        }
    }
}

fn counts<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<u64> {
    let mut counts = vec![0; STEPS];
    for score in rows.filter_map(|row| row.score) {
        counts[(((score - 1.0) / 4.0 * STEPS as f64) as usize).min(STEPS - 1)] += 1;
    }
    counts
}

fn facets(rows: &[Row]) -> Facets {
    let mut facets = Facets::default();
    for row in rows {
        let names: BTreeSet<&String> = row.distortions.iter().map(|finding| &finding.name).collect();
        names.into_iter().for_each(|name| *facets.distortions.entry(name.clone()).or_default() += 1);
        let severities: BTreeSet<&String> =
            row.distortions.iter().filter_map(|finding| finding.severity.as_ref()).collect();
        severities.into_iter().for_each(|name| *facets.severities.entry(name.clone()).or_default() += 1);
        for tool in row.tools.keys() {
            if !facets.tools.contains(tool) {
                facets.tools.insert(tool.clone());
            }
        }
    }
    facets
}

fn shown(job: &str, row: &Row) -> ResultRow {
    let name = Path::new(&row.image_path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    ResultRow {
        sample_id: row.sample_id.clone(),
        image_name: name,
        thumbnail: format!("/jobs/{job}/thumbnails/{}", escaped(&row.sample_id)),
        score: row.score,
        level: row.level.map(str::to_owned),
        interval: row.interval,
        answer: row.answer.clone(),
        distortions: row.distortions.clone(),
        tools: row.tools.clone(),
        status: row.status.to_owned(),
        error: row.error.clone(),
        ms: row.ms,
    }
}

/// A name as one part of an address.
fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    name.bytes().fold(String::new(), |mut text, byte| {
        match plain(byte) {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, score: Option<f64>, distortions: &[(&str, &str)]) -> Row {
        let finding =
            |(name, severity): &(&str, &str)| Finding { name: (*name).into(), severity: Some((*severity).into()) };
        Row {
            sample_id: name.into(),
            image_path: format!("/photos/{name}.png"),
            score,
            level: None,
            interval: None,
            answer: None,
            distortions: distortions.iter().map(finding).collect(),
            tools: score.map(|score| ("SSIM".to_owned(), score)).into_iter().collect(),
            status: if score.is_some() { "success" } else { "error" },
            error: None,
            ms: 1.0,
            offset: 0,
            length: 0,
        }
    }

    fn rows() -> Vec<Row> {
        vec![
            row("c", Some(4.5), &[]),
            row("a", Some(1.5), &[("Blurs", "severe"), ("Noise", "slight")]),
            row("b/ü", None, &[]),
            row("d", Some(3.0), &[("Blurs", "slight")]),
        ]
    }

    fn names(query: &ResultsQuery) -> Vec<String> {
        query.select(&rows()).iter().map(|row| row.sample_id.clone()).collect()
    }

    #[test]
    fn rows_are_sorted_and_those_without_a_score_come_last() {
        let sorted = |sort| names(&ResultsQuery { sort, ..ResultsQuery::default() });
        assert_eq!(sorted(Sort::Score), ["a", "d", "c", "b/ü"]);
        assert_eq!(sorted(Sort::ScoreDown), ["c", "d", "a", "b/ü"]);
        assert_eq!(sorted(Sort::Name), ["a", "b/ü", "c", "d"]);
        assert_eq!(sorted(Sort::Time), ["c", "a", "b/ü", "d"]);
    }

    #[test]
    fn a_severity_is_that_of_the_distortion_that_is_asked_for() {
        let filtered = |distortion: Option<&str>, severity: Option<&str>| {
            let (distortion, severity) = (distortion.map(str::to_owned), severity.map(str::to_owned));
            names(&ResultsQuery { distortion, severity, ..ResultsQuery::default() })
        };
        assert_eq!(filtered(Some("blurs"), None), ["a", "d"]);
        assert_eq!(filtered(Some("Blurs"), Some("slight")), ["d"]);
        assert_eq!(filtered(None, Some("slight,severe")), ["a", "d"]);
        let scores = ResultsQuery { min: Some(2.0), max: Some(4.5), ..ResultsQuery::default() };
        assert_eq!(names(&scores), ["c", "d"]);
        let tool = ResultsQuery { tool: Some("ssim".into()), tool_max: Some(2.0), ..ResultsQuery::default() };
        assert_eq!(names(&tool), ["a"]);
        let failed = ResultsQuery { status: Some("error".into()), ..ResultsQuery::default() };
        assert_eq!(names(&failed), ["b/ü"]);
    }

    #[test]
    fn a_page_counts_what_it_does_not_show() {
        let query =
            ResultsQuery { distortion: Some("Blurs".into()), offset: 1, limit: Some(5), ..ResultsQuery::default() };
        let page = query.page("j1", &rows());
        assert_eq!((page.total, page.matching, page.hidden, page.rows.len()), (4, 2, 2, 1));
        assert_eq!(page.rows[0].thumbnail, "/jobs/j1/thumbnails/d");
        assert_eq!(page.histogram.counts.iter().sum::<u64>(), 3);
        assert_eq!(page.histogram.matching.iter().sum::<u64>(), 2);
        assert_eq!((page.histogram.counts[2], page.histogram.counts[17], page.histogram.edges[20]), (1, 1, 5.0));
        assert_eq!(page.facets.distortions["Blurs"], 2);
        assert_eq!(page.facets.tools.len(), 1);
        assert_eq!(escaped("b/ü"), "b%2F%C3%BC");
    }
}
