//! The part that pools of all families share: one member after the other, so that a tick holds as many IDs as all members have.
//!
//! The choice of the first member to ask only affects speed. No two members may make the same IDs, which is checked when a pool
//! is made, so uniqueness depends on no state of the pool.

use alloc::vec::Vec;
use core::{ops::Deref, ptr, time::Duration};

use super::{
    Engine, Mode, Pack,
    fill::{Source, Taken, is_of_now},
    spread::Spread,
};
use crate::{Error, ErrorKind, Result, clock::Clock};

/// The largest number of members. More are of no use, since each is asked before a call waits.
const MOST: usize = 65_536;

/// A family whose generators can be in a pool.
pub(crate) trait Pooled: Pack {
    /// A key that tells generators of one kind apart.
    type Claim<'m>: Ord
    where
        Self: 'm;

    /// The reason to refuse two members whose claims overlap.
    const OVERLAP: &'static str;

    /// Refuses a generator that can be in no pool.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Refuses a generator of another kind. The kinds are classes: two generators of the same kind as a third one are of one kind.
    fn check_kind(&self, other: &Self) -> Result<()>;

    /// The first and the last key that no other member may have; the [`address`] of a generator that shares nothing.
    fn claim(&self) -> (Self::Claim<'_>, Self::Claim<'_>);
}

/// The engine of a member.
type EngineOf<M> = Engine<<M as Member>::Family, <M as Member>::Clock>;

/// A generator, as a pool sees it.
pub(crate) trait Member: Sized {
    type Family: Pooled;
    type Clock: Clock;

    fn engine(&self) -> &Engine<Self::Family, Self::Clock>;
}

/// Pointers to generators of one family.
#[derive(Debug)]
pub(crate) struct Members<G> {
    all: Vec<G>,
    /// The member that had an ID for this thread last, and so most likely has another.
    spread: Spread,
}

impl<G> Members<G> {
    pub(crate) fn all(&self) -> &[G] {
        &self.all
    }
}

impl<G: Deref<Target: Member>> Members<G> {
    /// Members of a pool: at least one, and no two that might make the same IDs.
    pub(crate) fn new(members: impl IntoIterator<Item = G>) -> Result<Self> {
        let all: Vec<G> = members.into_iter().take(MOST + 1).collect();
        match all.len() {
            0 => return Err(Error::out_of_range("members", 0, 1, MOST as i128)),
            1..=MOST => check_all(&families(&all))?,
            _ => return Err(too_many()),
        }
        Ok(Self { all, spread: Spread::new() })
    }

    /// Slots of another member after the first one refused; the first one's refusal if none has any.
    #[cold]
    #[inline(never)]
    fn take_elsewhere(
        &self,
        first: usize,
        refusal: Error,
        want: u32,
    ) -> Result<Taken<'_, <G::Target as Member>::Family>> {
        if !is_of_now(&refusal) {
            return Err(refusal);
        }
        for place in (first + 1..self.all.len()).chain(0..first) {
            match self.all[place].engine().take(want, Mode::Try) {
                Err(error) if is_of_now(&error) => {}
                taken => {
                    let taken = taken?;
                    self.spread.move_to(place, self.all.len());
                    return Ok(taken);
                }
            }
        }
        Err(refusal)
    }

    /// The member that had an ID for this thread last.
    #[inline]
    fn current(&self) -> (usize, &EngineOf<G::Target>) {
        let place = self.spread.place(self.all.len());
        (place, self.all[place].engine())
    }
}

/// Slots of the first member that has any now, beginning with the current one. If none has any, the current one waits or
/// refuses, as it would alone.
impl<G: Deref<Target: Member>> Source for Members<G> {
    type Family = <G::Target as Member>::Family;

    fn family(&self) -> &Self::Family {
        &self.all[0].engine().family
    }

    #[inline]
    fn take(&self, want: u32, mode: Mode) -> Result<Taken<'_, Self::Family>> {
        let (first, engine) = self.current();
        match engine.take(want, Mode::Try).or_else(|error| self.take_elsewhere(first, error, want))
        {
            Err(error) if mode == Mode::Wait && is_of_now(&error) => engine.take(want, mode),
            taken => taken,
        }
    }

    async fn take_async(
        &self,
        want: u32,
        sleep: &impl AsyncFn(Duration),
    ) -> Result<Taken<'_, Self::Family>> {
        match self.take(want, Mode::Try) {
            Err(error) if is_of_now(&error) => self.current().1.take_async(want, sleep).await,
            taken => taken,
        }
    }
}

fn families<G: Deref<Target: Member>>(all: &[G]) -> Vec<&<G::Target as Member>::Family> {
    all.iter().map(|member| &member.engine().family).collect()
}

/// Refuses the first member that cannot be in a pool with those before it, in the time that sorting takes.
fn check_all<F: Pooled>(all: &[&F]) -> Result<()> {
    if may_be_together(all) {
        return Ok(());
    }
    let (mut good, mut bad) = (0, all.len());
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        *(if may_be_together(&all[..middle]) { &mut good } else { &mut bad }) = middle;
    }
    let (before, member) = (&all[..good], all[good]);
    let beside = || before.iter().try_for_each(|other| check_two(*other, member));
    member.check().and_then(|()| beside()).map_err(|error| error.in_item(good))
}

/// Returns whether all of them may be in one pool, as [`check_two`] checks for each two.
#[inline(never)]
fn may_be_together<F: Pooled>(all: &[&F]) -> bool {
    let is_good = |member: &F| member.check_kind(all[0]).and_then(|()| member.check());
    if !all.iter().all(|member| is_good(member).is_ok()) {
        return false;
    }
    let mut claims: Vec<_> = all.iter().map(|member| member.claim()).collect();
    sort(&mut claims);
    claims.iter().zip(&claims[1..]).all(|(one, next)| one.1 < next.0)
}

/// Sorts with a heap: browsers load this code, and the standard library's sort would take 5 KB.
#[inline(never)]
fn sort<T: Ord>(items: &mut [T]) {
    for step in (1..items.len() + items.len() / 2).rev() {
        // The heap is built from its last parent up; then its largest item goes to the end, again and again.
        let (mut parent, heap) = if step < items.len() {
            items.swap(0, step);
            (0, &mut items[..step])
        } else {
            (step - items.len(), &mut *items)
        };
        loop {
            let mut larger = 2 * parent + 1;
            if larger + 1 < heap.len() && heap[larger] < heap[larger + 1] {
                larger += 1;
            }
            if larger >= heap.len() || heap[larger] <= heap[parent] {
                break;
            }
            heap.swap(parent, larger);
            parent = larger;
        }
    }
}

/// The address of a generator, which tells it apart from others if nothing else does.
pub(crate) fn address<G>(generator: &G) -> usize {
    ptr::from_ref(generator).addr()
}

fn check_two<F: Pooled>(one: &F, other: &F) -> Result<()> {
    if ptr::eq(one, other) {
        return Err(refused("expected members that differ, found one twice"));
    }
    one.check_kind(other)?;
    let ((first, last), (others_first, others_last)) = (one.claim(), other.claim());
    if first <= others_last && others_first <= last {
        return Err(refused(F::OVERLAP));
    }
    Ok(())
}

/// The error for more members than a pool may have; only the first ones were counted.
#[cold]
fn too_many() -> Error {
    let reason = alloc::format!("expected members from 1 to {MOST}, found more");
    refused(reason).of("members")
}

/// The error for a member that cannot be in the pool.
#[cold]
pub(crate) fn refused(reason: impl Into<crate::error::Name>) -> Error {
    Error::because(ErrorKind::OutOfRange, reason)
}
