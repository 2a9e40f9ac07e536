//! Builds a layout by assigning a position to each field and validating the result.

use alloc::{format, vec::Vec};

use crate::{
    Error, ErrorKind, Result,
    error::Name,
    layout::{Field, Id, Layout, Representation, ResolvedField, Role, ValueType, Width},
};

/// The maximum length of a byte ID, in bytes (1,024 bits).
const MAX_BYTES: usize = 128;

/// The maximum width of an integer in bits.
const MAX_BITS: u32 = 128;

/// The maximum number of fields. A limit is needed because fields may have a width of 0.
const MAX_FIELDS: usize = 1024;

/// Returns an `invalid_layout` error with the given reason.
#[cold]
pub(in crate::layout) fn invalid_layout_error(reason: impl Into<Name>) -> Error {
    Error::with_reason(ErrorKind::InvalidLayout, reason)
}

/// Returns the first 40 characters of a string from an untrusted source.
pub(in crate::layout) fn truncate_for_message(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}

pub(in crate::layout) fn resolve(
    representation: Representation,
    fields: impl IntoIterator<Item = Field>,
) -> Result<Layout> {
    let fields = assign_positions(representation, fields)?;
    let time = find_single_field(&fields, "timestamp", |role| matches!(role, Role::Timestamp(_)))?;
    let sequence =
        find_single_field(&fields, "sequence", |role| matches!(role, Role::Sequence(_)))?;
    check_names(&fields)?;
    fields.iter().try_for_each(|field| check_types(representation, field))?;
    let blank = pack_constants(representation, &fields)?;
    Ok(Layout { representation, fields, time, sequence, blank, only_read: false })
}

/// Assigns a position to each field. The widths must sum to the width of the ID.
fn assign_positions(
    representation: Representation,
    fields: impl IntoIterator<Item = Field>,
) -> Result<Vec<ResolvedField>> {
    if let Representation::Bytes(length) = representation
        && !(1..=MAX_BYTES).contains(&length)
    {
        let reason = format!("expected a byte ID of 1 to {MAX_BYTES} bytes, found {length}");
        return Err(invalid_layout_error(reason));
    }
    let (total, mut sum) = (representation.bits(), 0_u64);
    let mut placed = Vec::new();
    for field in fields {
        if placed.len() == MAX_FIELDS {
            return Err(invalid_layout_error(format!(
                "expected at most {MAX_FIELDS} fields, found more"
            )));
        }
        // Fields beyond the width of the ID are not placed, but their widths are still added, so that the error can state
        // the total. At most 1,024 widths of 32 bits each are added, so the sum cannot overflow 64 bits.
        let offset = u32::try_from(sum).unwrap_or(u32::MAX);
        sum += u64::from(field.bits);
        if sum <= total.into() {
            placed.push(ResolvedField::new(total, offset, field));
        }
    }
    if sum != u64::from(total) {
        return Err(invalid_layout_error(format!(
            "expected widths that sum to {total} bits, found {sum}"
        )));
    }
    Ok(placed)
}

impl ResolvedField {
    fn new(total: u32, offset: u32, Field { name, role, bits, invert }: Field) -> Self {
        let width = Width::new(bits);
        let name = name.unwrap_or_else(|| match role {
            Role::Constant(_) => format!("const-{offset}-{bits}"),
            Role::Bindable(_) => format!("bindable-{offset}-{bits}"),
            _ => role.as_str().into(),
        });
        // For a field of 0 bits at the top of an integer, the shift could be 64 bits, which would overflow.
        let shift = if bits == 0 { 0 } else { total - offset - bits };
        // `unused` bits are 0 in every ID, even if the description marks them as inverted.
        let flip = if invert && role != Role::Unused { width.most } else { 0 };
        let is_other = matches!(role, Role::Timestamp(_) | Role::Unused);
        let plain = bits <= 64 && !is_other && role.kind() == ValueType::Integer;
        Self { name, role, offset, width, shift, flip, invert, plain }
    }
}

/// Returns the index of the layout's only timestamp or sequence field, if any. Fails if there is more than one such field,
/// or if it is wider than 64 bits.
fn find_single_field(
    fields: &[ResolvedField],
    name: &str,
    is: fn(&Role) -> bool,
) -> Result<Option<usize>> {
    let mut found = fields.iter().enumerate().filter(|(_, field)| is(&field.role));
    let Some((index, field)) = found.next() else { return Ok(None) };
    if field.width.bits > 64 {
        let bits = field.width.bits;
        return Err(invalid_layout_error(format!(
            "expected a {name} of at most 64 bits, found {bits}"
        )));
    }
    found.next().map_or(Ok(Some(index)), |_| {
        Err(invalid_layout_error(format!("expected at most one {name}, found two")))
    })
}

/// Checks that the names of constant fields are unique, and that the names of bindable fields are unique.
fn check_names(fields: &[ResolvedField]) -> Result<()> {
    let is_same = |a: &ResolvedField, b: &ResolvedField| {
        a.name == b.name && a.role.as_str() == b.role.as_str()
    };
    for (index, field) in fields.iter().enumerate() {
        let is_named = field.role.is_constant() || field.role.is_bindable();
        if is_named && fields[..index].iter().any(|other| is_same(field, other)) {
            let name = truncate_for_message(&field.name);
            return Err(invalid_layout_error(format!(
                "expected distinct names, found `{name}` twice"
            )));
        }
    }
    Ok(())
}

/// Checks the type of a field. Bytes and strings are only allowed in byte layouts, a sequence must start with an integer,
/// and an integer field can be at most 128 bits wide.
fn check_types(representation: Representation, field: &ResolvedField) -> Result<()> {
    let kind = match &field.role {
        Role::Bindable(kind) => Some(*kind),
        Role::Constant(value) | Role::Sequence(value) => value.kind(),
        Role::Timestamp(_) | Role::Unused => return Ok(()),
    };
    let only_integers =
        representation == Representation::Integer || matches!(field.role, Role::Sequence(_));
    match kind {
        Some(ValueType::Integer) if field.width.bits > MAX_BITS => {
            let (name, bits) = (&field.name, field.width.bits);
            let reason = format!(
                "expected {name} of at most {MAX_BITS} bits, found {bits}: wider fields are bytes or text"
            );
            Err(invalid_layout_error(reason))
        }
        Some(kind) if kind == ValueType::Integer || !only_integers => Ok(()),
        Some(kind) => {
            let (name, kind) = (&field.name, kind.as_str());
            Err(invalid_layout_error(format!("expected an integer for {name}, found {kind}")))
        }
        None => {
            let name = &field.name;
            Err(invalid_layout_error(format!(
                "expected an integer, bytes or text for {name}, found a time"
            )))
        }
    }
}

/// Returns an ID in which only the constants are set. Fails if a constant or the sequence's start value does not fit in its
/// field.
fn pack_constants(representation: Representation, fields: &[ResolvedField]) -> Result<Id> {
    let mut partial = Id::zero(representation);
    for field in fields {
        match &field.role {
            Role::Constant(value) => field.write_value(value, &mut partial)?,
            // Writing the start value to a clone only checks that the value fits. The blank ID itself contains no sequence
            // number, because the generator writes one to each ID.
            Role::Sequence(start) => field.write_value(start, &mut partial.clone())?,
            _ => {}
        }
    }
    Ok(partial)
}
