//! Prints the outcomes of steps. `tests/proof` compares each printed line with the terms in its proofs.

use std::{env, format, fs, string::String, vec::Vec};

use super::{
    Flip, SlotRange, Step,
    per_tick::{BehindPolicy, PerTick, Slots},
    tick_tock::{self, Bounds, Plan, Word},
};

/// The number of lines to print for each state machine.
const LINE_COUNT: usize = 1000;

/// A generator of pseudorandom numbers (`SplitMix64`), which produces the same numbers in every run. Many of the numbers
/// are at or near one end of the requested range.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number up to `most`: 0, `most`, a number close to one of these, or any number in between.
    fn number_up_to(&mut self, most: u64) -> u64 {
        let any = self.next();
        match any % 6 {
            0 => 0,
            1 => most,
            2 => (any >> 8) % most.saturating_add(1).clamp(1, 4),
            3 => most - (any >> 8) % most.saturating_add(1).clamp(1, 4),
            _ => (any >> 3) % most.saturating_add(1).max(1),
        }
    }

    /// Returns a number up to `most` that is often equal or adjacent to `other`.
    fn number_close_to(&mut self, other: u64, most: u64) -> u64 {
        match self.next() % 5 {
            0 => other.min(most),
            1 => other.saturating_add(1).min(most),
            2 => other.saturating_sub(1).min(most),
            _ => self.number_up_to(most),
        }
    }

    fn flip(&mut self, floor: u64) -> (u8, Flip) {
        match self.next() % 8 {
            0 => (2, Flip::Below(floor)),
            1 | 2 => (1, Flip::Forbidden),
            _ => (0, Flip::Allowed),
        }
    }
}

fn format_reservation(range: SlotRange, next: u128, goes_back: bool) -> String {
    let SlotRange { tick, tick_tock, first, len } = range;
    format!("taken {tick} {} {first} {len} {next} {}", u8::from(tick_tock), u8::from(goes_back))
}

fn random_tick_tock_line(numbers: &mut RandomNumbers) -> String {
    const LAST_TICK: u64 = (1 << 39) - 1;
    let tick = numbers.number_up_to(LAST_TICK);
    let (flipped, is_closed) =
        (numbers.number_up_to(1), u64::from(numbers.next().is_multiple_of(16)));
    let max = numbers.number_up_to(u16::MAX.into());
    let (min, next) = (numbers.number_up_to(max), numbers.number_close_to(max + 1, 65_536));
    let word = is_closed << 63 | tick << 18 | flipped << 17 | next;
    let now = numbers.number_close_to(tick, LAST_TICK);
    let (safe, floor) =
        (numbers.number_close_to(now, LAST_TICK), numbers.number_close_to(now, LAST_TICK));
    let want = numbers.number_up_to(u32::MAX.into());
    let (code, flip) = numbers.flip(floor);
    let bounds = Bounds { min: min.try_into().unwrap(), max: max.try_into().unwrap() };
    let found = match tick_tock::plan(Word(word), safe, now, want.try_into().unwrap(), bounds, flip)
    {
        Plan::Take { range, next, goes_back } => {
            format_reservation(range, next.0.into(), goes_back)
        }
        Plan::Full => "full".into(),
        Plan::Behind(wall) => format!("behind {wall}"),
        Plan::Closed => "closed".into(),
    };
    format!("tick-tock {word} {safe} {now} {want} {min} {max} {code} {floor} -> {found}")
}

/// Returns a line for the per-tick state machine, or `None` if the ticks and slots do not fit in a word.
fn random_per_tick_line(numbers: &mut RandomNumbers) -> Option<String> {
    let slot_bits = 1 + numbers.number_up_to(63);
    let tick_bits = 1 + numbers.number_up_to(63);
    let last = numbers.number_up_to(u64::MAX >> (64 - slot_bits));
    let last_tick = u64::MAX >> (64 - tick_bits);
    let (first, tick) = (numbers.number_up_to(last), numbers.number_up_to(last_tick));
    let (slots, is_held) = (Slots { first, last }, numbers.next().is_multiple_of(2));
    let behind = if is_held { BehindPolicy::Held } else { BehindPolicy::Rejected };
    let machine = PerTick::new(slots, behind, last_tick)?;
    let next_bits = 128 - (u128::from(last) + 1).leading_zeros();
    let is_wide = u64::from(next_bits) + tick_bits > 63;
    let next = match numbers.next() % 3 {
        0 => u128::from(last) + 1,
        _ => numbers.number_up_to(last).into(),
    };
    let is_closed = u128::from(numbers.next().is_multiple_of(16));
    let top = if is_wide { 127 } else { 63 };
    let word = is_closed << top | u128::from(tick) << next_bits | next;
    let (now, floor) = (
        numbers.number_close_to(tick, last_tick),
        numbers.number_up_to(last_tick.min(u64::MAX - 1)),
    );
    let want = numbers.number_up_to(u32::MAX.into());
    let (code, flip) = numbers.flip(floor);
    let found = match machine.plan(word, now, want.try_into().unwrap(), 0, flip) {
        Ok((range, next)) => format_reservation(range, next, false),
        Err(Step::Full) => "full".into(),
        Err(Step::Behind(tick)) => format!("behind {tick}"),
        Err(Step::Closed) => "closed".into(),
        Err(other) => panic!("expected a decision, found {other:?}"),
    };
    let (wide, held) = (u8::from(is_wide), u8::from(is_held));
    let given =
        format!("{next_bits} {wide} {held} {word} {now} {want} {first} {last} {code} {floor}");
    Some(format!("per-tick {given} -> {found}"))
}

#[test]
#[ignore = "prints for tests/proof"]
fn print_random_steps() {
    let file = env::var_os("POLYFLAKE_PRINTED").expect("the file to print into");
    let mut numbers = RandomNumbers(7);
    let mut lines: Vec<_> = (0..LINE_COUNT).map(|_| random_tick_tock_line(&mut numbers)).collect();
    lines.extend(
        core::iter::repeat_with(|| random_per_tick_line(&mut numbers)).flatten().take(LINE_COUNT),
    );
    fs::write(file, lines.join("\n")).unwrap();
}
