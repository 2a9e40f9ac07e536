//! Tests that IDs whose first field is the timestamp sort by time, and within a tick by the fields that follow.

use polyflake::layout::{Field, Id, Layout, Tick};
use proptest::prelude::*;

/// The time in milliseconds, the value of the bindable field, and the sequence number.
type Parts = (u64, u64, u64);

fn fields(time: u32, bound: u32, rest: u32) -> [Field; 3] {
    let time = Field::timestamp(time, Tick::MILLISECOND, 0);
    [time, Field::bindable(bound, "bound"), Field::sequence(rest)]
}

fn pack(layout: &Layout, (time, bound, sequence): Parts) -> Id {
    let mut values = layout.values();
    values.time(time.cast_signed()).unwrap().bind("bound", bound.cast_signed()).unwrap();
    values.sequence(sequence.cast_signed()).unwrap().pack().unwrap()
}

/// Returns the upper `bits` bits of a random number.
fn upper_bits(number: u64, bits: u32) -> u64 {
    number >> (64 - bits)
}

proptest! {
    #[test]
    fn ids_sort_by_time_first(time in 10..50_u32, bound in 1..12_u32, a: [u64; 3], b: [u64; 3], same: bool) {
        let rest = 63 - time - bound;
        let parts = |[t, n, s]: [u64; 3]| (upper_bits(t, time), upper_bits(n, bound), upper_bits(s, rest));
        let (a, mut b) = (parts(a), parts(b));
        if same {
            b.0 = a.0;
        }
        let integer = Layout::integer([Field::unused(1)].into_iter().chain(fields(time, bound, rest))).unwrap();
        let bytes = Layout::bytes(10, [Field::constant(17, "kind", 5)].into_iter().chain(fields(time, bound, rest))).unwrap();
        for layout in [integer, bytes] {
            prop_assert!(layout.describe().sorts_by_time);
            let order = match (pack(&layout, a), pack(&layout, b)) {
                (Id::Integer(a), Id::Integer(b)) => a.cmp(&b),
                (Id::Bytes(a), Id::Bytes(b)) => a.cmp(&b),
                _ => unreachable!("of one layout"),
            };
            prop_assert_eq!(order, a.cmp(&b));
        }
    }
}
