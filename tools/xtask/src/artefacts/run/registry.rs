//! Runs a local npm registry that serves the built packages.

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
    /// Starts a registry that serves the built npm packages, with the addons and programs for every platform that was
    /// built.
    pub fn open() -> Result<Self> {
        let kinds = ["npm", "addon-", "program"];
        let folders = kinds.into_iter().map(results::folders).collect::<Result<Vec<_>>>()?;
        let mut tarballs = Vec::new();
        for folder in folders.iter().flatten() {
            let files = results::files(folder)?.into_iter().map(|file| folder.join(file.name));
            tarballs.extend(files.filter(|file| file.extension().is_some_and(|end| end == "tgz")));
        }
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

    /// Installs a package into the project in the shell's current folder. The `options` are passed to npm, for example to
    /// select the platform.
    pub fn install(&self, shell: &Shell, options: &[&str], package: &str) -> Result<()> {
        let (registry, cache) = (&self.address, tempfile::tempdir()?);
        let cache = cache.path();
        let quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
        let from = cmd!(shell, "npm install --registry {registry} --cache {cache} {quiet...}");
        Ok(from.args(options).arg(package).run()?)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // A failure can be ignored, because the server also exits when its standard input is closed.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Returns the npm options that select a platform.
pub fn platform_options(platform: &Platform) -> Vec<String> {
    let libc = platform.libc.iter().map(|libc| format!("--libc={libc}"));
    [format!("--os={}", platform.os), format!("--cpu={}", platform.cpu)]
        .into_iter()
        .chain(libc)
        .collect()
}
