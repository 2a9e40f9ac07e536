-- Functions for PostgreSQL 14 or later that return the time and the parts of an ID, and the bounds of a time span.
-- docs/integrations/sql.md shows the functions in use.
-- Written by `polyflake sql polyflake.sql` 0.1.0.
--
-- Load it with `psql -1 -f polyflake.sql`, or paste it into the SQL editor of a managed database. It needs no extension,
-- only the right to create a schema. A later version of the file updates the functions. `DROP SCHEMA flake CASCADE`
-- removes them, with the constraints, indexes and columns that use them.
--
-- The functions are in the schema `flake`, separate from the schema `polyflake` of leases and keys, because every role
-- may call them.
--
-- Functions that read an ID are SQL expressions: IMMUTABLE, not STRICT, and without a SET clause, so that the planner
-- can replace a call by the body. It does so if the argument is a column, a constant or another cheap expression. A
-- call with an expensive argument, such as a function in PL/pgSQL, remains a call: slower, with the same result.
-- An index on an ID is used for a range of IDs, but not for a filter by the time of the ID.
--
-- Functions that return bounds call PL/pgSQL. The planner computes a bound of constants once, so that it becomes an
-- index condition and prunes partitions. A bound that depends on now() is computed when the query runs: an index scan
-- computes it once and partitions are still pruned, but a scan of a whole table computes it for every row.
--
-- The caller's search_path does not change what the functions call: PostgreSQL binds the bodies of SQL functions when
-- it creates them, and each PL/pgSQL function sets its own.
--
-- A function that reads an ID returns NULL for a value that cannot be an ID, as uuid_extract_timestamp does. It never
-- returns NULL if every value can be an ID: 10 bytes as a sno, a UUID as a Hot Guid, a bigint as a snowflake.
--
-- An error begins with a stable code of the library. A time outside the format is `time_out_of_range` (SQLSTATE 22008),
-- because a bound that is NULL would silently find no rows. An unknown service is `invalid_layout`, and an unknown
-- field is `unknown_field` (both SQLSTATE 22023).
--
-- The file is one statement: in every client, either all of it takes effect or none. It fails if the schema, or a function
-- or table in it, belongs to another role than the one that loads it. That role could replace the functions later, and run
-- its own code with the rights of each caller.

DO $polyflake$
DECLARE
    caller_path pg_catalog.text := pg_catalog.current_setting('search_path');
    other pg_catalog.text;
BEGIN
-- Unqualified names below are PostgreSQL's own.
PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

IF to_regnamespace('flake') IS NULL THEN
    CREATE SCHEMA flake;
END IF;
SELECT name || ' of the role ' || role INTO other FROM (
    SELECT 1 AS place, 'the schema flake' AS name, pg_get_userbyid(nspowner)::text AS role
        FROM pg_namespace WHERE nspname = 'flake'
    UNION ALL
    SELECT 2, 'the function ' || oid::regprocedure, pg_get_userbyid(proowner)
        FROM pg_proc WHERE pronamespace = 'flake'::regnamespace
    UNION ALL
    SELECT 3, 'the relation ' || oid::regclass, pg_get_userbyid(relowner)
        FROM pg_class WHERE relnamespace = 'flake'::regnamespace
    UNION ALL
    SELECT 4, 'the privilege CREATE', CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END
        FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'flake' AND privilege_type = 'CREATE'
) AS objects WHERE role <> current_user ORDER BY place, name LIMIT 1;
IF other IS NOT NULL THEN
    RAISE insufficient_privilege USING
        MESSAGE = format('expected the schema flake and its objects to belong to %s, found %s', current_user, other),
        HINT = 'Drop or revoke what you did not create, or load the file as the owner of the schema (SET ROLE).';
END IF;

-- The first tick of a format that begins at a time or later. A tick begins at a multiple of its length since 1970.
CREATE OR REPLACE FUNCTION flake.tick(at timestamptz, tick_us bigint, epoch_ticks bigint, first bigint, last bigint)
RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- A numeric holds infinity, and a whole number of microseconds exactly.
    us numeric := extract(epoch FROM at AT TIME ZONE 'UTC') * 1000000;
    tick numeric := (us - mod(us, tick_us)) / tick_us + (mod(us, tick_us) > 0)::int - epoch_ticks;
BEGIN
    IF tick NOT BETWEEN first AND last THEN
        RAISE datetime_field_overflow USING
            MESSAGE = format('time_out_of_range: expected a time of the format, found %s', at);
    END IF;
    RETURN tick;
END $$;

CREATE OR REPLACE FUNCTION flake.unknown_field_of(layout text, field text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE invalid_parameter_value USING
        MESSAGE = format('unknown_field: expected a field of %s, found %L', layout, field);
END $$;

-- A float8 of the year 10000 is off by up to 31 microseconds, so what is below the millisecond is cut off.
CREATE OR REPLACE FUNCTION flake.time_of_ms(ms bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_trunc('milliseconds', to_timestamp((ms + 0.25::float8) / 1000) AT TIME ZONE 'UTC')
    AT TIME ZONE 'UTC';
COMMENT ON FUNCTION flake.time_of_ms(bigint) IS 'The time of Unix milliseconds, exactly, up to the year 10889.';

-- The first 8 characters of a sno.
CREATE OR REPLACE FUNCTION flake.sno_string(word bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    id text := '';
BEGIN
    FOR place IN 0..7 LOOP
        id := id || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> (35 - 5 * place)) & 31)::int + 1, 1);
    END LOOP;
    RETURN id;
END $$;

CREATE OR REPLACE FUNCTION flake.unknown_preset(preset text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE invalid_parameter_value USING MESSAGE = format(
        'invalid_layout: expected one of twitter, x, discord, instagram, sonyflake, mastodon, baidu, found %L', preset);
END $$;

CREATE OR REPLACE FUNCTION flake.unknown_field(preset text, field text) RETURNS int
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM flake.snowflake_ms(0, preset);
    RETURN flake.unknown_field_of(preset, field);
END $$;

CREATE OR REPLACE FUNCTION flake.byte(id uuid, place int) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN get_byte(uuid_send(id), place);
COMMENT ON FUNCTION flake.byte(uuid, int) IS 'A byte of a UUID, from place 0.';

-- A table lookup is faster than searching the alphabet. Indexing a byte of a `name`, which contains the first 63 bytes of a
-- string, is faster than calling `substr`, which counts characters.
CREATE OR REPLACE FUNCTION flake.sno_character(id text, place int) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN get_byte('\xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0001020304050607ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'::bytea, (id::name)[place - 1]::int);
COMMENT ON FUNCTION flake.sno_character(text, int) IS 'The five bits of a character of a sno, from place 1.';

CREATE OR REPLACE FUNCTION flake.is_sno(id text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN octet_length(id) = 16 AND id COLLATE "C" !~ '[^2-9a-x]';
COMMENT ON FUNCTION flake.is_sno(id text) IS 'Whether a value is a sno as a string, for a CHECK constraint.';

CREATE OR REPLACE FUNCTION flake.sno_time(id text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        to_timestamp((((((flake.sno_character(id, 1) << 20)
        | (flake.sno_character(id, 2) << 15)
        | (flake.sno_character(id, 3) << 10)
        | (flake.sno_character(id, 4) << 5)
        | flake.sno_character(id, 5))::bigint << 14) | (((flake.sno_character(id, 6) << 10)
        | (flake.sno_character(id, 7) << 5)
        | flake.sno_character(id, 8)) >> 1)) + 315576000000)::float8 / 250)
    END;
COMMENT ON FUNCTION flake.sno_time(id text) IS 'The time of a sno as a string, to 4 ms. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.sno_metabyte(id text) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        ((flake.sno_character(id, 9) << 5) | flake.sno_character(id, 10)) >> 2
    END;
COMMENT ON FUNCTION flake.sno_metabyte(id text) IS 'The type tag of a sno, 0 to 255. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.sno_partition(id text) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        (((flake.sno_character(id, 10) << 15)
        | (flake.sno_character(id, 11) << 10)
        | (flake.sno_character(id, 12) << 5)
        | flake.sno_character(id, 13)) >> 1) & 65535
    END;
COMMENT ON FUNCTION flake.sno_partition(id text) IS 'The worker ID of a sno, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.sno_sequence(id text) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        ((flake.sno_character(id, 13) << 15)
        | (flake.sno_character(id, 14) << 10)
        | (flake.sno_character(id, 15) << 5)
        | flake.sno_character(id, 16)) & 65535
    END;
COMMENT ON FUNCTION flake.sno_sequence(id text) IS 'The sequence of a sno within its tick of 4 ms, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.is_sno(id bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN length(id) = 10;
COMMENT ON FUNCTION flake.is_sno(id bytea) IS 'Whether a value is a sno as 10 bytes, for a CHECK constraint.';

CREATE OR REPLACE FUNCTION flake.sno_time(id bytea) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        to_timestamp(((((get_byte(id, 0)::bigint << 32)
        | (get_byte(id, 1)::bigint << 24)
        | (get_byte(id, 2)::bigint << 16)
        | (get_byte(id, 3)::bigint << 8)
        | get_byte(id, 4)::bigint) >> 1) + 315576000000)::float8 / 250)
    END;
COMMENT ON FUNCTION flake.sno_time(id bytea) IS 'The time of a sno as 10 bytes, to 4 ms. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.sno_metabyte(id bytea) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        get_byte(id, 5)
    END;
COMMENT ON FUNCTION flake.sno_metabyte(id bytea) IS 'The type tag of a sno, 0 to 255. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.sno_partition(id bytea) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        (get_byte(id, 6) << 8) | get_byte(id, 7)
    END;
COMMENT ON FUNCTION flake.sno_partition(id bytea) IS 'The worker ID of a sno, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.sno_sequence(id bytea) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        (get_byte(id, 8) << 8) | get_byte(id, 9)
    END;
COMMENT ON FUNCTION flake.sno_sequence(id bytea) IS 'The sequence of a sno within its tick of 4 ms, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.is_sno(id uuid) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN flake.byte(id, 6) >> 4 = 8 AND flake.byte(id, 8) >> 6 = 2 AND flake.byte(id, 10) & 3 = 0
        AND substr(uuid_send(id), 12) = '\x0000000000';
COMMENT ON FUNCTION flake.is_sno(id uuid) IS 'Whether a value is a sno as a UUID of version 8, for a CHECK constraint.';

CREATE OR REPLACE FUNCTION flake.sno_time(id uuid) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        to_timestamp(((((flake.byte(id, 0)::bigint << 32)
        | (flake.byte(id, 1)::bigint << 24)
        | (flake.byte(id, 2)::bigint << 16)
        | (flake.byte(id, 3)::bigint << 8)
        | flake.byte(id, 4)::bigint) >> 1) + 315576000000)::float8 / 250)
    END;
COMMENT ON FUNCTION flake.sno_time(id uuid) IS 'The time of a sno as a UUID of version 8, to 4 ms. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.sno_metabyte(id uuid) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        flake.byte(id, 5)
    END;
COMMENT ON FUNCTION flake.sno_metabyte(id uuid) IS 'The type tag of a sno, 0 to 255. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.sno_partition(id uuid) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        ((((flake.byte(id, 6) << 8) | flake.byte(id, 7)) & 4095) << 4) | (((flake.byte(id, 8)) >> 2) & 15)
    END;
COMMENT ON FUNCTION flake.sno_partition(id uuid) IS 'The worker ID of a sno, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.sno_sequence(id uuid) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.is_sno(id) THEN
        (((flake.byte(id, 8) << 16) | (flake.byte(id, 9) << 8) | flake.byte(id, 10)) >> 2) & 65535
    END;
COMMENT ON FUNCTION flake.sno_sequence(id uuid) IS 'The sequence of a sno within its tick of 4 ms, 0 to 65535. NULL for a value that is no sno.';

CREATE OR REPLACE FUNCTION flake.hotguid_time(id uuid) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(((flake.byte(id, 0)::bigint << 24)
        | (flake.byte(id, 1)::bigint << 16)
        | (flake.byte(id, 2)::bigint << 8)
        | flake.byte(id, 3)::bigint)::float8);
COMMENT ON FUNCTION flake.hotguid_time(id uuid) IS 'The time of a Hot Guid of either form, to the second. Every UUID has one, since each can be a Hot Guid.';

CREATE OR REPLACE FUNCTION flake.hotguid_shard_key(id uuid) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (flake.byte(id, 12))::bigint
        | ((flake.byte(id, 13))::bigint << 8)
        | ((flake.byte(id, 14))::bigint << 16)
        | ((flake.byte(id, 15))::bigint << 24);
COMMENT ON FUNCTION flake.hotguid_shard_key(id uuid) IS 'The shard key of a Hot Guid in the form of the original, 0 to 4294967295.';

CREATE OR REPLACE FUNCTION flake.hotguid_uuid8_shard_key(id uuid) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.byte(id, 6) >> 4 = 8 AND flake.byte(id, 8) >> 6 = 2 THEN
        (flake.byte(id, 12)::bigint << 24)
        | (flake.byte(id, 13)::bigint << 16)
        | (flake.byte(id, 14)::bigint << 8)
        | flake.byte(id, 15)::bigint
    END;
COMMENT ON FUNCTION flake.hotguid_uuid8_shard_key(id uuid) IS 'The shard key of a Hot Guid as a UUID of version 8, 0 to 4294967295. NULL for another UUID.';

CREATE OR REPLACE FUNCTION flake.uuid7_time(id uuid) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN flake.byte(id, 6) >> 4 = 7 AND flake.byte(id, 8) >> 6 = 2 THEN
        flake.time_of_ms((flake.byte(id, 0)::bigint << 40)
        | (flake.byte(id, 1)::bigint << 32)
        | (flake.byte(id, 2)::bigint << 24)
        | (flake.byte(id, 3)::bigint << 16)
        | (flake.byte(id, 4)::bigint << 8)
        | flake.byte(id, 5)::bigint)
    END;
COMMENT ON FUNCTION flake.uuid7_time(id uuid) IS 'The time of a UUID of version 7, to the millisecond. NULL for another UUID.';

CREATE OR REPLACE FUNCTION flake.snowflake_ms(id bigint, preset text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE lower(preset)
        WHEN 'twitter' THEN (((id >> 22) & 2199023255551) + 1288834974657)
        WHEN 'x' THEN (((id >> 22) & 2199023255551) + 1288834974657)
        WHEN 'discord' THEN (((id >> 22) & 4398046511103) + 1420070400000)
        WHEN 'instagram' THEN (((id >> 23) & 2199023255551) + 1314220021721)
        WHEN 'sonyflake' THEN (((id >> 24) & 549755813887) + 140952960000) * 10
        WHEN 'mastodon' THEN ((id >> 16) & 281474976710655)
        WHEN 'baidu' THEN (((id >> 35) & 268435455) + 1463673600) * 1000
        ELSE flake.unknown_preset(preset)
    END;
COMMENT ON FUNCTION flake.snowflake_ms(id bigint, preset text) IS 'The Unix milliseconds of a snowflake of a known service: twitter, x, discord, instagram, sonyflake, mastodon, baidu. Another name is an error.';

CREATE OR REPLACE FUNCTION flake.snowflake_time(id bigint, preset text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN flake.time_of_ms(flake.snowflake_ms(id, preset));
COMMENT ON FUNCTION flake.snowflake_time(id bigint, preset text) IS 'The time of a snowflake of a known service: twitter, x, discord, instagram, sonyflake, mastodon, baidu. Another name is an error.';

CREATE OR REPLACE FUNCTION flake.snowflake_field(id bigint, preset text, field text) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE lower(preset) || '.' || field
        WHEN 'twitter.datacenter' THEN ((id >> 17) & 31)::int
        WHEN 'x.datacenter' THEN ((id >> 17) & 31)::int
        WHEN 'twitter.worker' THEN ((id >> 12) & 31)::int
        WHEN 'x.worker' THEN ((id >> 12) & 31)::int
        WHEN 'twitter.sequence' THEN (id & 4095)::int
        WHEN 'x.sequence' THEN (id & 4095)::int
        WHEN 'discord.worker' THEN ((id >> 17) & 31)::int
        WHEN 'discord.process' THEN ((id >> 12) & 31)::int
        WHEN 'discord.sequence' THEN (id & 4095)::int
        WHEN 'instagram.shard' THEN ((id >> 10) & 8191)::int
        WHEN 'instagram.sequence' THEN (id & 1023)::int
        WHEN 'sonyflake.sequence' THEN ((id >> 16) & 255)::int
        WHEN 'sonyflake.machine' THEN (id & 65535)::int
        WHEN 'mastodon.sequence_data' THEN (id & 65535)::int
        WHEN 'baidu.worker' THEN ((id >> 13) & 4194303)::int
        WHEN 'baidu.sequence' THEN (id & 8191)::int
        ELSE flake.unknown_field(preset, field)
    END;
COMMENT ON FUNCTION flake.snowflake_field(id bigint, preset text, field text) IS 'A field of a snowflake of a known service: twitter: datacenter, worker, sequence; discord: worker, process, sequence; instagram: shard, sequence; sonyflake: sequence, machine; mastodon: sequence_data; baidu: worker, sequence. Another name is an error.';

CREATE OR REPLACE FUNCTION flake.sno_lowest(moment timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN flake.sno_string(flake.tick(moment, 4000, 315576000000, 0, 549755813887) << 1) || '22222222';
COMMENT ON FUNCTION flake.sno_lowest(moment timestamptz) IS 'The lowest sno as a string of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.sno_highest(before timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN flake.sno_string(((flake.tick(before, 4000, 315576000000, 1, 549755813888) - 1) << 1) | 1) || 'xxxxxxxx';
COMMENT ON FUNCTION flake.sno_highest(before timestamptz) IS 'The highest sno as a string of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.sno_range(start timestamptz, until timestamptz) RETURNS TABLE (lowest text, highest text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT flake.sno_lowest($1), flake.sno_highest($2) $$;
COMMENT ON FUNCTION flake.sno_range(start timestamptz, until timestamptz) IS 'The lowest and the highest sno as a string of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.sno_bytea_lowest(moment timestamptz) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN decode(lpad(to_hex(flake.tick(moment, 4000, 315576000000, 0, 549755813887) << 1), 10, '0') || '0000000000', 'hex');
COMMENT ON FUNCTION flake.sno_bytea_lowest(moment timestamptz) IS 'The lowest sno as 10 bytes of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.sno_bytea_highest(before timestamptz) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN decode(lpad(to_hex(((flake.tick(before, 4000, 315576000000, 1, 549755813888) - 1) << 1) | 1), 10, '0') || 'ffffffffff', 'hex');
COMMENT ON FUNCTION flake.sno_bytea_highest(before timestamptz) IS 'The highest sno as 10 bytes of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.sno_bytea_range(start timestamptz, until timestamptz) RETURNS TABLE (lowest bytea, highest bytea)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT flake.sno_bytea_lowest($1), flake.sno_bytea_highest($2) $$;
COMMENT ON FUNCTION flake.sno_bytea_range(start timestamptz, until timestamptz) IS 'The lowest and the highest sno as 10 bytes of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.sno_uuid8_lowest(moment timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex(flake.tick(moment, 4000, 315576000000, 0, 549755813887) << 1), 10, '0') || '0080008000000000000000')::uuid;
COMMENT ON FUNCTION flake.sno_uuid8_lowest(moment timestamptz) IS 'The lowest sno as a UUID of version 8 of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.sno_uuid8_highest(before timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex(((flake.tick(before, 4000, 315576000000, 1, 549755813888) - 1) << 1) | 1), 10, '0') || 'ff8fffbffffc0000000000')::uuid;
COMMENT ON FUNCTION flake.sno_uuid8_highest(before timestamptz) IS 'The highest sno as a UUID of version 8 of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.sno_uuid8_range(start timestamptz, until timestamptz) RETURNS TABLE (lowest uuid, highest uuid)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT flake.sno_uuid8_lowest($1), flake.sno_uuid8_highest($2) $$;
COMMENT ON FUNCTION flake.sno_uuid8_range(start timestamptz, until timestamptz) IS 'The lowest and the highest sno as a UUID of version 8 of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.hotguid_lowest(moment timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex(flake.tick(moment, 1000000, 0, 0, 4294967295)), 8, '0') || '000000000000000000000000')::uuid;
COMMENT ON FUNCTION flake.hotguid_lowest(moment timestamptz) IS 'The lowest Hot Guid of either form of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.hotguid_highest(before timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex((flake.tick(before, 1000000, 0, 1, 4294967296) - 1)), 8, '0') || 'ffffffffffffffffffffffff')::uuid;
COMMENT ON FUNCTION flake.hotguid_highest(before timestamptz) IS 'The highest Hot Guid of either form of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.hotguid_range(start timestamptz, until timestamptz) RETURNS TABLE (lowest uuid, highest uuid)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT flake.hotguid_lowest($1), flake.hotguid_highest($2) $$;
COMMENT ON FUNCTION flake.hotguid_range(start timestamptz, until timestamptz) IS 'The lowest and the highest Hot Guid of either form of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.uuid7_lowest(moment timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex(flake.tick(moment, 1000, 0, 0, 281474976710655)), 12, '0') || '70008000000000000000')::uuid;
COMMENT ON FUNCTION flake.uuid7_lowest(moment timestamptz) IS 'The lowest UUID of version 7 of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.uuid7_highest(before timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex((flake.tick(before, 1000, 0, 1, 281474976710656) - 1)), 12, '0') || '7fffbfffffffffffffff')::uuid;
COMMENT ON FUNCTION flake.uuid7_highest(before timestamptz) IS 'The highest UUID of version 7 of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.uuid7_range(start timestamptz, until timestamptz) RETURNS TABLE (lowest uuid, highest uuid)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT flake.uuid7_lowest($1), flake.uuid7_highest($2) $$;
COMMENT ON FUNCTION flake.uuid7_range(start timestamptz, until timestamptz) IS 'The lowest and the highest UUID of version 7 of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.snowflake_lowest(moment timestamptz, preset text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE lower(preset)
        WHEN 'twitter' THEN flake.tick(moment, 1000, 1288834974657, 0, 2199023255551) << 22
        WHEN 'x' THEN flake.tick(moment, 1000, 1288834974657, 0, 2199023255551) << 22
        WHEN 'discord' THEN flake.tick(moment, 1000, 1420070400000, 0, 2199023255551) << 22
        WHEN 'instagram' THEN flake.tick(moment, 1000, 1314220021721, 0, 1099511627775) << 23
        WHEN 'sonyflake' THEN flake.tick(moment, 10000, 140952960000, 0, 549755813887) << 24
        WHEN 'mastodon' THEN flake.tick(moment, 1000, 0, 0, 140737488355327) << 16
        WHEN 'baidu' THEN flake.tick(moment, 1000000, 1463673600, 0, 268435455) << 35
        ELSE flake.unknown_preset(preset)
    END;
COMMENT ON FUNCTION flake.snowflake_lowest(moment timestamptz, preset text) IS 'The lowest snowflake of a known service that is not negative of the time `moment` or later. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.snowflake_highest(before timestamptz, preset text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE lower(preset)
        WHEN 'twitter' THEN ((flake.tick(before, 1000, 1288834974657, 1, 2199023255552) - 1) << 22) | 4194303
        WHEN 'x' THEN ((flake.tick(before, 1000, 1288834974657, 1, 2199023255552) - 1) << 22) | 4194303
        WHEN 'discord' THEN ((flake.tick(before, 1000, 1420070400000, 1, 2199023255552) - 1) << 22) | 4194303
        WHEN 'instagram' THEN ((flake.tick(before, 1000, 1314220021721, 1, 1099511627776) - 1) << 23) | 8388607
        WHEN 'sonyflake' THEN ((flake.tick(before, 10000, 140952960000, 1, 549755813888) - 1) << 24) | 16777215
        WHEN 'mastodon' THEN ((flake.tick(before, 1000, 0, 1, 140737488355328) - 1) << 16) | 65535
        WHEN 'baidu' THEN ((flake.tick(before, 1000000, 1463673600, 1, 268435456) - 1) << 35) | 34359738367
        ELSE flake.unknown_preset(preset)
    END;
COMMENT ON FUNCTION flake.snowflake_highest(before timestamptz, preset text) IS 'The highest snowflake of a known service that is not negative of a time earlier than `before`. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.snowflake_range(start timestamptz, until timestamptz, preset text) RETURNS TABLE (lowest bigint, highest bigint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT flake.snowflake_lowest($1, $3), flake.snowflake_highest($2, $3) $$;
COMMENT ON FUNCTION flake.snowflake_range(start timestamptz, until timestamptz, preset text) IS 'The lowest and the highest snowflake of a known service that is not negative of a span that includes its start and excludes its end, for BETWEEN. A span that is empty or reversed has no rows. A time outside the format is an error.';

CREATE OR REPLACE FUNCTION flake.version() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '0.1.0';
COMMENT ON FUNCTION flake.version() IS 'The version of polyflake that wrote the functions.';

GRANT USAGE ON SCHEMA flake TO PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA flake TO PUBLIC;

PERFORM set_config('search_path', caller_path, true);
END $polyflake$;
