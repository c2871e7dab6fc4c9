//! The demo system in rageval's own types: what a user writes around a system of their own.

use std::sync::LazyLock;

use rageval_runner::{Answer, Result, RetrievedContext};

use crate::demo::{self, Variant};

static VARIANT: LazyLock<Result<Variant, String>> =
    LazyLock::new(|| Variant::from_name(std::env::var("RAGEVAL_DEMO").ok().as_deref()));

/// Asks the demo system, degraded as `RAGEVAL_DEMO` says.
pub(crate) async fn answer(query: String) -> Result<Answer> {
    let found = demo::answer(&query, VARIANT.clone()?);
    let contexts = found.contexts.into_iter().map(|c| RetrievedContext::new(c.id, c.text).with_score(c.score));
    Ok(Answer::new(found.text).with_contexts(contexts).with_refused(found.refused))
}
