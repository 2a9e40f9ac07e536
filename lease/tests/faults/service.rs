//! Two instances of `polyflake lease serve` between the processes and a store. A simulated network in front of the
//! instances directs each connection to one of them.

use std::{
    cell::RefCell,
    env,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use crate::proxy::{Address, Proxy};

/// The number of namespaces that have a token.
const NAMESPACES: usize = 600;

pub struct Services {
    urls: [String; 2],
    ports: [u16; 2],
    running: RefCell<[Option<Child>; 2]>,
    pub proxy: Proxy,
}

/// Returns the path of the program, which `cargo build --package polyflake-cli` puts next to this test.
fn program() -> PathBuf {
    let test = env::current_exe().unwrap();
    let program = test.parent().and_then(|deps| deps.parent()).unwrap().join("polyflake");
    assert!(program.exists(), "expected {}", program.display());
    program
}

/// Returns the token of a namespace.
fn token(namespace: &str) -> String {
    format!("a-token-for-{namespace}")
}

fn tokens(rule: &str) -> String {
    let name = |at| format!("faults-{rule}-{at}");
    let lines = (1..=NAMESPACES).map(|at| format!("{} {}\n", name(at), token(&name(at))));
    lines.collect::<Vec<_>>().concat()
}

impl Services {
    /// Starts two instances over one store or, as a control, over two separate stores.
    pub fn start(urls: [String; 2]) -> Self {
        let ports = [0, 1].map(|_| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        });
        let proxy = Proxy::start(ports.map(Address::Port).to_vec());
        let services = Self { urls, ports, running: RefCell::default(), proxy };
        (0..2).for_each(|at| services.launch(at));
        services
    }

    /// Returns the URL that a namespace's holders use.
    pub fn url(&self, namespace: &str) -> String {
        format!("http://{}@127.0.0.1:{}", token(namespace), self.proxy.port())
    }

    pub fn launch(&self, at: usize) {
        let mut command = Command::new(program());
        command.args(["lease", "serve", "--create", "--rate", "1000000", "--url", &self.urls[at]]);
        command.args(["--listen", &format!("127.0.0.1:{}", self.ports[at])]);
        let tokens = ["Nowhere", "NoSeal"].map(tokens).concat();
        command.env("POLYFLAKE_TOKENS", tokens).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        // The first line may be an error, because an instance exits if its store is unavailable, as in production. The test
        // relaunches the instance later. All further output is discarded.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        self.running.borrow_mut()[at] = Some(child);
    }

    pub fn kill(&self, at: usize) {
        if let Some(mut child) = self.running.borrow_mut()[at].take() {
            let _ = (child.kill(), child.wait());
        }
    }

    /// Relaunches the instances that have exited.
    pub fn relaunch(&self) {
        for at in 0..2 {
            let has_ended = |child: &mut Option<Child>| {
                child.as_mut().is_none_or(|child| child.try_wait().is_ok_and(|it| it.is_some()))
            };
            if has_ended(&mut self.running.borrow_mut()[at]) {
                self.launch(at);
            }
        }
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        (0..2).for_each(|at| self.kill(at));
    }
}
