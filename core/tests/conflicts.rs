//! Tests the detection of conflicting generators, which can generate the same ID. WebAssembly rejects such generators.
//! `moving.rs` tests the detection of conflicts between generators of successive grants.

use std::ops::{Range, RangeInclusive};

use polyflake::{
    clock::ManualClock,
    layout,
    randflake::{self, Grant},
    sno,
};

/// The start of a tick in every format, in Unix milliseconds.
const START_MS: i64 = 1_763_650_000_000;

fn clock() -> ManualClock {
    ManualClock::at_unix_ms(START_MS)
}

fn partition_generator(
    partition: u16,
    sequences: RangeInclusive<u16>,
    window: Range<i64>,
) -> sno::Generator<ManualClock> {
    let builder = sno::Builder::with_clock(clock()).partition(partition);
    let builder = builder.sequence_min(*sequences.start()).sequence_max(*sequences.end());
    builder.window(window.start, window.end).build().unwrap()
}

fn node_generator(
    nodes: RangeInclusive<u32>,
    seconds: Range<i64>,
) -> randflake::Generator<ManualClock> {
    let grant =
        Grant::with_nodes(nodes, START_MS / 1000 + seconds.start, START_MS / 1000 + seconds.end);
    randflake::Builder::with_clock(grant.unwrap(), [7; 16], clock()).build().unwrap()
}

fn layout_generator(machine: Option<i64>) -> layout::Generator<ManualClock> {
    let layout = layout::preset("sonyflake", []).unwrap();
    let builder = layout::Builder::with_clock(layout, clock());
    let builder = match machine {
        Some(machine) => builder.bind("machine", machine),
        None => builder,
    };
    builder.build().unwrap()
}

/// Returns whether two generators conflict, and asserts that the order of the arguments does not matter.
macro_rules! both_may_repeat {
    ($one:expr, $other:expr) => {{
        let (one, other) = ($one, $other);
        let may_repeat = one.may_repeat(&other, None).unwrap();
        assert_eq!(other.may_repeat(&one, None).unwrap(), may_repeat, "in the other order");
        may_repeat
    }};
}

#[test]
fn partitions_conflict_if_sequences_and_windows_overlap() {
    let seven = || partition_generator(7, 100..=199, START_MS..START_MS + 40);
    assert!(both_may_repeat!(seven(), seven()));
    assert!(both_may_repeat!(
        seven(),
        partition_generator(7, 199..=300, START_MS + 36..START_MS + 80)
    ));
    assert!(
        !both_may_repeat!(seven(), partition_generator(8, 100..=199, START_MS..START_MS + 40)),
        "another partition"
    );
    assert!(
        !both_may_repeat!(seven(), partition_generator(7, 200..=300, START_MS..START_MS + 40)),
        "later sequences"
    );
    assert!(
        !both_may_repeat!(seven(), partition_generator(7, 100..=199, START_MS + 40..START_MS + 80)),
        "a later window"
    );
    let default = || sno::Builder::with_clock(clock()).build().unwrap();
    assert!(!both_may_repeat!(default(), default()), "random partitions");
}

#[test]
fn extended_windows_conflict_and_closed_generators_do_not() {
    let (one, later) = (
        partition_generator(7, 0..=9, START_MS..START_MS + 40),
        partition_generator(7, 0..=9, START_MS + 40..START_MS + 80),
    );
    assert!(one.may_repeat(&later, Some(START_MS + 44)).unwrap(), "an extended window");
    assert!(!one.may_repeat(&later, Some(START_MS + 40)).unwrap());
    one.extend_window(START_MS + 44).unwrap();
    assert!(both_may_repeat!(&one, &later));
    one.close().unwrap();
    assert!(!both_may_repeat!(&one, &later));
    let (one, later) = (node_generator(1..=4, 0..9), node_generator(4..=4, 9..20));
    assert!(!both_may_repeat!(&one, &later));
    one.extend_grant(Grant::with_nodes(1..=4, START_MS / 1000, START_MS / 1000 + 10).unwrap())
        .unwrap();
    assert!(both_may_repeat!(&one, &later));
    later.close().unwrap();
    assert!(!both_may_repeat!(&one, &later));
}

#[test]
fn layouts_conflict_only_if_all_values_are_bound() {
    assert!(both_may_repeat!(layout_generator(Some(7)), layout_generator(Some(7))));
    assert!(!both_may_repeat!(layout_generator(Some(7)), layout_generator(Some(8))));
    // If the machine ID is not bound, callers pass it with each ID, so a conflict cannot be detected.
    assert!(!both_may_repeat!(layout_generator(None), layout_generator(None)));
}
