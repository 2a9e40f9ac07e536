//! One ID after the other, asked for its field.

use core::ops::Range;

use super::{
    super::Sno,
    slices::{Kernels, ones},
};

pub(super) const KERNELS: Kernels =
    Kernels { unix_ms, metabyte, partition, sequence, having_metabyte, in_ticks };

pub(super) fn unix_ms(ids: &[Sno], column: &mut [i64]) {
    fill(ids, column, Sno::unix_ms);
}

pub(super) fn metabyte(ids: &[Sno], column: &mut [u8]) {
    fill(ids, column, Sno::metabyte);
}

pub(super) fn partition(ids: &[Sno], column: &mut [u16]) {
    fill(ids, column, Sno::partition);
}

pub(super) fn sequence(ids: &[Sno], column: &mut [u16]) {
    fill(ids, column, Sno::sequence);
}

pub(super) fn having_metabyte(ids: &[Sno], metabyte: u8, bitmap: &mut [u8]) -> usize {
    mark(ids, bitmap, |id| id.metabyte() == metabyte);
    ones(bitmap)
}

pub(super) fn in_ticks(ids: &[Sno], ticks: Range<u64>, bitmap: &mut [u8]) -> usize {
    mark(ids, bitmap, |id| ticks.contains(&id.tick()));
    ones(bitmap)
}

fn fill<T>(ids: &[Sno], column: &mut [T], field: impl Fn(&Sno) -> T) {
    ids.iter().zip(column).for_each(|(id, place)| *place = field(id));
}

fn mark(ids: &[Sno], bitmap: &mut [u8], passes: impl Fn(&Sno) -> bool) {
    for (eight, byte) in ids.chunks(8).zip(bitmap) {
        *byte = eight.iter().rev().fold(0, |bits, id| bits << 1 | u8::from(passes(id)));
    }
}
