//! Custom layouts: the vectors, a big-integer reference, descriptions, ranges, presets.
#![cfg(feature = "json")]
#![allow(missing_docs, reason = "tests")]

mod support;
mod vectors;
