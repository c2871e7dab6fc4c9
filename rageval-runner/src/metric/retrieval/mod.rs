//! How good a ranking is, from the documents that should be in it.

pub mod formula;
pub mod ranking;
mod short;
mod worked;

use std::num::NonZeroUsize;

pub use formula::Gain;
pub use ranking::{Found, Hit, Relevant};

use super::{Cutoff, Formula, Input, Kind, Made, Metric, Param, ParamKind, Params, Step};
use crate::model::{
    Detail, DocId, GoldenCase, MetricKey, MetricKeyError, Outcome, Ranked, RetrievedContext, Transcript, UnitInterval,
    score::OutOfRange,
};

/// One of the retrieval metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// `hit_rate@k`.
    HitRate,
    /// `recall@k`.
    Recall,
    /// `precision@k`.
    Precision,
    /// `f1@k`.
    F1,
    /// `mrr`, `mrr@k`.
    Mrr,
    /// `map`, `map@k`.
    Map,
    /// `r_precision`.
    RPrecision,
    /// `ndcg`, `ndcg@k`.
    Ndcg,
}

const GAIN: Param = Param {
    name: "gain",
    kind: ParamKind::OneOf(&["linear", "exponential"]),
    about: "what a grade is worth: the grade itself (linear, the default), or 2 to the grade minus 1",
};

impl Measure {
    /// Every retrieval metric, in the order of the documentation.
    pub const ALL: [Self; 8] =
        [Self::HitRate, Self::Recall, Self::Precision, Self::F1, Self::Mrr, Self::Map, Self::RPrecision, Self::Ndcg];

    /// The name in `thresholds.yaml`, without cut-off.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HitRate => "hit_rate",
            Self::Recall => "recall",
            Self::Precision => "precision",
            Self::F1 => "f1",
            Self::Mrr => "mrr",
            Self::Map => "map",
            Self::RPrecision => "r_precision",
            Self::Ndcg => "ndcg",
        }
    }
}

/// A retrieval metric with its cut-off and gain: everything that turns hits into a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measurement {
    /// `hit_rate@k`.
    HitRate(NonZeroUsize),
    /// `recall@k`.
    Recall(NonZeroUsize),
    /// `precision@k`.
    Precision(NonZeroUsize),
    /// `f1@k`.
    F1(NonZeroUsize),
    /// `mrr`, with a cut-off where given.
    Mrr(Option<NonZeroUsize>),
    /// `map`, with a cut-off where given.
    Map(Option<NonZeroUsize>),
    /// `r_precision`.
    RPrecision,
    /// `ndcg`, with a cut-off where given.
    Ndcg(Option<NonZeroUsize>, Gain),
}

/// Why a text names no retrieval metric that can be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MeasurementError {
    /// It is no metric key at all.
    #[error(transparent)]
    Key(#[from] MetricKeyError),
    /// No retrieval metric has this name.
    #[error("unknown retrieval metric `{name}`{}; known are {}", did_you_mean(name), known())]
    Unknown {
        /// The name, without cut-off and label.
        name: String,
    },
    /// The metric needs a cut-off and the key has none.
    #[error("`{name}` needs a cut-off, as in `{name}@10`")]
    CutoffMissing {
        /// The metric.
        name: &'static str,
    },
    /// The metric takes no cut-off and the key has one.
    #[error("`{name}` takes no cut-off")]
    CutoffRefused {
        /// The metric.
        name: &'static str,
    },
}

fn known() -> String {
    Measure::ALL.map(|measure| format!("`{}`", measure.as_str())).join(", ")
}

fn did_you_mean(name: &str) -> String {
    let names = Measure::ALL.map(Measure::as_str);
    let nearest = names.into_iter().map(|known| (strsim::damerau_levenshtein(name, known), known)).min();
    match nearest {
        Some((distance, known)) if distance * 3 <= name.len() => format!("; did you mean `{known}`?"),
        Some(_) | None => String::new(),
    }
}

impl Measurement {
    /// Reads a key such as `recall@10`; `gain` is what `ndcg` uses.
    pub fn parse(text: &str, gain: Gain) -> Result<Self, MeasurementError> {
        let key = MetricKey::parse(text)?;
        let measure = Measure::ALL.into_iter().find(|measure| measure.as_str() == key.name());
        let measure = measure.ok_or_else(|| MeasurementError::Unknown { name: key.name().to_owned() })?;
        Self::new(measure, &key, gain)
    }

    /// The metric with the cut-off of `key`.
    pub fn new(measure: Measure, key: &MetricKey, gain: Gain) -> Result<Self, MeasurementError> {
        let cutoff = key.cutoff().and_then(NonZeroUsize::new);
        let required = || cutoff.ok_or(MeasurementError::CutoffMissing { name: measure.as_str() });
        Ok(match measure {
            Measure::HitRate => Self::HitRate(required()?),
            Measure::Recall => Self::Recall(required()?),
            Measure::Precision => Self::Precision(required()?),
            Measure::F1 => Self::F1(required()?),
            Measure::Mrr => Self::Mrr(cutoff),
            Measure::Map => Self::Map(cutoff),
            Measure::RPrecision if cutoff.is_some() => {
                return Err(MeasurementError::CutoffRefused { name: measure.as_str() });
            }
            Measure::RPrecision => Self::RPrecision,
            Measure::Ndcg => Self::Ndcg(cutoff, gain),
        })
    }

    /// The score of one ranking. An error only when grades are too large to be numbers.
    pub fn score(self, found: &Found<'_>) -> Result<UnitInterval, OutOfRange> {
        UnitInterval::new(match self {
            Self::HitRate(k) => formula::hit_rate(found, k),
            Self::Recall(k) => formula::recall(found, k),
            Self::Precision(k) => formula::precision(found, k),
            Self::F1(k) => formula::f1(found, k),
            Self::Mrr(k) => formula::reciprocal_rank(found, k),
            Self::Map(k) => formula::average_precision(found, k),
            Self::RPrecision => formula::r_precision(found),
            Self::Ndcg(k, gain) => formula::ndcg(found, k, gain),
        })
    }

    /// How many ranks it looks at; `None` for all.
    fn depth(self, relevant: usize) -> Option<usize> {
        match self {
            Self::HitRate(k) | Self::Recall(k) | Self::Precision(k) | Self::F1(k) => Some(k.get()),
            Self::Mrr(k) | Self::Map(k) | Self::Ndcg(k, _) => k.map(NonZeroUsize::get),
            Self::RPrecision => Some(relevant),
        }
    }

    /// `k of n`, for the metrics that are a share.
    fn k_of_n(self, within: usize, relevant: usize) -> Option<(usize, usize)> {
        match self {
            Self::HitRate(_) => Some((within.min(1), 1)),
            Self::Recall(_) | Self::RPrecision => Some((within, relevant)),
            Self::Precision(k) => Some((within, k.get())),
            Self::F1(_) | Self::Mrr(_) | Self::Map(_) | Self::Ndcg(..) => None,
        }
    }

    fn detail(self, found: &Found<'_>) -> Detail {
        let relevant = found.relevant.count();
        let hits = self.depth(relevant).map_or(found.hits(), |depth| found.within(depth));
        let mut ranked = Ranked::default();
        for (place, id) in found.relevant.ids().enumerate() {
            match hits.iter().find(|hit| hit.place == place) {
                Some(hit) => ranked.found.push((DocId::from(id), hit.rank)),
                None => ranked.missed.push(DocId::from(id)),
            }
        }
        ranked.found.sort_by_key(|(_, rank)| *rank);
        Detail { k_of_n: self.k_of_n(hits.len(), relevant), ranked: Some(ranked), ..Detail::default() }
    }
}

/// The gain that the parameters name; linear when they name none.
fn gain(params: &Params) -> Gain {
    match params.text(GAIN.name) {
        Some("exponential") => Gain::Exponential,
        Some(_) | None => Gain::Linear,
    }
}

fn relevant(case: &GoldenCase) -> Option<Relevant<'_>> {
    Relevant::new(case.relevant.iter().flatten().map(|judgement| (judgement.id.as_str(), judgement.grade)))
}

fn id(context: &RetrievedContext) -> Option<&str> {
    context.id.as_ref().map(DocId::as_str)
}

const NOTHING_RELEVANT: &str = "the case names no relevant documents";

impl Metric for Measure {
    fn name(&self) -> &str {
        self.as_str()
    }

    fn about(&self) -> &str {
        match self {
            Self::HitRate => "1 when the first k hold a relevant document, else 0",
            Self::Recall => "share of the relevant documents that the first k hold",
            Self::Precision => "relevant documents among the first k, divided by k",
            Self::F1 => "harmonic mean of precision and recall at k",
            Self::Mrr => "1 divided by the rank of the first relevant document; 0 when there is none",
            Self::Map => "precision at each relevant document found, averaged over all relevant documents",
            Self::RPrecision => "precision at R, the number of relevant documents",
            Self::Ndcg => "gain of the ranking, discounted by log2(rank + 1), as a share of the best ranking's",
        }
    }

    fn formula(&self, params: &Params) -> Formula {
        worked::formula(*self, gain(params))
    }

    fn worked(&self, Made { input, .. }: &Made<'_>) -> Option<Vec<String>> {
        let relevant = relevant(input.case)?;
        let measurement = Measurement::new(*self, input.key, gain(input.params)).ok()?;
        let found = Found::in_ranking(&input.sample.answer.retrieved_contexts, id, &relevant);
        Some(worked::lines(measurement, &found))
    }

    fn kind(&self) -> Kind {
        Kind::Retrieval
    }

    fn cutoff(&self) -> Cutoff {
        match self {
            Self::HitRate | Self::Recall | Self::Precision | Self::F1 => Cutoff::Required,
            Self::Mrr | Self::Map | Self::Ndcg => Cutoff::Optional,
            Self::RPrecision => Cutoff::Refused,
        }
    }

    fn params(&self) -> &[Param] {
        match self {
            Self::Ndcg => &[GAIN],
            Self::HitRate | Self::Recall | Self::Precision | Self::F1 | Self::Mrr | Self::Map | Self::RPrecision => &[],
        }
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        relevant(case).is_none().then(|| NOTHING_RELEVANT.to_owned())
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        Step::Done(outcome(*self, input))
    }
}

fn outcome(measure: Measure, input: &Input<'_>) -> Outcome {
    let Some(relevant) = relevant(input.case) else { return Outcome::not_applicable(NOTHING_RELEVANT) };
    let measurement = match Measurement::new(measure, input.key, gain(input.params)) {
        Ok(measurement) => measurement,
        Err(error) => return Outcome::unmeasured("metric key without meaning", error.to_string()),
    };
    let contexts = &input.sample.answer.retrieved_contexts;
    if !contexts.is_empty() && contexts.iter().all(|context| context.id.is_none()) {
        let why = format!(
            "none of the {} retrieved contexts carries an id, so nothing can be compared with the relevant documents; \
             give each context the id of its document",
            contexts.len()
        );
        return Outcome::unmeasured("contexts without ids", why);
    }
    let found = Found::in_ranking(contexts, id, &relevant);
    match measurement.score(&found) {
        Ok(score) => Outcome::scored_with(score, measurement.detail(&found)),
        Err(_) => {
            let why = "the gain of the relevant documents is too large for a number; use smaller grades".to_owned();
            Outcome::unmeasured("grades too large", why)
        }
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
