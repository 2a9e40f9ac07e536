//! Encoding and decoding sno strings, compared with general-purpose codecs that use its alphabet.

use polyflake::sno::Sno;

use crate::{
    contest::{Contest, Entry, Goal},
    measure::repeat,
    peers,
    samples::{Turns, snos, texts},
};

const DATA_ENCODING: &str = "data-encoding, to a buffer";

pub(crate) fn encode() -> Contest {
    let (mut ours, mut encoding, mut fast) =
        (Turns::new(snos()), Turns::new(snos()), Turns::new(snos()));
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
    Contest::new(
        "rust: one text encoded",
        vec![
            Entry::own_entry("sno", repeat(move || ours.next().text())),
            Entry::peer(DATA_ENCODING, repeat(theirs)),
            Entry::peer("fast32, to a vector", repeat(fast)),
        ],
        vec![Goal::new("rust: sno encode", "sno", DATA_ENCODING, 0.2)],
    )
}

pub(crate) fn decode() -> Contest {
    let (mut ours, mut encoding, mut fast) = (texts(), texts(), texts());
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
    Contest::new(
        "rust: one text decoded, strictly",
        vec![
            Entry::own_entry("sno", repeat(move || Sno::parse(ours.next()).expect("a valid text"))),
            Entry::peer(DATA_ENCODING, repeat(theirs)),
            Entry::peer("fast32, to a vector", repeat(fast)),
        ],
        vec![Goal::new("rust: sno strict decode", "sno", DATA_ENCODING, 0.25)],
    )
}
