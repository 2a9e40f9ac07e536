-- Columns for SQLite 3.32 or later with the time and the parts of an ID.
-- Written by `polyflake sql polyflake.sqlite.sql` 0.1.0.
--
-- SQLite has no functions in SQL, so these are generated columns. Add those that you need to your own table, with
-- `CREATE TABLE` or `ALTER TABLE ... ADD COLUMN`; they store nothing. A query can use an expression by itself.
-- `ms` is the time in Unix milliseconds. Columns are NULL for a value that cannot be such an ID; every 10 bytes can be
-- a sno, every UUID a Hot Guid, and every integer a snowflake.

-- A sno as its string.
CREATE TABLE sno_strings (
    id TEXT,
    is_valid INTEGER AS (typeof(id) = 'text' AND length(id) = 16 AND instr(id, char(0)) = 0 AND id NOT GLOB '*[^2-9a-x]*'),
    ms INTEGER AS (CASE WHEN is_valid THEN ((((((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 1, 1)) - 1) << 20)
        | ((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 2, 1)) - 1) << 15)
        | ((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 3, 1)) - 1) << 10)
        | ((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 4, 1)) - 1) << 5)
        | (instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 5, 1)) - 1)) << 14) | ((((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 6, 1)) - 1) << 10)
        | ((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 7, 1)) - 1) << 5)
        | (instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 8, 1)) - 1)) >> 1)) + 315576000000) * 4 END),
    metabyte INTEGER AS (CASE WHEN is_valid THEN (((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 9, 1)) - 1) << 5)
        | (instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 10, 1)) - 1)) >> 2 END),
    partition INTEGER AS (CASE WHEN is_valid THEN ((((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 10, 1)) - 1) << 15)
        | ((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 11, 1)) - 1) << 10)
        | ((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 12, 1)) - 1) << 5)
        | (instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 13, 1)) - 1)) >> 1) & 65535 END),
    sequence INTEGER AS (CASE WHEN is_valid THEN (((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 13, 1)) - 1) << 15)
        | ((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 14, 1)) - 1) << 10)
        | ((instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 15, 1)) - 1) << 5)
        | (instr('23456789abcdefghijklmnopqrstuvwx', substr(id, 16, 1)) - 1)) & 65535 END),
    time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))
);

-- A sno as its 10 bytes.
CREATE TABLE sno_blobs (
    id BLOB,
    hex TEXT AS (hex(id)),
    is_valid INTEGER AS (typeof(id) = 'blob' AND length(id) = 10),
    ms INTEGER AS (CASE WHEN is_valid THEN ((((instr('123456789ABCDEF', substr(hex, 1, 1)) << 36)
        | (instr('123456789ABCDEF', substr(hex, 2, 1)) << 32)
        | (instr('123456789ABCDEF', substr(hex, 3, 1)) << 28)
        | (instr('123456789ABCDEF', substr(hex, 4, 1)) << 24)
        | (instr('123456789ABCDEF', substr(hex, 5, 1)) << 20)
        | (instr('123456789ABCDEF', substr(hex, 6, 1)) << 16)
        | (instr('123456789ABCDEF', substr(hex, 7, 1)) << 12)
        | (instr('123456789ABCDEF', substr(hex, 8, 1)) << 8)
        | (instr('123456789ABCDEF', substr(hex, 9, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 10, 1))) >> 1) + 315576000000) * 4 END),
    metabyte INTEGER AS (CASE WHEN is_valid THEN (instr('123456789ABCDEF', substr(hex, 11, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 12, 1)) END),
    partition INTEGER AS (CASE WHEN is_valid THEN (instr('123456789ABCDEF', substr(hex, 13, 1)) << 12)
        | (instr('123456789ABCDEF', substr(hex, 14, 1)) << 8)
        | (instr('123456789ABCDEF', substr(hex, 15, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 16, 1)) END),
    sequence INTEGER AS (CASE WHEN is_valid THEN (instr('123456789ABCDEF', substr(hex, 17, 1)) << 12)
        | (instr('123456789ABCDEF', substr(hex, 18, 1)) << 8)
        | (instr('123456789ABCDEF', substr(hex, 19, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 20, 1)) END),
    time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))
);

-- A sno as a UUID of version 8, as 16 bytes, 32 digits or 36 characters.
CREATE TABLE sno_uuids (
    id,
    hex TEXT AS (iif(typeof(id) = 'blob', hex(id), upper(iif(id GLOB '????????-????-????-????-????????????', replace(id, '-', ''), id)))),
    is_valid INTEGER AS (length(hex) = 32 AND instr(hex, char(0)) = 0 AND hex NOT GLOB '*[^0-9A-F]*' AND hex GLOB '????????????8???[89AB]????[048C]0000000000'),
    ms INTEGER AS (CASE WHEN is_valid THEN ((((instr('123456789ABCDEF', substr(hex, 1, 1)) << 36)
        | (instr('123456789ABCDEF', substr(hex, 2, 1)) << 32)
        | (instr('123456789ABCDEF', substr(hex, 3, 1)) << 28)
        | (instr('123456789ABCDEF', substr(hex, 4, 1)) << 24)
        | (instr('123456789ABCDEF', substr(hex, 5, 1)) << 20)
        | (instr('123456789ABCDEF', substr(hex, 6, 1)) << 16)
        | (instr('123456789ABCDEF', substr(hex, 7, 1)) << 12)
        | (instr('123456789ABCDEF', substr(hex, 8, 1)) << 8)
        | (instr('123456789ABCDEF', substr(hex, 9, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 10, 1))) >> 1) + 315576000000) * 4 END),
    metabyte INTEGER AS (CASE WHEN is_valid THEN (instr('123456789ABCDEF', substr(hex, 11, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 12, 1)) END),
    partition INTEGER AS (CASE WHEN is_valid THEN ((((instr('123456789ABCDEF', substr(hex, 13, 1)) << 12)
        | (instr('123456789ABCDEF', substr(hex, 14, 1)) << 8)
        | (instr('123456789ABCDEF', substr(hex, 15, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 16, 1))) & 4095) << 4) | ((((instr('123456789ABCDEF', substr(hex, 17, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 18, 1))) >> 2) & 15) END),
    sequence INTEGER AS (CASE WHEN is_valid THEN (((instr('123456789ABCDEF', substr(hex, 17, 1)) << 20)
        | (instr('123456789ABCDEF', substr(hex, 18, 1)) << 16)
        | (instr('123456789ABCDEF', substr(hex, 19, 1)) << 12)
        | (instr('123456789ABCDEF', substr(hex, 20, 1)) << 8)
        | (instr('123456789ABCDEF', substr(hex, 21, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 22, 1))) >> 2) & 65535 END),
    time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))
);

-- A Hot Guid, as 16 bytes, 32 digits or 36 characters. The shard key of a UUID of version 8 is in another place.
CREATE TABLE hotguids (
    id,
    hex TEXT AS (iif(typeof(id) = 'blob', hex(id), upper(iif(id GLOB '????????-????-????-????-????????????', replace(id, '-', ''), id)))),
    is_valid INTEGER AS (length(hex) = 32 AND instr(hex, char(0)) = 0 AND hex NOT GLOB '*[^0-9A-F]*'),
    ms INTEGER AS (CASE WHEN is_valid THEN ((instr('123456789ABCDEF', substr(hex, 1, 1)) << 28)
        | (instr('123456789ABCDEF', substr(hex, 2, 1)) << 24)
        | (instr('123456789ABCDEF', substr(hex, 3, 1)) << 20)
        | (instr('123456789ABCDEF', substr(hex, 4, 1)) << 16)
        | (instr('123456789ABCDEF', substr(hex, 5, 1)) << 12)
        | (instr('123456789ABCDEF', substr(hex, 6, 1)) << 8)
        | (instr('123456789ABCDEF', substr(hex, 7, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 8, 1))) * 1000 END),
    shard_key INTEGER AS (CASE WHEN is_valid THEN ((instr('123456789ABCDEF', substr(hex, 25, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 26, 1)))
        | (((instr('123456789ABCDEF', substr(hex, 27, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 28, 1))) << 8)
        | (((instr('123456789ABCDEF', substr(hex, 29, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 30, 1))) << 16)
        | (((instr('123456789ABCDEF', substr(hex, 31, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 32, 1))) << 24) END),
    uuid8_shard_key INTEGER AS (CASE WHEN is_valid THEN CASE WHEN hex GLOB '????????????8???[89AB]*' THEN (instr('123456789ABCDEF', substr(hex, 25, 1)) << 28)
        | (instr('123456789ABCDEF', substr(hex, 26, 1)) << 24)
        | (instr('123456789ABCDEF', substr(hex, 27, 1)) << 20)
        | (instr('123456789ABCDEF', substr(hex, 28, 1)) << 16)
        | (instr('123456789ABCDEF', substr(hex, 29, 1)) << 12)
        | (instr('123456789ABCDEF', substr(hex, 30, 1)) << 8)
        | (instr('123456789ABCDEF', substr(hex, 31, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 32, 1)) END END),
    time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))
);

-- A UUID of version 7, as 16 bytes, 32 digits or 36 characters.
CREATE TABLE uuid7s (
    id,
    hex TEXT AS (iif(typeof(id) = 'blob', hex(id), upper(iif(id GLOB '????????-????-????-????-????????????', replace(id, '-', ''), id)))),
    is_valid INTEGER AS (length(hex) = 32 AND instr(hex, char(0)) = 0 AND hex NOT GLOB '*[^0-9A-F]*' AND hex GLOB '????????????7???[89AB]*'),
    ms INTEGER AS (CASE WHEN is_valid THEN (instr('123456789ABCDEF', substr(hex, 1, 1)) << 44)
        | (instr('123456789ABCDEF', substr(hex, 2, 1)) << 40)
        | (instr('123456789ABCDEF', substr(hex, 3, 1)) << 36)
        | (instr('123456789ABCDEF', substr(hex, 4, 1)) << 32)
        | (instr('123456789ABCDEF', substr(hex, 5, 1)) << 28)
        | (instr('123456789ABCDEF', substr(hex, 6, 1)) << 24)
        | (instr('123456789ABCDEF', substr(hex, 7, 1)) << 20)
        | (instr('123456789ABCDEF', substr(hex, 8, 1)) << 16)
        | (instr('123456789ABCDEF', substr(hex, 9, 1)) << 12)
        | (instr('123456789ABCDEF', substr(hex, 10, 1)) << 8)
        | (instr('123456789ABCDEF', substr(hex, 11, 1)) << 4)
        | instr('123456789ABCDEF', substr(hex, 12, 1)) END),
    time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))
);

-- A snowflake of twitter or x.
CREATE TABLE twitter_ids (
    id INTEGER PRIMARY KEY,
    ms INTEGER AS ((((id >> 22) & 2199023255551) + 1288834974657)),
    "datacenter" INTEGER AS ((id >> 17) & 31),
    "worker" INTEGER AS ((id >> 12) & 31),
    "sequence" INTEGER AS (id & 4095),
    time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))
);

-- A snowflake of discord.
CREATE TABLE discord_ids (
    id INTEGER PRIMARY KEY,
    ms INTEGER AS ((((id >> 22) & 4398046511103) + 1420070400000)),
    "worker" INTEGER AS ((id >> 17) & 31),
    "process" INTEGER AS ((id >> 12) & 31),
    "sequence" INTEGER AS (id & 4095),
    time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))
);

-- A snowflake of instagram.
CREATE TABLE instagram_ids (
    id INTEGER PRIMARY KEY,
    ms INTEGER AS ((((id >> 23) & 2199023255551) + 1314220021721)),
    "shard" INTEGER AS ((id >> 10) & 8191),
    "sequence" INTEGER AS (id & 1023),
    time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))
);

-- A snowflake of sonyflake.
CREATE TABLE sonyflake_ids (
    id INTEGER PRIMARY KEY,
    ms INTEGER AS ((((id >> 24) & 549755813887) + 140952960000) * 10),
    "sequence" INTEGER AS ((id >> 16) & 255),
    "machine" INTEGER AS (id & 65535),
    time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))
);

-- A snowflake of mastodon.
CREATE TABLE mastodon_ids (
    id INTEGER PRIMARY KEY,
    ms INTEGER AS (((id >> 16) & 281474976710655)),
    "sequence_data" INTEGER AS (id & 65535),
    time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))
);

-- A snowflake of baidu.
CREATE TABLE baidu_ids (
    id INTEGER PRIMARY KEY,
    ms INTEGER AS ((((id >> 35) & 268435455) + 1463673600) * 1000),
    "worker" INTEGER AS ((id >> 13) & 4194303),
    "sequence" INTEGER AS (id & 8191),
    time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))
);
