//! A generator that moves from grant to grant.

use core::{ops::Range, time::Duration};

use super::{Generator, Randflake, family::Nodes};
use crate::{
    Result, UnixTime,
    clock::{Clock, DefaultClock},
    generator::{Engine, Grantee, Mode, Moving, Source, calls, leases},
};

/// Makes IDs under one grant after the other: nodes. Threads may share it.
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
    pub fn generate(&self) -> Result<Randflake> {
        self.moving.one(Mode::Wait, ())
    }

    calls!(moving: Randflake;
        "use polyflake::randflake::{Generator, Grant, Leased, Randflake};\n\n\
         let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;\n\
         let ids = Leased::new(Generator::builder(grant, *b\"sixteen byte key\").build()?)?;");
}

impl<C: Clock> Grantee for Generator<C> {
    type Family = Nodes;
    type Clock = C;

    #[inline]
    fn engine(&self) -> &Engine<Nodes, C> {
        &self.engine
    }

    /// Generators of one secret that have a node in common.
    fn may_repeat(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.engine.family, &other.engine.family);
        let ((first, last), (other_first, other_last)) =
            (ours.grant.nodes().into_inner(), theirs.grant.nodes().into_inner());
        ours.codec.has_secret_of(&theirs.codec) && first <= other_last && other_first <= last
    }
}
