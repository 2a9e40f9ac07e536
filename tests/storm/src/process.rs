//! Starts the processes of a storm, reads their IDs, and disturbs the processes.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use crate::{chunk::Line, clock::Clock, judge::Judge};

/// The parameters of a process.
pub struct StartOptions<'s> {
    /// How the process uses its generator. This is the value of the host's environment variable `STORM_SHAPE`.
    pub shape: &'static str,
    /// The number of IDs that each thread or copy of the process generates.
    pub ids: u64,
    /// The number of threads or copies.
    pub width: u64,
    /// The time between two chunks.
    pub pause: Duration,
    /// The worker ID of the process's first generator.
    pub worker: u64,
    /// The host name, if the process runs in separate UTS (host name) and PID namespaces.
    pub host: Option<&'static str>,
    /// The simulated clock that replaces this machine's wall clock, if any.
    pub clock: Option<&'s Clock>,
}

/// The program that runs a generator.
#[derive(Clone)]
pub struct Program {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Whether the command prints one ID per line and nothing else.
    pub is_lines: bool,
    /// Whether each forked child creates a separate generator with a unique worker ID.
    pub renews: bool,
}

/// A process of a storm.
pub struct Process {
    child: Child,
    is_lines: bool,
    input: Option<ChildStdin>,
    reader: Option<JoinHandle<Result<()>>>,
    seen: Arc<OutputProgress>,
    /// Receives one message when the process is ready, and another when it stops generating IDs.
    signals: Receiver<()>,
    deadline: Instant,
}

/// How much output has been read from a process.
#[derive(Default)]
struct OutputProgress {
    ids: AtomicU64,
    /// Whether the original process, as opposed to a copy, has written its last line.
    end: AtomicBool,
    /// Whether the output has ended.
    over: AtomicBool,
}

/// The state of the thread that reads a process's output.
struct Reader {
    number: u32,
    is_lines: bool,
    /// The limits for a command that prints one ID per line: the number of IDs to read, and the pause after every 64 IDs.
    limit: (u64, Duration),
    seen: Arc<OutputProgress>,
    judge: Arc<Mutex<Judge>>,
    signals: Sender<()>,
}

impl Reader {
    fn run(self, output: ChildStdout) -> Result<()> {
        for line in BufReader::with_capacity(1 << 16, output).lines() {
            let line = line?;
            let line = if self.is_lines {
                Line::parse_id_line(&line)
            } else {
                Line::parse_host_line(&line)?
            };
            self.handle_line(&line)?;
            let ids = self.seen.ids.load(Ordering::Relaxed);
            if self.is_lines && ids >= self.limit.0 {
                break;
            }
            if self.is_lines && ids.is_multiple_of(64) {
                thread::sleep(self.limit.1);
            }
        }
        self.seen.over.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn handle_line(&self, line: &Line<'_>) -> Result<()> {
        let mut judge = self.judge.lock().unwrap_or_else(PoisonError::into_inner);
        match line {
            Line::Chunk(chunk) => {
                judge.add(self.number, chunk)?;
                self.seen.ids.fetch_add(chunk.ids.len() as u64, Ordering::Relaxed);
            }
            Line::Error(message) => judge.record_error(message),
            Line::Ready | Line::End => {
                self.seen.end.store(*line == Line::End, Ordering::Relaxed);
                // Sending fails only if the receiver no longer exists. In that case, no thread is waiting for the message.
                let _ = self.signals.send(());
            }
        }
        Ok(())
    }
}

impl Process {
    /// Starts a process. A host creates its generator only after [`Process::start_generating`] is called.
    pub fn start(
        program: &Program,
        start: &StartOptions<'_>,
        (number, judge): (u32, Arc<Mutex<Judge>>),
        (folder, longest): (&Path, Duration),
    ) -> Result<Self> {
        let mut command = command(program, start);
        command.env("STORM_FOLDER", folder);
        let what = || format!("cannot start {}", program.command.join(" "));
        let mut child = command.spawn().with_context(what)?;
        let (output, input) = (child.stdout.take().context("no output")?, child.stdin.take());
        let (sender, signals) = channel();
        let (seen, is_lines) = (Arc::new(OutputProgress::default()), program.is_lines);
        let limit = (start.ids, start.pause);
        let reader = Reader { number, is_lines, limit, seen: seen.clone(), judge, signals: sender };
        let reader = Some(thread::spawn(|| reader.run(output)));
        let deadline = Instant::now() + longest;
        let process = Self { child, is_lines, input, reader, seen, signals, deadline };
        if !is_lines {
            process.wait_for_signal("load its library")?;
        }
        Ok(process)
    }

    /// Lets the process create its generator.
    pub fn start_generating(&mut self) -> Result<()> {
        // The pipe is closed if the process was killed or reads no input.
        let Some(mut input) = self.input.take() else { return Ok(()) };
        Ok(writeln!(input, "go").or_else(ignore_broken_pipe)?)
    }

    /// Waits until the process has stopped generating IDs. The process itself may still exist.
    pub fn wait_for_end(&self) -> Result<()> {
        while !self.is_finished() {
            if self.signals.recv_timeout(Duration::from_millis(20)).is_ok() {
                break;
            }
            ensure!(Instant::now() < self.deadline, "a process did not finish in time");
        }
        Ok(())
    }

    /// Waits until `count` IDs have been read or the process's output has ended.
    pub fn wait_for_ids(&self, count: u64) -> Result<()> {
        while self.seen.ids.load(Ordering::Relaxed) < count && !self.is_finished() {
            ensure!(Instant::now() < self.deadline, "a process generated no IDs in time");
            thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    /// Returns whether the process and all of its copies have closed their output.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.seen.over.load(Ordering::Relaxed)
            || self.reader.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Sends a signal to the process.
    #[allow(unsafe_code, reason = "the standard library sends no signal but SIGKILL")]
    pub fn send_signal(&self, signal: i32) -> Result<()> {
        // SAFETY: `kill` does not access this process's memory. The child has not been waited for, so its process ID has
        // not been reused and the signal reaches no other process.
        let sent = unsafe { libc::kill(self.child.id().try_into()?, signal) };
        ensure!(sent == 0, "cannot send a signal");
        Ok(())
    }

    /// Waits until the process has ended and all IDs of its copies have been read.
    pub fn finish(self) -> Result<()> {
        let (is_lines, seen) = (self.is_lines, self.seen.clone());
        self.read_all()?;
        let is_complete = is_lines || seen.end.load(Ordering::Relaxed);
        ensure!(is_complete, "a process failed; its error output has the reason");
        Ok(())
    }

    /// Kills the process with SIGKILL, and reads the IDs that it has already written.
    pub fn kill(self) -> Result<()> {
        self.send_signal(libc::SIGKILL)?;
        self.read_all()
    }

    fn read_all(mut self) -> Result<()> {
        while !self.is_finished() {
            ensure!(Instant::now() < self.deadline, "a process did not finish in time");
            thread::sleep(Duration::from_millis(1));
        }
        let reader = self.reader.take().context("no reader")?;
        reader.join().map_err(|_| anyhow::anyhow!("the reader of a process panicked"))?
    }

    fn wait_for_signal(&self, what: &str) -> Result<()> {
        let longest = self.deadline.saturating_duration_since(Instant::now());
        self.signals.recv_timeout(longest).with_context(|| format!("a process did not {what}"))
    }
}

impl Drop for Process {
    /// Kills the process and its copies.
    #[allow(unsafe_code, reason = "the standard library kills no group of processes")]
    fn drop(&mut self) {
        if let Ok(group) = i32::try_from(self.child.id()) {
            // SAFETY: `kill` does not access this process's memory. This process created the process group, and the group's
            // ID has not been reused.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        // An error means that the process has already been waited for.
        let _ = self.child.wait();
    }
}

fn ignore_broken_pipe(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

/// Returns the command that starts a process.
fn command(program: &Program, start: &StartOptions<'_>) -> Command {
    let mut words: Vec<&str> = program.command.iter().map(String::as_str).collect();
    if let Some(host) = start.host {
        let script = "echo \"$0\" > /proc/sys/kernel/hostname && exec \"$@\"";
        words.splice(0..0, namespace_command().into_iter().chain(["sh", "-c", script, host]));
    }
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    command.env("STORM_SHAPE", start.shape).env("STORM_IDS", start.ids.to_string());
    command.env("STORM_WIDTH", start.width.to_string());
    command.env("STORM_WORKER", start.worker.to_string());
    command.env("STORM_PAUSE_US", start.pause.as_micros().to_string());
    command.env("STORM_RENEW", if program.renews { "1" } else { "" });
    if let Some(clock) = start.clock {
        clock.apply_to(&mut command);
    }
    command
}

/// Returns the command that runs a process in new UTS (host name) and PID namespaces. This requires root, so other users
/// also get a new user namespace.
fn namespace_command() -> Vec<&'static str> {
    let mut words = vec!["unshare", "--uts", "--pid", "--fork", "--kill-child"];
    #[allow(unsafe_code, reason = "the standard library does not know the user's ID")]
    // SAFETY: `geteuid` has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        words.extend(["--user", "--map-root-user"]);
    }
    words
}

/// Returns whether this machine can run a process in separate UTS (host name) and PID namespaces.
#[must_use]
pub fn can_use_namespaces() -> bool {
    let words = namespace_command();
    let status =
        Command::new(words[0]).args(&words[1..]).arg("true").stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
