//! Columns and filters of 4 million sno IDs, each against merely reading and writing the same memory.

use std::hint::black_box;

use polyflake::{
    Result,
    sno::{self, Sno},
};

use crate::{
    contest::{Against, Contest, Entry, Goal},
    measure::{Work, repeat_with},
    samples::{MILLIONS, millions},
};

const READ: &str = "reading the IDs";
const READ_AND_WRITE_2: &str = "reading the IDs and writing 2 bytes for each";
const READ_AND_WRITE_8: &str = "reading the IDs and writing 8 bytes for each";

pub(crate) fn all() -> Contest {
    let ours = [
        ("unix_ms", column::<i64>(sno::unix_ms_column)),
        ("metabyte", column::<u8>(sno::metabyte_column)),
        ("partition", column::<u16>(sno::partition_column)),
        ("sequence", column::<u16>(sno::sequence_column)),
        ("having a metabyte", filter(|ids, bitmap| sno::having_metabyte(ids, 7, bitmap))),
        (
            "in a time range",
            filter(|ids, bitmap| sno::in_time_range(ids, 1 << 41, 1 << 41 | 1 << 40, bitmap)),
        ),
    ];
    let peers = [
        (READ, repeat_with(millions, |ids| read(ids))),
        (READ_AND_WRITE_2, column::<u16>(read_and_write)),
        (READ_AND_WRITE_8, column::<i64>(read_and_write)),
    ];
    let ours = ours.into_iter().map(|(name, work)| Entry::ours(name, work));
    let peers = peers.into_iter().map(|(name, work)| Entry::peer(name, work));
    Contest {
        name: "rust: columns and filters of 4 million IDs",
        axis: None,
        entries: ours.chain(peers).map(|entry| entry.making(MILLIONS)).collect(),
        goals: vec![
            goal("rust: sno column of times", "unix_ms", READ_AND_WRITE_8),
            goal("rust: sno column of metabytes", "metabyte", READ),
            goal("rust: sno column of partitions", "partition", READ_AND_WRITE_2),
            goal("rust: sno column of sequences", "sequence", READ_AND_WRITE_2),
            goal("rust: sno filter by metabyte", "having a metabyte", READ),
            goal("rust: sno filter by time", "in a time range", READ),
        ],
    }
}

fn goal(name: &'static str, ours: &'static str, against: &'static str) -> Goal {
    Goal { name, ours: ours.into(), against: Against::entry(against), most: 1.3 }
}

fn column<T: Clone + Default + 'static>(fill: fn(&[Sno], &mut [T]) -> Result<()>) -> Work {
    let column = || vec![T::default(); MILLIONS as usize];
    repeat_with(move || (millions(), column()), move |(ids, column)| fill(ids, black_box(column)))
}

fn filter(mark: fn(&[Sno], &mut [u8]) -> Result<usize>) -> Work {
    let bitmap = || vec![0; MILLIONS as usize / 8];
    repeat_with(move || (millions(), bitmap()), move |(ids, bitmap)| mark(ids, black_box(bitmap)))
}

fn read(ids: &[Sno]) -> u64 {
    let words = Sno::slice_as_bytes(ids).as_chunks().0.iter();
    words.fold(0, |all, word| all ^ u64::from_ne_bytes(*word))
}

#[allow(clippy::unnecessary_wraps, reason = "as a column")]
fn read_and_write<T: Clone + Default>(ids: &[Sno], column: &mut [T]) -> Result<()> {
    black_box(read(ids));
    column.fill(T::default());
    Ok(())
}
