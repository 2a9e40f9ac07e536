//! Tests the times in error messages: the first and last time of a format, and the earliest end at which a time range
//! contains a tick.

use polyflake::{
    Error, OnExhausted, Result,
    clock::{Clock, ManualClock},
    hotguid::{self, HotGuid},
    layout::{self, Field, Layout, Tick},
    sno::{self, Sno},
};

/// The start of one of sno's ticks, in Unix milliseconds.
const START_MS: i64 = 1_763_650_000_000;
const SNO_FIRST_MS: i64 = 1_262_304_000_000;
const SNO_LAST_MS: i64 = 3_461_327_255_551;
const HOT_GUID_LAST_MS: i64 = 4_294_967_295_999;

#[track_caller]
fn assert_time_out_of_range<V>(
    result: Result<V>,
    field: &'static str,
    time: i64,
    (first, last): (i64, i64),
) {
    let expected = Error::time_out_of_range(field, time.into(), first.into(), last.into(), "ms");
    assert_eq!(result.err(), Some(expected));
}

/// Asserts that the result is the error for a range that ends too early.
#[track_caller]
fn assert_range_too_short<V>(result: Result<V>, end: i64, least: i64, most: i64) {
    let expected = Error::out_of_range("end", end.into(), least.into(), most.into()).in_unit("ms");
    assert_eq!(result.err(), Some(expected));
}

#[test]
fn times_outside_snos_range_are_rejected() {
    let clock = ManualClock::at_unix_ms(START_MS);
    let ids = sno::Generator::builder().clock(&clock).partition(7).build().unwrap();
    for (inside, tick) in [(SNO_FIRST_MS, 0), (SNO_LAST_MS, (1 << 39) - 1)] {
        assert_eq!(ids.generate_at(inside, 0).unwrap().tick(), tick);
    }
    for outside in [i64::MIN, i64::MAX, SNO_LAST_MS + 1, SNO_FIRST_MS - 1, -1] {
        assert_time_out_of_range(
            ids.generate_at(outside, 0),
            "time",
            outside,
            (SNO_FIRST_MS, SNO_LAST_MS),
        );
    }
    // If a clock mistakenly returns milliseconds instead of nanoseconds, its time is outside the range stated in the
    // message.
    clock.set_unix_nanos(START_MS);
    let message =
        "expected clock from 1262304000000000000 to 3461327255551999999 ns, found 1763650000000";
    assert_eq!(ids.generate(0).unwrap_err().to_string(), message);
}

#[test]
fn retry_at_is_rounded_up_to_milliseconds() {
    let quarter = Tick::from_micros(250).unwrap();
    let fields = [Field::timestamp(52, quarter, 0), Field::sequence(12)];
    let clock = ManualClock::at_unix_ms(START_MS);
    let builder = layout::Builder::with_clock(Layout::integer(fields).unwrap(), &clock);
    let ids = builder.on_exhausted(OnExhausted::Error).build().unwrap();
    let mut batch = vec![0_i64; 4097];
    for (micros, retry_at) in [
        (0, START_MS + 1),
        (250, START_MS + 1),
        (749, START_MS + 1),
        (750, START_MS + 1),
        (1000, START_MS + 2),
    ] {
        clock.set_unix_nanos(START_MS * 1_000_000 + micros * 1000);
        let error = ids.fill(&mut *batch).unwrap_err();
        assert_eq!((error.code(), error.retry_at()), ("sequence_exhausted", Some(retry_at)));
    }
}

#[test]
fn ranges_end_at_most_one_tick_past_the_last() {
    let (_, highest) = Sno::time_range(START_MS, SNO_LAST_MS + 1).unwrap();
    assert_eq!(highest.unix_ms(), SNO_LAST_MS - 3);
    assert_time_out_of_range(
        Sno::time_range(START_MS, SNO_LAST_MS + 2),
        "end",
        SNO_LAST_MS + 2,
        (SNO_FIRST_MS, SNO_LAST_MS),
    );
    assert_time_out_of_range(
        Sno::time_range(SNO_FIRST_MS - 1, START_MS),
        "start",
        SNO_FIRST_MS - 1,
        (SNO_FIRST_MS, SNO_LAST_MS),
    );
    let (_, highest) = HotGuid::time_range(START_MS, HOT_GUID_LAST_MS + 1).unwrap();
    assert_eq!(highest.timestamp(), HOT_GUID_LAST_MS / 1000);
    let beyond = HOT_GUID_LAST_MS + 2;
    assert_time_out_of_range(
        HotGuid::time_range(START_MS, beyond),
        "end",
        beyond,
        (0, HOT_GUID_LAST_MS),
    );
    assert_time_out_of_range(HotGuid::time_range(-1, START_MS), "start", -1, (0, HOT_GUID_LAST_MS));
}

#[test]
fn ranges_without_a_tick_report_the_next_one() {
    let end = SNO_LAST_MS + 1;
    assert_range_too_short(Sno::time_range(START_MS, START_MS), START_MS, START_MS + 1, end);
    assert_range_too_short(
        Sno::time_range(START_MS, START_MS - 9),
        START_MS - 9,
        START_MS + 1,
        end,
    );
    assert_range_too_short(
        Sno::time_range(START_MS + 1, START_MS + 3),
        START_MS + 3,
        START_MS + 5,
        end,
    );
    assert_range_too_short(
        Sno::time_range(START_MS + 1, START_MS + 4),
        START_MS + 4,
        START_MS + 5,
        end,
    );
    assert!(Sno::time_range(START_MS + 1, START_MS + 5).is_ok());
    let end = HOT_GUID_LAST_MS + 1;
    assert_range_too_short(HotGuid::time_range(START_MS, START_MS), START_MS, START_MS + 1, end);
    assert_range_too_short(
        HotGuid::time_range(START_MS, START_MS - 1000),
        START_MS - 1000,
        START_MS + 1,
        end,
    );
    assert_range_too_short(
        HotGuid::time_range(START_MS + 1, START_MS + 1000),
        START_MS + 1000,
        START_MS + 1001,
        end,
    );
}

#[test]
fn manual_clocks_saturate_at_the_nanosecond_limits() {
    const LATEST_MS: i64 = i64::MAX / 1_000_000;
    for (unix_ms, shown) in [
        (START_MS, START_MS * 1_000_000),
        (LATEST_MS, LATEST_MS * 1_000_000),
        (LATEST_MS + 1, i64::MAX),
        (i64::MAX, i64::MAX),
        (-LATEST_MS - 1, i64::MIN),
        (i64::MIN, i64::MIN),
    ] {
        let clock = ManualClock::new(0);
        clock.set_unix_ms(unix_ms);
        let anew = ManualClock::at_unix_ms(unix_ms);
        assert_eq!((clock.unix_nanos(), anew.unix_nanos()), (Ok(shown), Ok(shown)), "{unix_ms}");
    }
}

/// The limits that an error reports must form a range that contains at least one value. Otherwise, they would not help the
/// user.
#[test]
fn errors_of_ranges_and_windows_report_satisfiable_limits() {
    let ends = [
        i64::MIN,
        -1,
        0,
        SNO_FIRST_MS,
        START_MS,
        SNO_LAST_MS,
        SNO_LAST_MS + 1,
        HOT_GUID_LAST_MS + 1,
        i64::MAX,
    ];
    let wide = Layout::integer([Field::timestamp(64, Tick::MILLISECOND, 0)]).unwrap();
    let all = ends.iter().flat_map(|start| ends.iter().map(move |end| (*start, *end)));
    for (start, end) in all {
        let window = sno::Generator::builder().partition(7).window(start, end).build();
        let refusals = [
            window.err(),
            hotguid::Generator::builder().window(start, end).build().err(),
            Sno::time_range(start, end).err(),
            HotGuid::time_range(start, end).err(),
            wide.time_range(start, end, []).err(),
        ];
        for error in refusals.into_iter().flatten().filter(|error| error.range().is_some()) {
            let (value, least, most) = error.range().unwrap();
            assert!(least <= most && !(least..=most).contains(&value), "{start}, {end}: {error}");
            assert!(["start", "end"].contains(&error.field().unwrap()), "{start}, {end}: {error}");
        }
    }
}

#[test]
fn errors_report_seconds_in_seconds() {
    use polyflake::randflake::{self, Codec, Grant};
    let parts = randflake::Parts { timestamp: 5, node: 0, sequence: 0 };
    let error = Codec::new([7; 16]).encrypt(parts).unwrap_err();
    let message = "expected timestamp from 1730000000 to 2803741823 s, found 5";
    assert_eq!((error.field(), error.to_string().as_str()), (Some("timestamp"), message));
    let parts = HotGuid::default().parts();
    let error = HotGuid::from_parts(hotguid::Parts { timestamp: -1, ..parts }).unwrap_err();
    assert_eq!(error.to_string(), "expected timestamp from 0 to 4294967295 s, found -1");
    let error = Grant::new(1, 5, 6).unwrap_err();
    assert_eq!(error.to_string(), "expected start from 1730000000 to 2803741823 s, found 5");
}
