//! Writes a host's output lines, each with a single write.

use std::{
    io::{Write, stdin, stdout},
    time::{SystemTime, UNIX_EPOCH},
};

/// The size of the largest write that a pipe performs atomically.
const MAX_ATOMIC_WRITE: usize = 4096;

/// Writes a line.
pub(super) fn write_line(text: &str) {
    let text = text.replace('\n', " ");
    let mut end = text.len().min(MAX_ATOMIC_WRITE - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // Rust's standard output is line-buffered, so it writes the line immediately. Errors are ignored, because no process
    // reads the output after the storm has ended.
    let _ = stdout().write_all(format!("{}\n", &text[..end]).as_bytes());
}

/// Reports that the host is ready, and waits for the input line that lets it create the generator.
pub(super) fn wait_for_input() {
    write_line("?");
    let _ = stdin().read_line(&mut String::new());
}

/// IDs of one thread, with the clock readings taken before the first ID.
pub(super) struct Chunk {
    head: String,
    begin: [u64; 2],
    ids: String,
}

impl Chunk {
    pub(super) fn begin(generator: u64, thread: u64) -> Self {
        let head = format!("# {generator} {thread}");
        Self { head, begin: now(), ids: String::new() }
    }

    /// Returns whether another ID fits into the line.
    pub(super) fn has_capacity(&self) -> bool {
        self.ids.len() < MAX_ATOMIC_WRITE - 200
    }

    pub(super) fn push(&mut self, id: &str) {
        self.ids.push(' ');
        self.ids.push_str(id);
    }

    /// Writes the chunk unless it is empty.
    pub(super) fn end(self) {
        let ([begin, wall_begin], [end, wall_end]) = (self.begin, now());
        if !self.ids.is_empty() {
            write_line(&format!("{} {begin} {end} {wall_begin} {wall_end}{}", self.head, self.ids));
        }
    }
}

/// Returns the readings of the monotonic clock and the wall clock, in nanoseconds.
#[allow(unsafe_code, reason = "the standard library does not reveal the monotonic clock's reading")]
fn now() -> [u64; 2] {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable `timespec`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    let monotonic = time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs();
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    [monotonic, u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX)]
}
