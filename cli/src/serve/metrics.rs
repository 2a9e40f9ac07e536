//! Metrics in the Prometheus text format.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// The upper bounds of the histogram, in milliseconds.
const BUCKET_BOUNDS_MS: [u64; 11] = [1, 2, 5, 10, 25, 50, 100, 250, 1000, 5000, 15_000];

#[derive(Debug, Default)]
pub(super) struct Metrics {
    is_store_up: AtomicBool,
    pub(super) connections: AtomicU64,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    by_code: BTreeMap<&'static str, u64>,
    /// For each bound, the number of store replies that took at most that long.
    within: [u64; BUCKET_BOUNDS_MS.len()],
    replies: u64,
    sum: Duration,
}

impl Metrics {
    pub(super) fn is_store_up(&self) -> bool {
        self.is_store_up.load(Relaxed)
    }

    pub(super) fn set_store_up(&self, is_up: bool) {
        self.is_store_up.store(is_up, Relaxed);
    }

    /// Counts a request under the code of its error, or under `ok`.
    pub(super) fn count_request(&self, code: &'static str) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.by_code.entry(code).or_default() += 1;
    }

    /// Records the time from a request to the store's reply.
    pub(super) fn record_reply_time(&self, duration: Duration) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for (bound, within) in BUCKET_BOUNDS_MS.iter().zip(&mut counts.within) {
            *within += u64::from(duration <= Duration::from_millis(*bound));
        }
        counts.replies += 1;
        counts.sum += duration;
    }

    pub(super) fn to_text(&self, waiting: usize) -> String {
        let mut text = String::new();
        let mut describe = |name: &str, kind: &str, help: &str, lines: &str| {
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "# HELP polyflake_serve_{name} {help}\n# TYPE polyflake_serve_{name} {kind}\n{lines}"
            );
        };
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let by_code = counts.by_code.iter().fold(String::new(), |mut lines, (code, count)| {
            let _ = writeln!(lines, "polyflake_serve_requests_total{{code=\"{code}\"}} {count}");
            lines
        });
        describe("requests_total", "counter", "Requests by code; ok is a reply.", &by_code);
        describe(
            "store_seconds",
            "histogram",
            "How long the store took to reply.",
            &counts.buckets(),
        );
        for (name, help, value) in [
            (
                "store_up",
                "1 if the last check of the store succeeded, 0 if not.",
                self.is_store_up().into(),
            ),
            ("connections", "Connections of clients.", self.connections.load(Relaxed)),
            ("waiting", "Requests that wait for a connection to the store.", waiting as u64),
        ] {
            describe(name, "gauge", help, &format!("polyflake_serve_{name} {value}\n"));
        }
        text
    }
}

impl Counts {
    fn buckets(&self) -> String {
        let mut text = String::new();
        #[allow(clippy::cast_precision_loss, reason = "a bound has at most five digits")]
        let bounds = BUCKET_BOUNDS_MS.map(|ms| (ms as f64 / 1000.0).to_string());
        let bounds = bounds.iter().map(String::as_str).chain(["+Inf"]);
        for (bound, count) in bounds.zip(self.within.into_iter().chain([self.replies])) {
            let _ =
                writeln!(text, "polyflake_serve_store_seconds_bucket{{le=\"{bound}\"}} {count}");
        }
        let (sum, replies) = (self.sum.as_secs_f64(), self.replies);
        let _ = writeln!(text, "polyflake_serve_store_seconds_sum {sum}");
        let _ = writeln!(text, "polyflake_serve_store_seconds_count {replies}");
        text
    }
}
