//! The numbers and names that TypeScript has too, in `packages/js/src/protocol.ts`; `packages/js/test/protocol.test.mjs` compares them.

/// Number of slots. Each holds a float, where NaN is a missing value, or an integer of 64 bits.
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

/// The slots of arguments and answers, in records. A call reads and writes few of them, and the records of its arguments do not
/// overlap; an answer may overwrite its arguments.
#[allow(
    missing_docs,
    reason = "the records are documented, their slots have the names of arguments"
)]
pub mod slot {
    /// The time now, in Unix milliseconds, for calls that make one ID: reading the clock from within wasm takes longer.
    pub mod clock {
        pub const NOW: usize = 29;
    }

    /// Nanoseconds to sleep before the next turn, NaN at the end.
    pub mod turn {
        pub const SLEEP: usize = 30;
    }

    /// The offset of a piece in its message.
    pub mod piece {
        pub const OFFSET: usize = 31;
    }

    /// The object that a call is about or has built.
    pub mod object {
        pub const HANDLE: usize = 0;
    }

    /// The length of a piece of a message, in bytes.
    pub mod message {
        pub const LENGTH: usize = 1;
    }

    /// The metabyte of new IDs.
    pub mod sno_one {
        pub const METABYTE: usize = 1;
    }

    /// The shard key of new IDs.
    pub mod hotguid_one {
        pub const SHARD_KEY: usize = 1;
    }

    /// Number of IDs or blocks of a batch, and the index of its first one among all.
    pub mod many {
        pub const COUNT: usize = 2;
        pub const FIRST: usize = 3;
    }

    /// The time of an ID, in Unix milliseconds.
    pub mod sno_at {
        pub const TIME: usize = 2;
    }

    /// The new end of a window, in Unix milliseconds.
    pub mod extension {
        pub const END: usize = 1;
    }

    /// Number of IDs, or of bytes, in an answer.
    pub mod answer {
        pub const LENGTH: usize = 0;
    }

    /// A new ID that is an integer.
    pub mod made {
        pub const ID: usize = 0;
    }

    /// Number of IDs to convert.
    pub mod texts {
        pub const COUNT: usize = 0;
    }

    /// A half-open time range, in Unix milliseconds.
    pub mod time_range {
        pub const START: usize = 0;
        pub const END: usize = 1;
    }

    /// 1 for texts for SQL Server, else 0.
    pub mod hotguid_range {
        pub const SQL: usize = 2;
    }

    /// Options of all generators: a window, in Unix milliseconds; 0 to wait, 1 for an error; the longest wait, in milliseconds.
    pub mod options {
        pub const WINDOW_START: usize = 0;
        pub const WINDOW_END: usize = 1;
        pub const ON_EXHAUSTED: usize = 2;
        pub const MAX_WAIT: usize = 3;
    }

    /// Options of sno: `how` is 0 to build, 1 to restore, 2 to import the original's; `is_lent` is 1 under a lent table.
    pub mod sno_options {
        pub const HOW: usize = 4;
        pub const METABYTE: usize = 5;
        pub const PARTITION: usize = 6;
        pub const SEQUENCE_MIN: usize = 7;
        pub const SEQUENCE_MAX: usize = 8;
        pub const IS_LENT: usize = 9;
    }

    /// A snapshot of sno, as argument and as answer.
    pub mod sno_snapshot {
        pub const FORMAT: usize = 10;
    }

    /// A generator's partition.
    pub mod sno_partition {
        pub const PARTITION: usize = 0;
    }

    /// A grant, as argument and as answer.
    pub mod grant {
        pub const FIRST_NODE: usize = 4;
        pub const LAST_NODE: usize = 5;
        pub const START: usize = 6;
        pub const END: usize = 7;
    }

    /// The length of a secret or key, in bytes.
    pub mod secret {
        pub const LENGTH: usize = 8;
    }

    /// Options of Randflake: the last second that is used up.
    pub mod randflake_options {
        pub const RESUME_AFTER: usize = 9;
    }

    /// The ID to inspect.
    pub mod inspected {
        pub const ID: usize = 1;
    }

    /// The parts of a Randflake, as argument and as answer.
    pub mod parts {
        pub const TIMESTAMP: usize = 1;
        pub const NODE: usize = 2;
        pub const SEQUENCE: usize = 3;
    }

    /// The last second in which a closed generator made IDs.
    pub mod randflake_close {
        pub const LAST_SECOND: usize = 0;
    }

    /// Options of Hot Guid: 1 for UUIDs of version 8, else 0.
    pub mod hotguid_options {
        pub const UUID8: usize = 4;
    }

    /// 1 for a layout of integers, 0 for one of bytes.
    pub mod layout_kind {
        pub const IS_INTEGER: usize = 1;
    }

    /// Options of layouts: a handle; a message's length; 1 for layouts without a timestamp; 1 to restore a snapshot.
    pub mod layout_options {
        pub const LAYOUT: usize = 4;
        pub const MESSAGE_LENGTH: usize = 5;
        pub const SEQUENCE_ONLY: usize = 6;
        pub const RESTORED: usize = 7;
    }

    /// A half-open time range, in Unix milliseconds, after a message.
    pub mod layout_range {
        pub const START: usize = 2;
        pub const END: usize = 3;
    }

    /// 1 for a column of floats, 0 for one of integers.
    pub mod column {
        pub const IS_NUMBER: usize = 4;
    }

    /// The ID to parse, where the length of the message is NaN.
    pub mod parsed {
        pub const ID: usize = 2;
    }

    /// A partition, its expected tick and a new tick.
    pub mod table {
        pub const PARTITION: usize = 0;
        pub const OLD: usize = 1;
        pub const NEW: usize = 2;
    }

    /// The answer of a table of partitions.
    pub mod table_answer {
        pub const NUMBER: usize = 0;
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
