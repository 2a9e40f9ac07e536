//! Tests `describe()` for layouts with properties that no preset has.

use polyflake::layout::{Field, Layout, Tick, ValueType};

const MS: Tick = Tick::MILLISECOND;

fn time_field() -> Field {
    Field::timestamp(41, MS, 0)
}

#[track_caller]
fn assert_sorts_by_time(layout: polyflake::Result<Layout>, expected: bool) {
    assert_eq!(layout.unwrap().describe().sorts_by_time, expected);
}

#[test]
fn describe_reports_whether_ids_sort_by_time() {
    assert_sorts_by_time(
        Layout::integer([Field::unused(1), time_field(), Field::sequence(22)]),
        true,
    );
    assert_sorts_by_time(
        Layout::integer([Field::constant(1, "sign", 1), time_field(), Field::sequence(22)]),
        true,
    );
    assert_sorts_by_time(
        Layout::integer([
            Field::bindable(0, "nothing"),
            Field::unused(1),
            time_field(),
            Field::sequence(22),
        ]),
        true,
    );
    assert_sorts_by_time(Layout::bytes(8, [time_field(), Field::sequence(23)]), true);
    assert_sorts_by_time(Layout::integer([Field::timestamp(64, MS, 0)]), true);
    // IDs do not sort by time if the sign bit is used, if another field is above the timestamp, if the timestamp is
    // inverted, or if there is no timestamp.
    assert_sorts_by_time(Layout::integer([time_field(), Field::sequence(23)]), false);
    assert_sorts_by_time(
        Layout::integer([
            Field::unused(1),
            Field::bindable(1, "a"),
            time_field(),
            Field::unused(21),
        ]),
        false,
    );
    assert_sorts_by_time(
        Layout::integer([Field::unused(1), Field::sequence(1), time_field(), Field::unused(21)]),
        false,
    );
    assert_sorts_by_time(
        Layout::integer([Field::unused(1), time_field().inverted(), Field::sequence(22)]),
        false,
    );
    assert_sorts_by_time(Layout::integer([Field::unused(1), Field::sequence(63)]), false);
}

#[test]
fn describe_reports_the_bounds_of_ids() {
    let below = |fields: Vec<Field>| {
        let description = Layout::integer(fields).unwrap().describe();
        (description.below_2_53, description.below_2_63)
    };
    assert_eq!(below(vec![Field::unused(11), time_field(), Field::sequence(12)]), (true, true));
    assert_eq!(
        below(vec![Field::unused(10), Field::timestamp(41, MS, 0), Field::sequence(13)]),
        (false, true)
    );
    assert_eq!(below(vec![time_field(), Field::sequence(23)]), (false, false));
    assert_eq!(below(vec![Field::constant(11, "a", 0), Field::sequence(53)]), (true, true));
    assert_eq!(
        below(vec![Field::constant(11, "a", 0).inverted(), Field::sequence(53)]),
        (false, false)
    );
    assert_eq!(below(vec![Field::unused(11).inverted(), Field::sequence(53)]), (true, true));
    assert!(Layout::bytes(6, [Field::sequence(48)]).unwrap().describe().below_2_53);
    assert!(!Layout::bytes(7, [Field::sequence(56)]).unwrap().describe().below_2_53);
}

#[test]
fn describe_reports_the_capacity() {
    let per_second = |tick: &str, start: u64, machines: u32| {
        let sequence = Field::sequence_from(10, start).inverted();
        let fields = [
            Field::timestamp(40, tick.parse().unwrap(), 0),
            sequence,
            Field::bindable_of(ValueType::Bytes, machines, "m"),
        ];
        let description = Layout::bytes((50 + machines as usize) / 8, fields).unwrap().describe();
        (description.per_second, description.per_second_in_all)
    };
    assert_eq!(per_second("1ms", 0, 14), (Some(1_024_000), Some(1_024_000 << 14)));
    assert_eq!(per_second("1ms", 1000, 6), (Some(24_000), Some(24_000 << 6)));
    assert_eq!(per_second("3ms", 0, 6), (Some(341_333), Some(21_845_333)));
    assert_eq!(per_second("60s", 0, 6), (Some(17), Some(1092)));
    assert_eq!(per_second("1us", 0, 6), (Some(1_024_000_000), Some(65_536_000_000)));
    assert_eq!(per_second("1ms", 0, 78), (Some(1_024_000), Some(1_024_000 << 78)));
    assert_eq!(per_second("1ms", 0, 126), (Some(1_024_000), None));
    let no_time = Layout::integer([Field::sequence(64)]).unwrap().describe();
    assert_eq!((no_time.per_second, no_time.first_ms, no_time.last_ms), (None, None, None));
}

#[test]
fn describe_limits_times_to_64_bits() {
    let moments = |bits, tick: &str, epoch_ms| {
        let fields =
            [Field::timestamp(bits, tick.parse().unwrap(), epoch_ms), Field::unused(64 - bits)];
        let description = Layout::integer(fields).unwrap().describe();
        (description.first_ms, description.last_ms)
    };
    assert_eq!(moments(41, "1ms", 0), (Some(0), Some((1 << 41) - 1)));
    assert_eq!(moments(8, "1s", 1500), (Some(1000), Some(256_000)));
    assert_eq!(moments(64, "1s", 0), (Some(0), Some(i64::MAX / 1000 * 1000)));
    assert_eq!(moments(64, "1ms", -1), (Some(-1), Some(i64::MAX - 1)));
    assert_eq!(moments(8, "400us", 0), (Some(0), Some(102)));
    assert_eq!(moments(1, "1s", i64::MIN).0, None);
}
