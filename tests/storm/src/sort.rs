//! Finds equal IDs among more IDs than fit into memory. Each time the buffer is full, it is sorted and written to disk as a
//! run. Finally, the runs are merged. Memory use is limited to the buffer, plus one block per run during the merge. On
//! disk, each word of a record is stored as a variable-length difference from the same word of the previous record, because
//! neighbors in a sorted run differ little.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, binary_heap::PeekMut},
    fs::File,
    io::{BufRead, BufReader, BufWriter, Read, Seek, Write},
    path::PathBuf,
};

use anyhow::Result;

use crate::key::Key;

/// The size of the buffer for reading a run.
const BLOCK: usize = 1 << 16;

/// The origin of an ID: its stream and its position in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The position in the stream. Origins are compared by this position before they are compared by stream, so that IDs
    /// that occur early in their streams sort first.
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

/// A key, and its origin packed into one word.
type Record = (Key, u64);

/// Writes the difference between a word and the previous word as a variable-length integer, with seven data bits per byte.
fn write_word(file: &mut impl Write, before: u64, word: u64) -> std::io::Result<()> {
    let difference = word.wrapping_sub(before).cast_signed();
    // The lowest bit stores the sign, so that small differences of either sign are encoded in few bytes.
    let mut rest = (difference << 1 ^ difference >> 63).cast_unsigned();
    while rest > 127 {
        file.write_all(&[rest.to_le_bytes()[0] | 128])?;
        rest >>= 7;
    }
    file.write_all(&[rest.to_le_bytes()[0]])
}

/// Reads a word that [`write_word`] wrote.
fn read_word(file: &mut impl Read, before: u64) -> std::io::Result<u64> {
    let (mut packed, mut shift, mut byte) = (0, 0, [128]);
    while byte[0] > 127 {
        file.read_exact(&mut byte)?;
        packed |= u64::from(byte[0] & 127) << shift;
        shift += 7;
    }
    let sign = (packed & 1).wrapping_neg();
    Ok(before.wrapping_add(packed >> 1 ^ sign))
}

/// The IDs that occurred more than once.
#[derive(Debug, Default, PartialEq)]
pub struct Duplicates {
    /// The number of IDs that equal an earlier ID.
    pub count: u64,
    /// The first pair of equal IDs, which is the pair whose second ID has the earliest origin.
    pub first: Option<(Key, Origin, Origin)>,
}

impl Duplicates {
    /// Records that two IDs are equal. `one` and `other` are their packed origins, in ascending order.
    fn add(&mut self, key: Key, one: u64, other: u64) {
        self.count += 1;
        let (one, other) = (Origin::unpack(one), Origin::unpack(other));
        if self.first.is_none_or(|(_, _, second)| other < second) {
            self.first = Some((key, one, other));
        }
    }
}

/// A collector that accepts any number of IDs, and finds duplicates by sorting the IDs.
pub struct Sorter {
    folder: PathBuf,
    buffer: Vec<Record>,
    capacity: usize,
    runs: Vec<File>,
}

impl Sorter {
    /// Creates a sorter that keeps up to `bytes` bytes of records in memory and stores the rest in `folder`.
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
        let mut last = Record::default();
        for record in self.buffer.drain(..) {
            for (before, word) in last.0.into_iter().zip(record.0) {
                write_word(&mut file, before, word)?;
            }
            write_word(&mut file, last.1, record.1)?;
            last = record;
        }
        self.runs.push(file.into_inner()?);
        Ok(())
    }

    /// Returns the IDs that occurred more than once.
    pub fn finish(mut self) -> Result<Duplicates> {
        if self.runs.is_empty() {
            self.buffer.sort_unstable();
            return find_duplicates(self.buffer.into_iter().map(Ok));
        }
        self.write_run()?;
        // Free the buffer, to make room for the blocks of the runs.
        self.buffer = Vec::new();
        find_duplicates(Merge::new(self.runs)?)
    }
}

/// Finds duplicates by comparing each record of a sorted sequence with the previous record.
fn find_duplicates(records: impl Iterator<Item = Result<Record>>) -> Result<Duplicates> {
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

/// A reader of a sorted run.
struct Reader {
    file: BufReader<File>,
    last: Record,
}

impl Reader {
    fn new(mut file: File) -> Result<Self> {
        file.rewind()?;
        Ok(Self { file: BufReader::with_capacity(BLOCK, file), last: Record::default() })
    }

    /// Reads the next record.
    fn read(&mut self) -> Result<Option<Record>> {
        if self.file.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let (key, origin) = &mut self.last;
        for word in key.iter_mut().chain([origin]) {
            *word = read_word(&mut self.file, *word)?;
        }
        Ok(Some(self.last))
    }
}

/// An iterator that merges sorted runs, and yields their records in ascending order.
struct Merge {
    runs: Vec<Reader>,
    /// The next record of each run, with the index of the run.
    next: BinaryHeap<Reverse<(Record, usize)>>,
}

impl Merge {
    fn new(files: Vec<File>) -> Result<Self> {
        let runs = files.into_iter().map(Reader::new);
        let mut merge = Self { runs: runs.collect::<Result<_>>()?, next: BinaryHeap::new() };
        for (index, run) in merge.runs.iter_mut().enumerate() {
            merge.next.extend(run.read()?.map(|record| Reverse((record, index))));
        }
        Ok(merge)
    }

    /// Returns the lowest record, and reads the next record of its run.
    fn pop(&mut self) -> Result<Option<Record>> {
        let Some(mut lowest) = self.next.peek_mut() else { return Ok(None) };
        let (record, run) = lowest.0;
        match self.runs[run].read()? {
            Some(next) => lowest.0.0 = next,
            None => drop(PeekMut::pop(lowest)),
        }
        Ok(Some(record))
    }
}

impl Iterator for Merge {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.pop().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the duplicates among the IDs of one stream, found with a buffer for `records` records.
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
        // 997 is prime, so the multiples of 31 modulo 997 repeat after 997 IDs.
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
    fn distinct_ids_are_not_duplicates() {
        assert_eq!(duplicates((0..997).map(|id| id * 31 % 997), 100), Duplicates::default());
    }

    #[test]
    fn a_word_is_read_as_it_was_written() {
        let words = [0, 1, 63, 64, 127, 128, 1 << 32, i64::MAX as u64, 1 << 63, u64::MAX];
        for (before, word) in words.into_iter().flat_map(|one| words.map(|other| (one, other))) {
            let mut bytes = Vec::new();
            write_word(&mut bytes, before, word).unwrap();
            let mut rest = bytes.as_slice();
            assert_eq!(read_word(&mut rest, before).unwrap(), word);
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn an_origin_is_packed_with_all_its_bits() {
        let last = Origin { index: (1 << 44) - 1, stream: (1 << 20) - 1 };
        assert_eq!(Origin::unpack(last.pack()), last);
    }
}
