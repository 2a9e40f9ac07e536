//! A package for `core/tests/model` alone: the whole build for `cfg(loom)` is one of its own, and the core's other tests would have it
//! compile SQLite, Diesel and Tokio again.
