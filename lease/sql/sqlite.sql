-- The records of docs/leases.md in an SQLite file: format 1.
CREATE TABLE IF NOT EXISTS polyflake_namespaces (
    namespace TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    format INTEGER NOT NULL,
    incarnation TEXT NOT NULL,
    longest_ms INTEGER NOT NULL,
    previous_quiet_until INTEGER NOT NULL,
    previous_store TEXT NOT NULL,
    quiet_until INTEGER NOT NULL,
    records INTEGER NOT NULL,
    shape TEXT NOT NULL,
    store TEXT NOT NULL,
    version INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS polyflake_leases (
    namespace TEXT NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    format INTEGER NOT NULL,
    granted_until INTEGER NOT NULL,
    holder TEXT NOT NULL,
    incarnation TEXT NOT NULL,
    start INTEGER NOT NULL,
    token TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (namespace, first)
);
CREATE INDEX IF NOT EXISTS polyflake_leases_end ON polyflake_leases (namespace, granted_until, first);
