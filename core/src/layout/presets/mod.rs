//! The layouts of well-known services.

mod table;

use alloc::{format, vec::Vec};

use self::table::{Part, TABLE};
use crate::{
    Error, Result,
    layout::{
        Field, Layout, Value,
        shape::{
            field::Kind,
            fit::{fit, invalid, start_of},
            layout::Shape,
        },
    },
};

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
