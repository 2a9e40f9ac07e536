//! Checks whether a file can be a store, and derives the store's name from the file's metadata.

use alloc::{borrow::ToOwned, format, string::String};
use core::fmt::Display;

use crate::{Error, ErrorKind, Result};

/// File systems that may lose data because they keep it in memory, on the network or in another program. Each entry
/// contains the magic number by which Linux identifies the file system, and the file system's name.
const NON_DURABLE_FILE_SYSTEMS: [(u32, &str); 15] = [
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
    // virtiofs has the same magic number.
    (0x6573_5546, "FUSE"),
    (0x786f_4256, "VirtualBox's shared folders"),
];

/// The magic number of overlayfs, the writable layer of a container. Its files survive a crash, but are lost when the
/// container is removed.
const OVERLAYFS: u32 = 0x794c_7630;

/// Rejects a file system that is not durable. `found` is the magic number by which Linux identifies the type of file
/// system. Overlayfs is rejected as well, unless the store's URL allows it.
///
/// # Errors
/// Returns `store_not_durable` for a rejected file system.
pub fn check_file_system_type(found: u32, allows_overlayfs: bool) -> Result<()> {
    if found == OVERLAYFS && !allows_overlayfs {
        let reason = "the file is on overlayfs, the container's own layer, which is lost with it; mount a volume for the file, or add `?allow=overlayfs` to the URL if one container alone uses the store";
        return Err(Error::new(ErrorKind::StoreNotDurable, reason).permanent());
    }
    match NON_DURABLE_FILE_SYSTEMS.iter().find(|(number, _)| *number == found) {
        Some((_, name)) => Err(not_durable_error(name)),
        None => Ok(()),
    }
}

/// Rejects a file that may have a second path, because `SQLite` names a file's journals after its path. Two processes with
/// different paths would write to one file with two journals, and would not see each other's grants. `links` is the number
/// of the file's hard links.
///
/// # Errors
/// Returns `store_not_durable` for a file with several hard links, or one that is a mount point of its own.
pub fn check_single_path(links: u64, is_mount_point: bool) -> Result<()> {
    let error = |reason: String| Error::new(ErrorKind::StoreNotDurable, reason).permanent();
    if links > 1 {
        let remedy = "remove the other links, so that all processes name the file by one path";
        return Err(error(format!(
            "the file has {links} hard links, and its journals belong to one path; {remedy}"
        )));
    }
    if is_mount_point {
        let remedy = "mount the folder that contains the file";
        return Err(error(format!(
            "the file alone is mounted, without its folder, where its journals are; {remedy}"
        )));
    }
    Ok(())
}

/// Returns the name that identifies a file, regardless of its content, its path and the device on which its volume is
/// mounted. The name consists of the inode number and the birth time, because file systems reuse the inode numbers of
/// deleted files.
///
/// # Errors
/// Returns `store_not_durable` if the file system does not record birth times. Without birth times, a restored backup could
/// not be distinguished from the earlier file.
pub fn name_of_file(inode: u64, birth: Option<impl Display>) -> Result<String> {
    let birth = birth.ok_or_else(|| {
        let reason = "its file system does not say when a file was made, so a restored backup looks like the file before";
        Error::new(ErrorKind::StoreNotDurable, reason).permanent()
    })?;
    Ok(format!("sqlite:{inode}:{birth}"))
}

fn not_durable_error(found: &str) -> Error {
    let reason = format!(
        "the file is on {found}, which may lose what was written; name a file on a disk of this machine"
    );
    Error::new(ErrorKind::StoreNotDurable, reason).permanent()
}

/// The permanent reasons why opening a file can fail. They persist until the system's configuration is changed. Each entry
/// lists the names of `errno` values, followed by the reason.
const PERMANENT_FAILURES: [(&[&str], &str); 4] = [
    (&["ENOENT", "ENOTDIR"], "the folder does not exist"),
    (&["EACCES", "EPERM"], "the system denies the permission to write the file"),
    (&["EROFS"], "the file system is read-only"),
    (&["EISDIR"], "the path is a folder"),
];

/// Returns the error for a store's file that could not be opened or created. `code` is the name of the `errno` value, such
/// as `ENOENT`. The error is permanent unless the cause may be temporary, such as too many open files or a full disk.
pub fn file_error(code: &str) -> Error {
    let error = |reason| Error::new(ErrorKind::LeaseUnavailable, reason);
    let lasting = PERMANENT_FAILURES.iter().find(|(codes, _)| codes.contains(&code));
    lasting.map_or_else(
        || error(format!("the system does not open the file: {code}")),
        |(_, reason)| error((*reason).to_owned()).permanent(),
    )
}

/// Returns whether a [`file_error`] with this message is permanent, so that retrying is pointless. The function checks the
/// message, because exceptions in other languages contain no other details.
#[cfg(feature = "hosted")]
pub(crate) fn is_permanent_failure(message: &str) -> bool {
    PERMANENT_FAILURES.iter().any(|(_, reason)| *reason == message)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn overlayfs_requires_an_explicit_option_and_tmpfs_is_rejected() {
        let message = check_file_system_type(OVERLAYFS, false).unwrap_err().to_string();
        assert!(message.contains("mount a volume"), "{message}");
        assert!(message.contains("`?allow=overlayfs`"), "{message}");
        assert_eq!(check_file_system_type(OVERLAYFS, true), Ok(()));
        let (ext4, tmpfs) = (0xef53, 0x0102_1994);
        for allows_overlayfs in [false, true] {
            assert_eq!(check_file_system_type(ext4, allows_overlayfs), Ok(()));
            let error = check_file_system_type(tmpfs, allows_overlayfs).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StoreNotDurable);
        }
    }
}
