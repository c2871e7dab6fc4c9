//! Retrieval metrics: how good the ranking of what was fetched is.
