//! What the page of one case shows, as data for `report.js`.

use std::{collections::BTreeMap, ops::Range};

use rageval_runner::{
    model::{
        CaseId, DocId, Heard, Language, MetricKey, Outcome, Record, Sample, Taken, UnitInterval, Unmeasured, Usage,
        case::KnownFailure,
        run::{FindingLevel, Run},
    },
    report::{
        console::text::run_alone,
        judged::{is_failing, word},
    },
};
use serde::Serialize;

use super::{
    difference::{Difference, difference},
    findings,
    metric_part::MetricPart,
    snapshot_diff::{Toned, toned},
    texts::{TextNumber, Texts},
};
use crate::report::{
    claims::{self, Beside, Judged, ShownClaim},
    view::CaseView,
};

/// The page of one case.
#[derive(Debug, Serialize)]
pub(super) struct CasePage<'r> {
    id: &'r CaseId,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    golden: Option<GoldenPart<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<&'r str>,
    /// The command that runs it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    alone: Option<String>,
    findings: Vec<(FindingLevel, String)>,
    /// The snapshot that makes it red: why, and the lines of the difference, each with its class.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<(&'r str, Vec<Toned<'r>>)>,
    notices: &'r [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'r Unmeasured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<AnswerPart<'r>>,
    metrics: Vec<MetricPart<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<BeforePart<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repeats: Vec<RepeatPart<'r>>,
}

/// What stands in the golden set.
#[derive(Debug, Serialize)]
struct GoldenPart<'r> {
    place: String,
    query: &'r str,
    references: &'r [String],
    should_refuse: bool,
    language: &'r str,
    fields: &'r BTreeMap<String, Vec<String>>,
    /// Documents that should be found with their grade; `None` where the case does not say.
    relevant: Option<Vec<(&'r DocId, f64)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    known_failure: Option<&'r KnownFailure>,
}

/// What the system did.
#[derive(Debug, Serialize)]
struct AnswerPart<'r> {
    text: &'r str,
    is_refusal: bool,
    latency_ms: Option<f64>,
    cost_usd: Option<f64>,
    tokens: Option<u64>,
    generator: Option<&'r str>,
    contexts: Vec<ContextPart<'r>>,
}

/// One retrieved context, in rank order.
#[derive(Debug, Serialize)]
struct ContextPart<'r> {
    id: Option<&'r DocId>,
    text: TextNumber,
    score: Option<f64>,
    /// The grade of its document, where the case names it.
    grade: Option<f64>,
    /// Whether its document stands at a better rank already.
    is_repeated: bool,
}

/// What the baseline holds.
#[derive(Debug, Serialize)]
struct BeforePart<'r> {
    /// Whether the question and the right answer are still the same.
    is_paired: bool,
    answer: Difference,
    retrieved: Vec<Option<&'r DocId>>,
}

/// One repeat of a case that was asked several times.
#[derive(Debug, Serialize)]
struct RepeatPart<'r> {
    is_shown: bool,
    text: Option<TextNumber>,
    fault: Option<&'r Unmeasured>,
    scores: Vec<(&'r MetricKey, Option<f64>)>,
    /// What failed in it, by metric: the reduced scores above are made of all repeats and hold no claims.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failing: Vec<(&'r MetricKey, Vec<ClaimPart<'r>>)>,
}

/// A claim of a metric.
#[derive(Debug, Serialize)]
pub(super) struct ClaimPart<'r> {
    text: &'r str,
    verdict: &'static str,
    /// What it is of.
    of: Judged,
    /// Its verdict in the words of what it is about, where it is no claim of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'r str>,
    /// Where it stands in the answer: from and to, in UTF-16 units, and whether word for word.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<(usize, usize, bool)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<EvidencePart<'r>>,
}

/// What stands beside a claim. `rank` is there where the judge named no evidence and the nearest sentence is shown.
#[derive(Debug, Serialize)]
struct EvidencePart<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'r DocId>,
    text: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
}

impl<'r> CasePage<'r> {
    /// The page of a case.
    pub(super) fn of(case: &CaseView<'r>, run: &'r Run, texts: &mut Texts<'r>) -> Self {
        let golden = case.golden;
        let sample = case.record.and_then(Record::sample);
        let decision = case.decision;
        let trial = decision.map(|decision| decision.trial.as_str()).or(golden.map(|golden| golden.trial.as_str()));
        let target = run.manifest.target.as_deref().unwrap_or("rag_regression");
        let findings = decision.iter().flat_map(|decision| &decision.findings);
        let snapshot = decision.and_then(|decision| decision.snapshot.as_ref());
        Self {
            id: case.id,
            state: case.state(),
            golden: golden.map(|golden| GoldenPart {
                place: golden.place.to_string(),
                query: &golden.query,
                references: &golden.references,
                should_refuse: golden.should_refuse,
                language: &golden.language,
                fields: &golden.fields,
                relevant: golden.relevant.as_ref().map(|all| all.iter().map(|one| (&one.id, one.grade)).collect()),
                known_failure: golden.known_failure.as_ref(),
            }),
            trial,
            alone: trial.map(|trial| run_alone(target, trial)),
            findings: findings::lines(findings),
            snapshot: snapshot.map(|snapshot| (snapshot.why.as_str(), toned(&snapshot.diff))),
            notices: decision.map(|decision| decision.notices.as_slice()).unwrap_or_default(),
            fault: case.record.and_then(|record| match &record.taken {
                Taken::Failed(fault) => Some(fault),
                Taken::Sample(_) => None,
            }),
            answer: sample.map(|sample| answer(sample, case, texts)),
            metrics: case.record.map(|record| MetricPart::all(case, record, run)).unwrap_or_default(),
            before: before(case),
            repeats: case.record.map(|record| repeats(record, case, texts)).unwrap_or_default(),
        }
    }
}

fn answer<'r>(sample: &'r Sample, case: &CaseView<'r>, texts: &mut Texts<'r>) -> AnswerPart<'r> {
    let relevant = case.golden.and_then(|golden| golden.relevant.as_ref());
    let mut earlier: Vec<&DocId> = Vec::new();
    let contexts = sample.answer.retrieved_contexts.iter().map(|context| {
        let id = context.id.as_ref();
        let is_repeated = id.is_some_and(|id| earlier.contains(&id));
        earlier.extend(id);
        let judged = relevant.into_iter().flatten().find(|judgement| Some(&judgement.id) == id);
        ContextPart {
            id,
            text: texts.number(&context.text),
            score: context.score,
            grade: judged.map(|judgement| judgement.grade),
            is_repeated,
        }
    });
    AnswerPart {
        contexts: contexts.collect(),
        text: &sample.answer.response,
        is_refusal: sample.is_refusal,
        latency_ms: sample.latency_ms,
        cost_usd: sample.answer.cost_usd,
        tokens: sample.answer.usage.map(Usage::total),
        generator: sample.answer.generator.as_deref(),
    }
}

fn before<'r>(case: &CaseView<'r>) -> Option<BeforePart<'r>> {
    let accepted = case.golden?.accepted.as_ref()?;
    let now = case.record.and_then(Record::sample).map_or("", |sample| &sample.answer.response);
    Some(BeforePart {
        is_paired: case.is_paired(),
        answer: difference(&accepted.response, now),
        retrieved: accepted.retrieved.iter().map(Option::as_ref).collect(),
    })
}

fn repeats<'r>(record: &'r Record, case: &CaseView<'r>, texts: &mut Texts<'r>) -> Vec<RepeatPart<'r>> {
    let Some(repeats) = &record.repeats else { return Vec::new() };
    let parts = repeats.each.iter().enumerate().map(|(at, repeat)| {
        let (sample, fault) = match &repeat.taken {
            Taken::Sample(sample) => (Some(sample), None),
            Taken::Failed(fault) => (None, Some(fault)),
        };
        let text = sample.map(|sample| texts.number(&sample.answer.response));
        let failing = repeat.outcomes.iter().filter_map(|(key, outcome)| {
            let claims = outcome.detail().map(|detail| detail.claims.as_slice()).unwrap_or_default();
            let failing = claims.iter().filter(|claim| is_failing(claim.verdict));
            let answer = sample.map_or("", |sample| &sample.answer.response);
            let shown = failing.map(|claim| ShownClaim::of(claim, key, sample, claims::language(case)));
            let parts: Vec<_> = shown.map(|shown| ClaimPart::of(&shown, key, answer)).collect();
            (!parts.is_empty()).then_some((key, parts))
        });
        let failing = failing.collect();
        let scores = repeat.outcomes.iter().map(|(key, outcome)| (key, outcome.score().map(UnitInterval::get)));
        RepeatPart { is_shown: at + 1 == repeats.shown, text, fault, scores: scores.collect(), failing }
    });
    parts.collect()
}

impl<'r> ClaimPart<'r> {
    /// The claims of a metric.
    pub(super) fn all(
        outcome: &'r Outcome,
        key: &MetricKey,
        sample: Option<&'r Sample>,
        language: Language,
    ) -> Vec<Self> {
        let claims = outcome.detail().map(|detail| detail.claims.as_slice()).unwrap_or_default();
        let answer = sample.map_or("", |sample| &sample.answer.response);
        let shown = claims.iter().map(|claim| ShownClaim::of(claim, key, sample, language));
        shown.map(|shown| Self::of(&shown, key, answer)).collect()
    }

    fn of(shown: &ShownClaim<'r>, key: &MetricKey, answer: &str) -> Self {
        let at = shown.in_answer.as_ref().map(|found| {
            let (from, to) = units(answer, &found.range);
            (from, to, found.is_verbatim)
        });
        let evidence = match &shown.beside {
            Beside::Named { id, text } => Some(EvidencePart { id: *id, text, rank: None, share: None }),
            Beside::Nearest { rank, id, text, share } => {
                Some(EvidencePart { id: *id, text, rank: Some(*rank), share: Some((share * 100.0).round() / 100.0) })
            }
            Beside::Nothing | Beside::NotSought => None,
        };
        let claim = shown.claim;
        let (of, text) = Judged::of(claim, key);
        let said = Some(of.verdict(claim.verdict, key)).filter(|said| *said != claim.verdict.as_str());
        Self { text, said, of, verdict: claim.verdict.as_str(), reason: claim.reason.as_deref(), at, evidence }
    }
}

/// A range of bytes as JavaScript counts: in UTF-16 units.
fn units(text: &str, range: &Range<usize>) -> (usize, usize) {
    let count = |text: &str| text.encode_utf16().count();
    let from = count(&text[..range.start]);
    (from, from + count(&text[range.clone()]))
}

/// How a further reading went, in a few words.
pub(super) fn heard(heard: &Heard, metric: &MetricKey) -> String {
    match heard {
        Heard::Verdicts { verdicts } => {
            let words = verdicts.iter().map(|verdict| word(*verdict, metric));
            words.collect::<Vec<_>>().join(", ")
        }
        Heard::Score { score } => format!("score {:.3}", score.get()),
        Heard::Nothing { why } => format!("no vote: {why}"),
    }
}
