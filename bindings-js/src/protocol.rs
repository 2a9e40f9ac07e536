// Written by `cargo xtask generate` from `packages/protocol.toml`.
//! The names and numbers that TypeScript has too.

/// Number of slots. Each holds a float, or an integer of 64 bits.
pub(crate) const NUMBERS: usize = 32;

/// Number of bytes: 1,024 texts of 16 characters.
pub(crate) const BYTES: usize = 16384;

/// Most IDs that one call converts or makes.
pub(crate) const BATCH: usize = 1024;

/// Slot with the time at a call that makes one ID, in Unix milliseconds, for machines that are given it.
pub(crate) const NOW: usize = 29;

/// Slot with the time to sleep before a call's next turn, in nanoseconds; NaN once the call is done.
pub(crate) const SLEEP: usize = 30;

/// Slot with the offset of a piece in its message.
pub(crate) const OFFSET: usize = 31;

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

/// The slots of an error; NaN stands for a missing value.
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
    /// The numbers, from the first slot on.
    pub(crate) const fn numbers(&self) -> [f64; 7] {
        [
            self.position,
            self.retry_at,
            self.written,
            self.item,
            self.code_length,
            self.field_length,
            self.message_length,
        ]
    }
}

/// Names the calls that all families share, for a macro that exports them: the method, the name in JavaScript.
#[macro_export]
macro_rules! shared_calls {
    ($export:ident) => {
        $export! {
            release => "release",
            put_piece => "putPiece",
            next_piece => "nextPiece",
            turn => "turn",
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
            sparx64_encrypt => "sparx64Encrypt",
            sparx64_decrypt => "sparx64Decrypt",
            randflake_grant => "randflakeGrant",
            randflake_codec_build => "randflakeCodecBuild",
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
            hotguid_generate => "hotguidGenerate",
            hotguid_try_generate => "hotguidTryGenerate",
            hotguid_one_async => "hotguidOneAsync",
            hotguid_fill => "hotguidFill",
            hotguid_fill_now => "hotguidFillNow",
            hotguid_pool => "hotguidPool",
            hotguid_extend_window => "hotguidExtendWindow",
            hotguid_stats => "hotguidStats",
            hotguid_close => "hotguidClose",
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
            layout_pack => "layoutPack",
            layout_parse => "layoutParse",
            layout_time_range => "layoutTimeRange",
            layout_column => "layoutColumn",
            layout_pack_columns => "layoutPackColumns",
            layout_generator_build => "layoutGeneratorBuild",
            layout_generate => "layoutGenerate",
            layout_try_generate => "layoutTryGenerate",
            layout_one_async => "layoutOneAsync",
            layout_fill => "layoutFill",
            layout_fill_now => "layoutFillNow",
            layout_pool => "layoutPool",
            layout_extend_window => "layoutExtendWindow",
            layout_stats => "layoutStats",
            layout_close => "layoutClose",
        }
    };
}
