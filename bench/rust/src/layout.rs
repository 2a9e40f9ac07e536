//! Custom layouts: an ID of eight fields, packed from its values and parsed back.

use std::hint::black_box;

use polyflake::layout::{Field, Layout, Slot, Tick, Values};

use crate::{
    by_hand,
    contest::{Against, Contest, Entry, Goal},
    measure::{Work, repeat},
};

pub(crate) fn both_ways() -> Contest {
    Contest {
        name: "rust: a layout of 8 fields",
        axis: None,
        entries: vec![
            Entry::ours("pack", pack()),
            Entry::ours("parse", parse()),
            Entry::peer(PACK_BY_HAND, by_hand::pack()),
            Entry::peer(PARSE_BY_HAND, by_hand::parse()),
        ],
        goals: vec![
            goal("rust: layout pack, 8 fields", "pack", PACK_BY_HAND, 6.0),
            goal("rust: layout parse, 8 fields", "parse", PARSE_BY_HAND, 4.0),
        ],
    }
}

const PACK_BY_HAND: &str = "the same fields packed by hand";
const PARSE_BY_HAND: &str = "the same fields parsed by hand";

fn goal(name: &'static str, ours: &'static str, against: &'static str, most: f64) -> Goal {
    Goal { name, ours: ours.into(), against: Against::entry(against), most }
}

/// Number of IDs in a column.
const IDS: u32 = 4096;

/// The contest for the same layout, a column at a time.
pub(crate) fn columns() -> Contest {
    let entries = [
        Entry::ours(PARSE, parse_columns()),
        Entry::ours(PACK, pack_columns()),
        Entry::peer(PARSE_BY_HAND, by_hand::parse_columns(IDS)),
        Entry::peer(PACK_BY_HAND, by_hand::pack_columns(IDS)),
    ];
    Contest {
        name: "rust: 3 fields of 4096 IDs of a layout",
        axis: None,
        entries: entries.into_iter().map(|entry| entry.making(IDS)).collect(),
        goals: vec![
            goal("rust: layout parse, 3 columns", PARSE, PARSE_BY_HAND, 2.0),
            goal("rust: layout pack, 3 columns", PACK, PACK_BY_HAND, 2.0),
        ],
    }
}

const PARSE: &str = "parse columns";
const PACK: &str = "pack columns";

/// Columns of the time and of two numbers.
struct Columns {
    slots: [Slot; 3],
    columns: [Vec<i64>; 3],
}

impl Columns {
    fn of(layout: &Layout) -> Self {
        let slots = [layout.timestamp(), layout.bindable("rack"), layout.sequence()];
        let column = |value: fn(i64) -> i64| (0..i64::from(IDS)).map(value).collect();
        Self {
            slots: slots.map(|slot| slot.expect("a field")),
            columns: [column(|k| 1_763_650_000_000 + k), column(|k| k % 16), column(|k| k % 256)],
        }
    }
}

fn values(layout: &'static Layout) -> Values<'static> {
    let mut values = layout.values();
    values.bind("zone", 3).and_then(|values| values.bind("worker", 9)).expect("values that fit");
    values
}

fn pack_columns() -> Work {
    let layout = layout();
    let (Columns { slots, columns }, values) = (Columns::of(layout), values(layout));
    let mut ids = vec![0; IDS as usize];
    repeat(move || {
        let [time, rack, sequence] = &columns;
        let columns = [(slots[0], &time[..]), (slots[1], rack), (slots[2], sequence)];
        values.pack_integer_columns(&columns, black_box(&mut ids))
    })
}

fn parse_columns() -> Work {
    let layout = layout();
    let Columns { slots, mut columns } = Columns::of(layout);
    let ids: Vec<i64> = (0..i64::from(IDS)).map(|k| 1 << 60 | k << 20).collect();
    repeat(move || {
        let mut pairs = slots.iter().zip(&mut columns);
        pairs.try_for_each(|(slot, column)| layout.integer_column(*slot, black_box(&ids), column))
    })
}

/// Eight fields of 64 bits, two of them inverted; the layout lives as long as the program.
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

fn slots(layout: &Layout) -> [Slot; 3] {
    ["zone", "rack", "worker"].map(|name| layout.bindable(name).expect("a bindable"))
}

pub(crate) fn pack() -> Work {
    let layout = layout();
    let ([zone, rack, worker], mut n) = (slots(layout), 0_u8);
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
    let [zone, rack, worker] = slots(layout);
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
