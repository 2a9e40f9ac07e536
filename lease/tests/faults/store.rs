//! A store, together with the proxies and services in front of it that can fail.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{
    life::LEASE,
    losses::{DataLoss, LossyServer},
    mysql_server::MysqlServer,
    proxy::Proxy,
    run::{PROCESSES, ROLES},
    server::Server,
    service::Services,
};

/// The database or server that stores the records.
pub enum Backend {
    /// A file. The store's time is read from the holders' clocks. If a holder's clock is far ahead when it claims a worker
    /// ID, the claim blocks that worker ID until the time that the clock showed, so the test then begins a new namespace.
    Sqlite(PathBuf),
    Postgresql(Server),
    Mysql(MysqlServer),
    Redis(LossyServer),
}

pub struct FaultyStore {
    pub url: String,
    pub backend: RefCell<Backend>,
    /// The duration of the processes' leases.
    pub lease: Duration,
    pub proxy: Option<Proxy>,
    /// The services between the processes and the store.
    pub services: Option<Services>,
}

/// The kind of changes that a store rejects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rejection {
    Changes,
    Releases,
}

impl FaultyStore {
    pub fn new(url: String, backend: Backend, proxy: Option<Proxy>) -> Self {
        Self { url, backend: RefCell::new(backend), lease: LEASE, proxy, services: None }
    }

    /// Returns the store's URL for the process in a given slot.
    pub fn url(&self, place: usize, namespace: &str) -> String {
        if let Some(services) = &self.services {
            return services.url(namespace);
        }
        self.url.replace("//lease@", &format!("//{}@", ROLES[place % PROCESSES]))
    }

    /// Returns the simulated networks: first the network between the processes and the services, and then the network in
    /// front of the server.
    pub fn proxies(&self) -> Vec<&Proxy> {
        let services = self.services.as_ref().map(|services| &services.proxy);
        services.into_iter().chain(&self.proxy).collect()
    }

    pub fn uses_holder_clocks(&self) -> bool {
        matches!(&*self.backend.borrow(), Backend::Sqlite(_))
    }

    pub fn has_replicas(&self) -> bool {
        matches!(&*self.backend.borrow(), Backend::Postgresql(_))
    }

    pub fn is_volatile(&self) -> bool {
        matches!(&*self.backend.borrow(), Backend::Redis(_))
    }

    /// Returns how long the store grants no worker IDs after it starts or loses data.
    pub fn wait(&self) -> Duration {
        match &*self.backend.borrow() {
            Backend::Redis(server) => server.wait(),
            _ => Duration::ZERO,
        }
    }

    /// Kills one or both services, and starts them again after the given time.
    pub fn kill_services(&self, time: Duration) {
        let services = self.services.as_ref().unwrap();
        let killed = [[0].as_slice(), &[1], &[0, 1]][fastrand::usize(..3)];
        killed.iter().for_each(|at| services.kill(*at));
        thread::sleep(time);
        killed.iter().for_each(|at| services.launch(*at));
    }

    /// Makes the store reject either all changes to records or only releases.
    pub fn reject_changes(&self, refused: Rejection) {
        let when = match refused {
            Rejection::Changes => "true",
            Rejection::Releases => "new.granted_until < old.granted_until",
        };
        match &*self.backend.borrow() {
            Backend::Sqlite(path) => open_with_timeout(path).execute_batch(
                &format!("CREATE TRIGGER refuse BEFORE UPDATE ON polyflake_leases WHEN {when} BEGIN SELECT RAISE(FAIL, 'refused'); END"),
            ).unwrap(),
            Backend::Postgresql(server) => server.execute_as_admin(&[
                &format!("CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
                CREATE TRIGGER refuse BEFORE UPDATE ON polyflake.polyflake_leases FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION refuse()"),
            ]),
            Backend::Mysql(server) => drop(server.execute_as_root(&[
                &format!("CREATE TRIGGER refuse BEFORE UPDATE ON polyflake_leases FOR EACH ROW
                BEGIN IF {when} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END IF; END"),
            ])),
            Backend::Redis(server) => server.reject_changes(true),
        }
    }

    pub fn accept_changes(&self) {
        let drop_it = "DROP TRIGGER refuse";
        match &*self.backend.borrow() {
            Backend::Sqlite(path) => open_with_timeout(path).execute_batch(drop_it).unwrap(),
            Backend::Postgresql(server) => {
                server.execute_as_admin(&["DROP TRIGGER refuse ON polyflake.polyflake_leases"]);
            }
            Backend::Mysql(server) => drop(server.execute_as_root(&[drop_it])),
            Backend::Redis(server) => server.reject_changes(false),
        }
    }

    /// Makes the store unavailable for a while.
    pub fn make_unavailable(&self, time: Duration) {
        match &mut *self.backend.borrow_mut() {
            Backend::Sqlite(path) => {
                let store = open_with_timeout(path);
                store.execute_batch("BEGIN EXCLUSIVE").unwrap();
                thread::sleep(time);
            }
            Backend::Postgresql(server) => {
                server.kill();
                thread::sleep(time);
                server.launch();
            }
            Backend::Mysql(server) => {
                server.kill();
                thread::sleep(time);
                server.launch();
            }
            Backend::Redis(server) => server.restart_after(time),
        }
    }

    /// Makes a volatile store lose data, and waits until it grants worker IDs again.
    pub fn lose_data(&self, loss: DataLoss) {
        let mut backend = self.backend.borrow_mut();
        let Backend::Redis(server) = &mut *backend else { panic!("expected a volatile store") };
        server.lose_data(loss);
        self.proxy.as_ref().unwrap().redirect_to(server.socket());
    }

    /// Replaces the server with its replica. A planned promotion follows an orderly shutdown, so the replica has all data.
    /// In an unplanned promotion, the server is replaced while it is running.
    pub fn promote(&self, is_planned: bool) {
        self.replace_server(|old| {
            let replica = old.start_replica();
            if is_planned {
                old.stop();
            } else {
                old.kill();
            }
            replica
        });
    }

    /// Replaces the server with its synchronous replica, which has all acknowledged writes.
    pub fn fail_over_to_synchronous_replica(&self, is_away: bool) {
        self.replace_server(|old| {
            let replica = old.start_replica();
            old.replicate_synchronously();
            thread::sleep(LEASE);
            if is_away {
                replica.power_off();
                thread::sleep(LEASE);
                old.power_off();
                old.launch();
                thread::sleep(LEASE);
            }
            old.kill();
            if is_away {
                replica.launch();
            }
            replica
        });
    }

    /// Injects a fault into the server, and promotes its replica.
    fn replace_server(&self, fault: impl FnOnce(&Server) -> Server) {
        let mut backend = self.backend.borrow_mut();
        let Backend::Postgresql(server) = &mut *backend else { panic!("expected PostgreSQL") };
        let replica = fault(server);
        replica.promote();
        self.proxy.as_ref().unwrap().redirect_to(replica.socket());
        *server = replica;
    }
}

/// Opens a connection to a file. The connection waits for locks.
fn open_with_timeout(path: &Path) -> rusqlite::Connection {
    let store = rusqlite::Connection::open(path).unwrap();
    store.busy_timeout(Duration::from_secs(5)).unwrap();
    store
}
