//! Packs the test vectors for other implementers, with their license and a manifest.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;
use xshell::{Shell, cmd};

use crate::{artefacts::results, workspace};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The folder of the vectors, relative to the root.
pub const FOLDER: &str = "tests/vectors";
/// The name of the manifest in the archive: a table with the name, the SHA-256 sum and the number of cases of each file.
pub const MANIFEST: &str = "manifest.tsv";

/// Writes `polyflake-vectors-VERSION.tar.gz`. Its bytes depend only on the files and on the variable `SOURCE_DATE_EPOCH`.
pub fn pack(shell: &Shell, into: &Path) -> Result<()> {
    let (name, folder) = (format!("polyflake-vectors-{VERSION}"), tempfile::tempdir()?);
    let packed = folder.path().join(&name);
    shell.create_dir(&packed)?;
    let mut manifest = "file\tsha256\tcases\n".to_owned();
    for path in shell.read_dir(workspace::root().join(FOLDER))? {
        shell.copy_file(&path, &packed)?;
        if path.extension().is_some_and(|end| end == "json") {
            let file = path.file_name().context("expected a name")?.to_string_lossy();
            let count = count_cases(&serde_json::from_str(&shell.read_file(&path)?)?);
            writeln!(manifest, "{file}\t{}\t{count}", results::sha256(&path)?)?;
        }
    }
    shell.write_file(packed.join(MANIFEST), manifest)?;
    let (archive, parent) = (into.join(format!("{name}.tar.gz")), folder.path());
    let time = format!("--mtime=@{}", shell.var("SOURCE_DATE_EPOCH")?);
    let options = [
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mode=a=r,u+w,a+X",
        "--format=ustar",
    ];
    // gzip would also store the time of the call.
    let gzip = "--use-compress-program=gzip -n";
    Ok(cmd!(
        shell,
        "tar --create --file {archive} --directory {parent} {options...} {time} {gzip} {name}"
    )
    .run()?)
}

/// Unpacks an archive. Returns the temporary folder and the folder of the vectors in it.
pub fn unpack(shell: &Shell, archive: &Path) -> Result<(TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let into = folder.path();
    cmd!(shell, "tar --extract --file {archive} --directory {into}").run()?;
    let vectors = into.join(format!("polyflake-vectors-{VERSION}"));
    Ok((folder, vectors))
}

/// Returns the number of cases in a file: the items of the lists that are members of its object.
fn count_cases(file: &Value) -> usize {
    let members = file.as_object().into_iter().flat_map(|members| members.values());
    members.filter_map(Value::as_array).map(Vec::len).sum()
}
