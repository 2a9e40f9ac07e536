//! Generates keys as a service would: 10,000 per second, one after another.

use std::{
    io::{BufWriter, Error, Result, Write, stdout},
    time::Duration,
};

use polyflake::{Result as Made, clock::ManualClock, layout::Id};
use uuid::{NoContext, Timestamp, Uuid};

use crate::samples;

/// The time at which the service starts, in Unix milliseconds.
const START_MS: i64 = 1_763_650_000_000;
/// Number of keys generated per millisecond.
const KEYS_PER_MS: u64 = 10;

/// Writes `count` keys of the given format to standard output, without separators.
pub(crate) fn write(kind: KeyFormat, count: u64) -> Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    let mut make = kind.key_maker();
    for number in 0..count {
        let now = START_MS + (number / KEYS_PER_MS).cast_signed();
        out.write_all(&make(now).map_err(Error::other)?)?;
    }
    out.flush()
}

/// The key formats. All keys are written as packed bytes. Integers are signed and big-endian.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum KeyFormat {
    Sno,
    Randflake,
    HotGuid,
    Layout,
    UuidV4,
    UuidV7,
}

type KeyMaker = Box<dyn FnMut(i64) -> Made<Vec<u8>>>;

/// Returns a function that sets the generator's clock to a given time and creates a key.
fn key_maker_with<T: 'static>(
    make: impl FnOnce(&'static ManualClock) -> T,
    key: impl Fn(&T) -> Made<Vec<u8>> + 'static,
) -> KeyMaker {
    let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::at_unix_ms(START_MS)));
    let ids = make(clock);
    Box::new(move |now| {
        clock.set_unix_ms(now);
        key(&ids)
    })
}

impl KeyFormat {
    fn key_maker(self) -> KeyMaker {
        match self {
            Self::Sno => {
                key_maker_with(samples::sno, |ids| Ok(ids.generate(1)?.to_bytes().to_vec()))
            }
            Self::Randflake => key_maker_with(samples::randflake, |ids| {
                Ok(ids.generate()?.to_i64().to_be_bytes().to_vec())
            }),
            Self::HotGuid => {
                key_maker_with(samples::hot_guid, |ids| Ok(ids.generate(1)?.to_bytes().to_vec()))
            }
            Self::Layout => key_maker_with(samples::layout, |ids| ids.generate().map(bytes_of)),
            Self::UuidV4 => Box::new(|_| Ok(Uuid::new_v4().into_bytes().to_vec())),
            Self::UuidV7 => Box::new(|now| Ok(uuid_v7(now).into_bytes().to_vec())),
        }
    }
}

/// Creates a UUID for the given time as the `uuid` library does: the bits after the millisecond timestamp are random.
fn uuid_v7(now_ms: i64) -> Uuid {
    let now = Duration::from_millis(now_ms.cast_unsigned());
    Uuid::new_v7(Timestamp::from_unix(NoContext, now.as_secs(), now.subsec_nanos()))
}

fn bytes_of(id: Id) -> Vec<u8> {
    match id {
        Id::Integer(id) => id.to_be_bytes().to_vec(),
        Id::Bytes(id) => id,
        other => unreachable!("{other}"),
    }
}
