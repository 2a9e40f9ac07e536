//! Many IDs in one call: what one of them costs, by how many there are.

use std::hint::black_box;

use polyflake::{
    clock::SystemClock, hotguid::HotGuid, layout::Batch, randflake::Randflake, sno::Sno,
};

use crate::{
    clocks::Unbound,
    contest::{Against, Contest, Entry, Goal, Key},
    measure::{Work, repeat},
    samples::{hot_guid, layout, randflake, sno},
};

const SIZES: [u32; 7] = [1, 4, 16, 64, 256, 1024, 4096];

pub(crate) fn sizes() -> Contest {
    let sno = SIZES.into_iter().chain([16_384, 65_536]).map(|size| ("sno", size, snos(size)));
    let randflake = SIZES.map(|size| ("Randflake", size, randflakes(size)));
    let hot_guid = SIZES.map(|size| ("Hot Guid", size, hot_guids(size)));
    let layout = SIZES.map(|size| ("custom layout", size, layouts(size)));
    let zeros =
        SIZES.map(|size| Entry::peer("zeros, 10 bytes each", zeros(size)).making(size).at(size));
    let ours = sno.chain(randflake).chain(hot_guid).chain(layout);
    let ours = ours.map(|(name, size, work)| Entry::ours(name, work).making(size).at(size));
    Contest {
        name: "rust: batches",
        axis: Some("IDs in a call"),
        entries: ours.chain(zeros).collect(),
        goals: vec![Goal {
            name: "rust: sno batch of 1024, an ID",
            ours: Key("sno", Some(1024)),
            against: Against::nanos(0.45),
            most: 1.0,
        }],
    }
}

fn snos(size: u32) -> Work {
    let ids = sno(Unbound::making(size));
    let mut batch = vec![Sno::default(); size as usize];
    repeat(move || ids.fill(1, black_box(&mut batch)).expect("a clock"))
}

fn randflakes(size: u32) -> Work {
    let ids = randflake(Unbound::in_seconds(size));
    let mut batch = vec![Randflake::default(); size as usize];
    repeat(move || ids.fill(black_box(&mut batch)).expect("a clock"))
}

fn hot_guids(size: u32) -> Work {
    let ids = hot_guid(Unbound::in_seconds(size));
    let mut batch = vec![HotGuid::default(); size as usize];
    repeat(move || ids.fill(1, black_box(&mut batch)).expect("a clock"))
}

fn layouts(size: u32) -> Work {
    let ids = layout(SystemClock);
    let mut batch = vec![0_i64; size as usize];
    repeat(move || ids.fill(Batch::Integers(black_box(&mut batch))).expect("a clock"))
}

/// The floor: writing as many bytes as sno IDs have.
fn zeros(size: u32) -> Work {
    let mut bytes = vec![1_u8; size as usize * Sno::LEN];
    repeat(move || black_box(&mut bytes).fill(0))
}
