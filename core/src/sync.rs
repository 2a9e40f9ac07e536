//! Provides the atomics that all other code uses, so that tests can replace them.
//!
//! ```text
//! build             atomics                  what it is for
//!
//! cfg(loom)         loom's                   every interleaving of small models, including stale loads
//! cfg(shuttle)      shuttle's                random schedules of larger models
//! unit tests        `watched_atomics`        a test intercepts each access: it runs other calls there, or forks
//! all others        those of the processor
//! ```
//!
//! In unit tests, the explorer runs the real code with these types. An earlier explorer simulated the atomic accesses, so
//! it missed a bug in the real accesses. A test in this repository rejects atomics from other sources, except in clocks,
//! CPU detection and the hooks of `fork()`, which are not part of a model.

/// A pointer to memory reserved for forked children. The models do not track it, because they do not fork.
#[cfg(any(loom, shuttle, not(test)))]
pub(crate) use portable_atomic::AtomicPtr as SparePtr;
/// A counter that the models do not track, because no decision in a model depends on the counter's value.
pub(crate) use portable_atomic::AtomicU32 as Tally;
pub(crate) use portable_atomic::Ordering;

#[cfg(all(not(loom), any(shuttle, not(test))))]
pub(crate) use portable_atomic::AtomicU128;
#[cfg(not(any(loom, shuttle, test)))]
pub(crate) use portable_atomic::{AtomicPtr, AtomicU32, AtomicU64};
#[cfg(shuttle)]
pub(crate) use shuttle::sync::atomic::{AtomicU32, AtomicU64};

#[cfg(shuttle)]
pub(crate) use shuttle::sync::atomic::AtomicPtr;

#[cfg(loom)]
pub(crate) use model::{AtomicPtr, AtomicU32, AtomicU64, AtomicU128};

#[cfg(all(test, not(any(loom, shuttle))))]
pub(crate) use watched_atomics::{
    AtomicPtr, AtomicPtr as SparePtr, AtomicU32, AtomicU64, AtomicU128,
};

#[cfg(all(test, not(any(loom, shuttle, miri))))]
pub(crate) mod explorer;
#[cfg(all(test, not(any(loom, shuttle))))]
pub(crate) mod watched_atomics;

/// Atomics in memory pages that several processes share. They never fall back to a lock, because a lock would be local to
/// one process.
#[cfg(feature = "std")]
pub(crate) mod shared_atomics {
    #[cfg(any(loom, shuttle, test))]
    pub(crate) use super::{AtomicU32, AtomicU64};
    #[cfg(not(any(loom, shuttle, test)))]
    pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64};
}

/// Wraps loom's atomics so that they have `const` constructors, like the standard library's atomics. loom adds each atomic
/// to the model when the atomic is first used.
#[cfg(loom)]
mod model {
    use std::sync::OnceLock;

    macro_rules! define_lazy_atomics {
        ($($name:ident: $int:ty),*) => {$(
            #[derive(Debug)]
            pub(crate) struct $name {
                first: $int,
                cell: OnceLock<loom::sync::atomic::$name>,
            }

            impl $name {
                pub(crate) const fn new(first: $int) -> Self {
                    Self { first, cell: OnceLock::new() }
                }
            }

            impl core::ops::Deref for $name {
                type Target = loom::sync::atomic::$name;
                fn deref(&self) -> &Self::Target {
                    self.cell.get_or_init(|| loom::sync::atomic::$name::new(self.first))
                }
            }
        )*};
    }

    define_lazy_atomics!(AtomicU32: u32, AtomicU64: u64);

    /// A pointer that is initially null.
    #[derive(Debug)]
    pub(crate) struct AtomicPtr<T>(OnceLock<loom::sync::atomic::AtomicPtr<T>>);

    impl<T> AtomicPtr<T> {
        pub(crate) const fn new(first: *mut T) -> Self {
            assert!(first.is_null());
            Self(OnceLock::new())
        }
    }

    impl<T> core::ops::Deref for AtomicPtr<T> {
        type Target = loom::sync::atomic::AtomicPtr<T>;
        fn deref(&self) -> &Self::Target {
            self.0.get_or_init(|| loom::sync::atomic::AtomicPtr::new(core::ptr::null_mut()))
        }
    }

    // loom has no 128-bit atomics, so it does not track this type. This is acceptable because no generator in the models
    // uses the type.
    pub(crate) use portable_atomic::AtomicU128;
}
