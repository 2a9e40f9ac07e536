//! A child process that runs alongside its parent's walk. It continues from a copy of the parent's state, shares the table,
//! and takes over half of the stored snapshots.
#![allow(unsafe_code, reason = "fork, mmap and wait have no safe door")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    mem,
    os::unix::net::UnixStream,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

use super::{RandomWalk, SmallTable};

/// A child process that makes steps of the walk on request. Each reply lists, by tick, the cells that the child has used
/// since the previous reply. A request for 0 steps ends the child, and the reply to it also contains the child's stored
/// snapshots.
pub(super) struct Child {
    stream: BufReader<UnixStream>,
    process: libc::pid_t,
}

/// Creates a table in memory that child processes share.
pub(super) fn shared_table() -> &'static SmallTable {
    let (len, rights) = (size_of::<SmallTable>(), libc::PROT_READ | libc::PROT_WRITE);
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    // SAFETY: the call requests a new anonymous mapping, so it does not affect existing memory.
    let memory = unsafe { libc::mmap(ptr::null_mut(), len, rights, flags, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED);
    let table = memory.cast::<SmallTable>();
    // SAFETY: the memory is new, large enough for a table, page-aligned, and never unmapped.
    unsafe {
        table.write(SmallTable::new());
        &*table
    }
}

impl RandomWalk<'_> {
    /// Starts a child, makes the existing child run some steps, or ends it and takes over its snapshots.
    pub(super) fn exchange_with_child(&mut self) {
        match (self.child.is_some(), self.draw(16)) {
            (_, 0) => self.stop_child(),
            (true, steps) => self.run_steps_in_child(4 * steps),
            (false, 1..=4) if !self.is_child => self.fork(),
            _ => {}
        }
    }

    pub(super) fn stop_child(&mut self) {
        if self.child.is_none() {
            return;
        }
        self.run_steps_in_child(0);
        let Child { stream, process, .. } = self.child.take().unwrap();
        // The child ends when its stream is closed.
        drop(stream);
        // SAFETY: `waitpid` accepts a null pointer for the status, and `process` is this process's child.
        assert_eq!(unsafe { libc::waitpid(process, ptr::null_mut(), 0) }, process);
    }

    fn fork(&mut self) {
        let (here, there) = UnixStream::pair().unwrap();
        let snapshots = self.stored.split_off(self.stored.len() / 2);
        // SAFETY: the child only continues with its copy and ends with `_exit`, so it never returns to the test harness.
        let process = unsafe { libc::fork() };
        if process == 0 {
            drop(here);
            self.stored = snapshots;
            // A panic must not unwind into the harness, whose other threads do not exist in this process.
            let outcome = catch_unwind(AssertUnwindSafe(|| self.run_child(there)));
            // SAFETY: `_exit` has no preconditions. It ends the child without running destructors.
            unsafe { libc::_exit(outcome.is_err().into()) };
        }
        assert!(process > 0);
        self.child = Some(Child { stream: BufReader::new(here), process });
    }

    fn run_child(&mut self, mut stream: UnixStream) {
        (self.is_child, self.random) = (true, !self.random);
        let mut steps = [0];
        while stream.read_exact(&mut steps).is_ok() {
            let before = self.made;
            (0..steps[0]).for_each(|_| self.step());
            let fresh = self.made.iter().zip(before).map(|(cells, before)| cells & !before);
            let fresh: Vec<_> = fresh.enumerate().filter(|(_, cells)| *cells > 0).collect();
            let snapshots = if steps == [0] { mem::take(&mut self.stored) } else { vec![] };
            let answer = serde_json::to_string(&(fresh, snapshots)).unwrap();
            writeln!(stream, "{answer}").unwrap();
        }
    }

    /// Makes the child run steps, and checks that this process has not used any of the cells that the child used.
    fn run_steps_in_child(&mut self, steps: u8) {
        let child = self.child.as_mut().unwrap();
        child.stream.get_mut().write_all(&[steps]).unwrap();
        let mut answer = String::new();
        child.stream.read_line(&mut answer).unwrap();
        let (fresh, snapshots): (Vec<(usize, u64)>, Vec<String>) =
            serde_json::from_str(&answer).expect("a child that lives");
        for (tick, cells) in fresh {
            assert_eq!(self.made[tick] & cells, 0, "made by the child as well, in tick {tick}");
            self.made[tick] |= cells;
            self.count += u64::from(cells.count_ones());
        }
        self.stored.extend(snapshots);
    }
}
