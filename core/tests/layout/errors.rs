//! Tests that invalid values are rejected, that errors are reported in the expected order, and that a failed call uses no
//! slots.

use polyflake::layout::{Field, FieldIndex, Id, Layout, Tick, Value, ValueType};

use crate::shared::assert_code;

const MS: Tick = Tick::MILLISECOND;

fn snowflake() -> Layout {
    Layout::integer([
        Field::bindable(5, "a"),
        Field::timestamp(41, MS, 1000),
        Field::constant(5, "c", 1),
        Field::bindable(1, "b"),
        Field::sequence(12),
    ])
    .unwrap()
}

#[test]
fn unknown_names_are_reported_first() {
    let layout = snowflake();
    let mut values = layout.values();
    assert_eq!(assert_code(values.bind("nope", 1), "unknown_field").field(), Some("nope"));
    // The name of a constant field does not refer to a bindable field.
    assert_code(values.bind("c", 1), "unknown_field");
    assert_code(values.constant("a", 1), "unknown_field");
    let bare = Layout::integer([Field::unused(64)]).unwrap();
    assert_eq!(assert_code(bare.values().time(0), "unknown_field").field(), Some("timestamp"));
    assert_eq!(assert_code(bare.values().sequence(0), "unknown_field").field(), Some("sequence"));
    assert_eq!(bare.values().pack_integer(), Ok(0));
}

#[test]
fn values_are_checked_for_presence_type_and_size_in_order() {
    let layout = snowflake();
    let mut values = layout.values();
    let mut expect = |set: &[(&str, Value<'static>)], code: &str, field: &str| {
        for (name, value) in set {
            match *name {
                "timestamp" => values.time(value.clone()),
                "sequence" => values.sequence(value.clone()),
                "c" => values.constant(name, value.clone()),
                name => values.bind(name, value.clone()),
            }
            .unwrap();
        }
        let error = assert_code(values.pack(), code);
        assert!(error.to_string().contains(field), "{error}");
    };
    expect(&[("sequence", 4096.into()), ("b", "x".into())], "missing_field", "a");
    expect(&[("a", "x".into())], "invalid_type", "a");
    expect(
        &[("a", Value::Other("float".into()))],
        "invalid_type",
        "expected an integer for `a`, found float",
    );
    expect(&[("a", 32.into())], "out_of_range", "expected a of at most 5 bits, found 32");
    expect(&[("a", 31.into())], "missing_field", "timestamp");
    expect(&[("timestamp", "x".into())], "invalid_type", "timestamp");
    expect(&[("timestamp", 999.into())], "time_out_of_range", "999");
    expect(
        &[("timestamp", (1000 + (1_i64 << 41)).into())],
        "time_out_of_range",
        "from 1000 to 2199023256551 ms",
    );
    expect(&[("timestamp", i128::MAX.into())], "time_out_of_range", "time");
    expect(&[("timestamp", i128::MIN.into())], "time_out_of_range", "time");
    expect(&[("timestamp", Value::Beyond)], "time_out_of_range", "found an integer past 128 bits");
    expect(&[("timestamp", Value::Nanos(i128::MAX))], "time_out_of_range", "time");
    expect(&[("timestamp", 1000.into()), ("c", 32.into())], "out_of_range", "c");
    expect(&[("c", b"\x01".into())], "invalid_type", "c");
    expect(&[("c", 2.into())], "invalid_type", "b");
    expect(&[("b", Value::Nanos(1))], "invalid_type", "expected an integer for `b`, found a time");
    expect(&[("b", 1.into()), ("sequence", (-1).into())], "out_of_range", "sequence");
    expect(&[("sequence", Value::Beyond)], "out_of_range", "sequence");
    expect(&[("sequence", u128::MAX.into())], "out_of_range", "sequence");
    values.sequence(4095).unwrap();
    let id = values.pack_integer().unwrap();
    let parsed = layout.parse_integer(id).unwrap();
    assert_eq!((parsed.bindable("a"), parsed.constant("c")), (Ok(31.into()), Ok(2.into())));
}

#[test]
fn ids_of_another_type_or_length_are_rejected() {
    let (integer, bytes) = (snowflake(), Layout::bytes(3, [Field::bindable(24, "a")]).unwrap());
    assert_code(integer.parse(&Id::Bytes(vec![0; 8])), "invalid_type");
    assert_code(integer.parse_bytes(&[0; 8]), "invalid_type");
    assert_code(bytes.parse(&Id::Integer(0)), "invalid_type");
    assert_code(bytes.parse_integer(0), "invalid_type");
    assert_code(bytes.parse_bytes(&[]), "invalid_length");
    for length in [2, 4, 1000] {
        assert_code(bytes.parse_bytes(&vec![0; length]), "invalid_length");
    }
    assert_code(bytes.values().pack_integer(), "invalid_type");
}

#[test]
fn a_failed_pack_writes_nothing() {
    let layout = Layout::bytes(2, [Field::bindable(8, "a"), Field::bindable(8, "b")]).unwrap();
    let mut id = [7_u8; 2];
    let packed = layout.values().bind("a", 255).unwrap().pack_columns(&[], &mut id[..]);
    assert_code(packed, "missing_field");
    assert_eq!(id, [7; 2]);
}

#[test]
fn field_indexes_of_another_layout_are_rejected() {
    let (small, large) = (Layout::integer([Field::unused(64)]).unwrap(), snowflake());
    let slots: [FieldIndex; 2] = [large.bindable("a").unwrap(), large.sequence().unwrap()];
    for slot in slots {
        assert_code(small.values().set(slot, 1), "unknown_field");
        assert_code(small.parse_integer(0).unwrap().get(slot), "unknown_field");
    }
}

#[test]
fn invalid_layouts_are_rejected() {
    let assert_invalid =
        |fields: Vec<Field>| drop(assert_code(Layout::bytes(9, fields), "invalid_layout"));
    assert_invalid(vec![]);
    assert_invalid(vec![Field::unused(71)]);
    assert_invalid(vec![Field::unused(73)]);
    assert_invalid(vec![Field::unused(u32::MAX); 5]);
    assert_invalid(vec![Field::sequence(65), Field::unused(7)]);
    assert_invalid(vec![Field::timestamp(65, MS, 0), Field::unused(7)]);
    assert_invalid(vec![Field::sequence(1), Field::sequence(1), Field::unused(70)]);
    assert_invalid(vec![Field::timestamp(0, MS, 0), Field::timestamp(0, MS, 0), Field::unused(72)]);
    assert_invalid(vec![Field::bindable(1, "a"), Field::bindable(1, "a"), Field::unused(70)]);
    assert_invalid(vec![Field::constant(1, "a", 1), Field::constant(1, "a", 1), Field::unused(70)]);
    assert_invalid(vec![Field::bindable(0, None), Field::bindable(0, None), Field::unused(72)]);
    assert_invalid(vec![
        Field::bindable(8, None),
        Field::bindable(0, "bindable-0-8"),
        Field::unused(64),
    ]);
    assert_invalid(vec![Field::sequence_from(8, "1"), Field::unused(64)]);
    assert_invalid(vec![Field::constant(8, "a", Value::Other("x".into())), Field::unused(64)]);
    assert_invalid(vec![Field::constant(8, "a", Value::Nanos(1)), Field::unused(64)]);
    assert_code(Layout::bytes(0, []), "invalid_layout");
    assert_code(Layout::bytes(usize::MAX, []), "invalid_layout");
    assert_code(Layout::integer([Field::constant(64, "a", "text")]), "invalid_layout");
    assert_code(Layout::integer([Field::bindable_of(ValueType::Bytes, 64, "a")]), "invalid_layout");
    // A constant field and a bindable field may have the same name, and fields of zero width are distinguished by their
    // position.
    let shared = [
        Field::constant(8, "a", 1),
        Field::bindable(0, None),
        Field::bindable(8, "a"),
        Field::bindable(0, None),
        Field::unused(56),
    ];
    assert_eq!(
        Layout::bytes(9, shared).unwrap().bindable_names().collect::<Vec<_>>(),
        ["bindable-8-0", "a", "bindable-16-0"]
    );
}

#[test]
fn times_at_the_limits_of_64_bits_round_trip() {
    let layout = Layout::integer([Field::timestamp(64, MS, 0)]).unwrap();
    for unix_ms in [i64::MIN, -1, 0, 1, i64::MAX] {
        let id = layout.values().time(unix_ms).unwrap().pack_integer().unwrap();
        assert_eq!(id, unix_ms);
        assert_eq!(layout.parse_integer(id).unwrap().unix_ms(), Some(unix_ms));
    }
    let seconds = Layout::integer([Field::timestamp(64, Tick::SECOND, 0)]).unwrap();
    let last = i64::MAX / 1000;
    assert_eq!(seconds.parse_integer(last).unwrap().unix_ms(), Some(last * 1000));
    assert_code(seconds.parse_integer(last + 1), "time_out_of_range");
    assert_code(seconds.parse_integer(i64::MIN), "time_out_of_range");
    let late = Layout::integer([Field::timestamp(64, MS, 1)]).unwrap();
    assert_code(late.parse_integer(i64::MAX), "time_out_of_range");
    assert_code(late.values().time(i64::MIN).unwrap().pack(), "time_out_of_range");
}

#[test]
fn a_time_error_reports_the_fields_last_time() {
    let shown = |epoch_ms, tick: &str, unix_ms: i64| {
        let field = Field::timestamp(2, tick.parse().unwrap(), epoch_ms);
        let layout = Layout::integer([field, Field::unused(62)]).unwrap();
        assert_code(layout.values().time(unix_ms).unwrap().pack(), "time_out_of_range").to_string()
    };
    assert!(shown(0, "10ms", 40).contains("from 0 to 39 ms,"), "{}", shown(0, "10ms", 40));
    assert!(
        shown(5, "250us", 6).contains("expected timestamp 5 ms, found 6"),
        "{}",
        shown(5, "250us", 6)
    );
    let (first, last) = (i64::MIN, i64::MIN + 3);
    assert!(shown(first, "1ms", 0).contains(&format!("from {first} to {last} ms")));
    assert!(shown(first, "1us", 1).contains(&format!("expected timestamp {first} ms, found 1")));
}

#[test]
fn decimal_strings_are_parsed_or_rejected() {
    for text in [
        "0",
        "-1",
        "7",
        "170141183460469231731687303715884105728",
        "340282366920938463463374607431768211455",
        "-170141183460469231731687303715884105728",
    ] {
        assert_eq!(Value::parse_integer(text).unwrap().to_string(), text);
    }
    for text in [
        "340282366920938463463374607431768211456",
        "-170141183460469231731687303715884105729",
        &"9".repeat(200_000),
    ] {
        let message = "expected an integer of at most 128 bits, found a larger one";
        assert_eq!(assert_code(Value::parse_integer(text), "out_of_range").to_string(), message);
    }
    assert_eq!(Value::parse_integer("-9223372036854775808"), Ok(i64::MIN.into()));
    assert_eq!(assert_code(Value::parse_integer("12x4"), "invalid_character").position(), Some(2));
    assert_eq!(assert_code(Value::parse_integer("1-"), "invalid_character").position(), Some(1));
    for text in ["", "-", "+1", "00", "-0", "1 ", "0x1", "１"] {
        assert_code(Value::parse_integer(text), "invalid_character");
    }
}

#[test]
fn integer_fields_are_read_up_to_128_bits() {
    let fields = [
        Field::timestamp(40, MS, 7),
        Field::bindable_of(ValueType::Bytes, 8, "bytes"),
        Field::bindable(72, "wide"),
        Field::bindable(128, "wider"),
    ];
    let layout = Layout::bytes(31, fields).unwrap();
    let parsed = layout.parse_bytes(&[0xff; 31]).unwrap();
    let integer = |slot: polyflake::Result<FieldIndex>| parsed.integer(slot.unwrap());
    assert_eq!(integer(layout.timestamp()), Ok((1 << 40) + 6));
    assert_eq!(integer(layout.bindable("wide")), Ok((1 << 72) - 1));
    assert_code(integer(layout.bindable("wider")), "out_of_range");
    assert_eq!(parsed.bindable("wider"), Ok(u128::MAX.into()));
    assert_code(integer(layout.bindable("bytes")), "invalid_type");
}

#[test]
fn errors_report_long_values_by_their_size() {
    let fields = [Field::bindable(8, "n"), Field::bindable_of(ValueType::Text, 8, "text")];
    let layout = Layout::bytes(2, fields).unwrap();
    let told = |n: Value<'static>, text: &'static str| {
        let mut values = layout.values();
        values.bind("n", n).unwrap().bind("text", text).unwrap();
        assert_code(values.pack(), "out_of_range").to_string()
    };
    let message = "expected n of at most 8 bits, found an integer past 128 bits";
    assert_eq!(told(Value::Beyond, "a"), message);
    assert_eq!(told(256.into(), "a"), "expected n of at most 8 bits, found 256");
    assert_eq!(told(1.into(), "ab"), "expected text of at most 8 bits, found ab");
    let long = concat!("0123456789", "0123456789", "0123456789", "012");
    assert_eq!(told(1.into(), long), "expected text of at most 8 bits, found a text of 33 bytes");
}

/// If a limit falls within a millisecond, the error must not report the start of that millisecond, which is before the
/// limit.
#[test]
fn the_reported_limits_of_a_time_can_be_packed() {
    let tick = Tick::from_micros(1500).unwrap();
    let layout =
        Layout::integer([Field::timestamp(4, tick, 2), Field::bindable(60, "rest")]).unwrap();
    let pack = |unix_ms: i128| {
        let mut values = layout.values();
        values.bind("rest", 0).unwrap().time(unix_ms).unwrap();
        values.pack()
    };
    let (value, least, most) = pack(1).unwrap_err().range().unwrap();
    assert_eq!((value, least, most), (1, 2, 25));
    assert!(pack(least).is_ok() && pack(most).is_ok());
    assert!(pack(least - 1).is_err() && pack(most + 1).is_err());
}

#[test]
fn layouts_past_the_size_limits_are_rejected() {
    let error_message = |length, fields: &[Field]| {
        assert_code(Layout::bytes(length, fields.to_vec()), "invalid_layout").to_string()
    };
    let of = |kind, bits| Field::bindable_of(kind, bits, "a");
    // An ID has at most 1,024 bits. A single field of bytes or a single string field may fill the entire ID.
    for kind in [ValueType::Bytes, ValueType::Text] {
        let layout = Layout::bytes(128, [of(kind, 1024)]).unwrap();
        let value = if kind == ValueType::Text { Value::from("x") } else { Value::from(&b"x"[..]) };
        let id = layout.values().bind("a", value.clone()).unwrap().pack().unwrap();
        assert_eq!(layout.parse(&id).unwrap().bindable("a"), Ok(value));
        let message = "expected a byte ID of 1 to 128 bytes, found 129";
        assert_eq!(error_message(129, &[of(kind, 1032)]), message);
    }
    // An integer field has at most 128 bits. It may be bindable or constant, and may start at any bit offset.
    let integer = [Field::unused(3), of(ValueType::Integer, 128).inverted(), Field::unused(5)];
    let layout = Layout::bytes(17, integer).unwrap();
    for number in [0, 1, u128::from(u64::MAX) + 1, i128::MAX.cast_unsigned() + 1, u128::MAX] {
        let id = layout.values().bind("a", number).unwrap().pack().unwrap();
        assert_eq!(layout.parse(&id).unwrap().bindable("a"), Ok(number.into()));
    }
    assert_code(layout.values().bind("a", Value::Beyond).unwrap().pack(), "out_of_range");
    let message = "expected a of at most 128 bits, found 129: wider fields are bytes or text";
    assert_eq!(error_message(17, &[of(ValueType::Integer, 129), Field::unused(7)]), message);
    let constant = Field::constant(129, "a", 1);
    assert_eq!(error_message(17, &[constant, Field::unused(7)]), message);
    assert!(Layout::bytes(128, [Field::unused(1024)]).is_ok());
    // A layout has at most 1,024 fields, including those of zero bits.
    let empty = |count| (0..count).map(|_| Field::unused(0)).chain([Field::unused(8)]);
    assert!(Layout::bytes(1, empty(1023)).is_ok());
    assert_code(Layout::bytes(1, empty(1024)), "invalid_layout");
}

#[test]
fn a_decimal_string_error_reports_the_character_position() {
    assert_code(Value::parse_integer(&"0".repeat(200_000)), "invalid_character");
    let error = assert_code(Value::parse_integer("12\n4"), "invalid_character");
    assert_eq!(error.to_string(), "invalid character U+000A at position 2");
}

#[test]
fn errors_quote_unknown_field_names() {
    let layout = snowflake();
    let error = assert_code(layout.bindable("nobody"), "unknown_field");
    let message = "unknown field `nobody`, expected one of `a`, `b`";
    assert_eq!((error.field(), &*error.to_string()), (Some("nobody"), message));
    let many = (0..40).map(|k| Field::bindable(8, &*format!("f{k:02}")));
    let many = Layout::bytes(40, many).unwrap();
    let message = many.bindable("nobody").unwrap_err().to_string();
    assert!(message.ends_with("`f14`, `f15` and 24 more"), "{message}");
    let error = assert_code(many.constant("f00"), "unknown_field");
    assert_eq!(error.to_string(), "unknown field `f00`, expected no fields");
    let error = assert_code(layout.values().pack(), "missing_field");
    assert_eq!(error.to_string(), "missing value for field `a`");
    let foreign =
        Layout::integer([Field::unused(32), Field::bindable(16, "a"), Field::sequence(16)]);
    let error =
        assert_code(foreign.unwrap().values().set(layout.sequence().unwrap(), 1), "unknown_field");
    assert_eq!(error.field(), None);
}
