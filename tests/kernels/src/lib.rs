//! Helpers of the kernels' tests, in a crate of their own without third-party code, which builds quickly for emulated
//! targets.

use polyflake::kernels::{Level, levels};

/// The longest slice to try.
pub const LONGEST: usize = if cfg!(miri) { 33 } else { 300 };

/// Lengths around the ends of groups, which have 2 to 16 items; the cipher's have more.
const AROUND_GROUPS: [usize; 13] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, LONGEST];

/// Lengths of slices to try: past every group, and past several of them; fewer under Miri, which is slow.
pub fn lengths() -> impl Iterator<Item = usize> {
    (0..=LONGEST).filter(|length| !cfg!(miri) || AROUND_GROUPS.contains(length))
}

/// Every `step`th of these values under Miri, which is slow; all of them elsewhere.
pub fn some<T>(all: impl Iterator<Item = T>, step: usize) -> impl Iterator<Item = T> {
    all.step_by(if cfg!(miri) { step } else { 1 })
}

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
