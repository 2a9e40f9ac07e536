//! The databases that people rent: whether a lease works there, and what to use instead. This table is the only place
//! that holds these facts. Error messages, `polyflake lease check` and the table in `docs/lease-stores.md` come from it.

use alloc::{format, string::String};

use crate::{Error, ErrorKind};

/// A database that people rent, or a server that is often used in place of another one.
#[derive(Debug)]
pub(crate) struct Platform {
    pub(crate) name: &'static str,
    /// The scheme of the URL.
    scheme: &'static str,
    /// Words that identify the server in the version that it reports, or in the names of its properties.
    words: &'static [&'static str],
    /// The ends of the server's host name. An end with a final hyphen may be anywhere in the name.
    #[cfg_attr(
        not(feature = "hosted"),
        allow(dead_code, reason = "only the parser of URLs reads it")
    )]
    hosts: &'static [&'static str],
    verdict: Verdict,
    /// What happens to the store's name in a failover.
    #[cfg_attr(not(test), allow(dead_code, reason = "the table in the documentation shows it"))]
    failover: &'static str,
    /// What an operator does after a restore or a clone.
    #[cfg_attr(not(test), allow(dead_code, reason = "the table in the documentation shows it"))]
    restore: &'static str,
    /// The public pages that state these facts.
    #[cfg_attr(not(test), allow(dead_code, reason = "the table in the documentation shows it"))]
    sources: &'static [&'static str],
    /// The test that imitates the server, or its recorded conversation.
    #[cfg_attr(not(test), allow(dead_code, reason = "the table in the documentation shows it"))]
    test: &'static str,
}

/// Whether a lease works on a platform.
#[derive(Debug)]
enum Verdict {
    /// It works, with this advice.
    Works(&'static str),
    /// No public source states what a lease needs to know.
    Unknown,
    /// The server is rejected for this reason.
    Rejected(&'static str),
}

/// What to use instead of a rejected server.
const INSTEAD: &str =
    "lease from PostgreSQL, MySQL or MariaDB, or from `polyflake lease serve` with an SQLite file";

const RESTORED: &str = "`polyflake lease restored`";
const NO_NAME: &str = "-";
const SAME_NAME: &str = "same name";

pub(crate) const PLATFORMS: &[Platform] = &[
    Platform {
        name: "Amazon Aurora PostgreSQL",
        scheme: "postgres",
        words: &[],
        hosts: &[".cluster-"],
        verdict: Verdict::Works(
            "within one cluster; an unplanned failover of a global database needs `polyflake lease restored`",
        ),
        failover: SAME_NAME,
        restore: RESTORED,
        sources: &[
            "https://github.com/jobinau/pg_gather/issues/9",
            "https://github.com/instructure/canvas-lms/issues/1636",
            "https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/AuroraPostgreSQL.Replication.html",
        ],
        test: "aurora_grants_worker_ids_without_logical_replication",
    },
    Platform {
        name: "Amazon RDS for PostgreSQL",
        scheme: "postgres",
        words: &[],
        hosts: &[".rds.amazonaws.com", ".rds.amazonaws.com.cn"],
        verdict: Verdict::Works(""),
        failover: SAME_NAME,
        restore: RESTORED,
        sources: &[
            "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Concepts.MultiAZ.html",
            "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_RestoreFromSnapshot.html",
        ],
        test: "the_driver_passes_the_suite",
    },
    Platform {
        name: "Neon",
        scheme: "postgres",
        words: &[],
        hosts: &[".neon.tech"],
        verdict: Verdict::Works(
            "add `wait=40`, because a sleeping server needs seconds to resume; a renewal every 15 minutes keeps it awake",
        ),
        failover: SAME_NAME,
        restore: "detected: each branch has another name",
        sources: &["https://github.com/neondatabase/neon"],
        test: "neon_grants_worker_ids_and_its_branches_are_different_stores",
    },
    Platform {
        name: "Supabase",
        scheme: "postgres",
        words: &[],
        hosts: &[".supabase.co", ".supabase.com"],
        verdict: Verdict::Works("also through its pooler, which rejects `options`"),
        failover: NO_NAME,
        restore: RESTORED,
        sources: &["https://supabase.com/docs/guides/database/connecting-to-postgres"],
        test: "leases_work_through_a_transaction_pooler",
    },
    Platform {
        name: "Google Cloud SQL and AlloyDB for PostgreSQL",
        scheme: "postgres",
        words: &[],
        hosts: &[],
        verdict: Verdict::Unknown,
        failover: NO_NAME,
        restore: RESTORED,
        sources: &[],
        test: "",
    },
    Platform {
        name: "Azure Database for PostgreSQL",
        scheme: "postgres",
        words: &[],
        hosts: &[".postgres.database.azure.com"],
        verdict: Verdict::Unknown,
        failover: NO_NAME,
        restore: RESTORED,
        sources: &[],
        test: "",
    },
    Platform {
        name: "PlanetScale for PostgreSQL",
        scheme: "postgres",
        words: &[],
        hosts: &[".pg.psdb.cloud"],
        verdict: Verdict::Unknown,
        failover: NO_NAME,
        restore: RESTORED,
        sources: &[],
        test: "",
    },
    Platform {
        name: "CockroachDB",
        scheme: "postgres",
        words: &["CockroachDB"],
        hosts: &[".cockroachlabs.cloud"],
        verdict: Verdict::Rejected("in most versions, its advisory locks lock nothing"),
        failover: NO_NAME,
        restore: NO_NAME,
        sources: &["https://github.com/cockroachdb/cockroach/issues/13546"],
        test: "rejected_servers_match_the_recorded_conversations",
    },
    Platform {
        name: "YugabyteDB",
        scheme: "postgres",
        words: &["-YB-"],
        hosts: &[".yugabyte.cloud"],
        verdict: Verdict::Rejected("it has no advisory locks, or they lock nothing"),
        failover: NO_NAME,
        restore: NO_NAME,
        sources: &["https://github.com/yugabyte/yugabyte-db/issues/3642"],
        test: "rejected_servers_match_the_recorded_conversations",
    },
    Platform {
        name: "Amazon Redshift",
        scheme: "postgres",
        words: &["Redshift"],
        hosts: &[".redshift.amazonaws.com", ".redshift-serverless.amazonaws.com"],
        verdict: Verdict::Rejected("it enforces no primary key"),
        failover: NO_NAME,
        restore: NO_NAME,
        sources: &["https://docs.aws.amazon.com/redshift/latest/dg/t_Defining_constraints.html"],
        test: "rejected_servers_match_the_recorded_conversations",
    },
    Platform {
        name: "Amazon Aurora DSQL",
        scheme: "postgres",
        words: &["DSQL"],
        hosts: &[".on.aws"],
        verdict: Verdict::Rejected("its transactions take no locks"),
        failover: NO_NAME,
        restore: NO_NAME,
        sources: &["https://docs.aws.amazon.com/aurora-dsql/latest/userguide/working-with.html"],
        test: "rejected_servers_match_the_recorded_conversations",
    },
    Platform {
        name: "Amazon RDS for MySQL and MariaDB, Amazon Aurora MySQL",
        scheme: "mysql",
        words: &[],
        hosts: &[".rds.amazonaws.com", ".rds.amazonaws.com.cn"],
        verdict: Verdict::Works(
            "with `storage=durable`, because new instances have `innodb_doublewrite=0`",
        ),
        failover: SAME_NAME,
        restore: RESTORED,
        sources: &[
            "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-optimized-writes.html",
            "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Concepts.MultiAZ.html",
        ],
        test: "the_error_on_rds_names_the_declaration",
    },
    Platform {
        name: "Google Cloud SQL for MySQL",
        scheme: "mysql",
        words: &[],
        hosts: &[],
        verdict: Verdict::Unknown,
        failover: NO_NAME,
        restore: RESTORED,
        sources: &[],
        test: "",
    },
    Platform {
        name: "TiDB",
        scheme: "mysql",
        words: &["TiDB"],
        hosts: &[".tidbcloud.com"],
        verdict: Verdict::Rejected("it can accept `LOCK IN SHARE MODE` without a lock"),
        failover: NO_NAME,
        restore: NO_NAME,
        sources: &["https://docs.pingcap.com/tidb/stable/system-variables"],
        test: "rejected_servers_match_the_recorded_conversations",
    },
    Platform {
        name: "Vitess, such as PlanetScale for MySQL",
        scheme: "mysql",
        words: &["Vitess", "vitess", "PlanetScale"],
        hosts: &[".connect.psdb.cloud"],
        verdict: Verdict::Rejected(
            "it is a proxy for several servers, so no name identifies the store",
        ),
        failover: NO_NAME,
        restore: NO_NAME,
        sources: &["https://vitess.io/docs/reference/compatibility/mysql-compatibility/"],
        test: "rejected_servers_match_the_recorded_conversations",
    },
    Platform {
        name: "Amazon ElastiCache",
        scheme: "redis",
        words: &["Amazon ElastiCache"],
        hosts: &[".cache.amazonaws.com", ".cache.amazonaws.com.cn"],
        verdict: Verdict::Works("only as a single node without replicas and cluster mode"),
        failover: "another name",
        restore: "detected: another name",
        sources: &["https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/Replication.html"],
        test: "rejected_servers_match_the_recorded_conversations",
    },
    Platform {
        name: "Amazon MemoryDB",
        scheme: "redis",
        words: &["Amazon MemoryDB"],
        hosts: &[".memorydb.us-east-1.amazonaws.com"],
        verdict: Verdict::Rejected("its servers form a cluster, and a lease needs a single server"),
        failover: NO_NAME,
        restore: NO_NAME,
        sources: &[
            "https://docs.aws.amazon.com/memorydb/latest/devguide/servicename-feature-overview.html",
        ],
        test: "rejected_servers_match_the_recorded_conversations",
    },
    Platform {
        name: "Upstash",
        scheme: "redis",
        words: &["upstash_version"],
        hosts: &[".upstash.io"],
        verdict: Verdict::Rejected(
            "it is not Redis, and nothing shows that it restarted or lost data",
        ),
        failover: NO_NAME,
        restore: NO_NAME,
        sources: &["https://upstash.com/docs/redis/overall/rediscompatibility"],
        test: "rejected_servers_match_the_recorded_conversations",
    },
    Platform {
        name: "Dragonfly",
        scheme: "redis",
        words: &["dragonfly_version"],
        hosts: &[".dragonflydb.cloud"],
        verdict: Verdict::Rejected("it is not Redis, and reports no `run_id` that shows a restart"),
        failover: NO_NAME,
        restore: NO_NAME,
        sources: &["https://www.dragonflydb.io/docs/command-reference/server-management/info"],
        test: "rejected_servers_match_the_recorded_conversations",
    },
    Platform {
        name: "Redis Cloud and Redis Enterprise",
        scheme: "redis",
        words: &["not allowed from script"],
        hosts: &[".redislabs.com", ".redis-cloud.com", ".redns.redis-cloud.com"],
        verdict: Verdict::Rejected("its scripts cannot read whether the server has replicas"),
        failover: NO_NAME,
        restore: NO_NAME,
        sources: &["https://redis.io/docs/latest/commands/info/"],
        test: "rejected_servers_match_the_recorded_conversations",
    },
    Platform {
        name: "Cloudflare Durable Objects",
        scheme: "https",
        words: &[],
        hosts: &[".workers.dev"],
        verdict: Verdict::Works("by `polyflake/lease/cloudflare`"),
        failover: SAME_NAME,
        restore: "set `POLYFLAKE_RESTORED` to another value",
        sources: &["https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/"],
        test: "cloudflare.test.mjs",
    },
    Platform {
        name: "Cloudflare D1, Turso and other replicas of SQLite",
        scheme: "libsql",
        words: &[],
        hosts: &[".turso.io"],
        verdict: Verdict::Rejected(
            "a local copy per host would lease each worker ID once per host",
        ),
        failover: NO_NAME,
        restore: NO_NAME,
        sources: &["https://docs.turso.tech/features/embedded-replicas/introduction"],
        test: "urls.json",
    },
];

impl Platform {
    /// Returns the error that rejects the server, or `None` if it is not rejected.
    pub(crate) fn rejection(&self) -> Option<Error> {
        let Verdict::Rejected(reason) = self.verdict else { return None };
        let reason = format!("{} is no store: {reason}; {INSTEAD}", self.name);
        Some(Error::new(ErrorKind::StoreNotDurable, reason).permanent())
    }

    /// Describes whether a lease works on the platform.
    pub(crate) fn description(&self) -> String {
        let Self { name, .. } = self;
        match self.verdict {
            Verdict::Works("") => format!("{name}: works"),
            Verdict::Works(advice) => format!("{name}: works; {advice}"),
            Verdict::Unknown => format!("{name}: not known to work"),
            Verdict::Rejected(reason) => format!("{name}: rejected, because {reason}; {INSTEAD}"),
        }
    }
}

/// Returns the platform that a text of the server identifies.
pub(crate) fn from_words(scheme: &str, text: &str) -> Option<&'static Platform> {
    let is_named = |platform: &&Platform| platform.words.iter().any(|word| text.contains(word));
    PLATFORMS.iter().filter(|platform| platform.scheme == scheme).find(is_named)
}

/// Returns the platform that the host's name identifies.
#[cfg(feature = "hosted")]
pub(crate) fn from_host(scheme: &str, host: &str) -> Option<&'static Platform> {
    let host = host.to_ascii_lowercase();
    let is_part = |end: &&str| host.ends_with(*end) || end.ends_with('-') && host.contains(*end);
    let ends = |platform: &&Platform| platform.hosts.iter().any(is_part);
    PLATFORMS.iter().filter(|platform| platform.scheme == scheme).find(ends)
}

/// Returns the error for a URL with the scheme of a rejected platform, or `None`.
#[cfg(feature = "hosted")]
pub(crate) fn reject_scheme(scheme: &str) -> Option<Error> {
    PLATFORMS.iter().filter(|platform| platform.scheme == scheme).find_map(Platform::rejection)
}

/// Returns the error for a version that identifies a rejected server, or `None`.
pub(crate) fn reject(scheme: &str, version: &str) -> Option<Error> {
    from_words(scheme, version)?.rejection()
}

/// Returns a regular expression that the versions of the rejected servers match.
pub(crate) fn rejected_words(scheme: &str) -> String {
    let words = PLATFORMS.iter().filter(|it| it.scheme == scheme).flat_map(|it| it.words);
    words.fold(
        String::new(),
        |all, word| if all.is_empty() { (*word).into() } else { format!("{all}|{word}") },
    )
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::{collections::BTreeSet, env, fs, path::Path, vec::Vec};

    use super::*;

    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    const BEGIN: &str = "<!-- platforms -->\n";
    const END: &str = "<!-- end of platforms -->\n";

    /// Returns the table for the documentation, and the sources below it.
    fn table() -> String {
        let rows = PLATFORMS.iter().map(|it| {
            let lease = match it.verdict {
                Verdict::Works("") => "works".into(),
                Verdict::Works(advice) => format!("works; {advice}"),
                Verdict::Unknown => "not known to work".into(),
                Verdict::Rejected(reason) => format!("**rejected**: {reason}"),
            };
            format!("| {} | {lease} | {} | {} |\n", it.name, it.failover, it.restore)
        });
        let sources = PLATFORMS.iter().filter(|it| !it.sources.is_empty()).map(|it| {
            let links: Vec<_> = it
                .sources
                .iter()
                .enumerate()
                .map(|(k, url)| format!("[{}]({url})", k + 1))
                .collect();
            format!("{} {}", it.name, links.join(" "))
        });
        let head = "| database | a lease | failover | restore or clone |\n|---|---|---|---|\n";
        let sources = sources.collect::<Vec<_>>().join("; ");
        format!("{head}{}\nSources: {sources}.\n", rows.collect::<String>())
    }

    /// `POLYFLAKE_RECORD=1 cargo test -p polyflake-lease --lib platforms` writes the table.
    #[test]
    fn the_page_contains_the_table() {
        let path = Path::new(ROOT).join("docs/lease-stores.md");
        let page = fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once(BEGIN).unwrap();
        let (found, after) = rest.split_once(END).unwrap();
        if env::var_os("POLYFLAKE_RECORD").is_some() {
            fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", table())).unwrap();
            return;
        }
        assert_eq!(found, table());
    }

    /// A row without a source is not known to work, and each other row has a test, which exists.
    #[test]
    fn each_row_has_sources_and_a_test() {
        let read = |folder: &str| {
            let files = fs::read_dir(Path::new(ROOT).join(folder)).unwrap().flatten();
            files.filter_map(|it| fs::read_to_string(it.path()).ok()).collect::<String>()
        };
        let tests =
            ["lease/tests", "lease/tests/postgresql", "lease/tests/mysql"].map(read).concat();
        for row in PLATFORMS {
            let is_known = !matches!(row.verdict, Verdict::Unknown);
            assert_eq!(is_known, !row.sources.is_empty(), "{}", row.name);
            let is_file = Path::new(ROOT).join("tests/leases").join(row.test).is_file();
            let is_function = tests.contains(&format!("fn {}()", row.test));
            assert_eq!(is_known, !row.test.is_empty() && (is_file || is_function), "{}", row.name);
            assert!(row.sources.iter().all(|it| it.starts_with("https://")), "{}", row.name);
        }
    }

    /// Each word identifies one platform.
    #[test]
    fn words_and_hosts_are_unambiguous() {
        let words: Vec<_> = PLATFORMS
            .iter()
            .flat_map(|it| it.words.iter().map(|word| (it.scheme, *word)))
            .collect();
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
        let name = |scheme, host| from_host(scheme, host).map(|it| it.name);
        let aurora = "ids.cluster-abc.eu-central-1.rds.amazonaws.com";
        assert_eq!(name("postgres", aurora), Some("Amazon Aurora PostgreSQL"));
        let rds = "ids.abc.eu-central-1.rds.amazonaws.com";
        assert_eq!(name("postgres", rds), Some("Amazon RDS for PostgreSQL"));
        assert_eq!(name("postgres", "localhost"), None);
        assert!(reject("mysql", "8.0.36 MySQL Community Server").is_none());
        assert!(reject("postgres", "PostgreSQL 16.4 on x86_64-pc-linux-gnu").is_none());
        assert_eq!(reject("mysql", "8.0.11-TiDB-v7.5.1").unwrap().code(), "store_not_durable");
        let description = from_host("postgres", rds).unwrap().description();
        assert_eq!(description, "Amazon RDS for PostgreSQL: works");
    }
}
