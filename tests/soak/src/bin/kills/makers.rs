//! Generators of each format, and functions that return the cells of their IDs.

use std::time::Duration;

use fastrand::Rng;
use polyflake::{
    Result,
    hotguid::{self, HotGuid},
    layout::{self, Field, Layout, Tick},
    randflake::{self, Codec, Grant, Randflake},
    sno::{self, Sno},
    uuid7::{self, Uuid7},
};

use crate::clock::FastClock;

/// The maximum number of IDs per write. A write of this size to a pipe is atomic.
const MAX_BATCH_SIZE: usize = 200;

/// The maximum time that a call waits before the surrounding loop checks the state again.
const MAX_WAIT: Duration = Duration::from_millis(2);

/// A generator that appends the bytes of its IDs to a buffer. A failed call appends the IDs generated before the error.
pub(crate) trait IdWriter {
    /// The number of bytes per ID in the pipe.
    const BYTES: usize;
    /// Returns an ID's cell. Consecutive IDs in a tick have consecutive cells.
    fn cell(id: &[u8]) -> u128;
    fn generate(&self, random: &mut Rng, out: &mut Vec<u8>) -> Result<()>;
}

/// Returns a random number of IDs to generate in one call: either one, or a batch of up to [`MAX_BATCH_SIZE`].
fn random_batch_size(random: &mut Rng) -> usize {
    if random.bool() { 1 } else { random.usize(1..=MAX_BATCH_SIZE) }
}

/// Returns the number of IDs that a call wrote: all `asked` IDs if the call succeeded, or the number that its error
/// reports.
fn written_count(outcome: &Result<()>, asked: usize) -> usize {
    outcome.as_ref().map_or_else(|error| error.written().unwrap_or(0), |()| asked)
}

fn exact_bytes<const N: usize>(id: &[u8]) -> [u8; N] {
    id.try_into().expect("the bytes of one ID")
}

pub(crate) type SnoGenerator = sno::Generator<FastClock>;

pub(crate) fn sno_builder(clock: FastClock) -> sno::Builder<FastClock> {
    sno::Generator::builder().clock(clock).max_wait(MAX_WAIT)
}

impl IdWriter for SnoGenerator {
    const BYTES: usize = Sno::LEN;

    fn cell(id: &[u8]) -> u128 {
        let id = Sno::from_bytes(exact_bytes(id)).parts();
        let line = u128::from(id.partition) << 40 | u128::from(id.tick_tock);
        line << 64 | u128::from(id.tick) << 16 | u128::from(id.sequence)
    }

    fn generate(&self, random: &mut Rng, out: &mut Vec<u8>) -> Result<()> {
        let mut ids = vec![Sno::default(); random_batch_size(random)];
        let outcome = self.fill(random.u8(..), &mut ids);
        ids[..written_count(&outcome, ids.len())].iter().for_each(|id| out.extend(id.to_bytes()));
        outcome
    }
}

pub(crate) type HotGuidGenerator = hotguid::Generator<FastClock>;

/// Creates a builder that gives every process the same machine bytes and initial counter, as if the random source had
/// failed. As a result, only the windows keep the processes' IDs distinct.
pub(crate) fn hotguid_builder(clock: FastClock) -> hotguid::Builder<FastClock> {
    hotguid::Generator::builder().clock(clock).max_wait(MAX_WAIT).identity_from(|| Ok([7; 8]))
}

impl IdWriter for HotGuidGenerator {
    const BYTES: usize = HotGuid::LEN;

    fn cell(id: &[u8]) -> u128 {
        let id = HotGuid::from_bytes(exact_bytes(id)).parts();
        u128::from(id.timestamp.cast_unsigned()) << 24 | u128::from(id.counter)
    }

    fn generate(&self, random: &mut Rng, out: &mut Vec<u8>) -> Result<()> {
        let mut ids = vec![HotGuid::default(); random_batch_size(random)];
        let outcome = self.fill(random.u32(..), &mut ids);
        ids[..written_count(&outcome, ids.len())].iter().for_each(|id| out.extend(id.to_bytes()));
        outcome
    }
}

pub(crate) type Uuid7Generator = uuid7::Generator<FastClock>;

/// Creates a builder for a generator that starts each millisecond at the same sequence number. As a result, if processes
/// have the same worker ID, only their windows, or the last millisecond of the previous process, keep their IDs distinct.
pub(crate) fn uuid7_builder(clock: FastClock, worker: u32) -> uuid7::Builder<FastClock> {
    let worker = u16::try_from(worker).expect("fewer lives than worker IDs");
    let builder = uuid7::Generator::builder().clock(clock).max_wait(MAX_WAIT);
    builder.from_sequence_0().worker_id(worker)
}

impl IdWriter for Uuid7Generator {
    const BYTES: usize = Uuid7::LEN;

    /// Returns the time, the sequence and the worker ID, without the random bits.
    fn cell(id: &[u8]) -> u128 {
        let id = Uuid7::from_slice(id).expect("an ID");
        let slot = u128::from(id.unix_ms().cast_unsigned()) << 18 | u128::from(id.sequence());
        slot << 16 | u128::from(uuid7::worker_id(id))
    }

    fn generate(&self, random: &mut Rng, out: &mut Vec<u8>) -> Result<()> {
        let mut ids = vec![Uuid7::MIN; random_batch_size(random)];
        let outcome = self.fill(&mut ids);
        ids[..written_count(&outcome, ids.len())].iter().for_each(|id| out.extend(id.to_bytes()));
        outcome
    }
}

/// The layout's epoch. The 36-bit millisecond timestamp overflows about two years after this time.
const EPOCH_MS: i64 = 1_763_000_000_000;

pub(crate) type LayoutGenerator = layout::Generator<FastClock>;

/// Creates a builder for a layout whose topmost field is the worker ID. The sequence has only 12 bits, so the generator
/// sometimes exhausts a tick of one millisecond.
pub(crate) fn layout_builder(clock: FastClock, worker: u32) -> layout::Builder<FastClock> {
    let time = Field::timestamp(36, Tick::MILLISECOND, EPOCH_MS);
    let fields = [Field::bindable(16, "worker"), time, Field::sequence(12)];
    let layout = Layout::integer(fields).expect("64 bits");
    layout::Generator::builder(layout).clock(clock).max_wait(MAX_WAIT).bind("worker", worker)
}

impl IdWriter for LayoutGenerator {
    const BYTES: usize = 8;

    /// Returns the ID's integer value as its cell.
    fn cell(id: &[u8]) -> u128 {
        u64::from_le_bytes(exact_bytes(id)).into()
    }

    fn generate(&self, random: &mut Rng, out: &mut Vec<u8>) -> Result<()> {
        let mut ids = vec![0_i64; random_batch_size(random)];
        let outcome = self.fill(&mut ids[..]);
        ids[..written_count(&outcome, ids.len())]
            .iter()
            .for_each(|id| out.extend(id.to_le_bytes()));
        outcome
    }
}

pub(crate) type RandflakeGenerator = randflake::Generator<FastClock>;

const SECRET: [u8; 16] = *b"sixteen byte key";

pub(crate) fn randflake_builder(lease: Grant, clock: FastClock) -> randflake::Builder<FastClock> {
    randflake::Generator::builder(lease, SECRET).clock(clock)
}

impl IdWriter for RandflakeGenerator {
    const BYTES: usize = 8;

    fn cell(id: &[u8]) -> u128 {
        let parts =
            Codec::new(SECRET).inspect(Randflake::from_i64(i64::from_le_bytes(exact_bytes(id))));
        let node = u128::from(parts.node) << 64;
        node | u128::from(parts.timestamp.cast_unsigned()) << 17 | u128::from(parts.sequence)
    }

    fn generate(&self, random: &mut Rng, out: &mut Vec<u8>) -> Result<()> {
        let mut ids = vec![Randflake::default(); random_batch_size(random)];
        let outcome = self.fill(&mut ids);
        ids[..written_count(&outcome, ids.len())]
            .iter()
            .for_each(|id| out.extend(id.to_i64().to_le_bytes()));
        outcome
    }
}
