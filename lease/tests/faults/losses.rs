//! A `Redis` server that loses its data in every way that is allowed for a volatile store (R13 in docs/leases.md).
//!
//! The server acknowledges a write only after the write is on disk, so a killed server restarts with all its data. The
//! tests cause the losses that an operator or different settings can cause: the server is emptied, restarts with missing or
//! older data, or is replaced by its replica.
//!
//! With leases of five minutes, holders wait for six minutes after each loss. These tests use one-second leases and shorten
//! each wait accordingly. Holders still begin and observe each wait according to their own rules. In the control, each wait
//! ends as soon as it begins, as if there were no wait.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    life::LEASE,
    redis_server::{RedisServer, call_server},
};

/// The initial length of a wait: six minutes, plus 15 seconds for the write that starts the wait.
const WAIT: Duration = Duration::from_secs(375);

/// Shortens each wait that ends at least a minute from now, and returns the number of these waits. The script's argument is
/// the number of milliseconds by which each wait is shortened.
const SHORTEN_WAITS_SCRIPT: &str = r#"
local now, count = tonumber(redis.call('TIME')[1]) * 1000, 0
for _, name in ipairs(redis.call('SMEMBERS', 'polyflake:namespaces')) do
  local key = 'polyflake:namespace:' .. name
  local record = redis.call('HGET', key, 'record')
  local function shorten(time)
    if tonumber(time) < now + 60000 then return nil end
    count = count + 1
    return string.format('"quiet_until":%.0f', tonumber(time) - tonumber(ARGV[1]))
  end
  local new = string.gsub(record, '"quiet_until":(%d+)', shorten)
  if new ~= record then redis.call('HSET', key, 'record', new) end
end
return tostring(count)"#;

/// The kinds of data loss that a server can suffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataLoss {
    /// The server is emptied, but keeps its name.
    Emptied,
    /// The server is killed and restarts without data.
    Restarted,
    /// The server is killed and restarts with data from an earlier time.
    Reverted,
    /// The server is killed and its replica is promoted.
    Promoted,
}

pub struct LossyServer {
    program: PathBuf,
    server: RedisServer,
    port: String,
    waits: Arc<Waits>,
    /// The length of each wait after it has been shortened.
    wait: Duration,
    losses: usize,
}

/// The state shared with the thread that shortens the waits.
struct Waits {
    socket: Mutex<PathBuf>,
    is_over: AtomicBool,
    count: AtomicUsize,
}

impl LossyServer {
    pub fn start(program: &Path, wait: Duration) -> Self {
        let (server, port) = start(program);
        let (is_over, count) = (AtomicBool::new(false), AtomicUsize::new(0));
        let waits = Arc::new(Waits { socket: Mutex::new(server.socket()), is_over, count });
        let (for_thread, by) = (waits.clone(), WAIT.checked_sub(wait).unwrap());
        thread::spawn(move || for_thread.shorten(by));
        Self { program: program.to_owned(), server, port, waits, wait, losses: 0 }
    }

    pub fn socket(&self) -> PathBuf {
        self.server.socket()
    }

    pub fn wait(&self) -> Duration {
        self.wait
    }

    /// Makes the server reject all writes, as it does when its memory is full, or makes it accept them again.
    pub fn reject_changes(&self, is_rejected: bool) {
        let max = if is_rejected { "1" } else { "0" };
        self.server.call(&["CONFIG", "SET", "maxmemory", max]).unwrap();
    }

    /// Kills the server and restarts it with all data that it had acknowledged.
    pub fn restart_after(&mut self, time: Duration) {
        self.losses += 1;
        self.server.kill();
        thread::sleep(time);
        self.server.launch();
    }

    pub fn lose_data(&mut self, loss: DataLoss) {
        self.losses += 1;
        match loss {
            DataLoss::Emptied => drop(self.server.call(&["FLUSHALL"]).unwrap()),
            DataLoss::Restarted => {
                self.server.kill();
                self.remove_data();
                self.server.launch();
            }
            DataLoss::Reverted => self.revert(),
            DataLoss::Promoted => self.promote(),
        }
    }

    /// Asserts that holders started one wait before the first grant and one wait after each loss.
    pub fn assert_one_wait_per_loss(&self) {
        let (waits, losses) = (self.waits.count.load(Ordering::Relaxed), self.losses);
        println!("{losses} losses or restarts, {waits} waits");
        assert!(waits > losses, "expected a wait after each loss");
    }

    fn revert(&mut self) {
        let copy = tempfile::tempdir().unwrap();
        let copied =
            run_shell("cp -r \"$0\"/appendonly* \"$1\"", &[self.server.folder(), copy.path()]);
        // Meanwhile, holders renew, release and claim worker IDs.
        thread::sleep(LEASE.mul_f32(1.5 * fastrand::f32()));
        self.server.kill();
        self.remove_data();
        let put_back = run_shell("cp -r \"$0\"/* \"$1\"", &[copy.path(), self.server.folder()]);
        assert!(copied && put_back);
        self.server.launch();
    }

    fn remove_data(&self) {
        assert!(run_shell("rm -r \"$0\"/appendonly*", &[self.server.folder()]));
    }

    /// Promotes the replica. While the replica is connected, the server rejects all requests, so it acknowledges no write
    /// that the replica lacks.
    fn promote(&mut self) {
        let (replica, port) = start(&self.program);
        replica.call_as_admin(&["REPLICAOF", "127.0.0.1", &self.port]);
        let began = Instant::now();
        while replica.info_field("master_link_status") != "up" {
            assert!(began.elapsed() < Duration::from_secs(60), "expected a connected replica");
            thread::sleep(Duration::from_millis(20));
        }
        self.server.kill();
        replica.call_as_admin(&["REPLICAOF", "NO", "ONE"]);
        *self.waits.socket.lock().unwrap() = replica.socket();
        (self.server, self.port) = (replica, port);
    }
}

impl Drop for LossyServer {
    fn drop(&mut self) {
        self.waits.is_over.store(true, Ordering::Relaxed);
    }
}

impl Waits {
    fn shorten(&self, by: Duration) {
        let by = by.as_millis().to_string();
        while !self.is_over.load(Ordering::Relaxed) {
            let socket = self.socket.lock().unwrap().clone();
            // A server that is starting or is a replica rejects the script.
            if let Ok(Ok(found)) =
                call_server(&socket, &[&["EVAL", SHORTEN_WAITS_SCRIPT, "0", &by]])
            {
                let count = found.first().and_then(|count| count.parse().ok()).unwrap_or(0);
                self.count.fetch_add(count, Ordering::Relaxed);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Starts a server on a port to which a replica can connect.
fn start(program: &Path) -> (RedisServer, String) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let persistence = ["--appendonly", "yes", "--appendfsync", "always"];
    let network = ["--bind", "127.0.0.1", "--port", &port];
    let replication = ["--repl-diskless-sync-delay", "0", "--repl-backlog-ttl", "1"];
    let options = [&persistence[..], &network, &replication].concat();
    (RedisServer::start(program, &options), port)
}

/// Runs a shell command with paths as its arguments, and returns whether it succeeded.
fn run_shell(command: &str, paths: &[&Path]) -> bool {
    Command::new("sh").args(["-c", command]).args(paths).status().unwrap().success()
}
