//! The gate on the demo system: `cargo test --test rag_regression`.
//!
//! `RAGEVAL_DEMO=weak-retriever` (or `verbose`, `hallucinating`, `never-refuses`) degrades the system on purpose; the gate is then red.

#[path = "demo/adapter.rs"]
mod adapter;
mod demo;

rageval_runner::main! { system: adapter::system() }
