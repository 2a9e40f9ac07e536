//! Control generators for the storm tests. One generator has no fault, and each of the others has one deliberate fault.
//! `tests/controls.rs` asserts that a storm catches each fault.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        env,
        fs::{self, File},
        io::Read,
        panic,
        path::PathBuf,
        process,
        sync::{
            Mutex,
            atomic::{AtomicU64, Ordering},
        },
        thread,
        time::{Duration, SystemTime, UNIX_EPOCH},
    };

    use idstorm::host::{Made, serve};

    type Generator = Box<dyn Fn() -> Made + Sync>;

    pub(super) fn main() {
        let make: fn(u64) -> Generator = match env::args().nth(1).as_deref() {
            Some("clean") => valid_generator,
            Some("unlocked") => unlocked_counter,
            Some("one-repeat") => |_| repeating_counter(),
            Some("no-worker") => |_| restarting_snowflake(0),
            Some("pid-worker") => |_| restarting_snowflake(u64::from(process::id())),
            Some("forgetful") => |worker| restarting_snowflake(worker + 1),
            Some("unaware") => |_| random_base_counter(|_| false),
            Some("hooked") => |_| fork_hook_counter(),
            Some("lazy") => {
                |_| random_base_counter(|process| process.is_some_and(|last| last != process::id()))
            }
            Some("pid-check") => |_| pid_checking_counter(),
            Some("one-bit") => one_bit_snowflake,
            Some("late-save") => late_saving_counter,
            Some("lease") => |_| lease_generator(),
            Some("dies") => |_| generator_panicking_in_copy(),
            name => panic!("expected the name of a control, found {name:?}"),
        };
        serve(make);
    }

    fn unix_us() -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(now.as_micros()).unwrap()
    }

    fn random_u64() -> u64 {
        let mut bytes = [0; 8];
        File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
        u64::from_le_bytes(bytes)
    }

    /// Creates a generator that waits for the next microsecond, and combines the time with random bytes from the kernel.
    /// Its IDs break no rule.
    fn valid_generator(_: u64) -> Generator {
        let last = Mutex::new(0);
        Box::new(move || {
            let mut last = last.lock().unwrap();
            let mut now = unix_us();
            while now <= *last {
                if *last - now > 100 {
                    thread::sleep(Duration::from_millis(1));
                }
                now = unix_us();
            }
            *last = now;
            Ok(format!("{now:016x}{:016x}", random_u64()))
        })
    }

    /// Creates a counter without a lock. Two threads can read the same count.
    fn unlocked_counter(_: u64) -> Generator {
        let (base, count) = (random_u64() >> 16, AtomicU64::new(0));
        Box::new(move || {
            let id = count.load(Ordering::SeqCst);
            thread::yield_now();
            count.store(id + 1, Ordering::SeqCst);
            Ok(format!("{base:016x}{id:08}"))
        })
    }

    /// Creates a counter that returns its first ID twice.
    fn repeating_counter() -> Generator {
        let (base, count) = (random_u64() >> 16, AtomicU64::new(0));
        Box::new(move || {
            let id = count.fetch_add(1, Ordering::SeqCst);
            Ok(format!("{base:016x}{:012}", if id == 100_000 { 0 } else { id }))
        })
    }

    /// Generates IDs from the time in milliseconds, the worker ID and a sequence number. The sequence restarts whenever the
    /// clock shows a different millisecond than before.
    fn restarting_snowflake(worker: u64) -> Generator {
        let last = Mutex::new((0, 0));
        Box::new(move || {
            let mut last = last.lock().unwrap();
            let now = unix_us() / 1000;
            *last = if now == last.0 { (now, last.1 + 1) } else { (now, 0) };
            Ok(format!("{}{worker:08}{:08}", now, last.1))
        })
    }

    /// Creates a generator whose IDs consist of a random base and a count. It picks a new base if `is_stale` returns true
    /// for the process ID of the process that generated the last ID.
    fn random_base_counter(is_stale: fn(Option<u32>) -> bool) -> Generator {
        let state = Mutex::new((random_u64(), 0, None));
        Box::new(move || {
            let mut state = state.lock().unwrap();
            if is_stale(state.2) {
                *state = (random_u64(), 0, None);
            }
            state.1 += 1;
            state.2 = Some(process::id());
            Ok(format!("{:016x}{:08}", state.0, state.1))
        })
    }

    /// Creates a counter that picks a new base if the process ID has changed since it picked the last base.
    fn pid_checking_counter() -> Generator {
        let state = Mutex::new((random_u64(), 0, process::id()));
        Box::new(move || {
            let mut state = state.lock().unwrap();
            if state.2 != process::id() {
                *state = (random_u64(), 0, process::id());
            }
            state.1 += 1;
            Ok(format!("{:016x}{:08}", state.0, state.1))
        })
    }

    /// Creates a generator that panics in a copy of the process. The panic is deliberate, so it prints a line and no
    /// backtrace.
    fn generator_panicking_in_copy() -> Generator {
        panic::set_hook(Box::new(|_| eprintln!("a control panics, as wanted")));
        let process = process::id();
        Box::new(move || {
            assert_eq!(process::id(), process, "as wanted");
            Ok(format!("{:016x}", random_u64()))
        })
    }

    static BASE: AtomicU64 = AtomicU64::new(0);

    extern "C" fn replace_base() {
        BASE.store(random_u64(), Ordering::Relaxed);
    }

    /// Creates a counter whose base is replaced by a fork hook that is registered with the C library.
    #[allow(unsafe_code, reason = "the standard library has no fork hooks")]
    fn fork_hook_counter() -> Generator {
        replace_base();
        // SAFETY: the hook only reads random bytes and stores them in an atomic integer. It runs in a child that has only
        // one thread.
        unsafe { libc::pthread_atfork(None, None, Some(replace_base)) };
        let count = AtomicU64::new(0);
        Box::new(move || {
            let count = count.fetch_add(1, Ordering::Relaxed);
            Ok(format!("{:016x}{count:08}", BASE.load(Ordering::Relaxed)))
        })
    }

    /// Creates a snowflake generator whose IDs contain one bit that is set after the first clock rollback. A second
    /// rollback does not change the bit, so IDs can repeat.
    fn one_bit_snowflake(worker: u64) -> Generator {
        let last = Mutex::new((0, 0, 0));
        Box::new(move || {
            let mut last = last.lock().unwrap();
            let now = unix_us() / 1000;
            let bit = if now < last.0 { 1 } else { last.2 };
            *last = if now == last.0 { (now, last.1 + 1, bit) } else { (now, 0, bit) };
            Ok(format!("{bit}{now}{worker:08}{:08}", last.1))
        })
    }

    /// Creates a counter that saves its count to a file only after it has returned the IDs.
    fn late_saving_counter(worker: u64) -> Generator {
        let file = folder().join(worker.to_string());
        let saved = fs::read_to_string(&file).map_or(0, |text| text.parse().unwrap_or(0));
        let count = Mutex::new(saved);
        Box::new(move || {
            let mut count: std::sync::MutexGuard<'_, u64> = count.lock().unwrap();
            if count.is_multiple_of(100) {
                fs::write(&file, count.to_string())?;
            }
            *count += 1;
            Ok(format!("{worker:04}{:012}", *count))
        })
    }

    /// Returns a generator that requires a file to name this process as the lease holder. However, it checks the file only
    /// before the first of every 20 IDs.
    fn lease_generator() -> Generator {
        let (file, last) = (folder().join("lease"), Mutex::new((0, 0, 0)));
        Box::new(move || {
            let mut last = last.lock().unwrap();
            while last.2 == 0 && !is_holder(&file)? {
                thread::sleep(Duration::from_millis(1));
            }
            // This delay makes it likely that a pause begins after the check and before the IDs are generated.
            thread::sleep(Duration::from_millis(1));
            let now = unix_us() / 10_000;
            *last = (now, if now == last.0 { last.1 + 1 } else { 0 }, (last.2 + 1) % 20);
            Ok(format!("{now:016}{:08}", last.1))
        })
    }

    /// Renews the lease if this process holds it, or takes it over if another process's lease has expired. Returns whether
    /// this process now holds the lease.
    fn is_holder(file: &PathBuf) -> std::io::Result<bool> {
        let text = fs::read_to_string(file).unwrap_or_default();
        let (holder, end) = text.split_once(' ').unwrap_or(("", "0"));
        let ours = process::id().to_string();
        let is_free = holder == ours || end.parse::<u64>().is_ok_and(|end| end < unix_us());
        if is_free {
            fs::write(file, format!("{ours} {}", unix_us() + 200_000))?;
        }
        Ok(is_free)
    }

    fn folder() -> PathBuf {
        PathBuf::from(env::var_os("STORM_FOLDER").expect("a storm"))
    }
}
