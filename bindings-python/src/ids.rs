//! IDs as Python values: a file for each ID format, and the code shared by all formats.

pub(crate) mod array;
mod buffer;
pub(crate) mod column;
pub(crate) mod convert;
pub(crate) mod describe;
pub(crate) mod fields;
pub(crate) mod integers;
pub(crate) mod kinds;
pub(crate) mod memory;
pub(crate) mod object;
pub(crate) mod public;
pub(crate) mod record;
pub(crate) mod secret;
pub(crate) mod sparx64;
pub(crate) mod target;
pub(crate) mod text;
pub(crate) mod uuid;
