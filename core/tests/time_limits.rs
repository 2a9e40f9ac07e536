//! What errors say of time: the first and the last of a format, and the nearest range that holds an ID.

use polyflake::{
    Error, OnExhausted, Result,
    clock::{Clock, ManualClock},
    hotguid::{self, HotGuid},
    layout::{self, Field, Layout, Tick},
    sno::{self, Sno},
};

/// A moment at the beginning of one of sno's ticks, in Unix milliseconds.
const T: i64 = 1_763_650_000_000;
const SNO_FIRST: i64 = 1_262_304_000_000;
const SNO_LAST: i64 = 3_461_327_255_551;
const HOT_GUID_LAST: i64 = 4_294_967_295_999;

#[track_caller]
fn assert_outside<V>(result: Result<V>, unix_ms: i64, (first, last): (i64, i64)) {
    let expected = Error::time_out_of_range(unix_ms.into(), first.into(), last.into());
    assert_eq!(result.err(), Some(expected));
}

/// The error for a range that ends too soon.
#[track_caller]
fn assert_too_short<V>(result: Result<V>, end: i64, least: i64, most: i64) {
    let expected =
        Error::out_of_range("end of the time range", end.into(), least.into(), most.into());
    assert_eq!(result.err(), Some(expected));
}

#[test]
fn clocks_outside_of_snos_time() {
    let clock = ManualClock::at_unix_ms(SNO_LAST);
    let ids = sno::Generator::builder().clock(&clock).partition(7).build().unwrap();
    assert_eq!(ids.generate(0).unwrap().unix_ms(), SNO_LAST - 3);
    for outside in [SNO_LAST + 1, SNO_FIRST - 1, -1, i64::MAX / 1_000_000] {
        clock.set_unix_ms(outside);
        assert_outside(ids.generate(0), outside, (SNO_FIRST, SNO_LAST));
        assert_outside(ids.generate_at(outside, 0), outside, (SNO_FIRST, SNO_LAST));
    }
    clock.set_unix_nanos(i64::MIN);
    assert_outside(ids.generate(0), -9_223_372_036_855, (SNO_FIRST, SNO_LAST));
}

#[test]
fn clocks_outside_of_hot_guids_time() {
    let clock = ManualClock::at_unix_ms(HOT_GUID_LAST);
    let ids = hotguid::Generator::builder().clock(&clock).build().unwrap();
    assert_eq!(ids.generate(0).unwrap().timestamp(), HOT_GUID_LAST / 1000);
    for outside in [HOT_GUID_LAST + 1, -1] {
        clock.set_unix_ms(outside);
        assert_outside(ids.generate(0), outside, (0, HOT_GUID_LAST));
    }
}

#[test]
fn retries_are_told_in_whole_milliseconds_rounded_up() {
    let quarter = Tick::from_micros(250).unwrap();
    let fields = [Field::timestamp(52, quarter, 0), Field::sequence(12)];
    let clock = ManualClock::at_unix_ms(T);
    let builder = layout::Builder::with_clock(Layout::integer(fields).unwrap(), &clock);
    let ids = builder.on_exhausted(OnExhausted::Error).build().unwrap();
    let mut batch = vec![0_i64; 4097];
    for (micros, retry_at) in [(0, T + 1), (250, T + 1), (749, T + 1), (750, T + 1), (1000, T + 2)]
    {
        clock.set_unix_nanos(T * 1_000_000 + micros * 1000);
        let error = ids.fill(&mut *batch).unwrap_err();
        assert_eq!((error.code(), error.retry_at()), ("sequence_exhausted", Some(retry_at)));
    }
}

#[test]
fn ranges_end_at_most_one_past_the_last_tick() {
    let (_, highest) = Sno::time_range(T, SNO_LAST + 1).unwrap();
    assert_eq!(highest.unix_ms(), SNO_LAST - 3);
    assert_outside(Sno::time_range(T, SNO_LAST + 2), SNO_LAST + 2, (SNO_FIRST, SNO_LAST));
    assert_outside(Sno::time_range(SNO_FIRST - 1, T), SNO_FIRST - 1, (SNO_FIRST, SNO_LAST));
    let (_, highest) = HotGuid::time_range(T, HOT_GUID_LAST + 1).unwrap();
    assert_eq!(highest.timestamp(), HOT_GUID_LAST / 1000);
    let beyond = HOT_GUID_LAST + 2;
    assert_outside(HotGuid::time_range(T, beyond), beyond, (0, HOT_GUID_LAST));
}

#[test]
fn ranges_without_a_tick_say_how_far_the_next_one_is() {
    let end = SNO_LAST + 1;
    assert_too_short(Sno::time_range(T, T), T, T + 1, end);
    assert_too_short(Sno::time_range(T, T - 9), T - 9, T + 1, end);
    assert_too_short(Sno::time_range(T + 1, T + 3), T + 3, T + 5, end);
    assert_too_short(Sno::time_range(T + 1, T + 4), T + 4, T + 5, end);
    assert!(Sno::time_range(T + 1, T + 5).is_ok());
    let end = HOT_GUID_LAST + 1;
    assert_too_short(HotGuid::time_range(T + 1, T + 9), T + 9, T + 1001, end);
}

#[test]
fn manual_clocks_stop_at_the_ends_of_nanoseconds() {
    const LATEST: i64 = i64::MAX / 1_000_000;
    for (unix_ms, shown) in [
        (T, T * 1_000_000),
        (LATEST, LATEST * 1_000_000),
        (LATEST + 1, i64::MAX),
        (i64::MAX, i64::MAX),
        (-LATEST - 1, i64::MIN),
        (i64::MIN, i64::MIN),
    ] {
        let clock = ManualClock::new(0);
        clock.set_unix_ms(unix_ms);
        let anew = ManualClock::at_unix_ms(unix_ms);
        assert_eq!((clock.unix_nanos(), anew.unix_nanos()), (Ok(shown), Ok(shown)), "{unix_ms}");
    }
}
