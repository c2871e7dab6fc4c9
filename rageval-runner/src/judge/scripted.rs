//! The `scripted` judge: replies from a file, for tests.
