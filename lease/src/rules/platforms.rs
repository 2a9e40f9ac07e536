//! The databases that people rent: whether a lease works there, and what to use instead. This table is the only place
//! that holds these facts. Error messages, `polyflake lease check` and the table in `docs/lease-stores.md` come from it.

use alloc::{format, string::String};
use core::fmt;

use crate::{Error, ErrorKind};

/// A database that people rent, or a server that is often used in place of another one.
#[derive(Debug)]
pub(crate) struct Platform {
    pub(crate) name: &'static str,
    /// The scheme of the URL.
    scheme: &'static str,
    /// Words that identify the server in the version that it reports, or in the names of its properties.
    words: &'static [&'static str],
    /// The ends of the server's host name. An asterisk separates a part that the name contains from its end.
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
}

/// Whether a lease works on a platform, with advice if there is any.
#[derive(Debug)]
enum Verdict {
    Works(&'static str),
    /// The public sources do not state everything that a lease needs.
    Unknown(&'static str),
    /// The server is rejected for this reason.
    Rejected(&'static str),
}

/// What to use instead of a rejected server.
const INSTEAD: &str =
    "lease from PostgreSQL, MySQL or MariaDB, or from `polyflake lease serve` with an SQLite file";

/// Other servers also report the error by which these are recognized.
const REDIS_CLOUD: &str =
    "Redis Cloud, Redis Enterprise, or a server whose scripts may not run `INFO`";

/// The row of a rented database about which nothing is known.
const RENTED: Platform = Platform {
    name: "",
    scheme: "",
    words: &[],
    hosts: &[],
    verdict: Verdict::Unknown(""),
    failover: "not known",
    restore: "`polyflake lease restored`",
    sources: &[],
};
/// The row of a server that gives no name to a store.
const NO_STORE: Platform = Platform { failover: "-", restore: "-", ..RENTED };
const SAME_NAME: &str = "same name";
const OTHER_NAME: &str = "another name";
/// A Multi-AZ DB instance fails over with its storage, and a Multi-AZ DB cluster to a replica of the engine.
const RDS_FAILOVER: &str = "same name; Multi-AZ DB cluster: another name";
const RDS_SOURCES: [&str; 3] = [
    "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Concepts.MultiAZ.html",
    "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/multi-az-db-clusters-concepts.html",
    "https://docs.aws.amazon.com/sdk-for-python/v4/reference/clients/rds/operations/restore_db_instance_from_db_snapshot/",
];
const RDS_HOSTS: &[&str] = &[".rds.amazonaws.com", ".rds.amazonaws.com.cn"];
const AURORA_HOSTS: &[&str] = &[".cluster-*.rds.amazonaws.com", ".cluster-*.rds.amazonaws.com.cn"];

pub(crate) const PLATFORMS: &[Platform] = &[
    Platform {
        name: "Amazon Aurora PostgreSQL",
        scheme: "postgres",
        hosts: AURORA_HOSTS,
        verdict: Verdict::Works("add `wait=40` if it pauses, because it resumes in about 15 s"),
        failover: "same name; unplanned, in a global database: `polyflake lease restored`",
        sources: &[
            "https://github.com/jobinau/pg_gather/issues/9",
            "https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.VersionPolicy.Versioning.html",
            "https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-serverless-v2-auto-pause.html",
            "https://thebuild.com/blog/2026/05/05/managed-postgres-examined-amazon-aurora-postgresql/",
            "https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-global-database-disaster-recovery.html",
        ],
        ..RENTED
    },
    Platform {
        name: "Amazon RDS for PostgreSQL",
        scheme: "postgres",
        hosts: RDS_HOSTS,
        verdict: Verdict::Works(""),
        failover: RDS_FAILOVER,
        sources: &RDS_SOURCES,
        ..RENTED
    },
    Platform {
        name: "Azure Database for PostgreSQL",
        scheme: "postgres",
        hosts: &[".postgres.database.azure.com"],
        verdict: Verdict::Works(""),
        failover: OTHER_NAME,
        sources: &[
            "https://thebuild.com/blog/managed-postgres-examined-azure-database-for-postgresql-flexible-server/",
            "https://docs.azure.cn/en-us/postgresql/flexible-server/param-write-ahead-log-settings",
            "https://learn.microsoft.com/en-us/azure/reliability/reliability-postgresql-flexible-server",
        ],
        ..RENTED
    },
    Platform {
        name: "Neon",
        scheme: "postgres",
        hosts: &[".neon.tech"],
        verdict: Verdict::Works("add `wait=40`; each renewal resumes a suspended server"),
        failover: SAME_NAME,
        restore: "another branch: another name; instant restore: `polyflake lease restored`",
        sources: &[
            "https://github.com/neondatabase/neon/blob/bf542b047455aa87e06cba289692dc72c806e988/control_plane/src/endpoint.rs",
            "https://neon.tech/docs/introduction/auto-suspend",
            "https://neon.tech/docs/guides/branch-restore",
        ],
        ..RENTED
    },
    Platform {
        name: "Supabase",
        scheme: "postgres",
        hosts: &[".supabase.co", ".supabase.com"],
        verdict: Verdict::Works("also through its pooler"),
        sources: &[
            "https://github.com/supabase/postgres/blob/02e896f7e05cee13a4a1c7bbb4f727425eb2a322/ansible/files/postgresql_config/postgresql.conf.j2",
            "https://supabase.github.io/supavisor/configuration/pool_modes",
        ],
        ..RENTED
    },
    Platform {
        name: "Google Cloud SQL for PostgreSQL",
        scheme: "postgres",
        failover: SAME_NAME,
        sources: &["https://cloud.google.com/sql/docs/postgres/high-availability"],
        ..RENTED
    },
    Platform { name: "Google AlloyDB", scheme: "postgres", ..RENTED },
    Platform {
        name: "PlanetScale for PostgreSQL",
        scheme: "postgres",
        hosts: &[".pg.psdb.cloud"],
        failover: OTHER_NAME,
        sources: &["https://planetscale.com/docs/postgres/postgres-architecture"],
        ..RENTED
    },
    Platform {
        name: "CockroachDB",
        scheme: "postgres",
        words: &["CockroachDB"],
        hosts: &[".cockroachlabs.cloud"],
        verdict: Verdict::Rejected("in most versions, its advisory locks lock nothing"),
        sources: &[
            "https://github.com/cockroachdb/cockroach/issues/13546",
            "https://github.com/cockroachdb/cockroach/pull/168353",
        ],
        ..NO_STORE
    },
    Platform {
        name: "YugabyteDB",
        scheme: "postgres",
        words: &["-YB-"],
        hosts: &[".yugabyte.cloud"],
        verdict: Verdict::Rejected(
            "its advisory locks lock nothing before version 2025.1, and later versions are not known to work",
        ),
        sources: &[
            "https://github.com/yugabyte/yugabyte-db/issues/3642",
            "https://github.com/yugabyte/yugabyte-db/issues/19974",
            "https://github.com/yugabyte/yugabyte-db/issues/25756",
        ],
        ..NO_STORE
    },
    Platform {
        name: "Amazon Redshift",
        scheme: "postgres",
        words: &["Redshift"],
        hosts: &[".redshift.amazonaws.com", ".redshift-serverless.amazonaws.com"],
        verdict: Verdict::Rejected("it enforces no primary key"),
        sources: &["https://docs.aws.amazon.com/redshift/latest/dg/t_Defining_constraints.html"],
        ..NO_STORE
    },
    Platform {
        name: "Amazon Aurora DSQL",
        scheme: "postgres",
        hosts: &[".dsql.*.on.aws"],
        verdict: Verdict::Rejected("its transactions take no locks"),
        sources: &["https://docs.aws.amazon.com/aurora-dsql/latest/userguide/working-with.html"],
        ..NO_STORE
    },
    Platform {
        name: "Amazon Aurora MySQL",
        scheme: "mysql",
        hosts: AURORA_HOSTS,
        verdict: Verdict::Unknown("add `storage=durable` to try it"),
        restore: "`polyflake lease restored`, also after a backtrack",
        sources: &[
            "https://github.com/nethalo/dbsafe/issues/50",
            "https://docs.amazonaws.cn/en_us/AmazonRDS/latest/AuroraUserGuide/AuroraMySQL.Managing.Backtrack.Configuring.html",
        ],
        ..RENTED
    },
    Platform {
        name: "Amazon RDS for MySQL and MariaDB",
        scheme: "mysql",
        hosts: RDS_HOSTS,
        verdict: Verdict::Works(
            "add `storage=durable`, because new instances have `innodb_doublewrite=0`",
        ),
        failover: RDS_FAILOVER,
        sources: &[
            "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-optimized-writes-mariadb.md",
            "https://github.com/phpmyadmin/phpmyadmin/pull/13258",
            RDS_SOURCES[0],
            RDS_SOURCES[1],
            RDS_SOURCES[2],
        ],
        ..RENTED
    },
    Platform { name: "Google Cloud SQL for MySQL", scheme: "mysql", ..RENTED },
    Platform {
        name: "TiDB",
        scheme: "mysql",
        words: &["TiDB"],
        hosts: &[".tidbcloud.com"],
        verdict: Verdict::Rejected("it can accept `LOCK IN SHARE MODE` without a lock"),
        sources: &["https://github.com/pingcap/tidb/issues/70995"],
        ..NO_STORE
    },
    Platform {
        name: "Vitess, such as PlanetScale for MySQL",
        scheme: "mysql",
        words: &["Vitess", "vitess", "PlanetScale"],
        hosts: &[".connect.psdb.cloud"],
        verdict: Verdict::Rejected(
            "it is a proxy for several servers, so no name identifies the store",
        ),
        sources: &[
            "https://github.com/vitessio/website/pull/387",
            "https://github.com/vitessio/vitess/blob/eb3eeaf81c6217bb4032ea50d5c4680849ba6239/go/vt/servenv/mysql.go",
        ],
        ..NO_STORE
    },
    Platform {
        name: "Amazon ElastiCache",
        scheme: "redis",
        words: &["Amazon ElastiCache"],
        hosts: &[".cache.amazonaws.com", ".cache.amazonaws.com.cn"],
        verdict: Verdict::Unknown(
            "only a single node without replicas and cluster mode can be a store",
        ),
        failover: OTHER_NAME,
        restore: OTHER_NAME,
        sources: &["https://github.com/oliver006/redis_exporter/issues/597"],
    },
    Platform {
        name: "Amazon MemoryDB",
        scheme: "redis",
        words: &["Amazon MemoryDB"],
        hosts: &[".memorydb.*.amazonaws.com", ".memorydb.*.amazonaws.com.cn"],
        verdict: Verdict::Rejected("its servers form a cluster, and a lease needs a single server"),
        sources: &[
            "https://docs.aws.amazon.com/memorydb/latest/APIReference/API_CreateCluster.html",
        ],
        ..NO_STORE
    },
    Platform {
        name: "Upstash",
        scheme: "redis",
        words: &["upstash_version"],
        hosts: &[".upstash.io"],
        verdict: Verdict::Rejected(
            "it is not Redis, and nothing shows that it restarted or lost data",
        ),
        sources: &[
            "https://github.com/upstash/redis-js/issues/340",
            "https://upstash.com/docs/redis/commands/server/info",
        ],
        ..NO_STORE
    },
    Platform {
        name: "Dragonfly",
        scheme: "redis",
        words: &["dragonfly_version"],
        hosts: &[".dragonflydb.cloud"],
        verdict: Verdict::Rejected("it is not Redis, and reports no `run_id` that shows a restart"),
        sources: &[
            "https://github.com/dragonflydb/dragonfly/blob/79428276fabdd076776a76cdc8b382f64a2b7976/src/server/server_family.cc",
        ],
        ..NO_STORE
    },
    Platform {
        name: REDIS_CLOUD,
        scheme: "redis",
        words: &["not allowed from script"],
        hosts: &[".redislabs.com", ".redis-cloud.com"],
        verdict: Verdict::Rejected("nothing shows its scripts whether it has replicas"),
        sources: &[
            "https://github.com/redis/docs/blob/025c5387ea8d65308631b2fbcca8b05f588fe0b9/content/operate/rs/references/compatibility/commands/server.md",
        ],
        ..NO_STORE
    },
    Platform {
        name: "Cloudflare Durable Objects",
        scheme: "https",
        hosts: &[".workers.dev"],
        verdict: Verdict::Works("by `polyflake/lease/cloudflare`; D1 has no driver"),
        failover: SAME_NAME,
        restore: "set `POLYFLAKE_RESTORED` to another value",
        sources: &[
            "https://developers.cloudflare.com/durable-objects/best-practices/access-durable-objects-storage",
        ],
        ..RENTED
    },
    Platform {
        name: "Turso and other embedded replicas of SQLite",
        scheme: "libsql",
        hosts: &[".turso.io"],
        verdict: Verdict::Rejected(
            "a local copy per host would lease each worker ID once per host",
        ),
        sources: &["https://turso.tech/blog/do-it-yourself-database-cdn-with-embedded-replicas"],
        ..NO_STORE
    },
];

impl Platform {
    /// Returns the error that rejects the server, or `None` if it is not rejected.
    pub(crate) fn rejection(&self) -> Option<Error> {
        let Verdict::Rejected(reason) = self.verdict else { return None };
        let reason = format!("{} cannot be a store: {reason}; {INSTEAD}", self.name);
        Some(Error::new(ErrorKind::StoreNotDurable, reason).permanent())
    }

    /// Describes whether a lease works on the platform.
    pub(crate) fn description(&self) -> String {
        match self.verdict {
            Verdict::Rejected(reason) => {
                format!("{}: rejected, because {reason}; {INSTEAD}", self.name)
            }
            _ => format!("{}: {}", self.name, self.verdict),
        }
    }

    #[cfg(feature = "hosted")]
    fn has_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|pattern| match pattern.split_once('*') {
            Some((part, end)) => host.contains(part) && host.ends_with(end),
            None => host.ends_with(pattern),
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verdict, advice) = match self {
            Self::Works(advice) => ("works", advice),
            Self::Unknown(advice) => ("not known to work", advice),
            Self::Rejected(reason) => return write!(f, "**rejected**: {reason}"),
        };
        let separator = if advice.is_empty() { "" } else { "; " };
        write!(f, "{verdict}{separator}{advice}")
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
    PLATFORMS.iter().find(|platform| platform.scheme == scheme && platform.has_host(&host))
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
            format!("| {} | {} | {} | {} |\n", it.name, it.verdict, it.failover, it.restore)
        });
        let sources = PLATFORMS.iter().filter(|it| !it.sources.is_empty()).map(|it| {
            let links = it.sources.iter().enumerate();
            let links: Vec<_> = links.map(|(k, url)| format!("[{}]({url})", k + 1)).collect();
            format!("{} {}", it.name, links.join(" "))
        });
        let head = "| database | a lease | failover | restore or clone |\n|---|---|---|---|\n";
        let sources = sources.collect::<Vec<_>>().join("; ");
        format!("{head}{}\nSources: {sources}.\n", rows.collect::<String>())
    }

    /// Returns the list for the guide, which names each platform under its verdict.
    fn list() -> String {
        let names = |is_listed: fn(&Verdict) -> bool| {
            let listed = PLATFORMS.iter().filter(|it| is_listed(&it.verdict));
            listed.map(|it| it.name).collect::<Vec<_>>().join("; ")
        };
        format!(
            "- **Works**: {}.\n- **Not known to work**: {}.\n- **Rejected, with an alternative**: {}.\n",
            names(|it| matches!(it, Verdict::Works(_))),
            names(|it| matches!(it, Verdict::Unknown(_))),
            names(|it| matches!(it, Verdict::Rejected(_))),
        )
    }

    /// `POLYFLAKE_RECORD=1 cargo test -p polyflake-lease --lib platforms` writes the table and the list.
    #[test]
    fn the_pages_contain_the_platforms() {
        for (page, expected) in
            [("docs/lease-stores.md", table()), ("docs/guide/workers.md", list())]
        {
            let path = Path::new(ROOT).join(page);
            let text = fs::read_to_string(&path).unwrap();
            let (before, rest) = text.split_once(BEGIN).unwrap();
            let (found, after) = rest.split_once(END).unwrap();
            if env::var_os("POLYFLAKE_RECORD").is_some() {
                fs::write(&path, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
            } else {
                assert_eq!(found, expected, "{page}");
            }
        }
    }

    /// A row that is not unknown has sources and a test of its name: a comment at a test that imitates the server, a
    /// recorded conversation, or a URL.
    #[test]
    fn each_row_has_sources_and_a_test() {
        let read = |path: &str| fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
        let tests = [
            "lease/tests/mysql/main.rs",
            "lease/tests/postgresql/main.rs",
            "lease/tests/postgresql/place.rs",
            "lease/tests/postgresql/platforms.rs",
            "tests/leases/cloudflare.test.mjs",
            "tests/leases/steps.json",
            "tests/leases/urls.json",
        ];
        let tests = tests.map(read).concat();
        for Platform { name, verdict, sources, .. } in PLATFORMS {
            let is_tested = [format!("// Platform: {name}.\n"), format!("\"{name}\"")];
            let is_tested = is_tested.iter().any(|it| tests.contains(it));
            let is_known = !matches!(verdict, Verdict::Unknown(_));
            assert!(!is_known || is_tested && !sources.is_empty(), "{name}");
            assert!(sources.iter().all(|it| it.starts_with("https://")), "{name}");
        }
    }

    /// Each word and each host identifies one platform.
    #[test]
    fn words_and_hosts_are_unambiguous() {
        let words: Vec<_> = PLATFORMS
            .iter()
            .flat_map(|it| it.words.iter().map(|word| (it.scheme, *word)))
            .collect();
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
        let hosts = [
            (
                "postgres",
                "ids.cluster-abc.eu-central-1.rds.amazonaws.com",
                "Amazon Aurora PostgreSQL",
            ),
            ("postgres", "ids.abc.eu-central-1.rds.amazonaws.com", "Amazon RDS for PostgreSQL"),
            ("postgres", "ids.abc.cn-north-1.rds.amazonaws.com.cn", "Amazon RDS for PostgreSQL"),
            ("postgres", "ids.postgres.database.azure.com", "Azure Database for PostgreSQL"),
            ("postgres", "ep-1-pooler.eu-central-1.aws.NEON.tech", "Neon"),
            ("postgres", "aws-0-eu-central-1.pooler.supabase.com", "Supabase"),
            ("postgres", "eu-central-1.pg.psdb.cloud", "PlanetScale for PostgreSQL"),
            ("postgres", "ids.abc.aws-eu-central-1.cockroachlabs.cloud", "CockroachDB"),
            ("postgres", "eu-central-1.abc.aws.yugabyte.cloud", "YugabyteDB"),
            ("postgres", "ids.abc.eu-central-1.redshift.amazonaws.com", "Amazon Redshift"),
            ("postgres", "abc.dsql.eu-central-1.on.aws", "Amazon Aurora DSQL"),
            ("mysql", "ids.cluster-abc.eu-central-1.rds.amazonaws.com", "Amazon Aurora MySQL"),
            ("mysql", "ids.abc.eu-central-1.rds.amazonaws.com", "Amazon RDS for MySQL and MariaDB"),
            ("mysql", "gateway01.eu-central-1.prod.aws.tidbcloud.com", "TiDB"),
            ("mysql", "aws.connect.psdb.cloud", "Vitess, such as PlanetScale for MySQL"),
            ("redis", "ids.abc.0001.euc1.cache.amazonaws.com", "Amazon ElastiCache"),
            ("redis", "clustercfg.ids.abc.memorydb.eu-central-1.amazonaws.com", "Amazon MemoryDB"),
            ("redis", "eu1-ids-1.upstash.io", "Upstash"),
            ("redis", "abc.dragonflydb.cloud", "Dragonfly"),
            ("redis", "redis-1.c1.eu-central-1.ec2.redis-cloud.com", REDIS_CLOUD),
            ("https", "ids.example.workers.dev", "Cloudflare Durable Objects"),
            ("libsql", "ids-example.turso.io", "Turso and other embedded replicas of SQLite"),
        ];
        for (scheme, host, name) in hosts {
            assert_eq!(from_host(scheme, host).map(|it| it.name), Some(name), "{host}");
        }
        for row in PLATFORMS.iter().filter(|it| !it.hosts.is_empty()) {
            assert!(hosts.iter().any(|(.., name)| *name == row.name), "{}", row.name);
        }
        for host in ["localhost", "db.cluster-a.internal", "a.lambda-url.eu-central-1.on.aws"] {
            assert!(from_host("postgres", host).is_none(), "{host}");
        }
        assert!(reject("mysql", "8.0.36 MySQL Community Server").is_none());
        assert!(reject("postgres", "PostgreSQL 16.4 on x86_64-pc-linux-gnu").is_none());
        assert_eq!(reject("mysql", "8.0.11-TiDB-v7.5.1").unwrap().code(), "store_not_durable");
    }

    #[test]
    fn descriptions_contain_the_advice() {
        let describe = |name| PLATFORMS.iter().find(|it| it.name == name).unwrap().description();
        assert_eq!(describe("Amazon RDS for PostgreSQL"), "Amazon RDS for PostgreSQL: works");
        assert!(describe("Neon").starts_with("Neon: works; add `wait=40`;"));
        assert_eq!(describe("Google AlloyDB"), "Google AlloyDB: not known to work");
        assert!(describe("TiDB").starts_with("TiDB: rejected, because it can accept"));
    }
}
