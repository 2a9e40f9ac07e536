//! A package for `core/tests/model` only. `cfg(loom)` needs a separate build of everything, and for the core's other tests it
//! would compile SQLite, Diesel and Tokio again.
