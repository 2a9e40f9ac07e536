//! Packing IDs from slots, wherever they come from.

use core::time::Duration;

use super::{
    HotGuid, LAST_COUNTER,
    family::{Identities, Identity},
    fill as kernels,
};
use crate::{
    Result,
    generator::{Mode, Source, Taken, fill, fill_async, try_fill},
    sequence::per_tick::Run,
};

/// The `k`-th ID of a run.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "slots are counters of 24 bits")]
pub(super) fn id(identity: Identity, run: Run, k: u32, shard_key: u32) -> HotGuid {
    let counter = (identity.start + run.first as u32 + k) & LAST_COUNTER;
    HotGuid::pack(run.tick, identity.machine, counter, shard_key)
}

/// One ID.
#[inline]
pub(super) fn one(
    source: &impl Source<Family = Identities>,
    mode: Mode,
    shard_key: u32,
) -> Result<HotGuid> {
    let (_, (identity, run)) = source.take(1, mode)?;
    Ok(id(identity, run, 0, shard_key))
}

/// One ID, after waiting in `sleep` if need be.
pub(super) async fn one_async(
    source: &impl Source<Family = Identities>,
    sleep: &impl AsyncFn(Duration),
    shard_key: u32,
) -> Result<HotGuid> {
    let (_, (identity, run)) = source.take_async(1, sleep).await?;
    Ok(id(identity, run, 0, shard_key))
}

/// As many IDs as the slice has room for.
pub(super) fn many(
    source: &impl Source<Family = Identities>,
    shard_key: u32,
    ids: &mut [HotGuid],
) -> Result<()> {
    fill(source, Mode::Wait, ids.len(), write(shard_key, ids))
}

/// As many IDs as there are now.
pub(super) fn try_many(
    source: &impl Source<Family = Identities>,
    shard_key: u32,
    ids: &mut [HotGuid],
) -> Result<usize> {
    try_fill(source, ids.len(), write(shard_key, ids))
}

/// As many IDs as the slice has room for, after waiting in `sleep` if need be.
pub(super) async fn many_async(
    source: &impl Source<Family = Identities>,
    sleep: &impl AsyncFn(Duration),
    shard_key: u32,
    ids: &mut [HotGuid],
) -> Result<()> {
    fill_async(source, sleep, ids.len(), write(shard_key, ids)).await
}

/// Writes the IDs of a run from a place on.
fn write(shard_key: u32, ids: &mut [HotGuid]) -> impl FnMut(usize, Taken<'_, Identities>) -> usize {
    move |from, (_, (identity, run))| {
        let places = &mut ids[from..][..run.len as usize];
        kernels::write_run(places, id(identity, run, 0, shard_key));
        places.len()
    }
}
