//! SeaORM, with the columns of `polyflake-sql`.

use polyflake::sno::Sno;
use polyflake_sql::Uuid;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, Database, DatabaseConnection, EntityTrait,
    QueryFilter, QueryOrder, Schema, TryFromU64,
};

use crate::{HOUR_MS, REJECTION_MESSAGE, START_MS, assert_message, rows, run, server};

mod ids {
    use polyflake::{
        hotguid::HotGuid,
        randflake::Randflake,
        sno::{Id, Sno},
        uuid7::Uuid7,
    };
    use polyflake_sql::{BigInt, Bytes, Text, Uuid};
    use sea_orm::entity::prelude::*;

    use crate::User;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "ids")]
    pub(super) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid<Sno>,
        pub text: Text<Sno>,
        pub sno: Bytes<Sno>,
        pub user: Option<Text<Id<User>>>,
        pub flake: BigInt<Randflake>,
        pub guid: Uuid<HotGuid>,
        pub uuid7: Uuid<Uuid7>,
        pub uuid7_text: Text<Uuid7>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(super) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Another model of the table `ids`, with a different ID type in the `user` column.
mod other_ids {
    use polyflake::sno::{Id, Sno};
    use polyflake_sql::{Text, Uuid};
    use sea_orm::entity::prelude::*;

    use crate::Order;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "ids")]
    pub(super) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid<Sno>,
        pub user: Text<Id<Order>>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(super) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

fn expected_models() -> Vec<ids::Model> {
    let model = |(k, ids): (usize, crate::Ids)| ids::Model {
        id: ids.sno.into(),
        text: ids.sno.into(),
        sno: ids.sno.into(),
        user: (k > 0).then(|| ids.user.into()),
        flake: ids.flake.into(),
        guid: ids.guid.into(),
        uuid7: ids.uuid7.into(),
        uuid7_text: ids.uuid7.into(),
    };
    rows().into_iter().enumerate().map(model).collect()
}

async fn check(database: DatabaseConnection) {
    let table = Schema::new(database.get_database_backend()).create_table_from_entity(ids::Entity);
    database.execute(&table).await.unwrap();
    for model in expected_models().into_iter().rev() {
        let added = ids::ActiveModel::from(model.clone()).insert(&database).await.unwrap();
        assert_eq!(added, model);
    }
    for column in [
        ids::Column::Id,
        ids::Column::Text,
        ids::Column::Sno,
        ids::Column::Guid,
        ids::Column::Uuid7,
    ] {
        let found = ids::Entity::find().order_by_asc(column).all(&database).await.unwrap();
        assert_eq!(found, expected_models(), "by {column:?}");
    }
    let (lowest, highest) = Sno::time_range(START_MS + HOUR_MS, START_MS + 2 * HOUR_MS).unwrap();
    let hour = ids::Entity::find().filter(ids::Column::Id.between(Uuid(lowest), Uuid(highest)));
    assert_eq!(hour.all(&database).await.unwrap(), expected_models()[1..2]);
    let [_, second, _] = rows();
    let found = ids::Entity::find_by_id(second.sno).one(&database).await.unwrap();
    assert_eq!(found.as_ref(), expected_models().get(1));

    let rejected = other_ids::Entity::find_by_id(second.sno).one(&database).await;
    assert_message(&rejected.unwrap_err(), REJECTION_MESSAGE);
    database.close().await.unwrap();
}

#[test]
fn columns_work_in_sqlite() {
    run(async { check(Database::connect("sqlite::memory:").await.unwrap()).await });
}

#[test]
fn columns_work_in_postgresql() {
    let Some(server) = server() else { return };
    run(async { check(Database::connect(server.url()).await.unwrap()).await });
}

#[test]
fn an_auto_increment_value_is_not_an_id() {
    assert_message(&Uuid::<Sno>::try_from_u64(7).unwrap_err(), "Uuid");
}
