//! Tests `SystemTime` arguments. They work like times in milliseconds, but keep fractions of a millisecond.
#![cfg(feature = "std")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use polyflake::{
    ErrorKind, hotguid,
    hotguid::HotGuid,
    layout::{Field, Layout, Tick},
    sno,
    sno::Sno,
};

const TIMESTAMP_MS: i64 = 1_763_650_000_000;

/// The resolution of `SystemTime`, in nanoseconds.
const STEP: u64 = if cfg!(windows) { 100 } else { 1 };

fn time_at(nanos: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(TIMESTAMP_MS.cast_unsigned()) + Duration::from_nanos(nanos)
}

#[test]
fn system_times_and_whole_milliseconds_are_equivalent() {
    assert_eq!(
        Sno::time_range(time_at(0), TIMESTAMP_MS + 8),
        Sno::time_range(TIMESTAMP_MS, time_at(8_000_000))
    );
    assert_eq!(
        HotGuid::time_range(time_at(0), TIMESTAMP_MS + 2000),
        HotGuid::time_range(TIMESTAMP_MS, TIMESTAMP_MS + 2000)
    );
    let ids = sno::Generator::builder()
        .partition(7)
        .window(time_at(0), TIMESTAMP_MS + 4000)
        .build()
        .unwrap();
    assert_eq!(ids.window(), (TIMESTAMP_MS, TIMESTAMP_MS + 4000));
    assert_eq!(ids.generate_at(time_at(0), 1).unwrap().unix_ms(), TIMESTAMP_MS);
    ids.extend_window(time_at(8_000_000_000)).unwrap();
    assert_eq!(ids.window(), (TIMESTAMP_MS, TIMESTAMP_MS + 8000));
}

#[test]
fn a_range_contains_the_ticks_that_start_in_it() {
    // A range that starts just after the start of a tick excludes that tick. A range that ends just after the start of a
    // tick includes that tick.
    let (lowest, highest) = Sno::time_range(time_at(STEP), time_at(4_000_000 + STEP)).unwrap();
    assert_eq!((lowest.unix_ms(), highest.unix_ms()), (TIMESTAMP_MS + 4, TIMESTAMP_MS + 4));
    let within = Sno::time_range(time_at(STEP), time_at(4_000_000)).unwrap_err();
    assert_eq!((within.kind(), within.field()), (ErrorKind::OutOfRange, Some("end")));
    let expected = "expected a time range in which a tick starts, found";
    let shown = format!("{expected} {TIMESTAMP_MS}.0001 to {}.9 ms", TIMESTAMP_MS + 1);
    let range = Sno::time_range(time_at(100), time_at(1_900_000));
    assert_eq!(range.unwrap_err().to_string(), shown);
    let ids = hotguid::Generator::builder()
        .window(time_at(STEP), time_at(1_000_000_000 + STEP))
        .build()
        .unwrap();
    assert_eq!(ids.window(), (TIMESTAMP_MS + 1000, TIMESTAMP_MS + 2000));
}

#[test]
fn a_time_within_a_tick_belongs_to_that_tick() {
    let ids = sno::Generator::builder().partition(7).build().unwrap();
    assert_eq!(ids.generate_at(time_at(4_000_000 - STEP), 1).unwrap().unix_ms(), TIMESTAMP_MS);
    assert_eq!(ids.generate_at(time_at(4_000_000), 1).unwrap().unix_ms(), TIMESTAMP_MS + 4);
}

#[test]
fn microsecond_ticks_are_distinguished() {
    let layout = Layout::integer([
        Field::unused(1),
        Field::timestamp(55, Tick::MICROSECOND, 0),
        Field::sequence(8),
    ])
    .unwrap();
    let micros = TIMESTAMP_MS * 1000;
    let (lowest, highest) = layout.time_range(time_at(1_500), time_at(3_000 + STEP), []).unwrap();
    let seen = [lowest, highest].map(|id| match id {
        polyflake::layout::Id::Integer(id) => id >> 8,
        _ => unreachable!("an integer layout"),
    });
    assert_eq!(seen, [micros + 2, micros + 3]);
}

#[test]
fn times_outside_every_format_are_rejected() {
    let farthest = UNIX_EPOCH.checked_add(Duration::from_secs(i64::MAX.cast_unsigned()));
    // Windows represents times up to the year 30828.
    let far = farthest.unwrap_or(UNIX_EPOCH + Duration::from_secs(900_000_000_000));
    for (start, end) in [(time_at(0), far), (far, far)] {
        let error = Sno::time_range(start, end).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TimeOutOfRange | ErrorKind::OutOfRange));
    }
    let before = UNIX_EPOCH - Duration::from_nanos(1);
    assert_eq!(
        HotGuid::time_range(before - Duration::from_secs(1), time_at(0)).unwrap_err().kind(),
        ErrorKind::TimeOutOfRange
    );
}
