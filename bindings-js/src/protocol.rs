// Written by `cargo xtask generate` from `packages/protocol.toml`.
//! The names and numbers that TypeScript has too.

use crate::Scratch;

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
pub(crate) mod slot {
    /// A slot of a float. This module alone can make one.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Slot(usize);

    impl Slot {
        /// The index of the slot.
        #[inline]
        pub(crate) const fn index(self) -> usize {
            self.0
        }
    }

    /// A slot of an integer of 64 bits. This module alone can make one.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct IntegerSlot(usize);

    impl IntegerSlot {
        /// The index of the slot.
        #[inline]
        pub(crate) const fn index(self) -> usize {
            self.0
        }
    }

    /// The time now, in Unix milliseconds, for calls that make one ID: reading the clock from within wasm takes longer.
    pub(crate) mod clock {
        use super::Slot;

        pub(crate) const NOW: Slot = Slot(29);
    }

    /// Nanoseconds to sleep before the next turn, NaN at the end.
    pub(crate) mod turn {
        use super::Slot;

        pub(crate) const SLEEP: Slot = Slot(30);
    }

    /// The offset of a piece in its message.
    pub(crate) mod piece {
        use super::Slot;

        pub(crate) const OFFSET: Slot = Slot(31);
    }

    /// The object that a call is about or has built.
    pub(crate) mod object {
        use super::Slot;

        pub(crate) const HANDLE: Slot = Slot(0);
    }

    /// The length of a piece of a message, in bytes.
    pub(crate) mod message {
        use super::Slot;

        pub(crate) const LENGTH: Slot = Slot(1);
    }

    /// The metabyte of new IDs.
    pub(crate) mod sno_one {
        use super::Slot;

        pub(crate) const METABYTE: Slot = Slot(1);
    }

    /// The shard key of new IDs.
    pub(crate) mod hotguid_one {
        use super::Slot;

        pub(crate) const SHARD_KEY: Slot = Slot(1);
    }

    /// Number of IDs or blocks of a batch, and the index of its first one among all.
    pub(crate) mod many {
        use super::Slot;

        pub(crate) const COUNT: Slot = Slot(2);
        pub(crate) const FIRST: Slot = Slot(3);
    }

    /// The time of an ID, in Unix milliseconds.
    pub(crate) mod sno_at {
        use super::Slot;

        pub(crate) const TIME: Slot = Slot(2);
    }

    /// The new end of a window, in Unix milliseconds.
    pub(crate) mod extension {
        use super::Slot;

        pub(crate) const END: Slot = Slot(1);
    }

    /// Number of IDs, or of bytes, in an answer.
    pub(crate) mod answer {
        use super::Slot;

        pub(crate) const LENGTH: Slot = Slot(0);
    }

    /// A new ID that is an integer.
    pub(crate) mod made {
        use super::IntegerSlot;

        pub(crate) const ID: IntegerSlot = IntegerSlot(0);
    }

    /// Number of IDs to convert.
    pub(crate) mod texts {
        use super::Slot;

        pub(crate) const COUNT: Slot = Slot(0);
    }

    /// A half-open time range, in Unix milliseconds.
    pub(crate) mod time_range {
        use super::Slot;

        pub(crate) const START: Slot = Slot(0);
        pub(crate) const END: Slot = Slot(1);
    }

    /// 1 for texts for SQL Server, else 0.
    pub(crate) mod hotguid_range {
        use super::Slot;

        pub(crate) const SQL: Slot = Slot(2);
    }

    /// Options of all generators: a window, in Unix milliseconds; 0 to wait, 1 for an error; the longest wait, in milliseconds.
    pub(crate) mod options {
        use super::Slot;

        pub(crate) const WINDOW_START: Slot = Slot(0);
        pub(crate) const WINDOW_END: Slot = Slot(1);
        pub(crate) const ON_EXHAUSTED: Slot = Slot(2);
        pub(crate) const MAX_WAIT: Slot = Slot(3);
    }

    /// Options of sno: `how` is 0 to build, 1 to restore, 2 to import the original's; `is_lent` is 1 under a lent table.
    pub(crate) mod sno_options {
        use super::Slot;

        pub(crate) const HOW: Slot = Slot(4);
        pub(crate) const METABYTE: Slot = Slot(5);
        pub(crate) const PARTITION: Slot = Slot(6);
        pub(crate) const SEQUENCE_MIN: Slot = Slot(7);
        pub(crate) const SEQUENCE_MAX: Slot = Slot(8);
        pub(crate) const IS_LENT: Slot = Slot(9);
    }

    /// A snapshot of sno, as argument and as answer.
    pub(crate) mod sno_snapshot {
        use super::Slot;

        pub(crate) const PARTITION_HIGH: Slot = Slot(10);
        pub(crate) const PARTITION_LOW: Slot = Slot(11);
        pub(crate) const SEQUENCE_MIN: Slot = Slot(12);
        pub(crate) const SEQUENCE_MAX: Slot = Slot(13);
        pub(crate) const SEQUENCE: Slot = Slot(14);
        pub(crate) const NOW: Slot = Slot(15);
        pub(crate) const WALL_HI: Slot = Slot(16);
        pub(crate) const WALL_SAFE: Slot = Slot(17);
        pub(crate) const DRIFTS: Slot = Slot(18);
    }

    /// A generator's partition.
    pub(crate) mod sno_partition {
        use super::Slot;

        pub(crate) const PARTITION: Slot = Slot(0);
    }

    /// Figures of a generator of sno.
    pub(crate) mod sno_stats {
        use super::Slot;

        pub(crate) const PARTITION: Slot = Slot(0);
        pub(crate) const SEQUENCE_MIN: Slot = Slot(1);
        pub(crate) const SEQUENCE_MAX: Slot = Slot(2);
        pub(crate) const SEQUENCE: Slot = Slot(3);
        pub(crate) const LEN: Slot = Slot(4);
        pub(crate) const NOW: Slot = Slot(5);
        pub(crate) const WALL_HI: Slot = Slot(6);
        pub(crate) const WALL_SAFE: Slot = Slot(7);
        pub(crate) const DRIFTS: Slot = Slot(8);
        pub(crate) const CLOSED: Slot = Slot(9);
    }

    /// A grant, as argument and as answer.
    pub(crate) mod grant {
        use super::Slot;

        pub(crate) const FIRST_NODE: Slot = Slot(4);
        pub(crate) const LAST_NODE: Slot = Slot(5);
        pub(crate) const START: Slot = Slot(6);
        pub(crate) const END: Slot = Slot(7);
    }

    /// The length of a secret or key, in bytes.
    pub(crate) mod secret {
        use super::Slot;

        pub(crate) const LENGTH: Slot = Slot(8);
    }

    /// Options of Randflake: the last second that is used up.
    pub(crate) mod randflake_options {
        use super::Slot;

        pub(crate) const RESUME_AFTER: Slot = Slot(9);
    }

    /// The ID to inspect.
    pub(crate) mod inspected {
        use super::IntegerSlot;

        pub(crate) const ID: IntegerSlot = IntegerSlot(1);
    }

    /// The parts of a Randflake, as argument and as answer.
    pub(crate) mod parts {
        use super::Slot;

        pub(crate) const TIMESTAMP: Slot = Slot(1);
        pub(crate) const NODE: Slot = Slot(2);
        pub(crate) const SEQUENCE: Slot = Slot(3);
    }

    /// Figures of a generator of Randflake.
    pub(crate) mod randflake_stats {
        use super::Slot;

        pub(crate) const LAST_SECOND: Slot = Slot(0);
        pub(crate) const LEN: Slot = Slot(1);
        pub(crate) const CLOSED: Slot = Slot(2);
    }

    /// The last second in which a closed generator made IDs.
    pub(crate) mod randflake_close {
        use super::Slot;

        pub(crate) const LAST_SECOND: Slot = Slot(0);
    }

    /// Options of Hot Guid: 1 for UUIDs of version 8, else 0.
    pub(crate) mod hotguid_options {
        use super::Slot;

        pub(crate) const UUID8: Slot = Slot(4);
    }

    /// Figures of a generator of Hot Guid; `is_drawn` is 1 once it has random bytes.
    pub(crate) mod hotguid_stats {
        use super::Slot;

        pub(crate) const LAST_SECOND: Slot = Slot(0);
        pub(crate) const LEN: Slot = Slot(1);
        pub(crate) const CLOSED: Slot = Slot(2);
        pub(crate) const IS_DRAWN: Slot = Slot(3);
    }

    /// 1 for a layout of integers, 0 for one of bytes.
    pub(crate) mod layout_kind {
        use super::Slot;

        pub(crate) const IS_INTEGER: Slot = Slot(1);
    }

    /// Options of layouts: a handle; a message's length; 1 for layouts without a timestamp; 1 to restore a snapshot.
    pub(crate) mod layout_options {
        use super::Slot;

        pub(crate) const LAYOUT: Slot = Slot(4);
        pub(crate) const MESSAGE_LENGTH: Slot = Slot(5);
        pub(crate) const SEQUENCE_ONLY: Slot = Slot(6);
        pub(crate) const RESTORED: Slot = Slot(7);
    }

    /// A half-open time range, in Unix milliseconds, after a message.
    pub(crate) mod layout_range {
        use super::Slot;

        pub(crate) const START: Slot = Slot(2);
        pub(crate) const END: Slot = Slot(3);
    }

    /// 1 for a column of floats, 0 for one of integers.
    pub(crate) mod column {
        use super::Slot;

        pub(crate) const IS_NUMBER: Slot = Slot(4);
    }

    /// The ID to parse, where the length of the message is NaN.
    pub(crate) mod parsed {
        use super::IntegerSlot;

        pub(crate) const ID: IntegerSlot = IntegerSlot(2);
    }

    /// A partition, its expected tick and a new tick.
    pub(crate) mod table {
        use super::Slot;

        pub(crate) const PARTITION: Slot = Slot(0);
        pub(crate) const OLD: Slot = Slot(1);
        pub(crate) const NEW: Slot = Slot(2);
    }

    /// The answer of a table of partitions.
    pub(crate) mod table_answer {
        use super::Slot;

        pub(crate) const NUMBER: Slot = Slot(0);
    }

    /// An error: its texts lie one after the other in the bytes.
    pub(crate) mod error {
        use super::Slot;

        pub(crate) const POSITION: Slot = Slot(0);
        pub(crate) const RETRY_AT: Slot = Slot(1);
        pub(crate) const WRITTEN: Slot = Slot(2);
        pub(crate) const ITEM: Slot = Slot(3);
        pub(crate) const CODE_LENGTH: Slot = Slot(4);
        pub(crate) const FIELD_LENGTH: Slot = Slot(5);
        pub(crate) const MESSAGE_LENGTH: Slot = Slot(6);
    }
}

/// A snapshot of sno, as argument and as answer.
pub(crate) struct SnoSnapshotSlots {
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
    pub(crate) fn put(&self, scratch: &Scratch) {
        scratch.put_number(slot::sno_snapshot::PARTITION_HIGH, self.partition_high);
        scratch.put_number(slot::sno_snapshot::PARTITION_LOW, self.partition_low);
        scratch.put_number(slot::sno_snapshot::SEQUENCE_MIN, self.sequence_min);
        scratch.put_number(slot::sno_snapshot::SEQUENCE_MAX, self.sequence_max);
        scratch.put_number(slot::sno_snapshot::SEQUENCE, self.sequence);
        scratch.put_number(slot::sno_snapshot::NOW, self.now);
        scratch.put_number(slot::sno_snapshot::WALL_HI, self.wall_hi);
        scratch.put_number(slot::sno_snapshot::WALL_SAFE, self.wall_safe);
        scratch.put_number(slot::sno_snapshot::DRIFTS, self.drifts);
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
    pub(crate) fn put(&self, scratch: &Scratch) {
        scratch.put_number(slot::sno_stats::PARTITION, self.partition);
        scratch.put_number(slot::sno_stats::SEQUENCE_MIN, self.sequence_min);
        scratch.put_number(slot::sno_stats::SEQUENCE_MAX, self.sequence_max);
        scratch.put_number(slot::sno_stats::SEQUENCE, self.sequence);
        scratch.put_number(slot::sno_stats::LEN, self.len);
        scratch.put_number(slot::sno_stats::NOW, self.now);
        scratch.put_number(slot::sno_stats::WALL_HI, self.wall_hi);
        scratch.put_number(slot::sno_stats::WALL_SAFE, self.wall_safe);
        scratch.put_number(slot::sno_stats::DRIFTS, self.drifts);
        scratch.put_number(slot::sno_stats::CLOSED, self.closed);
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
    pub(crate) fn put(&self, scratch: &Scratch) {
        scratch.put_number(slot::grant::FIRST_NODE, self.first_node);
        scratch.put_number(slot::grant::LAST_NODE, self.last_node);
        scratch.put_number(slot::grant::START, self.start);
        scratch.put_number(slot::grant::END, self.end);
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
    pub(crate) fn put(&self, scratch: &Scratch) {
        scratch.put_number(slot::parts::TIMESTAMP, self.timestamp);
        scratch.put_number(slot::parts::NODE, self.node);
        scratch.put_number(slot::parts::SEQUENCE, self.sequence);
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
    pub(crate) fn put(&self, scratch: &Scratch) {
        scratch.put_number(slot::randflake_stats::LAST_SECOND, self.last_second);
        scratch.put_number(slot::randflake_stats::LEN, self.len);
        scratch.put_number(slot::randflake_stats::CLOSED, self.closed);
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
    pub(crate) fn put(&self, scratch: &Scratch) {
        scratch.put_number(slot::hotguid_stats::LAST_SECOND, self.last_second);
        scratch.put_number(slot::hotguid_stats::LEN, self.len);
        scratch.put_number(slot::hotguid_stats::CLOSED, self.closed);
        scratch.put_number(slot::hotguid_stats::IS_DRAWN, self.is_drawn);
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
    pub(crate) fn put(&self, scratch: &Scratch) {
        scratch.put_number(slot::error::POSITION, self.position);
        scratch.put_number(slot::error::RETRY_AT, self.retry_at);
        scratch.put_number(slot::error::WRITTEN, self.written);
        scratch.put_number(slot::error::ITEM, self.item);
        scratch.put_number(slot::error::CODE_LENGTH, self.code_length);
        scratch.put_number(slot::error::FIELD_LENGTH, self.field_length);
        scratch.put_number(slot::error::MESSAGE_LENGTH, self.message_length);
    }
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
            sno_pool => "snoPool",
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
            randflake_pool => "randflakePool",
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
            hotguid_pool => "hotguidPool",
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
            layout_pool => "layoutPool",
            layout_extend_window => "layoutExtendWindow",
        }
    };
}
