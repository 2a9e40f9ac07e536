//! Tests that a handle's blocks end with their tick, and that handles reserve blocks in order.

use super::{assert_id, family::START_MS, for_each_family, support::assert_code};

#[test]
fn a_block_ends_with_its_tick() {
    for_each_family(|family, clock, ids| {
        let mut handle = ids.handle(64);
        (0..3).for_each(|place| assert_id(handle(), START_MS, place));
        clock.set_readings([START_MS + family.tick]);
        assert_id(handle(), START_MS + family.tick, 0);
    });
}

#[test]
fn two_handles_reserve_separate_blocks() {
    for_each_family(|_, _, ids| {
        let (mut one, mut other) = (ids.handle(64), ids.handle(8));
        (0..3).for_each(|place| assert_id(one(), START_MS, place));
        assert_id(other(), START_MS, 64);
        assert_id(ids.generate(), START_MS, 72);
        (3..64).for_each(|place| assert_id(one(), START_MS, place));
        assert_id(one(), START_MS, 73);
    });
}

#[test]
fn blocks_double_within_a_tick() {
    for_each_family(|family, clock, ids| {
        assert_id(ids.generate(), START_MS, 0);
        let mut hasty = ids.handle(2);
        // Generates `uses` IDs with the handle, and returns the start of the handle's next block.
        let mut begins = |uses: u32| {
            for _ in 0..uses {
                hasty().unwrap();
            }
            ids.generate().unwrap().place
        };
        // Blocks have 2, 4, 8, ..., 128 slots, and 128 from then on. `begins` generates one extra ID to find each start, so
        // there is one ID between consecutive blocks.
        let found = [2, 4, 8, 16, 32, 64, 128, 128].map(&mut begins);
        assert_eq!(found, [3, 8, 17, 34, 67, 132, 261, 390], "{}", family.name);
        clock.set_readings([START_MS + family.tick]);
        assert_id(hasty(), START_MS + family.tick, 0);
        assert_id(ids.generate(), START_MS + family.tick, 2);
    });
}

/// Skips Hot Guid, whose ticks have 16,777,216 IDs each.
#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a tick")]
fn the_last_block_of_a_tick_exhausts_it() {
    for_each_family(|family, _, ids| {
        if family.per_tick > 1 << 20 {
            return;
        }
        let mut handle = ids.handle(100);
        let places = std::iter::from_fn(|| handle().ok()).map(|id| id.place);
        assert!(places.eq(0..family.per_tick.into()), "{}", family.name);
        assert_code(handle(), "sequence_exhausted");
    });
}
