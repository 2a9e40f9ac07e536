-- Functions for PostgreSQL 12 or later that return the time, node ID and sequence of a Randflake, for roles that cannot
-- read its secret.
--
-- Load it with `psql -1 -f randflake.sql`. A later version of the file updates the functions and keeps the secrets.
-- `DROP SCHEMA randflake CASCADE` removes everything. After the first load, load the secret (16 bytes in hexadecimal
-- digits) from one file, so that no log contains it:
--
--     COPY randflake.keys (name, secret) FROM STDIN;
--     orders	\\x000102030405060708090a0b0c0d0e0f
--     \.
--     GRANT USAGE ON SCHEMA randflake TO reports;
--     GRANT EXECUTE ON FUNCTION randflake.time, randflake.node, randflake.sequence TO reports;
--
--     SELECT randflake.time(id, 'orders') FROM orders;
--
-- The functions run with their owner's rights and a fixed search_path. Every bigint decrypts to a time, so the wrong
-- key returns a wrong time. Randflakes do not sort by time, so there is no range of IDs: a filter by time reads and
-- decrypts every row. Grant the functions only to roles that may know when and where every ID was made.

{cipher}
CREATE TABLE IF NOT EXISTS randflake.keys (
    name text COLLATE "C" PRIMARY KEY,
    secret bytea NOT NULL CHECK (length(secret) = 16),
    subkeys int[] GENERATED ALWAYS AS (CASE WHEN length(secret) = 16 THEN randflake.subkeys(secret) END) STORED
);

-- An integer with its bytes reversed: the cipher's block begins with the lowest byte of an ID.
CREATE OR REPLACE FUNCTION randflake.reversed(value bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made bigint := 0;
BEGIN
    FOR place IN 0..7 LOOP
        made := (made << 8) | ((value >> (8 * place)) & 255);
    END LOOP;
    RETURN made;
END $$;

-- The decrypted ID: 30 bits of seconds, 17 of the node ID, 17 of the sequence.
CREATE OR REPLACE FUNCTION randflake.fields(id bigint, key text) RETURNS bigint LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    k int[] := (SELECT subkeys FROM randflake.keys WHERE name = key);
BEGIN
    IF k IS NULL THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('invalid_secret: expected the name of a key in randflake.keys, found %L', key);
    END IF;
    RETURN randflake.reversed(randflake.decrypt(randflake.reversed(id), k));
END $$;

-- The time of an ID, to the second.
CREATE OR REPLACE FUNCTION randflake.time(id bigint, key text) RETURNS timestamptz LANGUAGE sql STABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    SELECT to_timestamp(((randflake.fields(id, key) >> 34) & 1073741823) + 1730000000) $$;

-- The node ID of the generator, which is its worker ID.
CREATE OR REPLACE FUNCTION randflake.node(id bigint, key text) RETURNS int LANGUAGE sql STABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    SELECT ((randflake.fields(id, key) >> 17) & 131071)::int $$;

-- The sequence of the ID within its second.
CREATE OR REPLACE FUNCTION randflake.sequence(id bigint, key text) RETURNS int LANGUAGE sql STABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    SELECT (randflake.fields(id, key) & 131071)::int $$;
