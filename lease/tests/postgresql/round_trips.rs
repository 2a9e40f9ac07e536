//! Counts the round trips between a store and its server.

use std::{
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use polyflake_lease::{
    Postgresql,
    protocol::{Operation, Record, ReplyContent, Request, Store},
};
use tempfile::TempDir;

use crate::{
    claim,
    server::{Server, programs},
    start_logging_server, statement_count,
};

/// A proxy that counts the round trips between clients and a server. A round trip begins whenever a client sends something
/// after the server has replied.
pub struct CountingProxy {
    folder: TempDir,
    trips: Arc<AtomicUsize>,
}

impl CountingProxy {
    pub fn for_server(server: &Server) -> Self {
        let (folder, trips) = (tempfile::tempdir().unwrap(), Arc::default());
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let (socket, counted) = (server.socket(), Arc::clone(&trips));
        thread::spawn(move || {
            listener.incoming().flatten().for_each(|it| proxy_connection(it, &socket, &counted));
        });
        Self { folder, trips }
    }

    pub fn url(&self) -> String {
        let folder = self.folder.path().to_str().unwrap().replace('/', "%2F");
        format!("postgresql://lease@{folder}/postgres")
    }

    pub fn round_trips(&self) -> usize {
        self.trips.load(Ordering::SeqCst)
    }
}

fn proxy_connection(mut client: UnixStream, socket: &Path, trips: &Arc<AtomicUsize>) {
    let mut server = UnixStream::connect(socket).unwrap();
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let (trips, has_answered) = (trips.clone(), Arc::new(AtomicBool::new(true)));
    let answered = has_answered.clone();
    thread::spawn(move || {
        forward_messages(&mut client, &mut server, || {
            if has_answered.swap(false, Ordering::SeqCst) {
                trips.fetch_add(1, Ordering::SeqCst);
            }
        });
    });
    thread::spawn(move || {
        forward_messages(&mut from, &mut to, || answered.store(true, Ordering::SeqCst));
    });
}

fn forward_messages(from: &mut UnixStream, to: &mut UnixStream, heard: impl Fn()) {
    let mut chunk = [0; 8192];
    while let Ok(size @ 1..) = from.read(&mut chunk) {
        heard();
        if to.write_all(&chunk[..size]).is_err() {
            return;
        }
    }
}

#[test]
fn a_renewal_takes_one_round_trip_and_six_statements() {
    let Some(programs) = programs() else { return };
    let server = start_logging_server(&programs);
    let way = CountingProxy::for_server(&server);
    let mut store = Postgresql::open(&way.url()).unwrap();
    let end = claim(&mut store).unwrap().end();
    let mut ask = |ask| {
        let (trips, before) = (way.round_trips(), statement_count(&server));
        let reply =
            store.answer(&Request { number: 1, namespace: "orders/sno".into(), operation: ask });
        (reply.unwrap().content, way.round_trips() - trips, statement_count(&server) - before)
    };
    let ReplyContent::Records(mut found) = ask(Operation::Read { first: 0 }).0 else { panic!() };
    let old = found.remove(0);
    let new = Record { granted_until: end + 4000, version: old.version + 1, ..old.clone() };
    let renew = Operation::Put { old, new: new.clone() };
    assert_eq!(ask(renew.clone()), (ReplyContent::Done, 1, 6));
    assert_eq!(ask(renew), (ReplyContent::Differs(Some(new)), 1, 6));
    // Opening the connection takes up to two round trips, and the request takes one. Closing the connection counts as
    // another round trip, which the proxy may not have counted yet.
    let (trips, request) = (way.round_trips(), Operation::Read { first: 0 });
    let request = Request { number: 1, namespace: "orders/sno".into(), operation: request };
    Postgresql::open(&way.url()).unwrap().answer(&request).unwrap();
    let trips = way.round_trips() - trips;
    assert!((2..=4).contains(&trips), "{trips}");
}
