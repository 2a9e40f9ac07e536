//! Conversions to narrower integers.
//!
//! The `cast_possible_truncation` lint guards the crate against silent truncation, so individual casts should not disable
//! the lint, even if the value is known to fit. Instead, these functions state why a cast is correct: either the value
//! fits, which debug builds check, or only the value's lowest bits are needed. In a release build, each function is a plain
//! cast.
#![allow(clippy::cast_possible_truncation, reason = "checked in debug builds, or wanted")]

/// Converts a value that is known to fit in 8 bits.
pub(crate) const fn u8(value: u64) -> u8 {
    debug_assert!(value <= u8::MAX as u64);
    value as u8
}

/// Converts a value that is known to fit in 16 bits.
pub(crate) const fn u16(value: u64) -> u16 {
    debug_assert!(value <= u16::MAX as u64);
    value as u16
}

/// Converts a value that is known to fit in 32 bits.
pub(crate) const fn u32(value: u64) -> u32 {
    debug_assert!(value <= u32::MAX as u64);
    value as u32
}

/// Converts a value that is known to fit in 64 bits.
pub(crate) const fn u64(value: u128) -> u64 {
    debug_assert!(value <= u64::MAX as u128);
    value as u64
}

/// Returns the lowest 32 bits of a word.
pub(crate) const fn low_u32(word: u128) -> u32 {
    word as u32
}

/// Returns the lowest 64 bits of a word.
pub(crate) const fn low_u64(word: u128) -> u64 {
    word as u64
}
