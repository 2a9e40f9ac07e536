//! Model-checks the protocol in `docs/leases.md` exhaustively: no two generators may use the same (worker ID, tick).
//! Variants with one weakened rule must break this guarantee, which shows that every rule is necessary.
//!
//! Searches that take minutes are marked `#[ignore]`; `cargo xtask leases` runs them.
#![allow(unreachable_pub, reason = "modules of one test")]
#![allow(
    clippy::trivially_copy_pass_by_ref,
    clippy::unused_self,
    reason = "all steps of a model are called alike"
)]

mod protocol;
mod search;
mod second_store_model;
mod state;
mod volatile_model;
mod weakened_variants;

use std::time::Instant;

use protocol::{Operator, Protocol, Size, Time};
use search::{Model, SearchResult, search};
use second_store_model::SecondStoreModel;
use volatile_model::VolatileModel;
use weakened_variants::{VARIANTS, WeakenedRule};

const UNLIMITED_DEPTH: usize = usize::MAX;

#[track_caller]
fn assert_sound(model: &impl Model, name: &str) {
    let start = Instant::now();
    let found = search(model, UNLIMITED_DEPTH);
    assert!(matches!(found, SearchResult::Nothing { .. }), "{name}: {found:?}");
    println!("{name}: {found:?}, {:.1?}", start.elapsed());
}

fn sound_protocol(size: Size) -> Protocol {
    Protocol { size, weak: WeakenedRule::Nowhere }
}

#[test]
fn no_two_generators_use_the_same_tick() {
    let small = Size { renewals: 1, ..Size::SMALLEST };
    let size = Size { ticks: 3, crashes: 1, deliveries: 2, ..small };
    assert_sound(&sound_protocol(size), "a crash, doubled messages");
    assert_sound(&sound_protocol(Size { store_crashes: 1, ..small }), "a store that crashes");
    assert_sound(&sound_protocol(Size { grain: 2, ..small }), "borders between ticks");
    assert_sound(&sound_protocol(Size { claims: 3, renewals: 0, ..small }), "three claims");
    assert_sound(&sound_protocol(Size { numbers: 2, renewals: 0, ..small }), "two numbers");
}

#[test]
fn a_restored_store_repeats_no_id() {
    assert_sound(&sound_protocol(Size { renewals: 0, ..Size::RESTORE }), "a backup");
    assert_sound(&sound_protocol(Size::RESTORE), "a backup and a renewal");
    let time = Time::Passing { error: 1, longest: 2, slack: 1, restores: 2 };
    assert_sound(&sound_protocol(Size { renewals: 0, time, ..Size::RESTORE }), "two backups");
}

#[test]
fn clones_repeat_no_id_after_their_shared_end() {
    assert_sound(
        &sound_protocol(Size { clones: 1, renewals: 1, ..weakened_variants::TWO_RENEWALS }),
        "a clone",
    );
    assert_sound(&sound_protocol(weakened_variants::CLONED_CLAIM), "a clone of a claimant");
}

/// Copies that notice a gap between their wall and monotonic clocks may repeat IDs only until the store has acknowledged a
/// write by one of the copies.
#[test]
fn copies_with_gaps_repeat_no_id_after_their_next_renewals() {
    assert_sound(
        &sound_protocol(weakened_variants::RESTORED_TWICE),
        "an image that is restored twice",
    );
    let claim = Size { renewals: 1, ..weakened_variants::RESTORED_TWICE };
    assert_sound(&sound_protocol(Size { ticks: 3, ..claim }), "the same with three ticks");
    assert_sound(
        &sound_protocol(weakened_variants::COPIED_HOLDER),
        "a process that continues next to its copy",
    );
}

#[test]
fn a_promoted_replica_repeats_no_id() {
    assert_sound(&sound_protocol(Size::REPLICA), "a synchronous replica");
}

#[test]
fn operator_statements_repeat_no_id() {
    assert_sound(
        &sound_protocol(weakened_variants::EXACT_OPERATOR),
        "a backup in place and a promotion",
    );
    assert_sound(&sound_protocol(Size::DEAD_HOLDERS), "a dead holder");
}

#[test]
fn every_weakened_variant_repeats_an_id() {
    for variant in VARIANTS.iter().filter(|variant| variant.caught.is_some()) {
        let found = search(&Protocol { size: variant.size, weak: variant.weak }, UNLIMITED_DEPTH);
        let expected = SearchResult::Broken { steps: variant.caught.unwrap() };
        assert_eq!(found, expected, "{}", variant.name);
    }
}

#[test]
fn harmless_variants_repeat_no_id() {
    for variant in VARIANTS.iter().filter(|variant| variant.caught.is_none()) {
        assert_sound(&Protocol { size: variant.size, weak: variant.weak }, variant.name);
    }
}

fn volatile(size: volatile_model::Size) -> VolatileModel {
    VolatileModel { weak: volatile_model::WeakenedRule::Nowhere, size }
}

#[test]
fn a_volatile_store_repeats_no_id() {
    assert_sound(&volatile(volatile_model::FLUSH), "FLUSHALL");
    assert_sound(&volatile(volatile_model::RENEWAL), "a crash and a renewal");
    assert_sound(&volatile(volatile_model::DEMOTION), "a demotion and a promotion");
    assert_sound(&volatile(volatile_model::REPEATED_FLUSH), "doubled messages");
}

#[test]
fn every_weakened_volatile_store_repeats_an_id() {
    for (name, weak, size, steps) in volatile_model::VARIANTS {
        let found = search(&VolatileModel { weak: *weak, size: *size }, UNLIMITED_DEPTH);
        assert_eq!(found, SearchResult::Broken { steps: *steps }, "{name}");
    }
}

#[test]
fn a_proven_second_store_repeats_no_id() {
    use second_store_model::{COPY, EXACT, FRESH, WeakenedRule};
    let model = |size| SecondStoreModel { weak: WeakenedRule::Nowhere, size };
    assert_sound(&model(FRESH), "a separate store");
    assert_sound(&model(COPY), "a copy");
    assert_sound(&model(EXACT), "exact clocks");
}

#[test]
fn every_weakened_proof_repeats_an_id() {
    for (name, weak, size, steps) in second_store_model::VARIANTS {
        let found = search(&SecondStoreModel { weak: *weak, size: *size }, UNLIMITED_DEPTH);
        assert_eq!(found, SearchResult::Broken { steps: *steps }, "{name}");
    }
}

/// The documentation must list every row of the variant tables.
#[test]
fn the_page_lists_every_variant() {
    let page = include_str!("../../../docs/leases.md");
    let caught = |steps: Option<usize>| steps.map_or("harmless".to_owned(), |n| n.to_string());
    let rows = VARIANTS.iter().map(|row| (row.name, caught(row.caught)));
    let rows =
        rows.chain(volatile_model::VARIANTS.iter().map(|(name, _, _, n)| (*name, n.to_string())));
    let proofs = second_store_model::VARIANTS.iter();
    let rows = rows.chain(proofs.map(|(name, _, _, n)| (*name, n.to_string())));
    for (name, caught) in rows {
        let row = format!("| {name} | {caught} |\n");
        assert!(page.contains(&row), "expected in docs/leases.md: {row}");
    }
}

#[test]
#[ignore = "minutes"]
fn two_holders_over_three_ticks_repeat_no_id() {
    let size = Size { ticks: 3, claims: 3, renewals: 1, crashes: 1, ..Size::SMALLEST };
    assert_sound(
        &sound_protocol(size),
        "2 holders, 1 number, 3 ticks, 3 claims, 1 renewal, 1 crash",
    );
    let size = Size { deliveries: 2, ..size };
    assert_sound(&sound_protocol(size), "the same with doubled messages");
}

#[test]
#[ignore = "minutes"]
fn two_holders_over_four_ticks_repeat_no_id() {
    let size = Size { ticks: 4, claims: 3, renewals: 1, crashes: 1, ..Size::SMALLEST };
    assert_sound(
        &sound_protocol(size),
        "2 holders, 1 number, 4 ticks, 3 claims, 1 renewal, 1 crash",
    );
}

#[test]
#[ignore = "minutes"]
fn three_holders_of_two_worker_ids_repeat_no_id() {
    let size = Size { holders: 3, numbers: 2, ticks: 3, claims: 3, renewals: 1, ..Size::SMALLEST };
    let (start, found) = (Instant::now(), search(&sound_protocol(size), 30_000_000));
    let SearchResult::Deep { steps, .. } = found else { panic!("{found:?}") };
    assert!(steps >= 8, "{found:?}");
    println!("3 holders, 2 numbers, 3 ticks: {found:?}, {:.1?}", start.elapsed());
}

#[test]
#[ignore = "minutes"]
fn a_longer_backup_model_repeats_no_id() {
    let time = Time::Passing { error: 1, longest: 2, slack: 1, restores: 1 };
    assert_sound(&sound_protocol(Size { ticks: 5, time, ..Size::RESTORE }), "a backup, 5 ticks");
    let time = Time::Passing { error: 1, longest: 2, slack: 1, restores: 2 };
    assert_sound(&sound_protocol(Size { time, ..Size::RESTORE }), "two backups and a renewal");
    assert_sound(
        &sound_protocol(Size { clones: 1, ..weakened_variants::TWO_RENEWALS }),
        "a clone, two renewals",
    );
}

/// Models three events: a backup is restored, which a keeper detects; a backup is restored in place, which the operator
/// reports; and a replica is promoted, which the operator reports at any time.
#[test]
#[ignore = "minutes"]
fn a_longer_operator_model_repeats_no_id() {
    let one = Operator { restored: 1, promoted: 1, dead: 0 };
    let time = Time::Passing { error: 1, longest: 2, slack: 1, restores: 1 };
    let size = Size { ticks: 5, promotions: 1, operator: one, time, ..Size::RESTORE };
    assert_sound(&sound_protocol(Size { renewals: 0, ..size }), "backups, a promotion, 5 ticks");
    assert_sound(&sound_protocol(Size { ticks: 4, ..size }), "the same with a renewal, 4 ticks");
}

/// Models a holder that an operator declares dead. A single search that combines all three kinds of operator statements
/// would have too many states for one machine.
#[test]
#[ignore = "minutes"]
fn a_longer_dead_holder_model_repeats_no_id() {
    assert_sound(
        &sound_protocol(Size { ticks: 5, ..Size::DEAD_HOLDERS }),
        "a dead holder, 5 ticks",
    );
    assert_sound(
        &sound_protocol(Size { claims: 3, ..Size::DEAD_HOLDERS }),
        "a dead holder, 3 claims",
    );
    assert_sound(
        &sound_protocol(Size { renewals: 1, ..Size::DEAD_HOLDERS }),
        "a dead holder, a renewal",
    );
}

#[test]
#[ignore = "minutes"]
fn a_longer_replica_model_repeats_no_id() {
    let size = Size { renewals: 1, ..Size::REPLICA };
    assert_sound(&sound_protocol(size), "a replica, a renewal");
    assert_sound(&sound_protocol(Size { proofs: 2, ..Size::REPLICA }), "a replica, two proofs");
}

#[test]
#[ignore = "minutes"]
fn longer_harmless_variants_repeat_no_id() {
    for variant in VARIANTS.iter().filter(|variant| variant.caught.is_none()) {
        let size = Size { claims: 3, renewals: 1, ticks: 3, ..Size::SMALLEST };
        assert_sound(&Protocol { size, weak: variant.weak }, variant.name);
    }
}

#[test]
#[ignore = "minutes"]
fn a_longer_volatile_model_repeats_no_id() {
    let size =
        volatile_model::Size { is_empty: true, namespaces: 3, ticks: 9, ..volatile_model::CRASH };
    assert_sound(&volatile(size), "an empty store, a crash");
    let size = volatile_model::Size {
        crashes: 2,
        namespaces: 2,
        ticks: 6,
        slack: 0,
        ..volatile_model::CRASH
    };
    assert_sound(&volatile(size), "two crashes");
    let size = volatile_model::Size { crashes: 1, ticks: 6, slack: 0, ..volatile_model::FLUSH };
    assert_sound(&volatile(size), "FLUSHALL, a crash");
    let size = volatile_model::Size { namespaces: 3, error: 0, ..size };
    assert_sound(&volatile(size), "FLUSHALL, a crash and another wait with an exact clock");
}
