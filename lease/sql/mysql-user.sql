-- The rights of programs that lease worker IDs, once mysql.sql created the tables: `'orders'@'%'` is their user and `app` their
-- database. They read records, create them and change them, but they delete nothing and create no tables. PROCESS permits them to
-- read the ID of the table, which is a part of the store's name.
GRANT PROCESS ON *.* TO 'orders'@'%';
GRANT SELECT, INSERT, UPDATE ON app.polyflake_namespaces TO 'orders'@'%';
GRANT SELECT, INSERT, UPDATE ON app.polyflake_leases TO 'orders'@'%';
GRANT SELECT ON app.polyflake_store TO 'orders'@'%';
