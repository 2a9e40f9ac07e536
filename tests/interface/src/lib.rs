//! Tests of the core that need third-party crates. They have a crate of their own, so the core's other tests compile without
//! those.
