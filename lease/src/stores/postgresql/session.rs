//! Requests over a connection. The statements of a step are sent together, so a step needs only one round trip.

use alloc::{boxed::Box, string::ToString, vec::Vec};
use core::{
    error::Error as _,
    fmt::Write as _,
    future::{Future, poll_fn},
    task::Poll,
};
use tokio_postgres::{
    Client, Row,
    error::DbError,
    types::{ToSql, Type},
};

use super::connection::Notices;
use crate::{
    Result,
    protocol::{Reply, Request},
    stores::steps::{
        Access, Engine, Failure, Outcome, Rows, Schema, Statement, Step, Steps, Value,
    },
    stores::system::random,
};

/// Processes a request. `notices` belongs to the connection. It is `None` if a pool drives the connection, because a pool
/// does not forward notices. In that case, the driver cannot recognize a commit whose wait for a replica was canceled
/// manually.
pub(super) async fn answer(
    client: &Client,
    notices: Option<&Notices>,
    (schema, access): (&Schema, Access),
    request: &Request,
) -> Result<Reply> {
    let engine = Engine::Postgresql(schema.clone());
    let mut steps = Steps::new(engine, request, random()?).access(access);
    let mut outcome = Outcome::default();
    loop {
        match steps.next(outcome)? {
            Step::Run(statements) => {
                let results = join_all(statements.iter().map(|statement| run(client, statement)));
                outcome = results.await.into_iter().collect();
                outcome.notices = notices.map(Notices::take_all).unwrap_or_default();
            }
            Step::Done(reply) => return Ok(*reply),
        }
    }
}

/// Starts all futures in order and waits until they complete.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut pending: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    poll_fn(|context| {
        // The first poll of each future sends its statement. All statements are sent in order before any reply has arrived,
        // so they share one round trip.
        let mut is_over = true;
        for (future, output) in &mut pending {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(value) => *output = Some(value),
                    Poll::Pending => is_over = false,
                }
            }
        }
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    pending.into_iter().filter_map(|(_, output)| output).collect()
}

/// Sends an unnamed statement. Named statements cannot be used, because a pooler may use a different connection for each
/// transaction.
async fn run(client: &Client, statement: &Statement) -> Result<Rows, tokio_postgres::Error> {
    let values = statement.values.iter().map(|value| match value {
        Value::Integer(value) => (value as &(dyn ToSql + Sync), Type::INT8),
        Value::Text(value) => (value as _, Type::TEXT),
        Value::Null => (&None::<i64> as _, Type::INT8),
    });
    let values: Vec<_> = values.collect();
    let rows = client.query_typed(&statement.text, &values).await?;
    Ok(rows.iter().map(row_to_values).collect())
}

fn row_to_values(row: &Row) -> Vec<Value> {
    let value = |at| match row.try_get(at) {
        Ok(integer) => Value::Integer(integer),
        Err(_) => row.try_get(at).map_or(Value::Null, Value::Text),
    };
    (0..row.len()).map(value).collect()
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(cause) = error.as_db_error() {
            return cause.into();
        }
        let (mut message, mut cause) = (error.to_string(), error.source());
        while let Some(found) = cause {
            // The result can be ignored, because writing to a string cannot fail.
            let _ = write!(message, ": {found}");
            cause = found.source();
        }
        Self { code: None, message }
    }
}

impl From<&DbError> for Failure {
    fn from(error: &DbError) -> Self {
        Self { code: Some(error.code().code().into()), message: error.message().into() }
    }
}
