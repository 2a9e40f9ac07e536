//! The Randflake-specific part of the engine: the grant's node IDs, and the cipher.

use super::{Codec, GrantInfo, SCALE};
use crate::{
    Error, ErrorKind, Result,
    format::{Scale, Ticks},
    generator::{Family, ProcessGuard, Window, WorkerIds},
    sequence::per_tick::PerTick,
};

/// The node IDs leased to one process, and the cipher that encrypts the IDs.
#[derive(Debug)]
#[allow(unnameable_types, reason = "a generator has them")]
pub struct RandflakeFamily {
    pub(super) codec: Codec,
    /// The grant as it was when the generator was built. After an extension, only the generator's window has the new end.
    pub(super) grant: GrantInfo,
    process: ProcessGuard,
}

impl RandflakeFamily {
    pub(super) fn new(codec: Codec, grant: GrantInfo) -> Result<Self> {
        Ok(Self { codec, grant, process: ProcessGuard::this_process()? })
    }
}

impl Family for RandflakeFamily {
    type Machine = PerTick;
    type Ticks = Scale;
    type Identity = ();

    #[inline]
    fn ticks(&self) -> Option<&Scale> {
        Some(&SCALE)
    }

    #[inline]
    fn current_identity(&self, window: &Window, tick: u64, _: i64) -> Option<(u64, ())> {
        window.contains(tick).then_some((self.process.generation(), ()))
    }

    fn acquire_identity(&self, _: &Self::Machine, _: &Window, _: u64, _: i64) -> Result<(u64, ())> {
        Ok((self.process.generation(), ()))
    }

    fn check_process(&self) -> Result<()> {
        self.process.check()
    }

    fn worker_ids(&self) -> Option<WorkerIds> {
        let (first, last) = self.grant.nodes().into_inner();
        let of_secret = self.codec.fingerprint();
        let ids = WorkerIds::one(
            alloc::format!("randflake {of_secret:x}"),
            &first.to_be_bytes(),
            (0, u64::MAX),
            "grant",
        );
        Some(ids.with_range(&last.to_be_bytes(), &[u8::MAX; 4]))
    }

    #[inline]
    fn limits(&self, (): ()) -> u64 {
        0
    }

    #[cold]
    fn reading_out_of_range(&self, _: Error, unix_nanos: i64) -> Error {
        if unix_nanos < SCALE.tick_start_nanos(0) {
            return Error::retry_later(ErrorKind::LeaseNotStarted, self.grant.start() * 1000);
        }
        Error::new(ErrorKind::LeaseExpired)
    }
}
