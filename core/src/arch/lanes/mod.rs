//! Algorithms that several instruction sets have in common: loops that are compiled for each set, and loops around the registers
//! of each set.
//!
//! Everything here is inlined into functions of the sets: a separate function would be compiled without their features.

pub(super) mod cipher;
pub(super) mod columns;
pub(super) mod fill;
pub(super) mod hex;
pub(super) mod parts;
