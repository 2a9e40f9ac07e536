//! Benchmarks for public IDs, one at a time and in batches, compared with parsing and decrypting a Randflake string, which
//! uses the same cipher.

use polyflake::{
    public::{IdType, Keyring},
    randflake::{Codec, Randflake},
};

use crate::{
    contest::{Comparison, Entry, Goal},
    measure::repeat,
    randflake,
    samples::{RoundRobin, SECRET},
};

const INSPECT: &str = "a Randflake's text, inspected";

/// Number of IDs per batch.
const BATCH_SIZE: u32 = 1024;

pub(crate) fn encode_and_decode() -> Comparison {
    let codec = Codec::new(SECRET);
    let mut flakes = RoundRobin::new(randflake::to_texts(&randflake::samples()));
    let inspect = move || codec.inspect(Randflake::parse(flakes.next()).expect("a text"));
    let numbers: Vec<_> = (0..u64::from(BATCH_SIZE)).map(|row| row * 1_000_003).collect();
    let texts: Vec<_> = numbers.iter().map(|row| orders().encode(*row).expect("a text")).collect();
    let (encoder, decoder, many) = (orders(), orders(), (orders(), orders()));
    let (mut rows, mut ids) =
        (RoundRobin::new(numbers[..256].to_vec()), RoundRobin::new(texts[..256].to_vec()));
    let encode_many = move || {
        let mut characters = 0;
        many.0.encode_many(&numbers, |text| characters += text.len()).expect("texts");
        characters
    };
    let decode_many = move || many.1.decode_many(&texts).expect("numbers");
    let of_many = |entry| Entry { items: BATCH_SIZE, ..entry };
    Comparison::new(
        "rust: public IDs",
        vec![
            Entry::own_entry(
                "encode",
                repeat(move || encoder.encode(*rows.next()).expect("a text")),
            ),
            Entry::own_entry(
                "decode",
                repeat(move || decoder.decode(ids.next()).expect("a number")),
            ),
            of_many(Entry::own_entry("encode 1024", repeat(encode_many))),
            of_many(Entry::own_entry("decode 1024", repeat(decode_many))),
            Entry::peer_entry(INSPECT, repeat(inspect)),
        ],
        vec![Goal::new("rust: public ID decode", "decode", INSPECT, 2.0)],
    )
}

fn orders() -> IdType {
    Keyring::new(&[7; 32]).and_then(|ids| ids.of("order")).expect("a type")
}
