//! A generator that moves from grant to grant.

use core::{ops::Range, time::Duration};

use super::{Generator, HotGuid, family::Identities};
use crate::{
    Result, UnixTime,
    clock::{Clock, DefaultClock},
    generator::{Engine, Grantee, Mode, Moving, Source, calls, leases},
};

/// Makes IDs under one grant after the other: machines. Threads may share it.
///
/// Generators of earlier grants are sealed, and a grant that comes back gets a new generator, so no two windows are joined. It
/// leaves no snapshot: the time after its end belongs to the next holder.
///
/// Not part of the public API: for leases.
#[derive(Debug)]
pub struct Leased<C = DefaultClock> {
    moving: Moving<Generator<C>>,
}

impl<C: Clock> Leased<C> {
    leases!(Generator<C>);

    /// One new ID.
    ///
    /// # Errors
    /// `lease_unavailable` after a wait of at most `max_wait` if there is no grant for now, with the time to retry if one begins
    /// later; all else as [`Generator::generate`].
    #[inline]
    pub fn generate(&self, shard_key: u32) -> Result<HotGuid> {
        self.moving.one(Mode::Wait, shard_key)
    }

    calls!(moving: HotGuid, shard_key: u32 = 7;
        "use polyflake::hotguid::{Generator, HotGuid, Leased};\n\n\
         let ids = Leased::new(Generator::new())?;");
}

impl<C: Clock> Grantee for Generator<C> {
    type Family = Identities;
    type Clock = C;

    #[inline]
    fn engine(&self) -> &Engine<Identities, C> {
        &self.engine
    }

    /// Never: each generator draws its own random bytes.
    fn may_repeat(&self, _: &Self) -> bool {
        false
    }
}
