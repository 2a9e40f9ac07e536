//! Past the limit of a format: a million sno IDs under the system's clock, by number of partitions.

use std::{hint::black_box, time::Instant};

use polyflake::{
    clock::SystemClock,
    sno::{Builder, Pool, Sno},
};

use crate::{
    contest::{Against, Contest, Entry, Goal, Key},
    measure::Work,
};

/// Number of IDs of one partition in a tick.
const TICK: usize = 1 << 16;

/// About a million IDs, in whole ticks for each number of partitions.
const IDS: usize = 16 * TICK;
const PARTITIONS: [u16; 4] = [1, 2, 4, 8];

/// Number of IDs in one call.
const BATCH: usize = 8192;

const SNO: &str = "sno";

pub(crate) fn a_million() -> Contest {
    let items = u32::try_from(IDS).expect("a million");
    let entry = |count: u16| Entry::ours(SNO, snos(count)).making(items).at(count.into());
    Contest {
        name: "rust: a million IDs",
        axis: Some("partitions"),
        entries: PARTITIONS.map(entry).into(),
        goals: vec![Goal {
            name: "rust: a million sno IDs from four partitions",
            ours: Key(SNO, Some(4)),
            against: Against::key("from one", Key(SNO, Some(1))),
            most: 0.3,
        }],
    }
}

fn snos(partitions: u16) -> Work {
    let member = |partition| {
        let builder = Builder::with_clock(SystemClock).partition(partition);
        Box::new(builder.build().expect("valid options"))
    };
    let ids = Pool::new((0..partitions).map(member)).expect("partitions that differ");
    let mut batch = vec![Sno::default(); IDS];
    let mut make = move |count: usize| {
        for part in black_box(&mut batch[..count]).chunks_mut(BATCH) {
            ids.fill(1, part).expect("a clock");
        }
    };
    Box::new(move |count| {
        // Uses up the tick that is available after a rest, and the one after it, so that the timed IDs begin with a new tick.
        make(2 * TICK * usize::from(partitions));
        let start = Instant::now();
        (0..count).for_each(|_| make(IDS));
        start.elapsed()
    })
}
