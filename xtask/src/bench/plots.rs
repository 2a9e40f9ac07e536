//! The plots of docs/bench, drawn by Matplotlib in the benches' environment.

use std::path::Path;

use anyhow::Result;
use xshell::{Shell, cmd};

use super::report::Report;
use crate::{tools, workspace};

/// What the report has: each language against its peers, cost against batch size, throughput against threads.
pub fn draw(shell: &Shell, report: &Report) -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    report.write(file.path())?;
    draw_file(shell, file.path())
}

/// Draws a report, or what ordered keys came to.
pub fn draw_file(shell: &Shell, report: &Path) -> Result<()> {
    tools::bench_python(shell)?;
    let (python, program) =
        (workspace::bench_venv().join("bin/python"), workspace::root().join("bench/plots"));
    let into = workspace::root().join("docs/bench");
    Ok(cmd!(shell, "{python} {program} {report} {into}").run()?)
}
