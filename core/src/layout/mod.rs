//! Where the bits of an ID are: fields from the most significant bit, as shifts and masks.

mod span;

pub(crate) use span::Span;
