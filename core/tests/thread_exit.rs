//! Tests generators of every kind in code that interrupts other code, or that runs when a thread or the process ends, after
//! thread-local variables have been destroyed.
#![cfg(not(miri))]

use std::{cell::RefCell, sync::mpsc, thread};

use family::{START_MS, all_kinds, generate_in_each_way};
use polyflake::{clock::ManualClock, hotguid, sno, uuid7};

#[path = "support/family.rs"]
mod family;

/// Generates IDs of each kind, and with the default generators and their system clock.
fn generate_all_kinds() -> polyflake::Result<()> {
    for family in all_kinds() {
        generate_in_each_way(&*family.generator(ManualClock::at_unix_ms(START_MS)))?;
    }
    sno::generate(7).and(hotguid::generate(7).map(drop)).and(uuid7::generate().map(drop))
}

/// Generates IDs when it is dropped, and sends the result.
struct GeneratesAtEnd(mpsc::Sender<polyflake::Result<()>>);

impl Drop for GeneratesAtEnd {
    fn drop(&mut self) {
        self.0.send(generate_all_kinds()).unwrap();
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
                generate_all_kinds().unwrap();
            }
            AT_END.with(|at_end| *at_end.borrow_mut() = Some(GeneratesAtEnd(sender)));
            generate_all_kinds().unwrap();
        });
        thread.join().unwrap();
        assert_eq!(receiver.recv().unwrap(), Ok(()));
    }
}

#[cfg(unix)]
#[allow(unsafe_code, reason = "fork, signals and exit handlers have no safe door")]
mod processes {
    use std::{
        collections::HashSet,
        ptr,
        sync::{
            Arc, Mutex,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use super::{
        ManualClock, START_MS, all_kinds,
        family::{AnyGenerator, AnyId},
        generate_all_kinds,
    };

    const SUCCESS: i32 = 42;

    /// Runs `work` in a child that has only this thread, and asserts that it ends with [`SUCCESS`].
    #[track_caller]
    fn run_in_child(work: impl FnOnce() -> i32) {
        // SAFETY: the child runs only `work`, and never returns to the test harness.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let status = work();
            // SAFETY: `_exit` has no preconditions.
            unsafe { libc::_exit(status) }
        }
        let mut status = 0;
        // SAFETY: `status` is a valid, writable integer, and `child` was just forked.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status), "the child was killed by a signal: {status}");
        assert_eq!(libc::WEXITSTATUS(status), SUCCESS);
    }

    /// An exit handler runs after the thread-local variables of the thread that ends the process have been destroyed.
    #[test]
    fn exit_handlers_generate_ids() {
        extern "C" fn at_exit() {
            let status = if generate_all_kinds().is_ok() { SUCCESS } else { 1 };
            // SAFETY: `_exit` has no preconditions.
            unsafe { libc::_exit(status) }
        }
        run_in_child(|| {
            generate_all_kinds().unwrap();
            // SAFETY: the handler has the expected signature, and may run at any time until the process ends.
            unsafe {
                libc::atexit(at_exit);
                libc::exit(1)
            }
        });
    }

    /// The generator of the calls that a signal interrupts, and the IDs of the signal's handler.
    static GENERATOR: Mutex<Option<Arc<dyn AnyGenerator>>> = Mutex::new(None);
    static MADE: Mutex<Vec<AnyId>> = Mutex::new(Vec::new());
    static SIGNALS: AtomicUsize = AtomicUsize::new(0);

    /// Generates an ID. The handler allocates no memory, except for a layout. It is never interrupted itself, and the
    /// interrupted code holds no lock.
    extern "C" fn on_signal(_: libc::c_int) {
        let (Ok(ids), Ok(mut made)) = (GENERATOR.try_lock(), MADE.try_lock()) else { return };
        let Some(ids) = &*ids else { return };
        SIGNALS.fetch_add(1, Ordering::Relaxed);
        if made.len() < made.capacity() {
            made.extend(ids.try_generate());
        }
    }

    /// Delivers a signal every 50 microseconds, or ends that.
    fn set_timer(micros: libc::suseconds_t) {
        let time = libc::timeval { tv_sec: 0, tv_usec: micros };
        let timer = libc::itimerval { it_interval: time, it_value: time };
        // SAFETY: `timer` is valid, and the old timer is not requested.
        let set = unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut()) };
        assert_eq!(set, 0);
    }

    /// The clock stands still, so that an ID of the handler and of the interrupted call are in the same tick. Layouts are
    /// left out, because their generators allocate memory, which a signal's handler must not.
    #[test]
    fn a_signals_handler_generates_ids_while_it_interrupts_a_call() {
        for family in all_kinds().filter(|family| family.module != "layout") {
            run_in_child(|| {
                let handler = on_signal as extern "C" fn(libc::c_int);
                // SAFETY: the handler has the expected signature, and this process has only one thread.
                unsafe { libc::signal(libc::SIGALRM, handler as libc::sighandler_t) };
                let ids = family.generator(ManualClock::at_unix_ms(START_MS));
                MADE.lock().unwrap().reserve(2000);
                *GENERATOR.lock().unwrap() = Some(ids.clone());
                let mut made = Vec::with_capacity(60_000);
                let mut handle = ids.handle(4);
                set_timer(50);
                while SIGNALS.load(Ordering::Relaxed) < 200 && made.len() < 50_000 {
                    made.extend(ids.try_generate());
                    made.extend(handle());
                }
                set_timer(0);
                let count = made.len();
                let in_handler = MADE.lock().unwrap();
                made.extend(in_handler.iter().copied());
                let distinct: HashSet<_> = made.iter().collect();
                if distinct.len() == made.len() && !in_handler.is_empty() && count > 0 {
                    SUCCESS
                } else {
                    std::eprintln!("{}: {} of {}", family.name, distinct.len(), made.len());
                    1
                }
            });
        }
    }
}
