//! The platforms for which binaries are built: the rows of `packages/platforms.toml`, and the properties that builds derive
//! from them.

use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;
use xshell::cmd;

use crate::workspace;

/// The table's path, relative to the root.
pub const TABLE_PATH: &str = "packages/platforms.toml";

#[derive(Clone, Debug, Deserialize)]
pub struct Platform {
    pub name: String,
    /// The target triple for the Rust compiler.
    pub target: String,
    pub os: String,
    pub cpu: String,
    pub libc: Option<String>,
    /// The platform tag in a wheel's name.
    pub wheel: String,
    /// Whether faster wheels for individual versions of `CPython` are built in addition to the other wheels.
    #[serde(default)]
    pub has_faster_wheels: bool,
    /// The platform's description for readers, which is also the title of its section in `docs/project/platforms.md`.
    pub says: String,
}

#[derive(Deserialize)]
struct Table {
    platform: Vec<Platform>,
}

/// Returns all platforms, in the table's order.
pub fn all_platforms() -> Result<Vec<Platform>> {
    let text = fs::read_to_string(workspace::root().join(TABLE_PATH))?;
    let table: Table =
        toml::from_str(&text).with_context(|| format!("cannot read {TABLE_PATH}"))?;
    Ok(table.platform)
}

/// Returns the name of this machine's platform.
pub fn current_platform() -> Result<String> {
    let shell = workspace::shell()?;
    let said = cmd!(shell, "rustc --version --verbose").quiet().read()?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("expected rustc to name its host")?;
    let found = all_platforms()?.into_iter().find(|platform| platform.target == host);
    Ok(found.with_context(|| format!("expected {host} in {TABLE_PATH}"))?.name)
}

/// Returns whether an artefact belongs to a platform. For example, `wheel-linux-x64-gnu-cp310` belongs to `linux-x64-gnu`.
pub fn is_for_platform(artefact: &str, platform: &str) -> bool {
    let rest = ["wheel-", "addon-", "program-"].iter().find_map(|kind| artefact.strip_prefix(kind));
    rest.and_then(|rest| rest.strip_prefix(platform))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("-cp"))
}

impl Platform {
    pub fn is_windows(&self) -> bool {
        self.os == "win32"
    }

    pub fn is_linux(&self) -> bool {
        self.os == "linux"
    }

    pub fn is_musl(&self) -> bool {
        self.target.ends_with("-musl")
    }

    /// Returns the target in the form that cargo-zigbuild accepts, including the glibc version.
    pub fn zig_target(&self) -> String {
        let glibc = if self.target.ends_with("-linux-gnu") { ".2.17" } else { "" };
        format!("{}{glibc}", self.target)
    }

    /// Returns the oldest supported macOS version, from the wheel's name: `macosx_10_12_x86_64` means 10.12.
    pub fn min_macos_version(&self) -> Option<String> {
        let mut parts = self.wheel.strip_prefix("macosx_")?.split('_');
        Some(format!("{}.{}", parts.next()?, parts.next()?))
    }

    /// Returns the Linux C library and its oldest supported version, from the wheel's name, such as `manylinux_2_17`.
    pub fn c_library(&self) -> &str {
        let is_cpu = |end: &&&str| self.wheel.ends_with(**end);
        let cpu = ["_x86_64", "_aarch64"].iter().find(is_cpu).copied().unwrap_or_default();
        self.wheel.strip_suffix(cpu).unwrap_or_default()
    }

    /// Returns Debian's name for the platform's architecture, or `None` if the platform's C library is not glibc.
    pub fn debian_arch(&self) -> Option<&'static str> {
        match &*self.target {
            "x86_64-unknown-linux-gnu" => Some("amd64"),
            "aarch64-unknown-linux-gnu" => Some("arm64"),
            _ => None,
        }
    }

    /// Returns the file name of a crate's built library.
    pub fn library_file_name(&self, name: &str) -> String {
        match &*self.os {
            "win32" => format!("{name}.dll"),
            "darwin" => format!("lib{name}.dylib"),
            _ => format!("lib{name}.so"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lists_each_platform_once() {
        let all = all_platforms().unwrap();
        let mut names: Vec<_> = all.iter().map(|platform| &platform.name).collect();
        assert!(names.len() >= 7);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn an_artefact_belongs_to_one_platform() {
        assert!(is_for_platform("wheel-linux-x64-gnu-cp310", "linux-x64-gnu"));
        assert!(is_for_platform("addon-linux-x64-musl", "linux-x64-musl"));
        assert!(
            !is_for_platform("npm", "linux-x64-gnu")
                && !is_for_platform("addon-linux-x64-musl", "linux-x64")
        );
    }

    #[test]
    fn the_c_library_is_derived_from_the_wheel_name() {
        let all = all_platforms().unwrap();
        let linux = all.iter().filter(|platform| platform.os == "linux");
        let found: Vec<_> = linux.map(Platform::c_library).collect();
        assert_eq!(found, ["manylinux_2_17", "manylinux_2_17", "musllinux_1_2", "musllinux_1_2"]);
    }

    #[test]
    fn the_oldest_macos_is_derived_from_the_wheel_name() {
        let of = |name: &str| {
            let all = all_platforms().unwrap();
            all.into_iter().find(|platform| platform.name == name).unwrap().min_macos_version()
        };
        assert_eq!(of("darwin-x64").as_deref(), Some("10.12"));
        assert_eq!(of("darwin-arm64").as_deref(), Some("11.0"));
        assert_eq!(of("linux-x64-gnu"), None);
    }
}
