//! Measures the longest pause in the fleet's ID generation after each fault.

use std::{collections::BTreeMap, time::UNIX_EPOCH};

/// The faults in the current namespace, and the longest pauses after each kind of fault in all namespaces so far.
#[derive(Default)]
pub struct Gaps {
    /// The names of the faults and the times at which they began.
    faults: Vec<(String, u64)>,
    longest: BTreeMap<String, Vec<u64>>,
}

pub fn now_ms() -> u64 {
    u64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

impl Gaps {
    pub fn begin(&mut self, fault: String) {
        self.faults.push((fault, now_ms()));
    }

    /// Ends a namespace. For each fault, this method records the longest pause between two IDs in the period from the start
    /// of the fault to the start of the next fault. `times` contains the times of all leased IDs.
    pub fn end(&mut self, mut times: Vec<u64>) {
        times.sort_unstable();
        self.faults.push((String::new(), now_ms()));
        for pair in self.faults.windows(2) {
            let [(name, begin), (_, end)] = pair else { continue };
            let inside = times.iter().copied().filter(|time| (begin..end).contains(&time));
            let edges: Vec<_> = [*begin].into_iter().chain(inside).chain([*end]).collect();
            let pauses = edges.windows(2).map(|edge| edge[1] - edge[0]);
            self.longest.entry(name.clone()).or_default().push(pauses.max().unwrap_or(0));
        }
        self.faults.clear();
    }

    /// Returns one line for each kind of fault.
    pub fn lines(&self) -> String {
        let line = |(name, pauses): (&String, &Vec<u64>)| {
            let mut pauses = pauses.clone();
            pauses.sort_unstable();
            let (median, longest) = (pauses[pauses.len() / 2], pauses[pauses.len() - 1]);
            format!(
                "no IDs for {median} ms (median), {longest} ms (longest): {name}, {}\n",
                pauses.len()
            )
        };
        self.longest.iter().map(line).collect()
    }
}
