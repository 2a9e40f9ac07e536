//! The wall clock, read with a system call every time.

use core::time::Duration;

use super::{Clock, ClockInfo, INFO, SystemClock, system};
use crate::Result;

/// The operating system's wall clock, read with a system call every time. It is meant for tests that set the system time,
/// and for programs that should not use the processor's counter.
///
/// Do not assign the same partition, node ID or window to a generator with this clock and to a generator with the
/// [`SystemClock`], because the [`SystemClock`] may lag behind.
///
/// ```
/// use polyflake::{clock::ExactClock, sno::Generator};
///
/// let ids = Generator::builder().partition(42).clock(ExactClock).build()?;
/// assert_eq!(ids.generate(7)?.partition(), 42);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactClock;

impl Clock for ExactClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        system::exact_unix_nanos()
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        SystemClock.sleep(nanos)
    }

    fn info(&self) -> ClockInfo {
        INFO
    }

    fn monotonic(&self) -> Option<Duration> {
        SystemClock.monotonic()
    }
}

/// The source that the [`SystemClock`] reads the time from.
///
/// ```
/// use polyflake::clock::{Source, SystemClock};
///
/// match SystemClock::source() {
///     Source::Counter => println!("readings take a third of the time"),
///     _ => println!("readings are system calls"),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The processor's counter, synchronized with the wall clock every millisecond.
    Counter,
    /// A system call for every clock reading. On Linux, this is a vDSO call, which usually does not enter the kernel.
    SystemCall,
}

impl Source {
    /// Returns the source's name: `counter` or `system_call`.
    ///
    /// ```
    /// use polyflake::clock::Source;
    ///
    /// assert_eq!(Source::SystemCall.name(), "system_call");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::SystemCall => "system_call",
        }
    }
}
