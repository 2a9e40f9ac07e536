//! Tests that every constructor of a generator prepares the process for forks. Each constructor runs in a new, unprepared
//! process: once with a `fork()` that runs the C library's hooks and, on Linux, once with a `_Fork()` that runs no hooks.
#![cfg(all(unix, not(miri)))]
#![allow(unsafe_code, reason = "fork, pipe and wait have no safe door")]

use std::{collections::HashSet, env};

use forks::run_in_child_with;
use polyflake::{
    clock::{ManualClock, SystemClock},
    hotguid,
    layout::{Builder, Field, Layout, preset},
    randflake,
    sno::{self, Assignment, Generator},
    uuid7,
};
#[cfg(target_os = "linux")]
use separate_process::run_in_separate_process;

#[path = "forks/mod.rs"]
mod forks;
#[path = "support/separate_process.rs"]
mod separate_process;

const WAY_VARIABLE: &str = "POLYFLAKE_WAY";
/// The number of IDs that each process generates.
const IDS_PER_PROCESS: usize = 20;
const START_MS: i64 = 1_763_650_000_000;

/// A function that generates an ID and returns its bytes, or no bytes if the generator fails because of a fork.
type IdMaker<'g> = Box<dyn FnMut() -> Vec<u8> + 'g>;

fn id_bytes<T>(made: polyflake::Result<T>, bytes_of: impl FnOnce(T) -> Vec<u8>) -> Vec<u8> {
    match made {
        Ok(id) => bytes_of(id),
        Err(error) => {
            assert_eq!(error.code(), "forked");
            Vec::new()
        }
    }
}

#[allow(clippy::unnecessary_wraps, reason = "as `identity_from` expects")]
fn random_assignment() -> polyflake::Result<Assignment> {
    Ok(Assignment {
        partition: u16::try_from(std::process::id() % 65_536).unwrap(),
        sequence_min: 0,
    })
}

fn sno_maker(ids: Generator<impl polyflake::clock::Clock + 'static>) -> IdMaker<'static> {
    Box::new(move || id_bytes(ids.generate(0), |id| id.to_bytes().to_vec()))
}

fn hotguid_maker(
    ids: hotguid::Generator<impl polyflake::clock::Clock + 'static>,
) -> IdMaker<'static> {
    Box::new(move || id_bytes(ids.generate(0), |id| id.to_bytes().to_vec()))
}

fn uuid7_maker(builder: uuid7::Builder<&'static ManualClock>) -> IdMaker<'static> {
    let ids = builder.build().unwrap();
    Box::new(move || id_bytes(ids.generate(), |id| id.to_bytes().to_vec()))
}

/// Returns a clock that does not advance, so that repeated generator state causes a duplicate ID.
fn stopped_clock() -> &'static ManualClock {
    static STOPPED_CLOCK: ManualClock = ManualClock::at_unix_ms(START_MS);
    &STOPPED_CLOCK
}

/// The name of a way to create a generator, and the function that creates the generator.
type CreationMethod = (&'static str, fn() -> IdMaker<'static>);

const CREATION_METHODS: &[CreationMethod] = &[
    ("sno", || sno_maker(Generator::new())),
    ("sno static", || Box::new(|| id_bytes(sno::generate(0), |id| id.to_bytes().to_vec()))),
    ("sno clock", || sno_maker(Generator::builder().clock(stopped_clock()).build().unwrap())),
    ("sno draw", || {
        sno_maker(
            Generator::builder()
                .clock(stopped_clock())
                .identity_from(random_assignment)
                .build()
                .unwrap(),
        )
    }),
    ("sno draw and bounds", || {
        let ids = Generator::builder()
            .clock(stopped_clock())
            .identity_from(random_assignment)
            .sequence_min(7);
        sno_maker(ids.build().unwrap())
    }),
    ("sno draw and window", || {
        let ids = Generator::builder()
            .clock(stopped_clock())
            .identity_from(random_assignment)
            .window(START_MS, START_MS + 1000);
        sno_maker(ids.build().unwrap())
    }),
    ("sno given", || {
        sno_maker(Generator::builder().clock(stopped_clock()).partition(7).build().unwrap())
    }),
    ("sno restored", || {
        let closed = Generator::builder().clock(stopped_clock()).partition(7).build().unwrap();
        sno_maker(
            Generator::builder().clock(stopped_clock()).restore(closed.close().unwrap()).unwrap(),
        )
    }),
    ("sno handle", || {
        let ids = Generator::builder()
            .clock(stopped_clock())
            .identity_from(random_assignment)
            .build()
            .unwrap();
        let mut handle = sno::Handle::new(std::sync::Arc::new(ids));
        Box::new(move || id_bytes(handle.generate(0), |id| id.to_bytes().to_vec()))
    }),
    ("hotguid", || hotguid_maker(hotguid::Generator::new())),
    ("hotguid clock", || {
        hotguid_maker(hotguid::Generator::builder().clock(stopped_clock()).build().unwrap())
    }),
    ("hotguid window", || {
        let ids = hotguid::Generator::builder().clock(stopped_clock()).window(0, 4_294_967_296_000);
        hotguid_maker(ids.build().unwrap())
    }),
    ("uuid7", || uuid7_maker(uuid7::Generator::builder().clock(stopped_clock()))),
    ("uuid7 static", || Box::new(|| id_bytes(uuid7::generate(), |id| id.to_bytes().to_vec()))),
    ("uuid7 draw", || uuid7_maker(uuid7::Builder::with_clock(stopped_clock(), || Ok([7; 32])))),
    ("uuid7 given", || {
        uuid7_maker(uuid7::Generator::builder().clock(stopped_clock()).worker_id(7))
    }),
    ("uuid7 handle", || {
        let ids = uuid7::Builder::with_clock(stopped_clock(), || Ok([7; 32])).build().unwrap();
        let mut handle = uuid7::Handle::new(std::sync::Arc::new(ids));
        Box::new(move || id_bytes(handle.generate(), |id| id.to_bytes().to_vec()))
    }),
    ("randflake", || {
        let lease = randflake::Grant::new(7, 1_730_000_000, 2_803_741_824).unwrap();
        let ids =
            randflake::Generator::builder(lease, [7; 16]).clock(stopped_clock()).build().unwrap();
        Box::new(move || id_bytes(ids.generate(), |id| id.to_i64().to_be_bytes().to_vec()))
    }),
    ("layout", || {
        let layout = Builder::with_clock(preset("sonyflake", []).unwrap(), stopped_clock());
        let ids = layout.bind("machine", 7).build().unwrap();
        Box::new(move || id_bytes(ids.generate(), |id| format!("{id:?}").into_bytes()))
    }),
    ("layout alone", || {
        let layout = Layout::integer([Field::sequence(64)]).unwrap();
        let ids = Builder::with_clock(layout, SystemClock).sequence_only(true).build().unwrap();
        Box::new(move || id_bytes(ids.generate(), |id| format!("{id:?}").into_bytes()))
    }),
];

/// Returns the available kinds of fork. The last kind, a fork without hooks, exists only in some C libraries. It can be
/// detected only on Linux, through the process generation.
fn available_forks() -> Vec<forks::Fork> {
    let mut kinds: Vec<forks::Fork> = vec![forks::fork_with_hooks];
    if cfg!(target_os = "linux") {
        kinds.extend(forks::fork_without_hooks());
    }
    kinds
}

#[test]
fn every_constructor_installs_the_fork_hook() {
    if let Ok(way) = env::var(WAY_VARIABLE) {
        return assert_prepared_for_forks(&way);
    }
    for kind in 0..available_forks().len() {
        for (way, _) in CREATION_METHODS {
            let way = format!("{kind} {way}");
            separate_process::rerun_test(
                "every_constructor_installs_the_fork_hook",
                &[(WAY_VARIABLE, &way)],
            );
        }
    }
}

/// Asserts that a child repeats no ID of its parent. `way` names the kind of fork, and the method that creates the first
/// generator of the process.
fn assert_prepared_for_forks(way: &str) {
    let (kind, name) = way.split_once(' ').unwrap();
    let fork = available_forks()[kind.parse::<usize>().unwrap()];
    let (_, build) = CREATION_METHODS.iter().find(|(way, _)| *way == name).unwrap();
    let mut make = build();
    let mut all = vec![make()];
    assert!(!all[0].is_empty());
    let length = all[0].len();
    let made = run_in_child_with(fork, || {
        [(0..IDS_PER_PROCESS).flat_map(|_| make()).collect(), b"done".to_vec()].concat()
    });
    let made = made.strip_suffix(b"done").expect("the child failed");
    all.extend(made.chunks(length).map(<[u8]>::to_vec));
    all.extend((0..IDS_PER_PROCESS).map(|_| make()));
    let given = ["given", "restored", "window", "randflake", "layout"];
    let is_given = given.iter().any(|given| name.contains(given));
    assert_eq!(made.is_empty(), is_given, "a child of {name} made {} bytes", made.len());
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{name} repeats an ID");
}

/// Each child is forked without the C library's hooks while other threads hold the heap's locks. The child must not wait
/// for these locks.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn an_unhooked_child_never_blocks_on_the_heap() {
    use std::sync::atomic::{AtomicBool, Ordering};

    // All threads share one heap arena, and no thread has a separate cache.
    const GLIBC_TUNABLES: (&str, &str) =
        ("GLIBC_TUNABLES", "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0");
    let Some(fork) = forks::fork_without_hooks() else { return };
    run_in_separate_process(&[GLIBC_TUNABLES], || {
        let children = env::var("POLYFLAKE_CHILDREN").map_or(100, |count| count.parse().unwrap());
        let (ids, is_over) = (Generator::new(), AtomicBool::new(false));
        ids.generate(0).unwrap();
        let hold = || {
            while !is_over.load(Ordering::Relaxed) {
                std::hint::black_box(vec![0_u8; 1000]);
            }
        };
        let failed = std::thread::scope(|scope| {
            (0..2).for_each(|_| drop(scope.spawn(hold)));
            let failed = (0..children).filter(|_| !can_generate_id(fork, &ids)).count();
            is_over.store(true, Ordering::Relaxed);
            failed
        });
        assert_eq!(failed, 0, "of {children} children");
    });
}

/// Without shared memory, default partitions are unavailable and everything else works.
#[test]
#[cfg(target_os = "linux")]
fn only_default_partitions_need_shared_memory() {
    run_in_separate_process(&[], || {
        let limit = |bytes| {
            let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
            // SAFETY: `limit` is a valid value that outlives the call, and the C library keeps no pointer to it.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        };
        limit(0);
        let default = Generator::new().generate(0).unwrap_err().code();
        let made = CREATION_METHODS
            .iter()
            .filter(|(way, _)| !["sno", "sno static", "sno clock"].contains(way));
        let failed = made.filter(|(_, build)| std::panic::catch_unwind(|| build()()).is_err());
        let failed: Vec<_> = failed.map(|(way, _)| way).collect();
        limit(libc::RLIM_INFINITY);
        assert_eq!((default, failed), ("partitions_exhausted", Vec::new()));
        Generator::new().generate(0).unwrap();
    });
}

/// Returns whether a forked child generates an ID within a few seconds. The test code in the child does not allocate
/// memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn can_generate_id(fork: forks::Fork, ids: &Generator) -> bool {
    let child = fork();
    if child == 0 {
        // SAFETY: both calls affect only the child: `alarm` terminates it if it blocks, and `_exit` terminates it when it
        // is done.
        unsafe {
            libc::alarm(5);
            libc::_exit(i32::from(ids.generate(0).is_err()));
        }
    }
    let mut status = -1;
    // SAFETY: `status` is a valid, writable integer, and `child` is the process ID of a child that was just forked.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    status == 0
}
