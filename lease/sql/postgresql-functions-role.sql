-- The right to call the functions of postgresql-functions.sql, where the database does not give it to everybody: `:role` is the role
-- that postgresql-role.sql gave its rights to. Without it a store sends the same statements one by one. Run it with psql:
-- `psql --set=role=orders --file=postgresql-functions-role.sql`.
GRANT EXECUTE ON FUNCTION polyflake_functions, polyflake_store, polyflake_put, polyflake_claim, polyflake_renew, polyflake_release,
    polyflake_status TO :"role";
