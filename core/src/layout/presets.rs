//! The layouts of well-known services.

use alloc::{format, vec, vec::Vec};

use super::{
    Field, Layout, Slot, Tick, Value,
    build::{build, invalid},
    field::Kind,
    layout::Shape,
};
use crate::Result;

/// The names that [`preset`] knows.
pub const PRESETS: [&str; 6] =
    ["twitter", "discord", "instagram", "sonyflake", "mastodon", "baidu"];

const MS: Tick = Tick::MILLISECOND;

/// The fields of a preset, from the top.
fn fields(name: &str) -> Option<Vec<Field>> {
    Some(match name {
        "twitter" => vec![
            Field::unused(1),
            Field::timestamp(41, MS, 1_288_834_974_657),
            Field::bindable(5, "datacenter"),
            Field::bindable(5, "worker"),
            Field::sequence(12),
        ],
        "discord" => vec![
            Field::timestamp(42, MS, 1_420_070_400_000),
            Field::bindable(5, "worker"),
            Field::bindable(5, "process"),
            Field::sequence(12),
        ],
        "instagram" => vec![
            Field::timestamp(41, MS, 1_314_220_021_721),
            Field::bindable(13, "shard"),
            Field::sequence(10),
        ],
        "sonyflake" => vec![
            Field::unused(1),
            Field::timestamp(39, Tick::TEN_MILLISECONDS, 1_409_529_600_000),
            Field::sequence(8),
            Field::bindable(16, "machine"),
        ],
        "mastodon" => vec![Field::timestamp(48, MS, 0), Field::bindable(16, "sequence_data")],
        "baidu" => vec![
            Field::unused(1),
            Field::timestamp(28, Tick::SECOND, 1_463_673_600_000),
            Field::bindable(22, "worker"),
            Field::sequence(13),
        ],
        _ => return None,
    })
}

/// The layout of a service's IDs: `twitter`, `discord`, `instagram`, `sonyflake`, `mastodon` or `baidu`.
///
/// A machine field that is given a value becomes a constant; the others are bindables. There is no generator for `mastodon`
/// (the low bits are a hash and a sequence) and `baidu` (its time ended on 2024-11-20): their IDs are only read.
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
    let mut fields = fields(name).ok_or_else(|| {
        invalid(format!("expected one of {}, found {name:?}", PRESETS.join(", ")))
    })?;
    let plain = build(Shape::Integer, fields.clone())?;
    let machine = machine.into_iter().map(|(name, value)| Ok((plain.bindable(name)?, value)));
    let mut machine = machine.collect::<Result<Vec<_>>>()?;
    machine.sort_by_key(|(slot, _)| *slot);
    for (Slot(index), value) in machine {
        let field = &plain.fields[index];
        field.put(&value, &mut plain.blank.clone())?;
        fields[index].kind =
            Kind::Constant { name: Some(field.name.clone()), value: value.into_owned() };
    }
    let layout = build(Shape::Integer, fields)?;
    Ok(Layout { only_read: matches!(name, "mastodon" | "baidu"), ..layout })
}
