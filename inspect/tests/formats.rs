//! Tests the readings of IDs from other libraries, of examples in published descriptions, and of IDs in formats that do not
//! exist.

use polyflake::{
    layout::{Field, Layout, Tick, Value, ValueType},
    randflake::{Codec, Parts},
};
use polyflake_inspect::{Context, MAX_BITS, Reading, Role, inspect, inspect_bytes, sentence};

/// 2026-11-23T09:00:00Z.
const CONTEXT: Context<'_> = Context { now_ms: 1_795_424_400_000, secret: None, layouts: &[] };

#[track_caller]
fn most_likely_reading(text: &str) -> Reading {
    let readings = inspect(text, &CONTEXT);
    readings.into_iter().next().unwrap_or_else(|| panic!("expected a reading of {text}"))
}

fn value(reading: &Reading, name: &str) -> Option<u128> {
    reading.fields.iter().find(|field| field.name == name)?.value
}

/// Inspects two IDs of each format. Each system's own library generated them, as described in bench/inspect.
#[test]
fn ids_of_other_libraries_are_identified() {
    for line in include_str!("made.tsv").lines() {
        let (format, id) = line.split_once('\t').expect("a format, a tab and an ID");
        let reading = most_likely_reading(id);
        // The datacenter values of X and the worker values of Discord distinguish the two services' IDs, but the libraries
        // do not use those values.
        if reading.note.is_none() {
            assert_eq!(reading.format, format, "{id}");
        }
        assert!(reading.odds > 0.5, "{id}: {}", reading.odds);
    }
}

/// The examples come from each format's documentation and from RFC 9562.
#[test]
fn published_examples_decode_to_their_fields() {
    for (id, format, time, fields) in [
        (
            "175928847299117063",
            "discord",
            "2016-04-30T11:18:25.796Z",
            &[("worker", 1), ("process", 0), ("sequence", 7)][..],
        ),
        (
            "C232AB00-9414-11EC-B3C8-9F6BDECED846",
            "uuid-v1",
            "2022-02-22T19:22:22.000Z",
            &[("clock_sequence", 0x33c8), ("node", 0x9f6b_dece_d846)],
        ),
        (
            "1EC9414C-232A-6B00-B3C8-9F6BDECED846",
            "uuid-v6",
            "2022-02-22T19:22:22.000Z",
            &[("node", 0x9f6b_dece_d846)],
        ),
        (
            "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
            "uuid-v7",
            "2022-02-22T19:22:22.000Z",
            &[("random_high", 0xcc3)],
        ),
        (
            "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
            "ksuid",
            "2017-10-10T04:00:47.000Z",
            &[("payload", 0xb5a1_cd34_b5f9_9d11_54fb_6853_345c_9735)],
        ),
        (
            "507f1f77bcf86cd799439011",
            "objectid",
            "2012-10-17T21:13:27.000Z",
            &[("counter", 0x43_9011)],
        ),
        (
            "691f29d0-bbaa-ddcc-ee01-0203e8030000",
            "hotguid",
            "2025-11-20T14:46:40.000Z",
            &[("counter", 0x01_0203), ("shard_key", 1000)],
        ),
    ] {
        let reading = most_likely_reading(id);
        assert_eq!(
            (reading.format.as_str(), reading.time().as_deref()),
            (format, Some(time)),
            "{id}"
        );
        for (name, expected) in fields {
            assert_eq!(value(&reading, name), Some(*expected), "{name} of {id}");
        }
    }
}

#[test]
fn fields_cover_all_bits_and_odds_sum_to_at_most_one() {
    for line in include_str!("made.tsv").lines() {
        let (_, id) = line.split_once('\t').expect("a format, a tab and an ID");
        let readings = inspect(id, &CONTEXT);
        assert!(readings.iter().map(|reading| reading.odds).sum::<f64>() <= 1.000_001, "{id}");
        assert!(readings.is_sorted_by(|one, other| one.odds >= other.odds), "{id}");
        for reading in readings {
            let mut next = 0;
            for field in &reading.fields {
                assert_eq!(field.from, next, "{} of {}", field.name, reading.format);
                let fits = |value: u128| field.bits == 128 || value >> field.bits == 0;
                assert!(field.value.is_some_and(fits), "{}", field.name);
                next += field.bits;
            }
            assert_eq!(next, reading.bits, "{}", reading.format);
            assert_eq!(reading.bytes.len(), reading.bits.div_ceil(8) as usize);
        }
    }
}

/// All string forms of a UUID have the same reading, and so do the UUID's bytes.
#[test]
fn all_forms_of_an_id_have_the_same_reading() {
    let uuid = most_likely_reading("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    for form in [
        "017f22e279b07cc398c4dc0c0c07398f",
        "{017F22E2-79B0-7CC3-98C4-DC0C0C07398F}",
        "urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "  \"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\"\n",
        "0x017f22e279b07cc398c4dc0c0c07398f",
    ] {
        let reading = most_likely_reading(form);
        assert_eq!(
            (reading.format, reading.fields),
            (uuid.format.clone(), uuid.fields.clone()),
            "{form}"
        );
    }
    assert_eq!(inspect_bytes(&uuid.bytes, &CONTEXT)[0].fields, uuid.fields);
    let signed = inspect("-8446744073709551616", &CONTEXT);
    let unsigned = inspect("10000000000000000000", &CONTEXT);
    assert!(!signed.is_empty() && signed[0].bytes == unsigned[0].bytes);
}

/// A UUID column can store a sno in two forms: as the 16 bytes of its string, or as a version 8 UUID, whose bits are
/// different.
#[test]
fn a_sno_is_recognized_in_both_uuid_forms() {
    let sno = polyflake::sno::Sno::parse("9q7eapxk2owc4ivv").expect("a sno");
    let spelt = format!("{:032x}", u128::from_be_bytes(sno.to_uuid_bytes()));
    assert_eq!(most_likely_reading(&spelt).format, "sno");
    assert_eq!(value(&most_likely_reading(&spelt), "metabyte"), Some(sno.metabyte().into()));
    assert_eq!(most_likely_reading("9q7eapxk2owc4ivv").unix_ms, Some(sno.unix_ms()));
}

#[test]
fn the_current_time_decides_between_formats_with_equal_bits() {
    let at = |now_ms| inspect("2124021779781038084", &Context { now_ms, ..CONTEXT });
    let unlikely = at(CONTEXT.now_ms);
    assert_eq!((unlikely[0].format.as_str(), &unlikely[0].note), ("twitter", &None));
    let discord = unlikely.iter().find(|reading| reading.format == "discord").expect("a reading");
    assert_eq!(discord.reason, "its time would be in 2031, which is in the future");
    // Five years later, the Discord time is in the past, so the ID may belong to either service, and both readings have a
    // note.
    let later = at(CONTEXT.now_ms + 5 * 31_556_952_000);
    assert!(later[..2].iter().all(|reading| reading.note.is_some()), "{later:?}");
}

#[test]
fn a_secret_decrypts_randflakes() {
    let codec = Codec::new(*b"sixteen byte key");
    let parts = Parts { timestamp: 1_795_000_000, node: 77, sequence: 3 };
    let id = codec.encrypt(parts).expect("a valid ID");
    for text in [id.to_string(), id.to_i64().to_string()] {
        let opened = inspect(&text, &Context { secret: Some(&codec), ..CONTEXT });
        assert_eq!(opened[0].format, "randflake", "{text}");
        assert_eq!(value(&opened[0], "node"), Some(77));
        assert_eq!(opened[0].unix_ms, Some(parts.timestamp * 1000));
        let node = (30..47).fold(0, |node, at| node << 1 | u128::from(opened[0].bit(at)));
        assert_eq!(node, 77, "{text}: the bits are not those of the fields");
        let closed = inspect(&text, &CONTEXT);
        let closed =
            closed.iter().find(|reading| reading.format == "randflake").expect("a reading");
        assert_eq!(closed.fields[0].role, Role::Encrypted);
    }
}

#[test]
fn custom_layouts_are_read_if_their_constants_match() {
    let fields = |region: i64| {
        [
            Field::timestamp(40, Tick::MILLISECOND, 1_700_000_000_000),
            Field::constant(8, "region", region),
            Field::bindable(8, "shard"),
            Field::sequence(8),
        ]
    };
    let layout = Layout::integer(fields(5)).expect("a layout");
    let mut values = layout.values();
    values.time(1_795_000_000_000_i64).and_then(|values| values.sequence(9)).expect("values");
    let id = values.bind("shard", 3).and_then(|values| values.pack_integer()).expect("an ID");
    let other = Layout::integer(fields(6)).expect("a layout");
    let layouts = [("orders", &layout), ("others", &other)];
    let readings = inspect(&id.to_string(), &Context { layouts: &layouts, ..CONTEXT });
    assert_eq!(readings[0].format, "orders");
    assert_eq!((value(&readings[0], "region"), value(&readings[0], "shard")), (Some(5), Some(3)));
    assert_eq!(readings[0].unix_ms, Some(1_795_000_000_000));
    assert!(readings.iter().all(|reading| reading.format != "others"));
    let said = sentence(&readings);
    assert!(said.starts_with("This is an ID of orders, made "), "{said}");
    let timeless =
        Layout::integer([Field::bindable(32, "a"), Field::bindable(32, "b")]).expect("a layout");
    let layouts = [("your layout", &timeless)];
    let said = sentence(&inspect("8011686022722355202", &Context { layouts: &layouts, ..CONTEXT }));
    assert!(
        said.contains(
            "an ID of your layout, its bits are those of the layout: a 1865366013, b 1817444354"
        ),
        "{said}"
    );

    let bytes =
        Layout::bytes(4, [Field::bindable(16, "a"), Field::bindable(16, "b")]).expect("a layout");
    let layouts = [("pair", &bytes)];
    let context = Context { layouts: &layouts, ..CONTEXT };
    assert_eq!(value(&inspect("0001ff00", &context)[0], "b"), Some(0xff00));
    assert_eq!(value(&inspect_bytes(&[0, 1, 255, 0], &context)[0], "a"), Some(1));
}

/// All bits of a wide field must be read, and a constant must be compared beyond its first 128 bits.
#[test]
fn fields_of_more_than_128_bits_are_read() {
    let layout = |first: u8| {
        let mut mark = vec![7; 20];
        mark[0] = first;
        let mark = Field::constant(160, "mark", Value::from(mark));
        Layout::bytes(50, [mark, Field::bindable_of(ValueType::Bytes, 240, "key")])
            .expect("a layout")
    };
    let (own, other) = (layout(1), layout(2));
    let mut id = [7; 50];
    (id[0], id[20], id[49]) = (1, 0x80, 0x81);
    let layouts = [("own", &own), ("other", &other)];
    let readings = inspect_bytes(&id, &Context { layouts: &layouts, ..CONTEXT });
    let [reading] = &readings[..] else { panic!("{readings:?}") };
    assert_eq!((reading.format.as_str(), value(reading, "key")), ("own", None));
    assert!(reading.bit(160) && !reading.bit(161) && reading.bit(399));
}

/// The inspector must not panic for any string. A string that is longer than the IDs of every format has no reading.
#[test]
fn any_string_is_accepted() {
    assert!(inspect("", &CONTEXT).is_empty());
    assert!(inspect("Grüße", &CONTEXT).is_empty() && inspect("0xzz", &CONTEXT).is_empty());
    assert!(inspect(&"9".repeat(1000), &CONTEXT).is_empty());
    assert!(inspect_bytes(&[7; 200], &CONTEXT).is_empty());
    let alphabet: Vec<char> = "0179afuvzAFZ-_{}:€ \"c".chars().collect();
    let mut state = 1_u64;
    let mut draw = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    for _ in 0..20_000 {
        let text: String = (0..draw(45)).map(|_| alphabet[draw(alphabet.len())]).collect();
        let of_all_times = [i64::MIN, 0, CONTEXT.now_ms, i64::MAX];
        for now_ms in of_all_times {
            let readings = inspect(&text, &Context { now_ms, ..CONTEXT });
            assert!(readings.iter().all(|reading| reading.bits <= MAX_BITS), "{text}");
            readings.iter().for_each(|reading| drop(reading.time()));
        }
    }
}
