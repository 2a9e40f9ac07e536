//! Finds equal IDs among more IDs than memory holds: full buffers are sorted and written to disk as runs, and the runs are
//! merged. The memory is the buffer, plus one block per run while they are merged.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fs::File,
    io::{BufReader, BufWriter, Read, Seek, Write},
    path::PathBuf,
};

use anyhow::Result;

use crate::key::Key;

/// The size of a record on disk.
const BYTES: usize = 40;

/// The buffer of a run that is read.
const BLOCK: usize = 1 << 16;

/// Where an ID came from: its stream and its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The position, which is compared first, so that early duplicates come first.
    pub index: u64,
    /// The number of the stream.
    pub stream: u32,
}

impl Origin {
    const STREAM_BITS: u32 = 20;

    fn pack(self) -> u64 {
        self.index << Self::STREAM_BITS | u64::from(self.stream)
    }

    fn unpack(word: u64) -> Self {
        let stream = word & ((1 << Self::STREAM_BITS) - 1);
        Self { index: word >> Self::STREAM_BITS, stream: stream as u32 }
    }
}

/// A key, and its origin as one word.
type Record = (Key, u64);

/// The IDs that occurred more than once.
#[derive(Debug, Default, PartialEq)]
pub struct Duplicates {
    /// How many IDs were equal to one before them.
    pub count: u64,
    /// The pair whose second ID has the lowest position in its stream.
    pub first: Option<(Key, Origin, Origin)>,
}

impl Duplicates {
    /// Records that two IDs are equal, of which the second was generated later in its stream.
    fn add(&mut self, key: Key, one: u64, other: u64) {
        self.count += 1;
        let (one, other) = (Origin::unpack(one), Origin::unpack(other));
        if self.first.is_none_or(|(_, _, second)| other < second) {
            self.first = Some((key, one, other));
        }
    }
}

/// Sorts any number of IDs.
pub struct Sorter {
    folder: PathBuf,
    buffer: Vec<Record>,
    capacity: usize,
    runs: Vec<File>,
}

impl Sorter {
    /// Creates a sorter that uses this many bytes of memory, and the disk of a folder.
    #[must_use]
    pub fn new(folder: PathBuf, bytes: usize) -> Self {
        let capacity = (bytes / size_of::<Record>()).max(2);
        Self { folder, buffer: Vec::new(), capacity, runs: Vec::new() }
    }

    /// Adds an ID.
    pub fn push(&mut self, key: Key, origin: Origin) -> Result<()> {
        if self.buffer.len() == self.capacity {
            self.write_run()?;
        }
        self.buffer.push((key, origin.pack()));
        Ok(())
    }

    fn write_run(&mut self) -> Result<()> {
        self.buffer.sort_unstable();
        let mut file = BufWriter::with_capacity(BLOCK, tempfile::tempfile_in(&self.folder)?);
        for (key, origin) in self.buffer.drain(..) {
            for word in key.iter().chain([&origin]) {
                file.write_all(&word.to_le_bytes())?;
            }
        }
        self.runs.push(file.into_inner()?);
        Ok(())
    }

    /// Returns the IDs that occurred more than once.
    pub fn finish(mut self) -> Result<Duplicates> {
        if self.runs.is_empty() {
            self.buffer.sort_unstable();
            return neighbours(self.buffer.into_iter().map(Ok));
        }
        self.write_run()?;
        // The memory is free for the blocks of the runs.
        self.buffer = Vec::new();
        neighbours(Merge::new(self.runs)?)
    }
}

/// Compares each record of a sorted sequence with the one before it.
fn neighbours(records: impl Iterator<Item = Result<Record>>) -> Result<Duplicates> {
    let mut found = Duplicates::default();
    let mut last: Option<Record> = None;
    for record in records {
        let (key, origin) = record?;
        if let Some((_, before)) = last.filter(|(last, _)| *last == key) {
            found.add(key, before, origin);
        }
        last = Some((key, origin));
    }
    Ok(found)
}

/// The records of sorted runs in order.
struct Merge {
    runs: Vec<BufReader<File>>,
    /// The next record of each run.
    next: BinaryHeap<Reverse<(Record, usize)>>,
}

impl Merge {
    fn new(files: Vec<File>) -> Result<Self> {
        let mut merge = Self { runs: Vec::new(), next: BinaryHeap::new() };
        for (index, mut file) in files.into_iter().enumerate() {
            file.rewind()?;
            merge.runs.push(BufReader::with_capacity(BLOCK, file));
            merge.read(index)?;
        }
        Ok(merge)
    }

    /// Reads the next record of a run.
    fn read(&mut self, run: usize) -> Result<()> {
        let mut bytes = [0; BYTES];
        if let Err(error) = self.runs[run].read_exact(&mut bytes) {
            let is_end = error.kind() == std::io::ErrorKind::UnexpectedEof;
            return if is_end { Ok(()) } else { Err(error.into()) };
        }
        let words: &[[u8; 8]] = bytes.as_chunks().0;
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let key = std::array::from_fn(word);
        self.next.push(Reverse(((key, word(4)), run)));
        Ok(())
    }
}

impl Iterator for Merge {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((record, run)) = self.next.pop()?;
        Some(self.read(run).map(|()| record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts IDs of one stream, with a buffer for so many records.
    fn duplicates(ids: impl Iterator<Item = u64>, records: usize) -> Duplicates {
        let folder = tempfile::tempdir().unwrap();
        let bytes = records * size_of::<Record>();
        let mut sorter = Sorter::new(folder.path().to_owned(), bytes);
        for (index, id) in ids.enumerate() {
            let origin = Origin { index: index as u64, stream: 7 };
            sorter.push([id, 0, 0, id], origin).unwrap();
        }
        sorter.finish().unwrap()
    }

    #[test]
    fn duplicates_are_found_in_memory_and_on_disk() {
        // 997 is prime, so the multiples of a number repeat after 997 IDs.
        let ids = || (0..2000).map(|index: u64| index * 31 % 997);
        let in_memory = duplicates(ids(), 5000);
        assert_eq!(in_memory.count, 2000 - 997);
        let (key, one, other) = in_memory.first.unwrap();
        assert_eq!((key[0], one.index, other.index, other.stream), (0, 0, 997, 7));
        for records in [3, 100, 1999, 2000] {
            assert_eq!(duplicates(ids(), records), in_memory);
        }
    }

    #[test]
    fn different_ids_are_no_duplicates() {
        assert_eq!(duplicates((0..997).map(|id| id * 31 % 997), 100), Duplicates::default());
    }

    #[test]
    fn an_origin_is_packed_with_all_its_bits() {
        let last = Origin { index: (1 << 44) - 1, stream: (1 << 20) - 1 };
        assert_eq!(Origin::unpack(last.pack()), last);
    }
}
