//! Tests time ranges, in particular which IDs near the ends of a range belong to it.

use polyflake::layout::{Field, Id, Layout, Tick, ValueType};

use crate::shared::assert_code;

const MS: Tick = Tick::MILLISECOND;

/// The layouts are small enough to check every ID. An ID must be in the range if and only if its time is in the range.
#[test]
fn a_time_range_contains_exactly_the_ids_of_its_times() {
    for (invert, invert_all) in [(false, false), (true, false), (false, true), (true, true)] {
        let turn = |field: Field, invert: bool| if invert { field.inverted() } else { field };
        let layout = Layout::bytes(
            2,
            [
                turn(Field::bindable(2, "above"), invert_all),
                turn(Field::timestamp(4, Tick::from_millis(3).unwrap(), 100), invert),
                Field::unused(1),
                turn(Field::constant(2, "constant", 2), invert_all),
                turn(Field::sequence(4), invert_all),
                turn(Field::bindable(3, "below"), invert_all),
            ],
        );
        check_all_ids(&layout.unwrap());
    }
}

/// Checks every time range against every ID that the layout can generate with a value of 1 in the bindable field `above`.
fn check_all_ids(layout: &Layout) {
    let made: Vec<_> = (0..=u16::MAX)
        .map(|id| Id::Bytes(id.to_be_bytes().into()))
        .filter(|id| can_be_generated(layout, id))
        .collect();
    assert_eq!(made.len(), 1 << 11);
    let first = 99;
    for from in first..first + 48 {
        for to in from + 1..=first + 48 {
            let range = layout.time_range(from, to, [("above", 1.into())]);
            let inside =
                |id: &&Id| (from..to).contains(&layout.parse(id).unwrap().unix_ms().unwrap());
            let inside: Vec<_> = made.iter().filter(inside).collect();
            if inside.is_empty() {
                assert_code(range, "out_of_range");
                continue;
            }
            let (lowest, highest) = range.unwrap();
            let between: Vec<_> =
                made.iter().filter(|id| (&lowest..=&highest).contains(id)).collect();
            assert_eq!(between, inside, "{from}..{to}");
            assert_eq!(
                (inside.iter().min(), inside.iter().max()),
                (Some(&&lowest), Some(&&highest))
            );
        }
    }
}

fn can_be_generated(layout: &Layout, id: &Id) -> bool {
    let parsed = layout.parse(id).unwrap();
    let Id::Bytes(bytes) = id else { return false };
    parsed.bindable("above") == Ok(1.into())
        && parsed.constant("constant") == Ok(2.into())
        && bytes[0] & 2 == 0
}

#[test]
fn a_range_outside_the_timestamp_is_rejected() {
    let layout = Layout::integer([
        Field::unused(44),
        Field::timestamp(8, Tick::SECOND, 10_500),
        Field::sequence(12),
    ])
    .unwrap();
    let (first, end) = (10_000, 266_000);
    assert!(layout.time_range(first, end, []).is_ok());
    assert!(layout.time_range(end - 1000, end, []).is_ok());
    for (from, to) in [(first - 1, end), (first, end + 1), (i64::MIN, end), (first, i64::MAX)] {
        assert_code(layout.time_range(from, to, []), "time_out_of_range");
    }
    for (from, to) in
        [(first, first), (end, first), (first + 1, first + 1000), (i64::MAX, i64::MIN)]
    {
        assert_code(layout.time_range(from, to, []), "out_of_range");
    }
}

#[test]
fn layouts_without_time_ranges_are_rejected() {
    let sequence_first =
        Layout::integer([Field::sequence(12), Field::timestamp(52, MS, 0)]).unwrap();
    assert_code(sequence_first.time_range(0, 1, []), "out_of_range");
    let no_time = Layout::integer([Field::unused(52), Field::sequence(12)]).unwrap();
    assert_code(no_time.time_range(0, 1, []), "unknown_field");
}

#[test]
fn a_range_across_the_sign_bit_is_rejected() {
    let layout = Layout::integer([Field::timestamp(42, MS, 0), Field::sequence(22)]).unwrap();
    let half = 1 << 41;
    let (lowest, highest) = layout.time_range(half - 1, half, []).unwrap();
    assert!(lowest < highest && highest == Id::Integer(i64::MAX));
    let (lowest, highest) = layout.time_range(half, half + 1, []).unwrap();
    assert!(lowest < highest && lowest == Id::Integer(i64::MIN));
    assert_code(layout.time_range(half - 1, half + 1, []), "out_of_range");
    // In a byte layout, the same bits sort as an unsigned integer, so the range is valid.
    let bytes = Layout::bytes(8, [Field::timestamp(42, MS, 0), Field::sequence(22)]).unwrap();
    assert!(bytes.time_range(half - 1, half + 1, []).is_ok());
}

#[test]
fn errors_follow_the_order_of_the_checks() {
    let text = Field::bindable_of(ValueType::Text, 16, "b");
    let fields =
        [Field::bindable(8, "a"), text, Field::timestamp(8, MS, 0), Field::bindable(32, "c")];
    let layout = Layout::bytes(8, fields).unwrap();
    let range = |bindables: &[(&'static str, polyflake::layout::Value<'static>)]| {
        layout
            .time_range(0, 1, bindables.iter().cloned())
            .map_err(|error| (error.code(), error.field().map(str::to_owned)))
    };
    assert!(range(&[("a", 1.into()), ("b", "x".into())]).is_ok());
    assert!(range(&[("a", 1.into()), ("b", "x".into()), ("c", 5.into())]).is_ok());
    assert_eq!(
        range(&[("a", 256.into()), ("nope", 1.into())]).unwrap_err(),
        ("unknown_field", Some("nope".into()))
    );
    assert_eq!(range(&[("b", "x".into())]).unwrap_err(), ("missing_field", Some("a".into())));
    assert_eq!(range(&[("a", 256.into())]).unwrap_err(), ("out_of_range", Some("a".into())));
    assert_eq!(range(&[("a", 1.into()), ("b", 7.into())]).unwrap_err().0, "invalid_type");
    assert_eq!(
        range(&[("a", 1.into()), ("b", "xyz".into())]).unwrap_err(),
        ("out_of_range", Some("b".into()))
    );
    let too_wide = range(&[("a", 1.into()), ("b", "x".into()), ("c", (1_i64 << 32).into())]);
    assert_eq!(too_wide.unwrap_err(), ("out_of_range", Some("c".into())));
}
