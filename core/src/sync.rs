//! The one door to atomics, so that a model checker can stand behind it.

/// Counts what decides nothing: outside the model.
pub(crate) use portable_atomic::AtomicU32 as Tally;
/// Says where to look first, which decides nothing either.
#[cfg(feature = "alloc")]
pub(crate) use portable_atomic::AtomicUsize as Hint;
pub(crate) use portable_atomic::Ordering;

#[cfg(not(loom))]
pub(crate) use portable_atomic::AtomicU128;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use portable_atomic::{AtomicU32, AtomicU64};
#[cfg(shuttle)]
pub(crate) use shuttle::sync::atomic::{AtomicU32, AtomicU64};

#[cfg(loom)]
pub(crate) use model::{AtomicU32, AtomicU64, AtomicU128};

/// loom's atomics behind constructors that are `const`, as the real ones are: a cell enters the model when it is first
/// used.
#[cfg(loom)]
mod model {
    use std::sync::OnceLock;

    macro_rules! lazily_modelled {
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

    lazily_modelled!(AtomicU32: u32, AtomicU64: u64);

    // loom has no 128-bit atomics: outside the model, which has none of the generators that use them.
    pub(crate) use portable_atomic::AtomicU128;
}
