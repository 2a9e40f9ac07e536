//! The storms: events to which processes are exposed while they generate IDs.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::{
    clock::Clock,
    judge::{Format, Judge},
    process::{Process, Program, StartOptions, can_use_namespaces},
    verdict::Verdict,
};

/// A storm, which disturbs processes while they generate IDs.
pub struct Storm {
    /// The storm's name on the command line.
    pub name: &'static str,
    /// A description of the storm's events.
    pub what: &'static str,
    /// The shape that a host must support for this storm, or `None` if the storm can run any command.
    pub shape: Option<&'static str>,
    run: fn(&mut StormContext<'_>) -> Result<()>,
}

/// All storms.
pub const STORMS: [Storm; 12] = [
    Storm {
        name: "threads",
        what: "threads share a generator",
        shape: Some("threads"),
        run: run_threads_storm,
    },
    Storm {
        name: "processes",
        what: "processes are started together",
        shape: None,
        run: run_processes_storm,
    },
    Storm {
        name: "hosts",
        what: "two hosts have different names and an identical configuration",
        shape: None,
        run: run_hosts_storm,
    },
    Storm {
        name: "fork",
        what: "a process that has generated IDs forks, and all generate more",
        shape: Some("fork"),
        run: |context| context.run_one_process("fork"),
    },
    Storm {
        name: "raw-fork",
        what: "the same by `_Fork()`, which skips the C library's fork hooks",
        shape: Some("raw-fork"),
        run: |context| context.run_one_process("raw-fork"),
    },
    Storm {
        name: "prefork",
        what: "a server creates its generator, then forks, and only the children generate IDs",
        shape: Some("prefork"),
        run: |context| context.run_one_process("prefork"),
    },
    Storm {
        name: "image",
        what: "a running process is copied with its memory and process ID, and both continue",
        shape: Some("image"),
        run: run_image_storm,
    },
    Storm {
        name: "rollback",
        what: "the wall clock is set back once, by 0.4 seconds",
        shape: None,
        run: run_rollback_storm,
    },
    Storm {
        name: "steps",
        what: "the wall clock is set 20 times per second, to at most 0.2 seconds off",
        shape: None,
        run: run_steps_storm,
    },
    Storm {
        name: "kill",
        what: "a process is killed with SIGKILL and restarted at once, in a loop",
        shape: None,
        run: run_kill_storm,
    },
    Storm {
        name: "restart",
        what: "each process starts once the one before it has generated its last ID",
        shape: None,
        run: run_restart_storm,
    },
    Storm {
        name: "pause",
        what: "processes are stopped for 300 ms, one at a time, and continued",
        shape: None,
        run: run_pause_storm,
    },
];

/// The size of the storms, and the folder for their files.
pub struct Size {
    /// The approximate number of IDs in each storm.
    pub ids: u64,
    /// The number of threads, processes or children.
    pub width: u64,
    /// The memory for sorting IDs, in bytes.
    pub memory: usize,
    /// The folder in which the storms create their files.
    pub folder: PathBuf,
    /// The time limit for a process.
    pub longest: Duration,
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The smallest number of IDs in a chunk.
const CHUNK_SIZE: u64 = 50;

/// The state of a running storm. The storm starts processes and passes their IDs to a judge.
struct StormContext<'s> {
    program: &'s Program,
    size: &'s Size,
    judge: Arc<Mutex<Judge>>,
    /// A folder that the processes share.
    folder: TempDir,
    processes: u32,
}

impl Storm {
    /// Runs the storm and returns the verdict on all of its IDs.
    pub fn run(&self, program: &Program, format: &Format, size: &Size) -> Result<Verdict> {
        let is_able = self.shape.is_none() || !program.is_lines;
        ensure!(is_able, "a command that prints one ID per line cannot be in this storm");
        let judge = Judge::new(format.clone(), size.folder.clone(), size.memory);
        let judge = Arc::new(Mutex::new(judge));
        let folder = tempfile::tempdir_in(&size.folder)?;
        let mut context =
            StormContext { program, size, judge: judge.clone(), folder, processes: 0 };
        (self.run)(&mut context)?;
        drop(context);
        let judge = Arc::into_inner(judge).context("a process is still read")?;
        judge.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
    }
}

impl StormContext<'_> {
    /// Returns the parameters of a plain process that generates one of `parts` equal shares of the IDs.
    fn plain_options(&self, parts: u64) -> StartOptions<'static> {
        StartOptions {
            shape: "plain",
            ids: (self.size.ids / parts).max(CHUNK_SIZE),
            width: self.size.width,
            pause: Duration::ZERO,
            worker: 0,
            host: None,
            clock: None,
        }
    }

    /// Returns the parameters of a plain process that spreads its share of the IDs over the given time.
    fn paced_options(&self, parts: u64, length: Duration) -> StartOptions<'static> {
        let start = self.plain_options(parts);
        let chunks = u32::try_from(start.ids.div_ceil(CHUNK_SIZE)).unwrap_or(u32::MAX);
        StartOptions { pause: length / chunks, ..start }
    }

    fn start(&mut self, start: &StartOptions<'_>) -> Result<Process> {
        self.processes += 1;
        let identity = (self.processes - 1, self.judge.clone());
        let folder = self.folder.path();
        Process::start(self.program, start, identity, (folder, self.size.longest))
    }

    /// Runs one process with several threads or copies.
    fn run_one_process(&mut self, shape: &'static str) -> Result<()> {
        let start = StartOptions { shape, ..self.paced_options(self.size.width + 1, ms(300)) };
        let mut process = self.start(&start)?;
        process.start_generating()?;
        process.finish()
    }

    /// Starts several processes, lets them create their generators at the same time, and returns them.
    fn run_processes(&mut self, starts: &[StartOptions<'_>]) -> Result<Vec<Process>> {
        let processes = starts.iter().map(|start| self.start(start));
        let mut processes = processes.collect::<Result<Vec<_>>>()?;
        processes.iter_mut().try_for_each(Process::start_generating)?;
        Ok(processes)
    }
}

fn finish(processes: Vec<Process>) -> Result<()> {
    processes.into_iter().try_for_each(Process::finish)
}

fn run_threads_storm(context: &mut StormContext<'_>) -> Result<()> {
    let start = StartOptions { shape: "threads", ..context.plain_options(context.size.width) };
    let processes = context.run_processes(&[start])?;
    finish(processes)
}

fn run_processes_storm(context: &mut StormContext<'_>) -> Result<()> {
    let width = context.size.width;
    let start = |worker| StartOptions { worker, ..context.paced_options(width, ms(300)) };
    let starts: Vec<_> = (0..width).map(start).collect();
    let processes = context.run_processes(&starts)?;
    finish(processes)
}

fn run_hosts_storm(context: &mut StormContext<'_>) -> Result<()> {
    ensure!(can_use_namespaces(), "this machine has no namespaces for other hosts");
    let start = |host| StartOptions { host: Some(host), ..context.paced_options(2, ms(300)) };
    let processes = context.run_processes(&[start("host-1"), start("host-2")])?;
    finish(processes)
}

/// Imitates the copying of a process image. The original and the copy are each the first process in a separate PID
/// namespace.
fn run_image_storm(context: &mut StormContext<'_>) -> Result<()> {
    ensure!(can_use_namespaces(), "this machine has no namespaces for a copied image");
    let start = StartOptions {
        shape: "image",
        width: 1,
        host: Some("host"),
        ..context.paced_options(2, ms(300))
    };
    let processes = context.run_processes(&[start])?;
    finish(processes)
}

/// Sets the clock back, so that ticks that were already used occur again.
fn run_rollback_storm(context: &mut StormContext<'_>) -> Result<()> {
    let clock = Clock::new(context.folder.path())?;
    let mut process = context
        .start(&StartOptions { clock: Some(&clock), ..context.paced_options(1, ms(1200)) })?;
    process.start_generating()?;
    process.wait_for_ids(context.size.ids / 2)?;
    clock.set(-0.4)?;
    process.finish()
}

fn run_steps_storm(context: &mut StormContext<'_>) -> Result<()> {
    let clock = Clock::new(context.folder.path())?;
    let mut process = context
        .start(&StartOptions { clock: Some(&clock), ..context.paced_options(1, ms(2000)) })?;
    process.start_generating()?;
    while !process.is_finished() {
        clock.set(0.4 * fastrand::f64() - 0.2)?;
        thread::sleep(ms(50));
    }
    process.finish()
}

/// The number of processes that run one after another.
const RESTARTS: u64 = 20;

fn run_kill_storm(context: &mut StormContext<'_>) -> Result<()> {
    for _ in 0..RESTARTS {
        let mut process = context.start(&context.paced_options(RESTARTS / 2, ms(50)))?;
        process.start_generating()?;
        process.wait_for_ids(1)?;
        thread::sleep(Duration::from_micros(fastrand::u64(0..20_000)));
        process.kill()?;
    }
    Ok(())
}

/// Runs processes one after another. All processes are ready before the first process generates IDs, so each process starts
/// within the millisecond in which the previous process stopped generating IDs.
fn run_restart_storm(context: &mut StormContext<'_>) -> Result<()> {
    let start = StartOptions { ids: CHUNK_SIZE, ..context.plain_options(RESTARTS) };
    if context.program.is_lines {
        return (0..RESTARTS).try_for_each(|_| context.start(&start)?.finish());
    }
    let processes = (0..RESTARTS).map(|_| context.start(&start));
    let mut processes = processes.collect::<Result<Vec<_>>>()?;
    for process in &mut processes {
        process.start_generating()?;
        process.wait_for_end()?;
    }
    finish(processes)
}

fn run_pause_storm(context: &mut StormContext<'_>) -> Result<()> {
    let width = context.size.width.min(3);
    let start = |worker| StartOptions { worker, ..context.paced_options(width, ms(1500)) };
    let starts: Vec<_> = (0..width).map(start).collect();
    let processes = context.run_processes(&starts)?;
    for process in processes.iter().cycle() {
        if processes.iter().all(Process::is_finished) {
            break;
        }
        process.send_signal(libc::SIGSTOP)?;
        thread::sleep(ms(300));
        process.send_signal(libc::SIGCONT)?;
        thread::sleep(ms(20));
    }
    finish(processes)
}
