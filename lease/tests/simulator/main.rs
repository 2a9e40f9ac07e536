//! Simulates worlds, each determined by a seed, with real keepers, an in-memory store and the core crate's generators.
//! Processes are killed, paused, closed and restarted. Clocks jump. Requests and replies are delayed, duplicated or lost.
//! The store fails, is restored from backups, or is replaced by its replica. Operators evict holders, reserve worker IDs,
//! and report promotions and restored backups. No two generators may hold the same worker ID at the same time, and no ID
//! may be generated twice.
//!
//! `POLYFLAKE_SEEDS=100000 cargo test --release -p polyflake-lease --test simulator` simulates more worlds, and
//! `POLYFLAKE_SEED=7` repeats a single world.
#![cfg(feature = "std")]
#![allow(unreachable_pub, reason = "modules of one test")]

mod generator;
mod trace;
#[path = "../trace/mod.rs"]
mod values;
mod world;

use std::{collections::BTreeMap, env};

use generator::Family;
use world::{WeakenedRule, World};

const EVENTS: usize = 1000;

fn number_from_env(name: &str) -> Option<u64> {
    env::var(name).ok().and_then(|value| value.parse().ok())
}

#[test]
fn no_two_generators_share_a_worker_id() {
    let seeds = match number_from_env("POLYFLAKE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number_from_env("POLYFLAKE_SEEDS").unwrap_or(2000),
    };
    let (mut claims, mut made, mut unusable, mut operated) = (0, 0, 0, 0);
    let mut rejected = BTreeMap::<_, usize>::new();
    let mut families = BTreeMap::<_, usize>::new();
    for seed in seeds.clone() {
        let mut world = World::new(seed, WeakenedRule::Nowhere);
        if let Some(fault) = world.run(EVENTS) {
            panic!("{fault}: POLYFLAKE_SEED={seed}");
        }
        claims += world.claims;
        unusable += world.unusable;
        operated += world.operated;
        made += generator::first_violation().1;
        *families.entry(format!("{:?}", world.family)).or_default() +=
            generator::first_violation().1;
        world
            .rejected
            .iter()
            .for_each(|(code, count)| *rejected.entry(*code).or_default() += count);
    }
    println!(
        "{} worlds, {claims} grants, {made} IDs {families:?}, {rejected:?}, {unusable} unusable, {operated} operated",
        seeds.end - seeds.start
    );
    if seeds.end - seeds.start >= 2000 {
        assert!(
            claims > 8_000 && made > 200_000 && operated > 2_000,
            "expected worlds in which something happens"
        );
        assert!(
            families.len() == Family::ALL.len() && families.values().all(|made| *made > 20_000),
            "expected IDs of all families, found {families:?}"
        );
        let codes = [
            "clock_skewed",
            "lease_lost",
            "lease_unavailable",
            "worker_ids_exhausted",
            "store_changed",
        ];
        for code in codes {
            assert!(
                rejected.get(code).is_some_and(|count| *count > 10),
                "expected {code}: {rejected:?}"
            );
        }
    }
}

/// Process images are restored twice, at any moment, including between a request and its reply. A copy's IDs are unique
/// once the store has acknowledged a write that the copy sent after its restore.
#[test]
fn restored_copies_diverge() {
    let (mut copied, mut lost) = (0, 0);
    for seed in 0..number_from_env("POLYFLAKE_SEEDS").unwrap_or(1000) {
        let mut world = World::new(seed, WeakenedRule::Nowhere);
        world.images = 2;
        if let Some(fault) = world.run(EVENTS) {
            panic!("{fault}: POLYFLAKE_SEED={seed}");
        }
        copied += world.copied;
        lost += world.rejected.get("lease_lost").unwrap_or(&0);
    }
    println!("{copied} images were restored twice, {lost} leases were lost");
    assert!(copied > 500 && lost > 200, "expected copies, found {copied} and {lost} lost leases");
}

/// The store is emptied, or restarts with an old snapshot or without data, while messages are late or repeated.
#[test]
fn data_loss_in_a_volatile_store_repeats_no_id() {
    let (mut claims, mut made, mut lost) = (0, 0, 0);
    for seed in 0..number_from_env("POLYFLAKE_SEEDS").unwrap_or(1000) {
        let mut world = World::new_volatile(seed, WeakenedRule::Nowhere);
        if let Some(fault) = world.run(EVENTS) {
            panic!("{fault}: POLYFLAKE_SEED={seed}");
        }
        (claims, lost) = (claims + world.claims, lost + world.lost);
        made += generator::first_violation().1;
    }
    println!("{lost} losses, {claims} grants, {made} IDs");
    assert!(lost > 1000 && claims > 1000 && made > 50_000, "expected worlds in which data is lost");
}

#[test]
fn weakened_volatile_stores_repeat_ids() {
    for weak in [WeakenedRule::EmptiedDurable, WeakenedRule::NotDurable] {
        let is_caught = |seed: &u64| World::new_volatile(*seed, weak).run(EVENTS).is_some();
        let caught = (0..1000).find(is_caught);
        println!("{weak:?}: caught in the world {caught:?}");
        assert!(caught.is_some(), "expected that {weak:?} is noticed");
    }
}

/// The simulator must detect weakened rules quickly, which shows that the simulated worlds contain enough faults.
#[test]
fn weakened_worlds_repeat_ids() {
    for weak in [
        WeakenedRule::NoCompare,
        WeakenedRule::TtlAsProof,
        WeakenedRule::NoSeal,
        WeakenedRule::NotDurable,
        WeakenedRule::FalsePromotion,
        WeakenedRule::NoGap,
    ] {
        let mut caught = BTreeMap::new();
        for seed in 0..1000 {
            let mut world = World::new(seed, weak);
            world.images = if weak == WeakenedRule::NoGap { 2 } else { 0 };
            if world.run(EVENTS).is_some() {
                caught.entry(format!("{:?}", world.family)).or_insert(seed);
            }
            if caught.len() == Family::ALL.len() {
                break;
            }
        }
        println!("{weak:?}: caught in the worlds {caught:?}");
        assert_eq!(
            caught.len(),
            Family::ALL.len(),
            "expected that {weak:?} is noticed in all families"
        );
    }
}
