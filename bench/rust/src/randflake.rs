//! Randflake against its two parts: the cipher, one block at a time, and one look at the clock.

use std::{hint::black_box, time::SystemTime};

use polyflake::{base32::Text, randflake::Randflake, sparx64::Sparx64};

use crate::{
    clocks::Unbound,
    contest::{Against, Contest, Entry, Goal},
    measure::repeat,
    samples::{SECRET, Turns, randflake},
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

const RADIX: &str = "u64::from_str_radix";

/// Its text, one at a time; the standard library reads the same digits, less strictly.
pub(crate) fn texts() -> Contest {
    let ids = samples();
    let (mut numbers, mut ours) = (Turns::of(ids.clone()), Turns::of(texts_of(&ids)));
    let mut theirs = Turns::of(texts_of(&ids));
    let radix = move || u64::from_str_radix(theirs.next(), 32).expect("a number");
    Contest {
        name: "rust: one Randflake text",
        axis: None,
        entries: vec![
            Entry::ours("encode", repeat(move || numbers.next().text())),
            Entry::ours("decode", repeat(move || Randflake::parse(ours.next()).expect("a text"))),
            Entry::peer(RADIX, repeat(radix)),
        ],
        goals: vec![Goal {
            name: "rust: Randflake strict decode",
            ours: "decode".into(),
            against: Against::entry(RADIX),
            most: 0.5,
        }],
    }
}

/// IDs as they come: of 12 and 13 digits, now and then of less.
fn samples() -> Vec<Randflake> {
    let mut ids = vec![Randflake::default(); 256];
    randflake(Unbound::in_seconds(256)).fill(&mut ids).expect("a clock");
    ids
}

fn texts_of(ids: &[Randflake]) -> Vec<Text<{ Randflake::TEXT_LEN }>> {
    ids.iter().map(|id| id.text()).collect()
}
