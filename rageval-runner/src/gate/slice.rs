//! Named parts of the set.
