//! Asks every runtime the same and compares the answers: with the vectors, and with each other.

mod case;
mod compare;
mod describe;
mod driver;
mod hotguid;
mod layout;
mod python;
mod randflake;
mod random;
mod runtime;
mod sno;
mod sparx64;
mod texts;
mod trace;
mod vectors;

pub use case::Case;
pub use driver::Driver;
pub use runtime::Runtime;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

use anyhow::{Result, ensure};
use clap::Args;
use xshell::Shell;

use self::compare::{Answers, mismatches};
use crate::{
    build::{self, Language},
    tools::Missing,
    workspace,
};

/// Number of mismatches that are printed in full.
const SHOWN: usize = 20;

#[derive(Args)]
pub struct Options {
    /// The folder of vector files
    #[arg(long, default_value_os_t = Options::default().vectors)]
    vectors: PathBuf,
    /// A runtime to ask (may be repeated); by default all that the machine has
    #[arg(long = "runtime", value_name = "NAME")]
    runtimes: Vec<Runtime>,
    /// The seed of the random cases; by default a new one, which is printed
    #[arg(long)]
    seed: Option<u64>,
    /// Number of random cases
    #[arg(long, default_value_t = Options::default().cases)]
    cases: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            vectors: workspace::root().join("tests/vectors"),
            runtimes: Vec::new(),
            seed: None,
            cases: 20_000,
        }
    }
}

impl Options {}

/// Sets up, builds and runs; returns `false` for any difference, or for a missing runtime if none may be missing.
pub fn main(options: &Options) -> Result<bool> {
    let shell = workspace::shell()?;
    let ready = Ready::on_this_machine(&shell, &options.runtimes)?;
    ready.build(&shell)?;
    Ok(run(options, &ready)? && ready.suffices())
}

/// The runtimes that can be asked, and `true` if they are all the wanted ones.
pub struct Ready {
    pub runtimes: Vec<Runtime>,
    complete: bool,
}

impl Ready {
    /// Sets up the wanted runtimes (none means all), and says which the machine cannot have.
    pub fn on_this_machine(shell: &Shell, wanted: &[Runtime]) -> Result<Self> {
        let wanted = if wanted.is_empty() { &Runtime::ALL } else { wanted };
        let mut runtimes = Vec::new();
        for &runtime in wanted {
            match runtime.set_up(shell) {
                Ok(()) => runtimes.push(runtime),
                Err(error) => match error.downcast::<Missing>() {
                    Ok(missing) => println!("skipped: {}: {missing}", runtime.name()),
                    Err(error) => return Err(error),
                },
            }
        }
        ensure!(!runtimes.is_empty(), "expected at least one runtime, found none on this machine");
        Ok(Self { complete: runtimes.len() == wanted.len(), runtimes })
    }

    /// Builds the packages that the runtimes load.
    pub fn build(&self, shell: &Shell) -> Result<()> {
        let used = |language: &Language| {
            self.runtimes.iter().any(|runtime| runtime.language() == *language)
        };
        Language::ALL
            .into_iter()
            .filter(used)
            .try_for_each(|language| build::build(shell, language))
    }

    /// Returns whether these runtimes are enough: in continuous integration nothing may be skipped.
    pub fn suffices(&self) -> bool {
        self.complete || !workspace::in_ci()
    }
}

/// Asks the runtimes; returns `false` for any wrong answer.
pub fn run(options: &Options, ready: &Ready) -> Result<bool> {
    let mut cases = vectors::read(&options.vectors)?;
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    cases.extend(describe::families());
    println!(
        "random: {} cases of seed {seed} (again: cargo xtask conformance --seed {seed} --cases {0})",
        options.cases
    );
    let drawn: Vec<_> = random::cases(seed, options.cases).collect();
    print_families(&drawn);
    cases.extend(drawn);
    let start = Instant::now();
    let answers = ask_all(&cases, &ready.runtimes)?;
    let wrong = mismatches(&cases, &answers);
    wrong.iter().take(SHOWN).for_each(|mismatch| println!("\nMISMATCH {mismatch}"));
    let names: Vec<_> = ready.runtimes.iter().map(|runtime| runtime.name()).collect();
    let (count, seconds) = (cases.len(), start.elapsed().as_secs_f32());
    println!(
        "{count} cases on {}: {} mismatches, in {seconds:.1} s",
        names.join(", "),
        wrong.len()
    );
    Ok(wrong.is_empty())
}

/// Prints the number of cases of each family.
fn print_families(cases: &[Case]) {
    let mut counts = BTreeMap::new();
    cases.iter().for_each(|case| *counts.entry(case.family()).or_insert(0) += 1);
    counts.iter().for_each(|(family, count)| println!("  {family:<24} {count} cases"));
}

/// The names of the cases in a folder's vector files that any runtime answers differently.
pub fn differing(vectors: &Path, ready: &Ready) -> Result<Vec<String>> {
    let cases = vectors::read(vectors)?;
    let answers = ask_all(&cases, &ready.runtimes)?;
    Ok(mismatches(&cases, &answers).iter().map(|mismatch| mismatch.name().to_owned()).collect())
}

/// Asks all runtimes at the same time.
fn ask_all(cases: &[Case], runtimes: &[Runtime]) -> Result<Vec<Answers>> {
    thread::scope(|scope| {
        let asked: Vec<_> =
            runtimes.iter().map(|&runtime| scope.spawn(move || ask(cases, runtime))).collect();
        asked.into_iter().map(|thread| thread.join().expect("asking does not panic")).collect()
    })
}

fn ask(cases: &[Case], runtime: Runtime) -> Result<Answers> {
    let start = Instant::now();
    let asked: Vec<_> = cases.iter().filter(|case| runtime.is_asked(case)).collect();
    let requests = asked.iter().map(|case| &case.request);
    let mut given = Driver::start(runtime)?.ask(requests)?.into_iter();
    let (count, seconds) = (asked.len(), start.elapsed().as_secs_f32());
    println!("  {:<12} {count} answers in {seconds:.1} s", runtime.name());
    let answers = cases.iter().map(|case| runtime.is_asked(case).then(|| given.next())?).collect();
    Ok(Answers { runtime, answers })
}
