//! Hand-written code for a layout of eight fields. The code uses shifts and masks, and checks that each value fits. The
//! benchmark compares it with a layout that is only known at run time.
//!
//! ```text
//! 1 unused | 39 time of 10 ms | 2 region | 4 zone | 4 rack, inverted | 5 worker | 1 kind | 8 sequence, inverted
//! ```

use std::hint::black_box;

use crate::measure::{Work, repeat};

const EPOCH_MS: i64 = 1_409_529_600_000;
const REGION: i64 = 1;
const TIME_SHIFT: u32 = 24;

/// Values for the time, zone, rack, worker and sequence.
type Values = [i64; 5];

/// Packs the values into an ID, or returns `None` if a value does not fit in its field.
#[inline]
fn checked_pack([unix_ms, zone, rack, worker, sequence]: Values) -> Option<i64> {
    let time = (unix_ms - EPOCH_MS).div_euclid(10);
    let fits = |value: i64, bits: u32| value >> bits == 0;
    (fits(time, 39) && fits(zone, 4) && fits(rack, 4) && fits(worker, 5) && fits(sequence, 8))
        .then_some(
            time << TIME_SHIFT
                | REGION << 22
                | zone << 18
                | (15 - rack) << 14
                | worker << 9
                | (255 - sequence),
        )
}

/// Splits an ID into its time and its other seven fields.
#[inline]
fn split_fields(id: i64) -> [i64; 8] {
    let field = |shift: u32, bits: u32| id >> shift & ((1 << bits) - 1);
    [
        field(TIME_SHIFT, 39) * 10 + EPOCH_MS,
        field(22, 2),
        field(18, 4),
        15 - field(14, 4),
        field(9, 5),
        field(8, 1),
        255 - field(0, 8),
        field(63, 1),
    ]
}

pub(crate) fn pack() -> Work {
    let mut n = 0_u8;
    repeat(move || {
        n = n.wrapping_add(1);
        let time = black_box(1_763_650_000_000_i64) + i64::from(n);
        checked_pack([time, (n & 15).into(), (n >> 4).into(), (n & 31).into(), n.into()])
    })
}

pub(crate) fn parse() -> Work {
    let mut id = 1_i64 << 60;
    repeat(move || {
        id = black_box(id) + 1_234_567;
        split_fields(id).map(black_box)
    })
}
