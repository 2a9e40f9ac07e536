//! rusqlite.

use polyflake::{
    hotguid::HotGuid,
    layout,
    randflake::Randflake,
    sno::{Id, Sno},
    uuid7::Uuid7,
};
use rusqlite::{Connection, Row, params, types::FromSql};

use crate::{HOUR_MS, Ids, Order, REJECTION_MESSAGE, START_MS, User, assert_message, rows};

const CREATE_TABLE: &str = "CREATE TABLE ids (sno TEXT PRIMARY KEY, blob BLOB, user TEXT, flake INTEGER, tweet INTEGER, bytes BLOB, guid TEXT, uuid7 TEXT) WITHOUT ROWID";

fn open_filled_database() -> Connection {
    let database = Connection::open_in_memory().unwrap();
    database.execute(CREATE_TABLE, []).unwrap();
    for Ids { sno, user, flake, tweet, bytes, guid, uuid7 } in rows().iter().rev() {
        let all = params![sno, sno.as_bytes(), user, flake, tweet, bytes, guid, uuid7];
        database.execute("INSERT INTO ids VALUES (?, ?, ?, ?, ?, ?, ?, ?)", all).unwrap();
    }
    database
}

fn ids_of(row: &Row<'_>) -> rusqlite::Result<Ids> {
    Ok(Ids {
        sno: row.get("sno")?,
        user: row.get("user")?,
        flake: row.get("flake")?,
        tweet: row.get("tweet")?,
        bytes: row.get("bytes")?,
        guid: row.get("guid")?,
        uuid7: row.get("uuid7")?,
    })
}

fn query_one<T: FromSql>(database: &Connection, expression: &str) -> rusqlite::Result<T> {
    database.query_row(&format!("SELECT {expression} FROM ids ORDER BY sno"), [], |row| row.get(0))
}

#[test]
fn ids_round_trip_in_sorted_order() {
    let database = open_filled_database();
    for column in ["sno", "blob", "user", "flake", "tweet", "bytes", "guid", "uuid7"] {
        let query = format!("SELECT * FROM ids ORDER BY {column}");
        let mut query = database.prepare(&query).unwrap();
        let found: Vec<_> = query.query_map([], ids_of).unwrap().map(Result::unwrap).collect();
        assert_eq!(found, rows(), "by {column}");
    }
    let types = ["sno", "flake", "bytes", "guid", "uuid7"].map(|name| format!("typeof({name})"));
    let types = format!("group_concat(DISTINCT {})", types.join(" || "));
    assert_eq!(query_one(&database, &types), Ok("textintegerblobtexttext".to_owned()));
}

#[test]
fn blobs_strings_and_uuids_are_read() {
    let (database, [first, ..]) = (open_filled_database(), rows());
    assert_eq!(query_one(&database, "blob"), Ok(first.sno));
    assert_eq!(query_one(&database, "blob"), Ok(first.user));
    let (uuid8, compatible) = (first.sno.to_uuid8_bytes(), first.sno.to_uuid_bytes());
    let blobs = params![uuid8, compatible, first.guid.to_bytes(), first.uuid7.to_bytes()];
    let read = database.query_row("SELECT ?, ?, ?, ?", blobs, |row| {
        let guid = row.get::<_, HotGuid>(2)?;
        Ok((row.get::<_, Sno>(0)?, row.get::<_, Sno>(1)?, guid, row.get::<_, Uuid7>(3)?))
    });
    assert_eq!(read, Ok((first.sno, first.sno, first.guid, first.uuid7)));
    assert_eq!(query_one::<Option<Sno>>(&database, "NULL"), Ok(None));
}

#[test]
fn a_time_range_selects_ids_in_a_query() {
    let database = open_filled_database();
    let (lowest, highest) = Sno::time_range(START_MS + HOUR_MS, START_MS + 2 * HOUR_MS).unwrap();
    let asked = "SELECT sno FROM ids WHERE sno BETWEEN ? AND ?";
    let mut query = database.prepare(asked).unwrap();
    let found = query.query_map([lowest, highest], |row| row.get::<_, Sno>(0)).unwrap();
    assert_eq!(found.map(Result::unwrap).collect::<Vec<_>>(), [rows()[1].sno]);
}

#[test]
fn invalid_ids_are_rejected() {
    let database = open_filled_database();
    assert_message(&query_one::<Id<Order>>(&database, "user").unwrap_err(), REJECTION_MESSAGE);
    assert_message(&query_one::<Id<Order>>(&database, "blob").unwrap_err(), REJECTION_MESSAGE);
    assert_message(
        &query_one::<Sno>(&database, "'short'").unwrap_err(),
        "expected length 16, found 5",
    );
    assert_message(
        &query_one::<Sno>(&database, "x'00'").unwrap_err(),
        "expected length 10, found 1",
    );
    assert_message(&query_one::<Sno>(&database, "flake").unwrap_err(), "found an integer");
    assert_message(
        &query_one::<HotGuid>(&database, "x'00'").unwrap_err(),
        "expected length 16, found 1",
    );
    let other_version = "'919108f7-52d1-4320-9bac-f847db4148a8'";
    assert_message(
        &query_one::<Uuid7>(&database, other_version).unwrap_err(),
        "expected a UUID of version 7",
    );
    assert_message(
        &query_one::<Randflake>(&database, "sno").unwrap_err(),
        "expected a Randflake as an integer, found text",
    );
    assert_message(&query_one::<layout::Id>(&database, "sno").unwrap_err(), "found text");
    assert!(
        query_one::<Sno>(&database, "1.5").is_err()
            && query_one::<Id<User>>(&database, "NULL").is_err()
    );
}
