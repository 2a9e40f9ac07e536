//! Benchmarks for generating single IDs: this project compared with its peers and with the cost of one clock reading.

use std::time::{Duration, SystemTime};

use polyflake::{
    clock::{ExactClock, SystemClock, TickingClock},
    sno::Handle,
    uuid7,
};
use svix_ksuid::{Ksuid, KsuidLike};
use uuid::Uuid;

use crate::{
    clocks::RunawayClock,
    contest::{Comparison, Entry, Goal},
    measure::repeat,
    peers::{self, FAST_HANDLE, FAST_UUID_V7, FERROID, FERROID_TICKING, NULID, UUID, Visit},
    samples::{hot_guid, layout, randflake, sno, uuid7},
};

const TICKING_HANDLE: &str = "sno, a handle, ticking clock";
const UUID7_HANDLE: &str = "UUID v7, a handle";
const CLOCK: &str = "SystemTime::now alone";

/// Returns the comparison for generating one ID in the library's own type, as bytes or as an integer.
pub(crate) fn single_id() -> Comparison {
    Comparison::new(
        "rust: one ID",
        own_id_entries().into_iter().chain(peer_id_entries()).collect(),
        vec![
            Goal::new("rust: sno generate, against the clock", "sno", CLOCK, 0.7),
            Goal::new("rust: sno generate, against ferroid", "sno", FERROID, 0.5),
            Goal::new("rust: sno generate, against nulid", "sno", NULID, 1.1),
            Goal::new("rust: a sno handle, against fast-uuid-v7", TICKING_HANDLE, FAST_HANDLE, 1.1),
            Goal::new("rust: Hot Guid generate, against ferroid", "Hot Guid", FERROID, 0.65),
            Goal::new("rust: sno generate, coarse clock", "sno, coarse clock", FERROID, 0.32),
            Goal::new(
                "rust: sno generate, ticking clock",
                "sno, ticking clock",
                FERROID_TICKING,
                1.1,
            ),
            Goal::new("rust: a sno handle, ticking clock", TICKING_HANDLE, FERROID_TICKING, 0.9),
            Goal::new("rust: UUID v7 generate, against fast-uuid-v7", "UUID v7", FAST_UUID_V7, 1.3),
            Goal::new("rust: UUID v7 generate, against uuid", "UUID v7", UUID, 0.3),
            Goal::new(
                "rust: a UUID v7 handle, against fast-uuid-v7",
                UUID7_HANDLE,
                FAST_UUID_V7,
                0.6,
            ),
        ],
    )
}

fn own_id_entries() -> Vec<Entry> {
    let exact = sno(RunawayClock::for_batch_size(1));
    let looking = sno(RunawayClock::for_single_ids(ExactClock));
    let ticking = TickingClock::new(Duration::from_millis(1)).expect("a thread");
    let (ticking, shared) = (
        sno(RunawayClock::for_single_ids(ticking.clone())),
        sno(RunawayClock::for_single_ids(ticking)),
    );
    let mut handle = Handle::new(Box::new(shared));
    let (randflake, hot_guid, layout) = (
        randflake(RunawayClock::with_second_ticks(1)),
        hot_guid(RunawayClock::with_second_ticks(1)),
        layout(SystemClock),
    );
    let [uuids, shared] = [1, 1].map(|one| uuid7(RunawayClock::with_millisecond_ticks(one)));
    let mut uuid_handle = uuid7::Handle::new(Box::new(shared));
    [Entry::own_entry("sno", repeat(move || exact.generate(1).expect("a clock")))]
        .into_iter()
        .chain(coarse_clock_entry())
        .chain([
            Entry::own_entry(
                "sno, exact clock",
                repeat(move || looking.generate(1).expect("a clock")),
            ),
            Entry::own_entry(
                "sno, ticking clock",
                repeat(move || ticking.generate(1).expect("a clock")),
            ),
            Entry::own_entry(TICKING_HANDLE, repeat(move || handle.generate(1).expect("a clock"))),
            Entry::own_entry("Randflake", repeat(move || randflake.generate().expect("a clock"))),
            Entry::own_entry("Hot Guid", repeat(move || hot_guid.generate(1).expect("a clock"))),
            Entry::own_entry("UUID v7", repeat(move || uuids.generate().expect("a clock"))),
            Entry::own_entry(
                UUID7_HANDLE,
                repeat(move || uuid_handle.generate().expect("a clock")),
            ),
            Entry::own_entry("custom layout", repeat(move || layout.generate().expect("a clock"))),
        ])
        .collect()
}

#[cfg(target_os = "linux")]
fn coarse_clock_entry() -> Option<Entry> {
    let ids = sno(RunawayClock::for_single_ids(polyflake::clock::CoarseClock::new().ok()?));
    Some(Entry::own_entry("sno, coarse clock", repeat(move || ids.generate(1).expect("a clock"))))
}

/// Returns `None`, because only Linux has a coarse clock.
#[cfg(not(target_os = "linux"))]
const fn coarse_clock_entry() -> Option<Entry> {
    None
}

fn peer_id_entries() -> Vec<Entry> {
    let mut entries = vec![Entry::peer_entry(CLOCK, repeat(SystemTime::now))];
    peers::visit_all(&mut entries);
    entries
}

impl Visit for Vec<Entry> {
    fn visit<T>(
        &mut self,
        name: &'static str,
        _: Option<usize>,
        call: impl FnMut() -> T + 'static,
        _: impl Fn(T) -> Vec<u8> + 'static,
    ) {
        self.push(Entry::peer_entry(name, repeat(call)));
    }
}

/// Returns the comparison for generating one ID as a string. The string is on the stack if the library supports that.
pub(crate) fn text() -> Comparison {
    let (sno, randflake) =
        (sno(RunawayClock::for_batch_size(1)), randflake(RunawayClock::with_second_ticks(1)));
    let hot_guid = hot_guid(RunawayClock::with_second_ticks(1));
    let uuid7 = uuid7(RunawayClock::with_millisecond_ticks(1));
    let nulids = nulid::Generator::new();
    Comparison::new(
        "rust: one ID as text",
        vec![
            Entry::own_entry("sno", repeat(move || sno.generate(1).expect("a clock").text())),
            Entry::own_entry(
                "Randflake",
                repeat(move || randflake.generate().expect("a clock").text()),
            ),
            Entry::own_entry(
                "Hot Guid",
                repeat(move || hot_guid.generate(1).expect("a clock").text()),
            ),
            Entry::own_entry("UUID v7", repeat(move || uuid7.generate().expect("a clock").text())),
            Entry::peer_entry("ulid", repeat(ulid_text)),
            Entry::peer_entry("uuid v4, fast-rng", repeat(|| to_hyphenated(Uuid::new_v4()))),
            Entry::peer_entry("uuid v7, fast-rng", repeat(|| to_hyphenated(Uuid::now_v7()))),
            Entry::peer_entry("fast-uuid-v7", repeat(fast_uuid_v7::gen_id_str)),
            Entry::peer_entry("nulid", repeat(move || nulid_text(&nulids))),
            Entry::peer_entry("scru128", repeat(|| scru128::new().encode())),
            Entry::peer_entry("svix-ksuid, on the heap", repeat(|| Ksuid::now(None).to_string())),
        ],
        Vec::new(),
    )
}

fn ulid_text() -> [u8; ulid::ULID_LEN] {
    let mut text = [0; ulid::ULID_LEN];
    ulid::Ulid::generate().array_to_str(&mut text);
    text
}

fn nulid_text(ids: &nulid::Generator) -> [u8; 26] {
    let mut text = [0; 26];
    ids.generate().expect("a clock").encode(&mut text).expect("room");
    text
}

fn to_hyphenated(id: Uuid) -> [u8; uuid::fmt::Hyphenated::LENGTH] {
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    id.hyphenated().encode_lower(&mut text);
    text
}
