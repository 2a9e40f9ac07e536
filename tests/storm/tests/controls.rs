//! Tests that each storm catches a generator with a deliberate fault that a less demanding storm does not reveal. Also
//! tests that a generator without a fault breaks no rule in any storm.
#![cfg(target_os = "linux")]

use std::{thread, time::Duration};

use anyhow::Result;
use idstorm::{
    clock,
    judge::Format,
    order::Order,
    process::{Program, can_use_namespaces},
    storms::{STORMS, Size, Storm},
    verdict::Verdict,
};

/// A number of IDs that is large enough for two processes to generate IDs in the same millisecond, even on a busy machine.
/// It is also large enough for IDs from before and after a clock step to have the same millisecond.
const MANY_IDS: u64 = 10_000;

/// Runs a control generator in a storm.
fn run_in_storm(control: &str, storm: &str, ids: u64, format: &Format) -> Result<Verdict> {
    let command = vec![env!("CARGO_BIN_EXE_controls").to_owned(), control.to_owned()];
    let program = Program { command, is_lines: false, renews: false };
    let folder = tempfile::tempdir().unwrap();
    let longest = Duration::from_secs(300);
    let size = Size { ids, width: 4, memory: 1 << 16, folder: folder.path().to_owned(), longest };
    STORMS.iter().find(|it| it.name == storm).unwrap().run(&program, format, &size)
}

/// Runs a control generator in a storm. Returns `None` if this machine cannot run the storm.
fn run(control: &str, storm: &str, ids: u64, format: &Format) -> Option<Verdict> {
    let is_able = match storm {
        "rollback" | "steps" => clock::is_available(),
        "hosts" | "image" => can_use_namespaces(),
        _ => true,
    };
    if !is_able {
        println!("left out: {storm} on this machine");
        return None;
    }
    Some(run_in_storm(control, storm, ids, format).unwrap())
}

/// Asserts that a storm catches the control generator's fault, and that the less demanding storm `gentler` does not. How
/// closely in time the processes run depends on the machine, so a storm that finds no duplicate is repeated with twice as
/// many IDs.
#[track_caller]
fn assert_caught(control: &str, storm: &str, ids: u64, gentler: &str) {
    let format = Format { order: Some(Order::Text), time: None };
    let attempts = (0..5).map_while(|attempt| run(control, storm, ids << attempt, &format));
    let mut last = None;
    for verdict in attempts {
        assert!(verdict.errors.is_empty(), "{verdict}");
        let is_caught = verdict.distinct.count > 0;
        last = Some(verdict);
        if is_caught {
            break;
        }
    }
    if let Some(verdict) = last {
        assert!(verdict.distinct.first.is_some(), "{control} in {storm}: {verdict}");
    }
    if let Some(verdict) = run(control, gentler, ids, &format) {
        assert!(verdict.distinct.count == 0, "{control} in {gentler}: {verdict}");
        assert!(verdict.ids > 0, "no IDs");
    }
}

#[test]
fn one_repeated_id_among_many_on_disk_is_found() {
    let format = Format { order: None, time: None };
    let verdict = run_in_storm("one-repeat", "threads", 120_000, &format).unwrap();
    assert_eq!((verdict.ids, verdict.distinct.count), (120_000, 1), "{verdict}");
}

#[test]
fn threads_catch_a_count_without_a_lock() {
    assert_caught("unlocked", "threads", 4000, "processes");
}

#[test]
fn processes_catch_a_snowflake_without_a_worker_id() {
    assert_caught("no-worker", "processes", MANY_IDS, "threads");
}

#[test]
fn hosts_catch_a_worker_id_that_is_a_process_id() {
    assert_caught("pid-worker", "hosts", MANY_IDS, "processes");
}

#[test]
fn forks_catch_a_random_base_that_children_keep() {
    assert_caught("unaware", "fork", 1000, "processes");
}

#[test]
fn raw_forks_catch_a_fork_hook() {
    assert_caught("hooked", "raw-fork", 1000, "fork");
}

#[test]
fn prefork_servers_catch_a_base_that_children_keep_before_their_first_id() {
    assert_caught("lazy", "prefork", 1000, "fork");
}

#[test]
fn copied_images_catch_a_comparison_of_process_ids() {
    assert_caught("pid-check", "image", 1000, "prefork");
}

#[test]
fn a_rollback_catches_a_snowflake_that_forgets_its_ticks() {
    assert_caught("forgetful", "rollback", MANY_IDS, "processes");
}

#[test]
fn steps_catch_a_snowflake_with_one_rollback_bit() {
    assert_caught("one-bit", "steps", MANY_IDS, "rollback");
}

#[test]
fn kills_catch_a_count_that_is_saved_late() {
    assert_caught("late-save", "kill", 8000, "processes");
}

#[test]
fn restarts_catch_a_snowflake_that_starts_in_a_used_tick() {
    assert_caught("forgetful", "restart", 1000, "threads");
}

#[test]
fn pauses_catch_a_lease_that_is_not_checked_for_each_id() {
    assert_caught("lease", "pause", 1500, "threads");
}

#[test]
fn a_rollback_catches_ids_out_of_order() {
    let format = Format { order: Some(Order::Text), time: None };
    let mut attempts = (0..5).map_while(|at| run("forgetful", "rollback", MANY_IDS << at, &format));
    let is_caught = |verdict: Verdict| {
        verdict.thread.unwrap().count > 0 && verdict.generator.unwrap().count > 0
    };
    assert!(!clock::is_available() || attempts.any(is_caught));
}

#[test]
fn a_generator_without_a_fault_breaks_no_rule() {
    let time = Some("hex:64:63:1:0".parse().unwrap());
    let format = Format { order: Some(Order::Text), time };
    let is_clean = |storm: &Storm| {
        if let Some(verdict) = run("clean", storm.name, 2000, &format) {
            assert!(verdict.is_clean() && verdict.errors.is_empty(), "{}: {verdict}", storm.name);
            assert!(verdict.ids > 0, "no IDs in {}", storm.name);
        }
    };
    // Run the storms in parallel, because their threads spend most of their time waiting.
    thread::scope(|scope| {
        for storm in &STORMS {
            scope.spawn(|| is_clean(storm));
        }
    });
}

#[test]
fn a_host_whose_copy_fails_gets_no_verdict() {
    let error = run_in_storm("dies", "prefork", 1000, &Format::default()).unwrap_err();
    assert!(error.to_string().contains("failed"), "{error}");
}
