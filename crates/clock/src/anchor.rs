//! An anchor consists of a moment at which the counter and the wall clock were read together, and the counter's rate. Clock
//! readings are extrapolated from the anchor for at most a millisecond.
//!
//! ```text
//! reading = nanos + (counter - anchor's counter) * scale, while less than `span` counts have passed
//!
//! seq: 32 process generation | 30 round | 1 invalidated | 1 being written
//! ```
//!
//! # How far a reading can lead the wall clock
//!
//! If a generator reads a time that is ahead of the wall clock, it writes a later tick into its IDs than the wall clock
//! shows. After a restart, the generator would then find the clock behind its own IDs. Therefore every approximation in
//! this module makes readings lag rather than lead. There are two bounds:
//!
//! - While the counter runs at a constant rate, and the wall clock is neither slowed down nor set back, a reading is never
//!   later than the wall clock.
//! - In every other case, a reading is less than [`SPAN`] + [`MAX_LEAD`] (1.125 ms) later than a time that the wall clock
//!   has actually shown. After the wall clock has been set back, and until the anchor ends, that time is from before the
//!   step.
//!
//! A sample reads the counter, then the wall clock, then the counter again:
//!
//! ```text
//! counter   before            after         before           after
//!             |                 |             |                |
//! wall        |     nanos       |             |     nanos      |
//!             '-----------------'             '----------------'
//!                  mark's sample                     this sample
//! ```
//!
//! - **The start.** The anchor pairs `nanos` with the count `after`, although the wall clock was read earlier. At that
//!   count, the wall clock shows `nanos` or more. So an anchor lags by at most the width of its sample, which is usually a
//!   matter of nanoseconds. Once a rate is known, the width of a sample in nanoseconds is known too. A wide sample was
//!   interrupted, and no rate is measured from it.
//! - **The rate.** Between two samples, the wall clock advanced by the difference of their `nanos`. The counter advanced by
//!   at most (this sample's `after` - the mark's `before` + 1). The quotient is the smallest rate that fits both samples. A
//!   rate that is measured between close samples is inaccurate, so the mark is kept until it is 0.9 ms old.
//! - **Trust.** A rate is used only if it agrees with the previous one to within an eighth, and then the smaller of the two
//!   rates is used. After a step of the wall clock or a fault of the counter, no anchor is valid until two rates in a row
//!   agree again. Until then, each reading is a system call.
//! - **The end.** An anchor is valid for `span` counts, which the scale converts to one millisecond. So whatever the
//!   counter does, a reading is less than a millisecond later than the anchor's time. If the counter stops, each thread
//!   renews the anchor after `MAX_READINGS` readings (a constant of the parent module).
//!
//! If the wall clock itself is slowed down, a reading can be a little ahead of the wall clock at the next sample. Readings
//! must not move backwards because of that. The next anchor therefore begins at the latest reading instead of at `nanos`,
//! and at a lower rate, so that readings agree with the wall clock again after one span (`slow_down`):
//!
//! ```text
//!                          *          readings and wall clock agree after one span
//!                    .  /
//!              .     /
//!        o        /                   o  the latest reading, where the next anchor begins, at a lower rate
//!              /
//!           /
//!        x                            x  `nanos` of this sample, less than MAX_LEAD below it
//! ```
//!
//! This is where [`MAX_LEAD`] in the second bound comes from. If readings are ahead by [`MAX_LEAD`] or more, the wall clock
//! was set back, and they follow it immediately.
//!
//! # Why no reader sees half an anchor
//!
//! Readers take no lock: they read `seq`, the anchor and `seq` again, and discard the reading if `seq` changed. A thread
//! that finds the anchor too old renews it, one thread at a time. The other threads wait for about as long as a renewal
//! takes. A thread that has waited without success reads the wall clock itself, and marks the anchor that is being written
//! as invalidated. That anchor may be based on a sample that is older than this thread's reading, and a later reading from
//! the anchor could go back in time. Because each wait is limited, a thread that the scheduler has suspended never blocks
//! the other threads. In a forked child, the thread that was writing does not exist. The process generation in `seq` shows
//! this, and the first thread that needs the anchor writes it.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

use super::Hardware;

/// The number of fractional bits in the scale.
const SHIFT: u32 = 32;
/// The lifetime of an anchor, in nanoseconds. However fast the counter runs, a clock reading adds at most this much to the
/// anchor's time.
pub(super) const SPAN: i64 = 1_000_000;
/// The age, in nanoseconds, from which a mark may be replaced. A rate measured from a newer mark would be inaccurate.
const MIN_MARK_AGE: i64 = SPAN * 9 / 10;
/// The limit, in nanoseconds, below which a lead over the wall clock is corrected gradually: clock readings slow down until
/// the wall clock has caught up. If the lead reaches the limit, clock readings jump back to the wall clock immediately.
pub(super) const MAX_LEAD: i64 = SPAN / 8;
/// The number of consecutive slow samples that are tolerated. A slow sample was interrupted, and measuring from it would
/// make the next rate too low. A longer run of slow samples shows that the rate is wrong.
const MAX_SLOW_SAMPLES: u64 = 3;
/// The duration, in nanoseconds, above which a sample counts as slow. While the rate is unknown, no sample counts as slow.
const SLOW_SAMPLE_NANOS: u64 = 1_000;

const WRITING_FLAG: u64 = 1;
const INVALIDATED_FLAG: u64 = 2;
const ROUND_STEP: u64 = 4;
const EPOCH_SHIFT: u32 = 32;

/// The anchor, shared by all threads.
#[derive(Debug)]
#[cfg_attr(loom, derive(Default))]
pub(super) struct Anchor {
    seq: AtomicU64,
    counter: AtomicU64,
    nanos: AtomicU64,
    scale: AtomicU64,
    /// The length of the span in counts, or 0 if the anchor is not valid.
    span: AtomicU64,
    mark: RateMark,
}

/// The starting point for measuring the counter's rate. Only the thread that writes the anchor uses it.
#[derive(Debug)]
#[cfg_attr(loom, derive(Default))]
struct RateMark {
    counter: AtomicU64,
    nanos: AtomicU64,
    /// The rate at the last mark, or 0 if it is unknown.
    rate: AtomicU64,
    /// The number of consecutive slow samples.
    strays: AtomicU64,
}

/// A reading of the wall clock between two readings of the counter.
#[derive(Clone, Copy)]
struct ClockSample {
    before: u64,
    nanos: i64,
    after: u64,
}

/// The contents of an anchor.
#[derive(Clone, Copy, Debug)]
struct AnchorState {
    counter: u64,
    nanos: i64,
    scale: u64,
    span: u64,
}

impl AnchorState {
    /// Returns the clock reading for a counter value, or `None` if the value is past the span.
    #[inline]
    fn reading_at(&self, counter: u64) -> Option<i64> {
        let passed = counter.wrapping_sub(self.counter);
        // This does not overflow: a reading is less than a millisecond later than the anchor's time, and
        // `Anchor::next_anchor` creates no valid anchor within two milliseconds of the latest representable time.
        let nanos = || self.nanos.wrapping_add(((passed * self.scale) >> SHIFT).cast_signed());
        (passed < self.span).then(nanos)
    }

    /// Returns the latest clock reading that the anchor may have produced up to a counter value.
    fn latest_reading(&self, counter: u64) -> i64 {
        self.reading_at(counter).unwrap_or(self.nanos + SPAN)
    }
}

impl Anchor {
    /// Creates an anchor that is not valid yet.
    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Self {
            seq: AtomicU64::new(0),
            counter: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
            scale: AtomicU64::new(0),
            span: AtomicU64::new(0),
            mark: RateMark {
                counter: AtomicU64::new(0),
                nanos: AtomicU64::new(0),
                rate: AtomicU64::new(0),
                strays: AtomicU64::new(0),
            },
        }
    }

    #[cfg(loom)]
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Returns the current time, if the anchor is valid and no thread is writing it.
    #[inline]
    pub(super) fn read(&self, hardware: &impl Hardware) -> Option<i64> {
        let seq = self.seq.load(Ordering::Acquire);
        let moment = self.load();
        let reading = moment.reading_at(hardware.counter());
        // The loads above are acquire loads. Therefore a thread that has read any part of a newer anchor also sees in `seq`
        // that the anchor is being written.
        if seq & WRITING_FLAG != 0 || self.seq.load(Ordering::Relaxed) != seq {
            return None;
        }
        reading
    }

    #[inline]
    fn load(&self) -> AnchorState {
        AnchorState {
            counter: self.counter.load(Ordering::Acquire),
            nanos: self.nanos.load(Ordering::Acquire).cast_signed(),
            scale: self.scale.load(Ordering::Acquire),
            span: self.span.load(Ordering::Acquire),
        }
    }

    fn store(&self, moment: AnchorState) {
        self.counter.store(moment.counter, Ordering::Release);
        self.nanos.store(moment.nanos.cast_unsigned(), Ordering::Release);
        self.scale.store(moment.scale, Ordering::Release);
        self.span.store(moment.span, Ordering::Release);
    }

    /// Returns the current time. The time comes from an anchor that this call writes, from an anchor that another thread
    /// has written in the meantime, or from the wall clock. `epoch` is the process generation.
    pub(super) fn renew<H: Hardware>(&self, hardware: &H, epoch: u32) -> Result<i64, H::Error> {
        loop {
            let seq = self.seq.load(Ordering::Acquire);
            // A write that a different process generation began will never end, because its thread exists only in the
            // parent. This thread therefore takes over the write.
            if seq & WRITING_FLAG != 0 && seq >> EPOCH_SHIFT == u64::from(epoch) {
                match self.wait_for_write(hardware, seq)? {
                    Some(reading) => return Ok(reading),
                    None => continue,
                }
            }
            // Without a valid anchor, a write is useful only once the mark is old enough to measure a rate. Until then,
            // threads read the wall clock and do not modify the shared state.
            if self.span.load(Ordering::Acquire) == 0 {
                let now = hardware.wall_nanos()?;
                if (0..MIN_MARK_AGE).contains(&now.saturating_sub(self.mark.nanos())) {
                    return Ok(now);
                }
            }
            // The round changes with each write. Otherwise, a reader that was suspended during a whole write could find the
            // same `seq` that it began with.
            let round = seq.wrapping_add(ROUND_STEP) & ((1 << EPOCH_SHIFT) - ROUND_STEP);
            let writing = u64::from(epoch) << EPOCH_SHIFT | round | WRITING_FLAG;
            if self.compare_exchange(seq, writing).is_ok() {
                return self.write_anchor(hardware, writing);
            }
        }
    }

    fn compare_exchange(&self, from: u64, to: u64) -> Result<u64, u64> {
        self.seq.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
    }

    /// Writes a new anchor. The caller must have set `seq` to `writing`.
    fn write_anchor<H: Hardware>(&self, hardware: &H, writing: u64) -> Result<i64, H::Error> {
        let sample = ClockSample {
            before: hardware.ordered_counter(),
            // If the wall clock fails, the write must still end, or every other thread would wait for it forever.
            nanos: hardware.wall_nanos().inspect_err(|_| self.release(writing))?,
            after: hardware.ordered_counter(),
        };
        let moment = self.next_anchor(sample);
        self.store(moment);
        if self.publish(writing).is_err() {
            self.release(writing);
        }
        Ok(moment.nanos)
    }

    /// Ends a write, unless another thread has invalidated it.
    pub(super) fn publish(&self, writing: u64) -> Result<u64, u64> {
        self.compare_exchange(writing, writing & !WRITING_FLAG)
    }

    /// Ends a write and leaves no valid anchor.
    fn release(&self, writing: u64) {
        self.span.store(0, Ordering::Release);
        self.seq.store(writing & !(WRITING_FLAG | INVALIDATED_FLAG), Ordering::Release);
    }

    /// Waits until another thread has written the anchor, and returns the time according to that anchor. If the wait takes
    /// too long, reads the wall clock instead and invalidates the anchor that is being written. Returns `None` if the
    /// caller must try again, because `seq` has changed in the meantime.
    fn wait_for_write<H: Hardware>(&self, hardware: &H, seq: u64) -> Result<Option<i64>, H::Error> {
        for _ in 0..H::SPIN_LIMIT {
            core::hint::spin_loop();
            if self.seq.load(Ordering::Acquire) != seq {
                return Ok(self.read(hardware));
            }
        }
        let now = hardware.wall_nanos()?;
        // The anchor is invalidated only after the wall clock has been read, so that every anchor that becomes valid from
        // now on is based on a later sample.
        let is_spoilt = match self.compare_exchange(seq, seq | INVALIDATED_FLAG) {
            Ok(_) => true,
            Err(found) => found == seq | INVALIDATED_FLAG,
        };
        Ok(is_spoilt.then_some(now))
    }

    /// Returns the new anchor that results from a sample. The anchor is not valid if the rate is unknown.
    fn next_anchor(&self, sample: ClockSample) -> AnchorState {
        let last = self.load();
        let scale = self.mark.rate_at(sample);
        let (nanos, scale) = match last.span {
            0 => (sample.nanos, scale),
            _ => slow_down(last.latest_reading(sample.after), sample.nanos, scale),
        };
        let is_valid = scale > 0 && nanos < i64::MAX - 2 * SPAN;
        let span = SPAN.cast_unsigned() << SHIFT;
        let span = if is_valid { span / scale } else { 0 };
        AnchorState { counter: sample.after, nanos, scale, span }
    }
}

/// Returns the time and the scale of the next anchor, given the latest reading, `shown`. If that reading is slightly ahead
/// of the wall clock, readings continue from it at a slower rate. They never move backwards, and they agree with the wall
/// clock again after one span.
fn slow_down(shown: i64, nanos: i64, scale: u64) -> (i64, u64) {
    let ahead = shown.saturating_sub(nanos);
    if !(0..MAX_LEAD).contains(&ahead) {
        return (nanos, scale);
    }
    // The division comes first, because the product could exceed 64 bits.
    let slower = scale / SPAN.unsigned_abs() * ahead.unsigned_abs();
    (shown, scale - slower)
}

impl RateMark {
    fn nanos(&self) -> i64 {
        self.nanos.load(Ordering::Relaxed).cast_signed()
    }

    /// Returns the nanoseconds per count, with [`SHIFT`] fractional bits, or 0 if the rate is unknown. Sets a new mark if
    /// the last one is old enough.
    fn rate_at(&self, sample: ClockSample) -> u64 {
        // The accesses to the mark can be relaxed, because `seq` permits only one writer at a time.
        let last = self.rate.load(Ordering::Relaxed);
        let width = u128::from(sample.after.wrapping_sub(sample.before)) * u128::from(last);
        let is_wide = width > u128::from(SLOW_SAMPLE_NANOS) << SHIFT;
        let passed = sample.nanos.saturating_sub(self.nanos());
        if !is_wide && (0..MIN_MARK_AGE).contains(&passed) {
            return last;
        }
        let strays = if is_wide { self.strays.load(Ordering::Relaxed) + 1 } else { 0 };
        // A slow (wide) sample changes neither the mark nor the rate, unless it is the last of several consecutive slow
        // samples. In that case, the last rate must be so wrong that ordinary samples appear slow, and the measurement
        // starts over.
        self.strays.store(strays % MAX_SLOW_SAMPLES, Ordering::Relaxed);
        if is_wide && strays < MAX_SLOW_SAMPLES {
            return 0;
        }
        // The divisor is the largest number of counts that can have elapsed, so that any error makes the rate too low
        // rather than too high.
        let counts = sample.after.wrapping_sub(self.counter.load(Ordering::Relaxed));
        let rate = if is_wide { 0 } else { rate(passed, counts) };
        self.counter.store(sample.before, Ordering::Relaxed);
        self.nanos.store(sample.nanos.cast_unsigned(), Ordering::Relaxed);
        self.rate.store(rate, Ordering::Relaxed);
        if rate.abs_diff(last) <= last / 8 { rate.min(last) } else { 0 }
    }
}

/// Returns the smallest possible number of nanoseconds per count, or 0 if that rate is implausible because a span would
/// have fewer than 16 counts.
fn rate(nanos: i64, counts: u64) -> u64 {
    let nanos = u128::from(nanos.max(0).unsigned_abs()) << SHIFT;
    // The counter is read in whole counts, so the true difference can exceed `counts` by almost 1.
    let rate = nanos / (u128::from(counts) + 1);
    // A span must have at least 16 counts, so that one count is a small part of it.
    let most = u128::from(SPAN.unsigned_abs()) << SHIFT >> 4;
    if rate <= most { u64::try_from(rate).unwrap_or(0) } else { 0 }
}

#[cfg(test)]
impl Anchor {
    /// Creates an anchor for a counter that counts nanoseconds and that was 0 when the wall clock showed 0.
    pub(super) fn synchronized() -> Self {
        let anchor = Self::new();
        let scale = 1 << SHIFT;
        anchor.store(AnchorState { counter: 0, nanos: 0, scale, span: SPAN.unsigned_abs() });
        anchor.mark.rate.store(scale, Ordering::Relaxed);
        anchor
    }

    /// Begins a write in the given process generation, and leaves it unfinished.
    #[cfg(not(loom))]
    pub(super) fn begin_write(&self, epoch: u32) -> u64 {
        let writing = u64::from(epoch) << EPOCH_SHIFT | WRITING_FLAG;
        self.seq.store(writing, Ordering::Release);
        writing
    }
}
