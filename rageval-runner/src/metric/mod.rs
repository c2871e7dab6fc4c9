//! Ways to measure a sample: the trait, and the list of all that are built in.

pub mod answer_correctness;
pub mod answer_relevancy;
pub mod answering;
pub mod asking;
pub mod confirm;
pub mod context_entity_recall;
pub mod context_precision;
pub mod context_recall;
pub mod context_relevancy;
mod custom;
pub mod described;
pub mod faithfulness;
pub mod g_eval;
pub mod hallucination;
pub mod lexical;
pub mod majority;
pub mod material;
pub mod noise_sensitivity;
pub mod numbered;
mod one_by_one;
pub mod pairwise;
pub mod quantity;
mod quote;
pub mod refusal_correctness;
pub mod reread;
pub mod retrieval;
pub mod rubric;
pub mod safety;
pub mod scoring;
pub mod self_critique;
mod shuffled;
mod similarity;
pub mod single_claim;
pub mod task_completion;
#[cfg(test)]
pub(crate) mod trying;
pub mod worked;

use std::collections::BTreeMap;

pub use custom::FnMetric;
pub use described::Described;
pub use reread::Reread;
pub use worked::{Formula, Made};

pub use crate::model::described::{Cutoff, Kind};
use crate::model::{Detail, GoldenCase, Language, MetricKey, Outcome, Request, Sample, Score, Transcript};

/// Every metric that is built in, in the order of the documentation. Adding one is a file and a line here.
pub const METRICS: &[&dyn Metric] = &[
    // Retrieval.
    &retrieval::Measure::HitRate,
    &retrieval::Measure::Recall,
    &retrieval::Measure::Precision,
    &retrieval::Measure::F1,
    &retrieval::Measure::Mrr,
    &retrieval::Measure::Map,
    &retrieval::Measure::RPrecision,
    &retrieval::Measure::Ndcg,
    // Text.
    &lexical::ExactMatch,
    &lexical::TokenF1,
    &lexical::Rouge::One,
    &lexical::Rouge::Two,
    &lexical::Rouge::L,
    &lexical::Bleu,
    &lexical::Chrf,
    &lexical::Contains,
    &lexical::RegexMatch,
    &lexical::Citation,
    &lexical::JsonSchema,
    // Quantities.
    &quantity::Length,
    &quantity::Latency,
    &quantity::Tokens,
    &quantity::Cost,
    // Judged.
    &faithfulness::Faithfulness,
    &answer_relevancy::AnswerRelevancy,
    &context_precision::ContextPrecision,
    &context_recall::ContextRecall,
    &answer_correctness::AnswerCorrectness,
    &refusal_correctness::RefusalCorrectness,
    &hallucination::Hallucination,
    &context_relevancy::ContextRelevancy,
    &context_entity_recall::ContextEntityRecall,
    &noise_sensitivity::NoiseSensitivity,
    &task_completion::TaskCompletion,
    &rubric::Rubric,
    &g_eval::GEval,
    &pairwise::Pairwise,
    &self_critique::SelfCritique,
    &safety::Safety::Toxicity,
    &safety::Safety::Bias,
];

/// The built-in metric of this name, without cut-off and label.
pub fn find(name: &str) -> Option<&'static dyn Metric> {
    METRICS.iter().copied().find(|metric| metric.name() == name)
}

/// The causes that faults of measuring are counted by; those of the judge itself are [`crate::model::Ending::cause`].
pub mod cause {
    /// The answer holds no text, where the metric needs one.
    pub const ANSWER_BLANK: &str = "answer blank";
    /// The judge's reply, asked for twice, does not fit the question.
    pub const REPLY_INCOMPLETE: &str = "judge reply incomplete";
    /// The judge found nothing to judge in an answer that is no refusal.
    pub const NO_CLAIMS: &str = "no claims in a non-refusal answer";
    /// The case itself is at fault.
    pub const DATA: &str = "data error";
    /// A parameter is missing or cannot be used.
    pub const PARAMETER: &str = "metric parameter invalid";
    /// A recorded answer states no time.
    pub const LATENCY: &str = "latency not reported";
    /// The system reported no token usage.
    pub const USAGE: &str = "usage not reported";
    /// The system reported no cost.
    pub const COST: &str = "cost not reported";
    /// The system reported a quantity that is none: below 0, infinite or no number.
    pub const QUANTITY: &str = "quantity invalid";
    /// Contexts came back and none carries an id, where the metric compares ids.
    pub const CONTEXT_IDS: &str = "contexts without ids";
    /// The embedder answered with an error, after retries, or with what is no vectors.
    pub const EMBEDDER: &str = "embedder error";
    /// The embedder gave no answer in time.
    pub const EMBEDDER_TIME_OUT: &str = "embedder time-out";
    /// A similarity is needed and the policy names no embedder.
    pub const NO_EMBEDDER: &str = "no embedder";
    /// No stored or scripted vector, and asking is not allowed.
    pub const VECTOR_MISSING: &str = "vector not stored";
    /// The probabilities of the scores that the judge could have given leave too much out.
    pub const PROBABILITIES: &str = "score probabilities unusable";
    /// The accepted run holds the case without an answer that could be compared.
    pub const BASELINE: &str = "baseline answer blank";
    /// A metric that only another binary can measure.
    pub const ELSEWHERE: &str = "metric of another binary";
    /// A score outside 0 to 1.
    pub const RANGE: &str = "score out of range";
}

/// What a parameter's value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// `true` or `false`.
    Flag,
    /// A number of at least 0.
    Number,
    /// A number from 0 to 1.
    Unit,
    /// A whole number between these two, both included.
    Whole(usize, usize),
    /// A text that is not empty.
    Text,
    /// A list of texts, at least one; one text counts as a list of one.
    Texts,
    /// A regular expression that compiles.
    Regex,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Some of these words, at least one; one word counts as a list of one.
    SomeOf(&'static [&'static str]),
    /// A JSON schema that can be used.
    JsonSchema,
    /// A map of at least two texts, each with a number from 0 to 1.
    Levels,
    /// Whatever there is; the metric checks it itself.
    Any,
}

/// One parameter that a metric takes in `thresholds.yaml` or in a case's `thresholds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Its key.
    pub name: &'static str,
    /// What it must be.
    pub kind: ParamKind,
    /// What it does, in one sentence.
    pub about: &'static str,
}

/// The parameters of one metric for one case: the policy's, with the case's own over them. Checked when loaded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Params(pub BTreeMap<String, serde_json::Value>);

impl Params {
    /// Whether a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(serde_json::Value::as_bool) == Some(true)
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(serde_json::Value::as_f64)
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(serde_json::Value::as_str)
    }

    /// A list of texts; one text counts as a list of one; absent is empty.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        match self.0.get(name) {
            Some(serde_json::Value::Array(items)) => items.iter().filter_map(serde_json::Value::as_str).collect(),
            Some(value) => value.as_str().into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// 32 hex digits over the parameters: equal exactly when they are.
    pub fn digest(&self) -> String {
        let mut fields = crate::model::case::Fields::default();
        for (name, value) in &self.0 {
            fields.add(name, &value.to_string());
        }
        fields.finish()
    }

    /// These parameters with those of a case laid over them.
    #[must_use]
    pub fn overlaid(&self, own: &BTreeMap<String, serde_json::Value>) -> Self {
        let mut merged = self.0.clone();
        merged.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
        Self(merged)
    }
}

/// All that a metric may look at.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The golden case.
    pub case: &'a GoldenCase,
    /// What the system did; whether it is a refusal is settled.
    pub sample: &'a Sample,
    /// The metric as named, with its cut-off.
    pub key: &'a MetricKey,
    /// Its parameters for this case.
    pub params: &'a Params,
    /// The answer of the accepted run to the same case; `None` where there is no such run, the case was not in it, or has changed since.
    /// Given to metrics that say so by [`Metric::reads_baseline`]. Whether it is a refusal is what the text detector says, since a
    /// baseline keeps no flag of the system; it has no usage, cost or latency.
    pub baseline: Option<&'a Sample>,
}

impl Input<'_> {
    /// The language whose rules apply to this case's texts.
    pub fn language(&self) -> Language {
        self.case.language
    }
}

/// What a metric does next, given all replies so far.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// It needs these answered first; never empty.
    Ask(Vec<Request>),
    /// It is done.
    Done(Outcome),
}

/// A way to measure a sample: a pure function of the case, the sample and the replies so far.
///
/// The same input and transcript always give the same step; nothing is read from outside. So a metric's tests are tables of replies,
/// and a stored run can be scored again without a judge.
pub trait Metric: Send + Sync {
    /// The name in `thresholds.yaml`, without cut-off and label: lower-case letters, digits and `_`.
    fn name(&self) -> &str;

    /// What it says, in one sentence for the documentation and the schema.
    fn about(&self) -> &str;

    /// How its score is made, in words and signs; empty where it does not say.
    fn formula(&self, _params: &Params) -> Formula {
        Formula::default()
    }

    /// The formula with the numbers of one score of it, a line each, before `not`; the last line ends with `= ` and the score. `None`
    /// where the parts of the score say no more than its detail, which is then shown.
    fn worked(&self, _made: &Made<'_>) -> Option<Vec<String>> {
        None
    }

    /// What it looks at.
    fn kind(&self) -> Kind;

    /// Version of its definition: raised whenever the same input may score differently, so that old baselines are not compared with it.
    fn version(&self) -> u32 {
        1
    }

    /// Whether its key carries a cut-off.
    fn cutoff(&self) -> Cutoff {
        Cutoff::Refused
    }

    /// The parameters it takes. `not` is added by [`Kind::Text`] itself.
    fn params(&self) -> &[Param] {
        &[]
    }

    /// The parameter with the word under which a metric of [`Kind::Judged`] asks the judge, where it does not always: then under any other
    /// word, and without the parameter, no judge has a say in it.
    fn judged_when(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Whether it looks at [`Input::baseline`].
    fn reads_baseline(&self) -> bool {
        false
    }

    /// Why the case alone makes this metric not applicable, as a phrase; `None` when it applies.
    ///
    /// Asked before the system is: a case for which it applies and whose system failed is unmeasured.
    fn not_applicable(&self, case: &GoldenCase, params: &Params) -> Option<String>;

    /// Whether it compares vectors under these parameters, so that the policy must name an embedder.
    fn needs_embedder(&self, _params: &Params) -> bool {
        false
    }

    /// How its verdicts are read again over the same items; `None` where each reading has items of its own, so that only its whole score
    /// can be measured once more.
    fn rereads(&self) -> Option<&dyn Reread> {
        None
    }

    /// What it does next. Called again with a longer transcript until it is done; it must be done once every request it made has a reply.
    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step;
}

/// The parameter that negates a text metric: score becomes 1 - score.
pub const NOT: Param =
    Param { name: "not", kind: ParamKind::Flag, about: "negates the metric: the score becomes 1 minus the score" };

/// Every parameter of a metric, `not` included where it can be negated.
pub fn params_of(metric: &dyn Metric) -> Vec<Param> {
    let mut params = metric.params().to_vec();
    if metric.kind() == Kind::Text {
        params.push(NOT);
    }
    params
}

/// The outcome as it is recorded: of a text metric with `not: true` the score is turned into 1 minus the score, its `k of n` into
/// `n - k of n`, and its note is marked. The one place where negation happens; every other outcome stays as it is.
pub fn finish(metric: &dyn Metric, params: &Params, outcome: Outcome) -> Outcome {
    let is_negated = metric.kind() == Kind::Text && params.flag(NOT.name);
    match outcome {
        Outcome::Scored { score, detail } if is_negated => {
            let k_of_n = detail.k_of_n.map(|(k, n)| (n.saturating_sub(k), n));
            let note = detail.note.map(|note| format!("not: {note}"));
            let score = Score {
                value: score.value.complement(),
                raw: score.raw,
                first: score.first.map(crate::model::UnitInterval::complement),
            };
            Outcome::Scored { score, detail: Detail { k_of_n, note, ..detail } }
        }
        Outcome::Scored { .. } | Outcome::NotApplicable { .. } | Outcome::Unmeasured { .. } => outcome,
    }
}

#[cfg(test)]
mod tests;
