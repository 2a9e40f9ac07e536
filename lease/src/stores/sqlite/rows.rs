//! Statements over a connection.

use std::{string::String, vec::Vec};

use rusqlite::{Connection, Row, ToSql, TransactionBehavior, types::ToSqlOutput, types::ValueRef};

use super::failed;
use crate::{
    Result,
    stores::sql::{Rows, Statement, Value},
};

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Other => ValueRef::Null,
        }))
    }
}

/// Runs statements as one transaction, which is committed or rolled back.
pub(super) fn run(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    statements: &[Statement],
    is_kept: bool,
) -> Result<Vec<Rows>> {
    let transaction = connection.transaction_with_behavior(behavior).map_err(failed)?;
    let rows = statements.iter().map(|statement| query(&transaction, statement));
    let rows = rows.collect::<Result<_>>();
    if rows.is_ok() && is_kept {
        transaction.commit().map_err(failed)?;
    } else {
        // After a failure there may be no transaction any more, and its reason is the one to tell.
        let ended = transaction.rollback().map_err(failed);
        return rows.and_then(|rows| ended.map(|()| rows));
    }
    rows
}

fn query(connection: &Connection, statement: &Statement) -> Result<Rows> {
    let text = statement.text.replace('$', "?");
    let mut prepared = connection.prepare(&text).map_err(failed)?;
    let width = prepared.column_count();
    let values = rusqlite::params_from_iter(&statement.values);
    let mut rows = prepared.query(values).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        found.push((0..width).map(|at| value_of(row, at)).collect());
    }
    Ok(found)
}

fn value_of(row: &Row<'_>, at: usize) -> Value {
    match row.get_ref(at) {
        Ok(ValueRef::Integer(value)) => Value::Integer(value),
        Ok(ValueRef::Text(text)) => {
            String::from_utf8(text.into()).map_or(Value::Other, Value::Text)
        }
        _ => Value::Other,
    }
}
