//! File-based npm, `PyPI` and crate registries on this machine. Ordinary clients install the packages from them.
//!
//! Each package is stored as it was built, next to the pages that a real registry would generate for it.

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use xshell::{Shell, cmd};

use super::index;
use crate::{
    artefacts::{platforms, results},
    workspace,
};

/// The publication time of every version. This date is far in the past, because some clients refuse to install a version
/// until it is several days old.
const PUBLISHED_AT: &str = "2020-01-01T00:00:00.000Z";

pub struct Registries {
    server: Child,
    pub address: String,
    folder: PathBuf,
}

impl Registries {
    /// Starts empty registries in a folder.
    pub fn open(shell: &Shell, folder: PathBuf) -> Result<Self> {
        shell.remove_path(&folder)?;
        shell.create_dir(folder.join("served"))?;
        let program = workspace::root().join("tests/release/serve.mjs");
        let mut server = Command::new("node")
            .arg(program)
            .args([folder.join("served"), folder.join("requests")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        let output = server.stdout.take().context("expected an output")?;
        BufReader::new(output).read_line(&mut address)?;
        ensure!(!address.is_empty(), "expected the address of the registries, found nothing");
        let registries = Self { server, address: address.trim().to_owned(), folder };
        let download = format!("{}/crates/dl/{{crate}}/{{version}}", registries.address);
        let config = json!({ "dl": download, "api": registries.address });
        shell.write_file(registries.path("crates/index/config.json"), config.to_string())?;
        Ok(registries)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join("served").join(name)
    }

    /// Copies a package to the path where clients request it.
    fn store(&self, file: &Path, name: &str) -> Result<()> {
        let path = self.path(name);
        fs::create_dir_all(path.parent().context("expected a folder")?)?;
        Ok(fs::copy(file, path).map(|_| ())?)
    }

    /// Adds a package, which becomes the newest version under its name.
    pub fn add(&self, shell: &Shell, file: &Path) -> Result<()> {
        let name = results::file_name(file)?;
        match file.extension().and_then(OsStr::to_str) {
            Some("tgz") => self.add_npm(shell, file, name),
            Some("crate") => self.add_crate(shell, file),
            _ => self.add_python(shell, file, name),
        }
    }

    /// Adds the packages of an earlier version from the subfolders of `folder`, and returns that version.
    pub fn add_earlier_version(&self, shell: &Shell, folder: &Path) -> Result<String> {
        let mut version = None;
        for part in shell.read_dir(folder)?.into_iter().filter(|path| path.is_dir()) {
            for file in shell.read_dir(part)? {
                self.add(shell, &file)?;
                let name = results::file_name(&file)?;
                let of_library =
                    name.strip_prefix("polyflake-").and_then(|it| it.strip_suffix(".crate"));
                let of_library =
                    of_library.filter(|it| it.starts_with(|c: char| c.is_ascii_digit()));
                version = version.or_else(|| of_library.map(str::to_owned));
            }
        }
        version.with_context(|| format!("expected the crate polyflake in {}", folder.display()))
    }

    fn add_npm(&self, shell: &Shell, file: &Path, file_name: &str) -> Result<()> {
        let options = ["--extract", "--gzip", "--to-stdout", "--file"];
        let manifest =
            cmd!(shell, "tar {options...} {file} package/package.json").quiet().read()?;
        let mut manifest: Value = serde_json::from_str(&manifest)?;
        let [name, version] = ["name", "version"].map(|key| manifest[key].as_str().unwrap_or(""));
        let (name, version) = (name.to_owned(), version.to_owned());
        let tarball = format!("{}/npm/-/{file_name}", self.address);
        manifest["dist"] = json!({ "tarball": tarball, "integrity": integrity(shell, file)? });
        let page = self.path("npm").join(&name);
        let mut known = read_page(&page, &name);
        let others = manifest["optionalDependencies"].clone();
        add_version(&mut known, &version, manifest);
        shell.write_file(page, known.to_string())?;
        self.add_unbuilt_packages(shell, &others)?;
        self.store(file, &format!("npm/-/{file_name}"))
    }

    /// Adds packages that contain only a manifest, for the platforms that were not built. Yarn requests the pages of all
    /// platforms' packages, and Deno installs both the package for glibc and the package for musl.
    fn add_unbuilt_packages(&self, shell: &Shell, others: &Value) -> Result<()> {
        for (name, version) in others.as_object().into_iter().flatten() {
            let page = self.path("npm").join(name);
            let platforms = platforms::all_platforms()?;
            let platform = platforms.iter().find(|one| name.ends_with(&format!("-{}", one.name)));
            let platform = platform.with_context(|| format!("expected the platform of {name}"))?;
            let version = version.as_str().unwrap_or_default();
            let mut known = read_page(&page, name);
            if !known["versions"][version].is_null() {
                continue;
            }
            let file_name = format!("not-built-{}-{version}.tgz", platform.name);
            let tarball = format!("{}/npm/-/{file_name}", self.address);
            let mut manifest = json!({ "name": name, "version": version, "os": [platform.os],
                "cpu": [platform.cpu], "dist": { "tarball": tarball } });
            if let Some(libc) = &platform.libc {
                manifest["libc"] = json!([libc]);
            }
            add_version(&mut known, version, manifest);
            shell.write_file(page, known.to_string())?;
            self.store_empty_package(
                shell,
                &file_name,
                &json!({ "name": name, "version": version }),
            )?;
        }
        Ok(())
    }

    /// Stores a package that contains only its manifest.
    fn store_empty_package(&self, shell: &Shell, file_name: &str, manifest: &Value) -> Result<()> {
        let folder = tempfile::tempdir()?;
        let (folder, file) = (folder.path(), folder.path().join(file_name));
        shell.write_file(folder.join("package/package.json"), manifest.to_string())?;
        cmd!(shell, "tar --create --gzip --file {file} --directory {folder} package").run()?;
        self.store(&file, &format!("npm/-/{file_name}"))
    }

    fn add_python(&self, shell: &Shell, file: &Path, file_name: &str) -> Result<()> {
        let name = file_name.split('-').next().unwrap_or_default().replace('_', "-");
        let page = self.path("simple").join(name).join("index.html");
        let known = fs::read_to_string(&page).unwrap_or_default();
        let sum = results::sha256(file)?;
        let link = format!("<a href=\"../../files/{file_name}#sha256={sum}\">{file_name}</a>\n");
        shell.write_file(page, known + &link)?;
        self.store(file, &format!("files/{file_name}"))
    }

    fn add_crate(&self, shell: &Shell, file: &Path) -> Result<()> {
        let (options, stem) = (["--extract", "--gzip", "--to-stdout", "--file"], file.file_stem());
        let manifest = Path::new(stem.context("expected a name")?).join("Cargo.toml");
        let manifest = cmd!(shell, "tar {options...} {file} {manifest}").quiet().read()?;
        let entry = index::entry(&manifest.parse()?, &results::sha256(file)?)?;
        let [name, version] = ["name", "vers"].map(|key| entry[key].as_str().unwrap_or(""));
        // The index path contains the first four characters of a name. Shorter names have a different path, but all names
        // of this project have more than three characters.
        let page = self.path("crates/index").join(&name[..2]).join(&name[2..4]).join(name);
        let known = fs::read_to_string(&page).unwrap_or_default();
        shell.write_file(page, format!("{known}{entry}\n"))?;
        self.store(file, &format!("crates/dl/{name}/{version}"))
    }

    /// Returns the file names of the packages that clients have downloaded since the last call.
    pub fn downloads(&self) -> Result<Vec<String>> {
        let log = self.folder.join("requests");
        let text = fs::read_to_string(&log).unwrap_or_default();
        fs::write(log, "")?;
        let mut names: Vec<_> = text.lines().filter_map(package_file_name).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}

impl Drop for Registries {
    fn drop(&mut self) {
        // A failure can be ignored, because the server also exits when its standard input is closed.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Returns the page of an npm package, or a page without versions if the package is new.
fn read_page(page: &Path, name: &str) -> Value {
    let known = fs::read_to_string(page).ok().and_then(|text| serde_json::from_str(&text).ok());
    known.unwrap_or_else(|| json!({ "name": name, "versions": {}, "time": {} }))
}

/// Adds a version to an npm package's page and makes it the newest version.
fn add_version(known: &mut Value, version: &str, manifest: Value) {
    known["dist-tags"] = json!({ "latest": version });
    known["time"][version] = PUBLISHED_AT.into();
    known["versions"][version] = manifest;
}

/// Returns the file name of the package at a registry path.
fn package_file_name(path: &str) -> Option<String> {
    if let Some(one) = path.strip_prefix("/crates/dl/") {
        return Some(format!("{}.crate", one.replace('/', "-")));
    }
    let file = path.strip_prefix("/npm/-/").or_else(|| path.strip_prefix("/files/"));
    file.map(str::to_owned)
}

/// Returns the checksum in the form that npm expects.
fn integrity(shell: &Shell, file: &Path) -> Result<String> {
    let said = cmd!(shell, "sha512sum {file}").quiet().read()?;
    let sum = said.split_whitespace().next().context("expected a sum")?;
    let bytes = data_encoding::HEXLOWER.decode(sum.as_bytes())?;
    Ok(format!("sha512-{}", data_encoding::BASE64.encode(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_packages_are_distinguished_from_pages() {
        let of = |path| package_file_name(path).unwrap_or_default();
        assert_eq!(of("/crates/dl/polyflake/0.1.0"), "polyflake-0.1.0.crate");
        assert_eq!(of("/npm/-/polyflake-0.1.0.tgz"), "polyflake-0.1.0.tgz");
        assert_eq!(of("/files/polyflake-0.1.0.tar.gz"), "polyflake-0.1.0.tar.gz");
        assert_eq!((of("/npm/polyflake"), of("/simple/polyflake/")), Default::default());
    }
}
