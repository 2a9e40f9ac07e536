//! What the pools of all families share: one member after the other, so that a tick holds as many IDs as all of them have.
//!
//! Which member is asked first decides nothing but speed. No two may make the same IDs, which is checked when a pool is made, so
//! that a pool needs no state of its own that uniqueness would hang on.

use alloc::vec::Vec;
use core::{ops::Deref, ptr};

use super::batch::is_of_now;
use crate::{
    Error, ErrorKind, Result,
    sync::{Hint, Ordering},
};

/// More are of no use: each is asked before a call waits, and compared with all others when the pool is made.
const MOST: usize = 65_536;

/// A generator, as a pool sees it.
pub(crate) trait Member: Sized {
    /// A run of slots in one tick.
    type Slots;

    /// Slots for up to `want` IDs, waiting as the generator does.
    fn reserve(&self, want: u32) -> Result<Self::Slots>;

    /// The same without waiting: `sequence_exhausted` or `clock_behind` instead.
    fn reserve_now(&self, want: u32) -> Result<Self::Slots>;

    /// Refuses to be in any pool.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Refuses another that might make the same IDs, or makes such of another kind.
    fn check_beside(&self, other: &Self) -> Result<()>;
}

/// Slots, and the member that they are of.
pub(crate) type Taken<'m, M> = (&'m M, <M as Member>::Slots);

/// Pointers to generators of one family.
#[derive(Debug)]
pub(crate) struct Members<G> {
    all: Vec<G>,
    /// Which one had an ID last, and so most likely has another.
    current: Hint,
}

impl<G> Members<G> {
    pub(crate) fn all(&self) -> &[G] {
        &self.all
    }
}

impl<G: Deref<Target: Member>> Members<G> {
    /// At least one, and no two that might meet.
    pub(crate) fn new(members: impl IntoIterator<Item = G>) -> Result<Self> {
        let all: Vec<G> = members.into_iter().collect();
        if !(1..=MOST).contains(&all.len()) {
            return Err(Error::out_of_range("members", all.len() as i128, 1, MOST as i128));
        }
        for (place, member) in all.iter().enumerate() {
            let others = || all[..place].iter().try_for_each(|other| check(&**other, &**member));
            member.check().and_then(|()| others()).map_err(|error| error.in_item(place))?;
        }
        Ok(Self { all, current: Hint::new(0) })
    }

    /// Slots for up to `want` IDs of the first member that has any for now, beginning with the current one, and that member.
    /// Where none has, the current one waits, or refuses, as it would alone.
    #[inline]
    pub(crate) fn reserve(&self, want: u32) -> Result<Taken<'_, G::Target>> {
        let first = self.current.load(Ordering::Relaxed);
        let member = &*self.all[first];
        match member.reserve_now(want) {
            Ok(slots) => Ok((member, slots)),
            Err(error) => match self.go_on(first, error, want) {
                Err(error) if is_of_now(&error) => Ok((member, member.reserve(want)?)),
                taken => taken,
            },
        }
    }

    /// The same without waiting: refuses where none has any.
    pub(crate) fn try_reserve(&self, want: u32) -> Result<Taken<'_, G::Target>> {
        let first = self.current.load(Ordering::Relaxed);
        let member = &*self.all[first];
        match member.reserve_now(want) {
            Ok(slots) => Ok((member, slots)),
            Err(error) => self.go_on(first, error, want),
        }
    }

    /// What the first member refused, of another; that refusal where none has any.
    #[cold]
    #[inline(never)]
    fn go_on(&self, first: usize, refusal: Error, want: u32) -> Result<Taken<'_, G::Target>> {
        if !is_of_now(&refusal) {
            return Err(refusal);
        }
        for place in (first + 1..self.all.len()).chain(0..first) {
            let member = &*self.all[place];
            match member.reserve_now(want) {
                Err(error) if is_of_now(&error) => {}
                slots => {
                    let slots = slots?;
                    self.current.store(place, Ordering::Relaxed);
                    return Ok((member, slots));
                }
            }
        }
        Err(refusal)
    }
}

fn check<M: Member>(one: &M, other: &M) -> Result<()> {
    if ptr::eq(one, other) {
        return Err(refused("expected members that differ, found one twice"));
    }
    one.check_beside(other)
}

/// The error for a member that cannot be in the pool.
#[cold]
pub(crate) fn refused(reason: impl Into<crate::error::Name>) -> Error {
    Error::because(ErrorKind::OutOfRange, reason)
}
