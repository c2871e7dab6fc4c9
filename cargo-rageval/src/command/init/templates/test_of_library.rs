//! The gate: `cargo test --test rag_regression`. It asks the function below every question in `cases/`.

use rageval_runner::{Answer, Result, RetrievedContext};

async fn answer(question: String) -> Result<Answer> {
    let reply = CRATE::answer(&question);
    let contexts = reply.documents.into_iter().map(|(id, text)| RetrievedContext::new(id, text));
    Ok(Answer::new(reply.text).with_contexts(contexts))
}

rageval_runner::main! { system: answer }
