//! A package only for `core/tests/model`. `cfg(loom)` needs a separate build of everything. In the core's package, the
//! other tests would compile SQLite, Diesel and Tokio again.
