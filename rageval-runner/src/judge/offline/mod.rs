//! The offline judge: answers judging requests by text alone, the same on every machine, without network or model.
//!
//! It is an evidence screen, not a judge of meaning. `docs/offline-judge.md` says what it was measured at and what it can't see;
//! `docs/judge-requests.md` has the shapes of its replies.

mod claims;

use claims::claims;
use serde_json::{Value, json};

use super::Judge;
use crate::{
    model::{CaseId, Ending, JudgeRequest, Language, Reply, Verdict, run::JudgeStamp},
    system::BoxFuture,
    text::{
        evidence::{Premises, Reading, opening},
        is_refusal,
    },
};

/// The judge that needs nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offline;

impl Offline {
    /// Its provider, as in `judge: {provider: offline}`.
    pub const PROVIDER: &str = "offline";

    /// Version of its rules: raised whenever the same request may be answered differently.
    pub const MODEL: &str = "evidence-screen-2";
}

impl Judge for Offline {
    fn stamp(&self) -> JudgeStamp {
        let digest = blake3::hash(format!("{}\n{}", Self::PROVIDER, Self::MODEL).as_bytes());
        JudgeStamp {
            provider: Self::PROVIDER.to_owned(),
            model: Self::MODEL.to_owned(),
            fingerprint: digest.to_hex().to_string(),
        }
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn ask<'a>(&'a self, _case: &'a CaseId, request: &'a JudgeRequest) -> BoxFuture<'a, Reply> {
        Box::pin(async move { reply(request) })
    }
}

/// The reply to a request. A request of an unknown name, or one that lacks a field, ends as unsupported.
pub fn reply(request: &JudgeRequest) -> Reply {
    let value = match request.name.as_str() {
        "faithfulness.verdicts" => faithfulness(request),
        "answer_relevancy.verdicts" => answer_relevancy(request),
        "context_precision.verdicts" => context_precision(request),
        "context_recall.attributions" => context_recall(request),
        "answer_correctness.statements" => answer_correctness(request),
        "refusal_correctness.verdict" => refusal_correctness(request),
        other => return unsupported(format!("the offline judge does not know the request \"{other}\"")),
    };
    match value {
        Some(value) => Reply::Value { value },
        None => unsupported(format!("the request \"{}\" lacks a field that the offline judge needs", request.name)),
    }
}

fn unsupported(why: String) -> Reply {
    Reply::Failed { ending: Ending::Unsupported, why }
}

/// The beginning of a question: more than any question has, and bounded, since it is read once a sentence.
fn head(query: &str) -> &str {
    let end = query.char_indices().nth(QUERY_CHARS).map_or(query.len(), |(at, _)| at);
    &query[..end]
}

const QUERY_CHARS: usize = 2_000;

fn premises(texts: &[String], language: Language) -> Premises {
    Premises::new(&texts.iter().map(String::as_str).collect::<Vec<_>>(), language)
}

fn is_stated(reading: &Reading) -> bool {
    match reading.verdict {
        Verdict::Supported | Verdict::Inferred => true,
        Verdict::Unsupported | Verdict::Contradicted => false,
    }
}

/// Adds the number of the nearest context, its sentence and the reason.
fn with_evidence(mut entry: Value, reading: Reading) -> Value {
    if let Some((source, sentence)) = reading.best {
        entry["context"] = json!(source + 1);
        entry["quote"] = json!(sentence);
    }
    entry["reason"] = json!(reading.why);
    entry
}

/// One entry a text, numbered from 1; those without a claim say so.
fn entries(texts: &[String], language: Language, mut judged: impl FnMut(usize, &str) -> Value) -> Vec<Value> {
    let entry = |(at, text): (usize, &String)| {
        if claims(text, language).is_empty() {
            return json!({"n": at + 1, "no_claim": true});
        }
        let mut entry = judged(at, text);
        entry["n"] = json!(at + 1);
        entry
    };
    texts.iter().enumerate().map(entry).collect()
}

fn faithfulness(request: &JudgeRequest) -> Option<Value> {
    let evidence = premises(request.numbered_of("contexts")?, request.language);
    let sentences = entries(request.numbered_of("sentences")?, request.language, |_, sentence| {
        let weighed: Vec<Value> = claims(sentence, request.language)
            .into_iter()
            .map(|claim| {
                let reading = evidence.weigh(claim);
                with_evidence(json!({"claim": claim, "verdict": reading.verdict.as_str()}), reading)
            })
            .collect();
        json!({"claims": weighed})
    });
    Some(json!({"sentences": sentences}))
}

/// A sentence is relevant when it shares a content word with the question, continues one that does, or has the form of its answer.
fn answer_relevancy(request: &JudgeRequest) -> Option<Value> {
    let query = head(request.text_of("query")?);
    let mut was_relevant = false;
    let sentences = entries(request.numbered_of("sentences")?, request.language, |at, sentence| {
        let shared = premises(&[sentence.to_owned()], request.language).coverage_beyond(query, "").unwrap_or(0.0);
        let opening = opening(sentence, request.language);
        let is_relevant = SHARED <= shared
            || (was_relevant && (opening.points_back || opening.is_list_item))
            || (at == 0 && claims::answers_form_of(query, sentence, request.language));
        was_relevant = is_relevant;
        json!({"verdict": if is_relevant { "relevant" } else { "irrelevant" }})
    });
    Some(json!({"sentences": sentences}))
}

/// Share of the question's words that make a sentence one about it.
const SHARED: f64 = 0.15;

/// A context is useful when it states the reference, or, without one, what the question is about.
fn context_precision(request: &JudgeRequest) -> Option<Value> {
    let query = head(request.text_of("query")?);
    let reference = request.text_of("reference").filter(|reference| !reference.trim().is_empty());
    let contexts = request.numbered_of("contexts")?;
    let judged = contexts.iter().enumerate().map(|(at, context)| {
        let evidence = premises(std::slice::from_ref(context), request.language);
        let about = evidence.coverage_beyond(query, "").unwrap_or(0.0);
        let (is_useful, reason) = match reference {
            Some(reference) => {
                let stated = evidence
                    .coverage_beyond(reference, query)
                    .or_else(|| evidence.coverage_beyond(reference, ""))
                    .unwrap_or(0.0);
                let has_facts = evidence.has_facts_of(reference, query);
                let is_useful = has_facts != Some(false)
                    && STATES_REFERENCE <= stated
                    && ABOUT_QUERY <= about.max(stated - ABOUT_QUERY);
                (
                    is_useful,
                    format!(
                        "states {:.0}% of the reference, {:.0}% of the question's words",
                        stated * 100.0,
                        about * 100.0
                    ),
                )
            }
            None => (STATES_QUERY <= about, format!("has {:.0}% of the question's words in one place", about * 100.0)),
        };
        json!({"n": at + 1, "verdict": if is_useful { "useful" } else { "not_useful" }, "reason": reason})
    });
    Some(json!({"contexts": judged.collect::<Vec<_>>()}))
}

const STATES_REFERENCE: f64 = 0.5;
const ABOUT_QUERY: f64 = 0.2;
const STATES_QUERY: f64 = 0.5;

fn context_recall(request: &JudgeRequest) -> Option<Value> {
    let evidence = premises(request.numbered_of("contexts")?, request.language);
    let sentences = entries(request.numbered_of("sentences")?, request.language, |_, sentence| {
        let reading = evidence.weigh(sentence);
        let verdict = if is_stated(&reading) { "attributed" } else { "not_attributed" };
        with_evidence(json!({"verdict": verdict}), reading)
    });
    Some(json!({"sentences": sentences}))
}

/// Each side is weighed against the other, with the question's words as given: an answer that only repeats the question, and a short one
/// that has just the reference's numbers and names, are both read as people read them.
fn answer_correctness(request: &JudgeRequest) -> Option<Value> {
    let query = head(request.text_of("query")?);
    let (answer, reference) = (request.numbered_of("answer")?, request.numbered_of("reference")?);
    let language = request.language;
    let (by_reference, by_answer) = (Side::new(query, reference, language), Side::new(query, answer, language));
    let answers = entries(answer, language, |_, sentence| {
        let (is_correct, reading) = by_reference.states(query, sentence);
        let mut entry = json!({"verdict": if is_correct { "correct" } else { "wrong" }, "reason": reading.why});
        if let Some((source, _)) = reading.best {
            entry["quote"] = json!(reference.get(source).map_or("", String::as_str));
        }
        entry
    });
    let references: Vec<Value> = reference
        .iter()
        .enumerate()
        .map(|(at, sentence)| {
            let (is_covered, _) = by_answer.states(query, sentence);
            json!({"n": at + 1, "verdict": if is_covered { "covered" } else { "missing" }})
        })
        .collect();
    Some(json!({"answer": answers, "reference": references}))
}

/// The answer or the reference, ready to be asked whether it states a sentence of the other.
struct Side {
    /// Its sentences, each with the question before it.
    with_query: Premises,
    /// Its sentences alone.
    alone: Premises,
}

impl Side {
    fn new(query: &str, sentences: &[String], language: Language) -> Self {
        let given = query.trim_end_matches(|c: char| !c.is_alphanumeric());
        let with_query: Vec<String> = sentences.iter().map(|sentence| format!("{given}, {sentence}")).collect();
        Self { with_query: premises(&with_query, language), alone: premises(sentences, language) }
    }

    fn states(&self, query: &str, sentence: &str) -> (bool, Reading) {
        let reading = self.with_query.weigh(sentence);
        let is_new_stated = self.alone.coverage_beyond(sentence, query).is_none_or(|covered| NEW_STATED <= covered);
        let has_facts = self.alone.has_facts_of(sentence, query);
        let is_stated = match reading.verdict {
            Verdict::Contradicted => false,
            Verdict::Supported | Verdict::Inferred => {
                (is_new_stated || has_facts == Some(true)) && has_facts != Some(false)
            }
            Verdict::Unsupported => has_facts == Some(true),
        };
        (is_stated && !self.disagrees(sentence), reading)
    }

    /// Whether one side begins with yes and the other with no.
    fn disagrees(&self, sentence: &str) -> bool {
        let first = self.alone.first_sentence();
        matches!((claims::yes_or_no(sentence), first.and_then(claims::yes_or_no)), (Some(one), Some(other)) if one != other)
    }
}

/// Share of what a sentence adds to the question that the other side must have.
const NEW_STATED: f64 = 0.5;

fn refusal_correctness(request: &JudgeRequest) -> Option<Value> {
    Some(json!({"refused": is_refusal(request.text_of("answer")?, request.language)}))
}

#[cfg(test)]
mod tests;
