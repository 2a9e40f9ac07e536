//! Helpers for the kernel tests. This crate has no third-party dependencies, so it builds quickly for emulated targets.

use polyflake::kernels::{Level, levels};

/// The length of the longest slice that the tests use.
pub const MAX_LENGTH: usize = if cfg!(miri) { 33 } else { 300 };

/// Lengths near the group sizes of 2 to 16 items. The cipher's groups are larger.
const LENGTHS_NEAR_GROUP_SIZES: [usize; 13] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, MAX_LENGTH];

/// Returns slice lengths from zero to well past the largest group size. Under Miri, which is slow, returns fewer lengths.
pub fn lengths() -> impl Iterator<Item = usize> {
    (0..=MAX_LENGTH).filter(|length| !cfg!(miri) || LENGTHS_NEAR_GROUP_SIZES.contains(length))
}

/// Returns every `step`th value under Miri, which is slow, and all values otherwise.
pub fn sample_under_miri<T>(all: impl Iterator<Item = T>, step: usize) -> impl Iterator<Item = T> {
    all.step_by(if cfg!(miri) { step } else { 1 })
}

/// Returns the levels of this CPU, except for the scalar level, which the tests use as the reference.
pub fn vector_levels() -> impl Iterator<Item = Level> {
    levels().filter(|&level| level != Level::SCALAR)
}

/// A pseudo-random number generator (xorshift64), which returns the same numbers in every run.
pub struct XorShift(u64);

impl XorShift {
    /// Creates a random number generator that always starts in the same state.
    #[expect(clippy::new_without_default, reason = "nothing about it is a default")]
    pub const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// Returns the next number.
    pub const fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below a small limit.
    pub const fn number_below(&mut self, limit: usize) -> usize {
        ((self.next() >> 32) as usize) % limit
    }

    /// Returns `N` random bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next().to_be_bytes()[0])
    }
}
