//! The width of a field, and the integers that fit in it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Width {
    pub(in crate::layout) bits: u32,
    /// The largest value that fits, capped at 64 bits.
    pub(in crate::layout) most: u64,
}

impl Width {
    pub(in crate::layout) fn new(bits: u32) -> Self {
        // A width of 0 would shift by all 64 bits, which overflows. A field wider than 64 bits has a mask of all ones,
        // because its integers are handled as bytes.
        let most = u64::MAX.checked_shr(64_u32.saturating_sub(bits)).unwrap_or(0);
        Self { bits, most }
    }

    /// Converts an integer to at most 64 bits, or returns `None` if it does not fit. In a 64-bit field, integers in
    /// -2^63..0 are reduced modulo 2^64.
    #[inline]
    pub(in crate::layout) fn narrow(self, number: i128) -> Option<u64> {
        match u64::try_from(number) {
            Ok(number) => (number <= self.most).then_some(number),
            Err(_) if self.bits == 64 => i64::try_from(number).ok().map(i64::cast_unsigned),
            Err(_) => None,
        }
    }

    /// Reverses `narrow`: returns the integer that the field value `bits` represents.
    #[inline]
    pub(in crate::layout) fn widen(self, bits: u64) -> i128 {
        if self.bits == 64 { bits.cast_signed().into() } else { bits.into() }
    }

    /// Converts an integer for a field of any width. In a field of 64 bits or more, integers in -2^63..0 are reduced modulo
    /// 2^64. Returns `None` for any other negative integer.
    pub(in crate::layout) fn modulo(self, number: i128) -> Option<u128> {
        match u128::try_from(number) {
            Ok(number) => Some(number),
            Err(_) if self.bits >= 64 => {
                i64::try_from(number).ok().map(|n| n.cast_unsigned().into())
            }
            Err(_) => None,
        }
    }
}
