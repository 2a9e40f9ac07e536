//! The npm tarball.

use anyhow::Result;
use xshell::{Shell, cmd};

use super::{copy, only_file, packaging};
use crate::workspace;

/// The tarball in a new project: `import`, `require`, and types under both ways of resolving modules.
pub fn javascript(shell: &Shell) -> Result<()> {
    let project = tempfile::tempdir()?;
    let packed = tempfile::tempdir()?;
    {
        let (_there, into) = (shell.push_dir(workspace::root().join("packages/js")), packed.path());
        cmd!(shell, "npm pack --silent --ignore-scripts --pack-destination {into}")
            .ignore_stdout()
            .run()?;
    }
    let tarball = only_file(packed.path())?;
    copy(&packaging("js"), project.path())?;
    let _there = shell.push_dir(project.path());
    cmd!(shell, "npm install --silent --no-audit --no-fund {tarball}").run()?;
    cmd!(shell, "node use.mjs").run()?;
    cmd!(shell, "node use.cjs").run()?;
    let tsc = workspace::root().join("tests/node_modules/.bin/tsc");
    for project in ["tsconfig.node.json", "tsconfig.bundler.json"] {
        cmd!(shell, "{tsc} --project {project}").run()?;
    }
    Ok(())
}
