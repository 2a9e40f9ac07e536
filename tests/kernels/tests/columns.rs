//! Tests that, at every level, reading fields of a slice of snos as columns gives the same results as calling each ID's
//! methods.

use kernel_tests::{XorShift, lengths};
use polyflake::{
    kernels::{levels, sno_columns},
    sno::{self, Parts, Sno},
};

/// Returns IDs with random metabytes. A quarter of the IDs have random times from the whole range, and all other times are
/// near `tick`.
fn ids(count: usize, tick: u64) -> Vec<Sno> {
    let mut noise = XorShift::new();
    let mut id = |index: usize| {
        let tick = match index % 4 {
            0 => noise.next() >> 25,
            near => (tick + near as u64).saturating_sub(2) & ((1 << 39) - 1),
        };
        let [metabyte, partition @ .., a, b] = noise.bytes::<5>();
        let parts = Parts {
            tick,
            tick_tock: noise.next() & 1 == 1,
            metabyte,
            partition: u16::from_be_bytes(partition),
            sequence: u16::from_be_bytes([a, b]),
        };
        Sno::from_parts(parts).unwrap()
    };
    (0..count).map(&mut id).collect()
}

fn column<T: Clone + Default>(
    ids: &[Sno],
    fill: impl FnOnce(&[Sno], &mut [T]) -> polyflake::Result<()>,
) -> Vec<T> {
    let mut column = vec![T::default(); ids.len()];
    fill(ids, &mut column).unwrap();
    column
}

fn map_ids<T>(ids: &[Sno], field: impl Fn(&Sno) -> T) -> Vec<T> {
    ids.iter().map(field).collect()
}

#[test]
fn columns_of_every_length_contain_each_ids_fields() {
    for (level, length) in levels().flat_map(|level| lengths().map(move |length| (level, length))) {
        let ids = ids(length, 1 << 38);
        let (mut times, mut metabytes) = (vec![0; length], vec![0; length]);
        let (mut partitions, mut sequences) = (vec![0; length], vec![0; length]);
        let numbers = (&mut *partitions, &mut *sequences);
        sno_columns(level, &ids, (&mut times, &mut metabytes), numbers);
        assert_eq!(times, map_ids(&ids, Sno::unix_ms), "{level:?} {length}");
        assert_eq!(metabytes, map_ids(&ids, Sno::metabyte), "{level:?} {length}");
        assert_eq!(partitions, map_ids(&ids, Sno::partition), "{level:?} {length}");
        assert_eq!(sequences, map_ids(&ids, Sno::sequence), "{level:?} {length}");
    }
}

#[test]
fn public_functions_match_the_kernels() {
    let ids = ids(100, 1 << 38);
    assert_eq!(column(&ids, sno::unix_ms_column), map_ids(&ids, Sno::unix_ms));
    assert_eq!(column(&ids, sno::metabyte_column), map_ids(&ids, Sno::metabyte));
    assert_eq!(column(&ids, sno::partition_column), map_ids(&ids, Sno::partition));
    assert_eq!(column(&ids, sno::sequence_column), map_ids(&ids, Sno::sequence));
}

#[test]
fn wrong_lengths_are_rejected() {
    let ids = [Sno::default(); 9];
    let error_message = |outcome: polyflake::Result<()>| outcome.unwrap_err().to_string();
    assert_eq!(error_message(sno::unix_ms_column(&ids, &mut [0; 8])), "expected length 9, found 8");
    assert_eq!(
        error_message(sno::metabyte_column(&ids, &mut [0; 10])),
        "expected length 9, found 10"
    );
    assert!(sno::partition_column(&ids, &mut []).is_err());
    assert!(sno::sequence_column(&[], &mut [0]).is_err());
}
