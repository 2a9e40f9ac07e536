//! Rehearses the release of the package for JSR. JSR offers no registry that can run on this machine, so Deno checks the
//! package as JSR would, and then runs a program that imports the package.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Result, ensure};
use xshell::cmd;

use super::clients;
use crate::{artefacts::results::Installation, workspace};

/// Writes the package into a folder, checks it, and runs a program that imports it.
pub fn rehearse(folder: &Path) -> Result<Installation> {
    let (shell, root) = (clients::shell()?, workspace::root());
    let (build, program) =
        (root.join("packages/js/build/jsr.mjs"), root.join("tests/release/jsr.ts"));
    cmd!(shell, "node {build} {folder}").run()?;
    let _there = shell.push_dir(folder);
    cmd!(shell, "deno publish --quiet --dry-run --allow-dirty").run()?;
    let files = ["decode", "json"].map(|part| {
        (format!("@polyflake/polyflake/{part}"), folder.join(part).with_extension("ts"))
    });
    let map = tempfile::NamedTempFile::with_suffix(".json")?;
    let imports = serde_json::json!({ "imports": BTreeMap::from(files) });
    std::fs::write(map.path(), imports.to_string())?;
    let config = map.path();
    let said = cmd!(shell, "deno run --quiet --no-lock --config {config} {program}").read()?;
    ensure!(said.trim() == "ok", "expected ok, found {said}");
    let client = format!("jsr (deno {})", clients::version_of(&shell, &["deno"])?);
    let ran = "accepted by a dry run, and reads IDs in Deno".to_owned();
    println!("ok: {client}: {ran}");
    Ok(Installation { client, packages: vec!["@polyflake/polyflake".to_owned()], ran })
}
