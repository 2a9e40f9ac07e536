//! Tests of Arrow columns from other libraries. In every layout, decoding a column must have the same result as decoding
//! each item individually. Malformed columns must be rejected.

mod producer;

use std::sync::atomic::Ordering;

use polyflake::{randflake::Randflake, sno::Sno};
use polyflake_columns::{Fault, Packed, arrow::StreamError, texts::Textual};
use producer::{Buffer, ForeignChunks, ForeignColumn, Layout, column};

const LAYOUTS: [Layout; 4] =
    [Layout::Fixed(16), Layout::Offsets32, Layout::Offsets64, Layout::Views];

/// Creates `count` IDs whose bytes follow a fixed pattern.
fn snos(count: usize) -> Vec<Sno> {
    let byte = |at: usize, k: usize| u8::try_from((at * 37 + k * 11) % 256).expect("a byte");
    (0..count).map(|at| Sno::from_bytes(std::array::from_fn(|k| byte(at, k)))).collect()
}

fn randflakes(count: usize) -> Vec<Randflake> {
    (0..count).map(|at| Randflake::from_u64((u64::MAX / 3) >> (at % 63))).collect()
}

fn to_texts<I: ToString>(ids: &[I]) -> Vec<Vec<u8>> {
    ids.iter().map(|id| id.to_string().into_bytes()).collect()
}

#[track_caller]
fn read_ids<I: Textual>(column: &ForeignColumn) -> Result<Vec<I>, Fault> {
    let (pieces, held) = column.export();
    let ids = pieces.ids();
    drop(pieces);
    assert_eq!(held.load(Ordering::Relaxed), 0, "everything is released");
    ids
}

/// Replaces an error with its kind and the index of its item, so that outcomes can be compared.
fn describe_fault<T>(outcome: Result<T, Fault>) -> Result<T, String> {
    outcome.map_err(|fault| match fault {
        Fault::Kind(format) => format!("kind {format}"),
        Fault::Null(item) => format!("null at {item}"),
        Fault::Rejected(error) => match error.item() {
            Some(item) => format!("{} at {item}", error.code()),
            None => error.code().to_owned(),
        },
        Fault::Memory => "no memory".to_owned(),
    })
}

#[test]
fn structs_match_the_c_data_interface() {
    assert!(producer::struct_sizes().iter().all(|(ours, theirs)| ours == theirs));
}

#[test]
fn strings_are_read_in_every_layout_from_any_offset() {
    let counts: &[usize] = if cfg!(miri) { &[0, 3] } else { &[0, 1, 7, 511, 512, 513, 1500] };
    for (count, before) in counts.iter().flat_map(|count| [(*count, 0), (*count, 3), (*count, 9)]) {
        let (sno, flake) = (snos(count), randflakes(count));
        for layout in LAYOUTS {
            for is_text in [false, true] {
                let what = format!("{layout:?}, {count} after {before}");
                let column_of = |texts: &[Vec<u8>]| column(layout, is_text, texts, before);
                assert_eq!(
                    read_ids::<Sno>(&column_of(&to_texts(&sno))).expect(&what),
                    sno,
                    "{what}"
                );
                assert_eq!(
                    read_ids::<Randflake>(&column_of(&to_texts(&flake))).expect(&what),
                    flake,
                    "{what}"
                );
            }
        }
        for width in [13, 20] {
            let column = column(Layout::Fixed(width), false, &to_texts(&flake), before);
            assert_eq!(read_ids::<Randflake>(&column).expect("padded texts"), flake);
        }
    }
}

#[test]
fn an_invalid_string_is_rejected_with_its_index() {
    let bad: [&[u8]; 6] =
        [b"", b"x", b"2222222222222222!", b"222222222222222!", b"\xff\xfe", &[b'2'; 40]];
    let items: &[usize] = if cfg!(miri) { &[2] } else { &[0, 2, 511, 512, 600] };
    for (item, bad) in items.iter().flat_map(|item| bad.map(|bad| (*item, bad))) {
        let mut texts = to_texts(&snos(item + 3));
        bad.clone_into(&mut texts[item]);
        texts[item + 1] = b"also bad".to_vec();
        let alone = Sno::parse(&String::from_utf8_lossy(bad)).expect_err("no text");
        for layout in LAYOUTS.into_iter().filter(|layout| !matches!(layout, Layout::Fixed(_))) {
            let Err(Fault::Rejected(error)) = read_ids::<Sno>(&column(layout, true, &texts, 2))
            else {
                panic!("expected an error");
            };
            assert_eq!((error.kind(), error.position()), (alone.kind(), alone.position()));
            assert_eq!(error.item(), Some(item), "{layout:?}");
        }
    }
}

#[test]
fn the_first_null_or_invalid_string_is_rejected() {
    let mut texts = to_texts(&snos(20));
    for layout in LAYOUTS {
        for null in [0, 7, 8, 19] {
            let nulls = column(layout, true, &texts, 5).with_nulls(|at| at >= null + 5);
            assert_eq!(
                describe_fault(read_ids::<Sno>(&nulls)),
                Err(format!("null at {null}")),
                "{layout:?}"
            );
        }
        let others = column(layout, true, &texts, 5).with_nulls(|at| at < 5);
        assert_eq!(read_ids::<Sno>(&others).expect("nulls of another part").len(), 20);
    }
    texts[3] = b"bad".to_vec();
    let column = column(Layout::Offsets32, true, &texts, 0).with_nulls(|at| at == 4);
    assert_eq!(describe_fault(read_ids::<Sno>(&column)), Err("invalid_length at 3".to_owned()));
}

#[test]
fn chunks_are_read_as_one_column() {
    let ids = snos(40);
    let piece =
        |from: usize, to: usize| column(Layout::Offsets64, true, &to_texts(&ids[from..to]), 1);
    let pieces = vec![piece(0, 0), piece(0, 13), piece(13, 13), piece(13, 40)];
    let (collected, held) = ForeignChunks { pieces, ..ForeignChunks::default() }.collect();
    let collected = collected.expect("a stream that does not fail");
    assert_eq!(collected.ids::<Sno>().expect("texts"), ids);
    drop(collected);
    assert_eq!(held.load(Ordering::Relaxed), 0);
    let bad = column(Layout::Offsets64, true, &[b"bad".to_vec()], 0);
    let stream = ForeignChunks { pieces: vec![piece(0, 5), bad], ..ForeignChunks::default() };
    let refused = stream.collect().0.expect("a stream that does not fail").ids::<Sno>();
    assert_eq!(describe_fault(refused), Err("invalid_length at 5".to_owned()));
}

#[test]
fn a_failed_or_released_stream_is_an_error() {
    let pieces = vec![column(Layout::Views, true, &to_texts(&snos(3)), 0)];
    let well = ForeignChunks { pieces, ..ForeignChunks::default() };
    let reason = Some(c"no \xff".to_owned());
    for (stream, expected) in [
        (
            ForeignChunks { fails_at: Some(0), reason: reason.clone(), ..well.clone() },
            "no \u{fffd}",
        ),
        (ForeignChunks { fails_at: Some(1), reason, ..well.clone() }, "no \u{fffd}"),
        (ForeignChunks { fails_at: Some(2), ..well.clone() }, "no reason given"),
        (
            ForeignChunks { is_released: true, ..well.clone() },
            "expected a stream, found a released one",
        ),
        (
            ForeignChunks { lacks_schema: true, ..well.clone() },
            "expected a stream, found a released one",
        ),
        (
            ForeignChunks { lacks_next: true, ..well.clone() },
            "expected a stream, found a released one",
        ),
    ] {
        let (outcome, held) = stream.collect();
        assert_eq!(outcome.expect_err("failed"), StreamError(expected.to_owned()));
        assert_eq!(held.load(Ordering::Relaxed), 0, "{expected}");
    }
    let (empty, _held) = ForeignChunks::default().collect();
    let refused = empty.expect("a stream without a type").ids::<Sno>();
    assert_eq!(describe_fault(refused), Err("kind nothing".to_owned()));
}

/// Malformed columns, each with the reason for its rejection.
type MalformedColumns = Vec<(&'static str, ForeignColumn)>;

/// Returns string columns that violate the rules of the interface in ways that are detected before any item is read.
fn malformed_structs() -> MalformedColumns {
    let texts = to_texts(&snos(4));
    let [fixed, joined, large, views] = LAYOUTS.map(|layout| column(layout, true, &texts, 1));
    vec![
        ("a negative length", joined.clone().modify(|column| column.length = -1)),
        ("the least length", joined.clone().modify(|column| column.length = i64::MIN)),
        ("a length past memory", fixed.clone().modify(|column| column.length = i64::MAX)),
        (
            "a length past memory, of offsets",
            large.clone().modify(|column| column.length = i64::MAX),
        ),
        ("a length past memory, of views", views.clone().modify(|column| column.length = i64::MAX)),
        (
            "a length past memory, with a map of nulls",
            joined.clone().with_nulls(|_| false).modify(|column| column.length = i64::MAX - 9),
        ),
        ("a negative offset", joined.clone().modify(|column| column.offset = -1)),
        ("an offset past memory", joined.clone().modify(|column| column.offset = i64::MAX)),
        ("no buffers", joined.clone().modify(|column| column.n_buffers = Some(0))),
        (
            "a negative number of buffers",
            joined.clone().modify(|column| column.n_buffers = Some(-1)),
        ),
        (
            "more buffers than memory",
            joined.clone().modify(|column| column.n_buffers = Some(i64::MAX)),
        ),
        ("the map alone", joined.clone().modify(|column| column.n_buffers = Some(1))),
        ("no text", joined.clone().modify(|column| column.n_buffers = Some(2))),
        ("null for buffers", joined.clone().modify(|column| column.has_buffers = false)),
        ("null for offsets", joined.clone().modify(|column| column.buffers[1] = None)),
        ("null for text", joined.clone().modify(|column| column.buffers[2] = None)),
        ("offsets out of alignment", joined.clone().modify(|column| column.shift = 2)),
        ("large offsets out of alignment", large.clone().modify(|column| column.shift = 4)),
        ("a negative number of nulls", joined.clone().modify(|column| column.null_count = -2)),
        (
            "more nulls than items",
            joined.clone().with_nulls(|_| true).modify(|column| column.null_count = 5),
        ),
        ("nulls without a map", joined.clone().modify(|column| column.null_count = 1)),
        ("a released array", joined.clone().modify(|column| column.array_is_released = true)),
        ("a released type", joined.clone().modify(|column| column.schema_is_released = true)),
        ("no format", joined.clone().modify(|column| column.format = None)),
        ("an empty format", joined.clone().modify(|column| column.format = Some(String::new()))),
        ("another format", joined.clone().modify(|column| column.format = Some("utf8".to_owned()))),
        ("integers", joined.clone().modify(|column| column.format = Some("l".to_owned()))),
        ("a struct", joined.clone().modify(|column| column.format = Some("+s".to_owned()))),
        ("no width", fixed.clone().modify(|column| column.format = Some("w:".to_owned()))),
        (
            "a negative width",
            fixed.clone().modify(|column| column.format = Some("w:-16".to_owned())),
        ),
        (
            "a width past memory, of one item",
            ForeignColumn::new(&format!("w:{}", 1_u64 << 63), 1, [Buffer::from_bytes(&[0; 16])]),
        ),
        (
            "a width past memory",
            fixed.modify(|column| column.format = Some(format!("w:{}", usize::MAX))),
        ),
        ("a last offset below 0", column_with_offsets([0, 16, -1])),
        ("no lengths of views' buffers", views.clone().modify(|column| column.n_buffers = Some(2))),
        (
            "a buffer of views of negative length",
            views.clone().modify(|column| column.buffers[3] = Some(Buffer::from_i64s(&[-1]))),
        ),
        ("null for a buffer of views", views.clone().modify(|column| column.buffers[2] = None)),
        ("lengths of views' buffers out of alignment", views.modify(|column| column.shift = 4)),
    ]
}

/// Returns dictionaries that violate the rules of the interface.
fn malformed_dictionaries() -> MalformedColumns {
    let keys = |format, keys: &[i64]| {
        let values = column(Layout::Offsets32, true, &to_texts(&snos(4)), 0);
        ForeignColumn::from_keys(format, keys.len(), Buffer::from_i64s(keys), values)
    };
    vec![
        ("a key below 0", keys("l", &[0, -1])),
        ("a key past the values", keys("l", &[0, 4])),
        ("a key far past the values", keys("L", &[0, i64::MIN])),
        ("keys that are no integers", keys("g", &[0, 1])),
        ("keys out of alignment", keys("l", &[0, 1]).modify(|column| column.shift = 4)),
        (
            "a dictionary without values",
            keys("l", &[0, 1]).modify(|column| column.dictionary.1 = None),
        ),
        (
            "a dictionary of released values",
            keys("l", &[0]).modify(|column| {
                column.dictionary.1.as_mut().expect("values").array_is_released = true;
            }),
        ),
        (
            "a dictionary of a released type",
            keys("l", &[0]).modify(|column| {
                column.dictionary.0.as_mut().expect("values").schema_is_released = true;
            }),
        ),
        (
            "a dictionary of integers",
            keys("l", &[0]).modify(|column| {
                column.dictionary.0.as_mut().expect("values").format = Some("l".to_owned());
            }),
        ),
        ("a dictionary of a dictionary", {
            let (inner, outer) = (keys("l", &[0, 1]), Buffer::from_i64s(&[0]));
            ForeignColumn::from_keys("l", 1, outer, inner)
        }),
    ]
}

/// Returns columns whose faults are detected only when their items are read.
fn malformed_items() -> MalformedColumns {
    let text = || Buffer::from_bytes(&to_texts(&snos(4)).concat());
    let record = |length, buffer, place| {
        let numbers = [length, 0, buffer, place].map(i32::to_ne_bytes);
        ForeignColumn::new("vu", 1, [Buffer::from_items(numbers), text(), Buffer::from_i64s(&[64])])
    };
    vec![
        ("offsets that go back", column_with_offsets([16, 0, 32])),
        ("a first offset below 0", column_with_offsets([-16, 0, 16])),
        ("an offset past the text", column_with_offsets([0, i32::MAX, 32])),
        ("a view of another buffer", record(16, 1, 0)),
        ("a view of a buffer below 0", record(16, -1, 0)),
        ("a view past its buffer", record(16, 0, 49)),
        ("a view far past its buffer", record(16, 0, i32::MAX)),
        ("a view before its buffer", record(16, 0, -1)),
        ("a view longer than its buffer", record(i32::MAX, 0, 0)),
        ("a view of negative length", record(-16, 0, 0)),
    ]
}

/// Creates a string column with the given offsets.
fn column_with_offsets(offsets: [i32; 3]) -> ForeignColumn {
    let text = to_texts(&snos(4)).concat();
    ForeignColumn::new("u", 2, [Buffer::from_i32s(&offsets), Buffer::from_bytes(&text)])
}

#[test]
fn malformed_string_columns_are_rejected() {
    for (what, column) in malformed_structs().into_iter().chain(malformed_dictionaries()) {
        for refused in [
            describe_fault(read_ids::<Sno>(&column)).err(),
            describe_fault(read_ids::<Randflake>(&column)).err(),
        ] {
            let refused = refused.expect(what);
            assert!(refused.starts_with("kind "), "{what}: {refused}");
        }
    }
    for (what, column) in malformed_items() {
        assert_eq!(
            describe_fault(read_ids::<Sno>(&column)),
            Err("invalid_length at 0".to_owned()),
            "{what}"
        );
        let refused = describe_fault(read_ids::<Randflake>(&column)).expect_err(what);
        assert!(refused.starts_with("invalid_length at "), "{what}: {refused}");
    }
}

/// A change that makes a column invalid.
type ColumnChange = fn(&mut ForeignColumn);

#[test]
fn malformed_integer_and_byte_columns_are_rejected() {
    for (what, column) in malformed_structs().into_iter().chain(malformed_dictionaries()) {
        let as_bytes = column.clone().modify(|column| {
            let bytes = |format: &mut String| *format = format.replace('u', "z").replace('U', "Z");
            column.format.iter_mut().for_each(bytes);
            column.dictionary.0.iter_mut().flat_map(|values| &mut values.format).for_each(bytes);
        });
        let (pieces, held) = as_bytes.export();
        let refused = describe_fault(pieces.packed(16)).expect_err(what);
        assert!(refused.starts_with("kind ") || what.contains("width"), "{what}: {refused}");
        drop(pieces);
        assert_eq!(held.load(Ordering::Relaxed), 0);
    }
    let well = || ForeignColumn::new("l", 3, [Buffer::from_i64s(&[1, 2, 3])]);
    let changes: [(&str, ColumnChange); 9] = [
        ("another format", |column| column.format = Some("L".to_owned())),
        ("a negative length", |column| column.length = -1),
        ("a length past memory", |column| column.length = i64::MAX),
        ("an offset past memory", |column| column.offset = i64::MAX),
        ("null for integers", |column| column.buffers[1] = None),
        ("integers out of alignment", |column| column.shift = 4),
        ("nulls without a map", |column| column.null_count = 1),
        ("a released array", |column| column.array_is_released = true),
        ("a released type", |column| column.schema_is_released = true),
    ];
    for (what, change) in changes {
        let refused = well().modify(change).export().0.integers();
        assert!(describe_fault(refused).expect_err(what).starts_with("kind "), "{what}");
    }
    assert_eq!(well().export().0.integers().expect("integers"), [1, 2, 3]);
    let nulls = well().with_nulls(|at| at == 1).export().0.integers();
    assert_eq!(describe_fault(nulls), Err("null at 1".to_owned()));
}

#[test]
fn empty_columns_may_have_null_buffers() {
    for format in ["u", "U", "vu", "z", "w:16", "w:0"] {
        let mut column = ForeignColumn::new(format, 0, []);
        column.buffers = vec![None; 3];
        assert_eq!(read_ids::<Sno>(&column).expect(format), []);
    }
    let nothing = ForeignColumn::new("w:0", 3, [Buffer::from_bytes(&[])]);
    assert_eq!(describe_fault(read_ids::<Sno>(&nothing)), Err("invalid_length at 0".to_owned()));
    assert_eq!(describe_fault(nothing.export().0.packed(10)), Err("invalid_length".to_owned()));
}

#[test]
fn dictionaries_select_strings() {
    let ids = snos(5);
    let keys = [4, 0, 0, 3, 4, 1];
    let expected: Vec<Sno> = keys.map(|key| ids[key]).to_vec();
    let mut texts = to_texts(&ids);
    texts[2] = b"not selected".to_vec();
    for layout in [Layout::Offsets32, Layout::Offsets64, Layout::Views] {
        let values = || column(layout, true, &texts, 1);
        let columns = [
            ("c", Buffer::from_items(keys.map(|key| [u8::try_from(key).expect("few")]))),
            ("C", Buffer::from_items(keys.map(|key| [u8::try_from(key).expect("few")]))),
            (
                "s",
                Buffer::from_items(keys.map(|key| i16::try_from(key).expect("few").to_ne_bytes())),
            ),
            (
                "S",
                Buffer::from_items(keys.map(|key| u16::try_from(key).expect("few").to_ne_bytes())),
            ),
            (
                "i",
                Buffer::from_items(keys.map(|key| i32::try_from(key).expect("few").to_ne_bytes())),
            ),
            (
                "I",
                Buffer::from_items(keys.map(|key| u32::try_from(key).expect("few").to_ne_bytes())),
            ),
            ("l", Buffer::from_items(keys.map(|key| (key as u64).to_ne_bytes()))),
            ("L", Buffer::from_items(keys.map(|key| (key as u64).to_ne_bytes()))),
        ];
        for (format, keys) in columns {
            let column = ForeignColumn::from_keys(format, 6, keys, values());
            assert_eq!(read_ids::<Sno>(&column).expect(format), expected);
        }
    }
    let selected = |keys: &[i64]| {
        ForeignColumn::from_keys(
            "l",
            keys.len(),
            Buffer::from_i64s(keys),
            column(Layout::Views, true, &texts, 0),
        )
    };
    assert_eq!(
        describe_fault(read_ids::<Sno>(&selected(&[0, 1, 2, 2]))),
        Err("invalid_length at 2".to_owned())
    );
    let null_key = selected(&[0, 1, 99]).with_nulls(|at| at == 2);
    assert_eq!(describe_fault(read_ids::<Sno>(&null_key)), Err("null at 2".to_owned()));
    let null_value = selected(&[0, 1, 3]).modify(|column| {
        let values = column.dictionary.1.as_mut().expect("values");
        **values = values.clone().with_nulls(|at| at == 3);
    });
    assert_eq!(describe_fault(read_ids::<Sno>(&null_value)), Err("null at 2".to_owned()));
    let unselected = selected(&[0, 1, 4]).modify(|column| {
        let values = column.dictionary.1.as_mut().expect("values");
        **values = values.clone().with_nulls(|at| at == 3);
    });
    assert_eq!(read_ids::<Sno>(&unselected).expect("no null is selected").len(), 3);
}

#[test]
fn dictionaries_select_bytes_and_integers() {
    let rows = [[1_u8; 10], [2; 10]].map(Vec::from);
    let keys = || Buffer::from_i64s(&[1, 0, 1]);
    for layout in [Layout::Fixed(10), Layout::Offsets32, Layout::Views] {
        let dictionary = ForeignColumn::from_keys("l", 3, keys(), column(layout, false, &rows, 0));
        let bytes = dictionary.export().0.packed(10).expect("bytes");
        assert_eq!(bytes, [&*rows[1], &*rows[0], &*rows[1]].concat());
    }
    let values = ForeignColumn::new("l", 2, [Buffer::from_i64s(&[-5, 7])]);
    let integers = ForeignColumn::from_keys("l", 3, keys(), values).export().0.integers();
    assert_eq!(integers.expect("integers"), [7, -5, 7]);
}

#[test]
fn byte_ids_are_read_from_columns_of_their_width() {
    let rows: Vec<Vec<u8>> = snos(9).iter().map(|id| id.as_bytes().to_vec()).collect();
    for layout in [Layout::Fixed(10), Layout::Offsets32, Layout::Offsets64, Layout::Views] {
        let well = column(layout, false, &rows, 2);
        assert_eq!(well.export().0.packed(10).expect("bytes"), rows.concat(), "{layout:?}");
        let nulls = column(layout, false, &rows, 2).with_nulls(|at| at == 7);
        assert_eq!(describe_fault(nulls.export().0.packed(10)), Err("null at 5".to_owned()));
        let other = describe_fault(well.export().0.packed(11));
        let expected =
            if layout == Layout::Fixed(10) { "invalid_length" } else { "invalid_length at 0" };
        assert_eq!(other, Err(expected.to_owned()));
    }
    let mut mixed = rows.clone();
    mixed[4].push(0);
    let refused = column(Layout::Views, false, &mixed, 0).export().0.packed(10);
    assert_eq!(describe_fault(refused), Err("invalid_length at 4".to_owned()));
    let text = column(Layout::Offsets32, true, &rows[..0], 0).export().0.packed(10);
    assert_eq!(describe_fault(text), Err("kind u".to_owned()));
}

#[test]
fn exported_columns_round_trip() {
    use polyflake_columns::{
        arrow::{Chunks, Column},
        texts,
    };

    let (sno, flake) = (snos(20), randflakes(20));
    let again = |column: Column| {
        let (schema, array) = column.export();
        Chunks::import_array(schema, array)
    };
    let packed = Packed::new(sno.clone());
    assert_eq!(again(packed.to_arrow()).packed(10).expect("bytes"), Sno::slice_as_bytes(&sno));
    let texts_of_all = Packed::new(texts::encode_snos(&sno).expect("memory"));
    let column = Column::from_texts(&texts_of_all).expect("memory");
    assert_eq!(again(column).ids::<Sno>().expect("texts"), sno);
    let integers = again(Packed::new(flake.clone()).to_arrow()).integers().expect("integers");
    assert!(integers.into_iter().eq(flake.iter().map(|id| id.to_i64())));
    let column = texts::randflake_column(&flake).expect("memory");
    assert_eq!(again(column).ids::<Randflake>().expect("texts"), flake);
    let exported = packed.to_arrow();
    drop(packed);
    assert_eq!(again(exported).packed(10).expect("kept alive"), Sno::slice_as_bytes(&sno));
    let empty = again(Packed::new(Vec::<Sno>::new()).to_arrow()).packed(10);
    assert!(empty.expect("no IDs").is_empty());
}

#[test]
#[cfg_attr(miri, ignore = "Miri aborts where memory for an allocation is missing")]
fn too_many_items_return_an_error_instead_of_aborting() {
    // Zero-width items need no memory, so a column can claim any number of them.
    let many = ForeignColumn::new("w:0", 0, [Buffer::from_bytes(&[])])
        .modify(|column| column.length = 1 << 46);
    let Err(fault) = read_ids::<Sno>(&many) else { panic!("expected an error") };
    assert!(matches!(fault, Fault::Memory), "{fault:?}");
}

/// Asserts that only columns with 16-byte items are marked as Arrow UUIDs. In the metadata that marks them, each key and
/// value is preceded by its length.
#[test]
fn only_16_byte_columns_become_uuids() {
    use polyflake::hotguid::HotGuid;

    let guids = Packed::new(vec![HotGuid::default(); 2]);
    assert!(guids.to_arrow().as_uuids().export().0.is_uuid());
    assert!(!guids.to_arrow().export().0.is_uuid());
    let snos = Packed::new(vec![Sno::default(); 2]);
    assert!(!snos.to_arrow().as_uuids().export().0.is_uuid());
    assert!(!polyflake_columns::arrow::schema("w:16").is_uuid());
}
