//! Runs the models with loom, which explores either all interleavings or all interleavings with at most a given number of
//! preemptions.

pub(crate) use loom::{
    lazy_static,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Checks a model with loom. The `LOOM_MAX_PREEMPTIONS` environment variable overrides the model's bound, if it has one. A
/// value of 0 removes the bound.
pub(crate) fn check(preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    let given = builder.preemption_bound;
    builder.preemption_bound = preemptions
        .and_then(|bound| given.map_or(Some(bound), |given| (given > 0).then_some(given)));
    builder.check(model);
}
