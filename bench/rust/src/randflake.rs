//! Randflake against its two parts: the cipher, one block at a time, and one reading of the clock.

use std::{hint::black_box, time::SystemTime};

use polyflake::{
    base32::Text,
    kernels::{self, Level, Set},
    randflake::{Randflake, SLOT},
    sparx64::Sparx64,
};

use crate::{
    clocks::Unbound,
    contest::{Against, Contest, Entry, Goal},
    measure::{Work, repeat},
    samples::{SECRET, Turns, randflake},
};

const BLOCK: &str = "one block";
const CLOCK: &str = "SystemTime::now alone";

pub(crate) fn parts() -> Contest {
    let ids = randflake(Unbound::in_seconds(1));
    let (cipher, mut block) = (Sparx64::new(SECRET), [0; 8]);
    let encrypt = move || {
        block = cipher.encrypt_block(black_box(block));
        block
    };
    Contest {
        name: "rust: Randflake and its parts",
        axis: None,
        entries: vec![
            Entry::ours("Randflake", repeat(move || ids.generate().expect("a clock"))),
            Entry::ours(BLOCK, repeat(encrypt)),
            Entry::peer(CLOCK, repeat(SystemTime::now)),
        ],
        goals: vec![Goal {
            name: "rust: Randflake generate",
            ours: "Randflake".into(),
            against: Against::sum(
                "one block and 0.8 SystemTime::now",
                [(BLOCK, 1.0), (CLOCK, 0.8)],
            ),
            most: 1.0,
        }],
    }
}

const RADIX: &str = "u64::from_str_radix";

/// The contest for one text at a time. The standard library reads the same digits, less strictly.
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

/// New IDs: of 12 and 13 digits, sometimes fewer.
fn samples() -> Vec<Randflake> {
    let mut ids = vec![Randflake::default(); 256];
    randflake(Unbound::in_seconds(256)).fill(&mut ids).expect("a clock");
    ids
}

fn texts_of(ids: &[Randflake]) -> Vec<Text<{ Randflake::TEXT_LEN }>> {
    ids.iter().map(|id| id.text()).collect()
}

/// Number of texts in a slice.
const TEXTS: u32 = 1024;

/// A contest for texts in slices: each instruction set of the machine against scalar code, text by text.
fn in_slices(
    name: &'static str,
    work: fn(Level) -> Work,
    goals: impl IntoIterator<Item = (&'static str, &'static str, f64)>,
) -> Contest {
    let entry = |level: Level| Entry::ours(level.set().name(), work(level)).making(TEXTS);
    let goal = |(name, ours, most): (_, &'static str, _)| Goal {
        name,
        ours: ours.into(),
        against: Against::key("one by one", Set::Scalar.name().into()),
        most,
    };
    Contest {
        name,
        axis: None,
        entries: kernels::levels().map(entry).collect(),
        goals: goals.into_iter().map(goal).collect(),
    }
}

pub(crate) fn encode() -> Contest {
    let goals = [
        ("rust: Randflake encode 1024, SSE4.1", "sse41", 0.6),
        ("rust: Randflake encode 1024, AVX2", "avx2", 0.45),
        ("rust: Randflake encode 1024, AVX-512", "avx512", 0.3),
    ];
    in_slices("rust: 1024 Randflake texts encoded into slots", encode_slots, goals)
}

pub(crate) fn decode() -> Contest {
    let goals = [
        ("rust: Randflake strict decode 1024, SSE4.1", "sse41", 0.6),
        ("rust: Randflake strict decode 1024, AVX2", "avx2", 0.5),
        ("rust: Randflake strict decode 1024, AVX-512", "avx512", 0.3),
    ];
    in_slices("rust: 1024 Randflake texts decoded out of slots, strictly", decode_slots, goals)
}

pub(crate) fn encode_column() -> Contest {
    let goals = [("rust: Randflake encode 1024 side by side, AVX2", "avx2", 0.6)];
    in_slices("rust: 1024 Randflake texts encoded side by side", encode_side_by_side, goals)
}

pub(crate) fn decode_column() -> Contest {
    let goals = [("rust: Randflake strict decode 1024 side by side, AVX2", "avx2", 0.5)];
    let name = "rust: 1024 Randflake texts decoded side by side, strictly";
    in_slices(name, decode_side_by_side, goals)
}

fn numbers() -> Vec<u64> {
    (0..TEXTS / 256).flat_map(|_| samples()).map(Randflake::to_u64).collect()
}

fn encode_slots(level: Level) -> Work {
    let (numbers, mut slots) = (numbers(), vec![[0; SLOT]; TEXTS as usize]);
    repeat(move || kernels::encode_randflake(level, &numbers, black_box(&mut slots)))
}

fn decode_slots(level: Level) -> Work {
    let (mut numbers, mut slots) = (numbers(), vec![[0; SLOT]; TEXTS as usize]);
    kernels::encode_randflake(level, &numbers, &mut slots).expect("equally long slices");
    repeat(move || kernels::decode_randflake(level, black_box(&slots), &mut numbers))
}

fn encode_side_by_side(level: Level) -> Work {
    let numbers = numbers();
    let (mut offsets, mut text) = column();
    repeat(move || {
        kernels::encode_randflake_column(level, &numbers, &mut offsets, black_box(&mut text))
    })
}

fn decode_side_by_side(level: Level) -> Work {
    let (mut numbers, (mut offsets, mut text)) = (numbers(), column());
    kernels::encode_randflake_column(level, &numbers, &mut offsets, &mut text)
        .expect("room for all");
    repeat(move || {
        kernels::decode_randflake_column(level, &offsets, black_box(&text), &mut numbers)
    })
}

/// Memory for offsets and texts.
fn column() -> (Vec<i32>, Vec<u8>) {
    (vec![0; TEXTS as usize + 1], vec![0; TEXTS as usize * Randflake::TEXT_LEN])
}
