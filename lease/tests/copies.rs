//! Tests real copies of a process that holds a lease. A copy that calls `after_restore` must lease another worker ID and
//! must not repeat any ID. A task on the test's thread renews the lease, because a forked copy has no other threads.
//!
//! `cargo test -p polyflake-lease --all-features --test copies -- --ignored --nocapture restored` compares ten million IDs
//! of each format, or as many as `POLYFLAKE_IDS` specifies. With `window` instead of `restored`, the command prints how
//! long a lease takes to be renewed after the wall clock jumps. Like `tests/copies/window.py`, the `window` command needs
//! libfaketime.
#![cfg(all(feature = "sqlite", target_os = "linux", not(miri)))]

#[path = "../../core/tests/support/image.rs"]
mod image;
#[path = "../../core/tests/support/separate_process.rs"]
mod separate_process;

use std::{
    env, fs,
    future::{Future, poll_fn, ready},
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    thread,
    time::{Duration, Instant},
};

use image::run_in_both_copies;
use polyflake::{hotguid::HotGuid, layout::preset, randflake::Randflake, sno::Sno, uuid7::Uuid7};
use polyflake_lease::{
    Host, Options, Result, Shape, Task, hotguid, layout,
    protocol::{AsyncStore, Reply, Request, Store, open},
    randflake, sno, uuid7,
};
use separate_process::run_in_separate_process;
use tempfile::TempDir;

const TEST_TIMEOUT: Duration = Duration::from_secs(20);
const SECRET: [u8; 16] = [7; 16];

struct FileStore(Box<dyn Store>);

impl AsyncStore for FileStore {
    fn answer(&mut self, request: &Request) -> impl Future<Output = Result<Reply>> + Send {
        ready(self.0.answer(request))
    }
}

/// A keeper that renews a lease on the calling thread. It makes progress only when [`ManualKeeper::run_due_work`] is
/// called.
struct ManualKeeper {
    folder: TempDir,
    task: Arc<Mutex<Option<Task>>>,
}

impl ManualKeeper {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self { folder, task: Arc::default() }
    }

    fn host(&self) -> Host {
        let path = self.folder.path().join("leases.db");
        let url = format!("sqlite:{}?allow=overlayfs", path.display());
        let task = self.task.clone();
        let spawn = move |spawned| *task.lock().unwrap() = Some(spawned);
        Host::new(move || ready(open(&url).map(FileStore)), pause, spawn)
    }

    /// Polls the lease's task if its next poll is due.
    fn run_due_work(&self) {
        if let Some(task) = self.task.lock().unwrap().as_mut() {
            let _ = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
    }

    fn wait_for_generator<G>(&self, making: impl Future<Output = Result<G>>) -> G {
        let mut making = pin!(making);
        loop {
            self.run_due_work();
            if let Poll::Ready(made) = making.as_mut().poll(&mut Context::from_waker(Waker::noop()))
            {
                return made.unwrap();
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Returns a future that completes at the first poll after `duration` has passed.
fn pause(duration: Duration) -> impl Future<Output = ()> + Send {
    let end = Instant::now() + duration;
    poll_fn(move |_| if Instant::now() < end { Poll::Pending } else { Poll::Ready(()) })
}

/// A function that generates up to eight IDs without waiting.
type MakeIdsFn<'a> = &'a dyn Fn() -> polyflake::Result<Vec<[u8; 16]>>;

/// Generates IDs in this process and in a copy of it. If `reports` is true, the copy first calls `after_restore`. Returns
/// the number of duplicate IDs.
fn count_duplicates(
    keeper: &ManualKeeper,
    count: usize,
    reports: bool,
    make: MakeIdsFn<'_>,
) -> usize {
    let [mut ids, there] = run_in_both_copies(|is_copy| {
        if reports && is_copy {
            polyflake::after_restore().unwrap();
        }
        let mut made = Vec::with_capacity(count + 8);
        while made.len() < count {
            keeper.run_due_work();
            match make() {
                Ok(ids) => made.extend(ids),
                Err(error) if reports => assert_eq!(error.code(), "lease_unavailable"),
                Err(error) => panic!("{error}"),
            }
        }
        made.truncate(count);
        made
    });
    assert_eq!((ids.len(), there.len()), (count, count));
    ids.extend(there);
    ids.sort_unstable();
    ids.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

fn options(shape: Result<Shape>) -> Options {
    Options::new("orders", shape.unwrap()).unwrap()
}

/// Calls [`count_duplicates`] with a leased generator of one format. The lease's task keeps running in the original process
/// and in its copy.
macro_rules! count_duplicates_of_format {
    ($count:expr, $reports:expr, $family:ident($($argument:expr),*), $shape:expr, $empty:expr, $bytes:expr $(, $type:expr)?) => {{
        let keeper = ManualKeeper::new();
        let making = $family::Generator::with_async(
            keeper.host(), options($shape), $($argument,)* TEST_TIMEOUT, pause,
        );
        let ids = keeper.wait_for_generator(making);
        let make = || {
            let mut made = [$empty; 8];
            let count = ids.try_fill($($type,)? &mut made[..])?;
            Ok(made[..count].iter().map($bytes).collect())
        };
        count_duplicates(&keeper, $count, $reports, &make)
    }};
}

/// Returns the number of duplicate IDs for each format.
fn duplicates_by_format(count: usize, reports: bool) -> [usize; 5] {
    let wide = |id: &Sno| {
        let mut bytes = [0; 16];
        bytes[..10].copy_from_slice(&id.to_bytes());
        bytes
    };
    let (discord, fields) = (preset("discord", []).unwrap(), ["worker", "process"]);
    let of_layout = layout::shape(&discord, &fields, 0..=99);
    [
        count_duplicates_of_format!(count, reports, sno(), Shape::sno(0..=99), Sno::MIN, wide, 7),
        count_duplicates_of_format!(
            count,
            reports,
            hotguid(false),
            Shape::hotguid(0..=99),
            HotGuid::default(),
            |id: &HotGuid| id.to_bytes(),
            7
        ),
        count_duplicates_of_format!(
            count,
            reports,
            uuid7(),
            Shape::uuid7(0..=99),
            Uuid7::MIN,
            |id: &Uuid7| id.to_bytes()
        ),
        count_duplicates_of_format!(
            count,
            reports,
            randflake(SECRET),
            Shape::randflake(0..=99, &SECRET),
            Randflake::default(),
            |id: &Randflake| i128::from(id.to_i64()).to_be_bytes()
        ),
        count_duplicates_of_format!(
            count,
            reports,
            layout(&discord, &fields),
            of_layout,
            0_i64,
            |id: &i64| { i128::from(*id).to_be_bytes() }
        ),
    ]
}

#[test]
fn a_reported_copy_switches_worker_ids_and_repeats_no_id() {
    run_in_separate_process(&[], || {
        let [_, _, _, randflakes, _] = duplicates_by_format(3000, false);
        assert!(randflakes > 1000, "{randflakes} equal: not a copy");
        assert_eq!(duplicates_by_format(20_000, true), [0; 5]);
    });
}

#[test]
#[ignore = "takes minutes"]
fn restored_copies_repeat_no_id() {
    let count = env::var("POLYFLAKE_IDS").map_or(10_000_000, |count| count.parse().unwrap());
    let repeated = duplicates_by_format(count, true);
    std::eprintln!(
        "sno, Hot Guid, UUID v7, Randflake, Discord's layout: {repeated:?} of {count} equal"
    );
    assert_eq!(repeated, [0; 5]);
}

/// Measures the time between a jump in the wall clock and the next renewal. Until that renewal, copies of a process share a
/// worker ID.
#[test]
#[ignore = "needs libfaketime, and takes a minute"]
fn measure_the_shared_window_after_a_clock_jump() {
    let file = env::var("FAKETIME_TIMESTAMP_FILE").unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let url = format!("sqlite:{}?allow=overlayfs", folder.path().join("leases.db").display());
    let ids = sno::Generator::new(&url, "windows").unwrap();
    let mut seconds: Vec<_> = (1..=20)
        .map(|round| {
            thread::sleep(Duration::from_millis(500 + 37 * round));
            fs::write(&file, format!("+{}\n", 5 * round)).unwrap();
            let moved = Instant::now();
            while ids.lease().metrics().renewals < round {
                thread::sleep(Duration::from_millis(1));
            }
            moved.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_unstable_by(f64::total_cmp);
    std::eprintln!("{:.1} to {:.1} s, median {:.1} s", seconds[0], seconds[19], seconds[9]);
}
