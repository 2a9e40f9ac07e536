//! Rules of all generators, over all families: the engine is one. What only one family does is tested in files of its name.

mod batches;
mod ends;
#[path = "../support/family.rs"]
mod family;
mod handles;
mod readings;
#[path = "../support/mod.rs"]
mod support;
mod waits;
mod windows;

use family::Ids;
use support::ScriptedClock;

/// Asserts the start of an ID's tick, and its place in the tick.
#[track_caller]
fn assert_made(made: polyflake::Result<family::Made>, unix_ms: i64, place: u64) {
    let made = made.unwrap();
    assert_eq!((made.unix_ms, made.place), (unix_ms, place));
}

/// Runs `test` for each family, with a clock that shows [`family::T`] and a generator with every default.
fn for_each(test: impl Fn(&family::Family, &ScriptedClock, &std::sync::Arc<dyn Ids>)) {
    for family in family::FAMILIES {
        println!("{}", family.name);
        let clock = ScriptedClock::default();
        clock.play([family::T]);
        test(&family, &clock, &family.generator(clock.clone()));
    }
}
