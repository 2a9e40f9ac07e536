//! Benchmarks for generating many IDs per call: the time per ID for each batch size.

use std::{
    hint::black_box,
    time::{SystemTime, UNIX_EPOCH},
};

use polyflake::{
    clock::SystemClock,
    hotguid::HotGuid,
    kernels::{self, Level},
    layout::Batch,
    randflake::Randflake,
    sno::Sno,
    uuid7::Uuid7,
};

use crate::{
    clocks::RunawayClock,
    contest::{Comparison, Entry, EntryKey, Goal},
    measure::{Work, repeat},
    samples::{hot_guid, layout, randflake, sno, uuid7},
};

/// The batch size that the goals apply to.
const GOAL_BATCH_SIZE: u32 = 1024;

const SCALAR: &str = "sno, scalar";
const HYPERUUID: &str = "hyperuuid v7, a batch";
const FAST_UUID_V7: &str = "fast-uuid-v7, one by one";
const ZEROS_10: &str = "zeros, 10 bytes each";
const ZEROS_16: &str = "zeros, 16 bytes each";

const SIZES: [u32; 7] = [1, 4, 16, 64, 256, 1024, 4096];

pub(crate) fn size_comparison() -> Comparison {
    let sno = SIZES.into_iter().chain([16_384, 65_536]).map(|size| ("sno", size, snos(size)));
    let randflake = SIZES.map(|size| ("Randflake", size, randflakes(size)));
    let hot_guid = SIZES.map(|size| ("Hot Guid", size, hot_guids(size)));
    let uuid7 = SIZES.map(|size| ("UUID v7", size, uuids(size)));
    let layout = SIZES.map(|size| ("custom layout", size, layouts(size)));
    let zeros = SIZES.map(|size| {
        Entry::peer_entry(ZEROS_10, write_zeros(size, Sno::LEN))
            .with_items(size)
            .at_axis_position(size)
    });
    let peers =
        [(HYPERUUID, hyperuuids(GOAL_BATCH_SIZE)), (FAST_UUID_V7, fast_uuids(GOAL_BATCH_SIZE))];
    let peers = peers.map(|(name, work)| {
        Entry::peer_entry(name, work).with_items(GOAL_BATCH_SIZE).at_axis_position(GOAL_BATCH_SIZE)
    });
    let larger = Entry::peer_entry(ZEROS_16, write_zeros(GOAL_BATCH_SIZE, HotGuid::LEN));
    let ours = sno.chain(randflake).chain(hot_guid).chain(uuid7).chain(layout);
    let ours = ours.map(|(name, size, work)| {
        Entry::own_entry(name, work).with_items(size).at_axis_position(size)
    });
    let scalar = Entry::own_entry(SCALAR, scalar_snos(GOAL_BATCH_SIZE))
        .with_items(GOAL_BATCH_SIZE)
        .at_axis_position(GOAL_BATCH_SIZE);
    Comparison {
        name: "rust: batches",
        axis: Some("IDs in a call"),
        entries: ours
            .chain(zeros)
            .chain(peers)
            .chain([scalar, larger.with_items(GOAL_BATCH_SIZE).at_axis_position(GOAL_BATCH_SIZE)])
            .collect(),
        goals: vec![
            goal("rust: sno batch of 1024, an ID", "sno", ZEROS_10, 4.0),
            goal("rust: sno batch of 1024, an ID, scalar", SCALAR, ZEROS_10, 8.0),
            goal("rust: Hot Guid batch of 1024, an ID", "Hot Guid", ZEROS_16, 5.0),
            goal("rust: UUID v7 batch of 1024, against hyperuuid", "UUID v7", HYPERUUID, 0.1),
            goal("rust: UUID v7 batch of 1024, against fast-uuid-v7", "UUID v7", FAST_UUID_V7, 0.1),
        ],
    }
}

/// Returns a goal for the time of a batch of 1024 IDs, including the clock reading and the atomic operation. The goal
/// limits this time relative to the time for zeroing the same number of bytes, or to the time of another library's batch.
fn goal(name: &'static str, ours: &'static str, theirs: &'static str, most: f64) -> Goal {
    Goal::new(
        name,
        EntryKey(ours, Some(GOAL_BATCH_SIZE)),
        EntryKey(theirs, Some(GOAL_BATCH_SIZE)),
        most,
    )
}

fn snos(size: u32) -> Work {
    let ids = sno(RunawayClock::for_batch_size(size));
    let mut batch = vec![Sno::default(); size as usize];
    repeat(move || ids.fill(1, black_box(&mut batch)).expect("a clock"))
}

/// Returns work that generates a batch with the scalar kernel. The work generates the first ID, which takes one clock
/// reading and one atomic operation, and then writes all IDs of the batch.
fn scalar_snos(size: u32) -> Work {
    let ids = sno(RunawayClock::for_batch_size(size));
    let mut bytes = vec![0; size as usize * Sno::LEN];
    repeat(move || {
        let first = ids.generate(1).expect("a clock");
        kernels::fill_sno(Level::SCALAR, black_box(&mut bytes), first);
    })
}

fn randflakes(size: u32) -> Work {
    let ids = randflake(RunawayClock::with_second_ticks(size));
    let mut batch = vec![Randflake::default(); size as usize];
    repeat(move || ids.fill(black_box(&mut batch)).expect("a clock"))
}

fn hot_guids(size: u32) -> Work {
    let ids = hot_guid(RunawayClock::with_second_ticks(size));
    let mut batch = vec![HotGuid::default(); size as usize];
    repeat(move || ids.fill(1, black_box(&mut batch)).expect("a clock"))
}

fn uuids(size: u32) -> Work {
    let ids = uuid7(RunawayClock::with_millisecond_ticks(size));
    let mut batch = vec![Uuid7::default(); size as usize];
    repeat(move || ids.fill(black_box(&mut batch)).expect("a clock"))
}

fn hyperuuids(size: u32) -> Work {
    let mut bytes = vec![0; size as usize * Uuid7::LEN];
    repeat(move || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
        let unix_ms = u64::try_from(now.as_millis()).expect("a time in the format's range");
        hyperuuid::v7::new_v7_batch(unix_ms, size, black_box(&mut bytes)).expect("random bytes");
    })
}

fn fast_uuids(size: u32) -> Work {
    let mut ids = fast_uuid_v7::SequentialGenerator::new();
    let mut batch = vec![0; size as usize];
    repeat(move || black_box(&mut batch).fill_with(|| ids.next_id()))
}

fn layouts(size: u32) -> Work {
    let ids = layout(SystemClock);
    let mut batch = vec![0_i64; size as usize];
    repeat(move || ids.fill(Batch::Integers(black_box(&mut batch))).expect("a clock"))
}

/// Returns work that writes zeros to the bytes that the IDs would occupy. The duration of this work is a lower bound for
/// the time to generate a batch.
fn write_zeros(size: u32, bytes: usize) -> Work {
    let mut bytes = vec![1_u8; size as usize * bytes];
    repeat(move || black_box(&mut bytes).fill(0))
}
