//! The clients that install packages from a `PyPI` registry.

use anyhow::Result;
use xshell::{Shell, cmd};

use super::{Source, copy, names_ids};

const PROGRAM: &str = "python/use.py";
const EXPECTED_OUTPUT: &str = "CPython uses every format";

pub fn pip(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    copy(shell, &[PROGRAM])?;
    cmd!(shell, "python -m venv venv").run()?;
    let options = ["--quiet", "--no-cache-dir", "--index-url"];
    let index = format!("{address}/simple/");
    let wanted = ["polyflake", "polyflake-cli"].map(|name| format!("{name}=={version}"));
    cmd!(shell, "venv/bin/python -m pip install {options...} {index} {wanted...}").run()?;
    cmd!(shell, "venv/bin/python use.py").run()?;
    let program = names_ids(|| cmd!(shell, "venv/bin/polyflake"))?;
    Ok(format!("{EXPECTED_OUTPUT}; {program}"))
}

pub fn uv(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    copy(shell, &[PROGRAM])?;
    let options = ["--quiet", "--no-cache", "--no-python-downloads"];
    // The folder's name, which is a temporary one, is not valid as a name.
    cmd!(shell, "uv init {options...} --bare --name project").run()?;
    let index = format!("{address}/simple/");
    cmd!(shell, "uv add {options...} --default-index {index} polyflake=={version}").run()?;
    cmd!(shell, "uv run {options...} --frozen python use.py").run()?;
    Ok(EXPECTED_OUTPUT.to_owned())
}

pub fn uvx(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    let index = format!("{address}/simple/");
    let cache = shell.current_dir().join("cache");
    let from = format!("polyflake-cli=={version}");
    names_ids(|| {
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
    names_ids(|| cmd!(shell, "{program}"))
}
