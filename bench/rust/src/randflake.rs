//! Randflake's text, one at a time, against the standard library's reading of the same digits.

use polyflake::{base32::Text, randflake::Randflake};

use crate::{
    clocks::Unbound,
    contest::{Against, Contest, Entry, Goal},
    measure::repeat,
    samples::{Turns, randflake},
};

const RADIX: &str = "u64::from_str_radix";

/// The contest. The standard library is less strict.
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
pub(crate) fn samples() -> Vec<Randflake> {
    let mut ids = vec![Randflake::default(); 256];
    randflake(Unbound::in_seconds(256)).fill(&mut ids).expect("a clock");
    ids
}

pub(crate) fn texts_of(ids: &[Randflake]) -> Vec<Text<{ Randflake::TEXT_LEN }>> {
    ids.iter().map(|id| id.text()).collect()
}
