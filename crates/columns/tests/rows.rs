//! Tests of strings in rows of fixed width, as in `NumPy` arrays.

use polyflake::{randflake::Randflake, sno::Sno};
use polyflake_columns::{
    Fault,
    texts::{self, Rows, Unit},
};

const ENCODED_SNO: &[u8] = b"93bm44ab22flxhjb";
const ENCODED_RANDFLAKE: &[u8] = b"3vgoe12ccb8gh";

fn pad_row(text: &[u8], width: usize) -> Vec<u8> {
    let mut row = text.to_vec();
    row.resize(width, 0);
    row
}

/// Encodes a string as 4-byte characters with `NumPy`'s padding.
fn encode_utf32_row(text: &str, width: usize) -> Vec<u8> {
    let mut chars: Vec<u32> = text.chars().map(u32::from).collect();
    chars.resize(width, 0);
    chars.iter().flat_map(|char| char.to_ne_bytes()).collect()
}

fn rows(bytes: &[u8], width: usize, unit: Unit) -> Rows<'_> {
    Rows { bytes, width, unit, may_change: false }
}

/// The code of an error, its position in the string, and the index of the item.
type Rejection = (&'static str, Option<usize>, Option<usize>);

fn read_ids<I: texts::Textual>(rows: Rows<'_>) -> Result<Vec<I>, Rejection> {
    let changing = Rows { may_change: true, ..rows };
    let both = [rows, changing].map(|rows| {
        texts::decode_ids::<I>(&rows).map_err(|fault| match fault {
            Fault::Rejected(error) => (error.code(), error.position(), error.item()),
            other => panic!("{other:?}"),
        })
    });
    assert_eq!(both[0].as_ref().err(), both[1].as_ref().err());
    let [ids, again] = both;
    assert_eq!(ids.as_ref().map(Vec::len), again.as_ref().map(Vec::len));
    ids
}

#[test]
fn buffer_formats_of_strings_are_recognised() {
    assert_eq!(Unit::from_format("16s", 1), Some(Unit::PaddedByte));
    assert_eq!(Unit::from_format("16w", 1), Some(Unit::PaddedChar));
    assert_eq!(
        (Unit::from_format("B", 1), Unit::from_format("c", 2)),
        (Some(Unit::Byte), Some(Unit::Byte))
    );
    for (format, dimensions) in [("B", 0), ("B", 3), ("16s", 2), ("l", 1), ("b", 1), ("", 1)] {
        assert_eq!(Unit::from_format(format, dimensions), None, "{format}");
    }
}

#[test]
fn rows_of_every_unit_are_read() {
    let sno = Sno::parse("93bm44ab22flxhjb").expect("a text");
    let flake = Randflake::parse("3vgoe12ccb8gh").expect("a text");
    assert_eq!(
        read_ids::<Sno>(rows(&[ENCODED_SNO, ENCODED_SNO].concat(), 16, Unit::Byte)),
        Ok(vec![sno, sno])
    );
    assert_eq!(
        read_ids::<Randflake>(rows(&pad_row(ENCODED_RANDFLAKE, 16), 16, Unit::Byte)),
        Ok(vec![flake])
    );
    for width in [16, 40] {
        assert_eq!(
            read_ids::<Sno>(rows(&pad_row(ENCODED_SNO, width), width, Unit::PaddedByte)),
            Ok(vec![sno])
        );
        let row = encode_utf32_row("93bm44ab22flxhjb", width);
        assert_eq!(read_ids::<Sno>(rows(&row, 4 * width, Unit::PaddedChar)), Ok(vec![sno]));
        let row = encode_utf32_row("3vgoe12ccb8gh", width);
        assert_eq!(read_ids::<Randflake>(rows(&row, 4 * width, Unit::PaddedChar)), Ok(vec![flake]));
    }
    assert_eq!(read_ids::<Sno>(rows(&[], 16, Unit::Byte)), Ok(vec![]));
    assert_eq!(read_ids::<Sno>(rows(&[], 0, Unit::PaddedByte)), Ok(vec![]));
}

#[test]
fn invalid_rows_are_rejected_with_their_index() {
    let zeros = |text: &[u8]| [ENCODED_SNO, &pad_row(text, 16)].concat();
    let bytes = zeros(&ENCODED_SNO[..8]);
    assert_eq!(
        read_ids::<Sno>(rows(&bytes, 16, Unit::Byte)),
        Err(("invalid_character", Some(8), Some(1)))
    );
    assert_eq!(
        read_ids::<Sno>(rows(&bytes, 16, Unit::PaddedByte)),
        Err(("invalid_length", None, Some(1)))
    );
    let row = encode_utf32_row("93bm44ab22flxhj\u{e9}", 16);
    assert_eq!(
        read_ids::<Sno>(rows(&row, 64, Unit::PaddedChar)),
        Err(("invalid_character", Some(15), Some(0)))
    );
    let surrogate: Vec<u8> = [0xd800_u32; 16].iter().flat_map(|char| char.to_ne_bytes()).collect();
    assert_eq!(
        read_ids::<Sno>(rows(&surrogate, 64, Unit::PaddedChar)),
        Err(("invalid_character", Some(0), Some(0)))
    );
    assert_eq!(
        read_ids::<Randflake>(rows(&pad_row(b"01", 16), 16, Unit::Byte)),
        Err(("not_canonical", None, Some(0)))
    );
}
