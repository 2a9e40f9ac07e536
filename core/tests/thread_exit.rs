//! Tests generators in code that runs when a thread or the process ends, after thread-local variables have been destroyed.
#![cfg(not(miri))]

use std::{cell::RefCell, sync::mpsc, thread};

use polyflake::{hotguid, sno, uuid7};

/// Generates an ID, a batch and a handle's ID of each default format.
fn generate_all_formats() -> polyflake::Result<()> {
    let (snos, guids, uuids) =
        (sno::Generator::new(), hotguid::Generator::new(), uuid7::Generator::new());
    snos.handle().generate(7)?;
    guids.handle().generate(7)?;
    uuids.handle().generate()?;
    snos.fill(7, &mut [sno::Sno::default(); 3])?;
    guids.fill(7, &mut [hotguid::HotGuid::default(); 3])?;
    uuids.fill(&mut [uuid7::Uuid7::MIN; 3])?;
    sno::generate(7).and(hotguid::generate(7).map(drop)).and(uuid7::generate().map(drop))
}

/// Generates IDs when it is dropped, and sends the result.
struct GeneratesAtEnd(mpsc::Sender<polyflake::Result<()>>);

impl Drop for GeneratesAtEnd {
    fn drop(&mut self) {
        self.0.send(generate_all_formats()).unwrap();
    }
}

thread_local! {
    static AT_END: RefCell<Option<GeneratesAtEnd>> = const { RefCell::new(None) };
}

/// Thread-local variables are destroyed in an order that depends on their first uses.
#[test]
fn destructors_of_thread_local_variables_generate_ids() {
    for generates_first in [true, false] {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            if generates_first {
                generate_all_formats().unwrap();
            }
            AT_END.with(|at_end| *at_end.borrow_mut() = Some(GeneratesAtEnd(sender)));
            generate_all_formats().unwrap();
        });
        thread.join().unwrap();
        assert_eq!(receiver.recv().unwrap(), Ok(()));
    }
}

/// An exit handler runs after the thread-local variables of the thread that ends the process have been destroyed.
#[cfg(unix)]
#[test]
#[allow(unsafe_code, reason = "fork and exit handlers have no safe door")]
fn exit_handlers_generate_ids() {
    const SUCCESS: i32 = 42;
    extern "C" fn at_exit() {
        let status = if generate_all_formats().is_ok() { SUCCESS } else { 1 };
        // SAFETY: `_exit` has no preconditions.
        unsafe { libc::_exit(status) }
    }
    // SAFETY: the child runs only the code below, and ends in its exit handler.
    let child = unsafe { libc::fork() };
    if child == 0 {
        generate_all_formats().unwrap();
        // SAFETY: the handler has the expected signature, and may run at any time until the process ends.
        unsafe {
            libc::atexit(at_exit);
            libc::exit(1);
        }
    }
    let mut status = 0;
    // SAFETY: `status` is a valid, writable integer, and `child` was just forked.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status), "the child was killed by a signal: {status}");
    assert_eq!(libc::WEXITSTATUS(status), SUCCESS);
}
