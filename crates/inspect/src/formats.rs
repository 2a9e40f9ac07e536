//! The table of known formats. For each format, it describes how a string is decoded, and what the decoded bits mean.

use crate::{
    bits::Alphabet,
    reading::Role::{
        self, Encrypted, Fixed, Hash, KeyVersion, Random, Sequence, ShardKey, TickTock, Time,
        TypeTag, WorkerId,
    },
};

/// A known ID format.
pub(crate) struct Format {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) texts: &'static [Text],
    /// The fields, starting with the most significant one.
    pub(crate) parts: &'static [Part],
    pub(crate) scale: Option<Scale>,
    /// The rarity of the format: 0 for version 4 UUIDs, 1 for formats that are half as frequent, 2 for formats that are a
    /// quarter as frequent, and so on.
    pub(crate) rarity: u32,
    /// Whether the format is defined by this project.
    pub(crate) is_ours: bool,
}

/// The string form of an ID.
#[derive(Clone, Copy)]
pub(crate) enum Text {
    /// A 64-bit integer, signed or unsigned.
    Decimal,
    /// 32 hexadecimal digits, with or without hyphens, optionally in braces or after `urn:uuid:`.
    Uuid,
    /// An integer encoded in an alphabet, with a fixed number of characters.
    Number(&'static Alphabet, usize),
    /// An integer encoded in an alphabet, without leading zeros and with a minimum and a maximum number of characters. The
    /// minimum excludes strings that are shorter than most of the format's IDs, because such strings are more likely to be
    /// words.
    Short(&'static Alphabet, usize, usize),
    /// A type, `_`, and the 26 characters of a UUID, or the 26 characters alone.
    Typed,
    /// A type, `_`, and the 15 characters of a public ID. The last character is the check character.
    Public,
    /// `c`, followed by the time, a counter, a fingerprint and a random number, each encoded in base 36.
    Cuid,
    /// A letter and 23 characters of base 36.
    Cuid2,
    /// Hexadecimal digits in upper or lower case, four bits each.
    Hex,
    /// A date and a time in UTC, written as digits from the year on: this many digits.
    Digits(usize),
    /// A UUID whose 16 bytes are the characters of an encoded ID.
    InUuid(&'static Alphabet),
}

/// A field of a format.
pub(crate) struct Part {
    pub(crate) bits: u32,
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    /// A value whose meaning depends on the field's role. For a [`Fixed`] field, it is the field's bits, or
    /// [`CHECKED_BY_DECODER`]. For a field that contains a part of the time, it is the position of that part's lowest bit
    /// within the time. For other fields, it is 1 if the byte order is little-endian.
    pub(crate) value: u64,
    /// The field's typical values, which are assumed to occur in half of all IDs. `None` means that small values are
    /// typical, and an empty list means that all values are equally likely.
    pub(crate) usual: Option<&'static [u64]>,
}

/// The value of a [`Fixed`] field whose bits are derived from the other fields. The decoder of the string form has already
/// checked them.
pub(crate) const CHECKED_BY_DECODER: u64 = 1 << 63;

/// The time scale of a format: its unit, its epoch, and the time of its first IDs.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) tick_nanos: u64,
    /// The format's epoch in Unix milliseconds.
    pub(crate) epoch_ms: i64,
    /// The time of the format's first IDs, in Unix milliseconds.
    pub(crate) first_ms: i64,
}

impl Format {
    pub(crate) fn bits(&self) -> u32 {
        self.parts.iter().map(|part| part.bits).sum()
    }

    /// Returns whether IDs of the format are also stored as bytes. All other formats exist as strings only.
    pub(crate) fn has_bytes(&self) -> bool {
        let is_binary = |text: &Text| {
            matches!(
                text,
                Text::Decimal | Text::Uuid | Text::Number(..) | Text::Short(..) | Text::Hex
            )
        };
        self.texts.iter().any(is_binary) && self.bits().is_multiple_of(8)
    }
}

const fn part(bits: u32, name: &'static str, role: Role) -> Part {
    Part { bits, name, role, value: 0, usual: None }
}

const fn part_with_typical_values(
    bits: u32,
    name: &'static str,
    role: Role,
    usual: &'static [u64],
) -> Part {
    Part { bits, name, role, value: 0, usual: Some(usual) }
}

/// Creates a field whose values are all equally likely.
const fn spread_part(bits: u32, name: &'static str, role: Role) -> Part {
    part_with_typical_values(bits, name, role, &[])
}

const fn fixed_part(bits: u32, name: &'static str, value: u64) -> Part {
    Part { bits, name, role: Fixed, value, usual: None }
}

/// Creates a field that contains a little-endian integer.
const fn little_endian_part(bits: u32, name: &'static str, role: Role) -> Part {
    Part { bits, name, role, value: 1, usual: None }
}

const fn full_time_part(bits: u32) -> Part {
    part(bits, "time", Time)
}

const fn time_part(bits: u32, name: &'static str, above: u64) -> Part {
    Part { bits, name, role: Time, value: above, usual: None }
}

const fn scale(tick_nanos: u64, epoch_ms: i64, first_year: i64) -> Scale {
    // A year of average length is accurate enough for estimating probabilities.
    Scale { tick_nanos, epoch_ms, first_ms: (first_year - 1970) * 31_556_952_000 }
}

pub(crate) const VERSION: &str = "version";
pub(crate) const VARIANT: &str = "variant";
const NANOS_PER_MS: u64 = 1_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// 1582-10-15, the epoch of version 1 and version 6 UUIDs.
const GREGORIAN_EPOCH_MS: i64 = -12_219_292_800_000;
const UUID: &[Text] = &[Text::Uuid];
const DECIMAL: &[Text] = &[Text::Decimal];
const HEX: &[Text] = &[Text::Hex];
/// The name of a version field with a value that RFC 9562 does not define: 0, or 9 to 15.
pub(crate) const UNKNOWN_VERSION: &str = "unknown_version";
/// The title of a TypeID whose UUID has any version.
pub(crate) const TYPEID: &str = "TypeID";

const fn format(
    name: &'static str,
    title: &'static str,
    rarity: u32,
    texts: &'static [Text],
    scale: Option<Scale>,
    parts: &'static [Part],
) -> Format {
    Format { name, title, texts, parts, scale, rarity, is_ours: false }
}

#[allow(clippy::needless_pass_by_value, reason = "the tables are made of its calls")]
const fn project_format(format: Format) -> Format {
    Format { is_ours: true, ..format }
}

/// The known formats. Their descriptions come from RFC 9562 for UUIDs, from docs/formats.md for this project's own formats,
/// and from the respective project's website for all others.
pub(crate) const FORMATS: &[Format] = &[
    project_format(format(
        "sno",
        "sno",
        4,
        &[Text::Number(&Alphabet::SNO, 16), Text::InUuid(&Alphabet::SNO)],
        Some(scale(4 * NANOS_PER_MS, 1_262_304_000_000, 2019)),
        &[
            full_time_part(39),
            part(1, "tick_tock", TickTock),
            part(8, "metabyte", TypeTag),
            spread_part(16, "partition", WorkerId),
            part(16, "sequence", Sequence),
        ],
    )),
    project_format(format(
        "sno-uuid8",
        "sno as a UUID of version 8",
        6,
        UUID,
        Some(scale(4 * NANOS_PER_MS, 1_262_304_000_000, 2019)),
        &[
            full_time_part(39),
            part(1, "tick_tock", TickTock),
            part(8, "metabyte", TypeTag),
            fixed_part(4, VERSION, 8),
            part(12, "partition_high", WorkerId),
            fixed_part(2, VARIANT, 2),
            part(4, "partition_low", WorkerId),
            part(16, "sequence", Sequence),
            fixed_part(42, "unused", 0),
        ],
    )),
    project_format(format(
        "hotguid",
        "Hot Guid",
        8,
        UUID,
        Some(scale(NANOS_PER_SECOND, 0, 2016)),
        &[
            full_time_part(32),
            spread_part(40, "machine", WorkerId),
            spread_part(24, "counter", Sequence),
            little_endian_part(32, "shard_key", ShardKey),
        ],
    )),
    project_format(format(
        "hotguid-uuid8",
        "Hot Guid of version 8",
        8,
        UUID,
        Some(scale(NANOS_PER_SECOND, 0, 2016)),
        &[
            full_time_part(32),
            spread_part(16, "machine_high", WorkerId),
            fixed_part(4, VERSION, 8),
            spread_part(12, "machine_middle", WorkerId),
            fixed_part(2, VARIANT, 2),
            spread_part(6, "machine_low", WorkerId),
            spread_part(24, "counter", Sequence),
            little_endian_part(32, "shard_key", ShardKey),
        ],
    )),
    project_format(format(
        "randflake",
        "Randflake",
        9,
        &[Text::Short(&Alphabet::BASE32HEX, 10, 13), Text::Decimal],
        None,
        &[part(64, "encrypted", Encrypted)],
    )),
    project_format(format(
        "public-id",
        "public ID",
        5,
        &[Text::Public],
        None,
        &[
            part(5, "version", KeyVersion),
            fixed_part(1, "unused", 0),
            part(64, "block", Encrypted),
            fixed_part(5, "check", CHECKED_BY_DECODER),
        ],
    )),
    format(
        "uuid1",
        "UUID v1",
        2,
        UUID,
        Some(scale(100, GREGORIAN_EPOCH_MS, 1995)),
        &[
            time_part(32, "time_low", 0),
            time_part(16, "time_mid", 32),
            fixed_part(4, VERSION, 1),
            time_part(12, "time_high", 48),
            fixed_part(2, VARIANT, 2),
            part(14, "clock_sequence", Random),
            spread_part(48, "node", WorkerId),
        ],
    ),
    format(
        "uuid2",
        "UUID v2",
        9,
        UUID,
        // The time of a UUID v2 lacks its lowest 32 bits, so it is accurate to seven minutes and not shown.
        None,
        &[
            spread_part(32, "local_id", WorkerId),
            time_part(16, "time_mid", 0),
            fixed_part(4, VERSION, 2),
            time_part(12, "time_high", 16),
            fixed_part(2, VARIANT, 2),
            part(6, "clock_sequence", Random),
            part(8, "domain", TypeTag),
            spread_part(48, "node", WorkerId),
        ],
    ),
    format("uuid3", "UUID v3", 4, UUID, None, &hash_parts(3)),
    format("uuid4", "UUID v4", 0, UUID, None, &random_parts(4)),
    format("uuid5", "UUID v5", 3, UUID, None, &hash_parts(5)),
    format(
        "uuid6",
        "UUID v6",
        4,
        UUID,
        Some(scale(100, GREGORIAN_EPOCH_MS, 2020)),
        &[
            time_part(32, "time_high", 28),
            time_part(16, "time_mid", 12),
            fixed_part(4, VERSION, 6),
            time_part(12, "time_low", 0),
            fixed_part(2, VARIANT, 2),
            part(14, "clock_sequence", Random),
            spread_part(48, "node", WorkerId),
        ],
    ),
    format(
        "uuid7",
        "UUID v7",
        1,
        UUID,
        Some(scale(NANOS_PER_MS, 0, 2016)),
        &[
            full_time_part(48),
            fixed_part(4, VERSION, 7),
            part(12, "random_high", Random),
            fixed_part(2, VARIANT, 2),
            part(62, "random_low", Random),
        ],
    ),
    format("uuid8", "UUID v8", 8, UUID, None, &random_parts(8)),
    format(
        "uuid-nil",
        "nil UUID",
        8,
        UUID,
        None,
        &[fixed_part(64, "high", 0), fixed_part(64, "low", 0)],
    ),
    format(
        "uuid-max",
        "max UUID",
        8,
        UUID,
        None,
        &[fixed_part(64, "high", u64::MAX), fixed_part(64, "low", u64::MAX)],
    ),
    format(
        "guid-ncs",
        "GUID of the NCS variant, which has no version",
        5,
        UUID,
        None,
        &[part(64, "high", Random), fixed_part(1, VARIANT, 0), part(63, "low", Random)],
    ),
    format(
        "guid-rfc",
        "GUID of the RFC variant without a known version",
        6,
        UUID,
        None,
        &[
            part(48, "high", Random),
            part(4, UNKNOWN_VERSION, Random),
            part(12, "middle", Random),
            fixed_part(2, VARIANT, 2),
            part(62, "low", Random),
        ],
    ),
    format(
        "guid-microsoft",
        "GUID of the Microsoft variant, which has no version",
        4,
        UUID,
        None,
        &[part(64, "high", Random), fixed_part(3, VARIANT, 6), part(61, "low", Random)],
    ),
    format(
        "guid-reserved",
        "GUID of the reserved variant, which has no version",
        6,
        UUID,
        None,
        &[part(64, "high", Random), fixed_part(3, VARIANT, 7), part(61, "low", Random)],
    ),
    format(
        "ulid",
        "ULID",
        2,
        &[Text::Number(&Alphabet::CROCKFORD, 26), Text::Number(&Alphabet::CROCKFORD_LOWER, 26)],
        Some(scale(NANOS_PER_MS, 0, 2016)),
        &[full_time_part(48), part(80, "random", Random)],
    ),
    format(
        "ulid-uuid",
        "ULID as a UUID",
        7,
        UUID,
        Some(scale(NANOS_PER_MS, 0, 2016)),
        &[full_time_part(48), part(80, "random", Random)],
    ),
    format(
        "typeid",
        TYPEID,
        3,
        &[Text::Typed],
        Some(scale(NANOS_PER_MS, 0, 2022)),
        &[
            full_time_part(48),
            fixed_part(4, VERSION, 7),
            part(12, "random_high", Random),
            fixed_part(2, VARIANT, 2),
            part(62, "random_low", Random),
        ],
    ),
    // The string form of a TypeID can contain any UUID. The title of the reading names it.
    format("typeid", TYPEID, 4, &[Text::Typed], None, &[part(128, "uuid", Random)]),
    format(
        "ksuid",
        "KSUID",
        4,
        &[Text::Number(&Alphabet::BASE62, 27)],
        Some(scale(NANOS_PER_SECOND, 1_400_000_000_000, 2017)),
        &[full_time_part(32), part(128, "payload", Random)],
    ),
    format(
        "objectid",
        "MongoDB ObjectId",
        2,
        &[Text::Number(&Alphabet::HEX, 24)],
        Some(scale(NANOS_PER_SECOND, 0, 2009)),
        &[
            full_time_part(32),
            spread_part(40, "process", WorkerId),
            spread_part(24, "counter", Sequence),
        ],
    ),
    format(
        "xid",
        "xid",
        4,
        &[Text::Number(&Alphabet::BASE32HEX, 20)],
        Some(scale(NANOS_PER_SECOND, 0, 2015)),
        &[
            full_time_part(32),
            spread_part(24, "machine", WorkerId),
            spread_part(16, "process", WorkerId),
            spread_part(24, "counter", Sequence),
            fixed_part(4, "padding", 0),
        ],
    ),
    format(
        "tsid",
        "TSID",
        5,
        &[Text::Number(&Alphabet::CROCKFORD, 13)],
        Some(scale(NANOS_PER_MS, 1_577_836_800_000, 2020)),
        &[full_time_part(42), part(22, "random", Random)],
    ),
    format(
        "scru128",
        "SCRU128",
        7,
        &[Text::Number(&Alphabet::BASE36, 25), Text::Number(&Alphabet::BASE36_UPPER, 25)],
        Some(scale(NANOS_PER_MS, 0, 2021)),
        &[
            full_time_part(48),
            spread_part(24, "counter_high", Sequence),
            spread_part(24, "counter_low", Sequence),
            part(32, "entropy", Random),
        ],
    ),
    format(
        "timeflake",
        "Timeflake",
        8,
        &[Text::Number(&Alphabet::BASE62, 22)],
        Some(scale(NANOS_PER_MS, 0, 2020)),
        &[full_time_part(48), part(80, "random", Random)],
    ),
    format(
        "flake",
        "Boundary flake",
        9,
        &[Text::Short(&Alphabet::BASE62, 17, 22)],
        Some(scale(NANOS_PER_MS, 0, 2012)),
        &[full_time_part(64), spread_part(48, "machine", WorkerId), part(16, "sequence", Sequence)],
    ),
    format(
        "pushid",
        "Firebase push ID",
        5,
        &[Text::Number(&Alphabet::PUSH_ID, 20)],
        Some(scale(NANOS_PER_MS, 0, 2012)),
        &[full_time_part(48), part(72, "random", Random)],
    ),
    format(
        "tid",
        "AT Protocol TID",
        5,
        &[Text::Number(&Alphabet::BASE32_SORTABLE, 13)],
        Some(scale(1000, 0, 2022)),
        &[fixed_part(1, "unused", 0), full_time_part(53), part(10, "clock_id", WorkerId)],
    ),
    format(
        "cuid",
        "CUID",
        4,
        &[Text::Cuid],
        Some(scale(NANOS_PER_MS, 0, 2012)),
        &[
            full_time_part(42),
            spread_part(21, "counter", Sequence),
            spread_part(21, "fingerprint", WorkerId),
            part(42, "random", Random),
        ],
    ),
    format("cuid2", "CUID2", 6, &[Text::Cuid2], None, &[part(125, "hash", Hash)]),
    format(
        "nanoid",
        "Nano ID",
        3,
        &[Text::Number(&Alphabet::NANOID, 21)],
        None,
        &[part(126, "random", Random)],
    ),
    format(
        "twitter",
        "X (Twitter) snowflake",
        3,
        DECIMAL,
        Some(scale(NANOS_PER_MS, 1_288_834_974_657, 2011)),
        &[
            fixed_part(1, "unused", 0),
            full_time_part(41),
            // Of 325 IDs in the documentation of X's API, 307 contain one of these datacenter values. The worker field of
            // these IDs can have any value.
            part_with_typical_values(5, "datacenter", WorkerId, &[10, 11, 13]),
            spread_part(5, "worker", WorkerId),
            part(12, "sequence", Sequence),
        ],
    ),
    format(
        "discord",
        "Discord snowflake",
        3,
        DECIMAL,
        Some(scale(NANOS_PER_MS, 1_420_070_400_000, 2015)),
        &[
            full_time_part(42),
            part(5, "worker", WorkerId),
            part(5, "process", WorkerId),
            part(12, "sequence", Sequence),
        ],
    ),
    format(
        "instagram",
        "Instagram ID",
        4,
        DECIMAL,
        Some(scale(NANOS_PER_MS, 1_314_220_021_721, 2012)),
        &[full_time_part(41), part(13, "shard", WorkerId), part(10, "sequence", Sequence)],
    ),
    format(
        "sonyflake",
        "Sonyflake",
        8,
        DECIMAL,
        Some(scale(10 * NANOS_PER_MS, 1_409_529_600_000, 2015)),
        &[
            fixed_part(1, "unused", 0),
            full_time_part(39),
            part(8, "sequence", Sequence),
            spread_part(16, "machine", WorkerId),
        ],
    ),
    format(
        "mastodon",
        "Mastodon ID",
        5,
        DECIMAL,
        Some(scale(NANOS_PER_MS, 0, 2017)),
        &[full_time_part(48), part(16, "sequence_data", Sequence)],
    ),
    format(
        "linkedin",
        "LinkedIn ID",
        5,
        DECIMAL,
        Some(scale(NANOS_PER_MS, 0, 2015)),
        &[
            fixed_part(1, "unused", 0),
            full_time_part(41),
            spread_part(10, "node", WorkerId),
            part(12, "sequence", Sequence),
        ],
    ),
    format(
        "tiktok",
        "TikTok ID",
        7,
        DECIMAL,
        Some(scale(NANOS_PER_SECOND, 0, 2016)),
        &[
            full_time_part(32),
            part(10, "milliseconds", Random),
            part(10, "sequence", Sequence),
            // Of 21 IDs of videos, 18 contain the first value, and the others contain these two.
            part_with_typical_values(4, "type", TypeTag, &[13, 11, 8]),
            part(8, "low", Random),
        ],
    ),
    format(
        "snowflake",
        "snowflake of the Unix epoch",
        7,
        DECIMAL,
        Some(scale(NANOS_PER_MS, 0, 2010)),
        &[
            fixed_part(1, "unused", 0),
            full_time_part(41),
            part(10, "node", WorkerId),
            part(12, "sequence", Sequence),
        ],
    ),
    format(
        "baidu",
        "Baidu UID",
        9,
        DECIMAL,
        Some(Scale {
            tick_nanos: NANOS_PER_SECOND,
            epoch_ms: 1_463_673_600_000,
            first_ms: 1_483_228_800_000,
        }),
        &[
            fixed_part(1, "unused", 0),
            full_time_part(28),
            part(22, "worker", WorkerId),
            part(13, "sequence", Sequence),
        ],
    ),
    format(
        "unix-s",
        "Unix seconds",
        4,
        DECIMAL,
        Some(scale(NANOS_PER_SECOND, 0, 1990)),
        &[full_time_part(64)],
    ),
    format(
        "unix-ms",
        "Unix milliseconds",
        5,
        DECIMAL,
        Some(scale(NANOS_PER_MS, 0, 1990)),
        &[full_time_part(64)],
    ),
    format(
        "unix-us",
        "Unix microseconds",
        12,
        DECIMAL,
        Some(scale(1000, 0, 1990)),
        &[full_time_part(64)],
    ),
    format(
        "unix-ns",
        "Unix nanoseconds",
        11,
        DECIMAL,
        Some(scale(1, 0, 1990)),
        &[full_time_part(64)],
    ),
    format(
        "datetime",
        "date and time in digits",
        5,
        &[Text::Digits(14)],
        Some(scale(NANOS_PER_SECOND, 0, 1990)),
        &[full_time_part(64)],
    ),
    format(
        "datetime-ms",
        "date and time in digits, with milliseconds",
        8,
        &[Text::Digits(17)],
        Some(scale(NANOS_PER_MS, 0, 1990)),
        &[full_time_part(64)],
    ),
    format(
        "date",
        "date in digits",
        7,
        &[Text::Digits(8)],
        Some(scale(86_400 * NANOS_PER_SECOND, 0, 1990)),
        &[full_time_part(64)],
    ),
    format(
        "hash-128",
        "hash digest of 128 bits, such as MD5",
        3,
        HEX,
        None,
        &[part(128, "hash", Hash)],
    ),
    format(
        "hash-160",
        "hash digest of 160 bits, such as SHA-1",
        3,
        HEX,
        None,
        &[part(160, "hash", Hash)],
    ),
    format(
        "hash-224",
        "hash digest of 224 bits, such as SHA-224",
        7,
        HEX,
        None,
        &[part(224, "hash", Hash)],
    ),
    format(
        "hash-256",
        "hash digest of 256 bits, such as SHA-256",
        3,
        HEX,
        None,
        &[part(256, "hash", Hash)],
    ),
    format(
        "hash-384",
        "hash digest of 384 bits, such as SHA-384",
        6,
        HEX,
        None,
        &[part(384, "hash", Hash)],
    ),
    format(
        "hash-512",
        "hash digest of 512 bits, such as SHA-512",
        5,
        HEX,
        None,
        &[part(512, "hash", Hash)],
    ),
    format(
        "counter",
        "a counter",
        2,
        DECIMAL,
        None,
        &[fixed_part(11, "unused", 0), part(53, "count", Sequence)],
    ),
];

const fn random_parts(version: u64) -> [Part; 5] {
    [
        part(48, "random_high", Random),
        fixed_part(4, VERSION, version),
        part(12, "random_middle", Random),
        fixed_part(2, VARIANT, 2),
        part(62, "random_low", Random),
    ]
}

const fn hash_parts(version: u64) -> [Part; 5] {
    [
        part(48, "hash_high", Hash),
        fixed_part(4, VERSION, version),
        part(12, "hash_middle", Hash),
        fixed_part(2, VARIANT, 2),
        part(62, "hash_low", Hash),
    ]
}
