//! The gate: `cargo test --test rag_regression`. It asks the `system` of thresholds.yaml every question in `cases/`.

rageval_runner::main! {}
