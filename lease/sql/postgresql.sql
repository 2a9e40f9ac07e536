-- The records of docs/leases.md in PostgreSQL: format 1. For another schema than `polyflake` (`?schema=` in a store's URL), replace
-- its name in this file and in postgresql-role.sql.
CREATE SCHEMA IF NOT EXISTS polyflake;
CREATE TABLE IF NOT EXISTS polyflake.polyflake_namespaces (
    namespace text NOT NULL PRIMARY KEY,
    digest text NOT NULL,
    format bigint NOT NULL,
    incarnation text NOT NULL,
    longest_ms bigint NOT NULL,
    previous_quiet_until bigint NOT NULL,
    previous_store text NOT NULL,
    quiet_until bigint NOT NULL,
    records bigint NOT NULL,
    shape text NOT NULL,
    store text NOT NULL,
    version bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS polyflake.polyflake_leases (
    namespace text NOT NULL,
    first bigint NOT NULL,
    count bigint NOT NULL,
    format bigint NOT NULL,
    granted_until bigint NOT NULL,
    holder text NOT NULL,
    incarnation text NOT NULL,
    start bigint NOT NULL,
    token text NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (namespace, first)
);
CREATE INDEX IF NOT EXISTS polyflake_leases_end ON polyflake.polyflake_leases (namespace, granted_until, first);
