//! The fields of each preset.

use crate::layout::{Field, Tick};

/// One field of a preset.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Unused(u32),
    /// Bits, tick, epoch in Unix milliseconds.
    Time(u32, Tick, i64),
    /// A field of the machine that made the ID: its bits and name.
    Machine(u32, &'static str),
    Sequence(u32),
}

use Part::{Machine, Sequence, Time, Unused};

const MS: Tick = Tick::MILLISECOND;

/// The names that [`preset`] knows, and the fields of each, from the top.
pub(super) const TABLE: [(&str, &[Part]); 6] = [
    (
        "twitter",
        &[
            Unused(1),
            Time(41, MS, 1_288_834_974_657),
            Machine(5, "datacenter"),
            Machine(5, "worker"),
            Sequence(12),
        ],
    ),
    (
        "discord",
        &[
            Time(42, MS, 1_420_070_400_000),
            Machine(5, "worker"),
            Machine(5, "process"),
            Sequence(12),
        ],
    ),
    ("instagram", &[Time(41, MS, 1_314_220_021_721), Machine(13, "shard"), Sequence(10)]),
    (
        "sonyflake",
        &[
            Unused(1),
            Time(39, Tick::TEN_MILLISECONDS, 1_409_529_600_000),
            Sequence(8),
            Machine(16, "machine"),
        ],
    ),
    ("mastodon", &[Time(48, MS, 0), Machine(16, "sequence_data")]),
    (
        "baidu",
        &[
            Unused(1),
            Time(28, Tick::SECOND, 1_463_673_600_000),
            Machine(22, "worker"),
            Sequence(13),
        ],
    ),
];

impl Part {
    pub(super) fn field(&self) -> Field {
        match *self {
            Unused(bits) => Field::unused(bits),
            Time(bits, tick, epoch_ms) => Field::timestamp(bits, tick, epoch_ms),
            Machine(bits, name) => Field::bindable(bits, name),
            Sequence(bits) => Field::sequence(bits),
        }
    }
}
