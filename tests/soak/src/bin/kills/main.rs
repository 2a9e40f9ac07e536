//! Starts processes that generate IDs, and kills them thousands of times at random moments. Restarts them with a clock that
//! has moved backwards or forwards in the meantime. Compares the IDs of all these processes. The IDs must contain no
//! duplicates.
//!
//! `cargo xtask kills` runs the full program, and a test runs it briefly. Kills do not simulate a power failure, in which
//! the disk must preserve synced data.

mod cells;
mod clock;
mod durable;
mod kinds;
mod life;
mod makers;

use std::{
    env,
    error::Error,
    io::{self, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use cells::Cells;
use clap::{Args, Parser};
use clock::FastClock;
use kinds::{FormatRun, KINDS};
use life::ChildRun;
use tempfile::TempDir;

#[derive(Parser)]
struct Options {
    /// The number of kills for each kind of generator.
    #[arg(long, default_value_t = 10_000)]
    kills: u64,
    /// Runs only the kinds whose name contains this string.
    #[arg(long, default_value = "")]
    kind: String,
    /// Skips the steps that keep consecutive processes from repeating IDs, and runs until an ID repeats. The harness must
    /// detect the duplicate.
    #[arg(long)]
    careless: bool,
    #[command(subcommand)]
    life: Option<ChildCommand>,
}

/// The subcommand for child processes, which run this program again.
#[derive(clap::Subcommand)]
enum ChildCommand {
    #[command(hide = true)]
    Live(ChildArguments),
}

/// The arguments of a child process.
#[derive(Args)]
struct ChildArguments {
    kind: String,
    state: PathBuf,
    now_ms: i64,
    #[arg(long)]
    careless: bool,
}

/// The start time of the first clock.
const START_MS: i64 = 1_763_650_000_000;

/// The maximum real time for which a process runs after its first ID.
const MAX_RUN_TIME: Duration = Duration::from_millis(10);

/// The maximum step of the clock between two processes, in real time.
const STEP: Duration = Duration::from_millis(50);

/// The maximum deviation, in real time, from the last process's start time when the clock steps back to that time.
const MAX_STEP_DEVIATION: Duration = Duration::from_millis(2);

/// The maximum time that a process may take to generate its first ID.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The combined results of all processes that use one kind of generator.
#[derive(Default)]
struct Outcome {
    kills: u64,
    /// The number of killed processes that had generated at least one ID.
    made_some: u64,
    ids: u64,
    twice: u64,
}

/// Runs and kills processes that use one kind of generator, one after another.
struct Killer<'k> {
    kind: &'k FormatRun,
    careless: bool,
    state: PathBuf,
    /// The clock, which keeps running while no process is alive. It may step between two processes.
    clock: FastClock,
    /// The time at which the last process started, according to this clock.
    began_ms: i64,
    cells: Cells,
    outcome: Outcome,
}

impl<'k> Killer<'k> {
    fn new(kind: &'k FormatRun, careless: bool, folder: &Path) -> Self {
        let (state, clock) = (folder.join("state"), FastClock::new(START_MS, kind.speed));
        let (cells, outcome) = (Cells::default(), Outcome::default());
        Self { kind, careless, state, clock, began_ms: START_MS, cells, outcome }
    }

    /// Starts a process, kills it, and compares its IDs with all earlier IDs.
    fn run_and_kill(&mut self) -> Result<(), Box<dyn Error>> {
        self.step_clock();
        let mut process = self.spawn_child()?;
        let mut output = process.stdout.take().ok_or("expected an output")?;
        let ((started, first), bytes) = (channel(), self.kind.bytes);
        let ids = thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let mut ids = vec![0; bytes];
                output.read_exact(&mut ids)?;
                let _ = started.send(());
                output.read_to_end(&mut ids).map(|_| ids)
            });
            end(&mut process, &first)?;
            Ok::<_, Box<dyn Error>>(reader.join().map_err(|_| "the reader panicked")?)
        })?;
        self.compare(ids)
    }

    fn spawn_child(&self) -> io::Result<Child> {
        let mut command = Command::new(env::current_exe()?);
        command.arg("live").arg(self.kind.name).arg(&self.state);
        command.arg(self.began_ms.to_string());
        if self.careless {
            command.arg("--careless");
        }
        command.stdout(Stdio::piped()).spawn()
    }

    /// In half of the cases, steps the clock before the next process starts, usually back to the start time of the last
    /// process.
    fn step_clock(&mut self) {
        let now_ms = self.clock.unix_ms();
        let (from, most) = match fastrand::u8(..6) {
            0 => (now_ms, STEP),
            1 | 2 => (self.began_ms, MAX_STEP_DEVIATION),
            _ => (now_ms, Duration::ZERO),
        };
        let most = self.clock.scaled_ms(most);
        self.began_ms = from + fastrand::i64(-most..=most);
        self.clock = FastClock::new(self.began_ms, self.kind.speed);
    }

    /// Compares a process's IDs with all earlier IDs.
    fn compare(&mut self, ids: io::Result<Vec<u8>>) -> Result<(), Box<dyn Error>> {
        self.outcome.kills += 1;
        let ids = match ids {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        };
        self.outcome.made_some += 1;
        for id in ids.chunks_exact(self.kind.bytes) {
            self.outcome.ids += 1;
            self.outcome.twice += u64::from(self.cells.insert((self.kind.cell)(id)));
        }
        Ok(())
    }
}

/// Kills a process at a random moment, either during startup or after its first ID. If the process has already exited,
/// returns an error.
fn end(process: &mut Child, first: &Receiver<()>) -> Result<(), Box<dyn Error>> {
    if fastrand::u8(..4) > 0 {
        // If the process has exited, the channel is disconnected.
        let _ = first.recv_timeout(TIMEOUT);
    }
    thread::sleep(MAX_RUN_TIME.mul_f64(fastrand::f64()));
    let ended = process.try_wait()?;
    process.kill()?;
    process.wait()?;
    ended.map_or(Ok(()), |status| Err(format!("a process ended by itself: {status}").into()))
}

fn run_kills(kind: &FormatRun, options: &Options) -> Result<Outcome, Box<dyn Error>> {
    let folder = folder()?;
    let mut killer = Killer::new(kind, options.careless, folder.path());
    while killer.outcome.kills < options.kills && !(options.careless && killer.outcome.twice > 0) {
        killer.run_and_kill()?;
    }
    Ok(killer.outcome)
}

/// Returns a folder in memory if possible, because processes that wait for a disk generate few IDs. Like a folder on disk,
/// it keeps the files of a killed process.
fn folder() -> io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
}

fn run_child(arguments: &ChildArguments) -> Result<ExitCode, Box<dyn Error>> {
    let kind = KINDS.iter().find(|kind| kind.name == arguments.kind).ok_or("expected a kind")?;
    let clock = FastClock::new(arguments.now_ms, kind.speed);
    let (state, careless, random) = (&arguments.state, arguments.careless, fastrand::Rng::new());
    match (kind.live)(ChildRun { clock, state, careless, random })? {}
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::parse();
    if let Some(ChildCommand::Live(arguments)) = &options.life {
        return run_child(arguments);
    }
    let mut well = true;
    for kind in KINDS.iter().filter(|kind| kind.name.contains(&options.kind)) {
        let start = Instant::now();
        let Outcome { kills, made_some, ids, twice } = run_kills(kind, &options)?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{}: {kills} kills, {made_some} of processes that had made IDs, {ids} IDs, {twice} there twice, {seconds:.0} s",
            kind.name
        );
        // A run that generated almost no IDs is not a valid test.
        well &= twice == 0 && made_some >= kills / 2;
    }
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
