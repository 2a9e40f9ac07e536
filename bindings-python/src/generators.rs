//! Generators as Python objects: a file for each ID format, the clock shared by all formats, and the generators that
//! several objects share.

pub(crate) mod async_calls;
pub(crate) mod callable;
pub(crate) mod clock;
pub(crate) mod default;
pub(crate) mod direct;
pub(crate) mod leased;
pub(crate) mod making;
pub(crate) mod options;
