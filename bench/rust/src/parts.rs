//! The parts of one ID, each alone and together: what a goal leaves no room for is seen here, in the same run.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use polyflake::{
    clock::{Clock, CoarseClock, ExactClock, SystemClock},
    sparx64::Sparx64,
};

use crate::{
    clocks::Synthetic,
    contest::{Contest, Entry},
    measure::repeat,
    samples::{SECRET, Turns, hot_guid, randflake, sno, snos},
    team::{member, team},
};

/// The contest, without goals.
pub(crate) fn one() -> Contest {
    Contest {
        name: "rust: the parts of one ID",
        axis: None,
        entries: counters()
            .into_iter()
            .chain(clocks())
            .chain(generators())
            .chain(texts_by_threads())
            .collect(),
        goals: Vec::new(),
    }
}

/// A load of an atomic word, and a compare-and-swap of it.
pub(crate) fn swap() -> impl Fn() -> bool {
    let word = AtomicU64::new(0);
    move || {
        let seen = word.load(Ordering::Acquire);
        word.compare_exchange(seen, seen + 1, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// A load of an atomic word, a reading of a clock, and a compare-and-swap of the word: what every ID takes, in its order.
pub(crate) fn and_a_swap<T>(read: impl Fn() -> T + 'static) -> impl FnMut() -> (T, bool) {
    let word = AtomicU64::new(0);
    move || {
        let seen = word.load(Ordering::Acquire);
        let now = read();
        let orders = (Ordering::AcqRel, Ordering::Acquire);
        (now, word.compare_exchange(seen, seen + 1, orders.0, orders.1).is_ok())
    }
}

/// The processor's counter, with nothing of a clock.
#[cfg(target_arch = "x86_64")]
fn counters() -> Vec<Entry> {
    #[allow(
        unsafe_code,
        unused_unsafe,
        reason = "an instruction that Rust before 1.93 calls unsafe"
    )]
    fn counter() -> u64 {
        // SAFETY: every x86-64 processor has the instruction, and a process that may not use it has no counter clock to measure.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    let after = swap();
    vec![
        Entry::peer("the counter", repeat(counter)),
        Entry::peer("a swap", repeat(swap())),
        Entry::peer("the counter, then a swap", repeat(and_a_swap(counter))),
        Entry::peer("a swap, then the counter", repeat(move || (after(), counter()))),
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn counters() -> Vec<Entry> {
    vec![Entry::peer("a swap", repeat(swap()))]
}

/// The clocks alone, and with a swap.
fn clocks() -> Vec<Entry> {
    let coarse = CoarseClock::new().ok().into_iter().flat_map(|clock| {
        [
            Entry::ours("the coarse clock", repeat(move || clock.unix_nanos())),
            Entry::ours(
                "the coarse clock and a swap",
                repeat(and_a_swap(move || clock.unix_nanos())),
            ),
        ]
    });
    let ours = [
        Entry::ours("the system clock", repeat(|| SystemClock.unix_nanos())),
        Entry::ours("the system clock and a swap", repeat(and_a_swap(|| SystemClock.unix_nanos()))),
        Entry::ours("the exact clock", repeat(|| ExactClock.unix_nanos())),
        Entry::ours("the exact clock and a swap", repeat(and_a_swap(|| ExactClock.unix_nanos()))),
    ];
    let std = Entry::peer("SystemTime::now", repeat(SystemTime::now));
    ours.into_iter().chain(coarse).chain([std]).collect()
}

/// IDs under a clock that takes no time: the swap, the checks and the packing.
fn generators() -> Vec<Entry> {
    let (snos, flakes) = (sno(Synthetic::making(1)), randflake(Synthetic::in_seconds(1)));
    let (guids, cipher) = (hot_guid(Synthetic::in_seconds(1)), Sparx64::new(SECRET));
    let mut block = [0; 8];
    let encrypt = move || {
        block = cipher.encrypt_block(std::hint::black_box(block));
        block
    };
    vec![
        Entry::ours("sno without its clock", repeat(move || snos.generate(1))),
        Entry::ours("Hot Guid without its clock", repeat(move || guids.generate(1))),
        Entry::ours("Randflake without its clock", repeat(move || flakes.generate())),
        Entry::ours("a block of Randflake's cipher", repeat(encrypt)),
    ]
}

/// Work of about an ID's length without shared memory, by one thread and by two at a time: what the machine itself loses with two.
fn texts_by_threads() -> impl Iterator<Item = Entry> {
    let texts = || {
        let mut ids = Turns::of(snos());
        member(move || ids.next().text())
    };
    let sizes = [(1, "texts by one thread"), (2, "texts by two threads")];
    let sizes = sizes
        .into_iter()
        .filter(|(size, _)| crate::team::sizes().any(|held| held == *size as usize));
    sizes.map(move |(size, name)| Entry::peer(name, team(size as usize, texts)).making(size))
}
