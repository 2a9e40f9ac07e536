//! The layouts of well-known services.

use alloc::{format, vec::Vec};

use crate::{
    Error, Result,
    layout::{
        Field, Layout, Tick, Value,
        shape::{
            field::Kind,
            fit::{fit, invalid, start_of},
            layout::Shape,
        },
    },
};

/// One field of a preset.
#[derive(Clone, Copy)]
enum Part {
    Unused(u32),
    /// Bits, tick, epoch in Unix milliseconds.
    Time(u32, Tick, i64),
    /// A field of the machine that made the ID: its bits and name.
    Machine(u32, &'static str),
    Sequence(u32),
}

use Part::{Machine, Sequence, Time, Unused};

const MS: Tick = Tick::MILLISECOND;

/// The names that [`preset`] knows, and the fields of each, from the top.
const TABLE: [(&str, &[Part]); 6] = [
    (
        "twitter",
        &[
            Unused(1),
            Time(41, MS, 1_288_834_974_657),
            Machine(5, "datacenter"),
            Machine(5, "worker"),
            Sequence(12),
        ],
    ),
    (
        "discord",
        &[
            Time(42, MS, 1_420_070_400_000),
            Machine(5, "worker"),
            Machine(5, "process"),
            Sequence(12),
        ],
    ),
    ("instagram", &[Time(41, MS, 1_314_220_021_721), Machine(13, "shard"), Sequence(10)]),
    (
        "sonyflake",
        &[
            Unused(1),
            Time(39, Tick::TEN_MILLISECONDS, 1_409_529_600_000),
            Sequence(8),
            Machine(16, "machine"),
        ],
    ),
    ("mastodon", &[Time(48, MS, 0), Machine(16, "sequence_data")]),
    (
        "baidu",
        &[
            Unused(1),
            Time(28, Tick::SECOND, 1_463_673_600_000),
            Machine(22, "worker"),
            Sequence(13),
        ],
    ),
];

/// The names that [`preset`] knows.
pub const PRESETS: [&str; 6] = {
    let mut names = [""; 6];
    let mut i = 0;
    while i < names.len() {
        names[i] = TABLE[i].0;
        i += 1;
    }
    names
};

impl Part {
    fn field(&self) -> Field {
        match *self {
            Unused(bits) => Field::unused(bits),
            Time(bits, tick, epoch_ms) => Field::timestamp(bits, tick, epoch_ms),
            Machine(bits, name) => Field::bindable(bits, name),
            Sequence(bits) => Field::sequence(bits),
        }
    }
}

/// The layout of a service's IDs: `twitter`, `discord`, `instagram`, `sonyflake`, `mastodon` or `baidu`.
///
/// A machine field with a given value becomes a constant; the others are bindables. There is no generator for `mastodon`
/// (the low bits are a hash and a sequence) and `baidu` (its time ended on 2024-11-20): their IDs can only be read.
///
/// # Errors
/// `invalid_layout` for another name, `unknown_field` for a machine field that the layout does not have, `invalid_type` or
/// `out_of_range` for its value.
///
/// ```
/// use polyflake::layout::preset;
///
/// let twitter = preset("twitter", [("datacenter", 11.into()), ("worker", 26.into())])?;
/// let parsed = twitter.parse_integer(1_541_815_603_606_036_480)?;
/// assert_eq!(parsed.unix_ms(), Some(1_656_432_460_105));
/// assert_eq!(parsed.constant("worker")?, 26.into());
/// # Ok::<(), polyflake::Error>(())
/// ```
pub fn preset<'v>(
    name: &str,
    machine: impl IntoIterator<Item = (&'v str, Value<'v>)>,
) -> Result<Layout> {
    let (_, parts) = TABLE.iter().find(|(known, _)| *known == name).ok_or_else(|| unknown(name))?;
    let fields = || parts.iter().map(Part::field).collect::<Vec<Field>>();
    let (plain, mut fields) = (fit(Shape::Integer, fields())?, fields());
    let machine = machine.into_iter().map(|(name, value)| Ok((plain.bindable(name)?, value)));
    let machine = machine.collect::<Result<Vec<_>>>()?;
    // From the top, without the library's sort, which would add 2 KB to a wasm module.
    for (index, described) in fields.iter_mut().enumerate() {
        for (_, value) in machine.iter().filter(|(slot, _)| slot.0 == index) {
            let field = &plain.fields[index];
            field.put(value, &mut plain.blank.clone())?;
            let (name, value) = (Some(field.name.clone()), value.clone().into_owned());
            described.kind = Kind::Constant { name, value };
        }
    }
    let layout = fit(Shape::Integer, fields)?;
    Ok(Layout { only_read: matches!(name, "mastodon" | "baidu"), ..layout })
}

/// The error for a name that is no preset's.
#[cold]
fn unknown(name: &str) -> Error {
    invalid(format!("expected one of {}, found '{}'", PRESETS.join(", "), start_of(name)))
        .of("name")
}
