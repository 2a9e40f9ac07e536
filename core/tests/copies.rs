//! Copies of a running process, as a virtual machine that is restored twice from one snapshot has them. Neither copy can notice
//! the other: unlike a forked child, each has the whole memory, with the page that the kernel wipes at a fork, and with shared
//! memory of its own. A single-threaded process is copied by a raw `clone()` that is undone in these two respects.
//!
//! `cargo test -p polyflake --test copies -- --ignored --nocapture figures` prints how many of 5,000 IDs two copies have in
//! common. `POLYFLAKE_RUNS` sets the number of runs, and `POLYFLAKE_ONLY` selects a line, such as `leased sno, running`.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(unsafe_code, reason = "clone, madvise and mmap have no safe door")]

#[path = "support/alone.rs"]
mod alone;

use std::{
    collections::HashSet,
    fs,
    io::{Read, Write, pipe},
    ptr,
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use alone::alone;
use polyflake::{
    Result, after_restore,
    clock::{Clock, SystemClock},
    hotguid, sno, uuid7,
};

/// Memory mappings of this process, each with its start and its length.
struct Mappings {
    /// Those that a fork wipes.
    wiped: Vec<(usize, usize)>,
    /// Anonymous ones that a child shares.
    shared: Vec<(usize, usize)>,
}

impl Mappings {
    fn of_this_process() -> Self {
        let (mut found, mut last) = (Self { wiped: Vec::new(), shared: Vec::new() }, (0, 0));
        for line in fs::read_to_string("/proc/self/smaps").unwrap().lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let ends = words[0].split_once('-').and_then(|(start, end)| {
                let address = |text| usize::from_str_radix(text, 16).ok();
                Some((address(start)?, address(end)?))
            });
            if let Some((start, end)) = ends {
                last = (start, end - start);
                if words[1].ends_with('s') && words.get(5).is_some_and(|path| *path == "/dev/zero")
                {
                    found.shared.push(last);
                }
            } else if words[0] == "VmFlags:" && words.contains(&"wf") {
                found.wiped.push(last);
            }
        }
        found
    }
}

/// Copies this process. Returns 0 in the copy, and its process ID here.
fn clone_process() -> libc::c_long {
    let Mappings { wiped, shared } = Mappings::of_this_process();
    // The page is no longer wiped if this process was copied before.
    assert!(wiped.len() <= 1 && !shared.is_empty(), "expected the pages of a generator");
    for (start, len) in wiped {
        // SAFETY: a mapping of this process, whose content does not change.
        assert_eq!(unsafe { libc::madvise(start as *mut _, len, libc::MADV_KEEPONFORK) }, 0);
    }
    // Before the copy is made, because this process changes its shared memory as soon as it continues.
    let image = |(start, len): (usize, usize)| {
        // SAFETY: the mapping is readable, and no other thread changes it.
        (start, unsafe { std::slice::from_raw_parts(start as *const u8, len) }.to_vec())
    };
    let shared: Vec<_> = shared.into_iter().map(image).collect();
    // SAFETY: a copy of this process without shared memory, as `fork` makes it, but without its hooks.
    let copy = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    assert!(copy >= 0, "expected a copy");
    for (start, bytes) in shared.into_iter().filter(|_| copy == 0) {
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
        );
        // SAFETY: the place of a mapping of this process gets the same bytes.
        unsafe {
            let page = libc::mmap(start as *mut _, bytes.len(), access, kind, -1, 0);
            assert_eq!(page, start as *mut _);
            ptr::copy_nonoverlapping(bytes.as_ptr(), page.cast(), bytes.len());
        }
    }
    copy
}

/// The bytes of IDs that `work` makes in this process and in a copy of it.
fn in_both(work: impl FnOnce() -> Vec<[u8; 16]>) -> [Vec<[u8; 16]>; 2] {
    let (mut from, mut to) = pipe().unwrap();
    let copy = clone_process();
    let here = work();
    if copy == 0 {
        to.write_all(here.as_flattened()).unwrap();
        // SAFETY: ends the copy at once.
        unsafe { libc::_exit(0) };
    }
    drop(to);
    let mut there = Vec::new();
    from.read_to_end(&mut there).unwrap();
    // SAFETY: waits for the copy just made.
    unsafe { libc::waitpid(copy.try_into().unwrap(), ptr::null_mut(), 0) };
    [here, there.as_chunks().0.to_vec()]
}

fn equal([here, there]: &[Vec<[u8; 16]>; 2]) -> usize {
    assert_eq!(here.len(), there.len());
    let there: HashSet<_> = there.iter().collect();
    here.iter().filter(|id| there.contains(id)).count()
}

fn wide(id: sno::Sno) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..10].copy_from_slice(&id.to_bytes());
    bytes
}

/// Waits until a time.
fn wait_until(time: Duration) {
    while SystemTime::now().duration_since(UNIX_EPOCH).unwrap() < time {
        std::thread::sleep(Duration::from_micros(50));
    }
}

/// The number of equal IDs among those that two copies make at a rate of 1,000 per second each, which begin after a pause.
fn equal_at_1000_per_second(
    count: u32,
    pause: Duration,
    mut make: impl FnMut() -> [u8; 16],
) -> usize {
    make();
    let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + pause;
    equal(&in_both(|| {
        let paced = |k: u32| {
            wait_until(start + k * Duration::from_millis(1));
            make()
        };
        (0..count).map(paced).collect()
    }))
}

/// The number of equal IDs of each generator among those that two copies make at the same times, within one second.
fn equal_within_a_second(reports: bool) -> [usize; 4] {
    const COUNT: u32 = 300;
    let (ids, guids) = (sno::Generator::new(), hotguid::Generator::new());
    let (mut handle, mut guid_handle) = (ids.handle(), guids.handle());
    let mut make = || {
        [
            wide(ids.generate(7).unwrap()),
            wide(handle.generate(7).unwrap()),
            guids.generate(7).unwrap().to_rfc_bytes(),
            guid_handle.generate(7).unwrap().to_rfc_bytes(),
        ]
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let second = Duration::from_secs(now.as_secs() + 1);
    wait_until(second + Duration::from_millis(10));
    make();
    let process = std::process::id();
    let [here, there] = in_both(|| {
        if reports && std::process::id() != process {
            after_restore().unwrap();
        }
        let paced = |k: u32| {
            wait_until(second + Duration::from_millis(200) + k * Duration::from_millis(1));
            make()
        };
        (0..COUNT).flat_map(paced).collect()
    });
    std::array::from_fn(|kind| {
        let of = |made: &[[u8; 16]]| made.iter().copied().skip(kind).step_by(4).collect();
        equal(&[of(&here), of(&there)])
    })
}

#[test]
fn after_a_report_in_one_copy_no_id_is_generated_twice() {
    alone(&[], || {
        let equal = equal_within_a_second(false);
        assert!(equal.iter().all(|equal| *equal > 30), "{equal:?} equal: not a copy");
        assert_eq!(equal_within_a_second(true), [0; 4]);
    });
}

/// Both copies have the same position in the table of partitions, so only a base that each picks for itself differs. Two bases
/// are equal with a probability of 1 in 65,536.
#[test]
fn copies_that_both_report_assign_different_partitions_and_random_bytes() {
    alone(&[], || {
        let (ids, guids) = ([(); 3].map(|()| sno::Generator::new()), hotguid::Generator::new());
        assert!(ids.iter().all(|ids| ids.generate(7).is_ok()));
        guids.generate(7).unwrap();
        let [here, there] = in_both(|| {
            let mut found = Vec::new();
            // Twice, so that the bases of both reports are equal by chance in 1 of 2^32 runs only.
            for _ in 0..2 {
                after_restore().unwrap();
                found.extend(ids.each_ref().map(|ids| {
                    let partition = ids.generate(7).unwrap().partition();
                    u128::from(partition).to_be_bytes()
                }));
                let mut machine = [0; 16];
                machine[..5].copy_from_slice(&guids.generate(7).unwrap().machine());
                found.push(machine);
            }
            found
        });
        let partitions = |found: &[[u8; 16]]| [&found[..3], &found[4..7]].concat();
        assert_ne!(partitions(&here), partitions(&there), "the same partitions");
        assert!(here[3] != there[3] && here[7] != there[7], "the same random bytes");
    });
}

/// A copy that is restored later begins in another second.
#[test]
fn hot_guids_of_copies_differ_from_the_next_second_on() {
    alone(&[], || {
        let guids = hotguid::Generator::new();
        let make = || guids.generate(7).unwrap().to_rfc_bytes();
        let pause = Duration::from_millis(1100);
        let runs = (0..3).map(|_| equal_at_1000_per_second(100, pause, make));
        // The counters of a run overlap with a probability of 1 in 40,000.
        assert_eq!(runs.sum::<usize>(), 0);
    });
}

/// A clock that can be set back.
struct Ahead(AtomicI64);

impl Clock for Ahead {
    fn unix_nanos(&self) -> Result<i64> {
        Ok(SystemClock.unix_nanos()? + self.0.load(Ordering::Relaxed))
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        SystemClock.sleep(nanos)
    }
}

/// The counts of equal UUIDs of a generator and of a handle, if two copies generate them from the next millisecond on.
/// `ahead` is the rollback of the clock before the copy is made, in milliseconds: the generator is held in one millisecond.
fn equal_uuids(ahead: i64) -> [usize; 2] {
    let clock = Ahead(AtomicI64::new(ahead * 1_000_000));
    let ids = uuid7::Generator::builder().clock(&clock).build().unwrap();
    let mut handle = ids.handle();
    assert!(ids.generate().unwrap() < handle.generate().unwrap());
    clock.0.store(0, Ordering::Relaxed);
    let of_handle = equal_at_1000_per_second(100, Duration::from_millis(5), || {
        handle.generate().unwrap().to_bytes()
    });
    let of_generator = equal_at_1000_per_second(100, Duration::from_millis(5), || {
        let mut batch = [uuid7::Uuid7::MIN; 2];
        ids.fill(&mut batch).unwrap();
        assert!(ahead == 0 || batch[0].unix_ms() == ids.stats().last_ms.unwrap());
        ids.generate().unwrap().to_bytes()
    });
    [of_generator, of_handle]
}

#[test]
fn uuids_of_copies_differ_from_the_next_millisecond_on() {
    alone(&[], || assert_eq!(equal_uuids(0), [0; 2]));
}

/// The copies continue in the same millisecond with the same sequences, so only the random bits differ.
#[test]
fn uuids_of_copies_differ_also_after_a_rollback() {
    alone(&[], || assert_eq!(equal_uuids(60_000), [0; 2]));
}

/// Returns a generator for a lease's grant, as the lease crate creates it.
fn leased_sno() -> sno::Leased {
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis());
    let now = now.unwrap();
    let builder = sno::Generator::builder().partition(8).window(now - 1000, now + 3_600_000);
    sno::Leased::new(builder.build().unwrap()).unwrap()
}

/// Copies have the same lease until one of them has to renew it.
#[test]
fn leased_snos_of_copies_differ_in_most_ticks() {
    alone(&[], || {
        let ids = leased_sno();
        let equal = equal_at_1000_per_second(100, Duration::from_millis(50), || {
            wide(ids.generate(7).unwrap())
        });
        // The sequences of a tick overlap with a probability of about 1 in 5,000.
        assert!(equal <= 8, "{equal} of 100 equal");
    });
}

/// Prints the figures of `docs/promises.md`.
#[test]
#[ignore = "takes minutes, and prints figures"]
fn figures() {
    let runs: u32 = std::env::var("POLYFLAKE_RUNS").map_or(3, |runs| runs.parse().unwrap());
    let only = std::env::var("POLYFLAKE_ONLY").ok();
    let (ids, guids) = (sno::Generator::new(), hotguid::Generator::new());
    let explicit = sno::Generator::builder().partition(7).build().unwrap();
    let leased = leased_sno();
    let random = || {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).unwrap();
        bytes
    };
    let uuids = uuid7::Generator::new();
    let makers: [(&str, &dyn Fn() -> [u8; 16]); 6] = [
        ("default sno", &|| wide(ids.generate(7).unwrap())),
        ("explicit sno", &|| wide(explicit.generate(7).unwrap())),
        ("leased sno", &|| wide(leased.generate(7).unwrap())),
        ("Hot Guid", &|| guids.generate(7).unwrap().to_rfc_bytes()),
        ("UUID v7", &|| uuids.generate().unwrap().to_bytes()),
        ("random bytes", &random),
    ];
    for (name, make) in makers {
        for (when, pause) in [("running", 50), ("restored later", 1100)] {
            let line = format!("{name}, {when}");
            if only.as_ref().is_some_and(|only| *only != line) {
                continue;
            }
            let pause = Duration::from_millis(pause);
            let equal: Vec<_> =
                (0..runs).map(|_| equal_at_1000_per_second(5000, pause, make)).collect();
            let mean =
                f64::from(u32::try_from(equal.iter().sum::<usize>()).unwrap()) / f64::from(runs);
            std::eprintln!("{line}: {equal:?} of 5000, mean {mean:.2}");
        }
    }
}
