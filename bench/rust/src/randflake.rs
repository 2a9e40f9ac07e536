//! Randflake against its two parts: the cipher, one block at a time, and one look at the clock.

use std::{hint::black_box, time::SystemTime};

use polyflake::sparx64::Sparx64;

use crate::{
    clocks::Unbound,
    contest::{Against, Contest, Entry, Goal},
    measure::repeat,
    samples::{SECRET, randflake},
};

/// What a generator may take beside cipher and clock.
const ALLOWANCE_NANOS: f64 = 12.0;
const PARTS: &str = "one block and SystemTime::now";

pub(crate) fn parts() -> Contest {
    let ids = randflake(Unbound::in_seconds(1));
    let (cipher, mut block) = (Sparx64::new(SECRET), [0; 8]);
    let parts = move || {
        block = cipher.encrypt_block(black_box(block));
        SystemTime::now()
    };
    let against = "one block, SystemTime::now, 12 ns";
    Contest {
        name: "rust: Randflake and its parts",
        axis: None,
        entries: vec![
            Entry::ours("Randflake", repeat(move || ids.generate().expect("a clock"))),
            Entry::ours(PARTS, repeat(parts)),
        ],
        goals: vec![Goal {
            name: "rust: Randflake generate",
            ours: "Randflake".into(),
            against: Against::entry_and(against, PARTS, ALLOWANCE_NANOS),
            most: 1.0,
        }],
    }
}
