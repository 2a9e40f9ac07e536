//! A package for `core/tests/model` only. `cfg(loom)` needs a separate build of everything, and the core's
//! other tests would compile SQLite, Diesel and Tokio again.
