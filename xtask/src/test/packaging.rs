//! What users install, installed into empty projects outside the repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::workspace;

/// The wheel as it was built.
pub fn python(shell: &Shell) -> Result<()> {
    use_wheel(shell, &only_file(&workspace::wheels())?)
}

/// The wheel that the source distribution builds, which must hold all that it needs.
pub fn python_source(shell: &Shell) -> Result<()> {
    let (sources, wheels) = (tempfile::tempdir()?, tempfile::tempdir()?);
    {
        let (_there, into) =
            (shell.push_dir(workspace::root().join("packages/python")), sources.path());
        cmd!(shell, "maturin sdist --out {into}").run()?;
    }
    let (python, source, into) = (workspace::python(), only_file(sources.path())?, wheels.path());
    let options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index"];
    cmd!(shell, "{python} -m pip wheel {options...} --wheel-dir {into} {source}")
        .env("CARGO_TARGET_DIR", workspace::target().join("sdist"))
        .run()?;
    use_wheel(shell, &only_file(wheels.path())?)
}

/// A wheel in a new environment: it imports, works, and its types are found.
fn use_wheel(shell: &Shell, wheel: &Path) -> Result<()> {
    let project = tempfile::tempdir()?;
    let (installed, checker) = (project.path().join("venv"), workspace::python());
    let python = installed.join("bin/python");
    copy(&packaging("python"), project.path())?;
    let _there = shell.push_dir(project.path());
    cmd!(shell, "{checker} -m venv {installed}").run()?;
    cmd!(shell, "{python} -m pip install --quiet --no-index --no-deps {wheel}").run()?;
    cmd!(shell, "{python} use.py").run()?;
    cmd!(shell, "{checker} -m mypy --strict --python-executable {python} use.py").run()?;
    Ok(())
}

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

fn packaging(language: &str) -> PathBuf {
    workspace::root().join("tests/packaging").join(language)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    Ok(files.next().with_context(|| format!("expected a file in {}", folder.display()))??.path())
}

/// Copies the files of a folder, which has no folders.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let file = file?;
        fs::copy(file.path(), to.join(file.file_name()))?;
    }
    Ok(())
}
