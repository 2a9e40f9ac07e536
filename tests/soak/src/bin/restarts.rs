//! Repeatedly restarts generators with explicit worker IDs, and counts duplicate IDs. Each generator starts as soon as the
//! previous generator with the same worker ID has generated its last ID.
//!
//! Run it with `cargo run --release --package soak --bin restarts -- --generators 100000`. Generators with different worker
//! IDs run concurrently, so that their waits for the next tick overlap. With `--processes`, each generator runs in its own
//! process.
//!
//! The program prints one JSON line per format, and fails if an ID repeats. In `tests/stepping`, `restarts.py` and
//! `restarts.mjs` run the same test for Python and JavaScript.

use std::{
    collections::HashSet,
    process::{Command, ExitCode},
    thread,
};

use clap::Parser;
use polyflake::{
    Result, hotguid,
    layout::{self, Field, Layout, Tick},
    randflake::{self, EPOCH, Grant, LAST_SECOND},
    sno,
};

#[derive(Parser)]
struct Options {
    /// Number of generators per format.
    #[arg(long, default_value_t = 10_000)]
    generators: usize,
    /// Number of worker IDs whose generators run concurrently.
    #[arg(long, default_value_t = 500)]
    workers: u16,
    /// Number of generators for each format with one-second ticks. These generators take longer, because they wait for the
    /// next second.
    #[arg(long, default_value_t = 1000)]
    slow: usize,
    /// Runs each generator in its own process.
    #[arg(long)]
    processes: bool,
    /// Generates two IDs in this process and prints them. The first value is the index of a format, and the second value is
    /// a worker ID.
    #[arg(long, num_args = 2, hide = true)]
    one: Option<Vec<u16>>,
}

/// A function that creates a generator with the given worker ID, and generates two IDs.
type MakeTwoIds = fn(u16) -> Result<[u128; 2]>;

struct Format {
    name: &'static str,
    is_slow: bool,
    make_ids: MakeTwoIds,
}

const FORMATS: [Format; 6] = [
    Format { name: "sno", is_slow: false, make_ids: sno_ids },
    Format {
        name: "layout, ticks of 1 ms",
        is_slow: false,
        make_ids: |worker| layout_ids(1, worker),
    },
    Format {
        name: "layout, ticks of 10 ms",
        is_slow: false,
        make_ids: |worker| layout_ids(10, worker),
    },
    Format {
        name: "layout, ticks of 1 s",
        is_slow: true,
        make_ids: |worker| layout_ids(1000, worker),
    },
    Format { name: "Randflake", is_slow: true, make_ids: randflake_ids },
    Format { name: "Hot Guid, bytes of the caller", is_slow: true, make_ids: hot_guid_ids },
];

fn sno_ids(worker: u16) -> Result<[u128; 2]> {
    let ids = sno::Generator::builder().partition(worker).build()?;
    let bits =
        |id: sno::Sno| id.to_bytes().iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
    Ok([bits(ids.generate(7)?), bits(ids.generate(7)?)])
}

fn layout_ids(tick_ms: u64, worker: u16) -> Result<[u128; 2]> {
    let fields = [
        Field::unused(1),
        Field::timestamp(41, Tick::from_millis(tick_ms)?, 1_420_070_400_000),
        Field::bindable(10, "worker"),
        Field::sequence(12),
    ];
    let ids =
        layout::Generator::builder(Layout::integer(fields)?).bind("worker", worker).build()?;
    let bits = |id: layout::Id| id.as_integer().expect("64 bits").cast_unsigned().into();
    Ok([bits(ids.generate()?), bits(ids.generate()?)])
}

fn randflake_ids(worker: u16) -> Result<[u128; 2]> {
    let grant = Grant::new(worker.into(), EPOCH, LAST_SECOND + 1)?;
    let ids = randflake::Generator::builder(grant, *b"sixteen byte key").build()?;
    Ok([ids.generate()?.to_u64().into(), ids.generate()?.to_u64().into()])
}

/// Every generator uses the same fixed identity, which is equivalent to a single worker ID. Therefore, the generators run
/// one after another.
fn hot_guid_ids(_: u16) -> Result<[u128; 2]> {
    let ids = hotguid::Generator::builder().identity_from(|| Ok([7; 8])).build()?;
    Ok([ids.generate(7)?, ids.generate(7)?].map(|id| u128::from_be_bytes(id.to_bytes())))
}

/// Creates `count` generators one after another, all with the same worker ID, and returns their IDs.
fn consecutive_ids(options: &Options, index: u16, worker: u16, count: usize) -> Vec<u128> {
    let make_ids = FORMATS[usize::from(index)].make_ids;
    let make_ids = || {
        if !options.processes {
            return make_ids(worker).expect("two IDs").to_vec();
        }
        let program = std::env::current_exe().expect("this program");
        let arguments = ["--one".to_owned(), index.to_string(), worker.to_string()];
        let output = Command::new(program).args(arguments).output().expect("a process");
        let text = String::from_utf8(output.stdout).expect("numbers");
        text.split_whitespace().map(|id| id.parse().expect("a number")).collect()
    };
    (0..count).flat_map(|_| make_ids()).collect()
}

/// Runs the test for one format, and returns whether all IDs are distinct.
fn run(options: &Options, index: u16) -> bool {
    let Format { name, is_slow, .. } = FORMATS[usize::from(index)];
    let count = if is_slow { options.slow } else { options.generators };
    let workers = if name.starts_with("Hot Guid") { 1 } else { options.workers };
    let each = if workers == 1 { count.min(5) } else { count.div_ceil(workers.into()) };
    let all: Vec<u128> = thread::scope(|scope| {
        let run = |worker| scope.spawn(move || consecutive_ids(options, index, worker, each));
        let threads: Vec<_> = (0..workers).map(run).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("IDs")).collect()
    });
    let twice = all.len() - all.iter().collect::<HashSet<_>>().len();
    let generators = each * usize::from(workers);
    println!(
        r#"{{"format": "{name}", "generators": {generators}, "ids": {}, "twice": {twice}}}"#,
        all.len()
    );
    twice == 0 && all.len() == 2 * generators
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(one) = &options.one {
        let [first, second] = (FORMATS[usize::from(one[0])].make_ids)(one[1]).expect("two IDs");
        println!("{first} {second}");
        return ExitCode::SUCCESS;
    }
    let formats = 0..u16::try_from(FORMATS.len()).expect("a few");
    let all_well = formats.map(|index| run(&options, index)).fold(true, |all, one| all & one);
    ExitCode::from(u8::from(!all_well))
}
