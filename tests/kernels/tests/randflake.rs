//! Tests that, at every level, Randflake's kernels write the strings that the format defines, and reject an invalid string
//! with the same error as parsing the string individually.

use std::sync::LazyLock;

use kernel_tests::{XorShift, lengths, sample_under_miri};
use polyflake::{
    Error, ErrorKind,
    kernels::{
        Level, decode_randflake, decode_randflake_column, encode_randflake,
        encode_randflake_column, levels,
    },
    randflake::{self, Randflake},
};

/// Enough items for more than two groups, plus a remainder.
const ITEM_COUNT: usize = 21;

/// The initial value of output buffers. No test decodes this number.
const UNWRITTEN_NUMBER: u64 = 0x5555_aaaa_5555_aaaa;

/// Returns numbers whose strings have various lengths. Most of the strings are long, like the strings of real IDs.
fn numbers(count: usize) -> Vec<u64> {
    let mut noise = XorShift::new();
    let short = |noise: &mut XorShift| noise.next() >> noise.number_below(64);
    let any = |noise: &mut XorShift| {
        if noise.number_below(16) == 0 { short(noise) } else { noise.next() }
    };
    (0..count).map(|_| any(&mut noise)).collect()
}

/// Formats a number digit by digit, as the format defines.
fn text_of(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % 32) as u32, 32).unwrap());
        number /= 32;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// Valid numbers. `SLOTS` and `TEXTS` contain the slots and the strings of these numbers.
static NUMBERS: LazyLock<Vec<u64>> = LazyLock::new(|| numbers(ITEM_COUNT));
static SLOTS: LazyLock<Vec<[u8; 16]>> = LazyLock::new(|| slots(&NUMBERS));
static TEXTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| texts(&NUMBERS));

fn pad_to_slot(text: &str) -> [u8; 16] {
    let mut slot = [0; 16];
    slot[..text.len()].copy_from_slice(text.as_bytes());
    slot
}

fn slots(numbers: &[u64]) -> Vec<[u8; 16]> {
    numbers.iter().map(|&number| pad_to_slot(&text_of(number))).collect()
}

#[track_caller]
fn assert_round_trips(level: Level, numbers: &[u64], slots: &[[u8; 16]]) {
    let mut written = vec![[0xa5; 16]; numbers.len()];
    encode_randflake(level, numbers, &mut written).unwrap();
    assert_eq!(written, slots, "{level:?}");
    let mut read = vec![0; numbers.len()];
    decode_randflake(level, &written, &mut read).unwrap();
    assert_eq!(read, numbers, "{level:?}");
}

/// Checks a number at every position in two groups and a remainder.
#[track_caller]
fn assert_number_round_trips(level: Level, number: u64) {
    assert_round_trips(level, &[number; 9], &[pad_to_slot(&text_of(number)); 9]);
}

#[test]
fn slices_of_every_length_round_trip() {
    for level in levels() {
        for length in lengths() {
            let numbers = numbers(length);
            assert_round_trips(level, &numbers, &slots(&numbers));
        }
    }
}

#[test]
fn values_next_to_powers_of_two_round_trip() {
    for level in levels() {
        for bit in sample_under_miri(0..64, 5) {
            for number in [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1, !(1 << bit)] {
                assert_number_round_trips(level, number);
            }
        }
    }
}

#[track_caller]
fn assert_same_error_as_single(level: Level, slots: &[[u8; 16]], item: usize) {
    let bytes = slots[item];
    let length = 16 - bytes.iter().rev().take_while(|byte| **byte == 0).count();
    let expected = single_decode_error(&bytes[..length], item);
    let mut read = vec![UNWRITTEN_NUMBER; slots.len()];
    assert_eq!(decode_randflake(level, slots, &mut read), Err(expected), "{level:?} {bytes:?}");
    assert_eq!(read[..item], NUMBERS[..item], "{level:?}");
    assert!(
        read[item..].iter().all(|number| *number == UNWRITTEN_NUMBER),
        "{level:?} wrote past {item}"
    );
}

/// Returns the error for a single string. The error reports a non-ASCII byte as a byte and not as the character with the
/// same value.
fn single_decode_error(text: &[u8], item: usize) -> Error {
    let characters: String = text.iter().copied().map(char::from).collect();
    let error = Randflake::parse(&characters).unwrap_err().in_item(item);
    match error.position() {
        Some(position) if !text[position].is_ascii() => {
            Error::invalid_character_unit(position, 0x11_0000 | u32::from(text[position]))
                .in_item(item)
        }
        _ => error,
    }
}

fn is_valid_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'v')
}

fn item_indices() -> impl Iterator<Item = usize> {
    sample_under_miri(0..ITEM_COUNT, 5)
}

fn invalid_bytes() -> impl Iterator<Item = u8> {
    sample_under_miri((0..=u8::MAX).filter(|byte| !is_valid_byte(*byte)), 61)
}

#[test]
fn every_digit_is_read_at_every_position() {
    for level in levels() {
        let lengths = (1..=13).filter(|length| !cfg!(miri) || [1, 11, 12, 13].contains(length));
        for (length, place) in lengths.flat_map(|length| (0..length).map(move |at| (length, at))) {
            // Under Miri, only the first and the last byte are tested.
            for digit in sample_under_miri((1..=u8::MAX).filter(|byte| is_valid_byte(*byte)), 31) {
                let mut digits = vec![b'7'; length];
                digits[place] = digit;
                let text = String::from_utf8(digits).unwrap();
                if let Ok(number) = u64::from_str_radix(&text, 32)
                    && !(text.starts_with('0') && length > 1)
                {
                    assert_number_round_trips(level, number);
                }
            }
        }
    }
}

#[test]
fn bytes_after_the_digits_are_rejected() {
    for (level, length) in levels().flat_map(|level| [11, 12, 13].map(|length| (level, length))) {
        for (place, byte) in (length..16)
            .flat_map(|at| sample_under_miri(1..=u8::MAX, 61).map(move |byte| (at, byte)))
        {
            let mut slots = SLOTS.clone();
            let item = usize::from(byte) % ITEM_COUNT;
            slots[item] = pad_to_slot(&"7".repeat(length));
            slots[item][place] = byte;
            if place > length || place == 13 || !is_valid_byte(byte) {
                assert_same_error_as_single(level, &slots, item);
            }
        }
    }
}

#[test]
fn invalid_bytes_are_found_at_every_item_and_position() {
    for level in levels() {
        for length in [1, 11, 12, 13] {
            for place in 0..length {
                for bad in invalid_bytes().filter(|bad| *bad > 0) {
                    let mut slots = SLOTS.clone();
                    let item = usize::from(bad) % ITEM_COUNT;
                    slots[item] = pad_to_slot(&"7".repeat(length));
                    slots[item][place] = bad;
                    assert_same_error_as_single(level, &slots, item);
                }
            }
        }
    }
}

const INVALID_TEXTS: [&str; 15] = [
    "",
    "00",
    "01",
    "0123456789ab",
    "0fffffffffff",
    "g000000000000",
    "vvvvvvvvvvvvv",
    "11111111111111",
    "1111111111111111",
    "7\x007",
    "77777777777\x007",
    "777777777777\x007",
    "7777777777777\x007",
    "\x007",
    "0fvvvvvvvvvvvv",
];

#[test]
fn noncanonical_strings_are_rejected() {
    for level in levels() {
        for text in INVALID_TEXTS {
            for item in item_indices() {
                let mut slots = SLOTS.clone();
                slots[item] = pad_to_slot(text);
                assert_same_error_as_single(level, &slots, item);
            }
        }
    }
}

fn expected_column(numbers: &[u64]) -> (Vec<i32>, String) {
    let (mut offsets, mut text) = (vec![0], String::new());
    for &number in numbers {
        text += &text_of(number);
        offsets.push(text.len().try_into().unwrap());
    }
    (offsets, text)
}

#[test]
fn columns_of_every_length_round_trip() {
    for level in levels() {
        for length in lengths() {
            let numbers = numbers(length);
            let (expected_offsets, expected) = expected_column(&numbers);
            let (mut offsets, mut text) = (vec![-1; length + 1], vec![0xa5; 13 * length]);
            let end = encode_randflake_column(level, &numbers, &mut offsets, &mut text).unwrap();
            assert_eq!(offsets, expected_offsets, "{level:?} {length}");
            assert_eq!(&text[..end], expected.as_bytes(), "{level:?} {length}");
            // The text is tested with and without trailing bytes that do not belong to any string.
            for text in [&text[..end], &text] {
                let mut read = vec![UNWRITTEN_NUMBER; length];
                decode_randflake_column(level, &offsets, text, &mut read).unwrap();
                assert_eq!(read, numbers, "{level:?} {length}");
            }
        }
    }
}

#[track_caller]
fn assert_column_fails_like_single(level: Level, texts: &[Vec<u8>], item: usize) {
    let ends = texts.iter().scan(0, |end, text| {
        *end += i32::try_from(text.len()).unwrap();
        Some(*end)
    });
    let offsets: Vec<i32> = std::iter::once(0).chain(ends).collect();
    let expected = single_decode_error(&texts[item], item);
    let mut read = vec![UNWRITTEN_NUMBER; texts.len()];
    let decoded = decode_randflake_column(level, &offsets, &texts.concat(), &mut read);
    assert_eq!(decoded, Err(expected), "{level:?} {:?}", texts[item]);
    assert_eq!(read[..item], NUMBERS[..item], "{level:?}");
    assert!(
        read[item..].iter().all(|number| *number == UNWRITTEN_NUMBER),
        "{level:?} wrote past {item}"
    );
}

fn texts(numbers: &[u64]) -> Vec<Vec<u8>> {
    numbers.iter().map(|&number| text_of(number).into_bytes()).collect()
}

#[test]
fn invalid_bytes_are_found_at_every_position_of_columns() {
    for level in levels() {
        for length in [1, 11, 12, 13] {
            for (place, bad) in
                (0..length).flat_map(|place| invalid_bytes().map(move |bad| (place, bad)))
            {
                let mut texts = TEXTS.clone();
                let item = usize::from(bad) % ITEM_COUNT;
                texts[item] = vec![b'7'; length];
                texts[item][place] = bad;
                assert_column_fails_like_single(level, &texts, item);
            }
        }
    }
}

#[test]
fn noncanonical_strings_in_columns_are_rejected() {
    for (level, text) in levels().flat_map(|level| INVALID_TEXTS.map(move |text| (level, text))) {
        for item in item_indices() {
            let mut texts = TEXTS.clone();
            texts[item] = text.into();
            assert_column_fails_like_single(level, &texts, item);
        }
    }
}

#[test]
fn invalid_offsets_are_rejected_at_every_item() {
    let numbers = numbers(ITEM_COUNT);
    let (offsets, text) = expected_column(&numbers);
    let past = i32::try_from(text.len()).unwrap() + 1;
    for level in levels() {
        for (item, bad) in
            item_indices().flat_map(|item| [i32::MIN, -1, past, i32::MAX].map(|bad| (item, bad)))
        {
            let mut offsets = offsets.clone();
            offsets[item + 1] = bad;
            let mut read = vec![UNWRITTEN_NUMBER; ITEM_COUNT];
            let error =
                decode_randflake_column(level, &offsets, text.as_bytes(), &mut read).unwrap_err();
            assert_eq!((error.kind(), error.item()), (ErrorKind::OutOfRange, Some(item)));
            assert_eq!(read[..item], numbers[..item], "{level:?}");
            assert!(read[item..].iter().all(|number| *number == UNWRITTEN_NUMBER), "{level:?}");
        }
    }
}

#[test]
fn invalid_columns_are_rejected() {
    for level in levels() {
        assert_bad_columns_are_rejected(level);
    }
}

fn assert_bad_columns_are_rejected(level: Level) {
    let mut numbers = [0; 2];
    let mut read = |offsets: &[i32], text: &[u8]| {
        let error = decode_randflake_column(level, offsets, text, &mut numbers).unwrap_err();
        (error.kind(), error.item(), error.position())
    };
    assert_eq!(read(&[0, 1], b"77"), (ErrorKind::InvalidLength, None, None));
    assert_eq!(read(&[0, 1, 3], b"77"), (ErrorKind::OutOfRange, Some(1), None));
    assert_eq!(read(&[0, 2, 1], b"77"), (ErrorKind::OutOfRange, Some(1), None));
    assert_eq!(read(&[-1, 1, 2], b"77"), (ErrorKind::OutOfRange, Some(0), None));
    assert_eq!(read(&[0, -1, 2], b"77"), (ErrorKind::OutOfRange, Some(0), None));
    assert_eq!(read(&[0, 0, 2], b"77"), (ErrorKind::InvalidLength, Some(0), None));
    assert_eq!(read(&[0, 1, 3], b"77\0"), (ErrorKind::InvalidCharacter, Some(1), Some(1)));
    assert_eq!(read(&[0, 1, 3], b"707"), (ErrorKind::NotCanonical, Some(1), None));
}

#[test]
fn slices_of_other_lengths_are_rejected() {
    let (ids, mut slots) = ([Randflake::default(); 2], [[0; 16]; 3]);
    let kind = |outcome: Result<(), Error>| outcome.unwrap_err().kind();
    assert_eq!(kind(randflake::encode_slice(&ids, &mut slots)), ErrorKind::InvalidLength);
    assert_eq!(kind(randflake::decode_slice(&slots, &mut [ids[0]; 2])), ErrorKind::InvalidLength);
    let column = |offsets: &mut [i32], text: &mut [u8]| {
        randflake::encode_column(&ids, offsets, text).map(drop)
    };
    assert_eq!(kind(column(&mut [0; 2], &mut [0; 26])), ErrorKind::InvalidLength);
    assert_eq!(kind(column(&mut [0; 3], &mut [0; 25])), ErrorKind::InvalidLength);
    assert_eq!(column(&mut [0; 3], &mut [0; 26]), Ok(()));
}
