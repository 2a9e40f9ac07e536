//! Randflake against its two parts: the cipher, one block at a time, and one look at the clock.

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

/// How many texts a slice has.
const TEXTS: u32 = 1024;

/// Its text in slices, into slots and out of them, by each instruction set that has a kernel.
pub(crate) fn slices() -> Contest {
    let goal = |name, ours: &'static str, against: &'static str| Goal {
        name,
        ours: ours.into(),
        against: Against::entry(against),
        most: 0.3,
    };
    let [one, best] = [Level::SCALAR, kernels::level()];
    let mut entries = vec![
        Entry::ours(ENCODE_ONE, encode_slots(one)),
        Entry::ours(DECODE_ONE, decode_slots(one)),
    ];
    #[cfg(target_arch = "x86_64")]
    if best.set() == Set::Avx512 {
        entries.push(Entry::ours(ENCODE, encode_slots(best)));
        entries.push(Entry::ours(DECODE, decode_slots(best)));
    }
    Contest {
        name: "rust: 1024 Randflake texts in slots",
        axis: None,
        entries: entries.into_iter().map(|entry| entry.making(TEXTS)).collect(),
        goals: vec![
            goal("rust: Randflake encode 1024, AVX-512", ENCODE, ENCODE_ONE),
            goal("rust: Randflake strict decode 1024, AVX-512", DECODE, DECODE_ONE),
        ],
    }
}

const ENCODE_ONE: &str = "encode, one by one";
const DECODE_ONE: &str = "decode, one by one";
const ENCODE: &str = "encode, avx512";
const DECODE: &str = "decode, avx512";

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
