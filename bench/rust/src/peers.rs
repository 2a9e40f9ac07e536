//! Other libraries, used as documented.

use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::{Encoding, Specification};
use fast32::base32::Alphabet32Nopad;
use ferroid::{define_snowflake_id, generator::AtomicSnowflakeGenerator, time::TimeSource};

define_snowflake_id!(
    /// An ID with so many sequences that generators never reach the limit of the layout.
    WideId, u64,
    reserved: 0,
    timestamp: 42,
    machine_id: 0,
    sequence: 22
);

/// The system's clock in milliseconds, written as ferroid and its users write it.
pub(crate) struct SystemMillis;

impl TimeSource<u64> for SystemMillis {
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "64 bits of milliseconds are enough for all"
    )]
    fn current_millis(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
    }
}

/// ferroid's generator for threads, with a clock.
pub(crate) type Ferroid<C> = AtomicSnowflakeGenerator<WideId, C>;

const ALPHABET: &[u8; 32] = b"23456789abcdefghijklmnopqrstuvwx";

/// sno's alphabet in data-encoding, which has no way to state that 80 bits need no padding, but writes none.
pub(crate) fn data_encoding() -> Encoding {
    let mut specification = Specification::new();
    specification.symbols.push_str(str::from_utf8(ALPHABET).expect("letters and digits"));
    specification.encoding().expect("a valid alphabet")
}

/// sno's alphabet in fast32.
pub(crate) fn fast32() -> Alphabet32Nopad {
    static DECODER: [u8; 256] = fast32::decoder_map_simple(ALPHABET);
    Alphabet32Nopad::new(ALPHABET, &DECODER)
}
