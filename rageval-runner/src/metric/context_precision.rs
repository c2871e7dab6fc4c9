//! The metric `context_precision`.
