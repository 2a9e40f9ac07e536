//! Sends the same requests to every runtime, and compares the answers with the vectors and with each other.
//!
//! This crate contains the cases and communicates with the drivers. It does not build or install anything, because `cargo
//! xtask conformance` does so beforehand.

mod case;
mod compare;
mod describe;
mod driver;
mod hotguid;
mod layout;
mod public;
mod python;
mod randflake;
mod random;
mod runtime;
mod sno;
mod sparx64;
mod texts;
mod trace;
mod uuid7;
mod vectors;

use case::Case;
pub use driver::Driver;
pub use runtime::Runtime;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
    thread,
    time::Instant,
};

use anyhow::{Result, ensure};
use serde_json::Value;

use self::compare::{Answers, Mismatch, mismatches};

/// The number of mismatches that are printed in full.
const MAX_PRINTED_MISMATCHES: usize = 20;

/// The runtimes to test, and the commands that start their drivers.
#[derive(Debug)]
pub struct Suite<'s> {
    /// The runtimes.
    pub runtimes: &'s [Runtime],
    /// Returns the command that starts a runtime's driver. The driver reads one request per line and writes one answer per
    /// line.
    pub driver: fn(Runtime) -> Command,
}

impl Suite<'_> {
    /// Runs the cases from a folder's vector files, plus `count` random cases generated from `seed`. Returns `false` if any
    /// answer is wrong.
    ///
    /// # Errors
    ///
    /// Returns an error if a vector file is invalid or a driver fails.
    pub fn run(&self, vectors: &Path, seed: u64, count: usize) -> Result<bool> {
        let mut cases = vectors::read(vectors)?;
        cases.extend(describe::family_cases());
        println!(
            "random: {count} cases of seed {seed} (again: cargo xtask conformance --seed {seed} --cases {count})"
        );
        let drawn: Vec<_> = random::cases(seed, count).collect();
        print_families(&drawn);
        cases.extend(drawn);
        let start = Instant::now();
        let answers = self.send_all(&cases)?;
        let wrong = mismatches(&cases, &answers);
        print_mismatches(&wrong);
        let names: Vec<_> = self.runtimes.iter().map(|runtime| runtime.name()).collect();
        let (count, seconds) = (cases.len(), start.elapsed().as_secs_f32());
        println!(
            "{count} cases on {}: {} mismatches, in {seconds:.1} s",
            names.join(", "),
            wrong.len()
        );
        Ok(wrong.is_empty())
    }

    /// Runs the cases from a folder's vector files, and returns the names of those that at least one runtime answers
    /// incorrectly.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`Suite::run`].
    pub fn differing_cases(&self, vectors: &Path) -> Result<Vec<String>> {
        let cases = vectors::read(vectors)?;
        let answers = self.send_all(&cases)?;
        Ok(mismatches(&cases, &answers).iter().map(|mismatch| mismatch.name().to_owned()).collect())
    }

    /// Sends the requests to all runtimes at the same time.
    fn send_all(&self, cases: &[Case]) -> Result<Vec<Answers>> {
        thread::scope(|scope| {
            let ask = |&runtime| scope.spawn(move || self.request_answers(cases, runtime));
            let asked: Vec<_> = self.runtimes.iter().map(ask).collect();
            asked.into_iter().map(|thread| thread.join().expect("asking does not panic")).collect()
        })
    }

    fn request_answers(&self, cases: &[Case], runtime: Runtime) -> Result<Answers> {
        let start = Instant::now();
        let asked: Vec<_> = cases.iter().filter(|case| runtime.can_run(case)).collect();
        let requests = asked.iter().map(|case| &case.request);
        let driver = Driver::start(runtime, &mut (self.driver)(runtime))?.request(requests)?;
        let mut given = driver.into_iter();
        let (count, seconds) = (asked.len(), start.elapsed().as_secs_f32());
        println!("  {:<12} {count} answers in {seconds:.1} s", runtime.name());
        let answers =
            cases.iter().map(|case| runtime.can_run(case).then(|| given.next())?).collect();
        Ok(Answers { runtime, answers })
    }
}

/// Judges any implementation by the cases of a folder's vector files. Its program reads one request per line and writes one
/// answer per line. Operations that it answers with `unknown_op` are left out. Returns `false` if any other answer is wrong.
///
/// # Errors
///
/// Returns an error if a vector file is invalid, or if the program fails or supports no operation.
pub fn judge(vectors: &Path, mut program: Command) -> Result<bool> {
    let mut cases = vectors::read(vectors)?;
    cases.retain(|case| Runtime::Program.can_run(case));
    let requests = cases.iter().map(|case| &case.request);
    let given = Driver::start(Runtime::Program, &mut program)?.request(requests)?;
    let is_supported = |answer: &Value| answer["error"]["code"] != "unknown_op";
    let judged: BTreeSet<_> = cases
        .iter()
        .zip(&given)
        .filter(|(_, answer)| is_supported(answer))
        .map(|(case, _)| case.request["op"].to_string())
        .collect();
    ensure!(!judged.is_empty(), "expected a program that supports an operation, found none");
    let answers = given.into_iter().map(|answer| is_supported(&answer).then_some(answer)).collect();
    let answers: Vec<_> = [Answers { runtime: Runtime::Program, answers }].into();
    let count = answers[0].answers.iter().flatten().count();
    let wrong = mismatches(&cases, &answers);
    print_mismatches(&wrong);
    let operations = judged.into_iter().collect::<Vec<_>>().join(", ");
    println!("{count} of {} cases ({operations}): {} mismatches", cases.len(), wrong.len());
    Ok(wrong.is_empty())
}

fn print_mismatches(wrong: &[Mismatch<'_>]) {
    let printed = wrong.iter().take(MAX_PRINTED_MISMATCHES);
    printed.for_each(|mismatch| println!("\nMISMATCH {mismatch}"));
}

/// Prints the number of cases per format.
fn print_families(cases: &[Case]) {
    let mut counts = BTreeMap::new();
    cases.iter().for_each(|case| *counts.entry(case.family()).or_insert(0) += 1);
    counts.iter().for_each(|(family, count)| println!("  {family:<24} {count} cases"));
}
