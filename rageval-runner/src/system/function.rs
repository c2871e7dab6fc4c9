//! System kind `function`: a Rust function or closure, async or plain.

use std::{future::Future, sync::Arc};

use super::{
    Asked, BoxFuture, Latency, Question, RagSystem, cause,
    excerpt::{self, excerpt},
};
use crate::{
    Error, contain,
    model::{Answer, Unmeasured},
};

/// The system that a function is; see [`IntoSystem`] for the shapes it may have.
///
/// ```
/// use rageval_runner::{Answer, Result, system};
///
/// async fn answer(query: String) -> Result<Answer> {
///     Ok(Answer::new(format!("You asked: {query}")))
/// }
/// let system = system::from_fn(answer);
/// ```
pub fn from_fn<Kind>(function: impl IntoSystem<Kind>) -> Box<dyn RagSystem> {
    function.into_system()
}

/// What can be a system under test: a function or closure that takes the query as `String`, or the whole [`Question`], and returns a
/// `Result`, at once or as a future.
///
/// The result's value is anything that becomes an [`Answer`] (a `String` does), its error anything that becomes a
/// [`crate::Error`]. A plain function runs on one of tokio's blocking threads, so that it may take its time; one that runs into its
/// time limit is abandoned and not stopped, as threads can't be. Whatever implements [`RagSystem`] is a system as well.
///
/// ```
/// use rageval_runner::system::{Question, from_fn};
///
/// let plain = from_fn(|query: String| Ok::<_, String>(query.to_uppercase()));
/// let with_language = from_fn(|question: Question| async move {
///     let language = question.language.ok_or("no language")?;
///     Ok::<_, rageval_runner::Error>(format!("[{language}] {}", question.query))
/// });
/// ```
///
/// `Kind` tells the shapes apart and is never written out.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the system under test",
    label = "not a function from a question to an answer",
    note = "write `async fn answer(query: String) -> rageval_runner::Result<rageval_runner::Answer>`, or the same without `async`",
    note = "the value of the result is an `Answer` or a text; its error is any `std::error::Error + Send + Sync`, or a text",
    note = "`rageval_runner::system::Question` in place of `String` gives also the case's id, language and metadata",
    note = "the future must be `Send`; a closure needs the type of its argument written out, as in `|query: String|`"
)]
pub trait IntoSystem<Kind> {
    /// Makes the system. Nothing is called yet.
    fn into_system(self) -> Box<dyn RagSystem>;
}

/// The shapes of [`IntoSystem`]. Only the compiler needs their names.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsyncOfQuery {}
#[doc(hidden)]
#[derive(Debug)]
pub enum AsyncOfQuestion {}
#[doc(hidden)]
#[derive(Debug)]
pub enum PlainOfQuery {}
#[doc(hidden)]
#[derive(Debug)]
pub enum PlainOfQuestion {}
#[doc(hidden)]
#[derive(Debug)]
pub enum Itself {}

impl<F, Reply, A, E> IntoSystem<AsyncOfQuery> for F
where
    F: Fn(String) -> Reply + Send + Sync + 'static,
    Reply: Future<Output = Result<A, E>> + Send + 'static,
    A: Into<Answer>,
    E: Into<Error>,
{
    fn into_system(self) -> Box<dyn RagSystem> {
        Box::new(AsyncFn(move |question: Question| self(question.query)))
    }
}

impl<F, Reply, A, E> IntoSystem<AsyncOfQuestion> for F
where
    F: Fn(Question) -> Reply + Send + Sync + 'static,
    Reply: Future<Output = Result<A, E>> + Send + 'static,
    A: Into<Answer>,
    E: Into<Error>,
{
    fn into_system(self) -> Box<dyn RagSystem> {
        Box::new(AsyncFn(self))
    }
}

impl<F, A, E> IntoSystem<PlainOfQuery> for F
where
    F: Fn(String) -> Result<A, E> + Send + Sync + 'static,
    A: Into<Answer>,
    E: Into<Error>,
{
    fn into_system(self) -> Box<dyn RagSystem> {
        Box::new(PlainFn(Arc::new(move |question: Question| finish(self(question.query)))))
    }
}

impl<F, A, E> IntoSystem<PlainOfQuestion> for F
where
    F: Fn(Question) -> Result<A, E> + Send + Sync + 'static,
    A: Into<Answer>,
    E: Into<Error>,
{
    fn into_system(self) -> Box<dyn RagSystem> {
        Box::new(PlainFn(Arc::new(move |question: Question| finish(self(question)))))
    }
}

impl<S: RagSystem + 'static> IntoSystem<Itself> for S {
    fn into_system(self) -> Box<dyn RagSystem> {
        Box::new(self)
    }
}

struct AsyncFn<F>(F);

impl<F, Reply, A, E> RagSystem for AsyncFn<F>
where
    F: Fn(Question) -> Reply + Send + Sync,
    Reply: Future<Output = Result<A, E>> + Send + 'static,
    A: Into<Answer>,
    E: Into<Error>,
{
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Asked, Unmeasured>> {
        Box::pin(async move {
            let reply = (self.0)(question.clone());
            finish(reply.await)
        })
    }
}

type Plain = dyn Fn(Question) -> Result<Asked, Unmeasured> + Send + Sync;

struct PlainFn(Arc<Plain>);

impl RagSystem for PlainFn {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Asked, Unmeasured>> {
        let (function, question) = (Arc::clone(&self.0), question.clone());
        Box::pin(async move {
            match tokio::task::spawn_blocking(move || contain::contained(|| function(question))).await {
                Ok(Ok(reply)) => reply,
                Ok(Err(panic)) => Err(Unmeasured::new(cause::PANIC, excerpt(&panic, excerpt::ERROR))),
                Err(_) => Err(Unmeasured::new(cause::ERROR, "the run ended before the function was called")),
            }
        })
    }
}

fn finish<A: Into<Answer>, E: Into<Error>>(reply: Result<A, E>) -> Result<Asked, Unmeasured> {
    match reply {
        Ok(answer) => Ok(Asked { answer: answer.into(), latency: Latency::Measured }),
        Err(error) => {
            let error: Error = error.into();
            Err(Unmeasured::new(cause::ERROR, excerpt(&excerpt::chain(error.as_ref()), excerpt::ERROR)))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::{CaseId, RetrievedContext};

    fn question() -> Question {
        Question {
            case_id: CaseId::new("q1").expect("a valid id"),
            query: "why?".to_owned(),
            language: Some("pt-BR".to_owned()),
            metadata: BTreeMap::from([("plan".to_owned(), "pro".to_owned())]),
            repeat: None,
        }
    }

    #[track_caller]
    fn ask<Kind>(function: impl IntoSystem<Kind>) -> Result<String, (String, String)> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
        let asked = runtime.block_on(from_fn(function).ask(&question()));
        asked.map(|asked| asked.answer.response).map_err(|fault| (fault.cause, fault.why))
    }

    async fn async_of_query(query: String) -> crate::Result<Answer> {
        Ok(Answer::new(query).with_contexts([RetrievedContext::without_id("because")]))
    }

    async fn async_of_question(question: Question) -> Result<String, std::fmt::Error> {
        Ok(format!("{}/{:?}/{}", question.case_id, question.language, question.metadata["plan"]))
    }

    fn plain_of_query(query: String) -> Result<Answer, std::io::Error> {
        Ok(Answer::new(query))
    }

    fn plain_of_question(question: Question) -> crate::Result<&'static str> {
        question.language.map(|_| "known").ok_or_else(|| "no language".into())
    }

    #[test]
    fn every_shape_of_function_is_a_system() {
        assert_eq!(ask(async_of_query), Ok("why?".to_owned()));
        assert_eq!(ask(async_of_question), Ok("q1/Some(\"pt-BR\")/pro".to_owned()));
        assert_eq!(ask(plain_of_query), Ok("why?".to_owned()));
        assert_eq!(ask(plain_of_question), Ok("known".to_owned()));
        let suffix = "!".to_owned();
        assert_eq!(ask(move |query: String| Ok::<_, String>(format!("{query}{suffix}"))), Ok("why?!".to_owned()));
        assert_eq!(ask(|query: String| async move { Ok::<_, crate::Error>(query) }), Ok("why?".to_owned()));
        assert_eq!(ask(from_fn(async_of_query)), Ok("why?".to_owned()));
    }

    #[test]
    fn an_error_keeps_its_causes_and_is_shortened() {
        #[derive(Debug, thiserror::Error)]
        #[error("search failed")]
        struct SearchFailed(#[source] std::io::Error);
        let failed = |_: String| Err::<Answer, _>(SearchFailed(std::io::Error::other("index is gone")));
        assert_eq!(ask(failed), Err((cause::ERROR.to_owned(), "search failed: index is gone".to_owned())));
        let (_, why) = ask(|_: String| async { Err::<Answer, _>("é".repeat(1000)) }).expect_err("an error");
        assert_eq!(why.chars().count(), 301);
    }

    #[test]
    fn a_panic_of_a_plain_function_is_its_own_cause() {
        fn panics(_: String) -> crate::Result<Answer> {
            panic!("index {} is gone", 7)
        }
        let said = |asked: Result<String, (String, String)>| asked.expect_err("a fault");
        let (found, why) = said(ask(panics));
        assert_eq!(found, cause::PANIC);
        assert!(why.starts_with("index 7 is gone (at ") && why.contains("function.rs:"), "{why}");
        fn odd(_: String) -> crate::Result<Answer> {
            std::panic::panic_any(7_u8)
        }
        assert!(said(ask(odd)).1.starts_with("a panic without a message (at "), "{:?}", ask(odd));
    }

    #[test]
    fn plain_functions_run_beside_each_other() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let barrier = Arc::new(std::sync::Barrier::new(2));
        let system = from_fn(move |query: String| {
            barrier.wait();
            Ok::<_, String>(query)
        });
        let question = question();
        let (one, two) = runtime.block_on(async { tokio::join!(system.ask(&question), system.ask(&question)) });
        assert!(one.is_ok() && two.is_ok());
    }
}
