//! Tests the crates in programs that use third-party libraries, with library versions from the last two years. For each
//! pair of a library and a version, Cargo must be able to resolve the dependencies and compile the program, and the crates
//! must implement the traits of exactly that version.
//!
//! If a crate uses a different version than the program, the crate implements traits of a library that the program never
//! uses (E0277). If a library links SQLite, a program can contain only one version of the library (`links`). No other test
//! detects either problem, because a workspace has only one version of each library.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use crate::workspace;

/// A third-party library, the versions to test, and the contents of a program that uses the library together with our
/// crates.
struct Library {
    name: &'static str,
    versions: &'static [&'static str],
    /// The enabled features of the library. Its default features are disabled.
    features: &'static [&'static str],
    /// The crates in the program, with their features.
    crates: &'static [(&'static str, &'static [&'static str])],
    /// The code in the program's `main` function, which uses the library.
    program: &'static str,
}

const CORE: &str = "polyflake";
const LEASE: &str = "polyflake-lease";
const SQL: &str = "polyflake-sql";

/// The libraries and their versions, which form 39 pairs in total.
const LIBRARIES: &[Library] = &[
    Library {
        name: "rusqlite",
        versions: &[
            "0.32.0", "0.33.0", "0.34.0", "0.35.0", "0.36.0", "0.37.0", "0.38.0", "0.39.0",
            "0.40.0", "0.41.0", "0.42.0", "0.43.0",
        ],
        features: &[],
        crates: &[(CORE, &["rusqlite"]), (LEASE, &["sqlite"])],
        program: "is::<dyn rusqlite::types::ToSql>(&polyflake::sno::Sno::default());",
    },
    Library {
        name: "sqlx",
        versions: &["0.8.2", "0.8.6", "0.9.0"],
        features: &["sqlite", "runtime-tokio"],
        crates: &[(CORE, &["std"]), (LEASE, &["sqlite"])],
        program: "let _ = sqlx::SqlitePool::connect_lazy(\"sqlite:ids.db\");",
    },
    Library {
        name: "sqlx",
        versions: &["0.9.0"],
        features: &["sqlite", "runtime-tokio"],
        crates: &[(CORE, &["std"]), (SQL, &["sqlx"])],
        program: "fn column<T: sqlx::Type<sqlx::Sqlite>>() {}\n    column::<polyflake_sql::Text<polyflake::sno::Sno>>();",
    },
    Library {
        name: "sea-orm",
        versions: &["2.0.0", "2.0.4"],
        features: &["with-uuid"],
        crates: &[(CORE, &["std"]), (SQL, &["sea-orm"])],
        program: "fn column<T: sea_orm::TryGetable>() {}\n    column::<polyflake_sql::Text<polyflake::sno::Sno>>();",
    },
    Library {
        name: "diesel",
        versions: &["2.3.0", "2.3.4", "2.3.14"],
        features: &["sqlite", "postgres_backend"],
        crates: &[(CORE, &["diesel-sqlite"])],
        program: "fn column<T: diesel::serialize::ToSql<diesel::sql_types::Binary, diesel::pg::Pg>>() {}\n    column::<polyflake::sno::Sno>();",
    },
    Library {
        name: "postgres",
        versions: &["0.19.10", "0.19.12", "0.19.14"],
        features: &[],
        crates: &[(CORE, &["postgres-types"])],
        program: "is::<dyn postgres::types::ToSql>(&polyflake::sno::Sno::default());",
    },
    Library {
        name: "tokio-postgres",
        versions: &["0.7.13", "0.7.15"],
        features: &[],
        crates: &[(CORE, &["postgres-types"])],
        program: "is::<dyn tokio_postgres::types::ToSql>(&polyflake::sno::Sno::default());",
    },
    Library {
        name: "uuid",
        versions: &["1.18.0", "1.19.0", "1.20.0"],
        features: &[],
        crates: &[(CORE, &["uuid"])],
        program: "let _ = uuid::Uuid::from(polyflake::sno::Sno::default());",
    },
    Library {
        name: "schemars",
        versions: &["1.0.0", "1.1.0", "1.2.0"],
        features: &[],
        crates: &[(CORE, &["schemars", "std"])],
        program: "let _ = schemars::schema_for!(polyflake::sno::Sno);",
    },
    Library {
        name: "utoipa",
        versions: &["5.0.0", "5.3.0", "5.4.0", "6.0.0"],
        features: &["macros"],
        crates: &[(CORE, &["utoipa", "std"])],
        program: "let _ = <polyflake::sno::Sno as utoipa::PartialSchema>::schema();",
    },
    Library {
        name: "arbitrary",
        versions: &["1.4.0", "1.4.2"],
        features: &[],
        crates: &[(CORE, &["arbitrary", "std"])],
        program: "fn input<'a, T: arbitrary::Arbitrary<'a>>() {}\n    input::<polyflake::sno::Sno>();",
    },
    Library {
        name: "axum",
        versions: &["0.8.0", "0.8.4"],
        features: &[],
        crates: &[(CORE, &["serde", "std"])],
        program: "fn parameter<S: Send + Sync, T: axum::extract::FromRequestParts<S>>() {}\n    parameter::<(), axum::extract::Path<polyflake::sno::Sno>>();",
    },
];

/// Compiles a program for each pair of a library and a version. Tries all pairs, so that one run reports all failures.
pub fn test_versions(shell: &Shell) -> Result<()> {
    let folder = tempfile::tempdir()?;
    // The programs are checked but never linked, so the system's SQLite is sufficient.
    let _apart = shell.push_env("CARGO_TARGET_DIR", workspace::target().join("rust-libraries"));
    let _system = shell.push_env("LIBSQLITE3_SYS_USE_PKG_CONFIG", "1");
    let _there = shell.push_dir(folder.path());
    let mut failed = Vec::new();
    for library in LIBRARIES {
        for version in library.versions {
            library.write(folder.path(), version)?;
            library.select(shell, version)?;
            println!("{} {version}", library.name);
            if cmd!(shell, "cargo check --quiet").quiet().run().is_err() {
                failed.push(format!("{} {version}", library.name));
            }
        }
    }
    ensure!(failed.is_empty(), "expected every pair to compile, found {}", failed.join(", "));
    Ok(())
}

impl Library {
    /// Writes a program outside the workspace. The program's lock file starts as a copy of the workspace's lock file, so
    /// dependencies keep the workspace's versions unless the library requires other versions.
    fn write(&self, folder: &Path, version: &str) -> Result<()> {
        let root = workspace::root();
        let crates = self.crates.iter().map(|(name, features)| {
            let path = root.join(name.strip_prefix("polyflake-").unwrap_or("core"));
            let path = path.display();
            format!("{name} = {{ path = '{path}', default-features = false, features = {features:?} }}\n")
        });
        let manifest = format!(
            "[package]\nname = \"pair\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{}{} = {{ version = \"={version}\", default-features = false, features = {:?} }}\n",
            crates.collect::<String>(),
            self.name,
            self.features,
        );
        let program = format!(
            "#![allow(dead_code)]\nfn is<T: ?Sized>(_: &T) {{}}\nfn main() {{\n    {}\n}}\n",
            self.program
        );
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("Cargo.toml"), manifest)?;
        fs::write(folder.join("src/main.rs"), program)?;
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))
            .context("cannot copy the workspace's versions")?;
        Ok(())
    }

    /// Makes the crates use the program's version of the library, with the command from docs/integrations/rust.md. By
    /// default, Cargo selects the newest version that the crates allow, even if the program uses an older version. The
    /// exception is a library whose versions link the same C library, because a program can contain only one of these
    /// versions.
    fn select(&self, shell: &Shell, version: &str) -> Result<()> {
        let lock: toml::Table =
            fs::read_to_string(workspace::root().join("Cargo.lock"))?.parse()?;
        let packages = lock["package"].as_array().context("expected packages in Cargo.lock")?;
        let of = |it: &toml::Value, key| it[key].as_str().map(str::to_owned);
        let name = self.name;
        let locked = packages.iter().filter(|it| of(it, "name").as_deref() == Some(name));
        for locked in locked.filter_map(|it| of(it, "version")) {
            // Ignore failures, because the command fails if the program already uses only one version of the library.
            let update = cmd!(shell, "cargo update --quiet {name}@{locked} --precise {version}");
            update.quiet().ignore_status().ignore_stderr().run()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tested_rusqlite_versions_match_the_manifests() {
        let manifest = |name: &str| {
            let text = fs::read_to_string(workspace::root().join(name)).unwrap();
            let table: toml::Table = text.parse().unwrap();
            table["dependencies"]["rusqlite"]["version"].as_str().unwrap().to_owned()
        };
        let tried = LIBRARIES[0].versions.iter().map(|version| version.trim_end_matches(".0"));
        let tried: Vec<_> = tried.collect();
        let most: u32 = tried.last().unwrap()[2..].parse().unwrap();
        let allowed = format!(">={}, <0.{}", tried[0], most + 1);
        assert_eq!(
            [manifest("core/Cargo.toml"), manifest("lease/Cargo.toml")],
            [&*allowed, &*allowed]
        );
        assert_eq!(tried.len(), 12);
    }
}
