//! The layouts of well-known services.

use alloc::{format, string::String, vec, vec::Vec};
use core::mem;

use crate::{
    Error, Result,
    layout::{
        Field, Layout, Tick, Value,
        fields::validation::{invalid_layout_error, truncate_for_message},
    },
};

/// The names of the presets that [`preset`] accepts.
pub const PRESETS: &[&str] = &["twitter", "discord", "instagram", "sonyflake", "mastodon", "baidu"];

/// Returns the fields of a preset, starting with the most significant one.
fn preset_fields(name: &str) -> Option<Vec<Field>> {
    let time_ms = |bits, epoch_ms| Field::timestamp(bits, Tick::MILLISECOND, epoch_ms);
    Some(match name {
        "twitter" => vec![
            Field::unused(1),
            time_ms(41, 1_288_834_974_657),
            Field::bindable(5, "datacenter"),
            Field::bindable(5, "worker"),
            Field::sequence(12),
        ],
        "discord" => vec![
            time_ms(42, 1_420_070_400_000),
            Field::bindable(5, "worker"),
            Field::bindable(5, "process"),
            Field::sequence(12),
        ],
        "instagram" => {
            vec![time_ms(41, 1_314_220_021_721), Field::bindable(13, "shard"), Field::sequence(10)]
        }
        "sonyflake" => vec![
            Field::unused(1),
            Field::timestamp(39, Tick::TEN_MILLISECONDS, 1_409_529_600_000),
            Field::sequence(8),
            Field::bindable(16, "machine"),
        ],
        "mastodon" => vec![time_ms(48, 0), Field::bindable(16, "sequence_data")],
        "baidu" => vec![
            Field::unused(1),
            Field::timestamp(28, Tick::SECOND, 1_463_673_600_000),
            Field::bindable(22, "worker"),
            Field::sequence(13),
        ],
        _ => return None,
    })
}

/// Returns the layout of a well-known service: `twitter` or `x`, `discord`, `instagram`, `sonyflake`, `mastodon` or
/// `baidu`. Names are case-insensitive.
///
/// A machine field becomes a constant field if `machine` contains a value for it, and a bindable field otherwise. Mastodon
/// and Baidu IDs can only be parsed, not generated, because the low bits of a Mastodon ID are a hash and a sequence number,
/// and the time range of Baidu IDs ended on 2024-11-20.
///
/// # Errors
/// Returns `invalid_layout` if the name is unknown, or `unknown_field` if `machine` names a field that the layout does not
/// have. Returns `invalid_type` or `out_of_range` if the value of a machine field is invalid.
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
    let name = canonical_name(name).ok_or_else(|| unknown_preset_error(name))?;
    let mut fields = preset_fields(name).ok_or_else(|| unknown_preset_error(name))?;
    let plain = Layout::integer(fields.iter().cloned())?;
    let machine = machine.into_iter().map(|(name, value)| Ok((plain.bindable(name)?, value)));
    let machine = machine.collect::<Result<Vec<_>>>()?;
    // The values are applied in the order of the fields, starting with the most significant one. The nested loop avoids the
    // standard library's sort, which would add 2 KB to a wasm module.
    for (index, (field, placed)) in fields.iter_mut().zip(&plain.fields).enumerate() {
        for (_, value) in machine.iter().filter(|(slot, _)| slot.0 == index) {
            placed.write_value(value, &mut plain.blank.clone())?;
            *field = Field::constant(field.bits, &*placed.name, value.clone().into_owned());
        }
    }
    let only_read = matches!(name, "mastodon" | "baidu");
    Ok(Layout { only_read, ..Layout::integer(fields)? })
}

/// Returns the name of a preset as listed in [`PRESETS`]. `x` is the current name of `twitter`.
fn canonical_name(name: &str) -> Option<&'static str> {
    let name = if name.eq_ignore_ascii_case("x") { "twitter" } else { name };
    PRESETS.iter().copied().find(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the error for an unknown name. The error suggests the preset that was probably meant.
#[cold]
fn unknown_preset_error(name: &str) -> Error {
    let name = truncate_for_message(name);
    let nearest = PRESETS.iter().copied().map(|known| (edit_distance(name, known), known)).min();
    let meant = match nearest {
        Some((1..=2, known)) => format!("; did you mean `{known}`?"),
        _ => String::new(),
    };
    invalid_layout_error(format!("expected one of {}, found `{name}`{meant}", PRESETS.join(", ")))
        .with_field("name")
}

/// Returns the Levenshtein distance between two names: the number of bytes to insert, delete or replace to turn one name
/// into the other. The comparison ignores case. While the function runs, `row` contains the distances from the current
/// prefix of `one` to every prefix of `other`.
fn edit_distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, x) in one.bytes().enumerate() {
        let mut diagonal = mem::replace(&mut row[0], i + 1);
        for (j, y) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(!x.eq_ignore_ascii_case(&y));
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}
