//! Fields of many IDs at once, and filters by them, against one ID after the other.

use polyflake::{
    ErrorKind, Result,
    sno::{self, Sno},
};

use crate::{
    bytes::Bytes,
    slices::{MOST, sixteens},
};

/// The start of 2010, in Unix milliseconds: sno's first tick.
const EPOCH_MS: i64 = 1_262_304_000_000;

/// IDs near each other, whose fields are often the same; the input decides the query.
pub(crate) fn sno(input: &[u8]) {
    let mut bytes = Bytes(input);
    let mask: [u8; 10] = bytes.array();
    let ids: Vec<Sno> = sixteens(input)
        .take(bytes.below(MOST))
        .map(|chance| Sno::from_bytes(std::array::from_fn(|at| chance[at] & mask[at])))
        .collect();
    check_column(&ids, sno::unix_ms_column, Sno::unix_ms);
    check_column(&ids, sno::metabyte_column, Sno::metabyte);
    check_column(&ids, sno::partition_column, Sno::partition);
    check_column(&ids, sno::sequence_column, Sno::sequence);
    let metabyte = bytes.byte() & mask[5];
    check_filter(
        &ids,
        |bitmap| sno::having_metabyte(&ids, metabyte, bitmap),
        |id| id.metabyte() == metabyte,
    );
    let from = ids.first().map_or(EPOCH_MS, Sno::unix_ms) - i64::from(bytes.byte());
    let to = from + (bytes.number() >> 32);
    match Sno::time_range(from, to) {
        Ok(_) => check_filter(
            &ids,
            |bitmap| sno::in_time_range(&ids, from, to, bitmap),
            |id| (from..to).contains(&id.unix_ms()),
        ),
        Err(error) => {
            let refused = sno::in_time_range(&ids, from, to, &mut vec![0; ids.len().div_ceil(8)]);
            assert_eq!(refused.unwrap_err().kind(), error.kind());
        }
    }
}

fn check_column<T: Default + Clone + PartialEq>(
    ids: &[Sno],
    write: fn(&[Sno], &mut [T]) -> Result<()>,
    field: fn(&Sno) -> T,
) {
    let mut column = vec![T::default(); ids.len()];
    write(ids, &mut column).expect("slices of one length");
    assert!(ids.iter().map(field).eq(column));
    let longer = &mut vec![T::default(); ids.len() + 1];
    assert_eq!(write(ids, longer).unwrap_err().kind(), ErrorKind::InvalidLength);
}

fn check_filter(
    ids: &[Sno],
    filter: impl Fn(&mut [u8]) -> Result<usize>,
    passes: impl Fn(&Sno) -> bool,
) {
    let mut bitmap = vec![0xff; ids.len().div_ceil(8)];
    let count = filter(&mut bitmap).expect("a bit for each");
    let bits = (0..bitmap.len() * 8).map(|at| bitmap[at / 8] >> (at % 8) & 1 == 1);
    let expected = ids.iter().map(&passes).chain(std::iter::repeat(false)).take(bitmap.len() * 8);
    assert!(bits.eq(expected));
    assert_eq!(count, ids.iter().filter(|id| passes(id)).count());
    bitmap.push(0);
    assert_eq!(filter(&mut bitmap).unwrap_err().kind(), ErrorKind::InvalidLength);
}
