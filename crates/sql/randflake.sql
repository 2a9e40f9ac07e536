-- Functions for PostgreSQL 12 or later that return the time, node ID and sequence of a Randflake, for roles that cannot
-- read its secret.
-- Written by `polyflake sql randflake.sql` 0.1.0.
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

IF to_regnamespace('randflake') IS NULL THEN
    CREATE SCHEMA randflake;
END IF;
SELECT name || ' of the role ' || role INTO other FROM (
    SELECT 1 AS place, 'the schema randflake' AS name, pg_get_userbyid(nspowner)::text AS role
        FROM pg_namespace WHERE nspname = 'randflake'
    UNION ALL
    SELECT 2, 'the function ' || oid::regprocedure, pg_get_userbyid(proowner)
        FROM pg_proc WHERE pronamespace = 'randflake'::regnamespace
    UNION ALL
    SELECT 3, 'the relation ' || oid::regclass, pg_get_userbyid(relowner)
        FROM pg_class WHERE relnamespace = 'randflake'::regnamespace
    UNION ALL
    SELECT 4, 'the privilege CREATE', CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END
        FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'randflake' AND privilege_type = 'CREATE'
) AS objects WHERE role <> current_user ORDER BY place, name LIMIT 1;
IF other IS NOT NULL THEN
    RAISE insufficient_privilege USING
        MESSAGE = format('expected the schema randflake and its objects to belong to %s, found %s', current_user, other),
        HINT = 'Drop or revoke what you did not create, or load the file as the owner of the schema (SET ROLE).';
END IF;

-- The subkeys of SPARX-64/128 under a key of 16 bytes.
CREATE OR REPLACE FUNCTION randflake.subkeys(key bytea) RETURNS int[] LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s int[];
    made int[] := '{}';
BEGIN
    FOR i IN 0..7 LOOP
        s := s || ((get_byte(key, 2 * i) << 8) | get_byte(key, 2 * i + 1));
    END LOOP;
    FOR count IN 1..16 LOOP
        made := made || s[1:6];
        s[1] := (((s[1] >> 7) | (s[1] << 9)) + s[2]) & 65535;
        s[2] := (((s[2] << 2) | (s[2] >> 14)) & 65535) # s[1];
        s[3] := (s[3] + s[1]) & 65535;
        s[4] := (s[4] + s[2]) & 65535;
        s[8] := (s[8] + count) & 65535;
        s := s[7:8] || s[1:6];
    END LOOP;
    RETURN made || s[1:4];
END $$;

-- Decrypts a block of SPARX-64/128.
CREATE OR REPLACE FUNCTION randflake.decrypt(block bigint, k int[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    al int := ((block >> 48) & 65535)::int # k[97];
    ar int := ((block >> 32) & 65535)::int # k[98];
    bl int := ((block >> 16) & 65535)::int # k[99];
    br int := (block & 65535)::int # k[100];
    at int := 97;
    mixed int;
    l int;
    r int;
BEGIN
    FOR step IN 1..8 LOOP
        mixed := (((bl # br) << 8) | ((bl # br) >> 8)) & 65535;
        l := al # bl # mixed;
        r := ar # br # mixed;
        al := bl;
        ar := br;
        bl := l;
        br := r;
        at := at - 6;
        FOR round IN 1..3 LOOP
            at := at - 2;
            r := ar # al;
            r := ((r >> 2) | (r << 14)) & 65535;
            l := (al - r) & 65535;
            al := (((l << 7) | (l >> 9)) & 65535) # k[at];
            ar := r # k[at + 1];
            r := br # bl;
            r := ((r >> 2) | (r << 14)) & 65535;
            l := (bl - r) & 65535;
            bl := (((l << 7) | (l >> 9)) & 65535) # k[at + 6];
            br := r # k[at + 7];
        END LOOP;
    END LOOP;
    RETURN (al::bigint << 48) | (ar::bigint << 32) | (bl::bigint << 16) | br;
END $$;

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

CREATE OR REPLACE FUNCTION randflake.version() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT '0.1.0' $$;

REVOKE ALL ON SCHEMA randflake FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA randflake FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA randflake FROM PUBLIC;

PERFORM set_config('search_path', caller_path, true);
END $polyflake$;
