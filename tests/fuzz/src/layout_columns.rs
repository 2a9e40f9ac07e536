//! Parses and packs columns of a layout's fields, and compares the results with those of processing one ID at a time.

use polyflake::{
    ErrorKind, Result,
    layout::{FieldIndex, Id, Layout, Parsed, Values},
};

use crate::{layout::values_of, verdict::check_message};

/// Checks every column of several valid IDs, and then packs these columns.
pub(crate) fn check(layout: &Layout, ids: &[Id]) {
    let parsed: Vec<_> = ids.iter().filter_map(|id| layout.parse(id).ok()).collect();
    let ids: Vec<_> = ids.iter().filter(|id| layout.parse(id).is_ok()).cloned().collect();
    let columns: Vec<_> = field_indices(layout)
        .into_iter()
        .filter_map(|field| column(layout, field, &ids, &parsed))
        .collect();
    let Some(first) = parsed.first() else { return };
    let base = values_of(layout, first);
    let given: Vec<_> = columns.iter().map(|(field, column)| (*field, &column[..])).collect();
    // The start of the millisecond that contains a tick may be in an earlier tick, or before the first tick.
    let one_by_one: Result<Vec<_>> =
        (0..ids.len()).map(|at| pack_one(base.clone(), &given, at)).collect();
    match (pack_all(&base, &given, ids.len()), one_by_one) {
        (Ok(all), Ok(one_by_one)) => assert_eq!(all, one_by_one, "{}", layout.to_json()),
        (all, one_by_one) => assert_eq!(
            all.map_err(|error| error.kind()),
            one_by_one.map_err(|error| check_message(&error).kind()),
            "{}",
            layout.to_json()
        ),
    }
}

/// Returns the indexes of all fields that have values.
fn field_indices(layout: &Layout) -> Vec<FieldIndex> {
    let bindables = layout.bindable_names().map(|name| layout.bindable(name));
    let constants = layout.constant_names().map(|name| layout.constant(name));
    let fields = [layout.timestamp(), layout.sequence()].into_iter();
    fields.chain(bindables).chain(constants).flatten().collect()
}

/// Returns one field of each ID, or `None` if the field is not an integer or is too wide for a column.
fn column(
    layout: &Layout,
    field: FieldIndex,
    ids: &[Id],
    parsed: &[Parsed<'_>],
) -> Option<(FieldIndex, Vec<i64>)> {
    let mut column = vec![0; ids.len()];
    let outcome = match integers_or_bytes(ids) {
        Ok(ids) if layout.is_integer() => layout.integer_column(field, &ids, &mut column),
        Ok(_) => layout.bytes_column(field, &[], &mut column),
        Err(ids) => layout.bytes_column(field, &ids, &mut column),
    };
    if let Err(error) = outcome {
        assert_eq!(check_message(&error).kind(), ErrorKind::InvalidType, "{}", layout.to_json());
        return None;
    }
    let expected = parsed.iter().map(|parsed| parsed.integer(field).expect("an integer"));
    assert!(expected.eq(column.iter().copied().map(i128::from)), "{}", layout.to_json());
    Some((field, column))
}

/// Converts IDs to the form that the column functions accept.
fn integers_or_bytes(ids: &[Id]) -> std::result::Result<Vec<i64>, Vec<u8>> {
    let mut bytes = Vec::new();
    let mut integers = Vec::new();
    for id in ids {
        match id {
            Id::Integer(id) => integers.push(*id),
            Id::Bytes(id) => bytes.extend(id),
            other => unreachable!("{other}"),
        }
    }
    if bytes.is_empty() { Ok(integers) } else { Err(bytes) }
}

fn pack_one(mut values: Values<'_>, columns: &[(FieldIndex, &[i64])], at: usize) -> Result<Id> {
    for (field, column) in columns {
        values.set(*field, column[at]).expect("a field of the layout");
    }
    values.pack()
}

fn pack_all(
    values: &Values<'_>,
    columns: &[(FieldIndex, &[i64])],
    count: usize,
) -> Result<Vec<Id>> {
    let one = values.pack().expect("values of an ID");
    let (mut integers, mut bytes) = (vec![0; count], Vec::new());
    match one {
        Id::Integer(_) => values
            .pack_columns(columns, &mut integers[..])
            .map(|()| integers.into_iter().map(Id::Integer).collect()),
        Id::Bytes(one) => {
            bytes.resize(count * one.len(), 0);
            let packed = values.pack_columns(columns, &mut bytes[..]);
            packed.map(|()| bytes.chunks(one.len()).map(|id| Id::Bytes(id.to_vec())).collect())
        }
        other => unreachable!("{other}"),
    }
}
