//! Diesel with SQLite.

use diesel::{connection::SimpleConnection, prelude::*};
use polyflake::{
    hotguid::HotGuid,
    layout,
    randflake::Randflake,
    sno::{Id, Sno},
    uuid7::Uuid7,
};

use crate::{HOUR_MS, Order, REJECTION_MESSAGE, START_MS, User, assert_message, rows, to_strings};

diesel::table! {
    ids (sno) {
        sno -> Binary,
        text -> Text,
        maybe -> Nullable<Text>,
        user -> Binary,
        flake -> BigInt,
        tweet -> BigInt,
        bytes -> Binary,
        guid -> Binary,
        name -> Nullable<Text>,
        uuid7 -> Binary,
        uuid7_text -> Text,
    }
}

#[derive(Clone, Debug, PartialEq, Insertable, Queryable)]
#[diesel(table_name = ids)]
struct Row {
    sno: Sno,
    text: Sno,
    maybe: Option<Sno>,
    user: Id<User>,
    flake: Randflake,
    tweet: layout::Id,
    bytes: layout::Id,
    guid: HotGuid,
    name: Option<HotGuid>,
    uuid7: Uuid7,
    uuid7_text: Uuid7,
}

fn expected_rows() -> Vec<Row> {
    let row = |(k, ids): (usize, crate::Ids)| Row {
        sno: ids.sno,
        text: ids.sno,
        maybe: (k > 0).then_some(ids.sno),
        user: ids.user,
        flake: ids.flake,
        tweet: ids.tweet,
        bytes: ids.bytes,
        guid: ids.guid,
        name: Some(ids.guid),
        uuid7: ids.uuid7,
        uuid7_text: ids.uuid7,
    };
    rows().into_iter().enumerate().map(row).collect()
}

fn open_filled_database() -> SqliteConnection {
    let mut database = SqliteConnection::establish(":memory:").unwrap();
    let table = "CREATE TABLE ids (sno BLOB PRIMARY KEY, text TEXT NOT NULL, maybe TEXT, user BLOB NOT NULL, flake BIGINT NOT NULL,
        tweet BIGINT NOT NULL, bytes BLOB NOT NULL, guid BLOB NOT NULL, name TEXT, uuid7 BLOB NOT NULL, uuid7_text TEXT NOT NULL) WITHOUT ROWID";
    database.batch_execute(table).unwrap();
    for row in expected_rows().into_iter().rev() {
        diesel::insert_into(ids::table).values(row).execute(&mut database).unwrap();
    }
    database
}

#[test]
fn ids_round_trip_in_sorted_order() {
    let mut database = open_filled_database();
    assert_eq!(ids::table.order(ids::sno).load::<Row>(&mut database).unwrap(), expected_rows());
    assert_eq!(ids::table.order(ids::uuid7).load::<Row>(&mut database).unwrap(), expected_rows());
    assert_eq!(ids::table.order(ids::text).load::<Row>(&mut database).unwrap(), expected_rows());
    assert_eq!(ids::table.order(ids::guid).load::<Row>(&mut database).unwrap(), expected_rows());
    assert_eq!(ids::table.order(ids::flake).load::<Row>(&mut database).unwrap(), expected_rows());
    let stored = ids::table.select(ids::text).order(ids::text).load::<String>(&mut database);
    assert_eq!(stored.unwrap(), to_strings(rows().map(|ids| ids.sno)));
}

#[test]
fn ids_are_query_parameters() {
    let (mut database, [first, second, _]) = (open_filled_database(), rows());
    let (lowest, highest) = Sno::time_range(START_MS + HOUR_MS, START_MS + 2 * HOUR_MS).unwrap();
    let hour = ids::table.select(ids::sno).filter(ids::sno.between(lowest, highest));
    assert_eq!(hour.load::<Sno>(&mut database).unwrap(), [second.sno]);
    let either = ids::table.count().filter(ids::text.eq_any([first.sno, second.sno]));
    assert_eq!(either.get_result::<i64>(&mut database).unwrap(), 2);
    let one =
        ids::table.count().filter(ids::maybe.eq(&second.sno)).filter(ids::tweet.eq(&second.tweet));
    assert_eq!(one.get_result::<i64>(&mut database).unwrap(), 1);
    let found = ids::table.find(first.sno).select((ids::user, ids::name));
    let found = found.first::<(Id<User>, Option<HotGuid>)>(&mut database);
    assert_eq!(found.unwrap(), (first.user, Some(first.guid)));
}

#[test]
fn invalid_ids_are_rejected() {
    let mut database = open_filled_database();
    let typed = ids::table.select(ids::user).first::<Id<Order>>(&mut database).unwrap_err();
    assert_message(&typed, REJECTION_MESSAGE);
    let typed = ids::table.select(ids::text).first::<Id<Order>>(&mut database).unwrap_err();
    assert_message(&typed, REJECTION_MESSAGE);
    let long = ids::table.select(ids::guid).first::<Id<User>>(&mut database).unwrap_err();
    assert_message(&long, "invalid character");
    let bytes = layout::Id::Bytes(vec![7]);
    let update = diesel::update(ids::table).set(ids::tweet.eq(bytes)).execute(&mut database);
    assert_message(&update.unwrap_err(), "expected an integer, found bytes");
}
