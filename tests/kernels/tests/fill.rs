//! Tests that, at every level, filling a buffer with consecutive IDs gives the same IDs as creating each ID individually.

use kernel_tests::lengths;
use polyflake::{
    hotguid::{HotGuid, LAST_COUNTER, Parts},
    kernels::{fill_hot_guid, fill_sno, levels},
    sno::Sno,
};

const FIRST_ID: Sno = Sno::from_bytes([0x3e, 9, 0x25, 0x1e, 0xc1, 0x2a, 2, 1, 4, 3]);

#[test]
fn sno_runs_of_every_length_have_consecutive_sequences() {
    for level in levels() {
        for first in [0, 1, 0xf8, 0xfed3, 0xffff] {
            for length in lengths() {
                let ids = (0..=u16::MAX - first).map(|k| FIRST_ID.with_sequence(first + k));
                let expected: Vec<u8> = ids.take(length).flat_map(Sno::to_bytes).collect();
                let mut written = vec![0; expected.len()];
                fill_sno(level, &mut written, FIRST_ID.with_sequence(first));
                assert_eq!(written, expected, "{level:?}: {length} from {first}");
            }
        }
    }
}

/// Returns a Hot Guid with the given counter. The counter wraps around to 0 after its last value.
fn hot_guid(counter: u32) -> HotGuid {
    let counter = counter & LAST_COUNTER;
    let machine = [1, 2, 3, 4, 0xff];
    let parts = Parts { timestamp: 0xfedc_ba98, machine, counter, shard_key: 0xffff_ff03 };
    HotGuid::from_parts(parts).unwrap()
}

#[test]
fn hot_guid_runs_of_every_length_have_consecutive_counters() {
    for level in levels() {
        for first in [0, 1, 0xff, 0xffff, LAST_COUNTER - 100, LAST_COUNTER - 1, LAST_COUNTER] {
            for length in lengths() {
                let ids = (first..).take(length).map(hot_guid);
                let mut written = vec![HotGuid::default(); length];
                fill_hot_guid(level, &mut written, hot_guid(first));
                assert!(ids.eq(written), "{level:?}: {length} from {first}");
            }
        }
    }
}
