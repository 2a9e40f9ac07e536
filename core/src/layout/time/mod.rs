//! The length of a tick, the conversion between times and ticks, and the ticks of generators and time ranges.

mod range;
pub(super) mod tick;
pub(super) mod timeline;
