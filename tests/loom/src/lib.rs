//! This package exists only for `core/tests/model`. `cfg(loom)` requires a separate build of everything. In the core's
//! package, this separate build would also compile SQLite, Diesel and Tokio, which only other tests need.
