//! Runs the program as a service, with a client that writes HTTP by hand so that it can also send requests that no real
//! client would send.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::Duration,
};

use polyflake_lease::{
    Error, ErrorKind,
    protocol::{Reply, Request, Store},
};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const TOKEN: &str = "a-token-of-conformance-tests";
pub(crate) const OTHER_TOKEN: &str = "a-token-of-another-namespace";

/// A running service, which is stopped on drop.
pub(crate) struct Service {
    child: Child,
    pub(crate) port: u16,
    pub(crate) folder: TempDir,
}

/// Returns an empty folder on a disk, because a store rejects in-memory file systems.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// Returns the command that starts a service for a store file in a folder, with tokens for two namespaces.
pub(crate) fn command(folder: &TempDir, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polyflake"));
    command
        .args(["lease", "serve", "--url"])
        .arg(format!("sqlite:{}/ids.db", folder.path().display()));
    let tokens = format!("conformance {TOKEN}\nother {OTHER_TOKEN}");
    if !options.contains(&"--listen") {
        command.args(["--listen", "127.0.0.1:0"]);
    }
    command.args(options).env("POLYFLAKE_TOKENS", tokens);
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

impl Service {
    pub(crate) fn start(options: &[&str]) -> Self {
        let folder = folder();
        let command = command(&folder, &[&["--create"], options].concat());
        Self::run(folder, command)
    }

    pub(crate) fn run(folder: TempDir, mut command: Command) -> Self {
        let mut child = command.spawn().expect("a program");
        let mut talk = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        talk.read_line(&mut line).expect("a line");
        let port = line.trim().rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let port = port.unwrap_or_else(|| panic!("expected a port, found {line}"));
        // A thread drains the output, because a full pipe would block the service.
        std::thread::spawn(move || std::io::copy(&mut talk, &mut std::io::sink()));
        Self { child, port, folder }
    }

    pub(crate) fn url(&self, token: &str) -> String {
        format!("http://{token}@127.0.0.1:{}", self.port)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        connect(self.port)
    }

    /// Sends a request over a new connection.
    pub(crate) fn post(&self, token: &str, more: &str, body: &str) -> Answer {
        Answer::exchange(&mut self.connect(), &head(token, more, body.len()), body)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path)
    }

    pub(crate) fn send(&self, method: &str, path: &str) -> Answer {
        let head = format!("{method} {path} HTTP/1.1\r\nhost: ids\r\n\r\n");
        Answer::exchange(&mut self.connect(), &head, "")
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    #[cfg(unix)]
    pub(crate) fn wait(&mut self) -> std::process::ExitStatus {
        self.child.wait().expect("an end")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}

pub(crate) fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    stream
}

/// Returns the head of a request.
pub(crate) fn head(token: &str, more: &str, length: usize) -> String {
    let head = "POST /v1/request HTTP/1.1\r\nhost: ids\r\n";
    format!("{head}authorization: Bearer {token}\r\n{more}content-length: {length}\r\n\r\n")
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn exchange(stream: &mut (impl Read + Write), head: &str, body: &str) -> Self {
        stream.write_all(format!("{head}{body}").as_bytes()).expect("a reader");
        Self::read(stream)
    }

    pub(crate) fn read(stream: &mut impl Read) -> Self {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a response");
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("a head");
        let status = head[9..12].parse().expect("a status");
        let mut answer = Self { status, head, body: String::new() };
        let length =
            answer.header("content-length").map_or(0, |length| length.parse().expect("a length"));
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("a body");
        answer.body = String::from_utf8(body).expect("text");
        answer
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the error code in the response.
    #[track_caller]
    pub(crate) fn code(&self) -> String {
        let body: Value = self.body.parse().unwrap_or_else(|_| panic!("expected JSON: {self:?}"));
        body["code"].as_str().unwrap_or_else(|| panic!("expected a code: {self:?}")).to_owned()
    }
}

/// A store that is accessed through a single connection to a service.
pub(crate) struct Client(pub(crate) TcpStream);

impl Store for Client {
    fn answer(&mut self, request: &Request) -> polyflake_lease::Result<Reply> {
        let body = request.to_json();
        let answer = Answer::exchange(&mut self.0, &head(TOKEN, "", body.len()), &body);
        if answer.status != 200 {
            return Err(Error::new(ErrorKind::LeaseUnavailable, answer.body));
        }
        Reply::from_json(&answer.body)
    }
}
