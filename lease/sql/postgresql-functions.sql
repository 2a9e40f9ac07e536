-- Functions that claim, renew and release a number and look at a namespace in one round trip each, over the tables of postgresql.sql:
-- version 1. A store that finds them uses them; without them it sends the same statements one by one.
--
-- To install them, or to bring them up to this version, run this file in the schema of the tables. postgresql-functions-down.sql
-- removes them, and the tables stay as they are.
--
-- A grant counts once its transaction is committed. Call a function by itself, not within a transaction that may be rolled back.
--
-- The caller decides times and numbers by the rules of docs/leases.md; the functions compare, write durably and answer. A doubled
-- request is answered with the stored record, and with `reply_done` false.
CREATE OR REPLACE FUNCTION polyflake_functions() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 1::bigint';

-- Refuses a server that may lose its commits, asks for a synchronous one, and tells the server's time and its name.
CREATE OR REPLACE FUNCTION polyflake_store(OUT reply_now bigint, OUT reply_store text) LANGUAGE plpgsql AS $$
DECLARE
    fault text;
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true), set_config('lock_timeout', '5s', true);
    fault := CASE
        WHEN pg_is_in_recovery() THEN 'a server in recovery'
        WHEN current_setting('fsync') <> 'on' THEN 'fsync=off'
        WHEN current_setting('full_page_writes') <> 'on' THEN 'full_page_writes=off'
        WHEN current_setting('synchronous_commit') <> 'on' THEN 'an asynchronous commit'
    END;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PF001', MESSAGE = 'expected a server that keeps what it commits, found ' || fault;
    END IF;
    reply_now := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
    reply_store := 'postgresql:' || (SELECT system_identifier FROM pg_control_system())
        || ':' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || ':' || 'polyflake_leases'::regclass::oid;
END $$;

-- Replaces a record if it is as it was read, in the same incarnation of the same store: for the functions below. Refused with values
-- that no reader takes, and with an end that is more than the longest lease and a minute ahead and was not granted before.
CREATE OR REPLACE FUNCTION polyflake_put(
    in_namespace text, in_first bigint, old_version bigint, old_token text, old_incarnation text,
    new_start bigint, new_until bigint, new_token text, new_incarnation text, new_holder text
) RETURNS TABLE (
    reply_now bigint, reply_store text, reply_done boolean, reply_record polyflake_leases, reply_namespace polyflake_namespaces
) LANGUAGE plpgsql AS $$
DECLARE
    store_now bigint;
    store_name text;
    space polyflake_namespaces;
    done boolean := false;
    control text := CASE getdatabaseencoding()
        WHEN 'SQL_ASCII' THEN E'[\\u0001-\\u001f\\u007f]'
        ELSE E'[\\u0001-\\u001f\\u007f-\\u009f]'
    END;
BEGIN
    IF (new_token ~ '^[0-9a-f]{32}$' AND octet_length(convert_to(new_holder, 'UTF8')) <= 200 AND new_holder !~ control) IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'PF002',
            MESSAGE = 'expected a token of 32 hexadecimal digits, and a holder of at most 200 bytes without control characters';
    END IF;
    SELECT s.reply_now, s.reply_store INTO store_now, store_name FROM polyflake_store() AS s;
    -- Locked, so that no other incarnation begins between the look and the swap.
    SELECT n.* INTO space FROM polyflake_namespaces AS n WHERE n.namespace = in_namespace FOR SHARE;
    IF new_until > least(store_now + space.longest_ms + 60000, 9007199254740990) AND NOT EXISTS (
        SELECT FROM polyflake_leases AS l
        WHERE l.namespace = in_namespace AND l.first = in_first AND l.granted_until >= new_until
    ) THEN
        RAISE EXCEPTION USING ERRCODE = 'PF002', MESSAGE = 'expected an end within the longest lease, in Unix milliseconds';
    END IF;
    IF space.store = store_name AND space.incarnation = new_incarnation THEN
        UPDATE polyflake_leases AS l
            SET granted_until = new_until, holder = new_holder, incarnation = new_incarnation,
                start = new_start, token = new_token, version = old_version + 1
            WHERE l.namespace = in_namespace AND l.first = in_first AND l.version = old_version
                AND l.token = old_token AND l.incarnation = old_incarnation;
        done := FOUND;
    END IF;
    RETURN QUERY SELECT store_now, store_name, done, l, n
        FROM (SELECT) AS one
        LEFT JOIN polyflake_leases AS l ON l.namespace = in_namespace AND l.first = in_first
        LEFT JOIN polyflake_namespaces AS n ON n.namespace = in_namespace;
END $$;

-- Grants a number whose last grant has ended, under a new token. Refused if the grant begins before the last end (R1) or before the
-- end of the quiet time (R7), or if the token is not new (R3).
CREATE OR REPLACE FUNCTION polyflake_claim(
    in_namespace text, in_first bigint, old_version bigint, old_token text, old_incarnation text,
    new_start bigint, new_until bigint, new_token text, new_incarnation text, new_holder text
) RETURNS TABLE (
    reply_now bigint, reply_store text, reply_done boolean, reply_record polyflake_leases, reply_namespace polyflake_namespaces
) LANGUAGE plpgsql AS $$
DECLARE
    last_end bigint := (SELECT greatest(l.granted_until, n.quiet_until)
        FROM polyflake_leases AS l JOIN polyflake_namespaces AS n USING (namespace)
        WHERE l.namespace = in_namespace AND l.first = in_first AND l.version = old_version);
BEGIN
    IF new_start < last_end OR new_until < new_start OR new_token = old_token THEN
        RAISE EXCEPTION USING ERRCODE = 'PF002', MESSAGE = 'expected a claim after the last end, with a token of its own';
    END IF;
    RETURN QUERY SELECT * FROM polyflake_put(
        in_namespace, in_first, old_version, old_token, old_incarnation,
        new_start, new_until, new_token, new_incarnation, new_holder);
END $$;

-- Moves the end of a grant later, and changes nothing else of it (R4).
CREATE OR REPLACE FUNCTION polyflake_renew(
    in_namespace text, in_first bigint, old_version bigint, in_token text, in_incarnation text,
    in_start bigint, new_until bigint, in_holder text
) RETURNS TABLE (
    reply_now bigint, reply_store text, reply_done boolean, reply_record polyflake_leases, reply_namespace polyflake_namespaces
) LANGUAGE plpgsql AS $$
DECLARE
    is_wrong boolean := (SELECT (l.start, l.holder) <> (in_start, in_holder) OR new_until < l.granted_until
        FROM polyflake_leases AS l
        WHERE l.namespace = in_namespace AND l.first = in_first AND l.version = old_version AND l.token = in_token);
BEGIN
    IF is_wrong THEN
        RAISE EXCEPTION USING ERRCODE = 'PF002', MESSAGE = 'expected a renewal of the same grant to a later end';
    END IF;
    RETURN QUERY SELECT * FROM polyflake_put(
        in_namespace, in_first, old_version, in_token, in_incarnation,
        in_start, new_until, in_token, in_incarnation, in_holder);
END $$;

-- Lowers the end of a grant whose generator is sealed, and not below the start (R5).
CREATE OR REPLACE FUNCTION polyflake_release(
    in_namespace text, in_first bigint, old_version bigint, in_token text, in_incarnation text,
    in_start bigint, new_until bigint, in_holder text
) RETURNS TABLE (
    reply_now bigint, reply_store text, reply_done boolean, reply_record polyflake_leases, reply_namespace polyflake_namespaces
) LANGUAGE plpgsql AS $$
DECLARE
    is_wrong boolean := (SELECT (l.start, l.holder) <> (in_start, in_holder) OR new_until > l.granted_until
        FROM polyflake_leases AS l
        WHERE l.namespace = in_namespace AND l.first = in_first AND l.version = old_version AND l.token = in_token);
BEGIN
    IF is_wrong OR new_until < in_start THEN
        RAISE EXCEPTION USING ERRCODE = 'PF002', MESSAGE = 'expected a release of the same grant to an earlier end, not before its start';
    END IF;
    RETURN QUERY SELECT * FROM polyflake_put(
        in_namespace, in_first, old_version, in_token, in_incarnation,
        in_start, new_until, in_token, in_incarnation, in_holder);
END $$;

-- Looks at a namespace: how many records there are, how many of them are granted, reserved and free now, the latest end that is not
-- the end of time, and the next end to come.
CREATE OR REPLACE FUNCTION polyflake_status(in_namespace text) RETURNS TABLE (
    reply_now bigint, reply_store text, records bigint, granted bigint, reserved bigint, free bigint,
    latest_end bigint, next_end bigint, reply_namespace polyflake_namespaces
) LANGUAGE plpgsql AS $$
DECLARE
    end_of_time CONSTANT bigint := 9007199254740991;
    store_now bigint;
    store_name text;
BEGIN
    SELECT s.reply_now, s.reply_store INTO store_now, store_name FROM polyflake_store() AS s;
    -- One statement, so that records and namespace are of one moment.
    RETURN QUERY SELECT store_now, store_name, s.*, n
        FROM (
            SELECT count(*),
                count(*) FILTER (WHERE l.granted_until > store_now AND l.granted_until <> end_of_time),
                count(*) FILTER (WHERE l.granted_until = end_of_time),
                count(*) FILTER (WHERE l.granted_until <= store_now),
                coalesce(max(l.granted_until) FILTER (WHERE l.granted_until <> end_of_time), 0),
                min(l.granted_until) FILTER (WHERE l.granted_until > store_now)
            FROM polyflake_leases AS l WHERE l.namespace = in_namespace
        ) AS s LEFT JOIN polyflake_namespaces AS n ON n.namespace = in_namespace;
END $$;

-- The functions find the tables of this schema, whatever their caller's search path names.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['functions', 'store', 'put', 'claim', 'renew', 'release', 'status'] LOOP
        EXECUTE format('ALTER FUNCTION polyflake_%s SET search_path = %I, pg_temp', name, current_schema());
    END LOOP;
END $$;
