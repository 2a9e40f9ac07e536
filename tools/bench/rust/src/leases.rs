//! Compares a generator of the leases crate with generators that use only the core. Each call generates one ID.

use polyflake::{clock::SystemClock, layout};

use crate::{
    contest::{Comparison, Entry, Goal},
    measure::{Work, repeat},
    samples,
};

const LEASED_GENERATE: &str = "layout generate, leased";
const WITHOUT_LEASE: &str = "layout generate";

/// Returns the comparison. Both entries use the system clock, because leases support no other clock. The layout allows more
/// IDs per tick than a program can generate.
pub(crate) fn single_id() -> Comparison {
    Comparison::new(
        "rust: one ID under a lease that is kept",
        vec![
            Entry::own_entry(LEASED_GENERATE, generate_with_lease()),
            Entry::own_entry("the core's generator that moves", generate_across_grants()),
            Entry::own_entry(WITHOUT_LEASE, generate_without_lease()),
        ],
        vec![Goal::new(
            "rust: one ID under a lease that is kept",
            LEASED_GENERATE,
            WITHOUT_LEASE,
            1.02,
        )],
    )
}

fn generate_with_lease() -> Work {
    let layout = samples::instagram_like_layout();
    let ids = polyflake_lease::layout::Generator::new("memory:", "bench", &layout, &["shard"]);
    let ids = ids.expect("a lease");
    repeat(move || ids.generate())
}

/// Returns work that uses the core's type for leased generators, without the leases crate.
fn generate_across_grants() -> Work {
    let ids = layout::Leased::new(samples::layout(SystemClock)).expect("a timestamp");
    repeat(move || ids.generate(None))
}

fn generate_without_lease() -> Work {
    let ids = samples::layout(SystemClock);
    repeat(move || ids.generate())
}
