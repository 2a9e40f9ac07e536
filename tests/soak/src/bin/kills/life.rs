//! The life of a process until it is killed: it makes IDs and writes each to its output, and keeps in a file the state from
//! which the next process goes on.

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

use crate::{clock::Fast, durable, makers::Maker};

/// Length of a window in real time: longer than the disk takes to store its end.
const WINDOW: Duration = Duration::from_millis(20);

pub(crate) type Outcome = std::result::Result<Infallible, Box<dyn Error>>;

pub(crate) struct Life<'l> {
    pub(crate) clock: Fast,
    pub(crate) state: &'l Path,
    /// `true` to leave out the state that keeps lives apart: the harness must notice.
    pub(crate) careless: bool,
    pub(crate) random: Rng,
}

/// A generator within a window whose end is known.
pub(crate) trait Windowed: Maker + Sized {
    fn build(clock: Fast, start_ms: i64, end_ms: i64) -> Result<Self>;
    fn extend(&self, end_ms: i64) -> Result<()>;
}

/// Makes IDs in windows. Each begins at the end of the last one on the disk, and its own end is on the disk before an ID is
/// made in it.
pub(crate) fn in_windows<M: Windowed>(mut life: Life<'_>) -> Outcome {
    let last_end = durable::read(life.state)?.filter(|_| !life.careless);
    let start = last_end.unwrap_or_else(|| life.clock.unix_ms());
    let mut end = life.end_after(start);
    durable::write(life.state, &end)?;
    let ids = M::build(life.clock, start, end)?;
    loop {
        match life.make(&ids)? {
            Some(ErrorKind::LeaseExpired) => {
                end = life.end_after(end);
                durable::write(life.state, &end)?;
                ids.extend(end)?;
            }
            Some(ErrorKind::LeaseNotStarted) => life.clock.wait_until(start),
            _ => {}
        }
    }
}

/// A generator that can be closed, and then leaves the state from which the next one resumes.
pub(crate) trait Closing: Maker + Sized {
    type Left: Serialize + DeserializeOwned + Clone;
    /// A generator with a number that no other has.
    fn begin(clock: Fast, number: u32) -> Result<Self>;
    fn resume(clock: Fast, number: u32, left: Self::Left) -> Result<Self>;
    fn leave(&self) -> Result<Self::Left>;
}

/// Makes IDs with one generator after the other: each resumes from the state that the one before left, or begins under a new
/// number if that one was killed. A state is taken off the disk before it is used, so that it is used once.
pub(crate) fn by_turns<M: Closing>(mut life: Life<'_>) -> Outcome {
    loop {
        let (number, left) =
            durable::read::<(u32, Option<M::Left>)>(life.state)?.unwrap_or((0, None));
        let number = if left.is_some() { number } else { number + 1 };
        let kept = left.clone().filter(|_| life.careless);
        durable::write(life.state, &(number, kept))?;
        let ids = match left {
            Some(left) => M::resume(life.clock, number, left)?,
            None => M::begin(life.clock, number)?,
        };
        for _ in 0..life.random.u8(..8) {
            life.make(&ids)?;
        }
        durable::write(life.state, &(number, Some(ids.leave()?)))?;
    }
}

impl Life<'_> {
    /// Makes some IDs and writes them; returns the kind of a refusal that passes with time.
    fn make(&mut self, ids: &impl Maker) -> std::result::Result<Option<ErrorKind>, Box<dyn Error>> {
        let mut bytes = Vec::new();
        let outcome = ids.make(&mut self.random, &mut bytes);
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

    fn end_after(&self, end: i64) -> i64 {
        end.max(self.clock.unix_ms()) + self.clock.of_world(WINDOW)
    }
}
