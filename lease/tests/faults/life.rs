//! The main loop of a child process. The test runs its own executable again as the child, which logs each ID that it
//! generates and exits when its input ends.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant, UNIX_EPOCH},
};

use crate::{rival, trace};
use polyflake::sno::{Generator, Leased as Core, Sno};
use polyflake_lease::{
    Event, Lease, Options, Result, Shape,
    protocol::{Grant, Grantee, open},
    sno,
};
use tokio::signal::unix::{SignalKind, signal};

pub const LEASE: Duration = Duration::from_secs(1);
pub const URL: &str = "POLYFLAKE_LIFE";
pub const LOG: &str = "POLYFLAKE_LOG";
pub const NAMESPACE: &str = "POLYFLAKE_NAMESPACE";
/// The environment variable for the highest worker ID. The lowest worker ID is 0.
pub const LAST_WORKER_ID_VARIABLE: &str = "POLYFLAKE_LAST";
/// The environment variable for the lease duration in milliseconds.
pub const LEASE_MS_VARIABLE: &str = "POLYFLAKE_LEASE_MS";
pub const RULE_VARIABLE: &str = "POLYFLAKE_RULE";
/// The environment variable for the worker ID of a process without a lease.
pub const EXPLICIT_WORKER_ID_VARIABLE: &str = "POLYFLAKE_EXPLICIT";

/// The rule that a process breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeakenedRule {
    Nowhere,
    /// The process checks that its lease has not expired, and generates IDs some time later.
    TtlAsProof,
    /// The process releases its worker ID while its generator still generates IDs.
    NoSeal,
    /// The process claims a worker ID if its holder has shown no sign of life for a while, as measured by the claiming
    /// process's own clock.
    OwnClock,
}

fn last_worker_id() -> u16 {
    env::var(LAST_WORKER_ID_VARIABLE).unwrap().parse().unwrap()
}

/// Returns the path of the file that contains a process's grants. It is next to the file with the process's IDs.
pub fn grants_path(log: &Path) -> PathBuf {
    log.with_extension("grants")
}

/// Returns the process's options. Each lease event is written to the log before the lease continues.
fn options() -> Options {
    let shape = Shape::sno(0..=last_worker_id().into()).unwrap();
    let name = env::var(NAMESPACE).unwrap();
    let lease_ms = env::var(LEASE_MS_VARIABLE).unwrap().parse().unwrap();
    let options = Options::new(&name, shape).and_then(|it| it.lease_ms(lease_ms)).unwrap();
    let path = grants_path(Path::new(&env::var(LOG).unwrap()));
    let grants = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    options.watch(move |event| {
        let line = match event {
            Event::Acquired { worker_id, start, end }
            | Event::Switched { worker_id, start, end, .. } => {
                format!("begin {worker_id} {start} {end}\n")
            }
            Event::Renewed { worker_id, end } => format!("extend {worker_id} {end}\n"),
            Event::Sealed { worker_id, used_until } => {
                format!("end {worker_id} {}\n", used_until.unwrap_or(0))
            }
            _ => return,
        };
        (&grants).write_all(line.as_bytes()).unwrap();
    })
}

/// Runs the child process's main loop, if the test started this process as a child.
pub fn run_child() {
    let Ok(url) = env::var(URL) else { return };
    let should_continue = Arc::new(AtomicBool::new(true));
    let watch = should_continue.clone();
    thread::spawn(move || {
        // The input's content is irrelevant. Only its end matters.
        let _ = std::io::read_to_string(std::io::stdin());
        watch.store(false, Ordering::Relaxed);
    });
    let watch = should_continue.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut asked = runtime.block_on(async { signal(SignalKind::terminate()).unwrap() });
    thread::spawn(move || {
        runtime.block_on(asked.recv());
        watch.store(false, Ordering::Relaxed);
    });
    // The test may send signals to this process as soon as the file exists.
    let mut log = fs::File::create_new(env::var(LOG).unwrap()).unwrap();
    let should_continue = || should_continue.load(Ordering::Relaxed);
    let note = |id: Sno| log.write_all(id.as_bytes()).unwrap();
    if let Ok(partition) = env::var(EXPLICIT_WORKER_ID_VARIABLE) {
        return generate_with_restarts(partition.parse().unwrap(), should_continue, note);
    }
    match env::var(RULE_VARIABLE).as_deref() {
        Ok("TtlAsProof") => generate_after_check(&url, should_continue, note),
        Ok("NoSeal") => generate_after_release(&url, should_continue, note),
        Ok("OwnClock") => {
            rival::run_rival(&url, env::var(NAMESPACE).unwrap(), should_continue, note);
        }
        _ if trace::is_requested() => trace::generate(&url, options(), should_continue, note),
        _ => generate_until_stopped(&url, should_continue, note),
    }
}

/// Repeatedly creates a generator with the same worker ID, and generates a few IDs with each generator.
fn generate_with_restarts(
    partition: u16,
    should_continue: impl Fn() -> bool,
    mut note: impl FnMut(Sno),
) {
    while should_continue() {
        let ids = Generator::builder().partition(partition).build().unwrap();
        (0..fastrand::u8(1..8)).for_each(|_| note(ids.generate(0).unwrap()));
    }
}

/// Generates IDs in the same way as a user's program would.
fn generate_until_stopped(
    url: &str,
    should_continue: impl Fn() -> bool,
    mut note: impl FnMut(Sno),
) {
    while should_continue() {
        let Ok(ids) = sno::Generator::with(url, options(), LEASE) else { continue };
        while should_continue() {
            match ids.try_generate(0) {
                Ok(id) => note(id),
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The worker ID and the end of a lease, as seen by generators that do not enforce the lease.
#[derive(Default)]
struct GrantView(Mutex<Option<(u64, u64)>>);

impl Grantee for GrantView {
    fn begin(&self, grant: Grant) -> Result<()> {
        *self.0.lock().unwrap() = Some((*grant.worker_ids().start(), grant.end()));
        Ok(())
    }
    fn extend(&self, end: u64) {
        self.0.lock().unwrap().iter_mut().for_each(|it| it.1 = end);
    }
    fn seal(&self) -> Option<u64> {
        Some(u64::MAX)
    }
}

/// Repeatedly checks that the lease has not ended, and then generates IDs after a delay.
fn generate_after_check(url: &str, should_continue: impl Fn() -> bool, mut note: impl FnMut(Sno)) {
    let (look, url) = (Arc::new(GrantView::default()), url.to_owned());
    let _lease = Lease::start(move || open(&url), options(), look.clone()).unwrap();
    let generator = |it| Generator::builder().partition(it).build().unwrap();
    let generators: Vec<_> = (0..=last_worker_id()).map(generator).collect();
    while should_continue() {
        let now = u64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
        let held = look.0.lock().unwrap().filter(|(_, end)| now < *end);
        thread::sleep(Duration::from_millis(5));
        if let Some((worker_id, _)) = held {
            (0..20).for_each(|_| {
                note(generators[usize::try_from(worker_id).unwrap()].generate(0).unwrap());
                thread::sleep(Duration::from_millis(1));
            });
        }
    }
}

/// A generator that stays within its grant, but is not sealed when the worker ID is released.
#[derive(Default)]
struct UnsealedGenerator(Mutex<Option<Core>>);

impl Grantee for UnsealedGenerator {
    fn begin(&self, grant: Grant) -> Result<()> {
        let worker_id = u16::try_from(*grant.worker_ids().start()).unwrap();
        let (start, end) = (grant.start().cast_signed(), grant.end().cast_signed());
        let generator = Generator::builder().partition(worker_id).window(start, end).build();
        *self.0.lock().unwrap() = Some(Core::new(generator.unwrap()).unwrap());
        Ok(())
    }
    fn extend(&self, end: u64) {
        if let Some(ids) = &*self.0.lock().unwrap() {
            // This generator never has more than one grant.
            ids.extend(0, end.cast_signed()).unwrap();
        }
    }
    fn seal(&self) -> Option<u64> {
        None
    }
}

/// Releases the worker ID, but generates IDs until the window ends.
fn generate_after_release(
    url: &str,
    should_continue: impl Fn() -> bool,
    mut note: impl FnMut(Sno),
) {
    let (place, url) = (Arc::new(UnsealedGenerator::default()), url.to_owned());
    let lease = Lease::start(move || open(&url), options(), place.clone()).unwrap();
    let mut make = || {
        if let Some(Ok(id)) = place.0.lock().unwrap().as_ref().map(|ids| ids.try_generate(0)) {
            note(id);
        }
        thread::sleep(Duration::from_millis(1));
    };
    while should_continue() {
        make();
    }
    lease.close();
    let since = Instant::now();
    while since.elapsed() < LEASE {
        make();
    }
}
