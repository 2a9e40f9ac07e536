//! Benchmarks for custom layouts: packing eight field values into an ID, and parsing the ID again.

use std::hint::black_box;

use polyflake::layout::{Field, FieldIndex, Layout, Tick};

use crate::{
    contest::{Comparison, Entry, Goal},
    hand_written,
    measure::{Work, repeat},
};

pub(crate) fn pack_and_parse() -> Comparison {
    Comparison::new(
        "rust: a layout of 8 fields",
        vec![
            Entry::own_entry("pack", pack()),
            Entry::own_entry("parse", parse()),
            Entry::peer_entry(PACK_BY_HAND, hand_written::pack()),
            Entry::peer_entry(PARSE_BY_HAND, hand_written::parse()),
        ],
        vec![
            Goal::new("rust: layout pack, 8 fields", "pack", PACK_BY_HAND, 6.0),
            Goal::new("rust: layout parse, 8 fields", "parse", PARSE_BY_HAND, 4.0),
        ],
    )
}

const PACK_BY_HAND: &str = "the same fields packed by hand";
const PARSE_BY_HAND: &str = "the same fields parsed by hand";

/// Returns a layout of eight fields in 64 bits, two of which are inverted. The layout is never freed.
fn layout() -> &'static Layout {
    let fields = [
        Field::unused(1),
        Field::timestamp(39, Tick::from_millis(10).expect("a tick"), 1_409_529_600_000),
        Field::constant(2, "region", 1),
        Field::bindable(4, "zone"),
        Field::bindable(4, "rack").inverted(),
        Field::bindable(5, "worker"),
        Field::constant(1, "kind", 0),
        Field::sequence(8).inverted(),
    ];
    Box::leak(Box::new(Layout::integer(fields).expect("64 bits")))
}

fn field_indexes(layout: &Layout) -> [FieldIndex; 3] {
    ["zone", "rack", "worker"].map(|name| layout.bindable(name).expect("a bindable"))
}

pub(crate) fn pack() -> Work {
    let layout = layout();
    let ([zone, rack, worker], mut n) = (field_indexes(layout), 0_u8);
    let (time, sequence) =
        (layout.timestamp().expect("a time"), layout.sequence().expect("a sequence"));
    let mut values = layout.values();
    repeat(move || -> polyflake::Result<i64> {
        n = n.wrapping_add(1);
        values.set(time, black_box(1_763_650_000_000_i64) + i64::from(n))?;
        values.set(zone, n & 15)?.set(rack, n >> 4)?.set(worker, n & 31)?.set(sequence, n)?;
        values.pack_integer()
    })
}

pub(crate) fn parse() -> Work {
    let layout = layout();
    let [zone, rack, worker] = field_indexes(layout);
    let region = layout.constant("region").expect("a constant");
    let (kind, sequence) =
        (layout.constant("kind").expect("a constant"), layout.sequence().expect("a sequence"));
    let all = [region, zone, rack, worker, kind, sequence];
    let mut id = 1_i64 << 60;
    repeat(move || -> polyflake::Result<_> {
        id = black_box(id) + 1_234_567;
        let parsed = layout.parse_integer(id)?;
        for slot in all {
            black_box(parsed.integer(slot)?);
        }
        Ok(parsed.unix_ms())
    })
}
