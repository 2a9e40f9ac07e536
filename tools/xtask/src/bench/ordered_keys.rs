//! Measures how much time and space databases save with ordered keys. Inserts rows with our keys, and rows with random
//! keys, into the databases.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs;
use xshell::{Shell, cmd};

use super::{Options, machine, plots, programs};
use crate::{tools, workspace};

/// Fills the database tables, and prints the measured time and space. If requested, also writes these measurements to a
/// file and plots them.
pub fn main(shell: &Shell, options: &Options) -> Result<()> {
    programs::build_rust(shell)?;
    let (python, program) =
        (tools::bench_python(shell)?, workspace::root().join("tools/bench/ordered_keys"));
    let (makes_keys, rows) = (programs::rust_program(), options.rows.to_string());
    let machine = machine::detect();
    println!("{machine}");
    let result = tempfile::NamedTempFile::new()?;
    let into = result.path();
    cmd!(shell, "{python} {program} {makes_keys} {rows} {into}").run()?;
    let measured: Value = serde_json::from_str(&fs::read_to_string(into)?)?;
    let all = json!({ "machine": machine, "rows": options.rows, "tables": measured });
    fs::write(into, serde_json::to_string_pretty(&all)? + "\n")?;
    if let Some(file) = &options.json {
        fs::copy(into, file).with_context(|| format!("cannot write {}", file.display()))?;
    }
    if options.plots { plots::draw_file(shell, into) } else { Ok(()) }
}
