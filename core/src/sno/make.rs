//! Packing IDs from slots, wherever they come from.

use core::time::Duration;

use super::{Parts, Sno, fill as kernels, identity::Identity, partition::Partitions};
use crate::{
    Error, Result,
    generator::{Mode, Source, Taken, fill, fill_async, try_fill},
    sequence::tick_tock::Run,
};

/// The `k`-th ID of a run.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    reason = "k < run.len, and the run ends at a 16-bit bound"
)]
pub(super) fn id(Identity { partition, .. }: Identity, run: Run, k: u32, metabyte: u8) -> Sno {
    let sequence = run.first + k as u16;
    Sno::pack(Parts { tick: run.tick, tick_tock: run.tick_tock, metabyte, partition, sequence })
}

/// One ID.
#[inline]
pub(super) fn one(
    source: &impl Source<Family = Partitions>,
    mode: Mode,
    metabyte: u8,
) -> Result<Sno> {
    let (_, (identity, run)) = source.take(1, mode)?;
    Ok(id(identity, run, 0, metabyte))
}

/// One ID, after waiting in `sleep` if need be.
pub(super) async fn one_async(
    source: &impl Source<Family = Partitions>,
    sleep: &impl AsyncFn(Duration),
    metabyte: u8,
) -> Result<Sno> {
    let (_, (identity, run)) = source.take_async(1, sleep).await?;
    Ok(id(identity, run, 0, metabyte))
}

/// As many IDs as the bytes have room for.
pub(super) fn many(
    source: &impl Source<Family = Partitions>,
    metabyte: u8,
    bytes: &mut [u8],
) -> Result<()> {
    fill(source, Mode::Wait, count(bytes)?, write(metabyte, bytes))
}

/// As many IDs as there are now.
pub(super) fn try_many(
    source: &impl Source<Family = Partitions>,
    metabyte: u8,
    bytes: &mut [u8],
) -> Result<usize> {
    try_fill(source, count(bytes)?, write(metabyte, bytes))
}

/// As many IDs as the bytes have room for, after waiting in `sleep` if need be.
pub(super) async fn many_async(
    source: &impl Source<Family = Partitions>,
    sleep: &impl AsyncFn(Duration),
    metabyte: u8,
    bytes: &mut [u8],
) -> Result<()> {
    fill_async(source, sleep, count(bytes)?, write(metabyte, bytes)).await
}

/// How many IDs packed bytes hold: a whole number.
fn count(bytes: &[u8]) -> Result<usize> {
    if !bytes.len().is_multiple_of(Sno::LEN) {
        return Err(Error::not_a_multiple(bytes.len(), Sno::LEN));
    }
    Ok(bytes.len() / Sno::LEN)
}

/// Writes the IDs of a run from a place on.
fn write(metabyte: u8, bytes: &mut [u8]) -> impl FnMut(usize, Taken<'_, Partitions>) -> usize {
    move |from, (_, (identity, run))| {
        let slots = &mut bytes[from * Sno::LEN..][..run.len as usize * Sno::LEN];
        kernels::write_run(slots, id(identity, run, 0, metabyte));
        run.len as usize
    }
}
