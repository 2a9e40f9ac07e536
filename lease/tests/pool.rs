//! Tests the asynchronous `PostgreSQL` store, both with connections that the store opens and with connections from a pool.
#![cfg(all(feature = "deadpool", unix))]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use std::{future::Future, time::Duration};

use deadpool_postgres::{Manager, Pool};
use polyflake_lease::{
    AsyncPostgresql, Host, Options, Result, Shape,
    protocol::{AsyncStore, Operation, Reply, Request, Store, conformance},
    sno::Generator,
};
use server::{Server, programs};
use tokio::{
    runtime::{Builder, Runtime},
    time,
};

const LONG_TIMEOUT: Duration = Duration::from_secs(30);

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn pool(server: &Server, size: usize) -> Pool {
    let config = server.url().parse().unwrap();
    let manager = Manager::new(config, tokio_postgres::NoTls);
    Pool::builder(manager).max_size(size).build().unwrap()
}

/// A blocking store that sends each request to an asynchronous store and waits for the reply.
struct BlockingStore<'r>(&'r Runtime, AsyncPostgresql);

impl Store for BlockingStore<'_> {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        self.0.block_on(self.1.answer(request))
    }
}

#[test]
fn direct_and_pooled_connections_pass_the_suite() {
    let Some(programs) = programs() else { return };
    let (server, runtime) = (Server::start(&programs), runtime());
    let pool = pool(&server, 1);
    let url = server.url();
    let check = |store: Result<AsyncPostgresql>| {
        conformance::check(&mut BlockingStore(&runtime, store.unwrap()));
        server.execute_as_admin(&[
            "TRUNCATE polyflake.polyflake_leases, polyflake.polyflake_namespaces",
        ]);
    };
    check(runtime.block_on(AsyncPostgresql::open(&url)));
    check(runtime.block_on(AsyncPostgresql::from_pool(&pool)));
    let two = self::pool(&server, 2);
    conformance::check_together(|| {
        BlockingStore(&runtime, runtime.block_on(AsyncPostgresql::from_pool(&two)).unwrap())
    });
    assert_eq!(pool.status().size, 1);
}

fn survey_request() -> Request {
    Request { number: 1, namespace: "orders".into(), operation: Operation::Survey }
}

/// Polls a future a few times and then drops it.
async fn poll_and_drop<V>(work: impl Future<Output = V>) {
    let _ = time::timeout(Duration::ZERO, work).await;
}

#[test]
fn a_connection_returns_to_its_pool_unless_a_request_was_dropped() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    runtime().block_on(async {
        let pool = pool(&server, 1);
        let process = async |pool: &Pool| {
            let client = pool.get().await.unwrap();
            client.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get::<_, i32>(0)
        };
        let first = process(&pool).await;
        let mut store = AsyncPostgresql::from_pool(&pool).await.unwrap();
        store.answer(&survey_request()).await.unwrap();
        drop(store);
        assert_eq!(process(&pool).await, first);
        let mut store = AsyncPostgresql::from_pool(&pool).await.unwrap();
        server.freeze();
        poll_and_drop(store.answer(&survey_request())).await;
        server.thaw();
        let error = store.answer(&survey_request()).await.unwrap_err();
        assert_eq!(error.code(), "lease_unavailable");
        drop(store);
        assert_ne!(process(&pool).await, first);
        pool.close();
        let error = AsyncPostgresql::from_pool(&pool).await.unwrap_err();
        assert_eq!(error.code(), "lease_unavailable");
    });
}

#[test]
fn renewing_leases_share_a_pool() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    runtime().block_on(async {
        let pool = pool(&server, 1);
        let host = |pool: &Pool| {
            let pool = pool.clone();
            let open = move || {
                let pool = pool.clone();
                async move { AsyncPostgresql::from_pool(&pool).await }
            };
            Host::new(open, time::sleep, |task| drop(tokio::spawn(task)))
        };
        let options = || {
            let options = Options::new("orders", Shape::sno(0..=1).unwrap()).unwrap();
            options.lease_ms(4000).unwrap()
        };
        let one =
            Generator::with_async(host(&pool), options(), LONG_TIMEOUT, time::sleep).await.unwrap();
        let other =
            Generator::with_async(host(&pool), options(), LONG_TIMEOUT, time::sleep).await.unwrap();
        assert_ne!(one.generate(0).unwrap().partition(), other.generate(0).unwrap().partition());
        let mut looks = 0;
        while one.lease().metrics().renewals == 0 || other.lease().metrics().renewals == 0 {
            // Between two requests, other users of the pool can use the connection.
            drop(pool.get().await.unwrap());
            time::sleep(Duration::from_millis(20)).await;
            looks += 1;
            assert!(looks < 1000, "{:?} {:?}", one.lease().rejected(), other.lease().rejected());
        }
        one.close_async(time::sleep).await;
        other.close_async(time::sleep).await;
    });
}
