//! A rule for one case, one gate, one set.
