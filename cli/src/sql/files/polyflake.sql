-- Functions for PostgreSQL 14 or later that return the time and the parts of an ID, and the bounds of a time span.
-- docs/integrations/sql.md shows the functions in use.
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
        'invalid_layout: expected one of {presets}, found %L', preset);
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
