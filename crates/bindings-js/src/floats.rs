//! Conversions from JavaScript numbers to integers.
//!
//! Each conversion saturates, and converts NaN to 0. A caller that must reject non-integers compares the result with the
//! original number, or checks the range before the conversion.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and callers check the range"
)]

#[inline]
pub(crate) const fn to_u8(number: f64) -> u8 {
    number as u8
}

#[inline]
pub(crate) const fn to_u16(number: f64) -> u16 {
    number as u16
}

#[inline]
pub(crate) const fn to_u32(number: f64) -> u32 {
    number as u32
}

#[inline]
pub(crate) const fn to_u64(number: f64) -> u64 {
    number as u64
}

#[inline]
pub(crate) const fn to_usize(number: f64) -> usize {
    number as usize
}

#[inline]
pub(crate) const fn to_i64(number: f64) -> i64 {
    number as i64
}

#[inline]
pub(crate) const fn to_i128(number: f64) -> i128 {
    number as i128
}
