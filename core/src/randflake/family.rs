//! What Randflake adds to the engine: the grant's nodes, and the cipher.

use super::{Codec, Grant, Randflake, SCALE, builder::SLOTS_PER_NODE, codec};
use crate::{
    Error, ErrorKind, Result,
    format::{Scale, Ticks},
    generator::{Family, ProcessGuard, Window},
    sequence::per_tick::{PerTick, Run},
};

/// How many IDs are encrypted together.
pub(super) const GROUP: usize = 64;

/// Nodes that were leased to one process, and the cipher that hides them.
#[derive(Debug)]
pub(crate) struct Nodes {
    pub(super) codec: Codec,
    /// Its end is the window's.
    pub(super) grant: Grant,
    process: ProcessGuard,
}

impl Nodes {
    pub(super) fn new(codec: Codec, grant: Grant) -> Result<Self> {
        Ok(Self { codec, grant, process: ProcessGuard::this_process()? })
    }

    /// The ID of the first slot of a run.
    #[inline]
    pub(super) fn encrypt_first(&self, run: Run) -> Randflake {
        self.codec.encrypt_raw(self.raw(run.tick, run.first))
    }

    /// The IDs of a run from the `k`-th slot on, as many as there is room for.
    pub(super) fn encrypt(&self, run: Run, k: usize, ids: &mut [Randflake]) {
        let mut slots = run.first + k as u64..;
        for group in ids.chunks_mut(GROUP) {
            let mut raw = [[0; 8]; GROUP];
            let raw = &mut raw[..group.len()];
            for (block, slot) in raw.iter_mut().zip(&mut slots) {
                *block = self.raw(run.tick, slot).to_le_bytes();
            }
            self.codec.encrypt_many(raw, group);
        }
    }

    /// The raw value of a slot.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a node's number among those of the grant, and 17 bits"
    )]
    fn raw(&self, tick: u64, slot: u64) -> u64 {
        let node = self.grant.first_node() + (slot / SLOTS_PER_NODE) as u32;
        codec::raw(tick, node, (slot % SLOTS_PER_NODE) as u32)
    }
}

impl Family for Nodes {
    type Machine = PerTick;
    type Ticks = Scale;
    type Identity = ();

    #[inline]
    fn ticks(&self) -> Option<&Scale> {
        Some(&SCALE)
    }

    #[inline]
    fn found(&self, window: &Window, tick: u64) -> Option<(u32, ())> {
        window.holds(tick).then_some((self.process.epoch(), ()))
    }

    fn identify(&self, _: &Window, _: u64) -> Result<(u32, ())> {
        Ok((self.process.epoch(), ()))
    }

    fn check_process(&self) -> Result<()> {
        self.process.check()
    }

    #[inline]
    fn limits(&self, (): ()) {}

    #[cold]
    fn outside(&self, _: Error, unix_nanos: i64) -> Error {
        if unix_nanos < SCALE.nanos_of(0) {
            return Error::retry_later(ErrorKind::LeaseNotStarted, self.grant.start() * 1000);
        }
        Error::new(ErrorKind::LeaseExpired)
    }
}
