//! Tests the axum example as users would run it.

#[allow(dead_code, reason = "the test runs the service without its port")]
#[path = "../../../examples/axum/src/main.rs"]
mod shop;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::Request,
};
use polyflake::sno::{Generator, Id, Kind};
use serde_json::{Value, json};
use shop::{Order, Person};
use tower::ServiceExt;

/// Sends a request to the service. Returns the status and the response body.
async fn send(service: &Router, method: &str, path: &str, body: &str) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path).body(Body::from(body.to_owned()));
    let response = service.clone().oneshot(request.unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let answer = to_bytes(response.into_body(), 10_000).await.unwrap();
    (status, serde_json::from_slice(&answer).unwrap_or_default())
}

#[tokio::test]
async fn orders_can_be_added_and_found_and_invalid_ids_are_rejected() {
    static GENERATOR: Generator = Generator::new();
    let folder = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}?mode=rwc", folder.path().join("shop.db").display());
    let service = shop::build_router(&database, &GENERATOR).await.unwrap();
    let buyer = Id::<Person>::generate().unwrap();
    let (status, order) = send(&service, "POST", &format!("/people/{buyer}/orders"), "tea").await;
    assert_eq!((status, &order["buyer"], &order["item"]), (200, &json!(buyer), &json!("tea")));
    let id: Id<Order> = order["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(send(&service, "GET", &format!("/orders/{id}"), "").await, (200, order.clone()));

    let hour = format!("/orders/{}/{}", id.unix_ms(), id.unix_ms() + 3_600_000);
    assert_eq!(send(&service, "GET", &hour, "").await, (200, json!([order])));
    let before = format!("/orders/{}/{}", id.unix_ms() - 3_600_000, id.unix_ms());
    assert_eq!(send(&service, "GET", &before, "").await, (200, json!([])));

    let message = "expected metabyte 2, found 1";
    let another = json!({"code": "out_of_range", "field": "metabyte", "message": message});
    assert_eq!(send(&service, "GET", &format!("/orders/{buyer}"), "").await, (400, another));
    let (status, malformed) = send(&service, "GET", "/orders/9d5ve8222622g22!", "").await;
    assert_eq!((status, &malformed["code"]), (400, &json!("invalid_character")));
    let (status, reversed) = send(&service, "GET", "/orders/1767225600000/0", "").await;
    assert_eq!((status, &reversed["code"]), (400, &json!("out_of_range")));
    let missing = Id::<Order>::generate().unwrap();
    assert_eq!(send(&service, "GET", &format!("/orders/{missing}"), "").await.0, 404);

    let past = Generator::builder().window(1_767_225_600_000, 1_767_225_601_000).build().unwrap();
    let service = shop::build_router(&database, Box::leak(Box::new(past))).await.unwrap();
    let (status, closed) = send(&service, "POST", &format!("/people/{buyer}/orders"), "tea").await;
    assert_eq!((status, &closed["code"]), (503, &json!("lease_expired")));
    assert_eq!(send(&service, "GET", &format!("/orders/{id}"), "").await, (200, order));
}

#[test]
fn the_example_has_fewer_than_100_lines() {
    let lines = include_str!("../../../examples/axum/src/main.rs").lines().count();
    assert!((50..100).contains(&lines), "{lines}");
    assert_eq!((Person::METABYTE, Order::METABYTE), (1, 2));
}
