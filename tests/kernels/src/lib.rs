//! Helpers of the kernels' tests, in a crate of their own without third-party code, which builds quickly for emulated
//! targets.

use polyflake::kernels::{Level, levels};

/// Lengths of slices to try: past every group, and past several of them; fewer under Miri, which is slow.
pub const LENGTHS: std::ops::RangeInclusive<usize> = 0..=if cfg!(miri) { 20 } else { 300 };

/// The levels of this machine, except for the scalar one, with which they are compared.
pub fn vector_levels() -> impl Iterator<Item = Level> {
    levels().filter(|&level| level != Level::SCALAR)
}

/// Pseudo-random numbers, the same in every run (xorshift64).
pub struct Noise(u64);

impl Noise {
    /// A generator that always starts from the same number.
    #[expect(clippy::new_without_default, reason = "nothing about it is a default")]
    pub const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below a small limit.
    pub const fn below(&mut self, limit: usize) -> usize {
        ((self.next() >> 32) as usize) % limit
    }

    /// `N` bytes, each of any value.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next().to_be_bytes()[0])
    }
}
