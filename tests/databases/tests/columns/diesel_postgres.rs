//! Diesel with PostgreSQL, over a connection that does not require libpq.

use diesel::prelude::*;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use polyflake::{
    hotguid::HotGuid,
    randflake::Randflake,
    sno::{Id, Sno},
    uuid7::Uuid7,
};

use crate::{HOUR_MS, Order, REJECTION_MESSAGE, START_MS, User, assert_message, rows, run, server};

diesel::table! {
    ids (uuid) {
        uuid -> Uuid,
        text -> Text,
        sno -> Binary,
        user -> Nullable<Uuid>,
        flake -> BigInt,
        guid -> Uuid,
        list -> Array<Uuid>,
        uuid7 -> Uuid,
    }
}

#[derive(Clone, Debug, PartialEq, Insertable, Queryable)]
#[diesel(table_name = ids)]
struct Row {
    uuid: Sno,
    text: Sno,
    sno: Sno,
    user: Option<Id<User>>,
    flake: Randflake,
    guid: HotGuid,
    list: Vec<Sno>,
    uuid7: Uuid7,
}

fn expected_rows() -> Vec<Row> {
    let row = |ids: crate::Ids| Row {
        uuid: ids.sno,
        text: ids.sno,
        sno: ids.sno,
        user: Some(ids.user),
        flake: ids.flake,
        guid: ids.guid,
        list: vec![ids.sno; 2],
        uuid7: ids.uuid7,
    };
    rows().map(row).to_vec()
}

const CREATE_TABLE: &str = r#"CREATE TEMPORARY TABLE ids (uuid uuid PRIMARY KEY, text varchar(16) COLLATE "C" NOT NULL, sno bytea NOT NULL,
    "user" uuid, flake bigint NOT NULL, guid uuid NOT NULL, list uuid[] NOT NULL, uuid7 uuid NOT NULL)"#;

async fn check(url: &str) {
    let mut database = AsyncPgConnection::establish(url).await.unwrap();
    database.batch_execute(CREATE_TABLE).await.unwrap();
    let reversed: Vec<_> = expected_rows().into_iter().rev().collect();
    diesel::insert_into(ids::table).values(reversed).execute(&mut database).await.unwrap();

    assert_eq!(
        ids::table.order(ids::uuid).load::<Row>(&mut database).await.unwrap(),
        expected_rows()
    );
    assert_eq!(
        ids::table.order(ids::uuid7).load::<Row>(&mut database).await.unwrap(),
        expected_rows()
    );
    assert_eq!(
        ids::table.order(ids::text).load::<Row>(&mut database).await.unwrap(),
        expected_rows()
    );
    assert_eq!(
        ids::table.order(ids::guid).load::<Row>(&mut database).await.unwrap(),
        expected_rows()
    );

    let (lowest, highest) = Sno::time_range(START_MS + HOUR_MS, START_MS + 2 * HOUR_MS).unwrap();
    let hour = ids::table.select(ids::uuid).filter(ids::uuid.between(lowest, highest));
    assert_eq!(hour.load::<Sno>(&mut database).await.unwrap(), [rows()[1].sno]);
    let wanted = rows().map(|ids| ids.sno);
    let all = ids::table.count().filter(ids::uuid.eq_any(wanted)).filter(ids::sno.eq_any(wanted));
    assert_eq!(all.get_result::<i64>(&mut database).await.unwrap(), 3);

    let rejected = ids::table.select(ids::uuid).first::<Id<Order>>(&mut database).await;
    assert_message(&rejected.unwrap_err(), REJECTION_MESSAGE);
    let rejected = ids::table.select(ids::text).first::<Id<Order>>(&mut database).await;
    assert_message(&rejected.unwrap_err(), REJECTION_MESSAGE);
}

#[test]
fn ids_are_written_read_sorted_queried_and_rejected() {
    let Some(server) = server() else { return };
    run(check(&server.url()));
}
