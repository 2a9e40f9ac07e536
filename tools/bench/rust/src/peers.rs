//! Other libraries, used as their documentation recommends.

use std::{
    hint::spin_loop,
    time::{SystemTime, UNIX_EPOCH},
};

use data_encoding::{Encoding, Specification};
use fast32::base32::Alphabet32Nopad;
use ferroid::{
    define_snowflake_id,
    generator::AtomicSnowflakeGenerator,
    time::{MonotonicClock, TimeSource},
};
use svix_ksuid::{Ksuid, KsuidLike};
use uuid::Uuid;

define_snowflake_id!(
    /// An ID layout with enough sequence numbers per millisecond for any generator.
    WideId, u64,
    reserved: 0,
    timestamp: 42,
    machine_id: 0,
    sequence: 22
);

/// The system clock in milliseconds, read in the same way as ferroid and its users read it.
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

/// ferroid's thread-safe generator, with the clock `C`.
pub(crate) type Ferroid<C> = AtomicSnowflakeGenerator<WideId, C>;

pub(crate) const FERROID: &str = "ferroid Atomic, system clock";
pub(crate) const FERROID_TICKING: &str = "ferroid Atomic, ticker thread";
pub(crate) const UUID: &str = "uuid v7, fast-rng";
pub(crate) const FAST_UUID_V7: &str = "fast-uuid-v7";
pub(crate) const FAST_HANDLE: &str = "fast-uuid-v7, a generator of its own";
pub(crate) const NULID: &str = "nulid";

/// A visitor that receives, for each library, a call that generates an ID.
pub(crate) trait Visit {
    /// Visits a call that generates an ID. `bytes` converts the ID to bytes that sort like the library's IDs. If `time` is
    /// given, that many leading bytes encode the time in steps of at most 65 ms.
    fn visit<T>(
        &mut self,
        name: &'static str,
        time: Option<usize>,
        call: impl FnMut() -> T + 'static,
        bytes: impl Fn(T) -> Vec<u8> + 'static,
    );
}

/// Passes the visitor a call for each library. Each call generates one ID in the library's own type.
pub(crate) fn visit_all(to: &mut impl Visit) {
    let ferroid = Ferroid::new(0, SystemMillis);
    let ticking = Ferroid::new(0, MonotonicClock::default());
    let mut ulids = ulid::Generator::new();
    let mut snowflakes = snowflake::SnowflakeIdGenerator::new(1, 1);
    let sonyflakes = sonyflake::Sonyflake::builder().machine_id(&|| Ok(1)).finalize();
    let sonyflakes = sonyflakes.expect("a machine's number");
    let mut sequential = fast_uuid_v7::SequentialGenerator::new();
    let nulids = nulid::Generator::new();
    let wide = |id: WideId| id.to_raw().to_be_bytes().into();
    let uuid = |id: Uuid| id.into_bytes().into();
    let ulid = |id: ulid::Ulid| id.to_bytes().into();
    to.visit(FERROID, Some(5), move || ferroid.next_id(|_| spin_loop()), wide);
    to.visit(FERROID_TICKING, Some(5), move || ticking.next_id(|_| spin_loop()), wide);
    let snowflake = move || snowflakes.real_time_generate();
    to.visit("rs-snowflake, at most 4,096 in a millisecond", Some(5), snowflake, |id| {
        id.to_be_bytes().into()
    });
    let sonyflake = move || sonyflakes.next_id().expect("a clock");
    to.visit("sonyflake, at most 256 in 10 ms", Some(5), sonyflake, |id| id.to_be_bytes().into());
    to.visit("ulid", Some(6), ulid::Ulid::generate, ulid);
    to.visit("ulid, monotonic", Some(6), move || ulids.generate().expect("room"), ulid);
    to.visit("uuid v4, fast-rng", None, Uuid::new_v4, uuid);
    to.visit(UUID, Some(6), Uuid::now_v7, uuid);
    to.visit(FAST_UUID_V7, Some(6), fast_uuid_v7::gen_id, |id| id.to_be_bytes().into());
    to.visit(FAST_HANDLE, Some(6), move || sequential.next_id(), |id| id.to_be_bytes().into());
    let hyperuuid = || hyperuuid::v7::now_v7().expect("a clock");
    to.visit("hyperuuid v7", Some(6), hyperuuid, |id| id.as_bytes().to_vec());
    let nulid = move || nulids.generate().expect("a clock");
    to.visit(NULID, Some(7), nulid, |id| id.to_bytes().into());
    to.visit("scru128", Some(6), scru128::new, |id| id.to_u128().to_be_bytes().into());
    to.visit("svix-ksuid", None, || Ksuid::now(None), |id| id.bytes().to_vec());
}

const ALPHABET: &[u8; 32] = b"23456789abcdefghijklmnopqrstuvwx";

/// Returns data-encoding's codec for sno's alphabet. The library has no option to declare that 80 bits need no padding, but
/// it does not add padding.
pub(crate) fn data_encoding() -> Encoding {
    let mut specification = Specification::new();
    specification.symbols.push_str(str::from_utf8(ALPHABET).expect("letters and digits"));
    specification.encoding().expect("a valid alphabet")
}

/// Returns fast32's codec for sno's alphabet.
pub(crate) fn fast32() -> Alphabet32Nopad {
    static DECODER: [u8; 256] = fast32::decoder_map_simple(ALPHABET);
    Alphabet32Nopad::new(ALPHABET, &DECODER)
}
