//! Starts `Redis` servers for tests. Each server has its own folder, which also contains its socket.

#[allow(clippy::duplicate_mod, reason = "tests use several servers")]
#[path = "../required/mod.rs"]
mod required;

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use polyflake_lease::protocol::steps::{Failure, Rows, Statement, Value};
use required::find_or_skip;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A running server. Dropping it stops the server and deletes its data. The server does not save snapshots automatically
/// unless its options request this.
pub struct RedisServer {
    folder: TempDir,
    program: PathBuf,
    options: Vec<String>,
    process: Option<Child>,
}

/// The environment variable for the path of a server program, such as Redis 6 or Valkey.
const PROGRAM_VARIABLE: &str = "POLYFLAKE_REDIS_SERVER";

/// The command that creates a user with the rights that a lease needs.
pub const USER_ACL: &str = include_str!("../../sql/redis-user.acl");

/// A script that ends a namespace's waiting time. It runs atomically, so that no write by a lease is lost.
const SKIP_WAIT_SCRIPT: &str = r#"
local record = redis.call('HGET', KEYS[1], 'record')
redis.call('HSET', KEYS[1], 'record', (string.gsub(record, '"quiet_until":%d+', '"quiet_until":0')))"#;

/// Returns the path of the server program. If no server is found, returns `None`, or panics if tests must not be skipped.
pub fn program() -> Option<PathBuf> {
    if let Some(program) = env::var_os(PROGRAM_VARIABLE) {
        return Some(program.into());
    }
    let folders = env::var_os("PATH")?;
    let found = env::split_paths(&folders).map(|folder| folder.join("redis-server"));
    let found = found.into_iter().find(|path| path.is_file());
    find_or_skip("Redis", found)
}

impl RedisServer {
    pub fn start(program: &Path, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = options.iter().map(ToString::to_string).collect();
        let mut server = Self { folder, program: program.into(), options, process: None };
        server.launch();
        server
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of the socket on which the server listens.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub fn url(&self) -> String {
        format!("redis:///0?host={}", self.socket().display())
    }

    /// Creates a user with the rights that a lease needs, and returns the URL for this user.
    pub fn create_user(&self) -> String {
        self.call(&USER_ACL.split_whitespace().collect::<Vec<_>>()).unwrap();
        self.url().replace("redis:///0", "redis://orders:PASSWORD@/0")
    }

    /// Starts the server process, and waits until it responds. The server loads the last snapshot, if there is one.
    pub fn launch(&mut self) {
        let folder = self.folder.path();
        let mut command = Command::new(&self.program);
        command.args(["--port", "0", "--save", "", "--dir"]).arg(folder);
        command.arg("--unixsocket").arg(self.socket()).args(&self.options);
        self.process = Some(command.stdout(Stdio::null()).spawn().unwrap());
        for _ in 0..1200 {
            if UnixStream::connect(self.socket()).is_ok()
                && self.call_as_admin(&["PING"]) == ["PONG"]
            {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("expected a server that answers");
    }

    /// Kills the server with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Stops the server process with SIGSTOP, or resumes it.
    pub fn pause(&self, is_paused: bool) {
        let id = Pid::from_child(self.process.as_ref().unwrap());
        kill_process(id, if is_paused { Signal::STOP } else { Signal::CONT }).unwrap();
    }

    /// Sends a command without the driver. Returns the strings in the server's reply, or its error.
    #[track_caller]
    pub fn call_as_admin(&self, words: &[&str]) -> Vec<String> {
        self.call(words).unwrap_or_else(|error| vec![error])
    }

    /// Sends a command, and returns the strings in its reply.
    ///
    /// # Errors
    ///
    /// Returns the server's error.
    #[track_caller]
    pub fn call(&self, words: &[&str]) -> Result<Vec<String>, String> {
        call_server(&self.socket(), &[words]).unwrap()
    }

    /// Sends a statement with `EVAL`, or as a plain command if it has no values. Removes the script's digest from the end
    /// of an error message.
    pub fn run(&self, statement: &Statement) -> Result<Rows, Failure> {
        let mut words = vec!["EVAL", &*statement.text];
        words.extend(statement.values.iter().filter_map(|value| match value {
            Value::Text(text) => Some(&**text),
            _ => None,
        }));
        if statement.values.is_empty() {
            words = statement.text.split(' ').collect();
        }
        let found = self.call(&words).map_err(|error| {
            let message = error.split(" script: ").next().unwrap_or_default().to_owned();
            Failure { code: message.split(' ').next().map(str::to_owned), message }
        })?;
        Ok(vec![found.into_iter().map(Value::Text).collect()])
    }

    /// Returns the value of a field in the server's `INFO` output.
    pub fn info_field(&self, name: &str) -> String {
        let info = self.call_as_admin(&["INFO"]).remove(0);
        let mut lines = info.lines();
        let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        found.unwrap_or_default().trim().to_owned()
    }

    /// Ends the waiting time of a namespace, as if six minutes had passed.
    pub fn skip_wait(&self, name: &str) {
        self.call(&["EVAL", SKIP_WAIT_SCRIPT, "1", &format!("polyflake:namespace:{name}")])
            .unwrap();
    }
}

/// Sends commands over a new connection. Returns the strings in the last reply, or the server's error.
///
/// # Errors
///
/// Returns an error if the connection fails.
pub fn call_server(socket: &Path, commands: &[&[&str]]) -> io::Result<Result<Vec<String>, String>> {
    let mut stream = UnixStream::connect(socket)?;
    for words in commands {
        write!(stream, "*{}\r\n", words.len())?;
        for word in *words {
            write!(stream, "${}\r\n{word}\r\n", word.len())?;
        }
    }
    let (mut stream, mut last) = (BufReader::new(stream), Ok(Vec::new()));
    for _ in commands {
        let is_error = stream.fill_buf()?.first() == Some(&b'-');
        let mut strings = read_strings(&mut stream)?;
        last = if is_error { Err(strings.remove(0)) } else { Ok(strings) };
    }
    Ok(last)
}

/// Reads a reply, and flattens nested lists of strings into one list.
fn read_strings(stream: &mut impl BufRead) -> io::Result<Vec<String>> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let (kind, text) = line.trim_end().split_at_checked(1).unwrap_or_default();
    match (kind, text.parse::<i64>()) {
        ("$", Ok(length)) if length >= 0 => {
            let mut bytes = vec![0; usize::try_from(length).unwrap() + 2];
            stream.read_exact(&mut bytes)?;
            bytes.truncate(bytes.len() - 2);
            Ok(vec![String::from_utf8(bytes).unwrap()])
        }
        ("*", Ok(count)) => {
            let lists = (0..count).map(|_| read_strings(stream)).collect::<io::Result<Vec<_>>>();
            Ok(lists?.concat())
        }
        _ => Ok(vec![text.to_owned()]),
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}
