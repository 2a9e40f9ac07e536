//! Reads the fields of many IDs at once, and compares the results with those of reading one ID at a time.

use polyflake::{
    ErrorKind, Result,
    sno::{self, Sno},
};

use crate::{
    bytes::Bytes,
    slices::{MAX_ITEMS, chunks_of_16},
};

/// Checks IDs that are close to each other, so that their fields are often equal.
pub(crate) fn sno(input: &[u8]) {
    let mut bytes = Bytes(input);
    let mask: [u8; 10] = bytes.array();
    let ids: Vec<Sno> = chunks_of_16(input)
        .take(bytes.number_below(MAX_ITEMS))
        .map(|chance| Sno::from_bytes(std::array::from_fn(|at| chance[at] & mask[at])))
        .collect();
    check_column(&ids, sno::unix_ms_column, Sno::unix_ms);
    check_column(&ids, sno::metabyte_column, Sno::metabyte);
    check_column(&ids, sno::partition_column, Sno::partition);
    check_column(&ids, sno::sequence_column, Sno::sequence);
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
