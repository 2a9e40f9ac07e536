//! Runs the models with shuttle, which tries both random schedules and schedules based on changing priorities (PCT).

pub(crate) use shuttle::{
    lazy_static,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// The number of priority changes in a PCT schedule.
const PCT_DEPTH: usize = 3;

/// The default number of schedules of each kind per model. An environment variable overrides it.
const DEFAULT_SCHEDULES: usize = 2000;

pub(crate) fn check(_preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let given = std::env::var("SHUTTLE_SCHEDULES").ok();
    let schedules =
        given.map_or(DEFAULT_SCHEDULES, |text| text.parse().expect("a number of schedules"));
    let model = Arc::new(model);
    let again = model.clone();
    shuttle::check_random(move || model(), schedules);
    shuttle::check_pct(move || again(), schedules, PCT_DEPTH);
}
