//! Custom layouts: descriptions as JSON, and IDs of the resulting layouts.

use std::time::Duration;

use polyflake::{
    ErrorKind,
    clock::ManualClock,
    layout::{Generator, Id, Layout, PRESETS, Parsed, Value, Values, preset},
};

use crate::{
    bytes::Bytes,
    description::{corrupt, random_description},
    layout_columns,
    verdict::check_message,
};

/// Checks a description that is built member by member and may contain faults. If the description is valid, also checks IDs
/// of the resulting layout.
pub(crate) fn descriptions(input: &[u8]) {
    let mut bytes = Bytes(input);
    let mut description = random_description(&mut bytes);
    while bytes.one_in(8) {
        corrupt(&mut description, &mut bytes);
    }
    check(&description.to_string(), &mut bytes);
}

/// Checks JSON texts: arbitrary texts, and presets in which bytes were changed, removed or inserted.
pub(crate) fn json(input: &[u8]) {
    if let Ok(text) = str::from_utf8(input) {
        check(text, &mut Bytes(input));
    }
    let mut bytes = Bytes(input);
    let name = bytes.choose(PRESETS);
    let mut text = preset(name, []).expect("a preset").to_json().into_bytes();
    for _ in 0..bytes.number_below(4) {
        edit(&mut text, &mut bytes);
    }
    check(&String::from_utf8_lossy(&text), &mut bytes);
}

fn edit(text: &mut Vec<u8>, bytes: &mut Bytes<'_>) {
    let (at, byte) = (bytes.number_below(text.len()), bytes.byte());
    match bytes.byte() % 3 {
        0 => text[at] = byte,
        1 => drop(text.remove(at)),
        _ => text.insert(at, byte),
    }
}

/// Checks that a string is either rejected or parsed as a layout. A layout must survive a round trip through JSON, and
/// packing the parsed fields of an ID must produce the same ID, except for unused bits.
fn check(text: &str, bytes: &mut Bytes<'_>) {
    let layout = match Layout::from_json(text) {
        Ok(layout) => layout,
        Err(error) => {
            let kind = check_message(&error).kind();
            assert!([ErrorKind::InvalidLayout, ErrorKind::OutOfRange].contains(&kind), "{error}");
            return;
        }
    };
    let json = layout.to_json();
    let again = Layout::from_json(&json).expect("what was written");
    assert_eq!((&again, again.to_json()), (&layout, json));
    check_description(&layout);
    check_foreign_ids(&layout);
    let ids: Vec<Id> = (0..=bytes.number_below(3)).map(|_| any_id(&layout, bytes)).collect();
    ids.iter().for_each(|id| check_id(&layout, id, bytes));
    layout_columns::check(&layout, &ids);
}

/// Checks that the fields follow each other without gaps and fill the ID.
fn check_description(layout: &Layout) {
    let figures = layout.describe();
    let mut end = 0;
    for field in figures.fields() {
        assert_eq!(field.offset, end);
        end += field.bits;
    }
    assert_eq!((end, figures.bits), (layout.bits(), layout.bits()));
    assert!(figures.first_ms <= figures.last_ms);
    assert!(figures.per_second <= figures.per_second_in_all || figures.per_second_in_all.is_none());
    assert!(figures.below_2_63 || !figures.below_2_53);
}

/// Checks that the layout rejects IDs of the other kind (integer or bytes) and IDs of the wrong length.
fn check_foreign_ids(layout: &Layout) {
    let length = layout.bits() as usize / 8;
    for length in [length - 1, length + 1] {
        let error = layout.parse_bytes(&vec![0; length]).unwrap_err();
        let wrong =
            if layout.is_integer() { ErrorKind::InvalidType } else { ErrorKind::InvalidLength };
        assert_eq!(error.kind(), wrong);
    }
    if !layout.is_integer() {
        assert_eq!(layout.parse_integer(0).unwrap_err().kind(), ErrorKind::InvalidType);
    }
}

/// Checks that packing an ID's parsed fields produces the same ID, except for unused bits.
fn check_id(layout: &Layout, id: &Id, bytes: &mut Bytes<'_>) {
    let parsed = match layout.parse(id) {
        Ok(parsed) => parsed,
        Err(error) => {
            let kind = check_message(&error).kind();
            return assert!(
                [ErrorKind::TimeOutOfRange, ErrorKind::InvalidCharacter].contains(&kind)
            );
        }
    };
    let values = values_of(layout, &parsed);
    let packed = values.pack().expect("values of an ID");
    // Ticks shorter than a millisecond are packed from nanoseconds, and the number of nanoseconds may exceed 64 bits.
    assert_eq!(bits_of(&packed), used_bits(layout, id), "{}", layout.to_json());
    check_range(&values, &packed, &parsed, bytes);
    check_generator(layout, &parsed, bytes);
}

fn any_id(layout: &Layout, bytes: &mut Bytes<'_>) -> Id {
    if layout.is_integer() {
        return Id::Integer(bytes.unusual_integer());
    }
    let (length, fill) = (layout.bits() as usize / 8, bytes.choose(&[0, 0x41, 0xff]));
    let mut id = bytes.next_bytes(length).to_vec();
    id.resize(length, fill);
    Id::Bytes(id)
}

/// Returns the values of all fields of an ID.
pub(crate) fn values_of<'v>(layout: &'v Layout, parsed: &Parsed<'v>) -> Values<'v> {
    let mut values = layout.values();
    if let Some(nanos) = parsed.unix_nanos() {
        values.time(Value::Nanos(nanos)).expect("a timestamp");
    }
    if let Some(sequence) = parsed.sequence() {
        values.sequence(sequence).expect("a sequence");
    }
    for (name, value) in parsed.bindables() {
        values.bind(name, value).expect("a bindable");
    }
    for (name, value) in parsed.constants() {
        values.constant(name, value).expect("a constant");
    }
    values
}

fn bits_of(id: &Id) -> Vec<u8> {
    match id {
        Id::Integer(id) => id.to_be_bytes().to_vec(),
        Id::Bytes(id) => id.clone(),
        other => unreachable!("{other}"),
    }
}

/// Returns an ID's bits, with unused fields cleared.
fn used_bits(layout: &Layout, id: &Id) -> Vec<u8> {
    let mut bits = bits_of(id);
    for field in layout.describe().fields().iter().filter(|field| field.kind == "unused") {
        for bit in field.offset..field.offset + field.bits {
            bits[bit as usize / 8] &= !(0x80 >> (bit % 8));
        }
    }
    bits
}

/// Checks that a time range, computed with an ID's bindables and constants, contains the ID if and only if it contains the
/// ID's time.
fn check_range(values: &Values<'_>, id: &Id, parsed: &Parsed<'_>, bytes: &mut Bytes<'_>) {
    let Some(now) = parsed.unix_ms() else {
        return assert_eq!(values.time_range(0, 1).unwrap_err().kind(), ErrorKind::UnknownField);
    };
    let from = now.saturating_sub(bytes.unusual_integer() >> 32);
    let to = from.saturating_add(bytes.unusual_integer() >> 32);
    match values.time_range(from, to) {
        Ok((lowest, highest)) => {
            assert_eq!((lowest..=highest).contains(id), (from..to).contains(&now), "{from}..{to}");
        }
        Err(error) => {
            let kind = check_message(&error).kind();
            assert!([ErrorKind::TimeOutOfRange, ErrorKind::OutOfRange].contains(&kind), "{error}");
        }
    }
}

/// Checks a generator whose clock returns times near an ID's time. Each call either fails or returns an ID that contains
/// the clock's time. A second generator, restored from the first generator's snapshot, must not repeat any of these IDs.
fn check_generator(layout: &Layout, parsed: &Parsed<'_>, bytes: &mut Bytes<'_>) {
    let now = parsed.unix_nanos().and_then(|nanos| i64::try_from(nanos).ok()).unwrap_or_default();
    let clock = ManualClock::new(now);
    let build = || {
        let mut builder = Generator::builder(layout.clone()).clock(&clock);
        for (name, value) in parsed.bindables() {
            builder = builder.bind(name, value.into_owned());
        }
        builder.sequence_only(layout.timestamp().is_err()).max_wait(Duration::ZERO)
    };
    let Ok(ids) = build().build() else { return };
    let mut made = Vec::new();
    let mut note = |ids: &Generator<&ManualClock>, reading| {
        if let Ok(id) = ids.generate() {
            assert_eq!(id, expected_id(ids, &id, reading), "{}", layout.to_json());
            made.push(id);
        }
    };
    let mut reading = now;
    for _ in 0..bytes.number_below(4) {
        reading = now.saturating_add(bytes.unusual_integer());
        clock.set_unix_nanos(reading);
        note(&ids, reading);
    }
    let snapshot = ids.close().expect("an open generator");
    note(&build().restore(snapshot).expect("what was left"), reading);
    let count = made.len();
    made.sort();
    made.dedup();
    assert_eq!(made.len(), count, "{}", layout.to_json());
}

/// Returns the expected ID, which is packed from the generator's values, a clock reading, and the sequence number of `id`.
fn expected_id(ids: &Generator<&ManualClock>, id: &Id, reading: i64) -> Id {
    let (layout, mut values) = (ids.layout(), ids.values());
    if layout.timestamp().is_ok() {
        values.time(Value::Nanos(reading.into())).expect("a timestamp");
    }
    let sequence = layout.parse(id).expect("an ID").sequence();
    values.sequence(sequence.expect("a sequence of a generator")).expect("a sequence");
    values.pack().expect("all that an ID holds")
}
