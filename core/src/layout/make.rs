//! Packing IDs from slots, wherever they come from.

use alloc::vec::Vec;
use core::time::Duration;

use super::{Batch, Draft, Id, Layout, family::Template};
use crate::{
    Error, Result,
    generator::{Mode, Source, Taken, fill, fill_async, try_fill},
};

/// One ID with the constants and bindables of `base`; of the template's own by default.
#[inline]
pub(super) fn one(
    source: &impl Source<Family = Template>,
    mode: Mode,
    base: Option<&Draft>,
) -> Result<Id> {
    let (template, ((), run)) = source.take(1, mode)?;
    Ok(template.id_at(base.unwrap_or(&template.base), run.tick, run.first))
}

/// One ID, after waiting in `sleep` if need be.
pub(super) async fn one_async(
    source: &impl Source<Family = Template>,
    sleep: &impl AsyncFn(Duration),
    base: Option<&Draft>,
) -> Result<Id> {
    let (template, ((), run)) = source.take_async(1, sleep).await?;
    Ok(template.id_at(base.unwrap_or(&template.base), run.tick, run.first))
}

/// As many IDs as there is room for, of the size of `kind`.
pub(super) fn many(
    source: &impl Source<Family = Template>,
    base: Option<&Draft>,
    kind: &Draft,
    mut ids: Batch<'_>,
) -> Result<()> {
    fill(source, Mode::Wait, ids.count(kind)?, |from, taken| write(base, &mut ids, from, taken))
}

/// As many IDs as there are now.
pub(super) fn try_many(
    source: &impl Source<Family = Template>,
    base: Option<&Draft>,
    kind: &Draft,
    mut ids: Batch<'_>,
) -> Result<usize> {
    try_fill(source, ids.count(kind)?, |from, taken| write(base, &mut ids, from, taken))
}

/// As many IDs as there is room for, after waiting in `sleep` if need be.
pub(super) async fn many_async(
    source: &impl Source<Family = Template>,
    sleep: &impl AsyncFn(Duration),
    base: Option<&Draft>,
    kind: &Draft,
    mut ids: Batch<'_>,
) -> Result<()> {
    let count = ids.count(kind)?;
    fill_async(source, sleep, count, |from, taken| write(base, &mut ids, from, taken)).await
}

impl Batch<'_> {
    /// How many IDs of the size of `kind` there is room for.
    fn count(&self, kind: &Draft) -> Result<usize> {
        match (kind, self) {
            (Draft::Word(_), Self::Integers(ids)) => Ok(ids.len()),
            (Draft::Bytes(one), Self::Bytes(bytes)) if bytes.len().is_multiple_of(one.len()) => {
                Ok(bytes.len() / one.len())
            }
            (Draft::Bytes(one), Self::Bytes(bytes)) => {
                Err(Error::not_a_multiple(bytes.len(), one.len()))
            }
            (Draft::Word(_), _) => Err(Error::invalid_type("a slice of integers", "bytes")),
            (Draft::Bytes(_), _) => Err(Error::invalid_type("bytes", "a slice of integers")),
        }
    }
}

/// Writes the IDs of a run from a place on.
fn write(
    base: Option<&Draft>,
    ids: &mut Batch<'_>,
    from: usize,
    (template, ((), run)): Taken<'_, Template>,
) -> usize {
    let (layout, mut draft) = (&template.layout, base.unwrap_or(&template.base).clone());
    layout.put_cell(&mut draft, run.tick, run.first);
    let count = run.len as usize;
    match (ids, draft) {
        (Batch::Integers(ids), Draft::Word(word)) => {
            write_integers(layout, word, run.first, &mut ids[from..][..count]);
        }
        (Batch::Bytes(bytes), Draft::Bytes(one)) => {
            let length = one.len();
            let bytes = &mut bytes[from * length..][..count * length];
            write_bytes(layout, one, run.first, bytes);
        }
        _ => unreachable!("counted as IDs of this kind"),
    }
    count
}

/// Writes IDs of slots that follow each other.
fn write_integers(layout: &Layout, id: u64, first: u64, ids: &mut [i64]) {
    for (k, place) in ids.iter_mut().enumerate() {
        *place = layout.word_at(id, first + k as u64).cast_signed();
    }
}

/// Writes IDs of slots that follow each other.
fn write_bytes(layout: &Layout, id: Vec<u8>, first: u64, bytes: &mut [u8]) {
    let length = id.len();
    let mut draft = Draft::Bytes(id);
    for (k, place) in bytes.chunks_exact_mut(length).enumerate() {
        layout.put_slot(&mut draft, first + k as u64);
        if let Draft::Bytes(id) = &draft {
            place.copy_from_slice(id);
        }
    }
}
