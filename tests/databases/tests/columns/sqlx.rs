//! sqlx, with the columns of `polyflake-sql`.

use polyflake::{
    hotguid::HotGuid,
    layout,
    randflake::Randflake,
    sno::{Id, Sno},
    uuid7::Uuid7,
};
use polyflake_sql::{BigInt, Bytes, Text, Uuid};
use sqlx::{
    AssertSqlSafe, Connection, Database, FromRow, PgConnection, Row as _, SqliteConnection,
};

use crate::{HOUR_MS, Order, REJECTION_MESSAGE, START_MS, User, assert_message, rows, run, server};

#[derive(Debug, PartialEq, FromRow)]
struct Row {
    uuid: Uuid<Sno>,
    text: Text<Sno>,
    sno: Bytes<Sno>,
    user: Option<Text<Id<User>>>,
    flake: BigInt<Randflake>,
    tweet: BigInt<layout::Id>,
    bytes: Bytes<layout::Id>,
    guid: Uuid<HotGuid>,
    uuid7: Uuid<Uuid7>,
    uuid7_bytes: Bytes<Uuid7>,
}

fn expected_rows() -> Vec<Row> {
    let row = |ids: crate::Ids| Row {
        uuid: ids.sno.into(),
        text: ids.sno.into(),
        sno: ids.sno.into(),
        user: Some(ids.user.into()),
        flake: ids.flake.into(),
        tweet: ids.tweet.into(),
        bytes: ids.bytes.into(),
        guid: ids.guid.into(),
        uuid7: ids.uuid7.into(),
        uuid7_bytes: ids.uuid7.into(),
    };
    rows().map(row).into()
}

/// Implements the same test for each database. A generic function would need too many trait bounds on sqlx's types.
macro_rules! check {
    ($database:expr, $table:expr) => {{
        let mut database = $database;
        sqlx::raw_sql($table).execute(&mut database).await.unwrap();
        for row in expected_rows().into_iter().rev() {
            let insert = "INSERT INTO ids VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
            let insert = sqlx::query(insert);
            let insert = insert.bind(row.uuid).bind(row.text).bind(row.sno).bind(row.user);
            let insert = insert.bind(row.flake).bind(row.tweet).bind(row.bytes).bind(row.guid);
            let insert = insert.bind(row.uuid7).bind(row.uuid7_bytes);
            insert.execute(&mut database).await.unwrap();
        }
        for column in ["uuid", "text", "sno", "flake", "bytes", "guid", "uuid7", "uuid7_bytes"] {
            let query = AssertSqlSafe(format!("SELECT * FROM ids ORDER BY {column}"));
            let found: Vec<Row> = sqlx::query_as(query).fetch_all(&mut database).await.unwrap();
            assert_eq!(found, expected_rows(), "by {column}");
        }
        let (lowest, highest) =
            Sno::time_range(START_MS + HOUR_MS, START_MS + 2 * HOUR_MS).unwrap();
        let hour = sqlx::query_scalar("SELECT uuid FROM ids WHERE uuid BETWEEN $1 AND $2");
        let hour = hour.bind(Uuid(lowest)).bind(Uuid(highest));
        let found: Vec<Uuid<Sno>> = hour.fetch_all(&mut database).await.unwrap();
        assert_eq!(found, [Uuid(rows()[1].sno)]);

        let row =
            sqlx::query("SELECT * FROM ids ORDER BY uuid").fetch_one(&mut database).await.unwrap();
        assert_message(&row.try_get::<Uuid<Id<Order>>, _>("uuid").unwrap_err(), REJECTION_MESSAGE);
        assert_message(&row.try_get::<Text<Id<Order>>, _>("text").unwrap_err(), REJECTION_MESSAGE);
        assert_message(&row.try_get::<Bytes<Id<Order>>, _>("sno").unwrap_err(), REJECTION_MESSAGE);
        assert_message(
            &row.try_get::<Bytes<Sno>, _>("bytes").unwrap_err(),
            "expected length 10, found 3",
        );
        let wrong =
            sqlx::query("UPDATE ids SET tweet = $1").bind(BigInt(layout::Id::Bytes(vec![7])));
        assert_message(
            &wrong.execute(&mut database).await.unwrap_err(),
            "expected an integer, found bytes",
        );
        row.try_get::<Uuid<Sno>, _>("guid").unwrap_err();
        database.close().await.unwrap();
    }};
}

#[test]
fn columns_work_in_sqlite() {
    let table = "CREATE TABLE ids (uuid BLOB PRIMARY KEY, text TEXT, sno BLOB, user TEXT, flake INTEGER, tweet INTEGER, bytes BLOB, guid BLOB, uuid7 BLOB, uuid7_bytes BLOB)";
    run(async { check!(SqliteConnection::connect("sqlite::memory:").await.unwrap(), table) });
}

#[test]
fn columns_work_in_postgresql() {
    let Some(server) = server() else { return };
    let table = r#"CREATE TEMPORARY TABLE ids (uuid uuid PRIMARY KEY, text varchar(16) COLLATE "C", sno bytea, "user" text,
        flake bigint, tweet bigint, bytes bytea, guid uuid, uuid7 uuid, uuid7_bytes bytea)"#;
    run(async { check!(PgConnection::connect(&server.url()).await.unwrap(), table) });
}

#[test]
fn columns_report_their_sql_type() {
    fn sql_type_name<DB: Database, T: sqlx::Type<DB>>() -> String {
        T::type_info().to_string()
    }
    assert_eq!(sql_type_name::<sqlx::Postgres, Uuid<Sno>>(), "UUID");
    assert_eq!(sql_type_name::<sqlx::Postgres, BigInt<Randflake>>(), "INT8");
    assert_eq!(sql_type_name::<sqlx::Postgres, Bytes<Sno>>(), "BYTEA");
    assert_eq!(sql_type_name::<sqlx::Sqlite, Text<Id<User>>>(), "TEXT");
}
