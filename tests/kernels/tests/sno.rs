//! Tests that, at every level, sno's base32 kernels write the same output and reject the same strings as the scalar code.

use kernel_tests::{MAX_LENGTH, XorShift, lengths, sample_under_miri, vector_levels};
use polyflake::{
    Error, ErrorKind,
    kernels::{Level, decode_sno, encode_sno, levels},
    sno::{self, Sno},
};

const ALPHABET: &[u8; 32] = b"23456789abcdefghijklmnopqrstuvwx";

/// Enough items for more than two groups of any kernel, plus a remainder.
const ITEM_COUNT: usize = 21;

fn ids(count: usize) -> Vec<[u8; 10]> {
    let mut noise = XorShift::new();
    (0..count).map(|_| noise.bytes()).collect()
}

/// Formats an ID digit by digit, as the format defines.
fn text_of(id: [u8; 10]) -> [u8; 16] {
    let bits = id.iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
    std::array::from_fn(|place| ALPHABET[(bits >> (75 - 5 * place) & 31) as usize])
}

fn texts(count: usize) -> Vec<[u8; 16]> {
    ids(count).into_iter().map(text_of).collect()
}

fn invalid_bytes() -> impl Iterator<Item = u8> {
    (0..=u8::MAX).filter(|byte| !ALPHABET.contains(byte))
}

/// Decodes strings into pre-filled memory, so that the tests can detect which IDs were written.
fn decode(level: Level, texts: &[[u8; 16]]) -> (Vec<[u8; 10]>, Result<(), Error>) {
    let mut ids = vec![[0xa5; 10]; texts.len()];
    let outcome = decode_sno(level, texts, &mut ids);
    (ids, outcome)
}

#[track_caller]
fn assert_rejected(level: Level, texts: &[[u8; 16]], item: usize, position: usize) {
    let (written, outcome) = decode(level, texts);
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidCharacter);
    assert_eq!((error.item(), error.position()), (Some(item), Some(position)), "{level:?}");
    assert_eq!(written[..item], ids(item), "{level:?}");
    assert!(written[item..].iter().all(|id| *id == [0xa5; 10]), "{level:?} wrote past {item}");
}

#[test]
fn slices_of_every_length_are_encoded() {
    for level in levels() {
        for length in lengths() {
            let mut written = vec![[0; 16]; length];
            encode_sno(level, &ids(length), &mut written).unwrap();
            assert_eq!(written, texts(length), "{level:?} {length}");
        }
    }
}

#[test]
fn slices_of_every_length_are_decoded() {
    for level in levels() {
        for length in lengths() {
            assert_eq!(decode(level, &texts(length)), (ids(length), Ok(())), "{level:?} {length}");
        }
    }
}

#[test]
fn every_invalid_byte_is_found_at_every_position() {
    let mut texts = texts(ITEM_COUNT);
    for level in levels() {
        let items = || sample_under_miri(0..ITEM_COUNT, 9);
        for (item, position) in
            items().flat_map(|item| sample_under_miri(0..16, 3).map(move |at| (item, at)))
        {
            let good = texts[item][position];
            for bad in sample_under_miri(invalid_bytes(), 97) {
                texts[item][position] = bad;
                assert_rejected(level, &texts, item, position);
            }
            texts[item][position] = good;
        }
    }
}

#[test]
fn every_valid_byte_is_read_at_every_position() {
    for level in vector_levels() {
        let bytes = || sample_under_miri(ALPHABET.iter(), 31);
        for (position, &byte) in (0..16).flat_map(|at| bytes().map(move |byte| (at, byte))) {
            let mut texts = texts(ITEM_COUNT);
            texts.iter_mut().for_each(|text| text[position] = byte);
            assert_eq!(decode(level, &texts), decode(Level::SCALAR, &texts), "{level:?}");
        }
    }
}

#[test]
fn the_first_of_many_invalid_bytes_is_reported() {
    let mut noise = XorShift::new();
    for level in levels() {
        for length in lengths().filter(|&length| length > 0) {
            let mut texts = texts(length);
            let places = [(); 3].map(|()| (noise.number_below(length), noise.number_below(16)));
            for (item, position) in places {
                texts[item][position] = 0x80 | noise.bytes::<1>()[0];
            }
            let (item, position) = *places.iter().min().unwrap();
            assert_rejected(level, &texts, item, position);
        }
    }
}

#[test]
fn slices_of_different_lengths_are_rejected() {
    for level in levels() {
        let error = encode_sno(level, &ids(3), &mut [[0; 16]; 4]).unwrap_err();
        assert_eq!(error.to_string(), "expected length 3, found 4");
        let error = decode_sno(level, &texts(4), &mut [[0; 10]; 3]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidLength);
    }
}

#[test]
fn one_id_equals_an_item_of_a_batch() {
    for (id, text) in ids(MAX_LENGTH).into_iter().zip(texts(MAX_LENGTH)) {
        assert_eq!(Sno::from_bytes(id).to_uuid_bytes(), text);
        assert_eq!(Sno::from_uuid_bytes(text), Ok(Sno::from_bytes(id)));
        let mut written = [[0; 16]];
        sno::encode_slice(&[Sno::from_bytes(id)], &mut written).unwrap();
        assert_eq!(written, [text]);
    }
}

#[test]
fn a_string_with_an_invalid_byte_is_rejected() {
    let good = texts(1)[0];
    let bad =
        (0..16).flat_map(|at| sample_under_miri(invalid_bytes(), 97).map(move |bad| (at, bad)));
    for (position, bad) in bad {
        let mut text = good;
        text[position] = bad;
        let error = Sno::from_uuid_bytes(text).unwrap_err();
        assert_eq!((error.code(), error.position()), ("invalid_character", Some(position)));
    }
}

#[test]
fn packed_bytes_are_viewed_as_ids() {
    let mut packed = ids(3).concat();
    assert_eq!(Sno::slice_from_bytes(&packed).unwrap()[2], Sno::from_bytes(ids(3)[2]));
    Sno::slice_from_bytes_mut(&mut packed).unwrap()[1] = Sno::default();
    assert_eq!(packed[10..20], [0; 10]);
    assert_eq!(Sno::slice_as_bytes(Sno::slice_from_bytes(&packed).unwrap()), packed);
    for length in [1, 9, 11, 29] {
        let error = Sno::slice_from_bytes(&packed[..length]).unwrap_err();
        assert_eq!(Err(error), Sno::slice_from_bytes_mut(&mut packed[..length]));
    }
    assert_eq!(
        Sno::slice_from_bytes(&packed[..29]).unwrap_err().to_string(),
        "expected a multiple of 10 bytes, found 29"
    );
}
