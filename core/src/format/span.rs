//! The position of one field in an ID of at most 128 bits.

use crate::narrow;

/// A span of bits, with `shift` bits below it.
///
/// A format defines the widths of its fields once, starting with the most significant field. The spans are computed from
/// the widths at compile time:
///
/// ```text
/// const FIELDS: [Span; 3] = Span::split([30, 17, 17]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    shift: u32,
    bits: u32,
}

impl Span {
    /// Returns the spans of fields with the given widths. The first field is the most significant one, and the last one
    /// ends at bit 0.
    pub(crate) const fn split<const N: usize>(widths: [u32; N]) -> [Self; N] {
        let mut spans = [Self { shift: 0, bits: 0 }; N];
        let mut below = 0;
        let mut i = N;
        while i > 0 {
            i -= 1;
            assert!(widths[i] >= 1 && widths[i] <= 64 && below + widths[i] <= 128);
            spans[i] = Self { shift: below, bits: widths[i] };
            below += widths[i];
        }
        spans
    }

    /// Returns the width of the span in bits.
    pub(crate) const fn bits(self) -> u32 {
        self.bits
    }

    /// Returns the number of bits below the span.
    pub(crate) const fn shift(self) -> u32 {
        self.shift
    }

    /// Returns the largest value that fits in the span.
    pub(crate) const fn max(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// Returns a word with `value` in the span's bits and zeros elsewhere. The caller must ensure that the value fits in
    /// the span.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "in wasm a shift of 128 bits is a call, unless by a constant"
    )]
    pub(crate) const fn insert(self, value: u64) -> u128 {
        assert!(value <= self.max());
        (value as u128) << self.shift
    }

    /// Extracts the value in the span's bits from a word.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "as above")]
    pub(crate) const fn extract(self, word: u128) -> u64 {
        narrow::low_u64(word >> self.shift) & self.max()
    }
}
