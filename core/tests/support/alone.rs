//! Tests in a process of their own: what a process has once, others have used.

use std::{env, process::Command};

/// Runs a test in a process of its own, with variables in its environment. Miri has no processes.
pub(crate) fn alone(name: &str, variables: &[(&str, &str)], test: impl FnOnce()) {
    const NAME: &str = "POLYFLAKE_TEST";
    if cfg!(miri) || env::var(NAME).is_ok_and(|wanted| wanted == name) {
        return test();
    }
    let mut this = Command::new(env::current_exe().unwrap());
    let this = this.args(["--exact", name, "--nocapture"]).envs(variables.iter().copied());
    let output = this.env(NAME, name).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
