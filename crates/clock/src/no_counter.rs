//! The clock for platforms without a counter. Every call reads the wall clock.

/// Returns the wall-clock time in Unix nanoseconds.
///
/// # Errors
/// Returns any error that `wall` returns.
#[inline]
pub fn now<E>(wall: impl Fn() -> Result<i64, E>, _epoch: impl FnOnce() -> u32) -> Result<i64, E> {
    wall()
}

/// Has no effect on this platform.
pub const fn invalidate_after_sleep() {}

/// Returns how far a clock reading can lag behind another thread's reading, in nanoseconds. On this platform, this is 0.
pub fn slack_nanos<E>(_wall: impl Fn() -> Result<i64, E>) -> u64 {
    0
}

/// Returns whether the processor's counter is used. On this platform, this is always `false`.
pub fn is_counter_used<E>(_wall: impl Fn() -> Result<i64, E>) -> bool {
    false
}
