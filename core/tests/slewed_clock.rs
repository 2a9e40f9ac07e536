//! The system's clock while the kernel slews it, as a time daemon does: readings follow, and none of a thread's goes back.
//!
//! It changes the rate of the machine's clock for a second at a time, and takes the right to set the time, so it only runs when asked:
//! `cargo test --release -p polyflake --test slewed_clock -- --ignored --nocapture`.
#![cfg(all(feature = "std", target_os = "linux", not(miri)))]
#![allow(unsafe_code, reason = "the C library's adjtimex has no safe door")]

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

use polyflake::{
    ErrorKind,
    clock::{Clock, ExactClock, Stall, SystemClock},
    sno::Generator,
};

const MS: i64 = 1_000_000;
/// The kernel's ticks of a second, in microseconds, if nobody slews it.
const TICK: i64 = 10_000;

/// The kernel's setting that changes its clock's rate. It gets its old value back when this is dropped.
struct Slew(libc::timex);

impl Slew {
    /// The present setting.
    fn now() -> Self {
        // SAFETY: `timex` is integers, for which zero is a value; without modes the call only reads.
        let mut timex: libc::timex = unsafe { std::mem::zeroed() };
        // SAFETY: `timex` is one to write to.
        assert_ne!(unsafe { libc::adjtimex(&raw mut timex) }, -1, "expected to read the slew");
        Self(timex)
    }

    /// Lets the clock run faster by some millionths, or slower.
    fn set(&self, millionths: i64) {
        // Hundredths of a percent by the tick, the rest by the frequency, in 65,536ths of a millionth.
        let (ticks, rest) = (millionths / 100, millionths % 100);
        self.apply(TICK + ticks, rest << 16);
    }

    fn apply(&self, tick: i64, freq: i64) {
        let mut timex =
            libc::timex { modes: libc::ADJ_TICK | libc::ADJ_FREQUENCY, tick, freq, ..self.0 };
        // SAFETY: as above.
        let set = unsafe { libc::adjtimex(&raw mut timex) };
        assert_ne!(set, -1, "expected the right to slew the clock: {}", errno());
    }
}

impl Drop for Slew {
    fn drop(&mut self) {
        self.apply(self.0.tick, self.0.freq);
    }
}

fn errno() -> std::io::Error {
    std::io::Error::last_os_error()
}

/// The readings of a second.
#[derive(Debug, Default)]
struct Seen {
    readings: u64,
    /// The furthest before an exact reading that was taken before, and after one taken after, in nanoseconds.
    lag: i64,
    lead: i64,
    /// Lags and leads of less than 2^k ns.
    histogram: BTreeMap<u32, u64>,
}

impl Seen {
    /// Looks until the time is up. A thread's own readings never go back.
    fn until(is_over: &AtomicBool) -> Self {
        let (mut seen, mut last) = (Self::default(), i64::MIN);
        while !is_over.load(Ordering::Relaxed) {
            let before = ExactClock.unix_nanos().unwrap();
            let reading = SystemClock.unix_nanos().unwrap();
            let after = ExactClock.unix_nanos().unwrap();
            assert!(reading >= last, "{last} {reading}");
            last = reading;
            seen.count(before - reading, reading - after);
        }
        seen
    }

    fn count(&mut self, lag: i64, lead: i64) {
        self.readings += 1;
        (self.lag, self.lead) = (self.lag.max(lag), self.lead.max(lead));
        *self.histogram.entry(64 - lag.max(lead).max(0).leading_zeros()).or_default() += 1;
    }

    fn and(mut self, other: Self) -> Self {
        self.readings += other.readings;
        (self.lag, self.lead) = (self.lag.max(other.lag), self.lead.max(other.lead));
        for (bits, times) in other.histogram {
            *self.histogram.entry(bits).or_default() += times;
        }
        self
    }
}

/// The readings of two threads during a time, while a third makes IDs.
fn watch(time: Duration, ids: &Generator<impl Clock + Sync>) -> Seen {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers = [(); 2].map(|()| scope.spawn(|| Seen::until(&is_over)));
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                ids.generate(0).unwrap();
            }
        });
        thread::sleep(time);
        is_over.store(true, Ordering::Relaxed);
        let seen = readers.map(|reader| reader.join().unwrap());
        seen.into_iter().fold(Seen::default(), Seen::and)
    })
}

#[test]
#[ignore = "changes the rate of the machine's clock"]
fn readings_follow_a_slew_without_moving_backwards() {
    let slew = Slew::now();
    let behind = AtomicU64::new(0);
    let on_stall = |stall: &Stall| {
        behind.fetch_add((stall.reason == ErrorKind::ClockBehind).into(), Ordering::Relaxed);
    };
    let ids = Generator::builder().partition(7).on_stall(on_stall).build().unwrap();
    // Each slew and its opposite, so that the clock is as right afterwards as before.
    for millionths in [0, 50, -50, 500, -500, 10_000, -10_000, 100_000, -100_000] {
        // From no slew, since twice the largest at once would be more than readings wait for.
        slew.set(0);
        thread::sleep(Duration::from_millis(20));
        slew.set(millionths);
        let seen = watch(Duration::from_secs(1), &ids);
        println!("{millionths} millionths, by {}: {seen:?}", SystemClock::source().name());
        // A slew moves the clock by so much in the millisecond until an anchor knows; a look that was interrupted adds some microseconds.
        let most = millionths.abs() * MS / 1_000_000 * 5 / 4 + 10_000;
        assert!(seen.lag <= most && seen.lead <= most, "{millionths}: {most} {seen:?}");
    }
    assert_eq!((ids.stats().unwrap().drifts, behind.load(Ordering::Relaxed)), (0, 0));
}
