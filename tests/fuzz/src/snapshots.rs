//! Snapshots as JSON. A snapshot is either rejected or survives a round trip through JSON. A generator restored from a
//! snapshot must not repeat the snapshot's last ID.

use std::time::Duration;

use polyflake::{
    clock::ManualClock,
    layout::{self, preset},
    sno::{self, Generator},
};
use serde_json::{Value, json};

use crate::{bytes::Bytes, verdict::check_message};

const NOW_MS: i64 = 1_763_650_000_000;

/// Checks sno snapshots, including the Go library's variants.
pub(crate) fn sno(input: &[u8]) {
    check_sno(input);
    let mut bytes = Bytes(input);
    let mut members = json!({"partition": bytes.array::<2>(), "drifts": member(&mut bytes)});
    for name in ["sequenceMin", "sequenceMax", "sequence", "now", "wallHi", "wallSafe"] {
        members[name] = member(&mut bytes);
    }
    if bytes.one_in(8) {
        members[bytes.choose(&["now", "wallhi", "partition"])] = member(&mut bytes);
    }
    check_sno(members.to_string().as_bytes());
}

/// Checks layout snapshots.
pub(crate) fn layout(input: &[u8]) {
    check_layout(input);
    let mut bytes = Bytes(input);
    let members = json!({"tick": member(&mut bytes), "next_sequence": member(&mut bytes)});
    check_layout(members.to_string().as_bytes());
}

/// Returns a number that is valid for at least one member, and often near a limit.
fn member(bytes: &mut Bytes<'_>) -> Value {
    match bytes.byte() % 8 {
        0 => 0.into(),
        1 => u64::from(u16::from_le_bytes(bytes.array())).into(),
        2 => (1_u64 << (bytes.byte() % 64)).into(),
        3 => ((1_u64 << (bytes.byte() % 64)) - 1).into(),
        // The current tick of the clock, or a nearby tick.
        4 => ((NOW_MS - 1_262_304_000_000) / 4 + i64::from(bytes.byte()) - 128).into(),
        5 => u64::from_le_bytes(bytes.array()).into(),
        6 => u128::from_le_bytes(bytes.array()).to_string().into(),
        _ => bytes.unusual_integer().into(),
    }
}

fn check_sno(json: &[u8]) {
    let Ok(snapshot) = serde_json::from_slice::<sno::Snapshot>(json) else { return };
    let written = serde_json::to_string(&snapshot).expect("numbers");
    assert_eq!(
        serde_json::from_str::<sno::Snapshot>(&written).expect("what was written"),
        snapshot
    );
    let clock = ManualClock::at_unix_ms(NOW_MS);
    let builder = || Generator::builder().clock(&clock).max_wait(Duration::ZERO);
    for restored in [builder().restore(snapshot), builder().import_original(snapshot)] {
        match restored {
            Ok(ids) => check_restored_generator(&ids, &snapshot),
            Err(error) => assert_eq!(check_message(&error).code(), "out_of_range"),
        }
    }
}

/// Checks that a restored generator's IDs differ from each other and from the snapshot's last ID, and that the generator's
/// own snapshot can be restored.
fn check_restored_generator(ids: &Generator<&ManualClock>, snapshot: &sno::Snapshot) {
    let made: Vec<_> = [0, 1].iter().filter_map(|metabyte| ids.generate(*metabyte).ok()).collect();
    let last = (snapshot.wall_hi, snapshot.drifts & 1 == 1, snapshot.sequence);
    let mut cells: Vec<_> = made
        .iter()
        .map(|id| (id.parts().tick, id.tick_tock(), u32::from(id.sequence())))
        .chain((snapshot.wall_hi > 0).then_some(last))
        .collect();
    let count = cells.len();
    cells.sort_unstable();
    cells.dedup();
    assert_eq!(cells.len(), count, "{snapshot:?} {made:?}");
    let left = ids.close().expect("an open generator");
    Generator::builder().restore(left).expect("what a generator left");
}

fn check_layout(json: &[u8]) {
    let Ok(snapshot) = serde_json::from_slice::<layout::Snapshot>(json) else { return };
    let written = serde_json::to_string(&snapshot).expect("numbers");
    let again: layout::Snapshot = serde_json::from_str(&written).expect("what was written");
    assert_eq!(again, snapshot);
    let clock = ManualClock::at_unix_ms(NOW_MS);
    let discord = preset("discord", [("worker", 1.into()), ("process", 2.into())]);
    let builder = layout::Generator::builder(discord.expect("a preset"));
    match builder.clock(&clock).max_wait(Duration::ZERO).restore(snapshot) {
        Ok(ids) => {
            let made = ids.generate();
            let left = ids.close().expect("an open generator");
            assert!(left.tick >= snapshot.tick);
            assert!(made.is_err() || left != snapshot);
        }
        Err(error) => assert_eq!(check_message(&error).code(), "out_of_range"),
    }
}
