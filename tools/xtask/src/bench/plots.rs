//! Creates the plots in docs/bench and the page docs/project/goals.md. The plots are drawn by Matplotlib, which is installed in the
//! benchmarks' virtual environment.

use std::path::{Path, PathBuf};

use anyhow::Result;
use xshell::{Shell, cmd};

use super::{report::Report, table};
use crate::{tools, workspace};

/// The heading of the section about missed goals, which is written by hand.
const MISSED_GOALS_HEADING: &str = "\n## Why goals are missed\n";

/// Writes the page of goals and draws the plots for a report. The plots compare polyflake with its peers in each language,
/// and show the cost by batch size and the throughput by number of threads.
pub fn draw(shell: &Shell, report: &Report) -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    report.write(file.path())?;
    let page = workspace::root().join("docs/project/goals.md");
    // The section about missed goals is written by hand, so keep it.
    let before = shell.read_file(&page)?;
    let misses = before.find(MISSED_GOALS_HEADING).map_or("", |at| &before[at..]);
    shell.write_file(page, table::page(report) + misses)?;
    draw_file(shell, file.path())
}

fn folder() -> PathBuf {
    workspace::root().join("docs/bench")
}

/// Draws plots from a file that contains either a report or the measurements of ordered keys.
pub fn draw_file(shell: &Shell, report: &Path) -> Result<()> {
    let (python, program) =
        (tools::bench_python(shell)?, workspace::root().join("tools/bench/plots"));
    let into = folder();
    Ok(cmd!(shell, "{python} {program} {report} {into}").run()?)
}
