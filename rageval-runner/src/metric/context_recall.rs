//! The metric `context_recall`.
