//! A registry of npm on this machine, which has the built packages.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use crate::{
    artefacts::{platforms::Platform, results},
    workspace,
};

pub struct Registry {
    server: Child,
    address: String,
}

impl Registry {
    /// Serves the npm package, and the addons of all platforms for which one is built.
    pub fn open() -> Result<Self> {
        let folders = results::folders("npm")?.into_iter().chain(results::folders("addon-")?);
        let tarballs =
            folders.map(|folder| workspace::only_file(&folder)).collect::<Result<Vec<_>>>()?;
        let program = workspace::root().join("tests/artefacts/registry.mjs");
        let mut server = Command::new("node")
            .arg(program)
            .args(tarballs)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        let said = server.stdout.take().context("expected an output")?;
        BufReader::new(said).read_line(&mut address)?;
        ensure!(!address.is_empty(), "expected the address of the registry, found nothing");
        Ok(Self { server, address: address.trim().to_owned() })
    }

    /// Installs the package into the project that the shell is in, as npm does on a platform.
    pub fn install(&self, shell: &Shell, options: &[&str]) -> Result<()> {
        let (registry, cache) = (&self.address, tempfile::tempdir()?);
        let cache = cache.path();
        let quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
        let from = cmd!(shell, "npm install --registry {registry} --cache {cache} {quiet...}");
        Ok(from.args(options).arg("polyflake").run()?)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It ends with its input, too.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// npm's options that name a platform.
pub fn as_on(platform: &Platform) -> Vec<String> {
    let libc = platform.libc.iter().map(|libc| format!("--libc={libc}"));
    [format!("--os={}", platform.os), format!("--cpu={}", platform.cpu)]
        .into_iter()
        .chain(libc)
        .collect()
}
