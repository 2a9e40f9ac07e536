//! Packing IDs from slots, wherever they come from.

use core::time::Duration;

use super::{Randflake, family::Nodes};
use crate::{
    Result,
    generator::{Mode, Source, Taken, fill, fill_async, try_fill},
};

/// One ID.
#[inline]
pub(super) fn one(source: &impl Source<Family = Nodes>, mode: Mode) -> Result<Randflake> {
    let (nodes, ((), run)) = source.take(1, mode)?;
    Ok(nodes.encrypt_first(run))
}

/// One ID, after waiting in `sleep` if need be.
pub(super) async fn one_async(
    source: &impl Source<Family = Nodes>,
    sleep: &impl AsyncFn(Duration),
) -> Result<Randflake> {
    let (nodes, ((), run)) = source.take_async(1, sleep).await?;
    Ok(nodes.encrypt_first(run))
}

/// As many IDs as the slice has room for.
pub(super) fn many(source: &impl Source<Family = Nodes>, ids: &mut [Randflake]) -> Result<()> {
    fill(source, Mode::Wait, ids.len(), write(ids))
}

/// As many IDs as there are now.
pub(super) fn try_many(
    source: &impl Source<Family = Nodes>,
    ids: &mut [Randflake],
) -> Result<usize> {
    try_fill(source, ids.len(), write(ids))
}

/// As many IDs as the slice has room for, after waiting in `sleep` if need be.
pub(super) async fn many_async(
    source: &impl Source<Family = Nodes>,
    sleep: &impl AsyncFn(Duration),
    ids: &mut [Randflake],
) -> Result<()> {
    fill_async(source, sleep, ids.len(), write(ids)).await
}

/// Writes the IDs of a run from a place on.
fn write(ids: &mut [Randflake]) -> impl FnMut(usize, Taken<'_, Nodes>) -> usize {
    |from, (nodes, ((), run))| {
        let places = &mut ids[from..][..run.len as usize];
        nodes.encrypt(run, 0, places);
        places.len()
    }
}
