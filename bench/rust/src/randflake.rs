//! Randflake against its two parts: the cipher, one block at a time, and one look at the clock.

use std::{hint::black_box, time::SystemTime};

use polyflake::{
    randflake::{Builder, EPOCH, LAST_SECOND, Lease},
    sparx64::Sparx64,
};

use crate::{
    measure::Row,
    sno::{Unbound, repeat},
};

const SECRET: [u8; 16] = *b"sixteen byte key";

/// What a generator may take beside cipher and clock.
const ALLOWANCE_NANOS: f64 = 15.0;

pub(crate) fn rows() -> Vec<Row> {
    let lease = Lease::new(7, EPOCH, LAST_SECOND + 1).expect("a lease");
    let clock = Unbound::in_seconds();
    let ids = Builder::with_clock(lease, SECRET, clock).build().expect("valid options");
    let cipher = Sparx64::new(SECRET);
    let mut block = [0; 8];
    let cipher_and_clock = move || {
        block = cipher.encrypt_block(black_box(block));
        SystemTime::now()
    };
    vec![Row {
        name: "rust: randflake generate",
        ours: repeat(move || ids.generate().expect("a clock that goes on")),
        against: "the scalar cipher and SystemTime::now, and 15 ns",
        theirs: repeat(cipher_and_clock),
        plus_nanos: ALLOWANCE_NANOS,
        goal: 1.0,
    }]
}
