//! The length of a tick, the conversion between times and ticks, the ticks that a generator can use, and the IDs in a time
//! range.

mod range;
pub(super) mod tick;
pub(super) mod timeline;
