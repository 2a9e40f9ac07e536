//! sno against the clock it reads and the codecs it could have used.

use std::{cell::Cell, hint::black_box, time::SystemTime};

use data_encoding::{Encoding, Specification};
use polyflake::{
    Result,
    clock::{Clock, SystemClock},
    sno::{Generator, Sno},
};

use crate::measure::{Limit, Row, Work};

/// Reads the system's clock, then adds one tick for every so many readings, so that a format's own limit (65,536 IDs in
/// 4 ms, 131,072 in a second) never binds.
pub(crate) struct Unbound {
    readings: Cell<i64>,
    shift: u32,
    tick_nanos: i64,
}

impl Unbound {
    /// For calls that make `batch` IDs each, in ticks of 4 ms.
    const fn making(batch: u32) -> Self {
        Self { readings: Cell::new(0), shift: 15 - batch.ilog2(), tick_nanos: 4_000_000 }
    }

    /// For calls that make one ID each, in ticks of a second.
    pub(crate) const fn in_seconds() -> Self {
        Self { readings: Cell::new(0), shift: 16, tick_nanos: 1_000_000_000 }
    }
}

impl Clock for Unbound {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        let readings = self.readings.get() + 1;
        self.readings.set(readings);
        Ok(SystemClock.unix_nanos()? + (readings >> self.shift) * self.tick_nanos)
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        SystemClock.sleep(nanos)
    }
}

pub(crate) fn repeat<T>(mut work: impl FnMut() -> T + 'static) -> Work {
    Box::new(move |count| {
        for _ in 0..count {
            black_box(work());
        }
    })
}

/// The same alphabet in data-encoding, which can't be told that 80 bits need no padding but does not write any.
fn peer() -> Encoding {
    let mut specification = Specification::new();
    specification.symbols.push_str("23456789abcdefghijklmnopqrstuvwx");
    specification.encoding().expect("a valid alphabet")
}

pub(crate) fn rows() -> Vec<Row> {
    vec![generate(), encode(), decode()]
}

fn generator(batch: u32) -> Generator<Unbound> {
    Generator::builder().clock(Unbound::making(batch)).partition(1).build().expect("valid options")
}

pub(crate) fn limits() -> Vec<Limit> {
    let ids = generator(1024);
    let mut batch = vec![Sno::default(); 1024];
    vec![Limit {
        name: "rust: sno fill 1024, an ID",
        ours: repeat(move || ids.fill(1, black_box(&mut batch)).expect("a clock that goes on")),
        items: 1024.0,
        nanos: 0.45,
    }]
}

fn generate() -> Row {
    let ids = generator(1);
    Row {
        name: "rust: sno generate",
        ours: repeat(move || ids.generate(1).expect("a clock that goes on")),
        against: "SystemTime::now",
        theirs: repeat(SystemTime::now),
        plus_nanos: 0.0,
        goal: 1.6,
    }
}

/// IDs to work on, few enough to stay in the first cache.
fn samples() -> Vec<Sno> {
    let mut samples = vec![Sno::default(); 256];
    Generator::new().fill(7, &mut samples).expect("a working clock");
    samples
}

fn encode() -> Row {
    let (samples, theirs) = (samples(), samples());
    let mut index = 0_u8;
    let mut other = 0_u8;
    let (peer, mut buffer) = (peer(), [0; 16]);
    Row {
        name: "rust: sno encode",
        ours: repeat(move || {
            index = index.wrapping_add(1);
            black_box(&samples[usize::from(index)]).text()
        }),
        against: "data-encoding, to a buffer",
        theirs: repeat(move || {
            other = other.wrapping_add(1);
            peer.encode_mut(black_box(theirs[usize::from(other)].as_bytes()), &mut buffer);
            buffer
        }),
        plus_nanos: 0.0,
        goal: 0.45,
    }
}

fn decode() -> Row {
    let texts: Vec<_> = samples().iter().map(Sno::text).collect();
    let theirs = texts.clone();
    let mut index = 0_u8;
    let mut other = 0_u8;
    let (peer, mut buffer) = (peer(), [0; 10]);
    Row {
        name: "rust: sno strict decode",
        ours: repeat(move || {
            index = index.wrapping_add(1);
            Sno::parse(black_box(&texts[usize::from(index)])).expect("a valid text")
        }),
        against: "data-encoding, to a buffer",
        theirs: repeat(move || {
            other = other.wrapping_add(1);
            peer.decode_mut(black_box(theirs[usize::from(other)].as_bytes()), &mut buffer)
                .expect("a valid text");
            buffer
        }),
        plus_nanos: 0.0,
        goal: 0.65,
    }
}
