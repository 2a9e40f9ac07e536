//! Checks the chunks of all processes against the four rules for IDs.

use std::{
    collections::HashMap,
    path::PathBuf,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, ensure};

use crate::{
    chunk::Chunk,
    key,
    order::{GeneratorChunks, Order},
    sort::{Duplicates, Origin, Sorter},
    time::Time,
    verdict::{Verdict, Violation},
};

/// The known properties of a generator's IDs.
#[derive(Clone, Debug, Default)]
pub struct Format {
    /// How to compare IDs, if they are sorted.
    pub order: Option<Order>,
    /// The position of the time in an ID, or `None` if the IDs contain no time or its position is unknown.
    pub time: Option<Time>,
}

/// If the elapsed times of the wall clock and the monotonic clock during a chunk differ by more than this limit, the wall
/// clock is assumed to have been set during that chunk.
const MIN_CLOCK_STEP_NANOS: u64 = 5_000_000;

/// The IDs of one thread in one copy of one process.
struct Stream {
    name: String,
    count: u64,
    last: String,
}

/// A judge, which checks the IDs of one storm.
pub struct Judge {
    format: Format,
    sorter: Sorter,
    /// The index of each stream in `streams`, keyed by process, copy and thread.
    stream_indices: HashMap<[u32; 3], usize>,
    streams: Vec<Stream>,
    /// The chunks of each generator, keyed by process and copy. The threads of a copy share its generator.
    shared: HashMap<[u32; 2], GeneratorChunks>,
    verdict: Verdict,
}

impl Judge {
    /// Creates a judge that keeps up to `bytes` bytes of IDs in memory and stores the rest in `folder`.
    #[must_use]
    pub fn new(format: Format, folder: PathBuf, bytes: usize) -> Self {
        let known = || format.order.map(|_| Violation::default());
        let verdict = Verdict {
            thread: known(),
            generator: known(),
            clock: format.time.as_ref().map(|_| Violation::default()),
            ..Verdict::default()
        };
        let sorter = Sorter::new(folder, bytes);
        let (stream_indices, streams, shared) = (HashMap::new(), Vec::new(), HashMap::new());
        Self { format, sorter, stream_indices, streams, shared, verdict }
    }

    /// Adds a chunk that a process generated, and checks its IDs.
    pub fn add(&mut self, process: u32, chunk: &Chunk<'_>) -> Result<()> {
        let stream = self.stream_index(process, chunk)?;
        for id in &chunk.ids {
            let Stream { count, .. } = &mut self.streams[stream];
            let origin = Origin { index: *count, stream: stream.try_into()? };
            *count += 1;
            self.sorter.push(key::key(id)?, origin)?;
        }
        self.verdict.ids += chunk.ids.len() as u64;
        self.check_threads(stream, chunk);
        self.check_generator(process, chunk);
        self.check_clock(stream, chunk)
    }

    /// Records the error message of a failed call.
    pub fn record_error(&mut self, message: &str) {
        *self.verdict.errors.entry(message.to_owned()).or_default() += 1;
    }

    /// Compares all IDs and returns the verdict.
    pub fn finish(mut self) -> Result<Verdict> {
        let Duplicates { count, first } = self.sorter.finish()?;
        let describe = |(key, one, other): (key::Key, Origin, Origin)| {
            let place = |origin: Origin| {
                let name = &self.streams[origin.stream as usize].name;
                format!("ID {} of {name}", origin.index + 1)
            };
            format!("{} is {} and {}", key::id(&key), place(one), place(other))
        };
        self.verdict.distinct = Violation { count, first: first.map(describe) };
        Ok(self.verdict)
    }

    /// Returns the index of a chunk's stream.
    fn stream_index(&mut self, process: u32, chunk: &Chunk<'_>) -> Result<usize> {
        let Chunk { generator, thread, .. } = *chunk;
        let next = self.streams.len();
        ensure!(next < 1 << 20, "expected fewer threads and processes");
        let index = *self.stream_indices.entry([process, generator, thread]).or_insert(next);
        if index == next {
            let copy =
                if generator == 0 { String::new() } else { format!(", generator {generator}") };
            let name = format!("process {process}{copy}, thread {thread}");
            self.streams.push(Stream { name, count: 0, last: String::new() });
        }
        Ok(index)
    }

    /// Compares each ID with the previous ID of its thread.
    fn check_threads(&mut self, stream: usize, chunk: &Chunk<'_>) {
        let (Some(order), Some(broken)) = (self.format.order, &mut self.verdict.thread) else {
            return;
        };
        let Stream { name, last, .. } = &mut self.streams[stream];
        let mut before = last.as_str();
        for id in &chunk.ids {
            if !before.is_empty() && order.compare(before, id).is_ge() {
                broken.add(|| format!("{before}, then {id} in {name}"));
            }
            before = id;
        }
        *last = before.to_owned();
    }

    /// Compares a chunk with the chunks of the same generator that ended before this chunk began.
    fn check_generator(&mut self, process: u32, chunk: &Chunk<'_>) {
        let (Some(order), Some(broken)) = (self.format.order, &mut self.verdict.generator) else {
            return;
        };
        let compare = |one: &&&str, other: &&&str| order.compare(one, other);
        let (lowest, highest) =
            (chunk.ids.iter().min_by(compare), chunk.ids.iter().max_by(compare));
        let (Some([begin, end]), Some(lowest), Some(highest)) = (chunk.span, lowest, highest)
        else {
            return;
        };
        let shared = self.shared.entry([process, chunk.generator]).or_default();
        if let Some(before) = shared.find_violation(order, begin, lowest) {
            let Chunk { generator, .. } = chunk;
            broken.add(|| {
                format!("{before}, then {lowest} in process {process}, generator {generator}")
            });
        }
        shared.add(order, end, highest);
    }

    /// Compares the IDs' times with the clock reading after the chunk, unless the clock was set during the chunk.
    fn check_clock(&mut self, stream: usize, chunk: &Chunk<'_>) -> Result<()> {
        let (Some(time), Some(broken)) = (&self.format.time, &mut self.verdict.clock) else {
            return Ok(());
        };
        let now_us = match (chunk.span, chunk.wall) {
            (Some(span), Some(wall)) if was_clock_set(span, wall) => return Ok(()),
            (_, Some([_, end])) => i64::try_from(end / 1000)?,
            _ => i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros())?,
        };
        for id in &chunk.ids {
            let ahead = time.unix_us(id).context("cannot read the time of an ID")? - now_us;
            if ahead > 0 {
                self.verdict.ahead_us = self.verdict.ahead_us.max(ahead);
                let name = &self.streams[stream].name;
                broken.add(|| format!("{id} is {ahead} us ahead of the clock in {name}"));
            }
        }
        Ok(())
    }
}

/// Returns whether the wall clock was set during the given interval, that is, whether it advanced by noticeably more or
/// less than the monotonic clock.
fn was_clock_set([begin, end]: [u64; 2], [wall_begin, wall_end]: [u64; 2]) -> bool {
    end.wrapping_sub(begin).abs_diff(wall_end.wrapping_sub(wall_begin)) > MIN_CLOCK_STEP_NANOS
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn judge() -> Judge {
        let time = Some("decimal:4:60:1000:0".parse().unwrap());
        let format = Format { order: Some(Order::Number), time };
        Judge::new(format, std::env::temp_dir(), 1 << 16)
    }

    /// Creates a chunk of IDs that a thread generated between `begin` and `end`, in milliseconds.
    fn chunk<'t>(thread: u32, [begin, end]: [u64; 2], ids: &[&'t str]) -> Chunk<'t> {
        let span = Some([begin * MS, end * MS]);
        Chunk { generator: 0, thread, span, wall: span, ids: ids.to_vec() }
    }

    fn verdict(chunks: &[Chunk<'_>]) -> Verdict {
        let mut judge = judge();
        chunks.iter().for_each(|chunk| judge.add(3, chunk).unwrap());
        judge.finish().unwrap()
    }

    #[test]
    fn ids_that_break_no_rule_are_clean() {
        // The ID 160 encodes 10 ms, and 176 encodes 11 ms.
        let chunks = [chunk(0, [9, 10], &["160", "161"]), chunk(1, [11, 12], &["176", "177"])];
        let verdict = verdict(&chunks);
        assert!(verdict.is_clean(), "{verdict}");
        assert_eq!(verdict.ids, 4);
    }

    #[test]
    fn each_rule_reports_its_first_pair() {
        let chunks = [
            chunk(0, [9, 10], &["160", "162", "161"]),
            chunk(1, [11, 12], &["161"]),
            chunk(1, [12, 13], &["400"]),
        ];
        let verdict = verdict(&chunks);
        let firsts = verdict.rules().map(|(_, broken)| broken.unwrap().first.clone().unwrap());
        assert_eq!(
            firsts,
            [
                "161 is ID 1 of process 3, thread 1 and ID 3 of process 3, thread 0",
                "162, then 161 in process 3, thread 0",
                "162, then 161 in process 3, generator 0",
                "400 is 12000 us ahead of the clock in process 3, thread 1",
            ]
        );
    }

    #[test]
    fn a_chunk_in_which_the_clock_was_set_is_not_compared_with_the_clock() {
        let mut set = chunk(0, [19, 20], &["320"]);
        set.wall = Some([19 * MS, 10 * MS]);
        assert!(verdict(&[set]).is_clean());
    }
}
