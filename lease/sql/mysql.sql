-- The records of docs/leases.md in MySQL or MariaDB: format 1. The tables are in the database that the URL names.
CREATE TABLE IF NOT EXISTS polyflake_namespaces (
    namespace VARCHAR(255) NOT NULL PRIMARY KEY,
    digest VARCHAR(255) NOT NULL,
    format BIGINT NOT NULL,
    incarnation VARCHAR(255) NOT NULL,
    longest_ms BIGINT NOT NULL,
    previous_quiet_until BIGINT NOT NULL,
    previous_store VARCHAR(255) NOT NULL,
    quiet_until BIGINT NOT NULL,
    records BIGINT NOT NULL,
    shape MEDIUMTEXT NOT NULL,
    store VARCHAR(255) NOT NULL,
    version BIGINT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
-- MariaDB records when the only row was inserted, which no dump contains. So a restored dump is another store.
CREATE TABLE IF NOT EXISTS polyflake_store (
    id BIGINT NOT NULL PRIMARY KEY
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin /*M!100600 WITH SYSTEM VERSIONING */;
INSERT IGNORE INTO polyflake_store VALUES (1);
CREATE TABLE IF NOT EXISTS polyflake_leases (
    namespace VARCHAR(255) NOT NULL,
    first BIGINT NOT NULL,
    count BIGINT NOT NULL,
    format BIGINT NOT NULL,
    granted_until BIGINT NOT NULL,
    holder VARCHAR(255) NOT NULL,
    incarnation VARCHAR(255) NOT NULL,
    start BIGINT NOT NULL,
    token VARCHAR(255) NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (namespace, first),
    KEY polyflake_leases_end (namespace, granted_until, first)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
