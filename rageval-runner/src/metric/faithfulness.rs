//! The metric `faithfulness`.
