//! Fuzzes the core's interface to JavaScript. Makes every call, in any order, with arbitrary bytes in the memory through
//! which arguments are passed.

use std::{ptr, rc::Rc, sync::LazyLock};

use polyflake::{
    Result,
    clock::Clock,
    fork::partitions::{self, FindTable},
};
use polyflake_js::{Host, Machine, Scratch, register};

use crate::bytes::Bytes;

/// A function that makes a call and returns its status.
type Call = fn(&Machine<StoppedClock>) -> u32;

/// The calls that all formats share, and the calls that are specific to each format.
static CALLS: LazyLock<Vec<Vec<Call>>> = LazyLock::new(|| {
    let mut lists = Vec::new();
    macro_rules! add {
        ($($name:ident => $js:literal $(at $now:ident)? $(-> $answer:expr)?,)*) => {
            lists.push(vec![$((|machine: &Machine<StoppedClock>| machine.run(Machine::$name)) as Call),*])
        };
    }
    polyflake_js::calls!(add);
    lists
});

/// Boundary values of handles, counts, lengths and times.
const NUMBERS: [f64; 16] = [
    0.0,
    1.0,
    2.0,
    16.0,
    36.0,
    1024.0,
    65_535.0,
    131_071.0,
    -1.0,
    0.5,
    1.73e9,
    1.763_65e12,
    9_007_199_254_740_991.0,
    1e300,
    f64::INFINITY,
    f64::NAN,
];

/// Makes a sequence of calls on one `Machine`. Each call may succeed or fail, but the `Machine` must still work afterwards.
pub(crate) fn calls(input: &[u8]) {
    SCRATCH.with(|scratch| {
        let machine = Machine::new(scratch);
        let mut bytes = Bytes(input);
        while !bytes.is_empty() {
            write(scratch, &mut bytes);
            let family = &CALLS[bytes.number_below(CALLS.len())];
            let call = bytes.choose(family);
            assert!(call(&machine) <= 1);
        }
        assert_strings_round_trip(&machine);
    });
}

/// Writes arguments in the same way as the package: numbers into registers, and then the bytes of a message.
fn write(scratch: &'static Scratch, bytes: &mut Bytes<'_>) {
    for _ in 0..bytes.number_below(12) {
        let register = bytes.number_below(polyflake_js::NUMBERS);
        let number = match bytes.byte() % 3 {
            0 => f64::from(bytes.byte()),
            1 => bytes.choose(&NUMBERS),
            _ => f64::from_le_bytes(bytes.array()),
        };
        write_bytes(scratch, 8 * register, &number.to_le_bytes());
    }
    let message = bytes.number_below(64);
    write_bytes(scratch, BYTES_OFFSET, bytes.next_bytes(message));
}

/// The offset of the message bytes in the shared memory.
const BYTES_OFFSET: usize = 8 * polyflake_js::NUMBERS;

#[allow(unsafe_code, reason = "JavaScript writes the area by address, too")]
fn write_bytes(scratch: &'static Scratch, at: usize, bytes: &[u8]) {
    assert!(at + bytes.len() <= size_of::<Scratch>());
    // SAFETY: the memory consists of integer cells, and the write stays within it. Any bytes may be written to these cells
    // while no call runs.
    unsafe {
        let area = ptr::from_ref(scratch).cast_mut().cast::<u8>();
        area.add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
    }
}

/// Checks that parsing an ID's string and formatting the ID returns the same string, regardless of earlier calls.
fn assert_strings_round_trip(machine: &Machine<StoppedClock>) {
    let scratch = machine.scratch();
    write_bytes(scratch, BYTES_OFFSET, TEXT);
    for call in [Machine::sno_from_texts, Machine::sno_texts] {
        write_bytes(scratch, 8 * register::COUNT, &1_f64.to_le_bytes());
        assert_eq!(machine.run(call), 0);
    }
    assert!(scratch.bytes().iter().zip(TEXT).all(|(cell, byte)| cell.get() == *byte));
}

const TEXT: &[u8] = b"93bm44ab22flxhjb";

thread_local! {
    static SCRATCH: &'static Scratch = Box::leak(Box::default());
}

/// A clock that does not advance.
#[derive(Debug)]
struct StoppedClock;

impl Clock for StoppedClock {
    fn unix_nanos(&self) -> Result<i64> {
        Ok(1_763_650_000_000_000_000)
    }
    fn sleep(&self, _nanos: u64) -> Result<()> {
        Ok(())
    }
    fn info(&self) -> polyflake::clock::ClockInfo {
        polyflake::clock::ClockInfo::new().for_tests(true)
    }
}

impl Host for StoppedClock {
    type Shared<G> = Rc<G>;
    type SharingKey = ();

    fn take_sharing_key(&mut self) {}

    fn get_or_build<G: Send + Sync + 'static>(
        (): (),
        _: fn(&G) -> bool,
        build: impl FnOnce() -> Result<G>,
    ) -> Result<Rc<G>> {
        build().map(Rc::new)
    }

    fn system() -> Self {
        Self
    }

    fn is_system(&self) -> bool {
        true
    }

    fn table_finder(_is_lent: bool) -> FindTable {
        partitions::shared_table
    }

    fn key() -> Result<[u8; 32]> {
        Ok([7; 32])
    }
}
