//! Tests the mutants that cargo-mutants generates, one at a time: swapped operators, replaced bodies, and negated
//! conditions.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use xshell::{Shell, cmd};

use crate::{tools, workspace};

/// A group of source files, and the tests that must detect mutants in them.
struct Group {
    name: &'static str,
    files: &'static [&'static str],
    tests: &'static [&'static str],
}

const GROUPS: [Group; 9] = [
    Group {
        name: "tick-tock",
        files: &["core/src/sequence/tick_tock.rs"],
        tests: &["--lib", "--test=families", "--test=sno_generator"],
    },
    Group {
        name: "per-tick",
        files: &["core/src/sequence/{per_tick,word}.rs"],
        tests: &[
            "--lib",
            "--test=randflake_generator",
            "--test=hotguid_generator",
            "--test=uuid7_generator",
            "--test=families",
        ],
    },
    Group {
        name: "engine",
        files: &["core/src/generator/{engine,wait}.rs"],
        tests: &[
            "--test=families",
            "--test=sno_generator",
            "--test=randflake_generator",
            "--test=time_limits",
            "--test=waits",
        ],
    },
    Group {
        name: "bounds",
        files: &[
            "core/src/{format/scale,generator/fill,generator/handle,generator/options,generator/process,generator/window}.rs",
        ],
        tests: &[
            "--lib",
            "--test=time_limits",
            "--test=families",
            "--test=fork",
            "--test=hotguid",
            "--test=sno_generator",
        ],
    },
    Group {
        name: "sno",
        files: &["core/src/sno/{claims,generator,handle,identity,pack,partition}.rs"],
        tests: &[
            "--test=sno_generator",
            "--test=families",
            "--test=fork",
            "--test=default_partitions",
            "--test=waits",
        ],
    },
    Group {
        name: "randflake",
        files: &["core/src/randflake/{family,generator,handle,pack}.rs"],
        tests: &["--test=randflake_generator", "--test=families", "--test=fork"],
    },
    Group {
        name: "hotguid",
        files: &[
            "core/src/{generator/random_word,hotguid/family,hotguid/generator,hotguid/handle}.rs",
        ],
        tests: &["--test=hotguid_generator", "--test=families", "--test=fork"],
    },
    Group {
        name: "uuid7",
        files: &["core/src/uuid7/{builder,family,generator,handle,id,pack,stream}.rs"],
        tests: &["--test=uuid7", "--test=uuid7_generator", "--test=families", "--test=fork"],
    },
    Group {
        name: "layout",
        files: &[
            "core/src/layout/{ids/family,ids/generator,ids/handle,ids/pack,ids/worker_id_range,time/timeline}.rs",
        ],
        tests: &["--test=layout", "--test=families", "--test=fork"],
    },
];

/// The percentage of mutants that must be caught.
const GOAL_PERCENT: u32 = 95;

/// The number of mutants with each outcome. Mutants that do not compile are not counted.
#[derive(Default, Deserialize)]
struct Count {
    caught: u32,
    /// The number of mutants whose tests timed out. They count as caught.
    timeout: u32,
    missed: u32,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.caught += other.caught;
        self.timeout += other.timeout;
        self.missed += other.missed;
    }

    fn sum(&self) -> u32 {
        self.caught + self.timeout + self.missed
    }

    fn meets_goal(&self) -> bool {
        (self.caught + self.timeout) * 100 >= GOAL_PERCENT * self.sum()
    }
}

/// Tests the groups whose names contain one of the filters. Fails if too few mutants are caught.
pub fn run(filters: &[String]) -> Result<()> {
    let shell = workspace::shell()?;
    tools::install(&shell, &tools::MUTANTS)?;
    let mut total = Count::default();
    for group in GROUPS.iter().filter(|group| super::matches_filters(filters, group.name)) {
        total.add(&group.run(&shell).with_context(|| group.name)?);
    }
    ensure!(total.sum() > 0, "expected the name of a group, found {filters:?}");
    let Count { caught, timeout, missed } = total;
    println!("{caught} caught, {timeout} caught by never ending, {missed} missed");
    ensure!(total.meets_goal(), "expected {GOAL_PERCENT} % of the faults to be caught");
    Ok(())
}

impl Group {
    fn run(&self, shell: &Shell) -> Result<Count> {
        let folder = workspace::target().join("mutants/generated").join(self.name);
        shell.create_dir(&folder)?;
        let files = self.files.iter().flat_map(|file| ["--file", file]);
        let tests = self.tests.iter().map(|test| format!("--cargo-arg={test}"));
        let run = cmd!(shell, "cargo mutants --package polyflake --output {folder}")
            .arg("--config=tests/mutants/generated.toml")
            .args(files)
            .args(tests);
        // All groups share one target folder. The exit status is ignored, because cargo-mutants uses it to report mutants
        // that were not caught.
        run.env("CARGO_TARGET_DIR", workspace::target().join("mutants/plain"))
            .ignore_status()
            .run()?;
        Self::count(&folder.join("mutants.out"))
    }

    fn count(folder: &Path) -> Result<Count> {
        let text = fs::read_to_string(folder.join("outcomes.json"))?;
        serde_json::from_str(&text).context("expected the counts of cargo-mutants")
    }
}
