//! Ties each row of the table in `docs/backups.md` to the test that performs what the row describes.

use std::{fs, path::Path};

/// The beginning of each row, with the file and the name of its test. The undetected restores of rented databases, disks
/// and Redis keep every identifier, so they have the test of the report alone.
const ROWS: &[(&str, &str, &str)] = &[
    (
        "SQLite: moved a new file",
        "sqlite.rs",
        "a_backup_that_replaces_the_file_is_a_restored_store",
    ),
    ("SQLite: `cp` over the file", "sqlite.rs", "a_file_restored_in_place_needs_a_report"),
    ("SQLite: moved the old file away", "sqlite.rs", "a_file_restored_in_place_needs_a_report"),
    ("SQLite: mounted or linked one file", "sqlite.rs", "a_file_that_is_mounted_alone_is_rejected"),
    (
        "PostgreSQL: restored a dump",
        "postgresql/backups.rs",
        "a_dump_on_another_server_starts_a_quiet_time",
    ),
    (
        "PostgreSQL: `pg_restore --data-only`",
        "postgresql/backups.rs",
        "rows_restored_in_place_require_an_operators_report",
    ),
    (
        "PostgreSQL: put a copy",
        "postgresql/platforms.rs",
        "a_copied_database_under_the_old_name_is_another_store",
    ),
    (
        "PostgreSQL: point-in-time",
        "postgresql/backups.rs",
        "a_server_started_from_a_base_backup_is_another_store",
    ),
    (
        "PostgreSQL: started a base backup",
        "postgresql/backups.rs",
        "a_base_backup_without_a_signal_file_needs_a_report",
    ),
    (
        "PostgreSQL: promoted a replica",
        "postgresql/main.rs",
        "a_replica_is_rejected_and_quiet_after_promotion",
    ),
    ("PostgreSQL: failed back", "keeper.rs", "a_holder_of_two_stores_claims_from_neither"),
    (
        "Aurora PostgreSQL: restored",
        "postgresql/platforms.rs",
        "aurora_grants_worker_ids_without_logical_replication",
    ),
    (
        "Neon: used another branch",
        "postgresql/platforms.rs",
        "neon_grants_worker_ids_and_its_branches_are_different_stores",
    ),
    ("Any other rented database", "operator.rs", "a_reported_backup_starts_a_quiet_time"),
    ("MySQL, MariaDB: restored a dump", "mysql/main.rs", "a_restored_dump_is_another_store"),
    (
        "MariaDB: restored a dump made with",
        "mysql/main.rs",
        "a_dump_with_its_history_needs_a_report_in_mariadb",
    ),
    (
        "MySQL: promoted a replica",
        "mysql/main.rs",
        "different_servers_and_tables_are_different_stores",
    ),
    (
        "MySQL, MariaDB: moved the tables",
        "mysql/main.rs",
        "tables_that_are_renamed_away_and_back_need_a_report",
    ),
    (
        "MySQL, MariaDB: wrote rows",
        "mysql/main.rs",
        "a_replayed_binary_log_needs_a_report_in_mariadb",
    ),
    (
        "MySQL, MariaDB: restored a physical",
        "mysql/main.rs",
        "different_servers_and_tables_are_different_stores",
    ),
    (
        "Redis, Valkey: restarted",
        "redis/main.rs",
        "an_emptied_server_grants_nothing_for_six_minutes",
    ),
    (
        "Redis, Valkey: wrote keys",
        "redis/main.rs",
        "an_operator_reports_a_restore_and_reserves_nothing",
    ),
    ("Durable Object: recovered", "../../tests/leases/cloudflare.test.mjs", "POLYFLAKE_RESTORED"),
    ("Reverted a disk", "keeper.rs", "an_earlier_record_starts_a_quiet_time"),
    (
        "Two stores answered",
        "keeper.rs",
        "a_second_store_grants_nothing_while_grants_of_the_first_last",
    ),
];

#[test]
fn each_row_of_the_page_has_a_test() {
    let page = include_str!("../../docs/backups.md");
    let table = page.split("\n|---|---|---|\n").nth(1).expect("the table");
    let rows: Vec<_> = table.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), ROWS.len());
    for (row, (begin, file, test)) in rows.iter().zip(ROWS) {
        assert!(row.starts_with(&format!("| {begin}")), "expected {begin}, found {row}");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
        let text = fs::read_to_string(&path).expect(file);
        let is_function = text.contains(&format!("fn {test}()"));
        assert!(is_function || file.ends_with("mjs") && text.contains(test), "{file}: {test}");
    }
}
