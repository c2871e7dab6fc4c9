//! The gate on the demo system: `cargo test --test rag_regression`.
//!
//! `RAGEVAL_DEMO=weak-retriever` (or `verbose`, `hallucinating`, `never-refuses`) degrades the system on purpose; the gate is then red.

mod demo;

use std::sync::LazyLock;

use demo::Variant;
use rageval_runner::{Answer, Result, RetrievedContext};

static VARIANT: LazyLock<Result<Variant, String>> =
    LazyLock::new(|| Variant::from_name(std::env::var("RAGEVAL_DEMO").ok().as_deref()));

async fn answer(query: String) -> Result<Answer> {
    let found = demo::answer(&query, VARIANT.clone()?);
    let contexts = found.contexts.into_iter().map(|c| RetrievedContext::new(c.id, c.text).with_score(c.score));
    Ok(Answer::new(found.text).with_contexts(contexts).with_refused(found.refused))
}

rageval_runner::main! { system: answer }
