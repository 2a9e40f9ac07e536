//! Time: the length of a tick, moments as ticks, and the ticks of a generator and of a range of time.

mod range;
pub(super) mod tick;
pub(super) mod timeline;
