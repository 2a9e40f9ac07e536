//! Shuffle tables that pick fields out of two adjacent IDs, for instruction sets with 16-byte shuffles.

/// An index past the bytes, for which a shuffle yields 0.
const NONE: u8 = 0x80;

/// The times of two IDs, counted from the start of the first: words with the tick-tock bit as the lowest bit.
pub(super) const TIMES: [u8; 16] =
    [4, 3, 2, 1, 0, NONE, NONE, NONE, 14, 13, 12, 11, 10, NONE, NONE, NONE];

/// Start of the sixteen bytes that hold all other fields of two IDs.
pub(super) const REST: usize = 4;

/// A field of several pairs: each pair's values go behind the values of the pair before.
pub(super) const METABYTES: [[u8; 16]; 8] = in_turn([1, 11]);
pub(super) const PARTITIONS: [[u8; 16]; 4] = in_turn([3, 2, 13, 12]);
pub(super) const SEQUENCES: [[u8; 16]; 4] = in_turn([5, 4, 15, 14]);

const fn in_turn<const BYTES: usize, const PAIRS: usize>(bytes: [u8; BYTES]) -> [[u8; 16]; PAIRS] {
    let mut orders = [[NONE; 16]; PAIRS];
    let mut place = 0;
    while place < 16 {
        orders[place / BYTES][place] = bytes[place % BYTES];
        place += 1;
    }
    orders
}
