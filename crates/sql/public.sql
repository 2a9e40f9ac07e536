-- Public IDs in PostgreSQL 11 or later: the strings of `polyflake::public`, encoded and decoded in the database.
-- Written by `polyflake sql public.sql` 0.1.0.
--
-- Load it with `psql -1 -f public.sql`. A later version of the file updates the functions and keeps the keys.
-- `DROP SCHEMA polyflake_public CASCADE` removes everything. After the first load, load the secret (32 bytes in hexadecimal
-- digits) from one file, so that no log contains it:
--
--     COPY polyflake_public.secrets FROM STDIN;
--     1	\\x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
--     \.
--     SELECT polyflake_public.add('order'), polyflake_public.add('post', bits => 63);
--     DELETE FROM polyflake_public.secrets; -- no longer needed, until a type is added
--     GRANT USAGE ON SCHEMA polyflake_public TO shop;
--     GRANT EXECUTE ON FUNCTION polyflake_public.encode, polyflake_public.decode TO shop;
--
-- To rotate the secret, add its new version in the same way, and keep writing the old one until every reader knows the new one:
--
--     SELECT polyflake_public.write(1); -- in the transaction that adds version 2; later write(2)
--
-- A role with these grants encodes and decodes, but cannot read a key: the two functions run with their owner's rights and a
-- fixed search_path. Numbers are bigint. A type of 64 bits takes every bigint, and the numbers above 2^63 - 1 are negative.
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

IF to_regnamespace('polyflake_public') IS NULL THEN
    CREATE SCHEMA polyflake_public;
END IF;
SELECT name || ' of the role ' || role INTO other FROM (
    SELECT 1 AS place, 'the schema polyflake_public' AS name, pg_get_userbyid(nspowner)::text AS role
        FROM pg_namespace WHERE nspname = 'polyflake_public'
    UNION ALL
    SELECT 2, 'the function ' || oid::regprocedure, pg_get_userbyid(proowner)
        FROM pg_proc WHERE pronamespace = 'polyflake_public'::regnamespace
    UNION ALL
    SELECT 3, 'the relation ' || oid::regclass, pg_get_userbyid(relowner)
        FROM pg_class WHERE relnamespace = 'polyflake_public'::regnamespace
    UNION ALL
    SELECT 4, 'the privilege CREATE', CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END
        FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'polyflake_public' AND privilege_type = 'CREATE'
) AS objects WHERE role <> current_user ORDER BY place, name LIMIT 1;
IF other IS NOT NULL THEN
    RAISE insufficient_privilege USING
        MESSAGE = format('expected the schema polyflake_public and its objects to belong to %s, found %s', current_user, other),
        HINT = 'Drop or revoke what you did not create, or load the file as the owner of the schema (SET ROLE).';
END IF;

CREATE TABLE IF NOT EXISTS polyflake_public.secrets (
    version int PRIMARY KEY CHECK (version BETWEEN 0 AND 31),
    secret bytea NOT NULL CHECK (length(secret) = 32)
);

-- The cipher's subkeys of each type: 8 steps of 2 branches of 3 rounds of 2 words, and 4 words at the end.
CREATE TABLE IF NOT EXISTS polyflake_public.keys (
    type text COLLATE "C",
    version int,
    bits int NOT NULL CHECK (bits BETWEEN 1 AND 64),
    subkeys int[] NOT NULL,
    -- Written in place of the highest version.
    is_written boolean NOT NULL DEFAULT false,
    PRIMARY KEY (type, version),
    CHECK (type ~ '^[a-z][a-z0-9_]{0,62}$')
);

-- HMAC-SHA-256 under a key of at most 64 bytes.
CREATE OR REPLACE FUNCTION polyflake_public.hmac(key bytea, message bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    inner_key bytea := decode(repeat('36', 64), 'hex');
    outer_key bytea := decode(repeat('5c', 64), 'hex');
BEGIN
    FOR i IN 0..length(key) - 1 LOOP
        inner_key := set_byte(inner_key, i, get_byte(inner_key, i) # get_byte(key, i));
        outer_key := set_byte(outer_key, i, get_byte(outer_key, i) # get_byte(key, i));
    END LOOP;
    RETURN sha256(outer_key || sha256(inner_key || message));
END $$;

-- The subkeys of SPARX-64/128 under a key of 16 bytes.
CREATE OR REPLACE FUNCTION polyflake_public.subkeys(key bytea) RETURNS int[] LANGUAGE plpgsql IMMUTABLE
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
CREATE OR REPLACE FUNCTION polyflake_public.decrypt(block bigint, k int[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE
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

-- Adds a type, or its new versions: its keys out of the secrets that are in the table now.
CREATE OR REPLACE FUNCTION polyflake_public.add(type text, bits int DEFAULT 48) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    info bytea := convert_to('polyflake/public/' || type || '/' || bits, 'UTF8') || '\x01';
BEGIN
    -- The keys depend on the bits, so those of earlier versions would not fit any more.
    IF EXISTS (SELECT FROM polyflake_public.keys AS known WHERE known.type = add.type AND known.bits <> add.bits) THEN
        RAISE EXCEPTION 'expected the bits that the type % has already, found %', type, bits;
    END IF;
    INSERT INTO polyflake_public.keys
        SELECT add.type, version, add.bits,
            polyflake_public.subkeys(substr(polyflake_public.hmac(polyflake_public.hmac('', secret), info), 1, 16))
        FROM polyflake_public.secrets
        ON CONFLICT ON CONSTRAINT keys_pkey DO UPDATE SET subkeys = excluded.subkeys;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'expected a secret in polyflake_public.secrets, found none';
    END IF;
END $$;

-- Writes a version in place of the highest one, for all types that have it.
CREATE OR REPLACE FUNCTION polyflake_public.write(version int) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM polyflake_public.keys AS known WHERE known.version = write.version) THEN
        RAISE EXCEPTION 'unknown_version: expected a version in polyflake_public.keys, found %', version;
    END IF;
    UPDATE polyflake_public.keys AS known SET is_written = known.version = write.version;
END $$;

-- Returns the string of an integer.
CREATE OR REPLACE FUNCTION polyflake_public.encode(type text, number bigint) RETURNS text LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known polyflake_public.keys;
    k int[];
    al int := (number >> 48) & 65535;
    ar int := (number >> 32) & 65535;
    bl int := (number >> 16) & 65535;
    br int := number & 65535;
    at int := 1;
    mixed int;
    l int;
    r int;
    value int;
    total int;
    tail text := '';
    block bigint;
BEGIN
    SELECT * INTO known FROM polyflake_public.keys AS keys
        WHERE keys.type = encode.type ORDER BY is_written DESC, version DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE invalid_parameter_value USING MESSAGE = format('expected a type in polyflake_public.keys, found %L', type);
    END IF;
    IF known.bits < 64 AND (number < 0 OR number >> (known.bits - 1) >> 1 <> 0) THEN
        RAISE numeric_value_out_of_range USING MESSAGE = format('out_of_range: expected a number below 2^%s, found %s', known.bits, number);
    END IF;
    k := known.subkeys;
    FOR step IN 1..8 LOOP
        FOR round IN 1..3 LOOP
            l := al # k[at];
            r := ar # k[at + 1];
            al := (((l >> 7) | (l << 9)) + r) & 65535;
            ar := (((r << 2) | (r >> 14)) & 65535) # al;
            l := bl # k[at + 6];
            r := br # k[at + 7];
            bl := (((l >> 7) | (l << 9)) + r) & 65535;
            br := (((r << 2) | (r >> 14)) & 65535) # bl;
            at := at + 2;
        END LOOP;
        at := at + 6;
        l := al;
        r := ar;
        mixed := (((l # r) << 8) | ((l # r) >> 8)) & 65535;
        al := bl # l # mixed;
        ar := br # r # mixed;
        bl := l;
        br := r;
    END LOOP;
    block := ((al # k[97])::bigint << 48) | ((ar # k[98])::bigint << 32) | ((bl # k[99])::bigint << 16) | (br # k[100]);
    tail := substr('0123456789abcdefghjkmnpqrstvwxyz', known.version + 1, 1);
    total := ((known.version << 1) # ((known.version >> 4) * 37)) & 31;
    FOR place IN 0..12 LOOP
        -- The first has the four highest bits.
        value := (block >> (60 - 5 * place)) & CASE place WHEN 0 THEN 15 ELSE 31 END;
        tail := tail || substr('0123456789abcdefghjkmnpqrstvwxyz', value + 1, 1);
        total := total # value;
        total := ((total << 1) # ((total >> 4) * 37)) & 31;
    END LOOP;
    RETURN type || '_' || tail || substr('0123456789abcdefghjkmnpqrstvwxyz', total + 1, 1);
END $$;

-- Returns the integer of a string. For an invalid string, raises an error whose message begins with the code.
CREATE OR REPLACE FUNCTION polyflake_public.decode(type text, id text) RETURNS bigint LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tail text COLLATE "C" := substr(id, length(type) + 2);
    bits int;
    k int[];
    value int;
    total int := 0;
    written int;
    block bigint := 0;
    number bigint;
BEGIN
    IF left(id, length(type) + 1) <> type || '_' OR strpos(tail, '_') > 0 THEN
        RAISE invalid_parameter_value USING MESSAGE = format('type_mismatch: expected an ID of the type %L', type);
    ELSIF octet_length(tail) <> 15 THEN
        RAISE invalid_parameter_value USING MESSAGE = 'invalid_length: expected 15 characters after the type';
    ELSIF tail !~ '^[0-9a-hjkmnp-tv-z][0-9a-f][0-9a-hjkmnp-tv-z]{13}$' THEN
        RAISE invalid_parameter_value USING MESSAGE = 'invalid_character: expected digits and lower-case letters of Crockford''s base32';
    END IF;
    FOR place IN 1..14 LOOP
        value := strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(tail, place, 1)) - 1;
        total := total # value;
        total := ((total << 1) # ((total >> 4) * 37)) & 31;
        IF place = 1 THEN
            written := value;
        ELSE
            block := (block << 5) | value;
        END IF;
    END LOOP;
    IF total <> strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(tail, 15, 1)) - 1 THEN
        RAISE invalid_parameter_value USING MESSAGE = 'check_failed: a wrong character';
    END IF;
    SELECT keys.bits, keys.subkeys INTO bits, k FROM polyflake_public.keys AS keys
        WHERE keys.type = decode.type AND keys.version = written;
    IF NOT FOUND THEN
        RAISE invalid_parameter_value USING MESSAGE = format('unknown_version: expected a version of the type %L in polyflake_public.keys', type);
    END IF;
    number := polyflake_public.decrypt(block, k);
    IF bits < 64 AND (number < 0 OR number >> (bits - 1) >> 1 <> 0) THEN
        RAISE invalid_parameter_value USING MESSAGE = 'unknown_id: made up, or made with another secret';
    END IF;
    RETURN number;
END $$;

CREATE OR REPLACE FUNCTION polyflake_public.version() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT '0.1.0' $$;

REVOKE ALL ON SCHEMA polyflake_public FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA polyflake_public FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA polyflake_public FROM PUBLIC;

PERFORM set_config('search_path', caller_path, true);
END $polyflake$;
