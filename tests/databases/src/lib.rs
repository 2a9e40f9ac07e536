//! This crate is empty, because it contains only tests.
