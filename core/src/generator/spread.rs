//! The choice of the member that a thread of a pool asks first, so that threads do not contend for one member.
//!
//! It only affects speed: any thread may take from any member.

#[cfg(feature = "std")]
use core::cell::Cell;

use crate::sync::{Hint, Ordering};

/// The members that a pool's threads ask first.
#[derive(Debug)]
pub(crate) struct Spread {
    /// The first thread's member. The numbers of the other threads fix their distances from it, so they move on with it.
    current: Hint,
    /// The number of the thread that asked first; 0 if none did.
    first: Hint,
}

impl Spread {
    /// A pool that no thread has asked yet.
    pub(crate) const fn new() -> Self {
        Self { current: Hint::new(0), first: Hint::new(0) }
    }

    /// The member of `count` that this thread asks first.
    #[inline]
    pub(crate) fn place(&self, count: usize) -> usize {
        wrapped(self.current.load(Ordering::Relaxed) + self.offset(count), count)
    }

    /// Makes this thread ask the member at `place` first from now on.
    pub(crate) fn move_to(&self, place: usize, count: usize) {
        let current = wrapped(place + count - self.offset(count), count);
        self.current.store(current, Ordering::Relaxed);
    }

    /// This thread's distance from the first one: 0 for the first thread itself, and less than `count` for any.
    #[inline]
    fn offset(&self, count: usize) -> usize {
        let mine = number();
        match self.first.load(Ordering::Relaxed) {
            first if first == mine || count == 1 => 0,
            0 => self.begin(mine, count),
            _ => beside(mine, count),
        }
    }

    /// Makes this thread the first one, unless another is faster.
    #[cold]
    fn begin(&self, mine: usize, count: usize) -> usize {
        let orders = (Ordering::Relaxed, Ordering::Relaxed);
        match self.first.compare_exchange(0, mine, orders.0, orders.1) {
            Ok(_) => 0,
            Err(_) => beside(mine, count),
        }
    }
}

/// A thread's distance from the first one.
const fn beside(mine: usize, count: usize) -> usize {
    1 + mine % (count - 1)
}

/// Wraps a place below twice the count to one below the count.
const fn wrapped(place: usize, count: usize) -> usize {
    if place < count { place } else { place - count }
}

/// A number that only this thread has; 1 where the platform cannot tell threads apart.
#[cfg(feature = "std")]
#[inline]
fn number() -> usize {
    std::thread_local! {
        static NUMBER: Cell<usize> = const { Cell::new(0) };
    }
    static LAST: Hint = Hint::new(0);

    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
        }
        number.get()
    })
}

#[cfg(not(feature = "std"))]
const fn number() -> usize {
    1
}

#[cfg(all(test, feature = "std", not(any(loom, shuttle))))]
mod tests {
    use std::{collections::HashSet, thread, vec::Vec};

    use super::*;

    const COUNT: usize = 4;

    fn in_another<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    #[test]
    fn a_thread_alone_goes_from_member_to_member() {
        let spread = Spread::new();
        assert_eq!([spread.place(COUNT), spread.place(COUNT)], [0, 0]);
        for place in [1, 3, 0, 2] {
            spread.move_to(place, COUNT);
            assert_eq!(spread.place(COUNT), place);
        }
    }

    #[test]
    fn no_other_thread_is_where_the_first_one_is() {
        let spread = Spread::new();
        for moved in 0..COUNT {
            spread.move_to(moved, COUNT);
            let others: Vec<_> = (0..20).map(|_| in_another(|| spread.place(COUNT))).collect();
            assert!(others.iter().all(|place| *place != moved && *place < COUNT), "{others:?}");
            let spread_over: HashSet<_> = others.into_iter().collect();
            assert_eq!(spread_over.len(), COUNT - 1);
        }
    }

    #[test]
    fn another_thread_finds_its_member_again_after_it_moved() {
        let spread = Spread::new();
        spread.place(COUNT);
        in_another(|| {
            for place in [2, 0, 3, 1] {
                spread.move_to(place, COUNT);
                assert_eq!(spread.place(COUNT), place);
            }
        });
    }

    #[test]
    fn one_member_is_everybodys() {
        let spread = Spread::new();
        assert_eq!([spread.place(1), in_another(|| spread.place(1))], [0, 0]);
        spread.move_to(0, 1);
        assert_eq!(spread.place(1), 0);
    }
}
