//! Metrics in the Prometheus text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::app::App;

/// The upper bounds of the histogram buckets in seconds.
const STEPS: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0];

#[derive(Debug, Default)]
struct Times {
    counts: [u64; STEPS.len()],
    sum: f64,
    count: u64,
}

/// The counters of the server.
#[derive(Debug, Default)]
pub struct Telemetry {
    requests: Mutex<BTreeMap<(String, String, u16), u64>>,
    times: Mutex<BTreeMap<String, Times>>,
    assessments: Mutex<BTreeMap<&'static str, u64>>,
    /// The number of open connections.
    pub connections: AtomicU64,
    /// The number of connections refused because of the limit.
    pub refused: AtomicU64,
}

impl Telemetry {
    /// Counts a request by route, because the number of paths is unbounded.
    pub fn request(&self, method: &str, route: &str, status: u16, time: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((method.to_owned(), route.to_owned(), status)).or_default() += 1;
        drop(requests);
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let times = times.entry(route.to_owned()).or_default();
        let seconds = time.as_secs_f64();
        for (count, step) in times.counts.iter_mut().zip(STEPS) {
            *count += u64::from(seconds <= step);
        }
        times.sum += seconds;
        times.count += 1;
    }

    /// Counts an assessment by status.
    pub fn assessment(&self, status: &'static str) {
        *self.assessments.lock().unwrap_or_else(PoisonError::into_inner).entry(status).or_default() += 1;
    }
}

/// Writes the `HELP` and `TYPE` lines of a metric.
fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# HELP agenticiqa_{name} {help}\n# TYPE agenticiqa_{name} {kind}");
}

/// Renders all metrics.
pub fn render(app: &App) -> String {
    let mut text = String::new();
    let telemetry = &app.telemetry;
    head(&mut text, "http_requests_total", "counter", "Requests by method, route and status.");
    for ((method, route, status), count) in telemetry.requests.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
        let _ = writeln!(text, "agenticiqa_http_requests_total{{{labels}}} {count}");
    }
    head(&mut text, "http_request_seconds", "histogram", "Time until the response headers in seconds, by route.");
    for (route, times) in telemetry.times.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let name = "agenticiqa_http_request_seconds";
        for (count, step) in times.counts.iter().zip(STEPS) {
            let _ = writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"{step}\"}} {count}");
        }
        let _ = writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {}", times.count);
        let _ = writeln!(text, "{name}_sum{{route=\"{route}\"}} {}", times.sum);
        let _ = writeln!(text, "{name}_count{{route=\"{route}\"}} {}", times.count);
    }
    head(&mut text, "assessments_total", "counter", "Assessments by final status.");
    for (status, count) in telemetry.assessments.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = writeln!(text, "agenticiqa_assessments_total{{status=\"{status}\"}} {count}");
    }
    let (pictures, picture_bytes) = app.pictures.size();
    let cache = app.agent.cache.statistics();
    let gauges = [
        ("work_running", "Running assessments, scores and maps.", app.admission.running() as u64),
        ("work_waiting", "Queued assessments, scores and maps.", app.admission.waiting() as u64),
        ("connections", "Open connections.", telemetry.connections.load(Ordering::Relaxed)),
        ("jobs_active", "Queued and running jobs.", app.jobs.active() as u64),
        ("pictures", "Stored images.", pictures as u64),
        ("picture_bytes", "Size of stored images in bytes.", picture_bytes),
    ];
    let counters = [
        (
            "connections_refused_total",
            "Connections refused because of the limit.",
            telemetry.refused.load(Ordering::Relaxed),
        ),
        ("tool_cache_hits_total", "Scores read from the cache.", cache.memory_hits + cache.disk_hits),
        ("tool_cache_misses_total", "Scores computed.", cache.misses),
    ];
    for (kind, values) in [("gauge", &gauges[..]), ("counter", &counters[..])] {
        for (name, help, value) in values {
            head(&mut text, name, kind, help);
            let _ = writeln!(text, "agenticiqa_{name} {value}");
        }
    }
    text
}
