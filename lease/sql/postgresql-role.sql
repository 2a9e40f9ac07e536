-- The rights of programs that lease numbers, once postgresql.sql made the tables: `:role` is their role. They look, make records and
-- change them; they delete nothing, and make no tables. Run it with psql: `psql --set=role=orders --file=postgresql-role.sql`.
REVOKE ALL ON polyflake_namespaces, polyflake_leases FROM :"role";
GRANT SELECT, INSERT, UPDATE ON polyflake_namespaces, polyflake_leases TO :"role";
