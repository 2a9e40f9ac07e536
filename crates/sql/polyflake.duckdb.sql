-- Macros for DuckDB that return the time and the parts of an ID, and the bounds of a time span.
-- Written by `polyflake sql polyflake.duckdb.sql` 0.1.0.
--
-- Load it with `.read polyflake.duckdb.sql`, or execute its text. docs/integrations/sql.md shows the macros in use. A later
-- version of the file updates the macros, and `DROP SCHEMA flake CASCADE` removes them.
-- Their names are those of PostgreSQL, with the form of the sno: `sno_time` reads a string, `sno_blob_time` a BLOB and
-- `sno_uuid8_time` a UUID.
--
-- A macro that reads an ID returns NULL for a value that cannot be an ID. It never returns NULL if every value can be
-- an ID: 10 bytes as a sno, a UUID as a Hot Guid, an integer of 64 bits as a snowflake.
-- If DuckDB cannot convert a value to the type of the ID, such as a string that is not a UUID, DuckDB reports an error.
--
-- Other errors begin with a stable code of the library: `time_out_of_range` for a time outside the format, because a
-- bound that is NULL would silently find no rows; `invalid_layout` for an unknown service; `unknown_field` for an
-- unknown field.

CREATE SCHEMA IF NOT EXISTS flake;

-- An integer of any type as a BIGINT. DuckDB calculates in the type of its operands, so a smaller type would overflow.
-- An unsigned integer above the highest BIGINT becomes the negative one with the same bits.
CREATE OR REPLACE MACRO flake.word(id) AS
    CASE WHEN id > 9223372036854775807 THEN (id::UBIGINT::HUGEINT - 18446744073709551616)::BIGINT ELSE id::BIGINT END;

CREATE OR REPLACE MACRO flake.unknown_field_of(layout, field) AS
    CASE
        WHEN field IS NOT NULL
            THEN error('unknown_field: expected a field of ' || layout || ', found ''' || field || '''')
    END;

-- The first tick of a format that begins at a time or later. A tick begins at a multiple of its length since 1970.
CREATE OR REPLACE MACRO flake.tick_at(moment, tick_us) AS
    epoch_us(moment::TIMESTAMPTZ) // tick_us + (epoch_us(moment::TIMESTAMPTZ) % tick_us > 0)::BIGINT;

CREATE OR REPLACE MACRO flake.tick(moment, tick_us, epoch_ticks, first, last) AS
    CASE
        WHEN flake.tick_at(moment, tick_us) - epoch_ticks BETWEEN first AND last
            THEN flake.tick_at(moment, tick_us) - epoch_ticks
        WHEN moment IS NOT NULL
            THEN error('time_out_of_range: expected a time of the format, found ' || moment::VARCHAR)
    END;

CREATE OR REPLACE MACRO flake.number(digits, first, count) AS ('0x' || substr(digits, first, count))::BIGINT;

CREATE OR REPLACE MACRO flake.uuid_hex(id) AS replace(id::UUID::VARCHAR, '-', '');

CREATE OR REPLACE MACRO flake.sno_character(id, place) AS (strpos('23456789abcdefghijklmnopqrstuvwx', substr(id, place, 1)) - 1);

CREATE OR REPLACE MACRO flake.unknown_preset(preset) AS
    error('invalid_layout: expected one of twitter, x, discord, instagram, sonyflake, mastodon, baidu, found ''' || preset || '''');

CREATE OR REPLACE MACRO flake.unknown_field(preset, field) AS
    CASE
        WHEN lower(preset) IN ('twitter', 'x', 'discord', 'instagram', 'sonyflake', 'mastodon', 'baidu')
            THEN flake.unknown_field_of(preset, field)
        WHEN field IS NOT NULL THEN flake.unknown_preset(preset)
    END;

-- The first 8 characters of a sno.
CREATE OR REPLACE MACRO flake.sno_string(word) AS
    substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 35) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 30) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 25) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 20) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 15) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 10) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 5) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 0) & 31) + 1, 1);

CREATE OR REPLACE MACRO flake.is_sno(id) AS
    regexp_full_match(id, '[2-9a-x]{16}');
COMMENT ON MACRO flake.is_sno IS 'Whether a value is a sno as a string, for a CHECK constraint.';

CREATE OR REPLACE MACRO flake.sno_time(id) AS
    CASE WHEN flake.is_sno(id) THEN
        make_timestamptz((((((flake.sno_character(id, 1) << 20)
        | (flake.sno_character(id, 2) << 15)
        | (flake.sno_character(id, 3) << 10)
        | (flake.sno_character(id, 4) << 5)
        | flake.sno_character(id, 5)) << 14) | (((flake.sno_character(id, 6) << 10)
        | (flake.sno_character(id, 7) << 5)
        | flake.sno_character(id, 8)) >> 1)) + 315576000000) * 4000)
    END;
COMMENT ON MACRO flake.sno_time IS 'The time of a sno as a string, to 4 ms. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.sno_metabyte(id) AS
    CASE WHEN flake.is_sno(id) THEN
        ((flake.sno_character(id, 9) << 5) | flake.sno_character(id, 10)) >> 2
    END;
COMMENT ON MACRO flake.sno_metabyte IS 'The type tag of a sno, 0 to 255. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.sno_partition(id) AS
    CASE WHEN flake.is_sno(id) THEN
        (((flake.sno_character(id, 10) << 15)
        | (flake.sno_character(id, 11) << 10)
        | (flake.sno_character(id, 12) << 5)
        | flake.sno_character(id, 13)) >> 1) & 65535
    END;
COMMENT ON MACRO flake.sno_partition IS 'The worker ID of a sno, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.sno_sequence(id) AS
    CASE WHEN flake.is_sno(id) THEN
        ((flake.sno_character(id, 13) << 15)
        | (flake.sno_character(id, 14) << 10)
        | (flake.sno_character(id, 15) << 5)
        | flake.sno_character(id, 16)) & 65535
    END;
COMMENT ON MACRO flake.sno_sequence IS 'The sequence of a sno within its tick of 4 ms, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.is_sno_blob(id) AS
    octet_length(id::BLOB) = 10;
COMMENT ON MACRO flake.is_sno_blob IS 'Whether a value is a sno as a BLOB of 10 bytes, for a CHECK constraint.';

CREATE OR REPLACE MACRO flake.sno_blob_time(id) AS
    CASE WHEN flake.is_sno_blob(id) THEN
        make_timestamptz((((flake.number(hex(id::BLOB), 1, 10)) >> 1) + 315576000000) * 4000)
    END;
COMMENT ON MACRO flake.sno_blob_time IS 'The time of a sno as a BLOB of 10 bytes, to 4 ms. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.sno_blob_metabyte(id) AS
    CASE WHEN flake.is_sno_blob(id) THEN
        flake.number(hex(id::BLOB), 11, 2)
    END;
COMMENT ON MACRO flake.sno_blob_metabyte IS 'The type tag of a sno, 0 to 255. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.sno_blob_partition(id) AS
    CASE WHEN flake.is_sno_blob(id) THEN
        flake.number(hex(id::BLOB), 13, 4)
    END;
COMMENT ON MACRO flake.sno_blob_partition IS 'The worker ID of a sno, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.sno_blob_sequence(id) AS
    CASE WHEN flake.is_sno_blob(id) THEN
        flake.number(hex(id::BLOB), 17, 4)
    END;
COMMENT ON MACRO flake.sno_blob_sequence IS 'The sequence of a sno within its tick of 4 ms, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.is_sno_uuid8(id) AS
    regexp_full_match(flake.uuid_hex(id), '.{12}8.{3}[89ab].{4}[048c]0{10}');
COMMENT ON MACRO flake.is_sno_uuid8 IS 'Whether a value is a sno as a UUID of version 8, for a CHECK constraint.';

CREATE OR REPLACE MACRO flake.sno_uuid8_time(id) AS
    CASE WHEN flake.is_sno_uuid8(id) THEN
        make_timestamptz((((flake.number(flake.uuid_hex(id), 1, 10)) >> 1) + 315576000000) * 4000)
    END;
COMMENT ON MACRO flake.sno_uuid8_time IS 'The time of a sno as a UUID of version 8, to 4 ms. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.sno_uuid8_metabyte(id) AS
    CASE WHEN flake.is_sno_uuid8(id) THEN
        flake.number(flake.uuid_hex(id), 11, 2)
    END;
COMMENT ON MACRO flake.sno_uuid8_metabyte IS 'The type tag of a sno, 0 to 255. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.sno_uuid8_partition(id) AS
    CASE WHEN flake.is_sno_uuid8(id) THEN
        (((flake.number(flake.uuid_hex(id), 13, 4)) & 4095) << 4) | (((flake.number(flake.uuid_hex(id), 17, 2)) >> 2) & 15)
    END;
COMMENT ON MACRO flake.sno_uuid8_partition IS 'The worker ID of a sno, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.sno_uuid8_sequence(id) AS
    CASE WHEN flake.is_sno_uuid8(id) THEN
        ((flake.number(flake.uuid_hex(id), 17, 6)) >> 2) & 65535
    END;
COMMENT ON MACRO flake.sno_uuid8_sequence IS 'The sequence of a sno within its tick of 4 ms, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE MACRO flake.hotguid_time(id) AS
    make_timestamptz((flake.number(flake.uuid_hex(id), 1, 8)) * 1000000);
COMMENT ON MACRO flake.hotguid_time IS 'The time of a Hot Guid of either form, to the second. Every UUID has one, since each can be a Hot Guid.';

CREATE OR REPLACE MACRO flake.hotguid_shard_key(id) AS
    (flake.number(flake.uuid_hex(id), 25, 2))
        | ((flake.number(flake.uuid_hex(id), 27, 2)) << 8)
        | ((flake.number(flake.uuid_hex(id), 29, 2)) << 16)
        | ((flake.number(flake.uuid_hex(id), 31, 2)) << 24);
COMMENT ON MACRO flake.hotguid_shard_key IS 'The shard key of a Hot Guid in the form of the original, 0 to 4294967295.';

CREATE OR REPLACE MACRO flake.hotguid_uuid8_shard_key(id) AS
    CASE WHEN regexp_full_match(flake.uuid_hex(id), '.{12}8.{3}[89ab].{15}') THEN
        flake.number(flake.uuid_hex(id), 25, 8)
    END;
COMMENT ON MACRO flake.hotguid_uuid8_shard_key IS 'The shard key of a Hot Guid as a UUID of version 8, 0 to 4294967295. NULL for another UUID.';

CREATE OR REPLACE MACRO flake.uuid7_time(id) AS
    CASE WHEN regexp_full_match(flake.uuid_hex(id), '.{12}7.{3}[89ab].{15}') THEN
        make_timestamptz((flake.number(flake.uuid_hex(id), 1, 12)) * 1000)
    END;
COMMENT ON MACRO flake.uuid7_time IS 'The time of a UUID of version 7, to the millisecond. NULL for another UUID.';

CREATE OR REPLACE MACRO flake.snowflake_ms(id, preset) AS
    CASE lower(preset)
        WHEN 'twitter' THEN (((flake.word(id) >> 22) & 2199023255551) + 1288834974657)
        WHEN 'x' THEN (((flake.word(id) >> 22) & 2199023255551) + 1288834974657)
        WHEN 'discord' THEN (((flake.word(id) >> 22) & 4398046511103) + 1420070400000)
        WHEN 'instagram' THEN (((flake.word(id) >> 23) & 2199023255551) + 1314220021721)
        WHEN 'sonyflake' THEN (((flake.word(id) >> 24) & 549755813887) + 140952960000) * 10
        WHEN 'mastodon' THEN ((flake.word(id) >> 16) & 281474976710655)
        WHEN 'baidu' THEN (((flake.word(id) >> 35) & 268435455) + 1463673600) * 1000
        ELSE flake.unknown_preset(preset)
    END;
COMMENT ON MACRO flake.snowflake_ms IS 'The Unix milliseconds of a snowflake of a known service: twitter, x, discord, instagram, sonyflake, mastodon, baidu. Another name is an error.';

CREATE OR REPLACE MACRO flake.snowflake_time(id, preset) AS
    make_timestamptz((flake.snowflake_ms(id, preset)) * 1000);
COMMENT ON MACRO flake.snowflake_time IS 'The time of a snowflake of a known service: twitter, x, discord, instagram, sonyflake, mastodon, baidu. Another name is an error.';

CREATE OR REPLACE MACRO flake.snowflake_field(id, preset, field) AS
    CASE lower(preset) || '.' || field
        WHEN 'twitter.datacenter' THEN (flake.word(id) >> 17) & 31
        WHEN 'x.datacenter' THEN (flake.word(id) >> 17) & 31
        WHEN 'twitter.worker' THEN (flake.word(id) >> 12) & 31
        WHEN 'x.worker' THEN (flake.word(id) >> 12) & 31
        WHEN 'twitter.sequence' THEN flake.word(id) & 4095
        WHEN 'x.sequence' THEN flake.word(id) & 4095
        WHEN 'discord.worker' THEN (flake.word(id) >> 17) & 31
        WHEN 'discord.process' THEN (flake.word(id) >> 12) & 31
        WHEN 'discord.sequence' THEN flake.word(id) & 4095
        WHEN 'instagram.shard' THEN (flake.word(id) >> 10) & 8191
        WHEN 'instagram.sequence' THEN flake.word(id) & 1023
        WHEN 'sonyflake.sequence' THEN (flake.word(id) >> 16) & 255
        WHEN 'sonyflake.machine' THEN flake.word(id) & 65535
        WHEN 'mastodon.sequence_data' THEN flake.word(id) & 65535
        WHEN 'baidu.worker' THEN (flake.word(id) >> 13) & 4194303
        WHEN 'baidu.sequence' THEN flake.word(id) & 8191
        ELSE flake.unknown_field(preset, field)
    END;
COMMENT ON MACRO flake.snowflake_field IS 'A field of a snowflake of a known service: twitter: datacenter, worker, sequence; discord: worker, process, sequence; instagram: shard, sequence; sonyflake: sequence, machine; mastodon: sequence_data; baidu: worker, sequence. Another name is an error.';

CREATE OR REPLACE MACRO flake.sno_lowest(moment) AS
    flake.sno_string(flake.tick(moment, 4000, 315576000000, 0, 549755813887) << 1) || '22222222';
COMMENT ON MACRO flake.sno_lowest IS 'The lowest sno as a string of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.sno_highest(before) AS
    flake.sno_string(((flake.tick(before, 4000, 315576000000, 1, 549755813888) - 1) << 1) | 1) || 'xxxxxxxx';
COMMENT ON MACRO flake.sno_highest IS 'The highest sno as a string of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.sno_range(start, until) AS TABLE
    SELECT flake.sno_lowest(start) AS lowest, flake.sno_highest(until) AS highest;
COMMENT ON MACRO TABLE flake.sno_range IS 'The lowest and the highest sno as a string of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.sno_blob_lowest(moment) AS
    unhex(lpad(lower(hex(flake.tick(moment, 4000, 315576000000, 0, 549755813887) << 1)), 10, '0') || '0000000000');
COMMENT ON MACRO flake.sno_blob_lowest IS 'The lowest sno as 10 bytes of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.sno_blob_highest(before) AS
    unhex(lpad(lower(hex(((flake.tick(before, 4000, 315576000000, 1, 549755813888) - 1) << 1) | 1)), 10, '0') || 'ffffffffff');
COMMENT ON MACRO flake.sno_blob_highest IS 'The highest sno as 10 bytes of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.sno_blob_range(start, until) AS TABLE
    SELECT flake.sno_blob_lowest(start) AS lowest, flake.sno_blob_highest(until) AS highest;
COMMENT ON MACRO TABLE flake.sno_blob_range IS 'The lowest and the highest sno as 10 bytes of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.sno_uuid8_lowest(moment) AS
    (lpad(lower(hex(flake.tick(moment, 4000, 315576000000, 0, 549755813887) << 1)), 10, '0') || '0080008000000000000000')::uuid;
COMMENT ON MACRO flake.sno_uuid8_lowest IS 'The lowest sno as a UUID of version 8 of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.sno_uuid8_highest(before) AS
    (lpad(lower(hex(((flake.tick(before, 4000, 315576000000, 1, 549755813888) - 1) << 1) | 1)), 10, '0') || 'ff8fffbffffc0000000000')::uuid;
COMMENT ON MACRO flake.sno_uuid8_highest IS 'The highest sno as a UUID of version 8 of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.sno_uuid8_range(start, until) AS TABLE
    SELECT flake.sno_uuid8_lowest(start) AS lowest, flake.sno_uuid8_highest(until) AS highest;
COMMENT ON MACRO TABLE flake.sno_uuid8_range IS 'The lowest and the highest sno as a UUID of version 8 of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.hotguid_lowest(moment) AS
    (lpad(lower(hex(flake.tick(moment, 1000000, 0, 0, 4294967295))), 8, '0') || '000000000000000000000000')::uuid;
COMMENT ON MACRO flake.hotguid_lowest IS 'The lowest Hot Guid of either form of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.hotguid_highest(before) AS
    (lpad(lower(hex((flake.tick(before, 1000000, 0, 1, 4294967296) - 1))), 8, '0') || 'ffffffffffffffffffffffff')::uuid;
COMMENT ON MACRO flake.hotguid_highest IS 'The highest Hot Guid of either form of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.hotguid_range(start, until) AS TABLE
    SELECT flake.hotguid_lowest(start) AS lowest, flake.hotguid_highest(until) AS highest;
COMMENT ON MACRO TABLE flake.hotguid_range IS 'The lowest and the highest Hot Guid of either form of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.uuid7_lowest(moment) AS
    (lpad(lower(hex(flake.tick(moment, 1000, 0, 0, 281474976710655))), 12, '0') || '70008000000000000000')::uuid;
COMMENT ON MACRO flake.uuid7_lowest IS 'The lowest UUID of version 7 of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.uuid7_highest(before) AS
    (lpad(lower(hex((flake.tick(before, 1000, 0, 1, 281474976710656) - 1))), 12, '0') || '7fffbfffffffffffffff')::uuid;
COMMENT ON MACRO flake.uuid7_highest IS 'The highest UUID of version 7 of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.uuid7_range(start, until) AS TABLE
    SELECT flake.uuid7_lowest(start) AS lowest, flake.uuid7_highest(until) AS highest;
COMMENT ON MACRO TABLE flake.uuid7_range IS 'The lowest and the highest UUID of version 7 of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.snowflake_lowest(moment, preset) AS
    CASE lower(preset)
        WHEN 'twitter' THEN flake.tick(moment, 1000, 1288834974657, 0, 2199023255551) << 22
        WHEN 'x' THEN flake.tick(moment, 1000, 1288834974657, 0, 2199023255551) << 22
        WHEN 'discord' THEN flake.tick(moment, 1000, 1420070400000, 0, 2199023255551) << 22
        WHEN 'instagram' THEN flake.tick(moment, 1000, 1314220021721, 0, 1099511627775) << 23
        WHEN 'sonyflake' THEN flake.tick(moment, 10000, 140952960000, 0, 549755813887) << 24
        WHEN 'mastodon' THEN flake.tick(moment, 1000, 0, 0, 140737488355327) << 16
        WHEN 'baidu' THEN flake.tick(moment, 1000000, 1463673600, 0, 268435455) << 35
        ELSE flake.unknown_preset(preset)
    END;
COMMENT ON MACRO flake.snowflake_lowest IS 'The lowest snowflake of a known service that is not negative of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.snowflake_highest(before, preset) AS
    CASE lower(preset)
        WHEN 'twitter' THEN ((flake.tick(before, 1000, 1288834974657, 1, 2199023255552) - 1) << 22) | 4194303
        WHEN 'x' THEN ((flake.tick(before, 1000, 1288834974657, 1, 2199023255552) - 1) << 22) | 4194303
        WHEN 'discord' THEN ((flake.tick(before, 1000, 1420070400000, 1, 2199023255552) - 1) << 22) | 4194303
        WHEN 'instagram' THEN ((flake.tick(before, 1000, 1314220021721, 1, 1099511627776) - 1) << 23) | 8388607
        WHEN 'sonyflake' THEN ((flake.tick(before, 10000, 140952960000, 1, 549755813888) - 1) << 24) | 16777215
        WHEN 'mastodon' THEN ((flake.tick(before, 1000, 0, 1, 140737488355328) - 1) << 16) | 65535
        WHEN 'baidu' THEN ((flake.tick(before, 1000000, 1463673600, 1, 268435456) - 1) << 35) | 34359738367
        ELSE flake.unknown_preset(preset)
    END;
COMMENT ON MACRO flake.snowflake_highest IS 'The highest snowflake of a known service that is not negative of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.snowflake_range(start, until, preset) AS TABLE
    SELECT flake.snowflake_lowest(start, preset) AS lowest, flake.snowflake_highest(until, preset) AS highest;
COMMENT ON MACRO TABLE flake.snowflake_range IS 'The lowest and the highest snowflake of a known service that is not negative of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE MACRO flake.version() AS
    '0.1.0';
COMMENT ON MACRO flake.version IS 'The version of polyflake that wrote the macros.';
