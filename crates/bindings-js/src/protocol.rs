//! Constants and names that are duplicated in `packages/js/src/protocol.ts`. `packages/js/test/protocol.test.mjs` compares
//! the two files.

/// The number of registers. Each register contains a float, where NaN stands for a missing value, or a 64-bit integer.
pub const NUMBERS: usize = 42;

/// The number of bytes in the scratch area, enough for 1,024 strings of 16 characters.
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
    /// A string: its length in 32 bits, followed by that many UTF-8 bytes.
    pub(crate) const TEXT: u8 = 4;
    /// Bytes: their length in 32 bits, followed by that many bytes.
    pub(crate) const PIECE: u8 = 5;
    /// The big-endian magnitude of a positive integer of more than 64 bits: its length in 32 bits, followed by its bytes.
    pub(crate) const WIDE: u8 = 6;
    /// The big-endian magnitude of a negative integer of more than 64 bits: its length in 32 bits, followed by its bytes.
    pub(crate) const NEGATIVE_WIDE: u8 = 7;
    /// A number that is not an integer.
    pub(crate) const FRACTION: u8 = 8;
    /// A list: a count in 32 bits, followed by that many values.
    pub(crate) const LIST: u8 = 9;
    /// An object: a count in 32 bits, followed by that many members. A member is a string without a tag, followed by its
    /// value.
    pub(crate) const OBJECT: u8 = 10;
    /// A value of a type that no field accepts, represented by the name of the type as a string.
    pub(crate) const OTHER: u8 = 11;
    /// A 64-bit float.
    pub(crate) const NUMBER: u8 = 12;
}

/// The registers. Registers 0 to 7 are reserved for the purposes described here. The documentation of each call lists its
/// other arguments and its answers. The arguments are stored in order, starting in the register [`VALUE`](register::VALUE).
/// The answers are stored in order, starting in the register [`ANSWER`](register::ANSWER).
pub mod register {
    /// The handle of the object that a call uses or creates.
    pub const HANDLE: usize = 0;
    /// The current time in Unix milliseconds, for calls that generate one ID.
    pub const NOW: usize = 1;
    /// The length of one piece of a message, in bytes.
    pub const LENGTH: usize = 2;
    /// The offset of a piece within its message.
    pub const OFFSET: usize = 3;
    /// The time to sleep before the next turn of a call, in nanoseconds, or NaN if the call is done.
    pub const SLEEP: usize = 4;
    /// The metabyte or the shard key of new IDs.
    pub const PARAMETER: usize = 5;
    /// The number of IDs, blocks, strings, secrets or bytes that a call reads or generates.
    pub const COUNT: usize = 6;
    /// The index of a call's first ID within the whole batch.
    pub const FIRST: usize = 7;
    /// The first argument. For builders, the first of the options shared by all formats.
    pub const VALUE: usize = 8;
    /// The first option that is specific to a format's builder.
    pub const OWN: usize = 13;
    /// The first number of an answer or of an error.
    pub const ANSWER: usize = 32;
}

/// Declares a macro for each list of calls. The macro passes the list to another macro. Also declares the macro `calls`,
/// which passes all lists. If a list names a feature that is disabled, the list is empty. `$` is the dollar sign in the
/// declared macros.
macro_rules! lists {
    ($d:tt $($($feature:literal)? $list:ident { $($calls:tt)* })*) => {
        $(
            /// Passes a list of calls to a macro that exports the calls.
            #[cfg(all($(feature = $feature)?))]
            #[macro_export]
            macro_rules! $list {
                ($d export:ident) => { $d export! { $($calls)* } };
            }

            /// Passes no calls, because this list's feature is disabled.
            #[cfg(not(all($(feature = $feature)?)))]
            #[macro_export]
            macro_rules! $list {
                ($d export:ident) => {};
            }
        )*

        /// Passes each list of calls to a macro that exports the calls.
        ///
        /// Each entry of a list consists of a method of `Machine` and the method's name in JavaScript. `at now` marks a
        /// call that generates one ID and receives the current time. An arrow is followed by a function that returns the
        /// call's answer directly. Only some backends support such a direct answer.
        #[macro_export]
        macro_rules! calls {
            ($d export:ident) => { $($d crate::$list!($d export);)* };
        }
    };
}

// The calls shared by all formats come first, then those shared by all generators, then those of each format.
lists! { $
    shared_calls {
        release => "release",
        turn => "turn",
        put_piece => "putPiece",
        next_piece => "nextPiece",
    }
    "generators" generator_calls {
        after_restore => "afterRestore",
        generator_try_generate => "generatorTryGenerate",
        generator_generate_async => "generatorGenerateAsync",
        generator_fill => "generatorFill",
        generator_try_fill => "generatorTryFill",
        generator_stats => "generatorStats",
        generator_close => "generatorClose",
        generator_extend => "generatorExtend",
        generator_seal => "generatorSeal",
        generator_is_usable => "generatorIsUsable",
        generator_may_repeat => "generatorMayRepeat",
    }
    "sno" sno_calls {
        sno_texts => "snoTexts",
        sno_from_texts => "snoFromTexts",
        sno_time_range => "snoTimeRange",
        sno_build => "snoBuild",
        sno_generate => "snoGenerate" at now -> text::<16>,
        sno_generate_at => "snoGenerateAt",
        sno_partition => "snoPartition",
    }
    "randflake" randflake_calls {
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
        randflake_generate => "randflakeGenerate" at now -> bigint,
        randflake_generate_text => "randflakeGenerateText" at now -> short_text,
        randflake_held_grant => "randflakeHeldGrant",
        randflake_extend_grant => "randflakeExtendGrant",
    }
    "hotguid" hotguid_calls {
        hotguid_texts => "hotguidTexts",
        hotguid_from_texts => "hotguidFromTexts",
        hotguid_time_range => "hotguidTimeRange",
        hotguid_build => "hotguidBuild",
        hotguid_provide => "hotguidProvide",
        hotguid_generate => "hotguidGenerate" at now -> text::<36>,
    }
    "layout" layout_calls {
        layout_build => "layoutBuild",
        layout_preset_build => "layoutPresetBuild",
        layout_description => "layoutDescription",
        layout_describe => "layoutDescribe",
        layout_pack => "layoutPack",
        layout_generate => "layoutGenerate",
        layout_parse => "layoutParse",
        layout_time_range => "layoutTimeRange",
        layout_column => "layoutColumn",
        layout_pack_columns => "layoutPackColumns",
        layout_generator_build => "layoutGeneratorBuild",
    }
    "uuid7" uuid7_calls {
        uuid7_texts => "uuid7Texts",
        uuid7_from_texts => "uuid7FromTexts",
        uuid7_time_range => "uuid7TimeRange",
        uuid7_generate_at => "uuid7GenerateAt",
        uuid7_build => "uuid7Build",
        uuid7_generate => "uuid7Generate" at now -> text::<36>,
    }
    "public" public_calls {
        public_build => "publicBuild",
        public_type_build => "publicTypeBuild",
        public_encode => "publicEncode" -> short_text,
        public_decode => "publicDecode",
        public_encode_many => "publicEncodeMany",
        public_decode_many => "publicDecodeMany",
    }
}
