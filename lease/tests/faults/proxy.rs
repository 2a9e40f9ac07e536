//! A simulated network between processes and a server. It delays data, cuts connections before a reply arrives, and repeats
//! everything that a client has sent.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// A condition of the network that the proxy simulates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum NetworkState {
    Fair,
    /// Delays of up to half a second in each direction.
    Slow,
    /// The proxy drops one reply in three by closing the connection, although the server executed the request.
    Cutting,
    /// After one reply in four, the proxy opens another connection to the server, and repeats everything that the client
    /// sent on the first connection.
    Doubling,
}

/// The address of a server.
#[derive(Clone)]
pub enum Address {
    Socket(PathBuf),
    Port(u16),
}

impl Address {
    /// Connects to the server. A Unix socket is also returned as a `TcpStream`, because both kinds of sockets are read and
    /// written in the same way.
    fn connect(&self) -> io::Result<TcpStream> {
        match self {
            Self::Socket(path) => Ok(OwnedFd::from(UnixStream::connect(path)?).into()),
            Self::Port(port) => TcpStream::connect(("127.0.0.1", *port)),
        }
    }
}

pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

struct State {
    /// The servers' addresses. Each connection goes to one of these servers.
    addresses: Mutex<Vec<Address>>,
    weather: AtomicU8,
    is_over: AtomicBool,
    /// The numbers of delayed chunks, dropped replies and replayed connections.
    counts: [AtomicUsize; 3],
}

impl Proxy {
    pub fn start(addresses: Vec<Address>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (weather, is_over) = (AtomicU8::new(0), AtomicBool::new(false));
        let addresses = Mutex::new(addresses);
        let state = Arc::new(State { addresses, weather, is_over, counts: Default::default() });
        let for_thread = state.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if for_thread.is_over.load(Ordering::Relaxed) {
                    return;
                }
                for_thread.connect(client);
            }
        });
        Self { port, state }
    }

    pub fn url(&self) -> String {
        format!("postgresql://lease@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }

    pub fn set(&self, weather: NetworkState) {
        self.state.weather.store(weather as u8, Ordering::Relaxed);
    }

    /// Directs new connections to another server.
    pub fn redirect_to(&self, socket: PathBuf) {
        *self.state.addresses.lock().unwrap() = vec![Address::Socket(socket)];
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn counts(&self) -> [usize; 3] {
        [0, 1, 2].map(|index| self.state.counts[index].load(Ordering::Relaxed))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        // This connection wakes the listener, which checks the state whenever a client connects.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl State {
    fn has_state(&self, weather: NetworkState) -> bool {
        self.weather.load(Ordering::Relaxed) == weather as u8
    }

    fn count(&self, weather: NetworkState) {
        self.counts[weather as usize - 1].fetch_add(1, Ordering::Relaxed);
    }

    fn server(&self) -> io::Result<TcpStream> {
        let addresses = self.addresses.lock().unwrap();
        let address = addresses[fastrand::usize(..addresses.len())].clone();
        drop(addresses);
        address.connect()
    }

    /// Connects a client to the server, or closes the client's connection if there is no server.
    fn connect(self: &Arc<Self>, client: TcpStream) {
        let Ok(server) = self.server() else { return };
        let said = Arc::new(Mutex::new(Vec::new()));
        let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let (state, heard) = (self.clone(), said.clone());
        thread::spawn(move || {
            while let Some(chunk) = read_chunk(&mut from) {
                state.wait();
                heard.lock().unwrap().extend_from_slice(&chunk);
                if to.write_all(&chunk).is_err() {
                    break;
                }
            }
            let _ = (to.shutdown(Shutdown::Both), from.shutdown(Shutdown::Both));
        });
        let (state, mut from, mut to) = (self.clone(), server, client);
        thread::spawn(move || {
            while let Some(chunk) = read_chunk(&mut from) {
                state.wait();
                if state.has_state(NetworkState::Cutting) && fastrand::u8(..3) == 0 {
                    state.count(NetworkState::Cutting);
                    break;
                }
                if state.has_state(NetworkState::Doubling) && fastrand::u8(..4) == 0 {
                    state.count(NetworkState::Doubling);
                    let (state, again) = (state.clone(), said.lock().unwrap().clone());
                    thread::spawn(move || state.replay_to_server(&again));
                }
                if to.write_all(&chunk).is_err() {
                    break;
                }
            }
            let _ = (to.shutdown(Shutdown::Both), from.shutdown(Shutdown::Both));
        });
    }

    fn wait(&self) {
        if self.has_state(NetworkState::Slow) {
            self.count(NetworkState::Slow);
            thread::sleep(Duration::from_millis(fastrand::u64(..500)));
        }
    }

    /// Resends everything that a client has sent to the server, and ignores the replies.
    fn replay_to_server(&self, words: &[u8]) {
        let Ok(mut server) = self.server() else { return };
        let Ok(mut answers) = server.try_clone() else { return };
        let patience = Some(Duration::from_secs(2));
        if answers.set_read_timeout(patience).is_ok() && server.write_all(words).is_ok() {
            while read_chunk(&mut answers).is_some() {}
        }
    }
}

fn read_chunk(from: &mut impl Read) -> Option<Vec<u8>> {
    let mut chunk = vec![0; 16_384];
    let size = from.read(&mut chunk).ok().filter(|size| *size > 0)?;
    chunk.truncate(size);
    Some(chunk)
}
