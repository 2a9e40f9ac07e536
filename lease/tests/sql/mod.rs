//! Runs the SQL statements of lease requests with Rust database clients, and encodes the outcomes in the same way as a host
//! in another language.

use polyflake_lease::protocol::steps::{Failure, Outcome, Rows, Statement, Value};
use serde_json::{Value as Json, json};

pub fn run_in_sqlite(
    connection: &rusqlite::Connection,
    statement: &Statement,
) -> Result<Rows, Failure> {
    run(connection, statement).map_err(|error| {
        let message = match error {
            rusqlite::Error::SqlInputError { msg, .. } => msg,
            other => other.to_string(),
        };
        Failure { code: None, message }
    })
}

fn run(connection: &rusqlite::Connection, statement: &Statement) -> rusqlite::Result<Rows> {
    use rusqlite::types::Value as Cell;
    let mut prepared = connection.prepare(&statement.text)?;
    let width = prepared.column_count();
    let values = statement.values.iter().map(|value| match value {
        Value::Integer(integer) => Cell::Integer(*integer),
        Value::Text(text) => Cell::Text(text.clone()),
        Value::Null => Cell::Null,
    });
    let rows = prepared.query_map(rusqlite::params_from_iter(values), |row| {
        let cell = |at| {
            row.get(at).map(|cell| match cell {
                Cell::Integer(integer) => Value::Integer(integer),
                Cell::Text(text) => Value::Text(text),
                _ => Value::Null,
            })
        };
        (0..width).map(cell).collect()
    })?;
    rows.collect()
}

/// Runs one statement. The server infers the types of the statement's values.
pub fn run_in_postgresql(
    client: &mut postgres::Client,
    statement: &Statement,
) -> Result<Rows, Failure> {
    let values = statement.values.iter().map(|value| match value {
        Value::Integer(integer) => integer as &(dyn postgres::types::ToSql + Sync),
        Value::Text(text) => text as _,
        Value::Null => &None::<i64> as _,
    });
    let found = client.query(&statement.text, &values.collect::<Vec<_>>()).map_err(|error| {
        let cause = error.as_db_error().expect("an answer of the server");
        Failure { code: Some(cause.code().code().into()), message: cause.message().into() }
    })?;
    let cell = |row: &postgres::Row, at| match row.try_get(at) {
        Ok(integer) => Value::Integer(integer),
        Err(_) => row.try_get(at).map_or(Value::Null, Value::Text),
    };
    Ok(found.iter().map(|row| (0..row.len()).map(|at| cell(row, at)).collect()).collect())
}

/// Runs one statement. The column's type determines whether a value in a row becomes an integer or a string.
pub async fn run_in_mysql(
    client: &mut mysql_async::Conn,
    statement: &Statement,
) -> Result<Rows, Failure> {
    use mysql_async::{Params, Row, Value as Cell, prelude::Queryable};
    let values = statement.values.iter().map(|value| match value {
        Value::Integer(integer) => Cell::Int(*integer),
        Value::Text(text) => Cell::Bytes(text.clone().into_bytes()),
        Value::Null => Cell::NULL,
    });
    let values: Vec<_> = values.collect();
    let found: Result<Vec<Row>, _> = if values.is_empty() {
        client.query(&*statement.text).await
    } else {
        client.exec(&*statement.text, Params::Positional(values)).await
    };
    let found = found.map_err(|error| match error {
        mysql_async::Error::Server(error) => {
            Failure { code: Some(error.code.to_string()), message: error.message }
        }
        other => panic!("expected an answer of the server, found {other}"),
    })?;
    let cell = |row: &Row, at: usize| match row.as_ref(at).unwrap() {
        Cell::Int(integer) => Value::Integer(*integer),
        Cell::Bytes(bytes) => {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let is_integer = row.columns_ref()[at].column_type().is_numeric_type();
            if is_integer { Value::Integer(text.parse().unwrap()) } else { Value::Text(text) }
        }
        _ => Value::Null,
    };
    Ok(found.iter().map(|row| (0..row.len()).map(|at| cell(row, at)).collect()).collect())
}

/// Decodes the statements of a command.
pub fn decode_statements(command: &Json) -> Vec<Statement> {
    let of = |statement: &Json| Statement {
        text: statement[0].as_str().unwrap().to_owned(),
        values: statement[1].as_array().unwrap().iter().map(Value::from).collect(),
    };
    command["statements"].as_array().unwrap().iter().map(of).collect()
}

/// Encodes the outcome of statements as a reply to a command.
pub fn encode_outcome(outcome: &Outcome) -> Json {
    let row = |row: &Vec<Value>| row.iter().map(Json::from).collect::<Json>();
    let rows = |rows: &Rows| rows.iter().map(row).collect::<Json>();
    let failure = outcome.failure.as_ref();
    let failure = failure.map(|it| json!({ "code": it.code, "message": it.message }));
    let mut answer =
        json!({ "rows": outcome.rows.iter().map(rows).collect::<Json>(), "failure": failure });
    if !outcome.notices.is_empty() {
        let notice = |it: &Failure| json!({ "code": it.code, "message": it.message });
        answer["notices"] = outcome.notices.iter().map(notice).collect();
    }
    answer
}
