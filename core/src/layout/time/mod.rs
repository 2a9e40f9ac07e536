//! The length of a tick, the conversion between times and ticks, and the ticks that generators and time ranges use.

mod range;
pub(super) mod tick;
pub(super) mod timeline;
