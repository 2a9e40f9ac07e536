//! This package exists only for `core/tests/model`. `cfg(loom)` requires a separate build of everything. In the core's
//! package, that build would also compile SQLite, Diesel and Tokio for the other tests.
