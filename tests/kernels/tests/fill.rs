//! Runs of sno IDs: every level writes what counting on by one writes.

use kernel_tests::LENGTHS;
use polyflake::{
    kernels::{fill_sno, levels},
    sno::Sno,
};

const FIRST: Sno = Sno::from_bytes([0x3e, 9, 0x25, 0x1e, 0xc1, 0x2a, 2, 1, 4, 3]);

#[test]
fn runs_of_every_length_count_on_by_one() {
    for level in levels() {
        for first in [0, 1, 0xf8, 0xfed3, 0xffff] {
            for length in LENGTHS {
                let ids = (0..=u16::MAX - first).map(|k| FIRST.with_sequence(first + k));
                let expected: Vec<u8> = ids.take(length).flat_map(Sno::to_bytes).collect();
                let mut written = vec![0; expected.len()];
                fill_sno(level, &mut written, FIRST.with_sequence(first));
                assert_eq!(written, expected, "{level:?}: {length} from {first}");
            }
        }
    }
}
