//! A value that is replaced from time to time and that threads read without a lock. Each read returns the newest value.
//!
//! ```text
//! LatestValue { first: 1, newest } --> Link { value: 3, older } --> Link { value: 2, older: null }
//! ```
//!
//! A reader loads one pointer. The usual difficulty with such lists is that a reader may still be using a value that has
//! been replaced. Freeing that value then requires reference counts, epochs or hazard pointers, all of which make every
//! read more expensive. Here, replaced values stay in the list and are freed together with it. This is feasible because a
//! generator rarely replaces a value: only when it claims another partition, or when its lease continues with another
//! grant. The first value is stored in place, since most generators never replace it and then need no heap memory.
//!
//! Because no value is freed before the list, an address is never reused for another value. Therefore
//! [`LatestValue::replace`] can compare pointers to determine whether a decision was based on the newest value.
#![allow(unsafe_code, reason = "values are read without a lock and freed with the list")]

use alloc::boxed::Box;
use core::{iter, marker::PhantomData, mem::MaybeUninit, ptr};

use crate::sync::{AtomicPtr, Ordering, SparePtr};

/// A value and its replacements. No value is freed before the whole list is dropped, because other threads may still be
/// reading older values.
#[derive(Debug)]
pub(crate) struct LatestValue<T> {
    first: T,
    /// The newest value, or null until the first value has been replaced.
    newest: AtomicPtr<Link<T>>,
    links: PhantomData<Link<T>>,
}

/// A value, and a pointer to the value that it replaced, which is null for the first value.
#[derive(Debug)]
pub(crate) struct Link<T> {
    value: T,
    older: *mut Self,
}

/// Heap memory for a value.
pub(crate) type Allocation<T> = Box<MaybeUninit<Link<T>>>;

// SAFETY: a link owns its value and, through `older`, the links before it, just as a vector owns its elements. Sending a
// link is therefore sound if `T` is `Send`. Only the raw pointer keeps the compiler from deriving `Send`.
unsafe impl<T: Send> Send for Link<T> {}
// SAFETY: threads only share references to values in the list, which is sound because `T: Sync`. A value may be dropped on
// a different thread than the one that created it, which is sound because `T: Send`. `older` never changes once other
// threads can see the link, so reading it is not a data race.
unsafe impl<T: Send + Sync> Sync for Link<T> {}

impl<T> LatestValue<T> {
    pub(crate) const fn new(first: T) -> Self {
        Self { first, newest: AtomicPtr::new(ptr::null_mut()), links: PhantomData }
    }

    /// Returns the newest value.
    #[inline]
    pub(crate) fn get(&self) -> &T {
        self.value(self.newest.load(Ordering::Acquire))
    }

    #[inline]
    fn value(&self, link: *mut Link<T>) -> &T {
        self.link(link).map_or(&self.first, |link| &link.value)
    }

    #[inline]
    #[allow(clippy::unused_self, reason = "a link lives as long as the list")]
    fn link(&self, link: *mut Link<T>) -> Option<&Link<T>> {
        // SAFETY: `link` is null, or a box that `replace` leaked. Only `Drop::drop`, which has exclusive access to the
        // list, frees the box, so the box outlives the borrow of `self`. The link was fully written before the `AcqRel`
        // swap that published it, so this thread sees an initialized link.
        unsafe { link.as_ref() }
    }

    /// Returns all values, starting with the newest.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let newest = self.link(self.newest.load(Ordering::Acquire));
        let links = iter::successors(newest, |link| self.link(link.older));
        links.map(|link| &link.value).chain(iter::once(&self.first))
    }

    /// Replaces the value `found` with `value`, which is stored in `memory`. Returns `false` if another thread replaced
    /// `found` first.
    pub(crate) fn replace(&self, found: &T, value: T, memory: Allocation<T>) -> bool {
        let older = self.newest.load(Ordering::Acquire);
        // The caller's decision to replace the value was based on `found`. If that is no longer the newest value, the
        // caller must decide again.
        if !ptr::eq(self.value(older), found) {
            return false;
        }
        let added = Box::into_raw(Box::write(memory, Link { value, older }));
        // No link is freed before the list is dropped, so its address cannot be reused for a different value, and comparing
        // addresses is reliable.
        let put = self.newest.compare_exchange(older, added, Ordering::AcqRel, Ordering::Acquire);
        if put.is_err() {
            // SAFETY: `added` was leaked above, and no other thread has seen it, because the swap failed. This thread is
            // therefore its only owner.
            drop(unsafe { Box::from_raw(added) });
        }
        put.is_ok()
    }
}

impl<T> Drop for LatestValue<T> {
    fn drop(&mut self) {
        let mut newest = self.newest.load(Ordering::Acquire);
        while !newest.is_null() {
            // SAFETY: `replace` leaked each link once, so each box is freed once. `&mut self` proves that no reference to a
            // value exists anymore.
            newest = unsafe { Box::from_raw(newest) }.older;
        }
    }
}

/// Preallocated memory for one more value, for a thread that must not allocate.
#[derive(Debug)]
pub(crate) struct SpareAllocation<T>(SparePtr<MaybeUninit<Link<T>>>);

impl<T> SpareAllocation<T> {
    pub(crate) const fn new() -> Self {
        Self(SparePtr::new(ptr::null_mut()))
    }

    /// Allocates memory for a value, unless spare memory is already available.
    pub(crate) fn fill(&self) {
        if self.0.load(Ordering::Acquire).is_null() {
            let fresh = Box::into_raw(Box::new_uninit());
            // Another thread may have stored memory in the meantime. That memory is freed here.
            drop(Self(SparePtr::new(self.0.swap(fresh, Ordering::AcqRel))));
        }
    }

    pub(crate) fn take_spare(&self) -> Option<Allocation<T>> {
        let place = self.0.swap(ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: `place` is a box that `fill` leaked. The swap has removed it, so no other thread can obtain it.
        (!place.is_null()).then(|| unsafe { Box::from_raw(place) })
    }
}

impl<T> Drop for SpareAllocation<T> {
    fn drop(&mut self) {
        self.take_spare();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::{cell::RefCell, rc::Rc, vec::Vec};

    use super::*;
    use crate::sync::watched_atomics::run_with_interruption;

    /// Two threads try to replace the same value. The second thread interrupts the first one at each of its memory accesses
    /// in turn, and only the second thread succeeds.
    #[test]
    fn only_one_of_two_threads_replaces_a_value() {
        for at in 0.. {
            let values = Rc::new(LatestValue::new(1));
            let (other, first) = (values.clone(), values.get());
            let replace = move || assert!(other.replace(other.get(), 3, Box::new_uninit()));
            let put =
                run_with_interruption(at, replace, || values.replace(first, 2, Box::new_uninit()));
            let Ok(put) = put else {
                assert!(at > 1, "never held up");
                return;
            };
            assert!(!put, "both replaced it");
            assert_eq!(values.iter().copied().collect::<Vec<_>>(), [3, 1]);
        }
    }

    /// Two threads need memory, but only one spare allocation is available.
    #[test]
    fn only_one_of_two_threads_takes_the_spare_allocation() {
        let spare = Rc::new(SpareAllocation::<u32>::new());
        for at in 0.. {
            spare.fill();
            let other = spare.clone();
            let others = Rc::new(RefCell::new(None));
            let noted = others.clone();
            let taken = run_with_interruption(
                at,
                move || *noted.borrow_mut() = other.take_spare(),
                || spare.take_spare(),
            );
            let Ok(taken) = taken else {
                assert!(at > 0, "never held up");
                return;
            };
            assert!(taken.is_some() != others.borrow().is_some(), "both took it, or neither");
        }
    }
}
