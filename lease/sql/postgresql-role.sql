-- The rights of programs that lease worker IDs, once postgresql.sql created the tables: `:role` is their role. They read records,
-- create them and change them; they delete nothing, and create no tables. Run it with psql, once for each role:
-- `psql --set=role=orders --file=postgresql-role.sql`.
REVOKE ALL ON polyflake.polyflake_namespaces, polyflake.polyflake_leases FROM :"role";
GRANT USAGE ON SCHEMA polyflake TO :"role";
GRANT SELECT, INSERT, UPDATE ON polyflake.polyflake_namespaces, polyflake.polyflake_leases TO :"role";
