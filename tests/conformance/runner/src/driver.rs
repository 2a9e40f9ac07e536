//! Communication with a runtime's driver, which reads one request per line and writes one answer per line, in the same
//! order.

use std::{
    io::{BufRead, BufReader, BufWriter, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Runtime;

/// The maximum time to wait for an answer. It includes the time that a browser may take to start.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running driver process. Dropping this value kills the process.
#[derive(Debug)]
pub struct Driver {
    runtime: Runtime,
    child: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<std::io::Result<String>>,
}

impl Driver {
    /// Starts the driver of a runtime.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started.
    ///
    /// # Panics
    /// Never panics, because the driver's output is always a pipe.
    pub fn start(runtime: Runtime, driver: &mut Command) -> Result<Self> {
        let mut child = driver
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", runtime.name()))?;
        let requests = child.stdin.take();
        let output = child.stdout.take().expect("the driver's output is a pipe");
        let (to, answers) = channel();
        thread::spawn(move || {
            BufReader::new(output).lines().try_for_each(|line| to.send(line).map_err(drop))
        });
        Ok(Self { runtime, child, requests, answers })
    }

    /// Returns the answers to `requests`, in order.
    ///
    /// # Errors
    /// Returns an error if the driver stops answering or an answer is not JSON.
    ///
    /// # Panics
    /// Never panics, because a running driver's input is always a pipe.
    pub fn request<'a>(
        &mut self,
        requests: impl ExactSizeIterator<Item = &'a Value> + Send,
    ) -> Result<Vec<Value>> {
        let count = requests.len();
        let input = self.requests.as_mut().expect("a driver that runs takes requests");
        let answers = &self.answers;
        let answered = thread::scope(|scope| {
            let writing = scope.spawn(move || write_all(input, requests));
            let answered: Result<Vec<Value>> = (0..count).map(|_| next(answers)).collect();
            if answered.is_err() {
                // A driver that stopped answering may also have stopped reading.
                let _ = self.child.kill();
            }
            let written = writing.join().expect("writing does not panic");
            answered.and_then(|answers| Ok(written.map(|()| answers)?))
        });
        answered.with_context(|| format!("the driver of {} broke off", self.runtime.name()))
    }
}

fn write_all<'a>(
    input: &mut ChildStdin,
    requests: impl Iterator<Item = &'a Value>,
) -> std::io::Result<()> {
    let mut input = BufWriter::new(input);
    for request in requests {
        writeln!(input, "{request}")?;
    }
    input.flush()
}

fn next(answers: &Receiver<std::io::Result<String>>) -> Result<Value> {
    match answers.recv_timeout(TIMEOUT) {
        Ok(line) => {
            let line = line?;
            serde_json::from_str(&line)
                .with_context(|| format!("expected an answer in JSON, found {line:.200}"))
        }
        Err(RecvTimeoutError::Timeout) => {
            bail!("expected an answer within {} s", TIMEOUT.as_secs())
        }
        Err(RecvTimeoutError::Disconnected) => bail!("it ended without an answer"),
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.requests.take());
        let end = self.answers.recv_timeout(Duration::from_secs(10));
        if !matches!(end, Err(RecvTimeoutError::Disconnected)) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
