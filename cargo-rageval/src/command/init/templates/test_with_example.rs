//! The gate: `cargo test --test rag_regression`. It asks `answer` every question in `cases/`.

use rageval_runner::{Answer, Result, RetrievedContext};

/// Put your system here: this one asks the example below. As in
///
/// ```ignore
/// let reply = my_crate::rag(&question).await?;
/// let contexts = reply.documents.into_iter().map(|document| RetrievedContext::new(document.id, document.text));
/// Ok(Answer::new(reply.text).with_contexts(contexts))
/// ```
async fn answer(question: String) -> Result<Answer> {
    let reply = example::answer(&question);
    let contexts = reply.documents.into_iter().map(|(id, text)| RetrievedContext::new(id, text));
    Ok(Answer::new(reply.text).with_contexts(contexts))
}

rageval_runner::main! { system: answer }

/// Take it away once `answer` asks your system.
mod example {
EXAMPLE}
