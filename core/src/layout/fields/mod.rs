//! The fields of an ID, with their positions and widths, and the values that they accept.

pub(super) mod bits;
mod describe;
pub(super) mod field;
pub(super) mod layout;
pub(super) mod resolved_field;
pub(super) mod validation;
pub(super) mod value;
pub(super) mod width;
