//! Runs processes, injects faults, and checks all IDs that the processes generate.

use std::{
    collections::HashMap,
    env, fmt, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use polyflake::sno::Sno;
use polyflake_lease::Operator;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{
    clock::Clock,
    gaps::Gaps,
    life::{
        EXPLICIT_WORKER_ID_VARIABLE, LAST_WORKER_ID_VARIABLE, LEASE, LEASE_MS_VARIABLE, LOG,
        NAMESPACE, RULE_VARIABLE, URL, WeakenedRule, grants_path,
    },
    losses::DataLoss,
    proxy::NetworkState,
    store::{FaultyStore, Rejection},
    trace,
};

pub const PROCESSES: usize = 3;

/// The roles that processes use to connect to a database: the database's owner and two services.
pub const ROLES: [&str; PROCESSES] = ["lease", "svc_a", "svc_b"];

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// The amounts by which clocks jump, in both directions: 1.5 seconds, a minute, a day and ten years.
const CLOCK_STEPS: [i64; 4] = [1500, MINUTE_MS, DAY_MS, 3653 * DAY_MS];

/// A fault that one cycle injects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Kill,
    Close,
    Terminate,
    Pause,
    Step(i64),
    /// The store is unavailable for longer than a lease.
    Outage,
    Refuse(Rejection),
    KillServer,
    /// A volatile store loses data.
    DataLoss(DataLoss),
    /// The replica is promoted. Either the operator reports the promotion, or the replica looks like a restored backup.
    Promotion {
        is_told: bool,
    },
    /// A server with a synchronous replica is permanently lost, and the operator reports the promotion. Before the loss,
    /// the replica may be unavailable while the server restarts. Clients that read from the server can then see commits
    /// that the replica lacks.
    Replica {
        is_away: bool,
    },
    NetworkState(NetworkState),
    KillServices,
}

/// The number of IDs that the processes generated, the number of grants that they received, and the number of duplicates of
/// each.
#[derive(Clone, Copy, Default, Debug)]
pub struct Totals {
    /// The number of IDs generated under leases, and the number generated with explicit worker IDs.
    pub ids: usize,
    pub explicit_ids: usize,
    /// The number of (partition, tick) pairs that two processes used, and the number of IDs that were generated more than
    /// once.
    pub ticks_twice: usize,
    pub ids_twice: usize,
    /// The number of grants, and the number of grants that overlap the previous grant of the same worker ID.
    pub grants: usize,
    pub grants_twice: usize,
}

pub struct Faults<'f> {
    stage: &'f FaultyStore,
    weak: WeakenedRule,
    /// The program for each slot: a command in another language, or `None` for this test's own executable. The slots with
    /// leases come first. After them, each language has one slot with an explicit worker ID.
    programs: Vec<Option<String>>,
    /// The number of slots whose processes hold leases.
    leased: usize,
    folder: TempDir,
    clocks: Vec<Clock>,
    processes: Vec<Child>,
    /// The number of namespaces used so far, and the number of processes started in the current namespace.
    namespaces: usize,
    lives: usize,
    pub all_lives: usize,
    pub found: Totals,
    pub cycles: usize,
    pub counts: HashMap<String, usize>,
    pub gaps: Gaps,
}

impl<'f> Faults<'f> {
    pub fn new(stage: &'f FaultyStore, weak: WeakenedRule) -> Self {
        Self::start_all(stage, weak, &[])
    }

    /// Prepares the same number of leased processes for Rust and for each program in `others`. In addition, each language
    /// gets one process with an explicit worker ID.
    pub fn start_all(stage: &'f FaultyStore, weak: WeakenedRule, others: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let languages = [None].into_iter().chain(others.iter().cloned().map(Some));
        let languages: Vec<_> = languages.collect();
        let mut programs: Vec<_> =
            languages.iter().flat_map(|program| vec![program.clone(); PROCESSES]).collect();
        let leased = programs.len();
        programs.extend(languages);
        let clocks = (0..programs.len()).map(|place| Clock::new(folder.path(), place)).collect();
        Self {
            stage,
            weak,
            programs,
            leased,
            folder,
            clocks,
            processes: Vec::new(),
            namespaces: 0,
            lives: 0,
            all_lives: 0,
            found: Totals::default(),
            cycles: 0,
            counts: HashMap::new(),
            gaps: Gaps::default(),
        }
    }

    fn start(&mut self, place: usize) -> Child {
        self.lives += 1;
        self.all_lives += 1;
        let mut life = match &self.programs[place] {
            None => {
                let mut life = Command::new(env::current_exe().unwrap());
                life.args(["--exact", "life", "--nocapture"]);
                life
            }
            Some(program) => {
                let mut words = program.split(' ');
                let mut life = Command::new(words.next().unwrap());
                life.args(words);
                life
            }
        };
        if let Some(index) = place.checked_sub(self.leased) {
            life.env(EXPLICIT_WORKER_ID_VARIABLE, (self.last_worker_id() + 1 + index).to_string());
        }
        life.env(LAST_WORKER_ID_VARIABLE, self.last_worker_id().to_string())
            .env(URL, self.stage.url(place, &self.namespace()))
            .env(LOG, log_path(self.folder.path(), self.lives))
            .env(NAMESPACE, self.namespace())
            .env(LEASE_MS_VARIABLE, self.stage.lease.as_millis().to_string())
            .env(RULE_VARIABLE, format!("{:?}", self.weak))
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        self.clocks[place].apply_to(&mut life);
        let life = life.spawn().unwrap();
        let (since, log) = (Instant::now(), log_path(self.folder.path(), self.lives));
        while !log.exists() {
            assert!(since.elapsed() < Duration::from_secs(60), "expected a process that begins");
            thread::sleep(Duration::from_millis(5));
        }
        life
    }

    /// Returns the last worker ID that can be leased. There are fewer worker IDs than processes.
    fn last_worker_id(&self) -> usize {
        self.leased * 2 / 3 - 1
    }

    /// Switches to a new namespace and starts new processes.
    pub fn begin_namespace(&mut self) {
        self.namespaces += 1;
        self.lives = 0;
        self.clocks.iter().for_each(|clock| clock.set(0));
        trace::log_namespace_begin(self.last_worker_id() + 1);
        for place in 0..self.programs.len() {
            let process = self.start(place);
            self.processes.push(process);
        }
        thread::sleep(self.stage.wait() + LEASE);
    }

    /// Shuts the processes down, and checks all IDs generated in this namespace for duplicates.
    pub fn end(&mut self) {
        for mut process in std::mem::take(&mut self.processes) {
            close_process(&mut process);
        }
        let (found, times) = compare_logs(self.folder.path(), self.lives, self.last_worker_id());
        self.gaps.end(times);
        self.found.ids += found.ids;
        self.found.explicit_ids += found.explicit_ids;
        self.found.ticks_twice += found.ticks_twice;
        self.found.ids_twice += found.ids_twice;
        self.found.grants += found.grants;
        self.found.grants_twice += found.grants_twice;
        (1..=self.lives).for_each(|life| {
            // A process that was killed right after its start has no log.
            let log = log_path(self.folder.path(), life);
            let _ = (fs::remove_file(grants_path(&log)), fs::remove_file(log));
        });
    }

    /// Injects a random fault, and then restores the process or service that the fault affected.
    pub fn cycle(&mut self) {
        self.cycles += 1;
        let fault = self.choose_fault();
        // Without a lease, a clock rollback can cause duplicate IDs, as documented. Clocks therefore jump only for
        // processes with leases.
        let steps = matches!(fault, Fault::Step(_));
        let places = if steps { self.leased } else { self.programs.len() };
        let place = fastrand::usize(..places);
        *self.counts.entry(fault_name(fault)).or_default() += 1;
        self.gaps.begin(fault_name(fault));
        match fault {
            Fault::Kill => {
                self.processes[place].kill().unwrap();
                self.processes[place].wait().unwrap();
                self.processes[place] = self.start(place);
            }
            Fault::Close => self.restart(place),
            Fault::Terminate => {
                kill_process(Pid::from_child(&self.processes[place]), Signal::TERM).unwrap();
                wait_for_exit(&mut self.processes[place]);
                self.processes[place] = self.start(place);
            }
            Fault::Pause => self.pause(place),
            Fault::Step(ms) => {
                self.clocks[place].set(ms);
                thread::sleep(LEASE.mul_f32(0.5 + fastrand::f32()));
                self.clocks[place].set(0);
                if self.stage.uses_holder_clocks() && ms >= MINUTE_MS {
                    thread::sleep(LEASE);
                    self.renew();
                }
            }
            Fault::Outage => self.stop_store(LEASE * 3 / 2),
            Fault::Refuse(refused) => {
                self.stage.reject_changes(refused);
                kill_process(Pid::from_child(&self.processes[place]), Signal::TERM).unwrap();
                thread::sleep(LEASE * 3 / 2);
                self.stage.accept_changes();
                wait_for_exit(&mut self.processes[place]);
                self.processes[place] = self.start(place);
            }
            Fault::KillServer => self.stop_store(LEASE.mul_f32(fastrand::f32())),
            Fault::DataLoss(loss) => {
                self.stage.lose_data(loss);
                thread::sleep(self.stage.wait() + LEASE);
            }
            Fault::Replica { is_away } => {
                let namespace = format!("{}/sno", self.namespace());
                let operator = || Operator::open(&self.stage.url, &namespace).unwrap();
                let from = operator().status().unwrap().store;
                self.stage.fail_over_to_synchronous_replica(is_away);
                let to = operator().status().unwrap().store;
                check_promotion_report(operator().promoted(&from, &to));
                self.processes[place].kill().unwrap();
                self.processes[place].wait().unwrap();
                self.processes[place] = self.start(place);
                thread::sleep(LEASE * 2);
            }
            Fault::Promotion { is_told } => {
                let namespace = format!("{}/sno", self.namespace());
                let operator = || Operator::open(&self.stage.url, &namespace).unwrap();
                let from = operator().status().unwrap().store;
                self.stage.promote(is_told);
                if is_told {
                    let to = operator().status().unwrap().store;
                    check_promotion_report(operator().promoted(&from, &to));
                }
                thread::sleep(LEASE * 2);
                if !is_told {
                    // After an unreported promotion, no grant starts for two lease durations plus the clock error, so the
                    // test continues in a new namespace.
                    self.renew();
                }
            }
            Fault::KillServices => self.stage.kill_services(LEASE.mul_f32(1.5 * fastrand::f32())),
            Fault::NetworkState(weather) => {
                let proxies = self.stage.proxies();
                let proxy = proxies[fastrand::usize(..proxies.len())];
                proxy.set(weather);
                thread::sleep(LEASE);
                self.restart(place);
                thread::sleep(LEASE);
                proxy.set(NetworkState::Fair);
            }
        }
        if let Some(services) = &self.stage.services {
            services.relaunch();
        }
        thread::sleep(LEASE.mul_f32(fastrand::f32()));
    }

    fn choose_fault(&self) -> Fault {
        let steps = self.clocks[0].steps();
        loop {
            let has_networks = !self.stage.proxies().is_empty();
            let fault = match fastrand::u8(..21) {
                0 | 1 => Fault::Kill,
                2 => Fault::Close,
                3 => Fault::Terminate,
                4 | 5 => Fault::Pause,
                12 => Fault::Outage,
                13 => Fault::Refuse(Rejection::Changes),
                14 if !self.stage.is_volatile() => Fault::Refuse(Rejection::Releases),
                15..=18 if self.stage.is_volatile() => Fault::DataLoss(
                    [
                        DataLoss::Emptied,
                        DataLoss::Restarted,
                        DataLoss::Reverted,
                        DataLoss::Promoted,
                    ][fastrand::usize(..4)],
                ),
                15 if self.stage.has_replicas() => Fault::Promotion { is_told: true },
                16 if self.stage.has_replicas() => Fault::Promotion { is_told: false },
                17 if self.stage.has_replicas() => Fault::Replica { is_away: false },
                18 if self.stage.has_replicas() => Fault::Replica { is_away: true },
                6 | 7 if steps => Fault::Step(-CLOCK_STEPS[fastrand::usize(..CLOCK_STEPS.len())]),
                8 if steps => Fault::Step(CLOCK_STEPS[fastrand::usize(..CLOCK_STEPS.len())]),
                9 if self.stage.proxy.is_some() => Fault::KillServer,
                19 | 20 if self.stage.services.is_some() => Fault::KillServices,
                10 | 11 if has_networks => Fault::NetworkState(
                    [NetworkState::Slow, NetworkState::Cutting, NetworkState::Doubling]
                        [fastrand::usize(..3)],
                ),
                _ => continue,
            };
            return fault;
        }
    }

    /// Returns the number of distinct faults that can occur. Clock jumps of different sizes count as one fault.
    pub fn fault_kinds(&self) -> usize {
        let of_servers = usize::from(self.stage.proxy.is_some());
        let of_networks = if self.stage.proxies().is_empty() { 0 } else { 3 };
        let of_services = usize::from(self.stage.services.is_some());
        let of_store = match (self.stage.has_replicas(), self.stage.is_volatile()) {
            (true, _) => 4,
            (_, true) => 3,
            _ => 0,
        };
        7 + of_servers + of_networks + of_services + of_store
    }

    fn namespace(&self) -> String {
        format!("faults-{:?}-{}", self.weak, self.namespaces)
    }

    /// Makes the store unavailable for a while. If the store is volatile, also waits until it grants worker IDs again.
    fn stop_store(&self, time: Duration) {
        self.stage.make_unavailable(time);
        thread::sleep(self.stage.wait());
    }

    /// Checks all IDs generated in this namespace for duplicates, and switches to a new namespace.
    fn renew(&mut self) {
        self.end();
        self.begin_namespace();
    }

    /// Shuts a process down cleanly without replacing it.
    pub fn end_process(&mut self, place: usize) {
        close_process(&mut self.processes.remove(place));
    }

    /// Shuts a process down cleanly, and starts a new process in its slot.
    pub fn restart(&mut self, place: usize) {
        close_process(&mut self.processes[place]);
        self.processes[place] = self.start(place);
    }

    /// Shuts a process down cleanly, and starts a new process whose clock is initially ahead and is corrected later.
    pub fn restart_with_clock_ahead(&mut self, place: usize, by: Duration) {
        close_process(&mut self.processes[place]);
        self.clocks[place].set(i64::try_from(by.as_millis()).unwrap());
        self.processes[place] = self.start(place);
        thread::sleep(LEASE / 2);
        self.clocks[place].set(0);
    }

    /// Pauses one of the Rust processes while the other processes continue.
    pub fn pause_rust_process(&mut self) {
        self.pause(fastrand::usize(..PROCESSES));
        thread::sleep(LEASE.mul_f32(fastrand::f32()));
    }

    /// Pauses a process for longer than its lease.
    fn pause(&self, place: usize) {
        let pid = Pid::from_child(&self.processes[place]);
        kill_process(pid, Signal::STOP).unwrap();
        thread::sleep(LEASE * 3 / 2);
        kill_process(pid, Signal::CONT).unwrap();
    }
}

impl fmt::Display for Faults<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "control {:?}: {:?}", self.weak, self.found)
    }
}

impl Drop for Faults<'_> {
    fn drop(&mut self) {
        for process in &mut self.processes {
            // Killing the processes matters only after a failed test, which would otherwise leave a paused process behind.
            let _ = (process.kill(), process.wait());
        }
    }
}

#[track_caller]
fn close_process(process: &mut Child) {
    drop(process.stdin.take());
    wait_for_exit(process);
}

#[track_caller]
fn wait_for_exit(process: &mut Child) {
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(60) {
        if let Some(status) = process.try_wait().unwrap() {
            assert!(status.success(), "expected that a process ends well, found {status}");
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("expected that a process ends within a minute");
}

fn fault_name(fault: Fault) -> String {
    match fault {
        Fault::Step(ms) => format!("Step({} s)", ms / 1000),
        fault => format!("{fault:?}"),
    }
}

/// Checks all IDs for duplicates, and returns the times of the leased IDs.
fn compare_logs(folder: &Path, lives: usize, last: usize) -> (Totals, Vec<u64>) {
    let (mut makers, mut seen, mut found) = (HashMap::new(), HashMap::new(), Totals::default());
    let mut times = Vec::new();
    for life in 1..=lives {
        let log = fs::read(log_path(folder, life)).unwrap_or_default();
        for bytes in log.chunks_exact(10) {
            let id = Sno::from_slice(bytes).unwrap();
            let is_leased = usize::from(id.partition()) <= last;
            *(if is_leased { &mut found.ids } else { &mut found.explicit_ids }) += 1;
            times.extend(is_leased.then(|| u64::try_from(id.unix_ms()).unwrap_or(0)));
            let maker = *makers.entry((id.partition(), id.unix_ms())).or_insert(life);
            found.ticks_twice += usize::from(maker != life);
            found.ids_twice += usize::from(seen.insert(id, life).is_some());
        }
    }
    let mut grants: Vec<_> =
        (1..=lives).flat_map(|life| read_grants(&log_path(folder, life))).collect();
    grants.sort_unstable();
    found.grants = grants.len();
    found.grants_twice = grants.windows(2).filter(|pair| has_overlap(pair[0], pair[1])).count();
    (found, times)
}

fn log_path(folder: &Path, life: usize) -> PathBuf {
    folder.join(format!("{life}.log"))
}

/// The worker ID, start and end of a grant. If the generator was sealed, the end is that of the generator's highest tick.
/// Otherwise, the end is the last one that the store acknowledged.
type GrantSpan = (u64, u64, u64);

fn has_overlap((number, _, end): GrantSpan, (next, start, _): GrantSpan) -> bool {
    number == next && start < end
}

/// Reads the grants that a process logged, skipping empty ones.
fn read_grants(log: &Path) -> Vec<GrantSpan> {
    let text = fs::read_to_string(grants_path(log)).unwrap_or_default();
    let mut grants: Vec<GrantSpan> = Vec::new();
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        match words[0] {
            "begin" => grants.push((number(1), number(2), number(3))),
            kind => {
                let newest = grants.iter_mut().rev().find(|grant| grant.0 == number(1)).unwrap();
                newest.2 = if kind == "end" { number(2).max(newest.1) } else { number(2) };
            }
        }
    }
    grants.retain(|(_, start, end)| start < end);
    grants
}

/// Checks the result of an operator's promotion report. The store may reject the report if no holder has noticed the
/// promotion. In that case, the only consequence is that the quiet time continues.
fn check_promotion_report(
    stated: polyflake_lease::Result<Vec<polyflake_lease::protocol::Namespace>>,
) {
    if let Err(error) = stated {
        assert_eq!(error.kind(), polyflake_lease::ErrorKind::StoreChanged, "{error}");
    }
}
