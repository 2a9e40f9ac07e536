//! From the system's facts about a store's file to the file's name, or to a refusal.

use alloc::{format, string::String};
use core::fmt::Display;

use crate::{Error, ErrorKind, Result};

/// File systems in memory, on the network or of another program, which may keep less than they say, by the numbers that Linux gives them.
const REFUSED: [(u32, &str); 15] = [
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
    // virtiofs has this number, too.
    (0x6573_5546, "FUSE"),
    (0x786f_4256, "VirtualBox's shared folders"),
];

/// Refuses a file system that is not durable, by the number that Linux gives it.
///
/// # Errors
/// `store_not_durable`.
pub fn check_number(found: u32) -> Result<()> {
    match REFUSED.iter().find(|(number, _)| *number == found) {
        Some((_, name)) => Err(refused(name)),
        None => Ok(()),
    }
}

/// The name that tells one file from another, whatever its content, its path and the device that its volume is mounted at: inode
/// and time of birth, since file systems give the inode of a removed file to the next one.
///
/// # Errors
/// `store_not_durable` where the file system keeps no time of birth: there a restored backup could not be told from the file before.
pub fn name_of(inode: u64, birth: Option<impl Display>) -> Result<String> {
    let birth = birth.ok_or_else(|| {
        let reason =
            "expected a file system that tells when a file was made, found one that does not";
        Error::new(ErrorKind::StoreNotDurable, reason)
    })?;
    Ok(format!("sqlite:{inode}:{birth}"))
}

pub(super) fn refused(found: &str) -> Error {
    let reason = format!("expected a file on a disk of this machine, found {found}");
    Error::new(ErrorKind::StoreNotDurable, reason)
}
