//! One ID of a generator that the leases crate manages, compared with one of the core's generator alone.

use polyflake::{clock::SystemClock, layout};

use crate::{
    contest::{Contest, Entry, Goal},
    measure::{Work, repeat},
    samples,
};

const LEASED: &str = "layout generate, leased";
const ALONE: &str = "layout generate";

/// Both sides use the system clock, because leases read no other. The layout's ticks hold more IDs than can be made in them.
pub(crate) fn one() -> Contest {
    Contest::new(
        "rust: one ID under a lease that is kept",
        vec![
            Entry::ours(LEASED, leased()),
            Entry::ours("the core's generator that moves", moving()),
            Entry::ours(ALONE, alone()),
        ],
        vec![Goal::new("rust: one ID under a lease that is kept", LEASED, ALONE, 1.02)],
    )
}

fn leased() -> Work {
    let layout = samples::layout_like_instagram();
    let ids = polyflake_lease::layout::Generator::new("memory:", "bench", &layout, &["shard"]);
    let ids = ids.expect("a lease");
    repeat(move || ids.generate())
}

/// Returns the part of the work that is done in the core.
fn moving() -> Work {
    let ids = layout::Leased::new(samples::layout(SystemClock)).expect("a timestamp");
    repeat(move || ids.generate(None))
}

fn alone() -> Work {
    let ids = samples::layout(SystemClock);
    repeat(move || ids.generate())
}
