//! A generator that moves from grant to grant.

use core::{ops::Range, time::Duration};

use super::{Generator, Sno, partition::Partitions};
use crate::{
    Result, UnixTime,
    clock::{Clock, DefaultClock},
    generator::{Engine, Grantee, Mode, Moving, Source, calls, leases},
};

/// Makes IDs under one grant after the other: partitions. Threads may share it.
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
    pub fn generate(&self, metabyte: u8) -> Result<Sno> {
        self.moving.one(Mode::Wait, metabyte)
    }

    calls!(moving: Sno, metabyte: u8 = 7;
        "use polyflake::sno::{Generator, Leased, Sno};\n\n\
         let ids = Leased::new(Generator::builder().partition(42).build()?)?;");
}

impl<C: Clock> Grantee for Generator<C> {
    type Family = Partitions;
    type Clock = C;

    #[inline]
    fn engine(&self) -> &Engine<Partitions, C> {
        &self.engine
    }

    /// Generators of the same given partition; drawn partitions are never equal.
    fn may_repeat(&self, other: &Self) -> bool {
        self.engine.family.given().is_some_and(|given| other.engine.family.given() == Some(given))
    }
}
