//! Numbers and names that TypeScript repeats in `packages/js/src/protocol.ts`. `packages/js/test/protocol.test.mjs` compares
//! both files.

/// The number of slots. Each contains a float, in which NaN stands for a missing value, or a 64-bit integer.
pub const NUMBERS: usize = 72;

/// The number of bytes. It is enough for 1,024 strings of 16 characters.
pub(crate) const BYTES: usize = 16384;

/// The maximum number of IDs that one call converts or generates.
pub(crate) const BATCH: usize = 1024;

/// Tags of the values in messages.
pub(crate) mod tag {
    /// No value.
    pub(crate) const NONE: u8 = 0;
    /// False.
    pub(crate) const FALSE: u8 = 1;
    /// True.
    pub(crate) const TRUE: u8 = 2;
    /// A signed 64-bit integer.
    pub(crate) const INTEGER: u8 = 3;
    /// A string: its length in 32 bits, followed by that number of UTF-8 bytes.
    pub(crate) const TEXT: u8 = 4;
    /// Bytes: their length in 32 bits, followed by that number of bytes.
    pub(crate) const PIECE: u8 = 5;
    /// The big-endian magnitude of a positive integer of more than 64 bits, as a length and bytes.
    pub(crate) const WIDE: u8 = 6;
    /// The big-endian magnitude of a negative integer of more than 64 bits, as a length and bytes.
    pub(crate) const WIDE_BELOW: u8 = 7;
    /// A number that is not an integer.
    pub(crate) const FRACTION: u8 = 8;
    /// A list: a count in 32 bits, followed by that number of values.
    pub(crate) const LIST: u8 = 9;
    /// An object: a count in 32 bits, followed by that number of members. A member is a string without a tag, and its value.
    pub(crate) const OBJECT: u8 = 10;
    /// A value that no field accepts: the name of its type, as a string.
    pub(crate) const OTHER: u8 = 11;
}

/// The slots of arguments and answers. Each is named after its record and its member. A slot serves only one argument, so the
/// arguments of a call cannot overlap. The answers of all calls begin at the same slot.
#[allow(missing_docs, reason = "TypeScript says what the records are")]
pub mod slot {
    pub const OBJECT_HANDLE: usize = 0;
    pub const CLOCK_NOW: usize = 1;
    pub const MESSAGE_LENGTH: usize = 2;
    pub const PIECE_OFFSET: usize = 3;
    pub const TURN_SLEEP: usize = 4;
    pub const SNO_ONE_METABYTE: usize = 5;
    pub const SNO_AT_TIME: usize = 6;
    pub const HOTGUID_ONE_SHARD_KEY: usize = 7;
    pub const MANY_COUNT: usize = 8;
    pub const MANY_FIRST: usize = 9;
    pub const EXTENSION_END: usize = 10;
    pub const TEXTS_COUNT: usize = 11;
    pub const TIME_RANGE_START: usize = 12;
    pub const TIME_RANGE_END: usize = 13;
    pub const HOTGUID_RANGE_SQL: usize = 14;
    pub const OPTIONS_WINDOW_START: usize = 15;
    pub const OPTIONS_WINDOW_END: usize = 16;
    pub const OPTIONS_ON_EXHAUSTED: usize = 17;
    pub const OPTIONS_MAX_WAIT: usize = 18;
    pub const OPTIONS_SKIPS_FIRST_TICK: usize = 60;
    pub const SNO_OPTIONS_HOW: usize = 19;
    pub const SNO_OPTIONS_METABYTE: usize = 20;
    pub const SNO_OPTIONS_PARTITION: usize = 21;
    pub const SNO_OPTIONS_SEQUENCE_MIN: usize = 22;
    pub const SNO_OPTIONS_SEQUENCE_MAX: usize = 23;
    pub const SNO_OPTIONS_IS_LENT: usize = 24;
    pub const SNO_SNAPSHOT_FORMAT: usize = 25;
    pub const GRANT_FIRST_NODE: usize = 35;
    pub const GRANT_LAST_NODE: usize = 36;
    pub const GRANT_START: usize = 37;
    pub const GRANT_END: usize = 38;
    pub const SECRET_LENGTH: usize = 39;
    pub const RANDFLAKE_OPTIONS_RESUME_AFTER: usize = 40;
    pub const INSPECTED_ID: usize = 41;
    pub const PARTS_TIMESTAMP: usize = 42;
    pub const PARTS_NODE: usize = 43;
    pub const PARTS_SEQUENCE: usize = 44;
    pub const HOTGUID_OPTIONS_UUID8: usize = 45;
    pub const LAYOUT_OPTIONS_LAYOUT: usize = 46;
    pub const LAYOUT_OPTIONS_MESSAGE_LENGTH: usize = 47;
    pub const LAYOUT_OPTIONS_SEQUENCE_ONLY: usize = 48;
    pub const LAYOUT_OPTIONS_RESTORED: usize = 49;
    pub const LAYOUT_RANGE_START: usize = 50;
    pub const LAYOUT_RANGE_END: usize = 51;
    pub const COLUMN_IS_NUMBER: usize = 52;
    pub const PARSED_ID: usize = 53;
    pub const LAYOUT_KIND_IS_INTEGER: usize = 54;
    pub const TABLE_PARTITION: usize = 55;
    pub const TABLE_OLD: usize = 56;
    pub const TABLE_NEW: usize = 57;
    pub const PUBLIC_NUMBER: usize = 58;
    pub const PUBLIC_BITS: usize = 59;
    pub const OTHER_HANDLE: usize = 61;
    pub const ANSWER_LENGTH: usize = 62;
    pub const MADE_ID: usize = 62;
    pub const SNO_PARTITION_PARTITION: usize = 62;
    pub const SEAL_END: usize = 62;
    pub const CONFLICT_EXISTS: usize = 62;
    pub const SNO_STATS_PARTITION: usize = 62;
    pub const RANDFLAKE_STATS_LAST_SECOND: usize = 62;
    pub const RANDFLAKE_CLOSE_LAST_SECOND: usize = 62;
    pub const HOTGUID_STATS_LAST_SECOND: usize = 62;
    pub const TABLE_ANSWER_NUMBER: usize = 62;
    pub const ERROR_POSITION: usize = 62;
}

/// Passes the calls that all formats share to a macro that exports them, each as a method and a JavaScript name.
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

/// Passes the calls that the generators of all formats share to a macro that exports them, each as a method and a JavaScript
/// name.
#[macro_export]
macro_rules! generator_calls {
    ($export:ident) => {
        $export! {
            after_restore => "afterRestore",
            may_repeat => "mayRepeat",
            seal => "seal",
        }
    };
}

/// Passes the call on generators with a window to a macro that exports it, as a method and a JavaScript name.
#[macro_export]
macro_rules! window_calls {
    ($export:ident) => {
        $export! {
            extend => "extend",
        }
    };
}

/// Passes sno's calls to a macro that exports them, each as a method and a JavaScript name.
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
            sno_stats => "snoStats",
            sno_close => "snoClose",
        }
    };
}

/// Passes the calls of Randflake and its cipher to a macro that exports them, each as a method and a JavaScript name.
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

/// Passes Hot Guid's calls to a macro that exports them, each as a method and a JavaScript name.
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
            hotguid_stats => "hotguidStats",
        }
    };
}

/// Passes the calls of layouts to a macro that exports them, each as a method and a JavaScript name.
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
        }
    };
}

/// Passes the calls of public IDs to a macro that exports them, each as a method and a JavaScript name.
#[macro_export]
macro_rules! public_calls {
    ($export:ident) => {
        $export! {
            public_build => "publicBuild",
            public_type_build => "publicTypeBuild",
            public_encode => "publicEncode",
            public_decode => "publicDecode",
            public_encode_many => "publicEncodeMany",
            public_decode_many => "publicDecodeMany",
        }
    };
}
