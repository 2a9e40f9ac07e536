//! Interprets IDs with the user's own layouts, and decrypts Randflakes with the user's secret.

use alloc::{borrow::ToOwned, vec::Vec};

use polyflake::{
    Result,
    layout::{Layout, Parsed},
    randflake::{self, Codec, Randflake},
};

use crate::{
    Context,
    bits::Bits,
    formats::Scale,
    odds::{self, Cost},
    reading::{Field, FormatName, Origin, Reading, Role, Time},
    texts,
};

/// The rarity of the user's own layouts. An ID is more likely to have one of these layouts than any other format.
const RARITY: u32 = 0;

/// Interprets an integer as a snowflake of the user's epoch.
fn read_with_epoch(bits: &Bits, context: &Context<'_>) -> Option<Reading> {
    let epoch_ms = context.epoch_ms.filter(|_| bits.len == 64)?;
    let field = |name: &str, role, offset, bits_of: u32| Field {
        name: name.to_owned(),
        role,
        offset,
        bits: bits_of,
        value: Some(bits.field(offset, bits_of)),
    };
    let fields: Vec<Field> = [
        field("time", Role::Time, 0, 42),
        field("node", Role::WorkerId, 42, 10),
        field("sequence", Role::Sequence, 52, 12),
    ]
    .into();
    let scale = Scale { tick_nanos: 1_000_000, epoch_ms, first_ms: epoch_ms };
    let ms = i64::try_from(bits.field(0, 42)).ok().and_then(|ms| ms.checked_add(epoch_ms));
    let time = Time { scale, bits: 42, unix_ms: ms };
    let named = FormatName {
        name: "snowflake-epoch",
        title: "snowflake of your epoch",
        rarity: RARITY,
        origin: Origin::Epoch,
    };
    let cost = cost(&fields);
    Some(Reading::new(named, bits, fields, cost, Some(time), context.now_ms))
}

/// Interprets a string according to the user's layouts, and appends the results to `readings`. Only integers and
/// hexadecimal strings can match a layout.
pub(crate) fn read_text(text: &str, context: &Context<'_>, readings: &mut Vec<Reading>) {
    if let Some(id) = texts::parse_integer(text) {
        read_bits(Bits::from_number(id.into(), 64), context, true, readings);
    }
    if let Some(bytes) = texts::parse_uuid(text).or_else(|| texts::parse_hex(text)) {
        read_bits(Bits::from_bytes(&bytes), context, false, readings);
    }
}

/// Interprets bytes according to the user's layouts, and appends the results to `readings`.
pub(crate) fn read_bytes(bytes: &[u8], context: &Context<'_>, readings: &mut Vec<Reading>) {
    for integer in [true, false] {
        read_bits(Bits::from_bytes(bytes), context, integer, readings);
    }
}

fn read_bits(
    bits: Option<Bits>,
    context: &Context<'_>,
    integer: bool,
    readings: &mut Vec<Reading>,
) {
    let Some(bits) = bits else { return };
    if integer {
        readings.extend(read_with_epoch(&bits, context));
    }
    let fitting = |layout: &Layout| layout.is_integer() == integer && layout.bits() == bits.len;
    for (name, layout) in context.layouts.iter().filter(|(_, layout)| fitting(layout)) {
        readings.extend(read_with_layout(name, layout, &bits, context.now_ms));
    }
}

/// Interprets an ID according to a layout. Returns `None` if the layout's constants differ from the ID's bits.
fn read_with_layout(name: &str, layout: &Layout, bits: &Bits, now_ms: i64) -> Option<Reading> {
    let parsed = match bits.as_bytes().try_into().map(i64::from_be_bytes) {
        Ok(id) if layout.is_integer() => layout.parse_integer(id).ok()?,
        _ => layout.parse_bytes(bits.as_bytes()).ok()?,
    };
    let again = repack(layout, &parsed).ok()?;
    let figures = layout.describe();
    let fields = figures.fields().iter().map(|of| Field {
        name: of.name().to_owned(),
        role: role(of.kind),
        offset: of.offset,
        bits: of.bits,
        value: (of.bits <= 128).then(|| bits.field(of.offset, of.bits)),
    });
    let fields: Vec<Field> = fields.collect();
    let same = |field: &Field| {
        let mut places = field.offset..field.offset + field.bits;
        places.all(|at| again.field(at, 1) == bits.field(at, 1))
    };
    if !fields.iter().filter(|field| field.role == Role::Fixed).all(same) {
        return None;
    }
    let bits_of_time = fields.iter().find(|field| field.role == Role::Time).map(|field| field.bits);
    let time = parsed.unix_ms().zip(figures.first_ms).zip(bits_of_time);
    let time = time.map(|((ms, first), bits)| {
        let last = figures.last_ms;
        let span = u128::from(last.unwrap_or(i64::MAX).abs_diff(first)) * 1_000_000;
        let tick = u64::try_from(span >> bits.min(127)).unwrap_or(u64::MAX).max(1);
        let scale = Scale { tick_nanos: tick, epoch_ms: first, first_ms: first };
        Time { scale, bits, unix_ms: Some(ms) }
    });
    let named = FormatName { name, title: name, rarity: RARITY, origin: Origin::Reader };
    let cost = cost(&fields);
    Some(Reading::new(named, bits, fields, cost, time, now_ms))
}

/// Packs the parsed values and the layout's constants into an ID.
fn repack(layout: &Layout, parsed: &Parsed<'_>) -> Result<Bits> {
    let mut values = layout.values();
    if let Some(ms) = parsed.unix_ms() {
        values.time(ms)?;
    }
    if let Some(sequence) = parsed.sequence() {
        values.sequence(sequence)?;
    }
    for (name, value) in parsed.bindables() {
        values.bind(name, value)?;
    }
    let id = values.pack()?;
    let integer = id.as_integer().map(i64::to_be_bytes);
    let bytes = integer.as_ref().map_or(id.as_bytes(), |bytes| Some(bytes.as_slice()));
    Ok(bytes.and_then(Bits::from_bytes).expect("no more bits than were parsed"))
}

fn role(kind: &str) -> Role {
    match kind {
        "timestamp" => Role::Time,
        "sequence" => Role::Sequence,
        "bindable" => Role::WorkerId,
        _ => Role::Fixed,
    }
}

/// Decrypts a Randflake, and returns its reading with the decrypted fields and bits.
pub(crate) fn decrypt_reading(bits: &Bits, codec: &Codec, now_ms: i64) -> Reading {
    let id = u64::try_from(bits.field(0, 64)).expect("64 bits");
    let parts = codec.inspect(Randflake::from_u64(id));
    let scale = Scale {
        tick_nanos: 1_000_000_000,
        epoch_ms: randflake::EPOCH * 1000,
        first_ms: randflake::EPOCH * 1000,
    };
    let field = |name: &str, role, offset, bits, value: u128| Field {
        name: name.to_owned(),
        role,
        offset,
        bits,
        value: Some(value),
    };
    let ticks = (parts.timestamp - randflake::EPOCH).cast_unsigned();
    let raw = u128::from(ticks) << 34 | u128::from(parts.node) << 17 | u128::from(parts.sequence);
    let bits = &Bits::from_number(raw, 64).expect("fields of 64 bits");
    let fields = [
        field("time", Role::Time, 0, 30, ticks.into()),
        field("node", Role::WorkerId, 30, 17, parts.node.into()),
        field("sequence", Role::Sequence, 47, 17, parts.sequence.into()),
    ];
    let time = Time { scale, bits: 30, unix_ms: Some(parts.unix_ms()) };
    let named =
        FormatName { name: "randflake", title: "Randflake", rarity: 1, origin: Origin::Ours };
    let cost = cost(&fields);
    Reading::new(named, bits, fields.into(), cost, Some(time), now_ms)
}

/// Returns the total cost of fields whose typical values are unknown. Worker IDs of 16 or more bits usually contain
/// addresses or random bits, so all their values are equally likely.
fn cost(fields: &[Field]) -> Cost {
    let usual = |field: &Field| -> Option<&[u64]> {
        (field.role == Role::WorkerId && field.bits >= 16).then_some(&[])
    };
    fields.iter().fold(Cost::bits(0), |cost, field| cost + odds::field_cost(field, usual(field)))
}
