//! postgres-types, tested through the `postgres` crate.

use polyflake::{
    hotguid::HotGuid,
    layout,
    sno::{Id, Sno},
    uuid7::{Generator, Uuid7},
};
use postgres::{Client, NoTls};

use crate::{HOUR_MS, Ids, Order, REJECTION_MESSAGE, START_MS, assert_message, rows, server};

const CREATE_TABLE: &str = r#"CREATE TEMPORARY TABLE ids (uuid uuid PRIMARY KEY, text varchar(16) COLLATE "C", "char" char(16),
    sno bytea, "user" text COLLATE "C", flake bigint, tweet bigint, bytes bytea, guid uuid, "blob" bytea, "name" text,
    uuid7 uuid, uuid7_bytes bytea, uuid7_text text COLLATE "C")"#;

fn connect_and_fill(url: &str) -> Client {
    let mut database = Client::connect(url, NoTls).unwrap();
    database.batch_execute(CREATE_TABLE).unwrap();
    let insert =
        "INSERT INTO ids VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    for Ids { sno, user, flake, tweet, bytes, guid, uuid7 } in rows().iter().rev() {
        database
            .execute(
                insert,
                &[
                    sno, sno, user, sno, user, flake, tweet, bytes, guid, guid, guid, uuid7, uuid7,
                    uuid7,
                ],
            )
            .unwrap();
    }
    database
}

#[test]
fn ids_use_the_form_of_the_column() {
    let Some(server) = server() else { return };
    let mut database = connect_and_fill(&server.url());
    for order in [
        "uuid",
        "text",
        "sno",
        "user",
        "flake",
        "tweet",
        "bytes",
        "guid",
        "blob",
        "name",
        "uuid7",
        "uuid7_bytes",
        "uuid7_text",
    ] {
        let found =
            database.query(&format!(r#"SELECT * FROM ids ORDER BY "{order}""#), &[]).unwrap();
        for (row, ids) in found.iter().zip(rows()) {
            let read = Ids {
                sno: row.get("sno"),
                user: row.get("user"),
                flake: row.get("flake"),
                tweet: row.get("tweet"),
                bytes: row.get("bytes"),
                guid: row.get("guid"),
                uuid7: row.get("uuid7"),
            };
            assert_eq!(read, ids, "by {order}");
            for column in ["uuid", "text", "char"] {
                assert_eq!(row.get::<_, Sno>(column), ids.sno, "{column}");
            }
            for column in ["blob", "name"] {
                assert_eq!(row.get::<_, HotGuid>(column), ids.guid, "{column}");
            }
            for column in ["uuid7_bytes", "uuid7_text"] {
                assert_eq!(row.get::<_, Uuid7>(column), ids.uuid7, "{column}");
            }
        }
        assert_eq!(found.len(), 3);
    }
    let row = database
        .query_one("SELECT uuid_send(uuid), octet_length(sno) FROM ids ORDER BY uuid LIMIT 1", &[])
        .unwrap();
    let uuid = rows()[0].sno.to_uuid8_bytes().to_vec();
    assert_eq!((row.get::<_, Vec<u8>>(0), row.get::<_, i32>(1)), (uuid, 10));
}

#[test]
fn ranges_and_lists_are_query_parameters() {
    let Some(server) = server() else { return };
    let mut database = connect_and_fill(&server.url());
    let (lowest, highest) = Sno::time_range(START_MS + HOUR_MS, START_MS + 2 * HOUR_MS).unwrap();
    for column in ["uuid", "text", "sno"] {
        let asked = format!("SELECT {column} FROM ids WHERE {column} BETWEEN $1 AND $2");
        let found = database.query(&asked, &[&lowest, &highest]).unwrap();
        assert_eq!(
            found.iter().map(|row| row.get::<_, Sno>(0)).collect::<Vec<_>>(),
            [rows()[1].sno]
        );
    }
    let wanted = rows().map(|ids| ids.sno).to_vec();
    let found = database
        .query("SELECT array_agg(uuid ORDER BY uuid) FROM ids WHERE uuid = ANY($1)", &[&wanted])
        .unwrap();
    assert_eq!(found[0].get::<_, Vec<Sno>>(0), wanted);
    assert_eq!(
        database.query_one("SELECT NULL::uuid", &[]).unwrap().get::<_, Option<Sno>>(0),
        None
    );
}

/// Asserts that the server's UUID type sorts IDs in the order in which they were generated.
#[test]
fn version_7_uuids_sort_in_generation_order() {
    let Some(server) = server() else { return };
    let mut database = Client::connect(&server.url(), NoTls).unwrap();
    let mut made = vec![Uuid7::MIN; 9000];
    let ids = Generator::new();
    for batch in made.chunks_mut(9) {
        ids.fill(&mut batch[1..]).unwrap();
        batch[0] = Uuid7::time_range(batch[1].unix_ms(), batch[1].unix_ms() + 1).unwrap().0;
    }
    made.extend([Uuid7::MIN, Uuid7::MAX]);
    let query = "SELECT array_agg(id ORDER BY id) FROM unnest($1::uuid[]) AS id";
    let sorted: Vec<Uuid7> = database.query_one(query, &[&made]).unwrap().get(0);
    made.sort();
    assert_eq!(sorted, made);
    let random = database.query_one("SELECT gen_random_uuid()", &[]).unwrap();
    assert_message(&random.try_get::<_, Uuid7>(0).unwrap_err(), "expected a UUID of version 7");
}

#[test]
fn invalid_ids_are_rejected() {
    let Some(server) = server() else { return };
    let mut database = connect_and_fill(&server.url());
    let row =
        database.query_one("SELECT *, gen_random_uuid() AS random FROM ids LIMIT 1", &[]).unwrap();
    for column in ["uuid", "text", "sno", "user"] {
        assert_message(&row.try_get::<_, Id<Order>>(column).unwrap_err(), REJECTION_MESSAGE);
    }
    assert_message(&row.try_get::<_, Sno>("random").unwrap_err(), "expected a UUID of version 8");
    assert_message(&row.try_get::<_, Sno>("bytes").unwrap_err(), "expected length 10, found 3");
    assert_message(&row.try_get::<_, Sno>("flake").unwrap_err(), "cannot convert");
    assert_message(&row.try_get::<_, layout::Id>("text").unwrap_err(), "cannot convert");
    let (number, bytes) = (layout::Id::Integer(7), layout::Id::Bytes(vec![7]));
    for (column, id) in [("bytes", number), ("tweet", bytes)] {
        let update = format!("UPDATE ids SET {column} = $1");
        assert_message(&database.execute(&update, &[&id]).unwrap_err(), "found");
    }
}
