//! Runs the `kills` program briefly. Asserts that no ID repeats. As a control, also asserts that IDs do repeat if the
//! processes skip the steps that keep consecutive processes from repeating IDs.

use std::process::Command;

fn run_kills(options: &[&str]) -> (bool, String) {
    let run =
        Command::new(env!("CARGO_BIN_EXE_kills")).args(options).output().expect("the program");
    (run.status.success(), String::from_utf8_lossy(&run.stdout).into_owned())
}

#[test]
fn killed_processes_never_repeat_an_id() {
    let (well, said) = run_kills(&["--kills", "20"]);
    assert!(well, "{said}");
    assert_eq!(said.matches(" 0 there twice").count(), 9, "{said}");
}

#[test]
fn careless_restarts_repeat_an_id() {
    for kind in
        ["sno-windows", "hotguid-windows", "uuid7-windows", "randflake-leases", "layout-snapshots"]
    {
        let (well, said) = run_kills(&["--kills", "1000", "--careless", "--kind", kind]);
        assert!(!well && !said.contains(" 0 there twice"), "{said}");
    }
}
