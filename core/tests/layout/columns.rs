//! Tests packing and parsing columns of many IDs. The results must be the same as if the IDs were packed and parsed one at
//! a time.

use polyflake::{Error, ErrorKind, Result};
use polyflake::{
    FieldDescription,
    layout::{Field, FieldIndex, Id, Layout, Tick, ValueType},
};
use proptest::prelude::*;

use crate::random::{arb_draws, arb_length, plan};

/// Returns the fields that can be columns: named fields, timestamps and sequences.
fn indexed_fields(layout: &Layout) -> Vec<(FieldIndex, FieldDescription)> {
    let slot = |field: &FieldDescription| match field.kind {
        "timestamp" => layout.timestamp().ok(),
        "sequence" => layout.sequence().ok(),
        "constant" => layout.constant(field.name()).ok(),
        "bindable" => layout.bindable(field.name()).ok(),
        _ => None,
    };
    let described = layout.describe();
    let fields = described.fields().iter();
    fields.filter_map(|field| Some((slot(field)?, field.clone()))).collect()
}

/// The same IDs, once as a packed buffer and once as separate values.
struct Ids {
    integers: Vec<i64>,
    bytes: Vec<u8>,
}

impl Ids {
    fn from_noise(layout: &Layout, noise: &[u64]) -> Self {
        if layout.is_integer() {
            return Self {
                integers: noise.iter().map(|n| n.cast_signed()).collect(),
                bytes: vec![],
            };
        }
        let length = layout.bits() as usize / 8;
        let bytes = noise.iter().flat_map(|n| n.to_be_bytes().into_iter().cycle().take(length));
        Self { integers: vec![], bytes: bytes.collect() }
    }

    fn pack_one_by_one(&self, layout: &Layout) -> Vec<Id> {
        if layout.is_integer() {
            return self.integers.iter().map(|id| Id::Integer(*id)).collect();
        }
        let length = layout.bits() as usize / 8;
        self.bytes.chunks(length).map(|id| Id::Bytes(id.into())).collect()
    }

    fn column(&self, layout: &Layout, slot: FieldIndex, count: usize) -> Result<Vec<i64>> {
        let mut column = vec![0; count];
        if layout.is_integer() {
            layout.integer_column(slot, &self.integers, &mut column)?;
        } else {
            layout.bytes_column(slot, &self.bytes, &mut column)?;
        }
        Ok(column)
    }
}

/// Packs columns into IDs. All other values are zero.
fn pack_columns(
    layout: &Layout,
    columns: &[(FieldIndex, &[i64])],
    count: usize,
) -> Result<Vec<Id>> {
    let values = layout.values();
    let mut ids = Ids::from_noise(layout, &vec![0; count]);
    if layout.is_integer() {
        values.pack_columns(columns, &mut ids.integers[..])?;
    } else {
        values.pack_columns(columns, &mut ids.bytes[..])?;
    }
    Ok(ids.pack_one_by_one(layout))
}

fn pack_item(layout: &Layout, columns: &[(FieldIndex, &[i64])], item: usize) -> Result<Id> {
    let mut values = layout.values();
    for (slot, column) in columns {
        values.set(*slot, column[item])?;
    }
    values.pack()
}

/// Returns an integer that is often at or beyond the limits of a field of `bits` bits.
fn value_near_limit(noise: u64, bits: u32) -> i64 {
    match noise % 64 {
        0 => -1,
        1 => 1_i64.checked_shl(bits).unwrap_or(i64::MAX),
        2 => i64::MIN,
        _ => (noise & u64::MAX.checked_shr(64_u32.saturating_sub(bits)).unwrap_or(0)).cast_signed(),
    }
}

fn arb_numbers() -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec(any::<u64>(), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 500 }))]

    #[test]
    fn columns_contain_the_value_of_each_id(bytes in arb_length(), draws in arb_draws(), noise in arb_numbers()) {
        let layout = plan(bytes, &draws).layout().unwrap();
        let ids = Ids::from_noise(&layout, &noise);
        for (slot, field) in indexed_fields(&layout) {
            let column = ids.column(&layout, slot, noise.len());
            let singly: Vec<_> = ids.pack_one_by_one(&layout).iter().map(|id| layout.parse(id)?.integer(slot)).collect();
            match column {
                // Unlike reading a column, parsing a single ID also fails for invalid values in the ID's other fields.
                Ok(column) => for (value, single) in column.into_iter().zip(singly) {
                    prop_assert!(single.is_err() || single == Ok(value.into()), "{field:?} {single:?} {value}");
                },
                // If an invalid string field is above the timestamp, parsing a single ID reports that field first.
                Err(error) if error.kind() == ErrorKind::TimeOutOfRange => {
                    let single = singly[error.item().unwrap()].clone().map_err(|single| single.kind());
                    prop_assert!(matches!(single, Err(ErrorKind::TimeOutOfRange | ErrorKind::InvalidCharacter)), "{single:?}");
                }
                Err(error) => {
                    prop_assert_eq!(error.kind(), ErrorKind::InvalidType);
                    let is_integer = singly.iter().any(Result::is_ok);
                    prop_assert!(field.bits > 64 || !is_integer, "{field:?}");
                }
            }
        }
    }

    #[test]
    fn pack_columns_equals_packing_each_row(bytes in arb_length(), draws in arb_draws(), noise in arb_numbers()) {
        let layout = plan(bytes, &draws).layout().unwrap();
        let epoch = layout.describe().first_ms.unwrap_or(0);
        let columns: Vec<(FieldIndex, Vec<i64>)> = indexed_fields(&layout).into_iter().map(|(slot, field)| {
            let start = if field.kind == "timestamp" { epoch } else { 0 };
            (slot, noise.iter().map(|n| value_near_limit(n.rotate_left(field.offset), field.bits).saturating_add(start)).collect())
        }).collect();
        let columns: Vec<(FieldIndex, &[i64])> = columns.iter().map(|(slot, column)| (*slot, &column[..])).collect();
        match pack_columns(&layout, &columns, noise.len()) {
            Ok(ids) => for (item, id) in ids.into_iter().enumerate() {
                prop_assert_eq!(pack_item(&layout, &columns, item), Ok(id));
            },
            Err(error) if error.item().is_some() => {
                prop_assert!(pack_item(&layout, &columns, error.item().unwrap()).is_err());
            }
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::InvalidType),
        }
    }
}

fn integer_and_byte_layouts() -> (Layout, Layout) {
    let fields = || {
        [
            Field::unused(1),
            Field::timestamp(39, Tick::from_millis(10).unwrap(), 1_409_529_600_000),
            Field::bindable(8, "shard").inverted(),
            Field::sequence(16),
        ]
    };
    (Layout::integer(fields()).unwrap(), Layout::bytes(8, fields()).unwrap())
}

#[track_caller]
fn assert_rejected<T: std::fmt::Debug>(outcome: Result<T>, kind: ErrorKind, item: Option<usize>) {
    let error: Error = outcome.unwrap_err();
    assert_eq!((error.kind(), error.item()), (kind, item), "{error}");
}

#[test]
fn integer_and_byte_ids_have_the_same_bits() {
    let (integers, bytes) = integer_and_byte_layouts();
    let (times, shards, sequences) =
        ([1_763_650_000_000, 1_763_650_000_010], [7, 255], [0, 65_535]);
    let all = |layout: &Layout| {
        let slots = [layout.timestamp(), layout.bindable("shard"), layout.sequence()];
        let [time, shard, sequence] = slots.map(Result::unwrap);
        [(time, times), (shard, shards), (sequence, sequences)]
    };
    let mut ids = [0; 2];
    let columns = all(&integers);
    let columns = columns.each_ref().map(|(slot, column)| (*slot, &column[..]));
    integers.values().pack_columns(&columns, &mut ids[..]).unwrap();
    let mut packed = [0; 16];
    bytes.values().pack_columns(&columns, &mut packed[..]).unwrap();
    assert_eq!(packed, *ids.map(i64::to_be_bytes).as_flattened());
    for (slot, column) in all(&bytes) {
        let mut read = [0; 2];
        bytes.bytes_column(slot, &packed, &mut read).unwrap();
        assert_eq!(read, column);
    }
}

#[test]
fn invalid_columns_are_rejected_before_anything_is_written() {
    let (layout, bytes) = integer_and_byte_layouts();
    let slots = [layout.timestamp(), layout.bindable("shard"), layout.sequence()];
    let [time, shard, sequence] = slots.map(Result::unwrap);
    let good: [(FieldIndex, &[i64]); 3] =
        [(time, &[1_763_650_000_000; 2]), (shard, &[1, 2]), (sequence, &[3, 4])];
    let with = |at: usize, column: (FieldIndex, &'static [i64])| {
        let (mut columns, mut ids) = (good, [-5_i64; 2]);
        columns[at] = column;
        let outcome = layout.values().pack_columns(&columns, &mut ids[..]);
        assert!(outcome.is_ok() || ids == [-5; 2]);
        outcome
    };
    assert_eq!(with(0, good[0]), Ok(()));
    assert_rejected(with(0, (time, &[1_763_650_000_000, 0])), ErrorKind::TimeOutOfRange, Some(1));
    assert_rejected(with(1, (shard, &[256, 0])), ErrorKind::OutOfRange, Some(0));
    assert_rejected(with(2, (sequence, &[0, -1])), ErrorKind::OutOfRange, Some(1));
    assert_rejected(with(2, (sequence, &[0])), ErrorKind::InvalidLength, None);
    assert_rejected(with(2, (shard, &[1, 2])), ErrorKind::MissingField, None);

    let mut ids = [0; 2];
    assert_rejected(
        layout.values().pack_columns(&good[..2], &mut ids[..]),
        ErrorKind::MissingField,
        None,
    );
    assert_rejected(bytes.values().pack_columns(&good, &mut ids[..]), ErrorKind::InvalidType, None);
    assert_rejected(
        layout.values().pack_columns(&good, &mut [0_u8; 16][..]),
        ErrorKind::InvalidType,
        None,
    );
    assert_rejected(
        bytes.values().pack_columns(&good, &mut [0_u8; 15][..]),
        ErrorKind::InvalidLength,
        None,
    );
    assert_rejected(layout.bytes_column(time, &[0; 16], &mut ids), ErrorKind::InvalidType, None);
    assert_rejected(bytes.bytes_column(time, &[0; 15], &mut ids), ErrorKind::InvalidLength, None);
    assert_rejected(bytes.integer_column(time, &[0; 2], &mut ids), ErrorKind::InvalidType, None);
    assert_rejected(layout.integer_column(time, &[0; 3], &mut ids), ErrorKind::InvalidLength, None);

    let wide = Layout::bytes(
        16,
        [Field::bindable(72, "wide"), Field::bindable_of(ValueType::Text, 56, "text")],
    )
    .unwrap();
    for name in ["wide", "text"] {
        let slot = wide.bindable(name).unwrap();
        assert_rejected(wide.bytes_column(slot, &[0; 32], &mut ids), ErrorKind::InvalidType, None);
        assert_rejected(
            wide.values().pack_columns(&[(slot, &[1])], &mut [0_u8; 16][..]),
            ErrorKind::InvalidType,
            None,
        );
    }
    let many = Layout::integer((0..64).map(|_| Field::bindable(1, None))).unwrap();
    let foreign = many.bindable("bindable-63-1").unwrap();
    assert_rejected(
        layout.integer_column(foreign, &[0; 2], &mut ids),
        ErrorKind::UnknownField,
        None,
    );
    assert_rejected(with(2, (foreign, &[0, 0])), ErrorKind::UnknownField, None);
}

#[test]
fn the_first_time_past_64_bits_is_reported() {
    let tick = Tick::from_micros(u64::MAX / 2).unwrap();
    let layout = Layout::integer([Field::timestamp(64, tick, 0)]).unwrap();
    let (time, mut column) = (layout.timestamp().unwrap(), [7; 3]);
    assert_rejected(
        layout.integer_column(time, &[1, i64::MAX, i64::MIN], &mut column),
        ErrorKind::TimeOutOfRange,
        Some(1),
    );
    assert_eq!((column[0] > 7, column[1..] == [7, 7]), (true, true));
}
