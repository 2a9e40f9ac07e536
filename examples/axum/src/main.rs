//! A service built with axum, sqlx and SQLite. The IDs of orders and the IDs of buyers have different types.
//!
//! `DATABASE_URL=sqlite:shop.db?mode=rwc cargo run`

use axum::{
    Json, Router,
    extract::{FromRequestParts, Path, State},
    http::{StatusCode, request::Parts},
    routing::{get, post},
};
use polyflake::sno::{Generator, Id, Kind};
use polyflake_sql::Text;
use serde::Serialize;
use sqlx::{FromRow, SqlitePool};

pub(crate) struct Person;

#[derive(Serialize, FromRow)]
pub(crate) struct Order {
    id: Text<Id<Order>>,
    buyer: Text<Id<Person>>,
    item: String,
}

impl Kind for Person {
    const METABYTE: u8 = 1;
}

impl Kind for Order {
    const METABYTE: u8 = 2;
}

const CREATE_TABLE: &str =
    "CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, buyer TEXT, item TEXT) WITHOUT ROWID";

type AppState = State<(SqlitePool, &'static Generator)>;
type Reply<T> = Result<Json<T>, ErrorResponse>;
type ErrorResponse = (StatusCode, Json<Option<polyflake::Error>>);

/// Returns a function that converts an error to a response with the given status and the error's code.
fn error_response(status: StatusCode) -> impl Fn(polyflake::Error) -> ErrorResponse {
    move |error| (status, Json(Some(error)))
}

fn database_error(error: &sqlx::Error) -> ErrorResponse {
    let is_missing = matches!(error, sqlx::Error::RowNotFound);
    let status = if is_missing { StatusCode::NOT_FOUND } else { StatusCode::INTERNAL_SERVER_ERROR };
    (status, Json(None))
}

/// The ID in a URL path. The ID must have the type `T`.
struct PathId<T>(Id<T>);

impl<T: Kind, S: Send + Sync> FromRequestParts<S> for PathId<T> {
    type Rejection = ErrorResponse;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorResponse> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let Path(text) = path.map_err(|error| (error.status(), Json(None)))?;
        Id::parse(&text).map(Self).map_err(error_response(StatusCode::BAD_REQUEST))
    }
}

async fn add(State((rows, ids)): AppState, buyer: PathId<Person>, item: String) -> Reply<Order> {
    let id = Id::generate_with(ids).map_err(error_response(StatusCode::SERVICE_UNAVAILABLE))?;
    let order = Order { id: id.into(), buyer: buyer.0.into(), item };
    let add = sqlx::query("INSERT INTO orders VALUES (?, ?, ?)").bind(order.id).bind(order.buyer);
    add.bind(&order.item).execute(&rows).await.map_err(|error| database_error(&error))?;
    Ok(Json(order))
}

async fn get_order(State((rows, _)): AppState, PathId(id): PathId<Order>) -> Reply<Order> {
    let found = sqlx::query_as("SELECT * FROM orders WHERE id = ?").bind(Text(id));
    found.fetch_one(&rows).await.map(Json).map_err(|error| database_error(&error))
}

/// Returns the orders within a time span, given in Unix milliseconds. The start is inclusive, and the end is exclusive.
async fn within(State((rows, _)): AppState, Path(span): Path<(i64, i64)>) -> Reply<Vec<Order>> {
    let bounds = Id::<Order>::time_range(span.0, span.1);
    let (lowest, highest) = bounds.map_err(error_response(StatusCode::BAD_REQUEST))?;
    let found = sqlx::query_as("SELECT * FROM orders WHERE id BETWEEN ? AND ? ORDER BY id");
    let found = found.bind(Text(lowest)).bind(Text(highest)).fetch_all(&rows).await;
    found.map(Json).map_err(|error| database_error(&error))
}

pub(crate) async fn build_router(database: &str, ids: &'static Generator) -> sqlx::Result<Router> {
    let rows = SqlitePool::connect(database).await?;
    sqlx::query(CREATE_TABLE).execute(&rows).await?;
    let routes = Router::new().route("/orders/{id}", get(get_order));
    let routes = routes.route("/orders/{start}/{end}", get(within));
    Ok(routes.route("/people/{id}/orders", post(add)).with_state((rows, ids)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    static IDS: Generator = Generator::new();
    let service = build_router(&std::env::var("DATABASE_URL")?, &IDS).await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    Ok(axum::serve(listener, service).await?)
}
