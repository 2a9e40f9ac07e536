//! Benchmarks for encoding and decoding single Randflake strings. Decoding is compared with the standard library's parsing
//! of the same digits.

use polyflake::{base32::Text, randflake::Randflake};

use crate::{
    clocks::RunawayClock,
    contest::{Comparison, Entry, Goal},
    measure::repeat,
    samples::{RoundRobin, randflake},
};

const FROM_STR_RADIX: &str = "u64::from_str_radix";

/// Returns the comparison. The standard library's parser is less strict than ours.
pub(crate) fn text_comparison() -> Comparison {
    let ids = samples();
    let (mut numbers, mut ours) = (RoundRobin::new(ids.clone()), RoundRobin::new(to_texts(&ids)));
    let mut theirs = RoundRobin::new(to_texts(&ids));
    let radix = move || u64::from_str_radix(theirs.next(), 32).expect("a number");
    Comparison::new(
        "rust: one Randflake text",
        vec![
            Entry::own_entry("encode", repeat(move || numbers.next().text())),
            Entry::own_entry(
                "decode",
                repeat(move || Randflake::parse(ours.next()).expect("a text")),
            ),
            Entry::peer_entry(FROM_STR_RADIX, repeat(radix)),
        ],
        vec![Goal::new("rust: Randflake strict decode", "decode", FROM_STR_RADIX, 0.5)],
    )
}

/// Returns new IDs. Most have 12 or 13 digits, and some have fewer.
pub(crate) fn samples() -> Vec<Randflake> {
    let mut ids = vec![Randflake::default(); 256];
    randflake(RunawayClock::with_second_ticks(256)).fill(&mut ids).expect("a clock");
    ids
}

pub(crate) fn to_texts(ids: &[Randflake]) -> Vec<Text<{ Randflake::TEXT_LEN }>> {
    ids.iter().map(|id| id.text()).collect()
}
