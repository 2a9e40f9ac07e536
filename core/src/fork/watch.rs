//! A thread that reports restores detected by the kernel.
//!
//! A hypervisor that starts a copy of a virtual machine changes the machine's generation ID (VMGENID). Since version 5.18,
//! Linux then reseeds its random source and writes a notice to its log. The thread waits for that notice, because it is the
//! only notification that all of these kernels provide. Linux 6.8 sent the uevent `NEW_VMGENID=1`, the next version did
//! not, and some distributors have added it again. A program cannot detect whether its kernel sends the uevent, so a thread
//! that waits for it may wait in vain.
//!
//! A record's facility number shows whether the kernel wrote the record, because only the kernel can use the first
//! facility.

use std::{
    format,
    fs::{self, File},
    io::{self, ErrorKind as Failure, Read, Seek, SeekFrom},
    str,
    string::String,
    thread::{self, Builder},
    time::Duration,
};

use super::imp;
use crate::{
    Error, ErrorKind, Result,
    sync::{Ordering, Tally},
};

/// The kernel's log. Each read waits for one record.
const LOG_PATH: &str = "/dev/kmsg";
/// The directories of the kernel's VMGENID driver, which contain links to the driver's devices. Older kernels use the first
/// directory.
const DRIVER_FOLDERS: [&str; 2] =
    ["/sys/bus/acpi/drivers/vmgenid", "/sys/bus/platform/drivers/vmgenid"];
/// The message that the kernel logs after a restore.
const NOTICE: &str = "random: crng reseeded due to virtual machine fork";
/// The maximum length of a kernel record, in bytes.
const MAX_RECORD_LEN: usize = 8192;
/// The number of severity levels per facility. Only the kernel can write records whose combined facility and severity
/// number is below this value.
const KERNEL_SEVERITIES: u32 = 8;

/// The process generation in which the watching thread was started. The value is outdated in a forked child, which does not
/// inherit the thread.
static WATCHED_GENERATION: Tally = Tally::new(0);

/// Starts the thread, unless this process is already running it. See [`super::watch_restores`].
pub(super) fn start() -> Result<()> {
    super::prepare()?;
    let process = super::process();
    if WATCHED_GENERATION.load(Ordering::Acquire) == process {
        return Ok(());
    }
    if !DRIVER_FOLDERS.iter().any(|folder| has_device(folder)) {
        return Err(no_device_error());
    }
    // The log is opened before the thread starts, and read from its end, so that the thread misses no restore from now on.
    let opened = File::open(LOG_PATH).and_then(|mut log| log.seek(SeekFrom::End(0)).map(|_| log));
    let log = opened.map_err(|error| unreadable_log_error(&error))?;
    // If two threads are started at the same time, the second thread exits immediately.
    let work = move || {
        if WATCHED_GENERATION.swap(process, Ordering::AcqRel) != process {
            watch(log, report);
        }
    };
    let started = Builder::new().name("polyflake-watch".into()).spawn(work);
    started
        .map(drop)
        .map_err(|error| watch_unavailable_error(format!("expected a thread, found: {error}")))
}

/// Returns whether a driver's directory contains a device.
fn has_device(folder: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        entry.file_type().is_ok_and(|kind| kind.is_symlink()) && entry.file_name() != "module"
    })
}

/// Calls `report` with the number of each record that is the kernel's notice, until the log ends. Also calls `report` with
/// `None` if records may have been lost, because a notice may have been among them.
fn watch(mut log: impl Read, report: impl Fn(Option<u64>)) {
    let mut record = [0; MAX_RECORD_LEN];
    loop {
        match log.read(&mut record) {
            Ok(0) => return,
            Ok(length) => {
                if let Some(number) = restore_notice(&record[..length]) {
                    report(Some(number));
                }
            }
            Err(error) if error.kind() == Failure::Interrupted => {}
            Err(error) => {
                report(None);
                // `BrokenPipe` means that the kernel has overwritten unread records. In that case, the next read returns a
                // newer record.
                if error.kind() != Failure::BrokenPipe {
                    thread::sleep(Duration::from_secs(1));
                }
            }
        }
    }
}

/// Returns the number of a record if the record is the kernel's notice. The first line of a record is
/// `FACILITY_AND_SEVERITY,NUMBER,MICROSECONDS,FLAGS;TEXT`, and more lines may follow.
fn restore_notice(record: &[u8]) -> Option<u64> {
    let (line, _) = str::from_utf8(record).ok()?.split_once('\n')?;
    let (prefix, text) = line.split_once(';')?;
    let mut fields = prefix.split(',');
    let facility: u32 = fields.next()?.parse().ok()?;
    let number = fields.next()?.parse().ok()?;
    (facility < KERNEL_SEVERITIES && text == NOTICE).then_some(number)
}

/// Reports a restore, unless another process of the fork tree has reported it. The restore is counted even if no random
/// bytes are available.
fn report(record: Option<u64>) {
    let is_new = |number| imp::shared_table().map_or(true, |table| table.is_new_notice(number));
    if record.is_none_or(is_new) {
        let _ = super::after_restore();
    }
}

#[cold]
fn no_device_error() -> Error {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    watch_unavailable_error(format!(
        "expected a virtual machine with a generation ID (VMGENID) and Linux 5.18 or later, found Linux {} without one; call \
         after_restore() in each copy",
        release.trim()
    ))
}

#[cold]
fn unreadable_log_error(error: &io::Error) -> Error {
    watch_unavailable_error(format!(
        "expected to read {LOG_PATH}, found: {error}; run with CAP_SYSLOG, or call after_restore() in each copy"
    ))
}

#[cold]
fn watch_unavailable_error(reason: String) -> Error {
    Error::with_reason(ErrorKind::WatchUnavailable, reason)
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, collections::VecDeque, os::unix::fs::symlink, vec, vec::Vec};

    use super::*;

    /// Notices that were recorded in restored virtual machines, with Linux 6.18 under Firecracker and Linux 6.12 under
    /// QEMU.
    const RECORDED_NOTICES: [&[u8]; 2] = [
        b"5,336,1284811,-;random: crng reseeded due to virtual machine fork\n",
        b"5,348,6772112,-;random: crng reseeded due to virtual machine fork\n",
    ];

    #[test]
    fn the_kernels_notice_is_recognized() {
        assert_eq!(RECORDED_NOTICES.map(restore_notice), [Some(336), Some(348)]);
        let with_caller =
            "5,7,1,-,caller=T1;random: crng reseeded due to virtual machine fork\n KEY=1\n";
        assert_eq!(restore_notice(with_caller.as_bytes()), Some(7));
    }

    #[test]
    fn only_complete_kernel_notices_are_recognized() {
        for record in [
            // This line was recorded after a program had written the same text to the log as a critical kernel message.
            &b"10,346,3579977,-;random: crng reseeded due to virtual machine fork\n"[..],
            b"6,1,2,-;random: crng init done\n",
            b"5,1,2,-;random: crng reseeded due to virtual machine fork!\n",
            b"5,1,2,-;another text\n random: crng reseeded due to virtual machine fork\n",
            b"-5,1,2,-;random: crng reseeded due to virtual machine fork\n",
            b"5,,2,-;random: crng reseeded due to virtual machine fork\n",
            b"5;random: crng reseeded due to virtual machine fork\n",
            b"\xff,1,2,-;random: crng reseeded due to virtual machine fork\n",
        ] {
            assert_eq!(restore_notice(record), None, "{}", String::from_utf8_lossy(record));
        }
        for record in RECORDED_NOTICES {
            assert!((0..record.len()).all(|length| restore_notice(&record[..length]).is_none()));
        }
    }

    /// Changes up to three bytes of a record, and asserts that the record is recognized only if its text and its facility
    /// are still those of a kernel notice.
    #[test]
    fn records_with_random_bytes_are_recognized_only_if_the_notice_is_intact() {
        let mut state = 1_u64;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).unwrap()
        };
        for _ in 0..100_000 {
            let mut record = RECORDED_NOTICES[next(2)].to_vec();
            for _ in 0..=next(3) {
                let at = next(record.len());
                record[at] = u8::try_from(next(256)).unwrap();
            }
            let is_intact =
                record.ends_with(&RECORDED_NOTICES[0][15..]) && (b'0'..b'8').contains(&record[0]);
            assert!(restore_notice(&record).is_none() || is_intact, "{record:?}");
        }
    }

    /// A log whose reads return the results that a test lists, and then end-of-file.
    struct Log(VecDeque<io::Result<&'static [u8]>>);

    impl Read for Log {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let record = self.0.pop_front().unwrap_or(Ok(b""))?;
            room[..record.len()].copy_from_slice(record);
            Ok(record.len())
        }
    }

    #[test]
    fn notices_and_lost_records_are_reported() {
        let failure = |kind: Failure| Err(kind.into());
        let log = Log(VecDeque::from([
            Ok(RECORDED_NOTICES[0]),
            Ok(b"6,337,2,-;random: crng init done\n"),
            failure(Failure::Interrupted),
            failure(Failure::BrokenPipe),
            Ok(RECORDED_NOTICES[1]),
        ]));
        let reports = RefCell::new(Vec::new());
        watch(log, |number| reports.borrow_mut().push(number));
        assert_eq!(reports.into_inner(), vec![Some(336), None, Some(348)]);
    }

    #[test]
    fn only_a_driver_with_a_device_is_accepted() {
        let folder = std::env::temp_dir().join(format!("polyflake-{}", std::process::id()));
        let path = folder.to_str().unwrap();
        assert!(!has_device(path));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("bind"), "").unwrap();
        symlink("..", folder.join("module")).unwrap();
        assert!(!has_device(path));
        symlink("..", folder.join("VMGENCTR:00")).unwrap();
        assert!(has_device(path));
        fs::remove_dir_all(folder).unwrap();
    }
}
