//! The macros of rageval: each parses its input and emits one call into `rageval_runner`.
//!
//! Nothing here decides anything. All that the macros do can be written by hand; the documentation of each shows how.

mod main_macro;
mod metric_macro;

use proc_macro::TokenStream;

/// The `main` function of a gate: `rageval_runner::main! { system: answer }`.
///
/// Keys, in any order, each at most once:
/// - `system`: a function or closure of the question's text (`String`) or of the whole `Question`, async or plain, that returns a
///   `Result` of an answer; leave it out where `thresholds.yaml` names an HTTP endpoint, a command or recorded answers.
/// - `metrics`: a list of metrics made by `#[rageval_runner::metric]`, or of anything that implements `Metric`.
///
/// By hand:
///
/// ```ignore
/// fn main() -> std::process::ExitCode {
///     rageval_runner::Suite::new(rageval_runner::location!())
///         .system(answer)
///         .metric(&polite)
///         .run()
/// }
/// ```
#[proc_macro]
pub fn main(input: TokenStream) -> TokenStream {
    main_macro::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a metric of a function `fn(&GoldenCase, &Sample) -> Outcome`: `#[rageval_runner::metric(about = "...")]`.
///
/// The metric has the function's name, which `thresholds.yaml` then uses; pass it to `main!` as `metrics: [name]`.
/// Keys: `about` (required: what it says, in one sentence), `version` (a whole number, 1 unless given; raise it whenever the same
/// input may score differently). A metric that asks a judge implements the trait `Metric` instead.
///
/// By hand:
///
/// ```ignore
/// static polite: rageval_runner::metric::FnMetric =
///     rageval_runner::metric::FnMetric::new("polite", "whether the answer says please", 1, |case, sample| { ... });
/// ```
#[proc_macro_attribute]
pub fn metric(attribute: TokenStream, item: TokenStream) -> TokenStream {
    metric_macro::expand(attribute.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
