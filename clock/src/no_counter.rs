//! The clock of platforms without a counter: every reading is a look at the wall clock.

/// The wall clock, in Unix nanoseconds.
///
/// # Errors
/// The errors of `wall`.
#[inline]
pub fn now<E>(wall: impl Fn() -> Result<i64, E>, _epoch: impl FnOnce() -> u32) -> Result<i64, E> {
    wall()
}

/// Does nothing here.
pub const fn slept() {}

/// The largest lag of readings: none.
pub fn slack_nanos<E>(_wall: impl Fn() -> Result<i64, E>) -> u64 {
    0
}

/// Returns whether the counter is read: never here.
pub fn is_counter_used<E>(_wall: impl Fn() -> Result<i64, E>) -> bool {
    false
}
