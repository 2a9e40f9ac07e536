//! The code that a process runs until it is killed. The process generates IDs and writes each ID to its output. It also
//! keeps a file with the state from which the next process resumes.

use std::{
    convert::Infallible,
    error::Error,
    io::{Write, stdout},
    path::Path,
    time::Duration,
};

use fastrand::Rng;
use polyflake::{ErrorKind, Result};
use serde::{Serialize, de::DeserializeOwned};

use crate::{clock::FastClock, durable, makers::IdWriter};

/// The duration of a window in real time. It is longer than the time that a disk needs to store the window's end.
const WINDOW: Duration = Duration::from_millis(20);

pub(crate) type Outcome = std::result::Result<Infallible, Box<dyn Error>>;

pub(crate) struct ChildRun<'l> {
    pub(crate) clock: FastClock,
    pub(crate) state: &'l Path,
    /// Whether to skip the steps that keep consecutive processes from repeating IDs. If so, the harness must detect
    /// duplicates.
    pub(crate) careless: bool,
    pub(crate) random: Rng,
}

/// A generator with an explicit window, whose end can be extended.
pub(crate) trait WindowedGenerator: IdWriter + Sized {
    fn build(clock: FastClock, start_ms: i64, end_ms: i64) -> Result<Self>;
    fn extend(&self, end_ms: i64) -> Result<()>;
}

/// Generates IDs in consecutive windows. A new process starts at the last window end that was stored on disk. The process
/// writes each window's end to disk before it generates an ID in the window.
pub(crate) fn generate_in_windows<M: WindowedGenerator>(mut life: ChildRun<'_>) -> Outcome {
    let last_end = durable::read(life.state)?.filter(|_| !life.careless);
    let start = last_end.unwrap_or_else(|| life.clock.unix_ms());
    let mut end = life.next_window_end(start);
    durable::write(life.state, &end)?;
    let ids = M::build(life.clock, start, end)?;
    loop {
        match life.write_ids(&ids)? {
            Some(ErrorKind::LeaseExpired) => {
                end = life.next_window_end(end);
                durable::write(life.state, &end)?;
                ids.extend(end)?;
            }
            Some(ErrorKind::LeaseNotStarted) => life.clock.wait_until(start),
            _ => {}
        }
    }
}

/// A generator that returns a state when it is closed. The next generator resumes from this state.
pub(crate) trait ClosableGenerator: IdWriter + Sized {
    type SavedState: Serialize + DeserializeOwned + Clone;
    /// Creates a generator with the worker ID `number`, which no earlier generator has used.
    fn create(clock: FastClock, number: u32) -> Result<Self>;
    fn resume(clock: FastClock, number: u32, left: Self::SavedState) -> Result<Self>;
    fn save(&self) -> Result<Self::SavedState>;
}

/// Generates IDs with consecutive generators. Each generator resumes from its predecessor's state, or starts with a new
/// worker ID if the predecessor was killed. A state is removed from disk before it is used, so it is used only once.
pub(crate) fn generate_and_resume<M: ClosableGenerator>(mut life: ChildRun<'_>) -> Outcome {
    loop {
        let (number, left) =
            durable::read::<(u32, Option<M::SavedState>)>(life.state)?.unwrap_or((0, None));
        let number = if left.is_some() { number } else { number + 1 };
        let kept = left.clone().filter(|_| life.careless);
        durable::write(life.state, &(number, kept))?;
        let ids = match left {
            Some(left) => M::resume(life.clock, number, left)?,
            None => M::create(life.clock, number)?,
        };
        for _ in 0..life.random.u8(..8) {
            life.write_ids(&ids)?;
        }
        durable::write(life.state, &(number, Some(ids.save()?)))?;
    }
}

impl ChildRun<'_> {
    /// Generates some IDs and writes them to standard output. If a temporary error occurs, returns its kind.
    fn write_ids(
        &mut self,
        ids: &impl IdWriter,
    ) -> std::result::Result<Option<ErrorKind>, Box<dyn Error>> {
        let mut bytes = Vec::new();
        let outcome = ids.generate(&mut self.random, &mut bytes);
        stdout().write_all(&bytes)?;
        stdout().flush()?;
        let Err(error) = outcome else { return Ok(None) };
        match error.kind() {
            ErrorKind::LeaseExpired | ErrorKind::LeaseNotStarted => {}
            ErrorKind::ClockBehind | ErrorKind::SequenceExhausted => {
                self.clock.wait_until(error.retry_at().unwrap_or_default());
            }
            _ => return Err(error.into()),
        }
        Ok(Some(error.kind()))
    }

    fn next_window_end(&self, end: i64) -> i64 {
        end.max(self.clock.unix_ms()) + self.clock.scaled_ms(WINDOW)
    }
}
