-- Removes the functions of postgresql-functions.sql. Stores go on without them, and the tables stay as they are.
DROP FUNCTION IF EXISTS polyflake_claim, polyflake_renew, polyflake_release, polyflake_status, polyflake_put, polyflake_store,
    polyflake_functions;
