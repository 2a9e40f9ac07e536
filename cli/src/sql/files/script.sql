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

IF to_regnamespace('{schema}') IS NULL THEN
    CREATE SCHEMA {schema};
END IF;
SELECT name || ' of the role ' || role INTO other FROM (
    SELECT 1 AS place, 'the schema {schema}' AS name, pg_get_userbyid(nspowner)::text AS role
        FROM pg_namespace WHERE nspname = '{schema}'
    UNION ALL
    SELECT 2, 'the function ' || oid::regprocedure, pg_get_userbyid(proowner)
        FROM pg_proc WHERE pronamespace = '{schema}'::regnamespace
    UNION ALL
    SELECT 3, 'the relation ' || oid::regclass, pg_get_userbyid(relowner)
        FROM pg_class WHERE relnamespace = '{schema}'::regnamespace
    UNION ALL
    SELECT 4, 'the privilege CREATE', CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END
        FROM pg_namespace, aclexplode(nspacl) WHERE nspname = '{schema}' AND privilege_type = 'CREATE'
) AS objects WHERE role <> current_user ORDER BY place, name LIMIT 1;
IF other IS NOT NULL THEN
    RAISE insufficient_privilege USING
        MESSAGE = format('expected the schema {schema} and its objects to belong to %s, found %s', current_user, other),
        HINT = 'Drop or revoke what you did not create, or load the file as the owner of the schema (SET ROLE).';
END IF;

{definitions}
PERFORM set_config('search_path', caller_path, true);
END $polyflake$;
