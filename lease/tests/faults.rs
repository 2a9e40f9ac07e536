//! Processes that make IDs under leases of a second, of which there are fewer numbers than processes, while they are killed, stopped
//! for longer than a lease, and closed at random. No two of them make one (partition, tick). A control that trusts its own look at the
//! clock must repeat some.
//!
//! `POLYFLAKE_CYCLES=200 cargo test --release -p polyflake-lease --all-features --test faults` takes minutes.
#![cfg(all(feature = "sqlite", feature = "postgresql", unix))]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use std::{
    collections::HashMap,
    env, fs,
    io::Write,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, UNIX_EPOCH},
};

use polyflake::sno::Sno;
use polyflake_lease::{Grant, Lease, Leased, Options, Result, Shape, open, sno};
use rustix::process::{Pid, Signal, kill_process};
use server::{Server, programs};

const LEASE: Duration = Duration::from_secs(1);
const PROCESSES: usize = 3;

fn options() -> Options {
    let shape = Shape::sno(0..=1).unwrap();
    Options::new("faults", shape).and_then(|it| it.lease_ms(1000)).unwrap()
}

/// The life of a process: what the test starts itself again for. It ends when its input does.
#[test]
fn life() {
    let Ok(url) = env::var("POLYFLAKE_LIFE") else { return };
    let mut log = fs::File::create_new(env::var("POLYFLAKE_LOG").unwrap()).unwrap();
    let parent = Arc::new(Mutex::new(true));
    let watch = parent.clone();
    thread::spawn(move || {
        // Whatever is read: the end of the input is what counts.
        let _ = std::io::read_to_string(std::io::stdin());
        *watch.lock().unwrap() = false;
    });
    let goes_on = || *parent.lock().unwrap();
    let mut note = |id: Sno| log.write_all(id.as_bytes()).unwrap();
    if env::var_os("POLYFLAKE_CONTROL").is_some() {
        return careless(&url, goes_on, note);
    }
    while goes_on() {
        let Ok(ids) = sno::Generator::with(&url, options(), LEASE * 3) else { continue };
        while goes_on() {
            match ids.try_generate(0) {
                Ok(id) => note(id),
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The number and the end of a lease, for a generator that does not know them.
#[derive(Default)]
struct Look(Mutex<Option<(u64, u64)>>);

impl Leased for Look {
    fn begin(&self, grant: Grant) -> Result<()> {
        *self.0.lock().unwrap() = Some((*grant.numbers().start(), grant.end()));
        Ok(())
    }
    fn extend(&self, end: u64) {
        self.0.lock().unwrap().iter_mut().for_each(|it| it.1 = end);
    }
    fn seal(&self) -> Option<u64> {
        Some(u64::MAX)
    }
}

/// The control: looks whether the lease has ended, and makes an ID a while later.
fn careless(url: &str, goes_on: impl Fn() -> bool, mut note: impl FnMut(Sno)) {
    let (look, url) = (Arc::new(Look::default()), url.to_owned());
    let _lease = Lease::start(move || open(&url), options(), look.clone()).unwrap();
    let generators = [0_u16, 1].map(|partition| {
        polyflake::sno::Generator::builder().partition(partition).build().unwrap()
    });
    while goes_on() {
        let now = u64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
        let held = look.0.lock().unwrap().filter(|(_, end)| now < *end);
        thread::sleep(Duration::from_millis(5));
        if let Some((number, _)) = held {
            (0..20).for_each(|_| {
                note(generators[usize::try_from(number).unwrap()].generate(0).unwrap());
                thread::sleep(Duration::from_millis(1));
            });
        }
    }
}

/// A run of processes under faults, and their logs.
struct Faults<'f> {
    url: &'f str,
    folder: &'f Path,
    is_control: bool,
    lives: usize,
}

impl Faults<'_> {
    fn start(&mut self) -> Child {
        self.lives += 1;
        let mut life = Command::new(env::current_exe().unwrap());
        life.args(["--exact", "life", "--nocapture"])
            .env("POLYFLAKE_LIFE", self.url)
            .env("POLYFLAKE_LOG", self.folder.join(format!("{}.log", self.lives)))
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        if self.is_control {
            life.env("POLYFLAKE_CONTROL", "1");
        }
        life.spawn().unwrap()
    }

    /// Kills, stops and closes, then compares: how many (partition, tick) were made twice, and how many IDs there are.
    fn run(&mut self, cycles: usize) -> (usize, usize) {
        let mut processes: Vec<_> = (0..PROCESSES).map(|_| self.start()).collect();
        thread::sleep(LEASE);
        for _ in 0..cycles {
            let one = fastrand::usize(..PROCESSES);
            let pid = Pid::from_child(&processes[one]);
            match fastrand::u8(..4) {
                0 if !self.is_control => {
                    processes[one].kill().unwrap();
                    processes[one].wait().unwrap();
                    processes[one] = self.start();
                }
                1 if !self.is_control => {
                    drop(processes[one].stdin.take());
                    assert!(processes[one].wait().unwrap().success());
                    processes[one] = self.start();
                }
                _ => {
                    kill_process(pid, Signal::STOP).unwrap();
                    thread::sleep(LEASE * 3 / 2);
                    kill_process(pid, Signal::CONT).unwrap();
                }
            }
            thread::sleep(LEASE.mul_f32(fastrand::f32()));
        }
        for mut process in processes {
            drop(process.stdin.take());
            assert!(process.wait().unwrap().success());
        }
        self.compare()
    }

    fn compare(&self) -> (usize, usize) {
        let (mut makers, mut twice, mut all) = (HashMap::new(), 0, 0);
        for life in 1..=self.lives {
            let log = fs::read(self.folder.join(format!("{life}.log"))).unwrap_or_default();
            for bytes in log.chunks_exact(10) {
                let id = Sno::from_slice(bytes).unwrap();
                all += 1;
                let maker = *makers.entry((id.partition(), id.unix_ms())).or_insert(life);
                twice += usize::from(maker != life);
            }
        }
        (twice, all)
    }
}

fn cycles() -> usize {
    env::var("POLYFLAKE_CYCLES").ok().and_then(|value| value.parse().ok()).unwrap_or(12)
}

fn assert_none_twice(url: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut faults = Faults { url, folder: folder.path(), is_control: false, lives: 0 };
    let (twice, all) = faults.run(cycles());
    println!("{} cycles, {} lives, {all} IDs, {twice} twice", cycles(), faults.lives);
    assert_eq!(twice, 0);
    assert!(all > 50 * cycles(), "expected IDs, found {all}");
}

#[test]
fn nothing_is_made_twice_over_sqlite() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    assert_none_twice(&format!("sqlite:{}", folder.path().join("leases.db").display()));
}

#[test]
fn nothing_is_made_twice_over_postgresql() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    assert_none_twice(&server.url());
}

#[test]
fn one_who_trusts_a_look_at_the_clock_repeats_ids() {
    let store = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let url = format!("sqlite:{}", store.path().join("leases.db").display());
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let mut faults = Faults { url: &url, folder: folder.path(), is_control: true, lives: 0 };
        let (twice, all) = faults.run(4);
        println!("control: {all} IDs, {twice} twice");
        if twice > 0 {
            return;
        }
    }
    panic!("expected that the control makes some twice within 20 cycles");
}
