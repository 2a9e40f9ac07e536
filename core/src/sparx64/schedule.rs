//! The key schedule: 16 sets of six 16-bit subkeys, and four final subkeys, derived from a 128-bit key.

use zeroize::Zeroize as _;

use super::KEY_BYTES;
use crate::arch::scalar::cipher::{BRANCHES, ROUNDS, STEPS, Schedule, arx_box};

impl Schedule {
    /// Derives the key schedule from `key`, and wipes this copy of the key.
    pub(super) fn new(mut key: [u8; KEY_BYTES]) -> Self {
        let mut state = [0_u16; KEY_BYTES / 2];
        for (word, bytes) in state.iter_mut().zip(key.as_chunks().0) {
            *word = u16::from_be_bytes(*bytes);
        }
        let mut schedule =
            Self { steps: [[[[0; 2]; ROUNDS]; BRANCHES]; STEPS], last: [[0; 2]; BRANCHES] };
        for (subkeys, count) in schedule.steps.as_flattened_mut().iter_mut().zip(1..) {
            subkeys.as_flattened_mut().copy_from_slice(&state[..2 * ROUNDS]);
            permute(&mut state, count);
        }
        schedule.last.as_flattened_mut().copy_from_slice(&state[..2 * BRANCHES]);
        // The subkeys are wiped when the schedule is dropped, so no other copy of the key material may remain.
        state.zeroize();
        key.zeroize();
        schedule
    }

    /// Returns the bitwise OR of the differences between corresponding subkeys. The result is 0 if the keys are equal.
    pub(super) fn difference_bits(&self, other: &Self) -> u16 {
        // The loop does not exit early, so the timing of the comparison does not reveal where two keys differ.
        let words = self.words().zip(other.words());
        words.fold(0, |all, (one, another)| all | (one ^ another))
    }

    fn words(&self) -> impl Iterator<Item = &u16> {
        let steps = self.steps.as_flattened().as_flattened().as_flattened();
        steps.iter().chain(self.last.as_flattened())
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        self.steps.as_flattened_mut().as_flattened_mut().as_flattened_mut().zeroize();
        self.last.as_flattened_mut().zeroize();
    }
}

/// Applies the key permutation: it performs one round on the first pair, adds the result to the second pair, adds the
/// counter to the last word, and then rotates all pairs by one.
fn permute(state: &mut [u16; KEY_BYTES / 2], count: u16) {
    (state[0], state[1]) = arx_box((state[0], state[1]));
    state[2] = state[2].wrapping_add(state[0]);
    state[3] = state[3].wrapping_add(state[1]);
    state[7] = state[7].wrapping_add(count);
    state.rotate_right(2);
}

#[cfg(test)]
#[allow(unsafe_code, reason = "what is left of a dropped value cannot be read otherwise")]
mod tests {
    use core::mem::{MaybeUninit, size_of};

    use super::Schedule;

    /// All words of a schedule, in memory order.
    type Words = [u16; size_of::<Schedule>() / 2];

    #[test]
    fn drop_wipes_the_subkeys() {
        let mut place = MaybeUninit::new(Schedule::new(*b"sixteen byte key"));
        let schedule = place.as_mut_ptr();
        let words = schedule.cast::<Words>();
        // SAFETY: a schedule consists of `u16` values without padding, and `place` contains a schedule, so all of the words
        // are initialized.
        assert_ne!(unsafe { words.read() }, [0; 100]);
        // SAFETY: `place` contains a schedule, which is dropped only once, because `MaybeUninit` does not drop it.
        unsafe { core::ptr::drop_in_place(schedule) };
        // SAFETY: the words were initialized above, and the wipe has overwritten them with initialized values.
        assert_eq!(unsafe { words.read() }, [0; 100]);
    }
}
