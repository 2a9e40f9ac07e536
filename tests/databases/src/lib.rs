//! The library is empty, because this package contains only tests.
