//! Columns and filters of sno: every level finds the same in slices as the methods of each ID.

use std::ops::Range;

use kernel_tests::{Noise, lengths, some};
use polyflake::{
    ErrorKind,
    kernels::{Level, levels, sno_columns},
    sno::{self, Parts, Sno},
};

/// IDs with every metabyte, and times over the whole range and around `tick`.
fn ids(count: usize, tick: u64) -> Vec<Sno> {
    let mut noise = Noise::new();
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

fn each<T>(ids: &[Sno], field: impl Fn(&Sno) -> T) -> Vec<T> {
    ids.iter().map(field).collect()
}

/// The bitmap of IDs that pass, made bit by bit.
fn bitmap(ids: &[Sno], passes: impl Fn(&Sno) -> bool) -> (usize, Vec<u8>) {
    let mut bitmap = vec![0; ids.len().div_ceil(8)];
    let passing = ids.iter().enumerate().filter(|(_, id)| passes(id));
    let count = passing.map(|(index, _)| bitmap[index / 8] |= 1 << (index % 8)).count();
    (count, bitmap)
}

/// The bitmap that a filter writes over bits that were all set.
fn marked(
    ids: &[Sno],
    mark: impl FnOnce(&[Sno], &mut [u8]) -> polyflake::Result<usize>,
) -> (usize, Vec<u8>) {
    let mut bitmap = vec![0xff; ids.len().div_ceil(8)];
    let count = mark(ids, &mut bitmap).unwrap();
    (count, bitmap)
}

#[test]
fn columns_of_every_length_hold_each_ids_fields() {
    for (level, length) in levels().flat_map(|level| lengths().map(move |length| (level, length))) {
        let ids = ids(length, 1 << 38);
        let times = column(&ids, |ids, column| sno_columns::unix_ms(level, ids, column));
        assert_eq!(times, each(&ids, Sno::unix_ms), "{level:?} {length}");
        let metabytes = column(&ids, |ids, column| sno_columns::metabyte(level, ids, column));
        assert_eq!(metabytes, each(&ids, Sno::metabyte), "{level:?} {length}");
        let partitions = column(&ids, |ids, column| sno_columns::partition(level, ids, column));
        assert_eq!(partitions, each(&ids, Sno::partition), "{level:?} {length}");
        let sequences = column(&ids, |ids, column| sno_columns::sequence(level, ids, column));
        assert_eq!(sequences, each(&ids, Sno::sequence), "{level:?} {length}");
    }
}

#[test]
fn every_metabyte_is_found_alone() {
    let all = (0..=u8::MAX).chain(0..44);
    let ids: Vec<_> = all.map(|byte| Sno::default().with_metabyte(byte)).collect();
    let wanted = || some(0..=u8::MAX, 51);
    for (level, wanted) in levels().flat_map(|level| wanted().map(move |byte| (level, byte))) {
        let found =
            marked(&ids, |ids, bits| sno_columns::having_metabyte(level, ids, wanted, bits));
        assert_eq!(found, bitmap(&ids, |id| id.metabyte() == wanted), "{level:?} {wanted}");
    }
}

#[test]
fn metabytes_are_found_in_slices_of_every_length() {
    for (level, length) in levels().flat_map(|level| lengths().map(move |length| (level, length))) {
        let ids: Vec<_> =
            (ids(length, 0).iter()).map(|id| id.with_metabyte(id.metabyte() % 3)).collect();
        let found = marked(&ids, |ids, bits| sno_columns::having_metabyte(level, ids, 2, bits));
        assert_eq!(found, bitmap(&ids, |id| id.metabyte() == 2), "{level:?} {length}");
    }
}

#[track_caller]
fn finds(level: Level, ids: &[Sno], ticks: Range<u64>) {
    let found = marked(ids, |ids, bits| sno_columns::in_ticks(level, ids, ticks.clone(), bits));
    let expected = bitmap(ids, |id| ticks.contains(&id.tick()));
    assert_eq!(found, expected, "{level:?} {} {ticks:?}", ids.len());
}

#[test]
fn times_are_found_in_slices_of_every_length() {
    for (level, length) in levels().flat_map(|level| lengths().map(move |length| (level, length))) {
        finds(level, &ids(length, 1 << 38), 1 << 38..(1 << 38) + 1);
    }
}

#[test]
fn times_at_the_ends_of_ranges_are_found() {
    const LAST: u64 = (1 << 39) - 1;
    // A group and a rest, or several groups.
    const COUNT: usize = if cfg!(miri) { 17 } else { 64 };
    let edges = [0, 1, 2, 1 << 31, 1 << 32, (1 << 38) - 1, 1 << 38, LAST - 1, LAST, LAST + 1];
    for (level, &start) in levels().flat_map(|level| edges.iter().map(move |edge| (level, edge))) {
        for &end in edges.iter().filter(|&&end| end > start) {
            finds(level, &ids(COUNT, start), start..end);
            finds(level, &ids(COUNT, end), start..end);
        }
    }
}

#[test]
fn the_public_functions_are_the_kernels() {
    let ids = ids(100, 1 << 38);
    assert_eq!(column(&ids, sno::unix_ms_column), each(&ids, Sno::unix_ms));
    assert_eq!(column(&ids, sno::metabyte_column), each(&ids, Sno::metabyte));
    assert_eq!(column(&ids, sno::partition_column), each(&ids, Sno::partition));
    assert_eq!(column(&ids, sno::sequence_column), each(&ids, Sno::sequence));
    let wanted = ids[50].metabyte();
    let found = marked(&ids, |ids, bits| sno::having_metabyte(ids, wanted, bits));
    assert_eq!(found, bitmap(&ids, |id| id.metabyte() == wanted));
    let (from, to) = (ids[1].unix_ms(), ids[1].unix_ms() + 5);
    let found = marked(&ids, |ids, bits| sno::in_time_range(ids, from, to, bits));
    assert_eq!(found, bitmap(&ids, |id| (from..to).contains(&id.unix_ms())));
    assert_eq!(found.0, 50);
}

#[test]
fn wrong_lengths_and_ranges_are_refused() {
    let ids = [Sno::default(); 9];
    let refused = |outcome: polyflake::Result<()>| outcome.unwrap_err().to_string();
    assert_eq!(refused(sno::unix_ms_column(&ids, &mut [0; 8])), "expected length 9, found 8");
    assert_eq!(refused(sno::metabyte_column(&ids, &mut [0; 10])), "expected length 9, found 10");
    assert!(sno::partition_column(&ids, &mut []).is_err());
    assert!(sno::sequence_column(&[], &mut [0]).is_err());
    for length in [0, 1, 3] {
        let error = sno::having_metabyte(&ids, 0, &mut vec![0; length]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidLength);
        assert!(sno::in_time_range(&ids, 1_262_304_000_000, i64::MAX / 2, &mut [0; 2]).is_err());
    }
    for (from, to) in [(0, 1_262_304_000_004), (1_262_304_000_004, 1_262_304_000_004)] {
        let error = sno::in_time_range(&ids, from, to, &mut [0; 2]).unwrap_err();
        assert_eq!(error, Sno::time_range(from, to).unwrap_err());
    }
}
