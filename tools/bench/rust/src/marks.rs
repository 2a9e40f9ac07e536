//! Tests properties of each library's IDs: whether each ID is greater than the previous one, whether a forked child repeats
//! its parent's IDs, and whether the time in the IDs comes from a clock reading.
#![cfg(unix)]
#![allow(unsafe_code, reason = "a fork is what is tried")]

use std::{
    collections::HashSet,
    fs::File,
    io::{Read, Write},
    thread,
    time::{Duration, Instant},
};

use nix::{
    libc::_exit,
    sys::wait::waitpid,
    unistd::{ForkResult, fork, pipe},
};
use polyflake::{hotguid, sno, uuid7};

use crate::peers::{self, Visit};

/// A function that generates one ID, as bytes that sort like the library's IDs.
type MakeId = Box<dyn FnMut() -> Vec<u8>>;

/// A library's name, the number of leading bytes that encode the time (`None` if the IDs contain no time), and a function
/// that generates an ID.
struct PeerLibrary(&'static str, Option<usize>, MakeId);

impl Visit for Vec<PeerLibrary> {
    fn visit<T>(
        &mut self,
        name: &'static str,
        time: Option<usize>,
        mut call: impl FnMut() -> T + 'static,
        bytes: impl Fn(T) -> Vec<u8> + 'static,
    ) {
        self.push(PeerLibrary(name, time, Box::new(move || bytes(call()))));
    }
}

fn peer_libraries() -> Vec<PeerLibrary> {
    let (mut peers, ours, guids) = (vec![], sno::Generator::new(), hotguid::Generator::new());
    let sno = move || ours.generate(1).expect("a clock");
    peers.visit("sno", Some(5), sno, |id| id.to_bytes().into());
    let guid = move || guids.generate(1).expect("a clock");
    peers.visit("Hot Guid", None, guid, |id| id.to_bytes().into());
    let uuids = uuid7::Generator::new();
    let uuid = move || uuids.generate().expect("a clock");
    peers.visit("UUID v7", Some(6), uuid, |id| id.to_bytes().into());
    peers::visit_all(&mut peers);
    peers
}

const MEASURED_TIME: Duration = Duration::from_millis(30);

/// Prints a row for each library.
pub(crate) fn print_rows() -> anyhow::Result<()> {
    for PeerLibrary(name, time, mut make) in peer_libraries() {
        let ids: Vec<_> = (0..100_000).map(|_| make()).collect();
        let keeps_order = ids.windows(2).all(|pair| pair[0] < pair[1]);
        let repeats = (0..20).try_fold(false, |found, _| {
            anyhow::Ok(found || forked_child_repeats_an_id(&mut make)?)
        })?;
        let reads = time.map(|time| reads_the_clock(&mut make, time)).transpose()?;
        let word = |is| if is { "yes" } else { "**no**" };
        let reads = reads.map_or("-", word);
        println!("| Rust: {name} | {} | {} | {reads} |", word(keeps_order), word(!repeats));
    }
    Ok(())
}

/// Returns whether a forked child generates an ID that its parent also generates at the same time.
fn forked_child_repeats_an_id(make: &mut MakeId) -> anyhow::Result<bool> {
    make();
    let (theirs, ours) = run_in_child_and_parent(make, |make, out| {
        out.write_all(&make_ids_for_a_while(make).concat()).expect("a pipe");
    })?;
    let width = ours[0].len();
    let theirs: HashSet<_> = theirs.chunks_exact(width).collect();
    Ok(ours.iter().any(|id| theirs.contains(&**id)))
}

/// Returns whether, in a forked child, an ID that is generated later contains a later time. Only the
/// forking thread exists in the child, so the child cannot rely on another thread that updates a cached time.
fn reads_the_clock(make: &mut MakeId, time: usize) -> anyhow::Result<bool> {
    make();
    let (theirs, _) = run_in_child_and_parent(make, |make, out| {
        let before = make();
        thread::sleep(Duration::from_millis(200));
        let is_later = make()[..time] > before[..time];
        out.write_all(&[u8::from(is_later)]).expect("a pipe");
    })?;
    Ok(theirs == [1])
}

/// Generates IDs for long enough that the parent and the child both generate some in the same millisecond, even if they
/// share a processor.
fn make_ids_for_a_while(make: &mut MakeId) -> Vec<Vec<u8>> {
    let (since, mut ids) = (Instant::now(), vec![make()]);
    while since.elapsed() < MEASURED_TIME && ids.len() < 100_000 {
        ids.push(make());
    }
    ids
}

/// Forks, and runs `work` in the child. Returns the child's output and the IDs that the parent generates in the meantime.
fn run_in_child_and_parent(
    make: &mut MakeId,
    work: impl Fn(&mut MakeId, &mut File),
) -> anyhow::Result<(Vec<u8>, Vec<Vec<u8>>)> {
    let (read, write) = pipe()?;
    // SAFETY: the child never waits for this process's ticker threads, and exits without running destructors. Therefore it
    // does not depend on threads that exist only in the parent.
    match unsafe { fork() }? {
        ForkResult::Child => {
            drop(read);
            work(make, &mut File::from(write));
            // SAFETY: `_exit` has no preconditions. It terminates the child process without running destructors.
            unsafe { _exit(0) }
        }
        ForkResult::Parent { child } => {
            drop(write);
            let ours = make_ids_for_a_while(make);
            let mut theirs = Vec::new();
            File::from(read).read_to_end(&mut theirs)?;
            waitpid(child, None)?;
            Ok((theirs, ours))
        }
    }
}
