//! The file of a store: its identity, and the durability of its file system.

use std::{fs, path::Path, string::String};

use alloc::format;

use crate::{Error, ErrorKind, Result};

/// File systems in memory or on the network, by the numbers that Linux gives them.
#[cfg(target_os = "linux")]
const REFUSED: [(u32, &str); 13] = [
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB 2"),
    (0x0102_1997, "9P"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
];

/// Refuses a path that names no file, or a file on a file system that is not durable.
pub(super) fn check(path: &Path) -> Result<()> {
    let is_memory = path.as_os_str().is_empty() || path.to_string_lossy().contains(":memory:");
    if is_memory {
        return Err(refused("a database in memory"));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    check_system(if path.exists() { path } else { folder })
}

#[cfg(target_os = "linux")]
fn check_system(path: &Path) -> Result<()> {
    let system = rustix::fs::statfs(path).map_err(|error| {
        Error::new(
            ErrorKind::LeaseUnavailable,
            format!("expected a folder for the file, found: {error}"),
        )
    })?;
    let found = u32::try_from(system.f_type & 0xffff_ffff).unwrap_or(0);
    match REFUSED.iter().find(|(number, _)| *number == found) {
        Some((_, name)) => Err(refused(name)),
        None => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn check_system(_: &Path) -> Result<()> {
    Ok(())
}

fn refused(found: &str) -> Error {
    let reason = format!("expected a file on a disk of this machine, found {found}");
    Error::new(ErrorKind::StoreNotDurable, reason)
}

/// The name that tells one file from another, whatever its content.
pub(super) fn name(path: &Path) -> Result<String> {
    let metadata = fs::metadata(path).map_err(|error| {
        Error::new(
            ErrorKind::LeaseUnavailable,
            format!("expected the store's file, found: {error}"),
        )
    })?;
    Ok(format!("sqlite:{}", mark(&metadata)))
}

#[cfg(unix)]
fn mark(metadata: &fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    format!("{}:{}", metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn mark(metadata: &fs::Metadata) -> String {
    let created = metadata.created().ok();
    let since = created.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    format!("{}", since.map_or(0, |since| since.as_nanos()))
}
