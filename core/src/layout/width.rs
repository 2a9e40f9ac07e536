//! How wide a field is, and which integers it holds.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Width {
    pub(super) bits: u32,
    /// The largest value, in at most 64 bits.
    pub(super) most: u64,
}

impl Width {
    pub(super) fn new(bits: u32) -> Self {
        let most = u64::MAX.checked_shr(64_u32.saturating_sub(bits)).unwrap_or(0);
        Self { bits, most }
    }

    /// The bits of an integer in at most 64 of them, where those below 0 are taken modulo 2^64; none if it does not fit.
    #[inline]
    pub(super) fn narrow(self, number: i128) -> Option<u64> {
        match u64::try_from(number) {
            Ok(number) => (number <= self.most).then_some(number),
            Err(_) if self.bits == 64 => i64::try_from(number).ok().map(i64::cast_unsigned),
            Err(_) => None,
        }
    }

    /// The integer in at most 64 bits: back from `narrow`.
    #[inline]
    pub(super) fn widen(self, bits: u64) -> i128 {
        if self.bits == 64 { bits.cast_signed().into() } else { bits.into() }
    }

    /// An integer in any number of bits, where those below 0 are taken modulo 2^64; none if they cannot be.
    pub(super) fn modulo(self, number: i128) -> Option<u128> {
        match u128::try_from(number) {
            Ok(number) => Some(number),
            Err(_) if self.bits >= 64 => {
                i64::try_from(number).ok().map(|n| n.cast_unsigned().into())
            }
            Err(_) => None,
        }
    }
}
