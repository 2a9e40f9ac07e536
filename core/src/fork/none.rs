//! Platforms without `fork()`.

#[cfg(feature = "std")]
use super::partitions::Counter;

#[inline]
pub(crate) const fn epoch() -> u32 {
    0
}

pub(super) const fn prepare() {}

#[cfg(feature = "std")]
pub(super) fn shared_counter() -> &'static Counter {
    static COUNTER: Counter = Counter::new();
    &COUNTER
}
