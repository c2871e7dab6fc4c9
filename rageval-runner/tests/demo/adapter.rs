//! The demo system in rageval's own types: what a user writes around a system of their own.

use rageval_runner::{
    Answer, Result, RetrievedContext,
    system::{RagSystem, from_fn},
};

use crate::demo::{self, Variant};

/// The demo system, degraded as `RAGEVAL_DEMO` says. A value that names no variant ends the process with 2, before any case is asked.
pub(crate) fn system() -> Box<dyn RagSystem> {
    let variant = Variant::from_name(std::env::var("RAGEVAL_DEMO").ok().as_deref()).unwrap_or_else(|problem| {
        eprintln!("RAGEVAL_DEMO: {problem}");
        std::process::exit(2)
    });
    from_fn(move |query: String| async move { answer(&query, variant) })
}

fn answer(query: &str, variant: Variant) -> Result<Answer> {
    let found = demo::answer(query, variant);
    let contexts = found.contexts.into_iter().map(|c| RetrievedContext::new(c.id, c.text).with_score(c.score));
    Ok(Answer::new(found.text).with_contexts(contexts).with_refused(found.refused))
}
