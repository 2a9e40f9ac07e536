//! Processes many strings or blocks at once, with the widest vector instructions of the CPU (or the level that
//! `POLYFLAKE_CPU` sets). Compares the results with those of processing the items one at a time.

use polyflake::{
    Error, ErrorKind,
    randflake::{self, Randflake},
    sno::{self, Sno},
    sparx64::Sparx64,
};

use crate::{
    bytes::{Bytes, random_bytes},
    randflake::parse_units as parse_randflake,
    sno::parse_units as parse_sno,
    verdict::Verdict,
};

/// The maximum number of items, which is more than any kernel processes at once.
pub(crate) const MAX_ITEMS: usize = 100;

/// Decodes sno strings, and encodes the IDs again.
pub(crate) fn sno(input: &[u8]) {
    let texts = items_with_faults(input, |chance| {
        let alphabet = b"23456789abcdefghijklmnopqrstuvwx";
        chance.map(|byte| alphabet[usize::from(byte % 32)])
    });
    let mut ids = vec![Sno::default(); texts.len()];
    let decoded = sno::decode_slice(&texts, &mut ids);
    check_decoded(decoded, &ids, texts.iter().map(|text| parse_sno(&to_units(text))));
    let mut again = vec![[0; 16]; ids.len()];
    sno::encode_slice(&ids, &mut again).expect("slices of one length");
    assert!(ids.iter().zip(&again).all(|(id, text)| id.to_uuid_bytes() == *text));
    let longer = &mut vec![[0; 16]; ids.len() + 1];
    assert_eq!(sno::encode_slice(&ids, longer).unwrap_err().kind(), ErrorKind::InvalidLength);
}

/// Decodes Randflake strings in slots and in columns, and encodes the IDs again.
pub(crate) fn randflake(input: &[u8]) {
    let slots = items_with_faults(input, |chance| {
        // Shifting by a random number of bits produces numbers of all sizes.
        let number = u64::from_le_bytes(chance.as_chunks().0[0]) >> (chance[8] % 64);
        let text = Randflake::from_u64(number).text();
        std::array::from_fn(|at| text.as_bytes().get(at).copied().unwrap_or(0))
    });
    let mut ids = vec![Randflake::default(); slots.len()];
    let decoded = randflake::decode_slice(&slots, &mut ids);
    check_decoded(
        decoded,
        &ids,
        slots.iter().map(|slot| parse_randflake(&to_units(text_of(slot)))),
    );
    let mut again = vec![[0xff; 16]; ids.len()];
    randflake::encode_slice(&ids, &mut again).expect("slices of one length");
    assert!(ids.iter().zip(&again).all(|(id, slot)| id.text().as_bytes() == text_of(slot)));
    check_column(&ids, &slots);
}

/// Checks a column of valid IDs without gaps, and then a column of arbitrary strings.
fn check_column(ids: &[Randflake], slots: &[[u8; 16]]) {
    let (mut offsets, mut text) = (vec![0; ids.len() + 1], vec![0; ids.len() * 13]);
    let end = randflake::encode_column(ids, &mut offsets, &mut text).expect("room for all");
    let side_by_side: String = ids.iter().map(ToString::to_string).collect();
    assert_eq!(side_by_side.as_bytes(), &text[..end]);
    let mut again = vec![Randflake::default(); ids.len()];
    randflake::decode_column(&offsets, &text, &mut again).expect("what was written");
    assert_eq!(again, ids);
    let texts: Vec<&[u8]> = slots.iter().map(text_of).collect();
    let ends = texts.iter().scan(0, |end, text| {
        *end += i32::try_from(text.len()).expect("16 bytes each");
        Some(*end)
    });
    let offsets: Vec<i32> = std::iter::once(0).chain(ends).collect();
    again.fill(Randflake::default());
    let decoded = randflake::decode_column(&offsets, &texts.concat(), &mut again);
    check_decoded(decoded, &again, texts.iter().map(|text| parse_randflake(&to_units(text))));
}

/// Checks that encrypting and decrypting many blocks at once gives the same results as processing each block individually.
pub(crate) fn sparx64(input: &[u8]) {
    let mut bytes = Bytes(input);
    let cipher = Sparx64::new(bytes.array());
    let count = bytes.number_below(MAX_ITEMS);
    let blocks: Vec<[u8; 8]> =
        chunks_of_16(bytes.0).take(count).map(|b| b.as_chunks().0[0]).collect();
    let mut encrypted = blocks.clone();
    cipher.encrypt_blocks(&mut encrypted);
    assert!(blocks.iter().zip(&encrypted).all(|(block, own)| cipher.encrypt_block(*block) == *own));
    cipher.decrypt_blocks(&mut encrypted);
    assert_eq!(encrypted, blocks);
}

/// Returns random items, a few of which have a changed byte.
fn items_with_faults(input: &[u8], item: impl Fn([u8; 16]) -> [u8; 16]) -> Vec<[u8; 16]> {
    let mut bytes = Bytes(input);
    let count = bytes.number_below(MAX_ITEMS);
    let mut items: Vec<_> = chunks_of_16(input).take(count).map(item).collect();
    for _ in 0..bytes.number_below(4).min(count) {
        let (at, place) = (bytes.number_below(count), bytes.number_below(16));
        items[at][place] = bytes.byte();
    }
    items
}

pub(crate) fn chunks_of_16(input: &[u8]) -> impl Iterator<Item = [u8; 16]> {
    let mut random_bytes = random_bytes(input);
    std::iter::repeat_with(move || {
        let mut bytes = [0; 16];
        for four in bytes.as_chunks_mut().0 {
            *four = random_bytes.next().unwrap_or_default();
        }
        bytes
    })
}

fn to_units(text: &[u8]) -> Vec<u32> {
    text.iter().copied().map(u32::from).collect()
}

/// Returns a slot's string without the trailing zero bytes.
fn text_of(slot: &[u8; 16]) -> &[u8] {
    let end = slot.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &slot[..end]
}

/// Checks the result of decoding a slice: all strings before the first invalid string are decoded, the error refers to that
/// string, and nothing is written for it or any later string.
fn check_decoded<T: Default + PartialEq + std::fmt::Debug>(
    decoded: Result<(), Error>,
    ids: &[T],
    readings: impl Iterator<Item = Verdict<T>>,
) {
    let mut expected = Ok(());
    for (item, (reading, id)) in readings.zip(ids).enumerate() {
        match reading {
            Ok(reading) if expected.is_ok() => assert_eq!(*id, reading, "{item}"),
            Err((kind, position)) if expected.is_ok() => {
                expected = Err((kind, position, Some(item)));
                assert_eq!(*id, T::default(), "{item}");
            }
            _ => assert_eq!(*id, T::default(), "{item}"),
        }
    }
    let decoded = decoded.map_err(|error| (error.kind(), error.position(), error.item()));
    assert_eq!(decoded, expected);
}
