//! This crate is empty, because it only has tests.
