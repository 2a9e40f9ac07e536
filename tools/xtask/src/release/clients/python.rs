//! The clients that install packages from a `PyPI` registry.

use anyhow::Result;
use xshell::{Shell, cmd};

use super::{Project, Source, Target, generate_and_identify};

const PROGRAMS: &[&str] = &["python/use.py", "python/keep.py"];

pub const PIP: Target = Target::Project(Project {
    programs: PROGRAMS,
    create: |shell, _| Ok(cmd!(shell, "python -m venv venv").run()?),
    add: pip_install,
    run: |shell, _, program| cmd!(shell, "venv/bin/python {program}.py"),
    expected: ("CPython", ""),
});

pub const UV: Target = Target::Project(Project {
    programs: PROGRAMS,
    // Set a name explicitly, because the name of the temporary folder is not a valid project name.
    create: |shell, _| Ok(cmd!(shell, "uv init {UV_OPTIONS...} --bare --name project").run()?),
    add: uv_add,
    run: |shell, _, program| cmd!(shell, "uv run {UV_OPTIONS...} --frozen python {program}.py"),
    expected: ("CPython", ""),
});

const UV_OPTIONS: [&str; 3] = ["--quiet", "--no-cache", "--no-python-downloads"];

/// Installs the library and the program, and runs the program.
fn pip_install(shell: &Shell, Source { address, version }: &Source) -> Result<()> {
    let options = ["--quiet", "--no-cache-dir", "--index-url"];
    let index = format!("{address}/simple/");
    let wanted = ["polyflake", "polyflake-cli"].map(|name| format!("{name}=={version}"));
    cmd!(shell, "venv/bin/python -m pip install {options...} {index} {wanted...}").run()?;
    generate_and_identify(|| cmd!(shell, "venv/bin/polyflake")).map(|_| ())
}

fn uv_add(shell: &Shell, Source { address, version }: &Source) -> Result<()> {
    let index = format!("{address}/simple/");
    let add = cmd!(shell, "uv add {UV_OPTIONS...} --default-index {index} polyflake=={version}");
    Ok(add.run()?)
}

pub fn uvx(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    let index = format!("{address}/simple/");
    let cache = shell.current_dir().join("cache");
    let from = format!("polyflake-cli=={version}");
    generate_and_identify(|| {
        cmd!(shell, "uvx --quiet --default-index {index} --from {from} polyflake")
            .env("UV_CACHE_DIR", &cache)
            .env("UV_PYTHON_DOWNLOADS", "never")
    })
}

pub fn pipx(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    let (here, index) = (shell.current_dir(), format!("{address}/simple/"));
    let (bin, from) = (here.join("bin"), format!("polyflake-cli=={version}"));
    cmd!(shell, "pipx install --quiet --index-url {index} --pip-args=--no-cache-dir {from}")
        .env("PIPX_HOME", here.join("home"))
        .env("PIPX_BIN_DIR", &bin)
        .ignore_stdout()
        .run()?;
    let program = bin.join("polyflake");
    generate_and_identify(|| cmd!(shell, "{program}"))
}
