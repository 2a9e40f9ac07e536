//! A slot in a register of sixteen bytes, or in such a lane of a wider one: the bytes that its steps are made with.
//!
//! What is read here are numbers of 12 and 13 digits, which are all but one of 500 that look random; others go one by one.
//! Their digits are moved to the end of sixteen, after zeros.

/// No byte: what is looked up there is 0.
const NONE: u8 = 0x80;

/// Two bytes of a number for each two of its sixteen digits.
pub(super) const PAIRS: [u8; 16] = [NONE, NONE, 7, NONE, 6, 7, 5, 6, 3, 4, 2, 3, 1, 2, 0, 1];

/// Every place.
pub(super) const PLACES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The place after 12 digits, in every byte.
pub(super) const THIRTEENTH: [u8; 16] = [12; 16];

/// Thirteen digits at the end. Of 12, each comes from one place before.
pub(super) const AT_THE_END: [u8; 16] = [253, 254, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// Zeros in front of the digits, as the least that there may be. The first digit, which may lie there too, is not less.
pub(super) const ZEROS: [u8; 16] = [b'0', b'0', b'0', b'0', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// The first of 13 digits stands for four bits.
pub(super) const MOST_AT_THE_END: [u8; 16] =
    [255, 255, 255, b'f', 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255];

/// The first digit is no zero. What is less, wraps to more than there may be.
pub(super) const LEAST: [u8; 16] = [b'1', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Above the least. Nothing is in the last three places.
pub(super) const MOST: [u8; 16] =
    [255 - b'1', 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0];

/// Where the bytes of a number are in twice forty bits, the lowest first.
#[cfg(not(target_arch = "aarch64"))]
pub(super) const BYTES: [u8; 16] =
    [12, 13, 8, 9, 10, 4, 5, 0, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE];
