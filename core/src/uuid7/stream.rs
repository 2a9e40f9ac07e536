//! Provides the random bits of IDs from `ChaCha8` streams. Each stream serves one thread, one millisecond and one
//! generation.
//!
//! Two copies of a running process have the same memory, so a stream that was keyed before the copy returns the same bits
//! in both copies. Only information from outside the memory image can distinguish the copies, namely the time and the
//! kernel's random source. A stream is therefore used only while the clock shows the millisecond that it showed when the
//! stream was keyed. After that, the stream's buffered bits are dropped, and the random source keys the next stream.
//! Starting with the millisecond after the copy, the copies therefore have different streams.
//!
//! The stream's millisecond is compared with the clock reading, and not with the time in the IDs, which stays the same for
//! a while after a clock rollback. The two milliseconds must be equal, because a clock that moves backwards shows an
//! earlier millisecond, whose stream may still exist in a copy.
//!
//! A stream also belongs to a generation, which consists of the process and the number of reported restores. A call reads
//! the generation before it takes bits, and checks that the generation is unchanged after it has reserved slots. A child
//! therefore never uses bits that its parent may use, too.
//!
//! Bits are taken before slots are reserved, because the random source can fail, and packing an ID must not fail. A failed
//! call reserves no slots.
//!
//! Single calls and batches use the stream of their thread. Each handle has a separate stream. Without the standard
//! library, there are no thread-local variables, so each call keys a new stream. Wasm without atomics has only one thread,
//! and the stream belongs to that thread.

use core::fmt;

use chacha20::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use crate::{
    Result, fork,
    format::is_within,
    sync::{Ordering, Tally},
};

/// The number of IDs for which a stream buffers bits. The bits fill four cipher blocks, which vector instructions compute
/// together.
const BUFFERED_IDS: usize = 32;

/// The length of the time interval in which a stream is used, in nanoseconds.
const STREAM_NANOS: i64 = 1_000_000;

/// The random source that provides the keys for a generator's streams.
#[derive(Debug)]
pub(super) struct Entropy {
    draw: fn() -> Result<[u8; 32]>,
    /// Whether the random source is the operating system. If so, all generators of a thread can share one stream.
    pub(super) is_system: bool,
    /// The number of streams that this generator has started. Each stream uses a different number, so no stream repeats
    /// another stream of the generator, even if the source repeats a key.
    streams: Tally,
}

/// A stream, with the millisecond, the generation and the owner to which it belongs.
pub(crate) struct Stream {
    cipher: ChaCha8Rng,
    /// The buffered bits. The first `taken` of them are used up. Reading them from the cipher one at a time would cost
    /// twice as much.
    bits: [u64; BUFFERED_IDS],
    taken: usize,
    /// The start of the millisecond that the clock showed when the stream was keyed, in Unix nanoseconds.
    begins: i64,
    generation: u64,
    owner: usize,
}

/// Keeps the bits of the next IDs out of `Debug` output.
impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Stream {
    #[inline]
    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        if self.taken == BUFFERED_IDS {
            self.refill();
        }
        self.taken += 1;
        self.bits[self.taken - 1]
    }

    /// Calls `put` with each item and its bits. This function processes one run of buffered bits at a time, so that the
    /// loop over a run does no other work. Calling [`Stream::next`] for each ID of a batch took 4.5 ns per ID.
    #[inline]
    pub(super) fn for_each<T>(&mut self, mut items: &mut [T], mut put: impl FnMut(&mut T, u64)) {
        while !items.is_empty() {
            if self.taken == BUFFERED_IDS {
                self.refill();
            }
            let bits = &self.bits[self.taken..];
            let (run, later) = items.split_at_mut(bits.len().min(items.len()));
            run.iter_mut().zip(bits).for_each(|(item, bits)| put(item, *bits));
            self.taken += run.len();
            items = later;
        }
    }

    #[inline(never)]
    fn refill(&mut self) {
        let mut bytes = [[0; 8]; BUFFERED_IDS];
        self.cipher.fill_bytes(bytes.as_flattened_mut());
        (self.bits, self.taken) = (bytes.map(u64::from_le_bytes), 0);
    }

    /// Returns whether the clock still shows the millisecond that it showed when the stream was keyed.
    #[inline]
    pub(super) fn is_in_same_millisecond(&self, now: i64) -> bool {
        is_within(self.begins, STREAM_NANOS.cast_unsigned(), now)
    }

    /// Returns whether the stream was keyed by this source and can serve a call whose clock reading is `now`.
    #[inline]
    fn serves(&self, entropy: &Entropy, now: i64) -> bool {
        self.is_in_same_millisecond(now) && self.owner == entropy.owner()
    }
}

impl Entropy {
    pub(super) const fn new(draw: fn() -> Result<[u8; 32]>, is_system: bool) -> Self {
        Self { draw, is_system, streams: Tally::new(0) }
    }

    /// Returns a number that identifies the owner of a stream. Generators that can share a thread's stream have the same
    /// number. A generator with a custom source has a unique number, so that its IDs do not depend on other generators.
    #[inline]
    fn owner(&self) -> usize {
        if self.is_system {
            return 0;
        }
        // An earlier generator may have had the same address. The address therefore identifies this generator only after it
        // has started a stream.
        let has_streams = self.streams.load(Ordering::Relaxed) > 0;
        if has_streams { core::ptr::from_ref(self).addr() } else { usize::MAX }
    }

    /// Keys a stream for the clock reading `now`.
    ///
    /// # Errors
    /// Returns `entropy_unavailable`, or any error that the source returns.
    #[cold]
    pub(super) fn new_stream(&self, now: i64) -> Result<Stream> {
        fork::prepare()?;
        // The generation is read first, so that the comparison detects a fork or a restore inside the source.
        let generation = fork::ensure_generation();
        let mut key = (self.draw)()?;
        // Unlike the operating system's random source, a custom source may repeat itself, for example if it was seeded
        // before a fork. Without the generation and the process ID, a parent and its child, or two children, could then
        // key the same stream.
        let of_process = [generation, fork::process_key(generation)].map(u64::to_le_bytes);
        for (byte, of_process) in key.iter_mut().zip(of_process.as_flattened()) {
            *byte ^= of_process;
        }
        let number = self.streams.fetch_add(1, Ordering::Relaxed);
        let mut cipher = ChaCha8Rng::from_seed(key);
        cipher.set_stream(number.into());
        let begins = now.saturating_sub(now.rem_euclid(STREAM_NANOS));
        let (bits, taken, owner) = ([0; BUFFERED_IDS], BUFFERED_IDS, self.owner());
        Ok(Stream { cipher, bits, taken, begins, generation, owner })
    }

    /// Replaces the stream if it cannot be used for a clock reading of `now`, or if it belongs to another generation.
    ///
    /// # Errors
    /// Returns the same errors as [`Entropy::new_stream`]. The old stream is dropped even if an error is returned,
    /// because the clock may show that stream's millisecond again.
    #[inline]
    pub(super) fn renew<'s>(
        &self,
        stream: &'s mut Option<Stream>,
        now: i64,
    ) -> Result<&'s mut Stream> {
        if !stream.as_ref().is_some_and(|stream| self.is_fresh(stream, now)) {
            *stream = None;
            *stream = Some(self.new_stream(now)?);
        }
        Ok(stream.as_mut().expect("just keyed"))
    }

    #[inline]
    fn is_fresh(&self, stream: &Stream, now: i64) -> bool {
        stream.serves(self, now) && stream.generation == fork::generation()
    }
}

#[cfg(all(
    any(feature = "std", all(target_family = "wasm", not(target_feature = "atomics"))),
    not(any(loom, shuttle))
))]
mod thread_stream {
    use core::cell::RefCell;

    use super::{Entropy, Stream};
    use crate::Result;

    #[cfg(feature = "std")]
    std::thread_local! {
        static STREAM: RefCell<Option<Stream>> = const { RefCell::new(None) };
    }
    #[cfg(not(feature = "std"))]
    static STREAM: SingleThreadCell = SingleThreadCell(RefCell::new(None));

    /// A variable for targets that have only one thread.
    #[cfg(not(feature = "std"))]
    struct SingleThreadCell(RefCell<Option<Stream>>);

    // SAFETY: this code is compiled only for wasm without atomics, which has no second thread that could use the reference.
    #[cfg(not(feature = "std"))]
    #[allow(unsafe_code, reason = "a thread-local would need the standard library")]
    unsafe impl Sync for SingleThreadCell {}

    #[cfg(not(feature = "std"))]
    impl SingleThreadCell {
        #[allow(clippy::unnecessary_wraps, reason = "a thread-local variable may be destroyed")]
        fn try_with<T>(&self, take: impl FnOnce(&RefCell<Option<Stream>>) -> T) -> Result<T> {
            Ok(take(&self.0))
        }
    }

    /// Calls `take` with this thread's stream, or returns `None` if no stream can be used. The stream is in use if a signal
    /// handler generates IDs while the call that it interrupted is using the stream. It no longer exists in the destructors
    /// of other thread-local variables, which may run after its own, and in exit handlers.
    #[inline]
    fn with<T>(take: impl FnOnce(&mut Option<Stream>) -> T) -> Option<T> {
        let taken = STREAM.try_with(|stream| Some(take(&mut *stream.try_borrow_mut().ok()?)));
        taken.ok().flatten()
    }

    impl Entropy {
        /// Returns the bits of one ID and the generation of their stream, or `None` if this thread has no stream for the
        /// clock reading. The caller must check that the generation is still current.
        ///
        /// This function does not key a new stream. A new stream would have the current generation, and the caller would
        /// mistake the first call of a child for a later one.
        #[inline]
        pub(in super::super) fn next(&self, now: i64) -> Option<(u64, u64)> {
            let found = with(|stream| {
                let stream = stream.as_mut().filter(|stream| stream.serves(self, now))?;
                Some((stream.generation, stream.next()))
            });
            found.flatten()
        }

        /// Calls `take` with a stream for the clock reading `now`.
        ///
        /// # Errors
        /// Returns the same errors as [`Entropy::new_stream`].
        pub(in super::super) fn with<T>(
            &self,
            now: i64,
            take: impl FnOnce(&mut Stream) -> T,
        ) -> Result<T> {
            // The stream is keyed outside the borrow, because the caller's source may itself generate IDs.
            let mut found = with(Option::take).flatten();
            let taken = self.renew(&mut found, now).map(take);
            with(|stream| *stream = found);
            taken
        }

        /// Calls `take` with the stream that this call has used, or with a new stream.
        ///
        /// # Errors
        /// Returns the same errors as [`Entropy::new_stream`].
        pub(in super::super) fn with_last_stream<T>(
            &self,
            take: impl FnOnce(&mut Stream) -> T,
        ) -> Result<T> {
            // The generation is not checked, because a batch checks it after the IDs have been written.
            let mut take = Some(take);
            let taken = with(|stream| {
                let stream = stream.as_mut().filter(|stream| stream.owner == self.owner())?;
                take.take().map(|take| take(stream))
            });
            match (taken.flatten(), take) {
                (Some(taken), _) => Ok(taken),
                (None, take) => Ok(take.expect("not called")(&mut self.new_stream(0)?)),
            }
        }
    }
}

#[cfg(not(all(
    any(feature = "std", all(target_family = "wasm", not(target_feature = "atomics"))),
    not(any(loom, shuttle))
)))]
impl Entropy {
    #[allow(clippy::unused_self, reason = "a thread's stream belongs to a generator")]
    pub(super) const fn next(&self, _: i64) -> Option<(u64, u64)> {
        None
    }

    pub(super) fn with<T>(&self, now: i64, take: impl FnOnce(&mut Stream) -> T) -> Result<T> {
        self.new_stream(now).map(|mut stream| take(&mut stream))
    }

    pub(super) fn with_last_stream<T>(&self, take: impl FnOnce(&mut Stream) -> T) -> Result<T> {
        self.with(0, take)
    }
}
