// Written by `cargo xtask generate` from `packages/protocol.toml`.
//! The names and numbers that TypeScript has too.

use polyflake::Result;

use crate::{At, Host, Machine};

/// Number of slots. Each holds a float, or an integer of 64 bits.
pub(crate) const NUMBERS: usize = 32;

/// Number of bytes: 1,024 texts of 16 characters.
pub(crate) const BYTES: usize = 16384;

/// Most IDs that one call converts or makes.
pub(crate) const BATCH: usize = 1024;

/// Tags of the values in messages.
pub(crate) mod tag {
    /// No value.
    pub(crate) const NONE: u8 = 0;
    /// False.
    pub(crate) const FALSE: u8 = 1;
    /// True.
    pub(crate) const TRUE: u8 = 2;
    /// 64 bits, signed.
    pub(crate) const INTEGER: u8 = 3;
    /// A length of 32 bits, that many bytes of UTF-8.
    pub(crate) const TEXT: u8 = 4;
    /// A length of 32 bits, that many bytes.
    pub(crate) const PIECE: u8 = 5;
    /// As bytes: the big-endian magnitude of an integer past 64 bits.
    pub(crate) const WIDE: u8 = 6;
    /// As bytes: the big-endian magnitude of a negative integer past 64 bits.
    pub(crate) const WIDE_BELOW: u8 = 7;
    /// A number that is no integer.
    pub(crate) const FRACTION: u8 = 8;
    /// A count of 32 bits, that many values.
    pub(crate) const LIST: u8 = 9;
    /// A count of 32 bits, that many texts without a tag, each before its value.
    pub(crate) const OBJECT: u8 = 10;
    /// As a text: the name of a type that no field takes.
    pub(crate) const OTHER: u8 = 11;
}

/// The slots of arguments and answers, in records.
#[allow(missing_docs, reason = "a slot is named in the summary of its record")]
pub mod slot {
    use core::marker::PhantomData;

    /// A slot of a float, in the record `R`. This module alone can make one.
    #[derive(Debug)]
    pub struct Slot<R>(usize, PhantomData<R>);

    impl<R> Copy for Slot<R> {}

    impl<R> Clone for Slot<R> {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl<R> Slot<R> {
        const fn at(index: usize) -> Self {
            Self(index, PhantomData)
        }

        /// The index of the slot.
        #[inline]
        pub const fn index(self) -> usize {
            self.0
        }
    }

    /// A slot of an integer of 64 bits, in the record `R`. This module alone can make one.
    #[derive(Debug)]
    pub struct IntegerSlot<R>(usize, PhantomData<R>);

    impl<R> Copy for IntegerSlot<R> {}

    impl<R> Clone for IntegerSlot<R> {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl<R> IntegerSlot<R> {
        const fn at(index: usize) -> Self {
            Self(index, PhantomData)
        }

        /// The index of the slot.
        #[inline]
        pub const fn index(self) -> usize {
            self.0
        }
    }

    /// The time now, in Unix milliseconds, for calls that make one ID: reading the clock from within wasm takes longer.
    pub mod clock {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const NOW: Slot<Record> = Slot::at(29);
    }

    /// Nanoseconds to sleep before the next turn, NaN at the end.
    pub mod turn {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const SLEEP: Slot<Record> = Slot::at(30);
    }

    /// The offset of a piece in its message.
    pub mod piece {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const OFFSET: Slot<Record> = Slot::at(31);
    }

    /// The object that a call is about or has built.
    pub mod object {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const HANDLE: Slot<Record> = Slot::at(0);
    }

    /// The length of a piece of a message, in bytes.
    pub mod message {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const LENGTH: Slot<Record> = Slot::at(1);
    }

    /// The metabyte of new IDs.
    pub mod sno_one {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const METABYTE: Slot<Record> = Slot::at(1);
    }

    /// The shard key of new IDs.
    pub mod hotguid_one {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const SHARD_KEY: Slot<Record> = Slot::at(1);
    }

    /// Number of IDs or blocks of a batch, and the index of its first one among all.
    pub mod many {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const COUNT: Slot<Record> = Slot::at(2);
        pub const FIRST: Slot<Record> = Slot::at(3);
    }

    /// The time of an ID, in Unix milliseconds.
    pub mod sno_at {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const TIME: Slot<Record> = Slot::at(2);
    }

    /// The new end of a window, in Unix milliseconds.
    pub mod extension {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const END: Slot<Record> = Slot::at(1);
    }

    /// Number of IDs, or of bytes, in an answer.
    pub mod answer {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const LENGTH: Slot<Record> = Slot::at(0);
    }

    /// A new ID that is an integer.
    pub mod made {
        use super::IntegerSlot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const ID: IntegerSlot<Record> = IntegerSlot::at(0);
    }

    /// Number of IDs to convert.
    pub mod texts {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const COUNT: Slot<Record> = Slot::at(0);
    }

    /// A half-open time range, in Unix milliseconds.
    pub mod time_range {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const START: Slot<Record> = Slot::at(0);
        pub const END: Slot<Record> = Slot::at(1);
    }

    /// 1 for texts for SQL Server, else 0.
    pub mod hotguid_range {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const SQL: Slot<Record> = Slot::at(2);
    }

    /// Options of all generators: a window, in Unix milliseconds; 0 to wait, 1 for an error; the longest wait, in milliseconds.
    pub mod options {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const WINDOW_START: Slot<Record> = Slot::at(0);
        pub const WINDOW_END: Slot<Record> = Slot::at(1);
        pub const ON_EXHAUSTED: Slot<Record> = Slot::at(2);
        pub const MAX_WAIT: Slot<Record> = Slot::at(3);
    }

    /// Options of sno: `how` is 0 to build, 1 to restore, 2 to import the original's; `is_lent` is 1 under a lent table.
    pub mod sno_options {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const HOW: Slot<Record> = Slot::at(4);
        pub const METABYTE: Slot<Record> = Slot::at(5);
        pub const PARTITION: Slot<Record> = Slot::at(6);
        pub const SEQUENCE_MIN: Slot<Record> = Slot::at(7);
        pub const SEQUENCE_MAX: Slot<Record> = Slot::at(8);
        pub const IS_LENT: Slot<Record> = Slot::at(9);
    }

    /// A snapshot of sno, as argument and as answer.
    pub mod sno_snapshot {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const FORMAT: Slot<Record> = Slot::at(10);
        pub const PARTITION_HIGH: Slot<Record> = Slot::at(11);
        pub const PARTITION_LOW: Slot<Record> = Slot::at(12);
        pub const SEQUENCE_MIN: Slot<Record> = Slot::at(13);
        pub const SEQUENCE_MAX: Slot<Record> = Slot::at(14);
        pub const SEQUENCE: Slot<Record> = Slot::at(15);
        pub const NOW: Slot<Record> = Slot::at(16);
        pub const WALL_HI: Slot<Record> = Slot::at(17);
        pub const WALL_SAFE: Slot<Record> = Slot::at(18);
        pub const DRIFTS: Slot<Record> = Slot::at(19);
    }

    /// A generator's partition.
    pub mod sno_partition {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const PARTITION: Slot<Record> = Slot::at(0);
    }

    /// Figures of a generator of sno.
    pub mod sno_stats {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const PARTITION: Slot<Record> = Slot::at(0);
        pub const SEQUENCE_MIN: Slot<Record> = Slot::at(1);
        pub const SEQUENCE_MAX: Slot<Record> = Slot::at(2);
        pub const SEQUENCE: Slot<Record> = Slot::at(3);
        pub const LEN: Slot<Record> = Slot::at(4);
        pub const NOW: Slot<Record> = Slot::at(5);
        pub const WALL_HI: Slot<Record> = Slot::at(6);
        pub const WALL_SAFE: Slot<Record> = Slot::at(7);
        pub const DRIFTS: Slot<Record> = Slot::at(8);
        pub const CLOSED: Slot<Record> = Slot::at(9);
    }

    /// A grant, as argument and as answer.
    pub mod grant {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const FIRST_NODE: Slot<Record> = Slot::at(4);
        pub const LAST_NODE: Slot<Record> = Slot::at(5);
        pub const START: Slot<Record> = Slot::at(6);
        pub const END: Slot<Record> = Slot::at(7);
    }

    /// The length of a secret or key, in bytes.
    pub mod secret {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const LENGTH: Slot<Record> = Slot::at(8);
    }

    /// Options of Randflake: the last second that is used up.
    pub mod randflake_options {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const RESUME_AFTER: Slot<Record> = Slot::at(9);
    }

    /// The ID to inspect.
    pub mod inspected {
        use super::IntegerSlot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const ID: IntegerSlot<Record> = IntegerSlot::at(1);
    }

    /// The parts of a Randflake, as argument and as answer.
    pub mod parts {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const TIMESTAMP: Slot<Record> = Slot::at(1);
        pub const NODE: Slot<Record> = Slot::at(2);
        pub const SEQUENCE: Slot<Record> = Slot::at(3);
    }

    /// Figures of a generator of Randflake.
    pub mod randflake_stats {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const LAST_SECOND: Slot<Record> = Slot::at(0);
        pub const LEN: Slot<Record> = Slot::at(1);
        pub const CLOSED: Slot<Record> = Slot::at(2);
    }

    /// The last second in which a closed generator made IDs.
    pub mod randflake_close {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const LAST_SECOND: Slot<Record> = Slot::at(0);
    }

    /// Options of Hot Guid: 1 for UUIDs of version 8, else 0.
    pub mod hotguid_options {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const UUID8: Slot<Record> = Slot::at(4);
    }

    /// Figures of a generator of Hot Guid; `is_drawn` is 1 once it has random bytes.
    pub mod hotguid_stats {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const LAST_SECOND: Slot<Record> = Slot::at(0);
        pub const LEN: Slot<Record> = Slot::at(1);
        pub const CLOSED: Slot<Record> = Slot::at(2);
        pub const IS_DRAWN: Slot<Record> = Slot::at(3);
    }

    /// 1 for a layout of integers, 0 for one of bytes.
    pub mod layout_kind {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const IS_INTEGER: Slot<Record> = Slot::at(1);
    }

    /// Options of layouts: a handle; a message's length; 1 for layouts without a timestamp; 1 to restore a snapshot.
    pub mod layout_options {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const LAYOUT: Slot<Record> = Slot::at(4);
        pub const MESSAGE_LENGTH: Slot<Record> = Slot::at(5);
        pub const SEQUENCE_ONLY: Slot<Record> = Slot::at(6);
        pub const RESTORED: Slot<Record> = Slot::at(7);
    }

    /// A half-open time range, in Unix milliseconds, after a message.
    pub mod layout_range {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const START: Slot<Record> = Slot::at(2);
        pub const END: Slot<Record> = Slot::at(3);
    }

    /// 1 for a column of floats, 0 for one of integers.
    pub mod column {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const IS_NUMBER: Slot<Record> = Slot::at(4);
    }

    /// The ID to parse, where the length of the message is NaN.
    pub mod parsed {
        use super::IntegerSlot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const ID: IntegerSlot<Record> = IntegerSlot::at(2);
    }

    /// A partition, its expected tick and a new tick.
    pub mod table {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const PARTITION: Slot<Record> = Slot::at(0);
        pub const OLD: Slot<Record> = Slot::at(1);
        pub const NEW: Slot<Record> = Slot::at(2);
    }

    /// The answer of a table of partitions.
    pub mod table_answer {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const NUMBER: Slot<Record> = Slot::at(0);
    }

    /// An error: its texts lie one after the other in the bytes.
    pub mod error {
        use super::Slot;

        /// The record, as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum Record {}

        pub const POSITION: Slot<Record> = Slot::at(0);
        pub const RETRY_AT: Slot<Record> = Slot::at(1);
        pub const WRITTEN: Slot<Record> = Slot::at(2);
        pub const ITEM: Slot<Record> = Slot::at(3);
        pub const CODE_LENGTH: Slot<Record> = Slot::at(4);
        pub const FIELD_LENGTH: Slot<Record> = Slot::at(5);
        pub const MESSAGE_LENGTH: Slot<Record> = Slot::at(6);
    }
}

/// A snapshot of sno, as argument and as answer.
pub(crate) struct SnoSnapshotSlots {
    pub(crate) format: f64,
    pub(crate) partition_high: f64,
    pub(crate) partition_low: f64,
    pub(crate) sequence_min: f64,
    pub(crate) sequence_max: f64,
    pub(crate) sequence: f64,
    pub(crate) now: f64,
    pub(crate) wall_hi: f64,
    pub(crate) wall_safe: f64,
    pub(crate) drifts: f64,
}

impl SnoSnapshotSlots {
    /// Writes all slots.
    pub(crate) fn put<K: call::Gives<slot::sno_snapshot::Record>>(&self, at: At<K>) {
        at.put_number(slot::sno_snapshot::FORMAT, self.format);
        at.put_number(slot::sno_snapshot::PARTITION_HIGH, self.partition_high);
        at.put_number(slot::sno_snapshot::PARTITION_LOW, self.partition_low);
        at.put_number(slot::sno_snapshot::SEQUENCE_MIN, self.sequence_min);
        at.put_number(slot::sno_snapshot::SEQUENCE_MAX, self.sequence_max);
        at.put_number(slot::sno_snapshot::SEQUENCE, self.sequence);
        at.put_number(slot::sno_snapshot::NOW, self.now);
        at.put_number(slot::sno_snapshot::WALL_HI, self.wall_hi);
        at.put_number(slot::sno_snapshot::WALL_SAFE, self.wall_safe);
        at.put_number(slot::sno_snapshot::DRIFTS, self.drifts);
    }
}

/// Figures of a generator of sno.
pub(crate) struct SnoStatsSlots {
    pub(crate) partition: f64,
    pub(crate) sequence_min: f64,
    pub(crate) sequence_max: f64,
    pub(crate) sequence: f64,
    pub(crate) len: f64,
    pub(crate) now: f64,
    pub(crate) wall_hi: f64,
    pub(crate) wall_safe: f64,
    pub(crate) drifts: f64,
    pub(crate) closed: f64,
}

impl SnoStatsSlots {
    /// Writes all slots.
    pub(crate) fn put<K: call::Gives<slot::sno_stats::Record>>(&self, at: At<K>) {
        at.put_number(slot::sno_stats::PARTITION, self.partition);
        at.put_number(slot::sno_stats::SEQUENCE_MIN, self.sequence_min);
        at.put_number(slot::sno_stats::SEQUENCE_MAX, self.sequence_max);
        at.put_number(slot::sno_stats::SEQUENCE, self.sequence);
        at.put_number(slot::sno_stats::LEN, self.len);
        at.put_number(slot::sno_stats::NOW, self.now);
        at.put_number(slot::sno_stats::WALL_HI, self.wall_hi);
        at.put_number(slot::sno_stats::WALL_SAFE, self.wall_safe);
        at.put_number(slot::sno_stats::DRIFTS, self.drifts);
        at.put_number(slot::sno_stats::CLOSED, self.closed);
    }
}

/// A grant, as argument and as answer.
pub(crate) struct GrantSlots {
    pub(crate) first_node: f64,
    pub(crate) last_node: f64,
    pub(crate) start: f64,
    pub(crate) end: f64,
}

impl GrantSlots {
    /// Writes all slots.
    pub(crate) fn put<K: call::Gives<slot::grant::Record>>(&self, at: At<K>) {
        at.put_number(slot::grant::FIRST_NODE, self.first_node);
        at.put_number(slot::grant::LAST_NODE, self.last_node);
        at.put_number(slot::grant::START, self.start);
        at.put_number(slot::grant::END, self.end);
    }
}

/// The parts of a Randflake, as argument and as answer.
pub(crate) struct PartsSlots {
    pub(crate) timestamp: f64,
    pub(crate) node: f64,
    pub(crate) sequence: f64,
}

impl PartsSlots {
    /// Writes all slots.
    pub(crate) fn put<K: call::Gives<slot::parts::Record>>(&self, at: At<K>) {
        at.put_number(slot::parts::TIMESTAMP, self.timestamp);
        at.put_number(slot::parts::NODE, self.node);
        at.put_number(slot::parts::SEQUENCE, self.sequence);
    }
}

/// Figures of a generator of Randflake.
pub(crate) struct RandflakeStatsSlots {
    pub(crate) last_second: f64,
    pub(crate) len: f64,
    pub(crate) closed: f64,
}

impl RandflakeStatsSlots {
    /// Writes all slots.
    pub(crate) fn put<K: call::Gives<slot::randflake_stats::Record>>(&self, at: At<K>) {
        at.put_number(slot::randflake_stats::LAST_SECOND, self.last_second);
        at.put_number(slot::randflake_stats::LEN, self.len);
        at.put_number(slot::randflake_stats::CLOSED, self.closed);
    }
}

/// Figures of a generator of Hot Guid; `is_drawn` is 1 once it has random bytes.
pub(crate) struct HotguidStatsSlots {
    pub(crate) last_second: f64,
    pub(crate) len: f64,
    pub(crate) closed: f64,
    pub(crate) is_drawn: f64,
}

impl HotguidStatsSlots {
    /// Writes all slots.
    pub(crate) fn put<K: call::Gives<slot::hotguid_stats::Record>>(&self, at: At<K>) {
        at.put_number(slot::hotguid_stats::LAST_SECOND, self.last_second);
        at.put_number(slot::hotguid_stats::LEN, self.len);
        at.put_number(slot::hotguid_stats::CLOSED, self.closed);
        at.put_number(slot::hotguid_stats::IS_DRAWN, self.is_drawn);
    }
}

/// An error: its texts lie one after the other in the bytes.
pub(crate) struct ErrorSlots {
    pub(crate) position: f64,
    pub(crate) retry_at: f64,
    pub(crate) written: f64,
    pub(crate) item: f64,
    pub(crate) code_length: f64,
    pub(crate) field_length: f64,
    pub(crate) message_length: f64,
}

impl ErrorSlots {
    /// Writes all slots.
    pub(crate) fn put<K: call::Gives<slot::error::Record>>(&self, at: At<K>) {
        at.put_number(slot::error::POSITION, self.position);
        at.put_number(slot::error::RETRY_AT, self.retry_at);
        at.put_number(slot::error::WRITTEN, self.written);
        at.put_number(slot::error::ITEM, self.item);
        at.put_number(slot::error::CODE_LENGTH, self.code_length);
        at.put_number(slot::error::FIELD_LENGTH, self.field_length);
        at.put_number(slot::error::MESSAGE_LENGTH, self.message_length);
    }
}

/// The calls as types, which name the records of each. Calls with the same records may have one type.
pub mod call {
    use super::slot;

    /// A call that reads the slots of the record `R`.
    ///
    /// ```
    /// use polyflake_js::{call::{SnoFill, Takes}, slot::many};
    ///
    /// fn reads<K: Takes<many::Record>>() {}
    /// reads::<SnoFill>();
    /// ```
    ///
    /// No call has the slots of a record that it does not name:
    ///
    /// ```compile_fail,E0277
    /// use polyflake_js::{call::{SnoFill, Takes}, slot::texts};
    ///
    /// fn reads<K: Takes<texts::Record>>() {}
    /// reads::<SnoFill>();
    /// ```
    pub trait Takes<R> {}

    /// A call that writes the slots of the record `R`.
    ///
    /// ```compile_fail,E0277
    /// use polyflake_js::{call::{Gives, SnoFill}, slot::many};
    ///
    /// fn writes<K: Gives<many::Record>>() {}
    /// writes::<SnoFill>();
    /// ```
    pub trait Gives<R> {}

    /// Any call that is refused.
    #[derive(Clone, Copy, Debug)]
    pub enum Refused {}

    impl Gives<slot::error::Record> for Refused {}

    /// `release`
    #[derive(Clone, Copy, Debug)]
    pub enum Release {}

    impl Takes<slot::object::Record> for Release {}

    /// `turn`
    #[derive(Clone, Copy, Debug)]
    pub enum Turn {}

    impl Takes<slot::object::Record> for Turn {}
    impl Gives<slot::turn::Record> for Turn {}
    impl Gives<slot::answer::Record> for Turn {}

    /// `put_piece`
    #[derive(Clone, Copy, Debug)]
    pub enum PutPiece {}

    impl Takes<slot::message::Record> for PutPiece {}
    impl Takes<slot::piece::Record> for PutPiece {}

    /// `next_piece`
    #[derive(Clone, Copy, Debug)]
    pub enum NextPiece {}

    /// `sno_texts`, `sno_from_texts`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoTexts {}

    impl Takes<slot::texts::Record> for SnoTexts {}

    /// `sno_time_range`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoTimeRange {}

    impl Takes<slot::time_range::Record> for SnoTimeRange {}

    /// `sno_build`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoBuild {}

    impl Takes<slot::options::Record> for SnoBuild {}
    impl Takes<slot::sno_options::Record> for SnoBuild {}
    impl Takes<slot::sno_snapshot::Record> for SnoBuild {}
    impl Gives<slot::object::Record> for SnoBuild {}

    /// `sno_generate`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoGenerate {}

    impl Takes<slot::object::Record> for SnoGenerate {}
    impl Takes<slot::sno_one::Record> for SnoGenerate {}
    impl Takes<slot::clock::Record> for SnoGenerate {}

    /// `sno_generate_at`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoGenerateAt {}

    impl Takes<slot::object::Record> for SnoGenerateAt {}
    impl Takes<slot::sno_one::Record> for SnoGenerateAt {}
    impl Takes<slot::sno_at::Record> for SnoGenerateAt {}

    /// `sno_try_generate`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoTryGenerate {}

    impl Takes<slot::object::Record> for SnoTryGenerate {}
    impl Takes<slot::sno_one::Record> for SnoTryGenerate {}

    /// `sno_one_async`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoOneAsync {}

    impl Takes<slot::object::Record> for SnoOneAsync {}
    impl Takes<slot::sno_one::Record> for SnoOneAsync {}
    impl Gives<slot::object::Record> for SnoOneAsync {}
    impl Gives<slot::turn::Record> for SnoOneAsync {}

    /// `sno_fill`, `sno_fill_now`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoFill {}

    impl Takes<slot::object::Record> for SnoFill {}
    impl Takes<slot::sno_one::Record> for SnoFill {}
    impl Takes<slot::many::Record> for SnoFill {}
    impl Gives<slot::answer::Record> for SnoFill {}

    /// `sno_partition`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoPartition {}

    impl Takes<slot::object::Record> for SnoPartition {}
    impl Gives<slot::sno_partition::Record> for SnoPartition {}

    /// `sno_extend_window`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoExtendWindow {}

    impl Takes<slot::object::Record> for SnoExtendWindow {}
    impl Takes<slot::extension::Record> for SnoExtendWindow {}

    /// `sno_stats`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoStats {}

    impl Takes<slot::object::Record> for SnoStats {}
    impl Gives<slot::sno_stats::Record> for SnoStats {}

    /// `sno_close`
    #[derive(Clone, Copy, Debug)]
    pub enum SnoClose {}

    impl Takes<slot::object::Record> for SnoClose {}
    impl Gives<slot::sno_snapshot::Record> for SnoClose {}

    /// `sparx64_build`, `randflake_codec_build`
    #[derive(Clone, Copy, Debug)]
    pub enum Sparx64Build {}

    impl Takes<slot::secret::Record> for Sparx64Build {}
    impl Gives<slot::object::Record> for Sparx64Build {}

    /// `sparx64_encrypt`, `sparx64_decrypt`
    #[derive(Clone, Copy, Debug)]
    pub enum Sparx64Encrypt {}

    impl Takes<slot::object::Record> for Sparx64Encrypt {}
    impl Takes<slot::many::Record> for Sparx64Encrypt {}

    /// `randflake_grant`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeGrant {}

    impl Takes<slot::grant::Record> for RandflakeGrant {}

    /// `randflake_inspect`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeInspect {}

    impl Takes<slot::object::Record> for RandflakeInspect {}
    impl Takes<slot::inspected::Record> for RandflakeInspect {}
    impl Gives<slot::parts::Record> for RandflakeInspect {}

    /// `randflake_encrypt`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeEncrypt {}

    impl Takes<slot::object::Record> for RandflakeEncrypt {}
    impl Takes<slot::parts::Record> for RandflakeEncrypt {}
    impl Gives<slot::made::Record> for RandflakeEncrypt {}

    /// `randflake_texts`, `randflake_from_texts`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeTexts {}

    impl Takes<slot::texts::Record> for RandflakeTexts {}

    /// `randflake_build`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeBuild {}

    impl Takes<slot::options::Record> for RandflakeBuild {}
    impl Takes<slot::grant::Record> for RandflakeBuild {}
    impl Takes<slot::secret::Record> for RandflakeBuild {}
    impl Takes<slot::randflake_options::Record> for RandflakeBuild {}
    impl Gives<slot::object::Record> for RandflakeBuild {}

    /// `randflake_generate`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeGenerate {}

    impl Takes<slot::object::Record> for RandflakeGenerate {}
    impl Takes<slot::clock::Record> for RandflakeGenerate {}
    impl Gives<slot::made::Record> for RandflakeGenerate {}

    /// `randflake_generate_text`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeGenerateText {}

    impl Takes<slot::object::Record> for RandflakeGenerateText {}
    impl Takes<slot::clock::Record> for RandflakeGenerateText {}
    impl Gives<slot::answer::Record> for RandflakeGenerateText {}

    /// `randflake_try_generate`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeTryGenerate {}

    impl Takes<slot::object::Record> for RandflakeTryGenerate {}
    impl Gives<slot::made::Record> for RandflakeTryGenerate {}

    /// `randflake_one_async`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeOneAsync {}

    impl Takes<slot::object::Record> for RandflakeOneAsync {}
    impl Gives<slot::object::Record> for RandflakeOneAsync {}
    impl Gives<slot::turn::Record> for RandflakeOneAsync {}

    /// `randflake_fill`, `randflake_fill_now`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeFill {}

    impl Takes<slot::object::Record> for RandflakeFill {}
    impl Takes<slot::many::Record> for RandflakeFill {}
    impl Gives<slot::answer::Record> for RandflakeFill {}

    /// `randflake_held_grant`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeHeldGrant {}

    impl Takes<slot::object::Record> for RandflakeHeldGrant {}
    impl Gives<slot::grant::Record> for RandflakeHeldGrant {}

    /// `randflake_extend_grant`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeExtendGrant {}

    impl Takes<slot::object::Record> for RandflakeExtendGrant {}
    impl Takes<slot::grant::Record> for RandflakeExtendGrant {}

    /// `randflake_stats`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeStats {}

    impl Takes<slot::object::Record> for RandflakeStats {}
    impl Gives<slot::randflake_stats::Record> for RandflakeStats {}

    /// `randflake_close`
    #[derive(Clone, Copy, Debug)]
    pub enum RandflakeClose {}

    impl Takes<slot::object::Record> for RandflakeClose {}
    impl Gives<slot::randflake_close::Record> for RandflakeClose {}

    /// `hotguid_texts`, `hotguid_from_texts`
    #[derive(Clone, Copy, Debug)]
    pub enum HotguidTexts {}

    impl Takes<slot::texts::Record> for HotguidTexts {}

    /// `hotguid_time_range`
    #[derive(Clone, Copy, Debug)]
    pub enum HotguidTimeRange {}

    impl Takes<slot::time_range::Record> for HotguidTimeRange {}
    impl Takes<slot::hotguid_range::Record> for HotguidTimeRange {}

    /// `hotguid_build`
    #[derive(Clone, Copy, Debug)]
    pub enum HotguidBuild {}

    impl Takes<slot::options::Record> for HotguidBuild {}
    impl Takes<slot::hotguid_options::Record> for HotguidBuild {}
    impl Gives<slot::object::Record> for HotguidBuild {}

    /// `hotguid_provide`, `hotguid_close`
    #[derive(Clone, Copy, Debug)]
    pub enum HotguidProvide {}

    impl Takes<slot::object::Record> for HotguidProvide {}

    /// `hotguid_generate`
    #[derive(Clone, Copy, Debug)]
    pub enum HotguidGenerate {}

    impl Takes<slot::object::Record> for HotguidGenerate {}
    impl Takes<slot::hotguid_one::Record> for HotguidGenerate {}
    impl Takes<slot::clock::Record> for HotguidGenerate {}

    /// `hotguid_try_generate`
    #[derive(Clone, Copy, Debug)]
    pub enum HotguidTryGenerate {}

    impl Takes<slot::object::Record> for HotguidTryGenerate {}
    impl Takes<slot::hotguid_one::Record> for HotguidTryGenerate {}

    /// `hotguid_one_async`
    #[derive(Clone, Copy, Debug)]
    pub enum HotguidOneAsync {}

    impl Takes<slot::object::Record> for HotguidOneAsync {}
    impl Takes<slot::hotguid_one::Record> for HotguidOneAsync {}
    impl Gives<slot::object::Record> for HotguidOneAsync {}
    impl Gives<slot::turn::Record> for HotguidOneAsync {}

    /// `hotguid_fill`, `hotguid_fill_now`
    #[derive(Clone, Copy, Debug)]
    pub enum HotguidFill {}

    impl Takes<slot::object::Record> for HotguidFill {}
    impl Takes<slot::hotguid_one::Record> for HotguidFill {}
    impl Takes<slot::many::Record> for HotguidFill {}
    impl Gives<slot::answer::Record> for HotguidFill {}

    /// `hotguid_extend_window`
    #[derive(Clone, Copy, Debug)]
    pub enum HotguidExtendWindow {}

    impl Takes<slot::object::Record> for HotguidExtendWindow {}
    impl Takes<slot::extension::Record> for HotguidExtendWindow {}

    /// `hotguid_stats`
    #[derive(Clone, Copy, Debug)]
    pub enum HotguidStats {}

    impl Takes<slot::object::Record> for HotguidStats {}
    impl Gives<slot::hotguid_stats::Record> for HotguidStats {}

    /// `layout_build`, `layout_preset_build`
    #[derive(Clone, Copy, Debug)]
    pub enum LayoutBuild {}

    impl Takes<slot::message::Record> for LayoutBuild {}
    impl Takes<slot::piece::Record> for LayoutBuild {}
    impl Gives<slot::object::Record> for LayoutBuild {}
    impl Gives<slot::layout_kind::Record> for LayoutBuild {}

    /// `layout_description`, `layout_describe`, `layout_stats`, `layout_close`
    #[derive(Clone, Copy, Debug)]
    pub enum LayoutDescription {}

    impl Takes<slot::object::Record> for LayoutDescription {}
    impl Gives<slot::answer::Record> for LayoutDescription {}

    /// `layout_pack`, `layout_generate`, `layout_try_generate`
    #[derive(Clone, Copy, Debug)]
    pub enum LayoutPack {}

    impl Takes<slot::object::Record> for LayoutPack {}
    impl Takes<slot::message::Record> for LayoutPack {}
    impl Takes<slot::piece::Record> for LayoutPack {}
    impl Gives<slot::made::Record> for LayoutPack {}
    impl Gives<slot::answer::Record> for LayoutPack {}

    /// `layout_parse`
    #[derive(Clone, Copy, Debug)]
    pub enum LayoutParse {}

    impl Takes<slot::object::Record> for LayoutParse {}
    impl Takes<slot::message::Record> for LayoutParse {}
    impl Takes<slot::piece::Record> for LayoutParse {}
    impl Takes<slot::parsed::Record> for LayoutParse {}
    impl Gives<slot::answer::Record> for LayoutParse {}

    /// `layout_time_range`
    #[derive(Clone, Copy, Debug)]
    pub enum LayoutTimeRange {}

    impl Takes<slot::object::Record> for LayoutTimeRange {}
    impl Takes<slot::message::Record> for LayoutTimeRange {}
    impl Takes<slot::piece::Record> for LayoutTimeRange {}
    impl Takes<slot::layout_range::Record> for LayoutTimeRange {}
    impl Gives<slot::answer::Record> for LayoutTimeRange {}

    /// `layout_column`
    #[derive(Clone, Copy, Debug)]
    pub enum LayoutColumn {}

    impl Takes<slot::object::Record> for LayoutColumn {}
    impl Takes<slot::message::Record> for LayoutColumn {}
    impl Takes<slot::piece::Record> for LayoutColumn {}
    impl Takes<slot::many::Record> for LayoutColumn {}
    impl Takes<slot::column::Record> for LayoutColumn {}

    /// `layout_pack_columns`, `layout_fill`, `layout_fill_now`
    #[derive(Clone, Copy, Debug)]
    pub enum LayoutPackColumns {}

    impl Takes<slot::object::Record> for LayoutPackColumns {}
    impl Takes<slot::message::Record> for LayoutPackColumns {}
    impl Takes<slot::piece::Record> for LayoutPackColumns {}
    impl Takes<slot::many::Record> for LayoutPackColumns {}
    impl Gives<slot::answer::Record> for LayoutPackColumns {}

    /// `layout_generator_build`
    #[derive(Clone, Copy, Debug)]
    pub enum LayoutGeneratorBuild {}

    impl Takes<slot::options::Record> for LayoutGeneratorBuild {}
    impl Takes<slot::layout_options::Record> for LayoutGeneratorBuild {}
    impl Takes<slot::piece::Record> for LayoutGeneratorBuild {}
    impl Gives<slot::object::Record> for LayoutGeneratorBuild {}

    /// `layout_one_async`
    #[derive(Clone, Copy, Debug)]
    pub enum LayoutOneAsync {}

    impl Takes<slot::object::Record> for LayoutOneAsync {}
    impl Takes<slot::message::Record> for LayoutOneAsync {}
    impl Takes<slot::piece::Record> for LayoutOneAsync {}
    impl Gives<slot::object::Record> for LayoutOneAsync {}
    impl Gives<slot::turn::Record> for LayoutOneAsync {}
    impl Gives<slot::answer::Record> for LayoutOneAsync {}

    /// `layout_extend_window`
    #[derive(Clone, Copy, Debug)]
    pub enum LayoutExtendWindow {}

    impl Takes<slot::object::Record> for LayoutExtendWindow {}
    impl Takes<slot::extension::Record> for LayoutExtendWindow {}

    /// `partitions_next`
    #[derive(Clone, Copy, Debug)]
    pub enum PartitionsNext {}

    impl Gives<slot::table_answer::Record> for PartitionsNext {}

    /// `partitions_until`, `partitions_swap`
    #[derive(Clone, Copy, Debug)]
    pub enum PartitionsUntil {}

    impl Takes<slot::table::Record> for PartitionsUntil {}
    impl Gives<slot::table_answer::Record> for PartitionsUntil {}
}

/// Takes a method of a call.
#[allow(dead_code, reason = "only compiled")]
const fn method<C, K>(_: fn(&Machine<C>, At<K>) -> Result<()>) {}

/// Compares the methods of the calls that all families share with the types of the calls.
#[allow(dead_code, reason = "only compiled")]
fn shared_methods<C: Host>() {
    method::<C, call::Release>(Machine::release);
    method::<C, call::Turn>(Machine::turn);
    method::<C, call::PutPiece>(Machine::put_piece);
    method::<C, call::NextPiece>(Machine::next_piece);
}

/// Compares the methods of the calls of sno with the types of the calls.
#[cfg(feature = "sno")]
#[allow(dead_code, reason = "only compiled")]
fn sno_methods<C: Host>() {
    method::<C, call::SnoTexts>(Machine::sno_texts);
    method::<C, call::SnoTexts>(Machine::sno_from_texts);
    method::<C, call::SnoTimeRange>(Machine::sno_time_range);
    method::<C, call::SnoBuild>(Machine::sno_build);
    method::<C, call::SnoGenerate>(Machine::sno_generate);
    method::<C, call::SnoGenerateAt>(Machine::sno_generate_at);
    method::<C, call::SnoTryGenerate>(Machine::sno_try_generate);
    method::<C, call::SnoOneAsync>(Machine::sno_one_async);
    method::<C, call::SnoFill>(Machine::sno_fill);
    method::<C, call::SnoFill>(Machine::sno_fill_now);
    method::<C, call::SnoPartition>(Machine::sno_partition);
    method::<C, call::SnoExtendWindow>(Machine::sno_extend_window);
    method::<C, call::SnoStats>(Machine::sno_stats);
    method::<C, call::SnoClose>(Machine::sno_close);
}

/// Compares the methods of the calls of Randflake and its cipher with the types of the calls.
#[cfg(feature = "randflake")]
#[allow(dead_code, reason = "only compiled")]
fn randflake_methods<C: Host>() {
    method::<C, call::Sparx64Build>(Machine::sparx64_build);
    method::<C, call::Sparx64Build>(Machine::randflake_codec_build);
    method::<C, call::Sparx64Encrypt>(Machine::sparx64_encrypt);
    method::<C, call::Sparx64Encrypt>(Machine::sparx64_decrypt);
    method::<C, call::RandflakeGrant>(Machine::randflake_grant);
    method::<C, call::RandflakeInspect>(Machine::randflake_inspect);
    method::<C, call::RandflakeEncrypt>(Machine::randflake_encrypt);
    method::<C, call::RandflakeTexts>(Machine::randflake_texts);
    method::<C, call::RandflakeTexts>(Machine::randflake_from_texts);
    method::<C, call::RandflakeBuild>(Machine::randflake_build);
    method::<C, call::RandflakeGenerate>(Machine::randflake_generate);
    method::<C, call::RandflakeGenerateText>(Machine::randflake_generate_text);
    method::<C, call::RandflakeTryGenerate>(Machine::randflake_try_generate);
    method::<C, call::RandflakeOneAsync>(Machine::randflake_one_async);
    method::<C, call::RandflakeFill>(Machine::randflake_fill);
    method::<C, call::RandflakeFill>(Machine::randflake_fill_now);
    method::<C, call::RandflakeHeldGrant>(Machine::randflake_held_grant);
    method::<C, call::RandflakeExtendGrant>(Machine::randflake_extend_grant);
    method::<C, call::RandflakeStats>(Machine::randflake_stats);
    method::<C, call::RandflakeClose>(Machine::randflake_close);
}

/// Compares the methods of the calls of Hot Guid with the types of the calls.
#[cfg(feature = "hotguid")]
#[allow(dead_code, reason = "only compiled")]
fn hotguid_methods<C: Host>() {
    method::<C, call::HotguidTexts>(Machine::hotguid_texts);
    method::<C, call::HotguidTexts>(Machine::hotguid_from_texts);
    method::<C, call::HotguidTimeRange>(Machine::hotguid_time_range);
    method::<C, call::HotguidBuild>(Machine::hotguid_build);
    method::<C, call::HotguidProvide>(Machine::hotguid_provide);
    method::<C, call::HotguidProvide>(Machine::hotguid_close);
    method::<C, call::HotguidGenerate>(Machine::hotguid_generate);
    method::<C, call::HotguidTryGenerate>(Machine::hotguid_try_generate);
    method::<C, call::HotguidOneAsync>(Machine::hotguid_one_async);
    method::<C, call::HotguidFill>(Machine::hotguid_fill);
    method::<C, call::HotguidFill>(Machine::hotguid_fill_now);
    method::<C, call::HotguidExtendWindow>(Machine::hotguid_extend_window);
    method::<C, call::HotguidStats>(Machine::hotguid_stats);
}

/// Compares the methods of the calls of layouts with the types of the calls.
#[cfg(feature = "layout")]
#[allow(dead_code, reason = "only compiled")]
fn layout_methods<C: Host>() {
    method::<C, call::LayoutBuild>(Machine::layout_build);
    method::<C, call::LayoutBuild>(Machine::layout_preset_build);
    method::<C, call::LayoutDescription>(Machine::layout_description);
    method::<C, call::LayoutDescription>(Machine::layout_describe);
    method::<C, call::LayoutDescription>(Machine::layout_stats);
    method::<C, call::LayoutDescription>(Machine::layout_close);
    method::<C, call::LayoutPack>(Machine::layout_pack);
    method::<C, call::LayoutPack>(Machine::layout_generate);
    method::<C, call::LayoutPack>(Machine::layout_try_generate);
    method::<C, call::LayoutParse>(Machine::layout_parse);
    method::<C, call::LayoutTimeRange>(Machine::layout_time_range);
    method::<C, call::LayoutColumn>(Machine::layout_column);
    method::<C, call::LayoutPackColumns>(Machine::layout_pack_columns);
    method::<C, call::LayoutPackColumns>(Machine::layout_fill);
    method::<C, call::LayoutPackColumns>(Machine::layout_fill_now);
    method::<C, call::LayoutGeneratorBuild>(Machine::layout_generator_build);
    method::<C, call::LayoutOneAsync>(Machine::layout_one_async);
    method::<C, call::LayoutExtendWindow>(Machine::layout_extend_window);
}

/// Names the calls that all families share, for a macro that exports them: the method, the name in JavaScript.
#[macro_export]
macro_rules! shared_calls {
    ($export:ident) => {
        $export! {
            release => "release",
            turn => "turn",
            put_piece => "putPiece",
            next_piece => "nextPiece",
        }
    };
}

/// Names the calls of sno, for a macro that exports them: the method, the name in JavaScript.
#[macro_export]
macro_rules! sno_calls {
    ($export:ident) => {
        $export! {
            sno_texts => "snoTexts",
            sno_from_texts => "snoFromTexts",
            sno_time_range => "snoTimeRange",
            sno_build => "snoBuild",
            sno_generate => "snoGenerate",
            sno_generate_at => "snoGenerateAt",
            sno_try_generate => "snoTryGenerate",
            sno_one_async => "snoOneAsync",
            sno_fill => "snoFill",
            sno_fill_now => "snoFillNow",
            sno_partition => "snoPartition",
            sno_extend_window => "snoExtendWindow",
            sno_stats => "snoStats",
            sno_close => "snoClose",
        }
    };
}

/// Names the calls of Randflake and its cipher, for a macro that exports them: the method, the name in JavaScript.
#[macro_export]
macro_rules! randflake_calls {
    ($export:ident) => {
        $export! {
            sparx64_build => "sparx64Build",
            randflake_codec_build => "randflakeCodecBuild",
            sparx64_encrypt => "sparx64Encrypt",
            sparx64_decrypt => "sparx64Decrypt",
            randflake_grant => "randflakeGrant",
            randflake_inspect => "randflakeInspect",
            randflake_encrypt => "randflakeEncrypt",
            randflake_texts => "randflakeTexts",
            randflake_from_texts => "randflakeFromTexts",
            randflake_build => "randflakeBuild",
            randflake_generate => "randflakeGenerate",
            randflake_generate_text => "randflakeGenerateText",
            randflake_try_generate => "randflakeTryGenerate",
            randflake_one_async => "randflakeOneAsync",
            randflake_fill => "randflakeFill",
            randflake_fill_now => "randflakeFillNow",
            randflake_held_grant => "randflakeHeldGrant",
            randflake_extend_grant => "randflakeExtendGrant",
            randflake_stats => "randflakeStats",
            randflake_close => "randflakeClose",
        }
    };
}

/// Names the calls of Hot Guid, for a macro that exports them: the method, the name in JavaScript.
#[macro_export]
macro_rules! hotguid_calls {
    ($export:ident) => {
        $export! {
            hotguid_texts => "hotguidTexts",
            hotguid_from_texts => "hotguidFromTexts",
            hotguid_time_range => "hotguidTimeRange",
            hotguid_build => "hotguidBuild",
            hotguid_provide => "hotguidProvide",
            hotguid_close => "hotguidClose",
            hotguid_generate => "hotguidGenerate",
            hotguid_try_generate => "hotguidTryGenerate",
            hotguid_one_async => "hotguidOneAsync",
            hotguid_fill => "hotguidFill",
            hotguid_fill_now => "hotguidFillNow",
            hotguid_extend_window => "hotguidExtendWindow",
            hotguid_stats => "hotguidStats",
        }
    };
}

/// Names the calls of layouts, for a macro that exports them: the method, the name in JavaScript.
#[macro_export]
macro_rules! layout_calls {
    ($export:ident) => {
        $export! {
            layout_build => "layoutBuild",
            layout_preset_build => "layoutPresetBuild",
            layout_description => "layoutDescription",
            layout_describe => "layoutDescribe",
            layout_stats => "layoutStats",
            layout_close => "layoutClose",
            layout_pack => "layoutPack",
            layout_generate => "layoutGenerate",
            layout_try_generate => "layoutTryGenerate",
            layout_parse => "layoutParse",
            layout_time_range => "layoutTimeRange",
            layout_column => "layoutColumn",
            layout_pack_columns => "layoutPackColumns",
            layout_fill => "layoutFill",
            layout_fill_now => "layoutFillNow",
            layout_generator_build => "layoutGeneratorBuild",
            layout_one_async => "layoutOneAsync",
            layout_extend_window => "layoutExtendWindow",
        }
    };
}
