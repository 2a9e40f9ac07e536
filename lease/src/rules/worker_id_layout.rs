//! Layouts whose fields contain a leased worker ID.

use core::ops::RangeInclusive;

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use polyflake::layout::{Json, Layout, Tick};

use crate::{Result, Shape, rules::error::out_of_range};

/// Returns the shape for a layout whose constant or bindable fields contain the worker ID. `fields` lists these fields,
/// starting with the most significant one.
///
/// ```
/// use polyflake::layout::preset;
/// use polyflake_lease::layout::shape;
///
/// let sonyflake = preset("sonyflake", [])?;
/// assert_eq!(shape(&sonyflake, &["machine"], 0..=99)?.worker_ids(), 0..=99);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns `out_of_range` if the worker IDs do not fit in the fields; if the fields have more than 52 bits in total; if a
/// field is not an integer constant or bindable field of the layout; if the layout has other bindable fields, for which a
/// lease provides no values; or if the layout has no timestamp or an epoch before 1970.
#[cfg_attr(not(feature = "std"), expect(unreachable_pub, reason = "`layout` has it"))]
pub fn shape(layout: &Layout, fields: &[&str], worker_ids: RangeInclusive<u64>) -> Result<Shape> {
    let worker_id_layout = WorkerIdLayout::new(layout, fields)?;
    if worker_ids.end() > worker_id_layout.all_worker_ids().end() {
        let (last, most) = (worker_ids.end(), worker_id_layout.last);
        return Err(out_of_range(format!("expected worker IDs up to {most}, found {last}")));
    }
    // The fields contain 0 here, so that the shape is the same for all holders, whichever worker ID they lease.
    let text = value_to_json(&worker_id_layout.to_json(0));
    if text.chars().any(char::is_control) {
        return Err(out_of_range("expected names without control characters"));
    }
    Shape::layout(&text, worker_id_layout.time, fields, worker_ids)
}

/// Returns the layout for a generator with a leased worker ID. In this layout, the named fields are constants that contain
/// the worker ID.
///
/// # Errors
/// Returns the same errors that [`shape`] returns for `layout` and `fields`.
pub fn layout_of(layout: &Layout, fields: &[&str], worker_id: u64) -> Result<Layout> {
    let worker_id_layout = WorkerIdLayout::new(layout, fields)?.to_json(worker_id);
    Layout::from_value(worker_id_layout).map_err(|error| out_of_range(error.to_string()))
}

/// A layout whose constant or bindable fields contain a leased worker ID.
pub(crate) struct WorkerIdLayout {
    layout: Json,
    /// The index of each field in the layout's list, the number of worker ID bits below the field, and the field's width.
    parts: Vec<(usize, u32, u32)>,
    last: u64,
    /// The epoch in Unix milliseconds, and the tick in microseconds.
    time: (u64, u64),
}

impl WorkerIdLayout {
    pub(crate) fn new(layout: &Layout, names: &[&str]) -> Result<Self> {
        let mut layout = layout.to_value();
        let fields = layout_fields(&mut layout);
        let time = epoch_and_tick(fields)?;
        let (mut parts, mut below) = (Vec::<(usize, u32, u32)>::new(), 0);
        // The loop runs from the least significant field to the most significant one, so that `below` counts the bits below
        // each field.
        for name in names.iter().rev() {
            let place = fields.iter_mut().position(|field| text(field, "name") == Some(name));
            let found = place.filter(|place| parts.iter().all(|(other, ..)| other != place));
            let width = found.and_then(|place| width_of(&fields[place]));
            let (Some(place), Some(width)) = (found, width) else {
                let reason = format!("expected an integer constant or bindable `{name:.40}`, once");
                return Err(out_of_range(reason));
            };
            parts.push((place, below, width));
            below += width;
        }
        let mut others = fields.iter().enumerate().filter(|(place, field)| {
            let is_named = parts.iter().any(|(other, ..)| other == place);
            text(field, "kind") == Some("bindable") && !is_named
        });
        if let Some((_, field)) = others.next() {
            let name = text(field, "name").unwrap_or_default();
            let reason = format!("expected the lease to set `{name:.40}`, found no value");
            return Err(out_of_range(reason));
        }
        if !(1..=52).contains(&below) {
            return Err(out_of_range(format!("expected fields of 1 to 52 bits, found {below}")));
        }
        Ok(Self { layout, parts, last: (1 << below) - 1, time })
    }

    /// Returns the range of all worker IDs that fit in the fields.
    pub(crate) fn all_worker_ids(&self) -> RangeInclusive<u64> {
        0..=self.last
    }

    /// Returns the layout with the given worker ID as constants in its fields.
    pub(crate) fn to_json(&self, worker_id: u64) -> Json {
        let mut layout = self.layout.clone();
        let fields = layout_fields(&mut layout);
        for (place, below, width) in &self.parts {
            let part = worker_id >> below & ((1 << width) - 1);
            let Json::Object(members) = &mut fields[*place] else { continue };
            // `type` and `value` are removed, because a bindable field has a type but no value, and a constant field
            // derives its type from its value.
            members.retain(|(name, _)| !matches!(&**name, "kind" | "type" | "value"));
            members.push(("kind".to_owned(), Json::Text("constant".to_owned())));
            members.push(("value".to_owned(), Json::Integer(part.cast_signed())));
        }
        layout
    }
}

fn member<'j>(object: &'j Json, name: &str) -> Option<&'j Json> {
    let Json::Object(members) = object else { return None };
    members.iter().find(|(member, _)| member == name).map(|(_, value)| value)
}

fn text<'j>(object: &'j Json, name: &str) -> Option<&'j str> {
    if let Some(Json::Text(text)) = member(object, name) { Some(text) } else { None }
}

fn integer(object: &Json, name: &str) -> Option<i64> {
    if let Some(Json::Integer(number)) = member(object, name) { Some(*number) } else { None }
}

/// Returns the fields of a layout, or an empty slice for a value that is not a layout.
fn layout_fields(layout: &mut Json) -> &mut [Json] {
    let Json::Object(members) = layout else { return &mut [] };
    match members.iter_mut().find(|(name, _)| name == "fields") {
        Some((_, Json::List(fields))) => fields,
        _ => &mut [],
    }
}

/// Returns the width of a constant integer field or a bindable field.
fn width_of(field: &Json) -> Option<u32> {
    let is_number = matches!(text(field, "kind"), Some("constant" | "bindable"))
        && matches!(text(field, "type"), None | Some("integer"));
    integer(field, "bits").filter(|bits| is_number && *bits <= 52)?.try_into().ok()
}

/// Returns the epoch of the timestamp field in Unix milliseconds, and its tick in microseconds.
fn epoch_and_tick(fields: &[Json]) -> Result<(u64, u64)> {
    let time = fields.iter().find(|field| text(field, "kind") == Some("timestamp"));
    let time = time.ok_or_else(|| out_of_range("expected a layout with a timestamp"))?;
    let tick = text(time, "tick").and_then(|tick| tick.parse::<Tick>().ok());
    let epoch = integer(time, "epoch_ms").and_then(|epoch| u64::try_from(epoch).ok());
    match (epoch, tick) {
        (Some(epoch), Some(tick)) => Ok((epoch, tick.as_micros())),
        _ => Err(out_of_range("expected an epoch from 1970 on")),
    }
}

/// Encodes the value as canonical JSON, as defined in docs/leases.md.
fn value_to_json(value: &Json) -> String {
    match value {
        Json::Integer(number) => number.to_string(),
        Json::Text(text) => quote(text),
        Json::Bool(value) => value.to_string(),
        Json::List(items) => {
            format!("[{}]", items.iter().map(value_to_json).collect::<Vec<_>>().join(","))
        }
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            let pairs = members
                .iter()
                .map(|(name, value)| format!("{}:{}", quote(name), value_to_json(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
        }
        _ => "null".to_owned(),
    }
}

/// Returns a string in quotation marks. Control characters are not escaped, because strings that contain them are rejected
/// later.
fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}
