//! Filtering, sorting and paging of job results, with a histogram and filter options for the page.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::index::{Finding, Row};

/// The number of histogram bins from 1 to 5.
const STEPS: usize = 20;

/// The sort order of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Sort {
    /// By score, worst first.
    #[serde(rename = "score")]
    Score,
    /// By score, best first.
    #[serde(rename = "-score")]
    ScoreDown,
    /// By sample ID.
    #[serde(rename = "name")]
    Name,
    /// By sample ID, descending.
    #[serde(rename = "-name")]
    NameDown,
    /// By time, oldest first.
    #[default]
    #[serde(rename = "time")]
    Time,
    /// By time, newest first.
    #[serde(rename = "-time")]
    TimeDown,
}

/// The file format of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// A table with one row per sample.
    #[default]
    Csv,
    /// The full records as JSON Lines.
    Jsonl,
}

/// Query parameters of job results and exports.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResultsQuery {
    /// Number of rows to skip.
    #[serde(default)]
    pub offset: usize,
    /// Maximum number of rows to return, up to 1000 (default: 100).
    #[schemars(range(max = 1000))]
    pub limit: Option<usize>,
    /// Sort order.
    #[serde(default)]
    pub sort: Sort,
    /// Only samples with one of these distortions, separated by commas.
    pub distortion: Option<String>,
    /// Only samples with a distortion of one of these severities, separated by commas.
    pub severity: Option<String>,
    /// Only samples with at least this score.
    pub min: Option<f64>,
    /// Only samples with at most this score.
    pub max: Option<f64>,
    /// Only samples with a score from this tool.
    pub tool: Option<String>,
    /// Only samples with at least this score from `tool`, from 1 to 5.
    pub tool_min: Option<f64>,
    /// Only samples with at most this score from `tool`, from 1 to 5.
    pub tool_max: Option<f64>,
    /// Only samples with this status: `success`, `partial` or `error`.
    pub status: Option<String>,
    /// File format of an export (default: csv).
    pub format: Option<ExportFormat>,
}

/// The result of one sample.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResultRow {
    /// Sample ID.
    pub sample_id: String,
    /// File name of the image.
    pub image_name: String,
    /// Path of the thumbnail.
    pub thumbnail: String,
    /// Quality score from 1 to 5.
    pub score: Option<f64>,
    /// Quality level of the score.
    pub level: Option<String>,
    /// 90% prediction interval of the score.
    pub interval: Option<[f64; 2]>,
    /// The answer.
    pub answer: Option<String>,
    /// Detected distortions.
    pub distortions: Vec<Finding>,
    /// Scores from 1 to 5 by tool.
    pub tools: BTreeMap<String, f64>,
    /// `success`, `partial` or `error`.
    pub status: String,
    /// Error message, if the assessment failed.
    pub error: Option<String>,
    /// Execution time in milliseconds.
    pub ms: f64,
}

/// The distribution of scores.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Histogram {
    /// Edges of the bins.
    pub edges: Vec<f64>,
    /// Number of samples in each bin.
    pub counts: Vec<u64>,
    /// Number of samples in each bin that match the filters.
    pub matching: Vec<u64>,
}

/// The values that results can be filtered by.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Facets {
    /// Number of samples by distortion.
    pub distortions: BTreeMap<String, u64>,
    /// Number of samples by severity.
    pub severities: BTreeMap<String, u64>,
    /// Tools with scores.
    pub tools: BTreeSet<String>,
}

/// A page of results.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Results {
    /// Number of samples with a record.
    pub total: usize,
    /// Number of samples that match the filters.
    pub matching: usize,
    /// Number of samples that do not match.
    pub hidden: usize,
    /// The requested page of matching samples.
    pub rows: Vec<ResultRow>,
    /// Distribution of scores.
    pub histogram: Histogram,
    /// Values to filter by.
    pub facets: Facets,
}

impl ResultsQuery {
    /// Returns whether a row matches the filters.
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

    /// Returns the matching rows in order.
    pub fn select<'a>(&self, rows: &'a [Row]) -> Vec<&'a Row> {
        let mut wanted: Vec<&Row> = rows.iter().filter(|row| self.wants(row)).collect();
        // Samples without a score come last in both directions.
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

    /// Returns a page of the matching rows with the histogram and the filter values.
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

/// Percent-encodes a name as one segment of a path.
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
