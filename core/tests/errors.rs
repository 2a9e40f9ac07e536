//! Tests that errors report the same details regardless of how they are stored. Also tests an error's source and size.

use std::{
    error::Error as _,
    io,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::Arc,
};

use polyflake::{Error, ErrorKind, Result, hotguid::HotGuid, randflake::Randflake, sno::Sno};

#[test]
#[cfg(target_pointer_width = "64")]
fn errors_and_id_results_are_32_bytes() {
    assert_eq!(size_of::<Error>(), 32);
    assert_eq!(size_of::<Option<Error>>(), 32);
    assert_eq!(size_of::<Result<()>>(), 32);
    assert_eq!(size_of::<Result<Sno>>(), 32);
    assert_eq!(size_of::<Result<Randflake>>(), 32);
    assert_eq!(size_of::<Result<HotGuid>>(), 32);
}

#[test]
fn errors_are_send_sync_and_unwind_safe() {
    fn assert_send_sync_and_unwind_safe<
        T: Clone + Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + 'static,
    >() {
    }
    assert_send_sync_and_unwind_safe::<Error>();
}

/// An error and all details that it must report, except its kind and its item number.
#[derive(Clone, Copy)]
struct ExpectedError {
    error: fn() -> Error,
    message: &'static str,
    field: Option<&'static str>,
    position: Option<usize>,
    range: Option<(i128, i128, i128)>,
    retry_at: Option<i64>,
}

const fn expected_error(error: fn() -> Error, message: &'static str) -> ExpectedError {
    ExpectedError { error, message, field: None, position: None, range: None, retry_at: None }
}

impl ExpectedError {
    const fn field(self, name: &'static str) -> Self {
        Self { field: Some(name), ..self }
    }
    const fn position(self, position: usize) -> Self {
        Self { position: Some(position), ..self }
    }
    const fn range(self, found: i128, least: i128, most: i128) -> Self {
        Self { range: Some((found, least, most)), ..self }
    }
    const fn retry_at(self, unix_ms: i64) -> Self {
        Self { retry_at: Some(unix_ms), ..self }
    }
}

const MAX_UNSIGNED: i128 = u64::MAX as i128;

/// Covers every error constructor, with values just inside and just outside the limits of inline storage.
const EXPECTED_ERRORS: [ExpectedError; 27] = [
    expected_error(|| Error::new(ErrorKind::Forked), "generator belongs to the parent process"),
    expected_error(
        || Error::invalid_character_unit(usize::MAX, '!'.into()),
        "invalid character `!` at position 18446744073709551615",
    )
    .position(usize::MAX),
    expected_error(
        || Error::invalid_character_unit(3, u32::MAX - 1),
        "invalid character byte 0x00FE at position 3",
    )
    .position(3),
    expected_error(|| Error::invalid_character(0), "invalid character at position 0").position(0),
    expected_error(
        || Error::invalid_character_unit(7, 'x'.into()).with_field("text"),
        "invalid character `x` at position 7",
    )
    .field("text")
    .position(7),
    expected_error(
        || Error::retry_later(ErrorKind::ClockBehind, i64::MIN),
        "clock is behind the last ID: retry at -9223372036854775808 ms",
    )
    .retry_at(i64::MIN),
    expected_error(
        || Error::retry_later(ErrorKind::SequenceExhausted, i64::MAX).with_field("clock"),
        "all IDs of this tick are used up: retry at 9223372036854775807 ms",
    )
    .field("clock")
    .retry_at(i64::MAX),
    expected_error(
        || Error::invalid_length(usize::MAX, 65_535, 65_534),
        "expected length 65535 to 65534, found 18446744073709551615",
    ),
    expected_error(|| Error::invalid_length(0, 65_536, 65_536), "expected length 65536, found 0"),
    expected_error(|| Error::invalid_length(0, 1, 65_535), "expected length 1 to 65535, found 0"),
    expected_error(
        || Error::invalid_length(2, 3, usize::MAX),
        "expected length 3 or more, found 2",
    ),
    expected_error(
        || Error::invalid_length(5, 16, 16).with_field("text"),
        "expected length 16 for `text`, found 5",
    )
    .field("text"),
    expected_error(|| Error::invalid_secret(5, 16), "expected a secret of 16 bytes, found 5"),
    expected_error(
        || Error::not_a_multiple(usize::MAX, u32::MAX),
        "expected a multiple of 4294967295 bytes, found 18446744073709551615",
    ),
    expected_error(
        || Error::with_reason(ErrorKind::NotCanonical, "expected this, found that"),
        "expected this, found that",
    ),
    expected_error(
        || Error::with_reason(ErrorKind::ClockFailed, String::from("expected, found")),
        "expected, found",
    ),
    expected_error(
        || Error::with_reason(ErrorKind::OutOfRange, "expected, found").with_field("end"),
        "expected, found",
    )
    .field("end"),
    expected_error(
        || Error::field_error(ErrorKind::MissingField, "shard"),
        "missing value for field `shard`",
    )
    .field("shard"),
    expected_error(
        || Error::field_error(ErrorKind::UnknownField, String::from("shard")),
        "unknown field `shard`",
    )
    .field("shard"),
    expected_error(
        || Error::out_of_range("nodes", -1, 0, 9),
        "expected nodes from 0 to 9, found -1",
    )
    .field("nodes")
    .range(-1, 0, 9),
    expected_error(
        || Error::time_out_of_range("clock", i128::MAX, i128::MIN, 0, "ns"),
        "expected clock from -170141183460469231731687303715884105728 to 0 ns, found \
                  170141183460469231731687303715884105727",
    )
    .field("clock")
    .range(i128::MAX, i128::MIN, 0),
    expected_error(
        || Error::out_of_range("id", MAX_UNSIGNED + 1, 0, MAX_UNSIGNED),
        "expected id from 0 to 18446744073709551615, found 18446744073709551616",
    )
    .field("id")
    .range(MAX_UNSIGNED + 1, 0, MAX_UNSIGNED),
    expected_error(
        || Error::out_of_range("id", 2 * MAX_UNSIGNED + 1, 0, MAX_UNSIGNED),
        "expected id from 0 to 18446744073709551615, found 36893488147419103231",
    )
    .field("id")
    .range(2 * MAX_UNSIGNED + 1, 0, MAX_UNSIGNED),
    expected_error(
        || Error::out_of_range("id", 2 * MAX_UNSIGNED + 2, 0, MAX_UNSIGNED),
        "expected id from 0 to 18446744073709551615, found 36893488147419103232",
    )
    .field("id")
    .range(2 * MAX_UNSIGNED + 2, 0, MAX_UNSIGNED),
    expected_error(
        || Error::out_of_range("id", i128::MIN, 0, MAX_UNSIGNED),
        "expected id from 0 to 18446744073709551615, found \
                  -170141183460469231731687303715884105728",
    )
    .field("id")
    .range(i128::MIN, 0, MAX_UNSIGNED),
    expected_error(
        || Error::out_of_range("id", MAX_UNSIGNED, 0, MAX_UNSIGNED).with_field("other"),
        "expected other from 0 to 18446744073709551615, found 18446744073709551615",
    )
    .field("other")
    .range(MAX_UNSIGNED, 0, MAX_UNSIGNED),
    expected_error(
        || Error::invalid_type("int", "str").with_field("metabyte"),
        "expected int for `metabyte`, found str",
    )
    .field("metabyte"),
];

#[track_caller]
fn assert_reports(
    error: &Error,
    expected: ExpectedError,
    written: Option<usize>,
    item: Option<usize>,
) {
    let kind = (expected.error)().kind();
    let before = item.map_or_else(String::new, |item| format!("item {item}: "));
    assert_eq!(error.to_string(), before + expected.message);
    assert_eq!((error.kind(), error.code()), (kind, kind.code()));
    assert_eq!((error.field(), error.position()), (expected.field, expected.position));
    assert_eq!((error.range(), error.retry_at()), (expected.range, expected.retry_at));
    assert_eq!((error.written(), error.item()), (written, item));
    assert_eq!(error, &error.clone());
}

#[test]
#[cfg(target_pointer_width = "64")]
fn every_error_keeps_its_message_with_counts_and_sources() {
    for expected in EXPECTED_ERRORS {
        let error = (expected.error)();
        assert_reports(&error, expected, None, None);
        for count in [0, 1, u32::MAX as usize, u32::MAX as usize + 1, usize::MAX] {
            let (written, item) =
                (error.clone().after_writing(count), error.clone().in_item(count));
            assert_reports(&written, expected, Some(count), None);
            assert_reports(&item, expected, None, Some(count));
            assert_ne!(written, item);
            assert_ne!(written, error);
            // If the item number is set twice, the last call takes effect.
            assert_eq!(written.clone().in_item(count), item);
            let with_source = item.clone().with_source(io::Error::other("below"));
            assert_reports(&with_source, expected, None, Some(count));
            assert_eq!(with_source, item);
            assert_eq!(with_source.after_writing(count), written);
        }
    }
}

#[test]
fn different_errors_are_not_equal() {
    for (place, one) in EXPECTED_ERRORS.iter().enumerate() {
        for (other_place, other) in EXPECTED_ERRORS.iter().enumerate() {
            assert_eq!((one.error)() == (other.error)(), place == other_place);
        }
    }
}

#[test]
fn static_and_owned_names_compare_equal() {
    let of = |name: &'static str| Error::field_error(ErrorKind::MissingField, name);
    assert_eq!(of("shard"), Error::field_error(ErrorKind::MissingField, String::from("shard")));
    assert_ne!(of("shard"), of("other"));
}

#[test]
fn a_source_can_be_downcast() {
    let below = || io::Error::new(io::ErrorKind::TimedOut, "receiver is silent");
    let error = Error::new(ErrorKind::ClockFailed).with_source(below());
    let source = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!((source.kind(), source.to_string()), (io::ErrorKind::TimedOut, below().to_string()));
    assert_eq!(error.to_string(), "clock failed");
    assert!(format!("{error:?}").contains("receiver is silent"), "{error:?}");

    // Methods that change an error's details keep its source, and clones share the source.
    let clone = error.clone().with_field("clock").after_writing(3).in_item(1);
    assert!(std::ptr::addr_eq(clone.source().unwrap(), error.source().unwrap()));
    assert_eq!((clone.field(), clone.item()), (Some("clock"), Some(1)));
    assert_eq!((error.field(), error.item()), (None, None));

    // A new source replaces the old source. An error of this crate may be a source, too.
    let replaced = clone.with_source(Error::invalid_secret(5, 16));
    assert!(replaced.source().unwrap().is::<Error>());
    assert!(error.source().unwrap().is::<io::Error>());
}

#[test]
fn a_source_is_dropped_with_the_last_clone() {
    #[derive(Debug)]
    struct CountedSource(#[expect(dead_code, reason = "it is counted")] Arc<()>);
    impl std::fmt::Display for CountedSource {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("counted")
        }
    }
    impl std::error::Error for CountedSource {}

    let count = Arc::new(());
    let error = Error::new(ErrorKind::ClockFailed).with_source(CountedSource(count.clone()));
    let clone = error.clone().in_item(1);
    drop(error);
    assert_eq!(Arc::strong_count(&count), 2);
    drop(clone);
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn equality_ignores_sources() {
    let error = || Error::new(ErrorKind::ClockFailed);
    let (one, other) =
        (error().with_source(io::Error::other("1")), error().with_source(io::Error::other("2")));
    assert_eq!(one, other);
    assert_eq!(one, error());
    assert_ne!(one, Error::new(ErrorKind::Forked));
    assert!(error().source().is_none());
}
