//! A host for a generator that is written in Rust. The host runs the generator as the environment variables specify, and
//! prints the IDs in chunks.
//!
//! ```no_run
//! use std::time::SystemTime;
//!
//! // A separate generator for each process, for the worker ID in the argument.
//! idstorm::host::serve(|_worker| || {
//!     let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
//!     Ok(now.as_nanos().to_string())
//! });
//! ```
//!
//! The variables are `STORM_SHAPE` (what the process does), `STORM_WIDTH` (the number of threads or copies), `STORM_IDS`
//! (the number of IDs that each thread or copy generates), `STORM_PAUSE_US` (the time between two chunks), `STORM_WORKER`
//! (the process's worker ID; its copies use the worker IDs that follow it) and `STORM_RENEW` (whether copies create
//! separate generators).

mod copies;
mod output;

use std::{
    env,
    error::Error,
    thread,
    time::{Duration, Instant},
};

use output::Chunk;

/// The result of a call to the generator.
pub type Made = Result<String, Box<dyn Error + Send + Sync>>;

/// The number of IDs in a chunk.
const CHUNK_SIZE: u64 = 50;

/// The delay after which all copies start to generate IDs at the same time.
const COPY_START_DELAY: Duration = Duration::from_millis(20);

/// The numbers of failed calls after which a thread gives up. The first limit applies until the thread has generated an ID,
/// and the second limit applies afterward.
const RETRY_LIMITS: [u64; 2] = [20, 3000];

#[derive(Clone)]
struct Plan {
    shape: String,
    width: u64,
    ids: u64,
    pause: Duration,
    worker: u64,
    renews: bool,
}

/// Runs a generator and prints its IDs. `make` creates the generator for a worker ID.
pub fn serve<G: Fn() -> Made + Sync>(make: impl Fn(u64) -> G) {
    let plan = Plan::from_environment();
    output::wait_for_input();
    let ids = make(plan.worker);
    match plan.shape.as_str() {
        "plain" => plan.generate(0, 0, &ids, Instant::now()),
        "threads" => thread::scope(|scope| {
            for thread in 0..plan.width {
                let (plan, ids) = (&plan, &ids);
                scope.spawn(move || plan.generate(0, thread, ids, Instant::now()));
            }
        }),
        _ => plan.run_copies(&make, &ids),
    }
    output::write_line(".");
    copies::exit();
}

impl Plan {
    fn from_environment() -> Self {
        let text = |name: &str| env::var(format!("STORM_{name}")).unwrap_or_default();
        let number = |name| text(name).parse().unwrap_or(0);
        let pause = Duration::from_micros(number("PAUSE_US"));
        let [width, ids, worker] = ["WIDTH", "IDS", "WORKER"].map(number);
        let renews = !text("RENEW").is_empty();
        Self { shape: text("SHAPE"), width, ids, pause, worker, renews }
    }

    /// Creates copies of this process that generate IDs. This process also generates IDs, unless its only purpose is to be
    /// forked.
    fn run_copies<G: Fn() -> Made>(&self, make: &impl Fn(u64) -> G, ids: &G) {
        let is_server = self.shape == "prefork";
        if !is_server {
            Self { ids: CHUNK_SIZE, ..self.clone() }.generate(0, 0, ids, Instant::now());
        }
        let begin = Instant::now() + COPY_START_DELAY;
        for copy in 1..=self.width {
            if copies::create(&self.shape) {
                self.generate_in_copy(copy, make, ids, begin);
            }
        }
        if !is_server {
            self.generate(0, 0, ids, begin);
        }
        copies::wait();
    }

    /// Generates IDs in a copy of the process, and then terminates the copy.
    fn generate_in_copy<G: Fn() -> Made>(
        &self,
        copy: u64,
        make: &impl Fn(u64) -> G,
        ids: &G,
        begin: Instant,
    ) {
        // A copied image cannot detect that it is a copy, so it keeps using the original generator.
        if self.renews && self.shape != "image" {
            self.generate(copy, 0, &make(self.worker + copy), begin);
        } else {
            self.generate(copy, 0, ids, begin);
        }
        copies::exit();
    }

    /// Generates the IDs of one thread. In a copy, each chunk has a scheduled start time, so that all copies generate IDs
    /// at the same times. With the shape `plain`, the process pauses after each chunk instead, so that it is still running
    /// when the clock is set.
    fn generate(&self, generator: u64, thread: u64, make: &impl Fn() -> Made, mut begin: Instant) {
        let (mut done, mut failed) = (0, 0);
        while done < self.ids && failed < RETRY_LIMITS[usize::from(done > 0)] {
            thread::sleep(begin.saturating_duration_since(Instant::now()));
            begin = if self.shape == "plain" { Instant::now() } else { begin } + self.pause;
            let mut chunk = Chunk::begin(generator, thread);
            let mut error = None;
            let last = done + CHUNK_SIZE.min(self.ids - done);
            while done < last && chunk.has_capacity() && error.is_none() {
                match make() {
                    Ok(id) => chunk.push(&id),
                    Err(found) => error = Some(found),
                }
                done += u64::from(error.is_none());
            }
            chunk.end();
            if let Some(error) = error {
                failed += 1;
                output::write_line(&format!("! {error}"));
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}
