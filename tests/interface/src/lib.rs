//! Tests of the core that need other people's crates, in a crate of their own: the core's other tests then compile without them.
