//! Tests leases with `MySQL` in three languages. Debian packages `MySQL` only for its unstable release, so the server and
//! its libraries are unpacked separately from the packages installed on this machine.

use std::path::{Path, PathBuf};

use anyhow::Result;
use xshell::{Shell, cmd};

use super::rust::{self, LeasePrograms};
use crate::{artefacts::roots, tools::MissingTool, workspace};

/// The `cargo test` arguments for the tests that start a server. The tests marked as ignored also need the packages of
/// other languages.
const TESTS: [&[&str]; 5] = [
    &["--test", "mysql"],
    &["--test", "steps", "--", "mariadb_matches"],
    &["--test", "tls", "--", "mariadb"],
    &["--test", "steps", "--", "--ignored", "over_mariadb", "certificate_of_mariadb"],
    &["--test", "faults", "--", "--ignored", "--nocapture", "languages_that_share_mariadb"],
];

pub fn check(shell: &Shell) -> Result<()> {
    let (server, programs) = (server(shell)?, rust::lease_programs(shell)?);
    cmd!(shell, "{server} --version").run()?;
    let LeasePrograms { python, commands, .. } = programs;
    let _server = shell.push_env("POLYFLAKE_MYSQL_SERVER", &server);
    for tests in TESTS {
        let members = rust::tested_members();
        cmd!(shell, "cargo test --quiet {members...} {tests...}")
            .env("POLYFLAKE_LIVES", &commands)
            .env("POLYFLAKE_PYTHON", &python)
            .run()?;
    }
    let _tests = shell.push_dir(workspace::root().join("tests/integrations"));
    let tests = "mariadb or broken_connection_is_reopened or servers_error_code";
    Ok(cmd!(shell, "{python} -m pytest --quiet test_leases.py -k {tests}").run()?)
}

/// Returns the path of the `MySQL` server. The client programs that the tests run are in the same folder.
fn server(shell: &Shell) -> Result<PathBuf> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(MissingTool("no MySQL for this machine".into()).into());
    }
    let packages = ["mysql-server-core", "mysql-client-core"];
    let root = roots::debian(shell, "sid", "amd64", &packages)?;
    for program in ["usr/bin/mysql", "usr/bin/mysqldump"] {
        write_script(shell, &root, program, "")?;
    }
    let usr = root.join("usr").display().to_string();
    let files = format!(" '--basedir={usr}' '--lc-messages-dir={usr}/share/mysql'");
    write_script(shell, &root, "usr/sbin/mysqld", &files)
}

/// Writes a script that runs an unpacked program with the unpacked libraries. `options` follow the first argument, which
/// may have to be the first one, and later arguments override them. Returns the script's path.
fn write_script(shell: &Shell, root: &Path, program: &str, options: &str) -> Result<PathBuf> {
    let (program, script) =
        (root.join(program), root.join(Path::new(program).file_name().unwrap()));
    let (loader, libraries) =
        (root.join("usr/lib64/ld-linux-x86-64.so.2"), root.join("usr/lib/x86_64-linux-gnu"));
    let [loader, libraries, program] =
        [&loader, &libraries, &program].map(|path| format!("'{}'", path.display()));
    let text = format!(
        "#!/bin/sh\nfirst=\"$1\"\nshift\nexec {loader} --library-path {libraries} {program} \"$first\"{options} \"$@\"\n"
    );
    workspace::write_program(shell, &script, &text)?;
    Ok(script)
}
