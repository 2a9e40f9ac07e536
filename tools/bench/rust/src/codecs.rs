//! Benchmarks for encoding and decoding sno strings, compared with general-purpose codecs that use the same alphabet.

use polyflake::sno::Sno;

use crate::{
    contest::{Comparison, Entry, Goal},
    measure::repeat,
    peers,
    samples::{RoundRobin, sno_texts, snos},
};

const DATA_ENCODING: &str = "data-encoding, to a buffer";

pub(crate) fn encode() -> Comparison {
    let (mut ours, mut encoding, mut fast) =
        (RoundRobin::new(snos()), RoundRobin::new(snos()), RoundRobin::new(snos()));
    let (data_encoding, mut buffer) = (peers::data_encoding(), [0; Sno::TEXT_LEN]);
    let (fast32, mut vec) = (peers::fast32(), Vec::with_capacity(Sno::TEXT_LEN));
    let theirs = move || {
        data_encoding.encode_mut(encoding.next().as_bytes(), &mut buffer);
        buffer
    };
    let fast = move || {
        vec.clear();
        fast32.encode_into(fast.next().as_bytes(), &mut vec);
        vec.last().copied()
    };
    Comparison::new(
        "rust: one text encoded",
        vec![
            Entry::own_entry("sno", repeat(move || ours.next().text())),
            Entry::peer_entry(DATA_ENCODING, repeat(theirs)),
            Entry::peer_entry("fast32, to a vector", repeat(fast)),
        ],
        vec![Goal::new("rust: sno encode", "sno", DATA_ENCODING, 0.2)],
    )
}

pub(crate) fn decode() -> Comparison {
    let (mut ours, mut encoding, mut fast) = (sno_texts(), sno_texts(), sno_texts());
    let (data_encoding, mut buffer) = (peers::data_encoding(), [0; Sno::LEN]);
    let (fast32, mut vec) = (peers::fast32(), Vec::with_capacity(Sno::LEN));
    let theirs = move || {
        data_encoding.decode_mut(encoding.next().as_bytes(), &mut buffer).expect("a valid text");
        buffer
    };
    let fast = move || {
        vec.clear();
        fast32.decode_into(fast.next().as_bytes(), &mut vec).expect("a valid text");
        vec.last().copied()
    };
    Comparison::new(
        "rust: one text decoded, strictly",
        vec![
            Entry::own_entry("sno", repeat(move || Sno::parse(ours.next()).expect("a valid text"))),
            Entry::peer_entry(DATA_ENCODING, repeat(theirs)),
            Entry::peer_entry("fast32, to a vector", repeat(fast)),
        ],
        vec![Goal::new("rust: sno strict decode", "sno", DATA_ENCODING, 0.25)],
    )
}
