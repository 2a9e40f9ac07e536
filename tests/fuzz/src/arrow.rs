//! Arrow columns from other producers, in every layout and with arbitrary faults. The results are compared with those of
//! parsing one string at a time.
//!
//! Buffers are as long as their column claims, because a reader cannot verify their length. Every other struct member,
//! offset, view or key may be arbitrary.

use std::sync::atomic::Ordering;

use polyflake::{randflake::Randflake, sno::Sno};
use polyflake_columns::{Fault, texts::Textual};

use crate::{
    bytes::Bytes,
    producer::{Buffer, ForeignChunks, ForeignColumn, Layout, column},
    slices::chunks_of_16,
};

/// The maximum number of items in a column. With longer columns, each input would take too long to process.
const MAX_ITEMS: usize = 24;

/// Reads a column of strings, first intact and then with faults.
pub(crate) fn columns(input: &[u8]) {
    let mut bytes = Bytes(input);
    let texts = texts(&mut bytes);
    let layout = match bytes.number_below(5) {
        0 => Layout::Fixed(bytes.number_below(24)),
        1 => Layout::Fixed(16),
        2 => Layout::Offsets32,
        3 => Layout::Offsets64,
        _ => Layout::Views,
    };
    let (nulls, before) = (bytes.unusual_integer(), bytes.number_below(4));
    let is_null = |at: usize| nulls.cast_unsigned() >> (at % 64) & 1 == 1;
    let has_nulls = bytes.number_below(2) == 1;
    let mut whole = column(layout, bytes.number_below(2) == 1, &texts, before);
    if has_nulls {
        whole = whole.with_nulls(|at| at >= before && is_null(at - before));
    }
    let items: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| (!(has_nulls && is_null(at))).then(|| encode_for_layout(layout, text)))
        .collect();
    check::<Sno>(&whole, layout, &items);
    check::<Randflake>(&whole, layout, &items);
    let keys: Vec<usize> = (0..bytes.number_below(MAX_ITEMS))
        .map(|_| bytes.number_below(items.len().max(1)))
        .collect();
    if items.is_empty() {
        return;
    }
    let selected: Vec<_> = keys.iter().map(|key| items[*key].clone()).collect();
    let keys: Vec<i64> = keys.iter().map(|key| i64::try_from(*key).expect("few")).collect();
    let dictionary =
        ForeignColumn::from_keys("l", keys.len(), Buffer::from_i64s(&keys), whole.clone());
    check::<Sno>(&dictionary, layout, &selected);
    check::<Randflake>(&dictionary, layout, &selected);
    let chosen = if bytes.number_below(2) == 1 { dictionary } else { whole };
    let faulty = corrupt_column(&mut bytes, chosen.clone());
    assert!(has_detectable_faults(&chosen, &faulty), "{faulty:?}");
    read_with_every_reader(&faulty);
    let stream = ForeignChunks {
        pieces: vec![faulty.clone(), faulty],
        fails_at: Some(bytes.number_below(6)),
        ..ForeignChunks::default()
    };
    let (pieces, held) = stream.collect();
    drop(pieces.map(|pieces| pieces.ids::<Sno>().map(drop)));
    assert_eq!(held.load(Ordering::Relaxed), 0);
}

/// Returns the strings of several IDs, a few of which have a changed byte or the wrong length.
fn texts(bytes: &mut Bytes<'_>) -> Vec<Vec<u8>> {
    let count = bytes.number_below(MAX_ITEMS);
    let mut texts: Vec<_> = chunks_of_16(bytes.0)
        .take(count)
        .map(|chance| match chance[15] % 3 {
            0 => {
                Randflake::from_u64(u64::from_le_bytes(chance.as_chunks().0[0]) >> (chance[8] % 64))
                    .to_string()
            }
            _ => Sno::from_bytes(std::array::from_fn(|at| chance[at])).to_string(),
        })
        .map(String::into_bytes)
        .collect();
    for _ in 0..bytes.number_below(3).min(count) {
        let (at, change) = (bytes.number_below(count), bytes.byte());
        let text = &mut texts[at];
        if bytes.number_below(3) == 0 {
            text.resize(bytes.number_below(40), change);
        } else {
            let place = bytes.number_below(text.len().max(1));
            text.iter_mut().skip(place).take(1).for_each(|byte| *byte = change);
        }
    }
    texts
}

/// Returns the bytes that the layout stores for a string. A fixed-width layout pads or truncates the string.
fn encode_for_layout(layout: Layout, text: &[u8]) -> Vec<u8> {
    let mut kept = text.to_vec();
    if let Layout::Fixed(width) = layout {
        kept.resize(width, 0);
    }
    kept
}

/// Compares a column's IDs or error with the results of parsing each string individually. `None` represents a null.
fn check<I: Textual + PartialEq + std::fmt::Debug>(
    column: &ForeignColumn,
    layout: Layout,
    items: &[Option<Vec<u8>>],
) {
    let mut expected = Ok(vec![]);
    for (item, text) in items.iter().enumerate() {
        let Some(text) = text else {
            expected = Err((None, item));
            break;
        };
        let is_padded = I::IS_PADDED && matches!(layout, Layout::Fixed(_));
        let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let text = if is_padded { &text[..end] } else { text };
        match (I::parse(&String::from_utf8_lossy(text)), &mut expected) {
            (Ok(id), Ok(ids)) => ids.push(id),
            (Err(error), _) => {
                expected = Err((Some((error.kind(), error.position())), item));
                break;
            }
            (Ok(_), Err(_)) => unreachable!("the loop ends there"),
        }
    }
    let (pieces, held) = column.export();
    let read = pieces.ids::<I>().map_err(|fault| match fault {
        Fault::Null(item) => (None, item),
        Fault::Rejected(error) => {
            (Some((error.kind(), error.position())), error.item().expect("an item"))
        }
        other => panic!("{other:?}: {column:?}"),
    });
    assert_eq!(read, expected, "{column:?}");
    drop(pieces);
    assert_eq!(held.load(Ordering::Relaxed), 0);
}

/// Reads a column with every reader. Each reader either fails or returns at most as many items as the column claims.
fn read_with_every_reader(column: &ForeignColumn) {
    let (pieces, held) = column.export();
    let most = usize::try_from(column.length).unwrap_or(0);
    let within = |read: Result<usize, Fault>| {
        assert!(read.map_or(true, |count| column.length >= 0 && count <= most), "{column:?}");
    };
    within(pieces.ids::<Sno>().map(|ids| ids.len()));
    within(pieces.ids::<Randflake>().map(|ids| ids.len()));
    within(pieces.packed(16).map(|bytes| bytes.len() / 16));
    within(pieces.packed(10).map(|bytes| bytes.len() / 10));
    within(pieces.integers().map(|integers| integers.len()));
    drop(pieces);
    assert_eq!(held.load(Ordering::Relaxed), 0);
}

/// Adds a few faults to the column or to its dictionary's values. A fault can reduce a length, or make it exceed the memory
/// of any machine.
fn corrupt_column(bytes: &mut Bytes<'_>, mut whole: ForeignColumn) -> ForeignColumn {
    for _ in 0..=bytes.number_below(3) {
        match bytes.number_below(4) {
            0 if whole.dictionary.1.is_some() => {
                let values = whole.dictionary.1.take().expect("values");
                whole.dictionary.1 = Some(Box::new(corrupt_column_once(bytes, *values)));
            }
            1 if whole.dictionary.0.is_some() => {
                let kind = whole.dictionary.0.as_mut().expect("values");
                kind.schema_is_released = bytes.number_below(2) == 1;
                kind.format = unsupported_format(bytes);
            }
            2 if whole.dictionary.0.is_some() => match bytes.number_below(3) {
                0 => whole.dictionary.0 = None,
                1 => whole.dictionary.1 = None,
                _ => {
                    whole
                        .dictionary
                        .1
                        .iter_mut()
                        .for_each(|values| values.array_is_released = true);
                }
            },
            _ => whole = corrupt_column_once(bytes, whole),
        }
    }
    whole
}

/// Returns whether readers can be expected to detect a column's faults. The column's length and offset must not have
/// increased, unless they now exceed the memory of any machine.
fn has_detectable_faults(before: &ForeignColumn, after: &ForeignColumn) -> bool {
    const MAX_ITEMS: i64 = 1 << 47;
    let counts = [(before.length, after.length), (before.offset, after.offset)];
    let values = before.dictionary.1.as_deref().zip(after.dictionary.1.as_deref());
    counts.into_iter().all(|(was, is)| is <= was || is > MAX_ITEMS)
        && values.is_none_or(|(before, after)| has_detectable_faults(before, after))
}

/// Returns a format that no reader accepts for strings or integers, and whose items may be wider than those in the column.
/// `None` represents a null pointer.
fn unsupported_format(bytes: &mut Bytes<'_>) -> Option<String> {
    let formats = [
        "",
        "i",
        "n",
        "b",
        "w:",
        "w:-1",
        "w:99999999999999999999",
        "w:x",
        "+s",
        "+l",
        "tsu:",
        "\u{e9}",
    ];
    (bytes.number_below(8) > 0).then(|| bytes.choose(&formats).to_owned())
}

fn corrupt_column_once(bytes: &mut Bytes<'_>, mut column: ForeignColumn) -> ForeignColumn {
    // Use only lengths that fit in the buffers, or that exceed the memory of any machine.
    let shorter = |bytes: &mut Bytes<'_>, length: i64| match bytes.number_below(4) {
        0 => bytes.unusual_integer() | i64::MIN,
        1 => i64::MAX - i64::from(bytes.byte()),
        _ if (0..=64).contains(&length) => length * i64::from(bytes.byte()) / 256,
        // The length already exceeds the memory of any machine. Even a fraction of this length would exceed the buffers, so
        // leave the length unchanged.
        _ => length,
    };
    match bytes.number_below(10) {
        0 => column.length = shorter(bytes, column.length),
        1 => column.offset = shorter(bytes, column.offset),
        2 => column.null_count = bytes.unusual_integer(),
        3 => {
            let count = i64::try_from(column.buffers.len()).expect("few");
            column.n_buffers = Some(shorter(bytes, count));
        }
        4 => column.has_buffers = false,
        5 => column.shift = bytes.number_below(8),
        6 => column.array_is_released = true,
        7 => {
            let at = bytes.number_below(column.buffers.len());
            column.buffers[at] = None;
        }
        8 => column.schema_is_released = true,
        _ => {
            if column.dictionary.1.is_some() {
                corrupt_keys(bytes, &mut column);
            } else if column.format.as_ref().is_some_and(|format| !format.starts_with('w')) {
                corrupt_offsets(bytes, &mut column);
            } else {
                column.format = unsupported_format(bytes);
            }
        }
    }
    column
}

fn corrupt_keys(bytes: &mut Bytes<'_>, column: &mut ForeignColumn) {
    let keys: Vec<_> = (0..MAX_ITEMS).map(|_| bytes.unusual_integer()).collect();
    column.buffers[1] = Some(Buffer::from_i64s(&keys));
}

/// Replaces an offset or part of a view. The last offset stays unchanged, because readers cannot check it.
fn corrupt_offsets(bytes: &mut Bytes<'_>, column: &mut ForeignColumn) {
    let text = column.buffers.get(2).and_then(Option::as_ref).map_or(0, Buffer::len);
    let Some(places) = column.buffers.get_mut(1).and_then(Option::as_mut) else { return };
    let format = column.format.as_deref().unwrap_or_default();
    if format.starts_with('v') {
        let (at, part) = (bytes.number_below(places.len() / 16), bytes.number_below(4) * 4);
        if at * 16 + part < places.len() {
            places.overwrite(at * 16 + part, &bytes.unusual_integer().to_ne_bytes()[..4]);
        }
        return;
    }
    let width = if matches!(format, "u" | "z") { 4 } else { 8 };
    let at = bytes.number_below((places.len() / width).saturating_sub(1));
    // If the length was shortened, this may be the last offset, so the new value must be either within the text or
    // negative.
    let place = i64::try_from(bytes.number_below(text + 1)).expect("a short text");
    let place = if bytes.number_below(2) == 1 { place } else { -1 - place };
    if at * width < places.len() && width == 8 {
        places.overwrite(at * width, &place.to_ne_bytes());
    } else if at * width < places.len() {
        let place = i32::try_from(place).expect("a short text");
        places.overwrite(at * width, &place.to_ne_bytes());
    }
}

/// Corrupts a column twice, and asserts that its faults are still detectable. The first fault makes a length exceed the
/// memory of any machine. The second fault must not replace that length with a fraction of it.
#[test]
fn a_column_corrupted_twice_is_valid_input() {
    for part in [0, 1] {
        let whole = column(Layout::Fixed(16), false, &[vec![b'2'; 16]], 1);
        let huge = corrupt_column_once(&mut Bytes(&[part, 0, 1, 0, 7]), whole.clone());
        let twice = corrupt_column_once(&mut Bytes(&[part, 0, 2, 0, 255]), huge);
        assert!(has_detectable_faults(&whole, &twice), "{twice:?}");
    }
}
