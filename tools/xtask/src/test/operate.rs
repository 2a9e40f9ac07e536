//! Checks the files in `examples/operate` with the tools of Kubernetes, systemd, containers and Prometheus.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::{tools, workspace};

const FOLDER: &str = "examples/operate";

/// The oldest and the newest version of Kubernetes whose schemas the manifest must match. A `preStop` hook that sleeps is
/// enabled by default from 1.30 on.
const KUBERNETES: [&str; 2] = ["1.30", "1.37"];

/// The highest exposure of a unit, from 0 to 100, that `systemd-analyze security` accepts.
const MAX_EXPOSURE: &str = "15";

pub fn check(shell: &Shell) -> Result<()> {
    let tools = tools::operate_tools(shell)?;
    let promtool = tools::promtool(shell)?;
    let _root = shell.push_dir(workspace::root());
    cmd!(shell, "{promtool} check rules --lint-fatal {FOLDER}/alerts.yml").run()?;
    cmd!(shell, "{promtool} test rules tests/operate/alerts.test.yml").run()?;
    cmd!(shell, "{tools}/hadolint --failure-threshold info {FOLDER}/Containerfile").run()?;
    for version in KUBERNETES {
        let arguments = ["--strict", "--quiet", "--kubernetes-version", version];
        cmd!(shell, "{tools}/kubernetes-validate {arguments...} {FOLDER}/kubernetes.yaml").run()?;
    }
    let systemd = tools::systemd_analyze(shell)?;
    let units = shell.read_dir(FOLDER)?;
    let is_unit = |file: &&std::path::PathBuf| file.extension().is_some_and(|end| end == "service");
    let units: Vec<_> = units.iter().filter(is_unit).collect();
    ensure!(units.len() == 2, "expected two units in {FOLDER}, found {units:?}");
    for unit in units {
        cmd!(shell, "{systemd} security --offline=true --threshold={MAX_EXPOSURE} {unit}")
            .ignore_stdout()
            .run()?;
        // The unit's program is not installed on this machine.
        let text = shell.read_file(unit)?;
        let (before, rest) = text.split_once("ExecStart=").unwrap_or_default();
        let (_, arguments) = rest.split_once([' ', '\n']).unwrap_or_default();
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join(unit.file_name().unwrap_or_default());
        shell.write_file(&copy, format!("{before}ExecStart=/bin/true {arguments}"))?;
        cmd!(shell, "{systemd} verify --recursive-errors=no --man=no {copy}").run()?;
    }
    Ok(())
}
