//! Columns of the fields of many IDs, where the core has no kernels of its own.

use polyflake::{Error, Result, hotguid::HotGuid};

/// Writes the creation time of each Hot Guid, in Unix seconds.
///
/// # Errors
/// `invalid_length` unless the slices are equally long.
pub fn timestamps(ids: &[HotGuid], column: &mut [i64]) -> Result<()> {
    fill(ids, column, HotGuid::timestamp)
}

/// Writes the counter of each Hot Guid.
///
/// # Errors
/// `invalid_length` unless the slices are equally long.
pub fn counters(ids: &[HotGuid], column: &mut [u32]) -> Result<()> {
    fill(ids, column, HotGuid::counter)
}

/// Writes the shard key of each Hot Guid.
///
/// # Errors
/// `invalid_length` unless the slices are equally long.
pub fn shard_keys(ids: &[HotGuid], column: &mut [u32]) -> Result<()> {
    fill(ids, column, HotGuid::shard_key)
}

/// Writes the 5 bytes of each Hot Guid's machine.
///
/// # Errors
/// `invalid_length` unless there are 5 bytes for each ID.
pub fn machines(ids: &[HotGuid], column: &mut [u8]) -> Result<()> {
    let found = column.len();
    let (rows, rest) = column.as_chunks_mut();
    if !rest.is_empty() || rows.len() != ids.len() {
        return Err(Error::invalid_length(found, 5 * ids.len(), 5 * ids.len()));
    }
    fill(ids, rows, HotGuid::machine)
}

/// Sets the bit of each Hot Guid whose second begins in a half-open time range, from the lowest bit of each byte on, and returns their
/// number. There is a byte for each 8 IDs; bits past the end become 0.
///
/// # Errors
/// Those of [`HotGuid::time_range`]; `invalid_length` for another number of bytes.
pub fn in_time_range(
    ids: &[HotGuid],
    start_ms: i64,
    end_ms: i64,
    bitmap: &mut [u8],
) -> Result<usize> {
    let (lowest, highest) = HotGuid::time_range(start_ms, end_ms)?;
    let seconds = lowest.timestamp()..=highest.timestamp();
    if bitmap.len() != ids.len().div_ceil(8) {
        let expected = ids.len().div_ceil(8);
        return Err(Error::invalid_length(bitmap.len(), expected, expected));
    }
    let mut passed = 0;
    for (byte, ids) in bitmap.iter_mut().zip(ids.chunks(8)) {
        let bit =
            |(place, id): (usize, &HotGuid)| u8::from(seconds.contains(&id.timestamp())) << place;
        *byte = ids.iter().enumerate().map(bit).sum();
        passed += byte.count_ones() as usize;
    }
    Ok(passed)
}

fn fill<T>(ids: &[HotGuid], column: &mut [T], field: fn(HotGuid) -> T) -> Result<()> {
    if column.len() != ids.len() {
        return Err(Error::invalid_length(column.len(), ids.len(), ids.len()));
    }
    ids.iter().zip(column).for_each(|(id, place)| *place = field(*id));
    Ok(())
}

#[cfg(test)]
mod tests {
    use polyflake::{ErrorKind, hotguid::Parts};

    use super::*;

    #[test]
    fn columns_hold_the_parts_of_each_id() {
        let parts = |k: u32| Parts {
            timestamp: 4_294_967_295 - i64::from(k),
            machine: [1, 2, 3, 4, u8::try_from(k).expect("a byte")],
            counter: 0xff_ffff - k,
            shard_key: u32::MAX - k,
        };
        let all: Vec<Parts> = (0..100).map(parts).collect();
        let ids: Vec<_> =
            all.iter().map(|parts| HotGuid::from_parts(*parts).expect("fits")).collect();
        let (mut times, mut counts, mut keys) = (vec![0; 100], vec![0; 100], vec![0; 100]);
        let mut machines_of = vec![0; 500];
        timestamps(&ids, &mut times).expect("one length");
        counters(&ids, &mut counts).expect("one length");
        shard_keys(&ids, &mut keys).expect("one length");
        machines(&ids, &mut machines_of).expect("one length");
        for (at, parts) in all.iter().enumerate() {
            assert_eq!(
                (times[at], counts[at], keys[at]),
                (parts.timestamp, parts.counter, parts.shard_key)
            );
            assert_eq!(machines_of[at * 5..][..5], parts.machine);
        }
    }

    #[test]
    fn a_time_range_selects_the_seconds_that_begin_in_it() {
        let parts = HotGuid::default().parts();
        let at = |timestamp| HotGuid::from_parts(Parts { timestamp, ..parts }).expect("fits");
        for length in [0, 1, 7, 8, 9, 1001] {
            let ids: Vec<_> = (0..length).map(at).collect();
            let mut bitmap = vec![0xff; ids.len().div_ceil(8)];
            let passed = in_time_range(&ids, 2_500, 9_001, &mut bitmap).expect("a range");
            let bits = bitmap.iter().enumerate();
            let set: Vec<_> = bits
                .flat_map(|(at, byte)| {
                    (0..8).filter(move |k| byte >> k & 1 == 1).map(move |k| at * 8 + k)
                })
                .collect();
            let expected: Vec<_> = (3..=9).filter(|second| *second < ids.len()).collect();
            assert_eq!((passed, set), (expected.len(), expected));
        }
        let refused = in_time_range(&[at(1)], 0, 5_000, &mut []).expect_err("no byte");
        assert_eq!(refused.kind(), ErrorKind::InvalidLength);
        let refused = in_time_range(&[], 5_000, 0, &mut []).expect_err("reversed");
        assert_eq!(refused.kind(), ErrorKind::OutOfRange);
    }

    #[test]
    fn a_column_of_another_length_is_refused() {
        let ids = [HotGuid::default(); 2];
        let refused = [
            timestamps(&ids, &mut [0; 3]),
            counters(&ids, &mut [0; 1]),
            shard_keys(&ids, &mut []),
            machines(&ids, &mut [0; 9]),
            machines(&ids, &mut [0; 15]),
        ];
        for refused in refused {
            assert_eq!(refused.expect_err("refused").kind(), ErrorKind::InvalidLength);
        }
    }
}
