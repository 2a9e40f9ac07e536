//! Tests of the core that need third-party crates. They are in a separate crate, so that the core's other tests compile
//! without those dependencies.
