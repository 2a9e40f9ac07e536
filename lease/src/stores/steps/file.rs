//! The file of a store: its identity and the durability of its file system.

#[cfg(all(unix, not(target_os = "linux")))]
use std::time::UNIX_EPOCH;
use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
    string::String,
};

use alloc::format;

#[cfg(target_os = "linux")]
use super::facts::check_file_system_type;
use super::facts::{check_single_path, file_error, name_of_file};
use crate::{
    Error, ErrorKind, Result,
    rules::access::{Access, Create},
    stores::system::random,
};

/// Returns a file's absolute path, which remains valid even if the process changes its working directory.
///
/// # Errors
/// Returns `store_not_durable` for a path that does not name a file.
pub fn absolute_path(path: &Path) -> Result<PathBuf> {
    if path.as_os_str().is_empty() || path.to_string_lossy().contains(":memory:") {
        let reason = "a database in memory is lost with its process; name a file on a disk";
        return Err(Error::new(ErrorKind::StoreNotDurable, reason).permanent());
    }
    // `canonicalize` is not used here, because it fails if the file does not exist yet.
    std::path::absolute(path).map_err(|error| {
        let reason = format!("the working directory is unknown: {error}");
        Error::new(ErrorKind::LeaseUnavailable, reason)
    })
}

/// Opens the file at a path by calling the driver's function `connect`, and returns the connection and the file's name. If
/// the file does not exist, this function creates an empty one, unless `access` forbids it.
///
/// # Errors
/// Returns `store_not_durable` if written data may be lost, `lease_unavailable` if the file does not exist or is replaced
/// while this function opens it, or any error from the driver.
pub fn open<C>(
    path: &Path,
    access: Access,
    connect: impl FnOnce(&Path) -> Result<C>,
) -> Result<(C, String)> {
    check_durable(path, access)?;
    let before = match access.create {
        Create::Nothing | Create::Trial { .. } => read_store_name(path)?,
        _ => read_or_create_store_name(path)?,
    };
    let connection = connect(path)?;
    // The driver opens the path itself. If another process has replaced the file since its name was read, the connection
    // refers to a different file.
    let name = read_store_name(path)?;
    if name == before {
        return Ok((connection, name));
    }
    let reason = "another file took its place while it was opened";
    Err(Error::new(ErrorKind::LeaseUnavailable, reason))
}

/// Checks whether a store may be created or opened at a path, and returns whether the file exists. If the result is
/// `false`, the file could be created.
///
/// # Errors
/// Returns the same errors as [`open`].
pub fn check(path: &Path, access: Access) -> Result<bool> {
    check_durable(path, access)?;
    if path.exists() {
        read_store_name(path)?;
        return Ok(true);
    }
    // A process ID would not make the file name unique, because containers that share a folder use the same process IDs.
    let trial = path.with_extension(format!("trial-{}", random()?));
    let created = OpenOptions::new().write(true).create_new(true).open(&trial);
    created.map_err(|error| io_error(&error))?;
    fs::remove_file(&trial).map_err(|error| io_error(&error))?;
    Ok(false)
}

/// Rejects a file on a file system that is not durable.
fn check_durable(path: &Path, access: Access) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    check_file_system(if path.exists() { path } else { folder }, access)
}

#[cfg(target_os = "linux")]
fn check_file_system(path: &Path, access: Access) -> Result<()> {
    let system = rustix::fs::statfs(path).map_err(|error| io_error(&error.into()))?;
    // The type of `f_type` differs between architectures, and on some of them the value is sign-extended. File-system magic
    // numbers are 32 bits wide.
    let found = u32::try_from(system.f_type & 0xffff_ffff).unwrap_or(0);
    check_file_system_type(found, access.allows_overlayfs)
}

#[cfg(not(target_os = "linux"))]
fn check_file_system(_: &Path, _: Access) -> Result<()> {
    Ok(())
}

/// Returns the name that identifies the file, as defined by [`name_of_file`]. Rejects a file that may have another path.
fn read_store_name(path: &Path) -> Result<String> {
    let FileFacts { inode, birth, links, is_mount_point } =
        file_facts(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let reason = "the file does not exist; the first lease creates it";
                Error::new(ErrorKind::LeaseUnavailable, reason).permanent()
            }
            _ => io_error(&error),
        })?;
    // A folder has more than one link, and is rejected when it is opened.
    if path.is_file() {
        check_single_path(links, is_mount_point)?;
    }
    name_of_file(inode, birth)
}

/// What the operating system reports about a file.
struct FileFacts<B> {
    inode: u64,
    /// The birth time in Unix milliseconds, if it is available. Milliseconds are used because some languages do not report
    /// birth times with a higher precision.
    birth: Option<B>,
    /// The number of hard links.
    links: u64,
    is_mount_point: bool,
}

/// Works like [`read_store_name`], but creates an empty file if the file does not exist.
fn read_or_create_store_name(path: &Path) -> Result<String> {
    if let Err(error) = OpenOptions::new().write(true).create_new(true).open(path)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err(io_error(&error));
    }
    read_store_name(path)
}

fn io_error(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => file_error("ENOENT"),
        io::ErrorKind::NotADirectory => file_error("ENOTDIR"),
        io::ErrorKind::PermissionDenied => file_error("EACCES"),
        io::ErrorKind::ReadOnlyFilesystem => file_error("EROFS"),
        io::ErrorKind::IsADirectory => file_error("EISDIR"),
        _ => file_error(&format!("{error}")),
    }
}

#[cfg(target_os = "linux")]
fn file_facts(path: &Path) -> io::Result<FileFacts<i64>> {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
    let wanted = StatxFlags::INO | StatxFlags::BTIME | StatxFlags::NLINK;
    let found = statx(CWD, path, AtFlags::empty(), wanted)?;
    let has_birth_time = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    let birth = found.stx_btime;
    let ms = birth.tv_sec * 1000 + i64::from(birth.tv_nsec / 1_000_000);
    Ok(FileFacts {
        inode: found.stx_ino,
        birth: has_birth_time.then_some(ms),
        links: found.stx_nlink.into(),
        is_mount_point: found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
    })
}

#[cfg(all(unix, not(target_os = "linux")))]
fn file_facts(path: &Path) -> io::Result<FileFacts<u128>> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path)?;
    let birth = found.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let birth = birth.map(|since| since.as_millis());
    Ok(FileFacts { inode: found.ino(), birth, links: found.nlink(), is_mount_point: false })
}

/// Returns the file's index on its volume, and its birth time. The birth time alone is not sufficient: a file that replaces
/// another within a few seconds inherits the old file's birth time.
#[cfg(windows)]
fn file_facts(path: &Path) -> io::Result<FileFacts<u64>> {
    use winapi_util::{Handle, file::information};
    /// The Unix epoch on the Windows time scale, which counts units of 100 ns since 1601.
    const UNIX_EPOCH_FILETIME: u64 = 116_444_736_000_000_000;
    let found = information(Handle::from_path_any(path)?)?;
    let birth = found.creation_time().and_then(|units| units.checked_sub(UNIX_EPOCH_FILETIME));
    let (birth, links) = (birth.map(|units| units / 10_000), found.number_of_links());
    Ok(FileFacts { inode: found.file_index(), birth, links, is_mount_point: false })
}
