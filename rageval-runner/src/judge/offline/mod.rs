//! The offline judge: answers judging requests by text alone, the same on every machine, without network or model.
//!
//! It is an evidence screen, not a judge of meaning. `docs/offline-judge.md` says what it was measured at and what it can't see;
//! `docs/judge-requests.md` has the shapes of its replies.

mod claims;

use claims::{claims, text_with};
use serde_json::{Value, json};

use super::{Judge, Judged};
use crate::{
    model::{CaseId, Ending, JudgeRequest, Language, Reply, Verdict, run::JudgeStamp},
    system::BoxFuture,
    text::{
        evidence::{Premises, Reading, opening},
        is_refusal, normalise, statements,
        stop::is_stop_word,
        words,
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

    fn ask<'a>(&'a self, _case: &'a CaseId, request: &'a JudgeRequest) -> BoxFuture<'a, Judged> {
        Box::pin(async move { reply(request).into() })
    }
}

/// The reply to a request. A request of an unknown name, or one that lacks a field, ends as unsupported.
pub fn reply(request: &JudgeRequest) -> Reply {
    let value = match request.name.as_str() {
        "faithfulness.verdicts" => faithfulness(request),
        "faithfulness.labels" => labels(request),
        "faithfulness.sentence" => sentence(request),
        "faithfulness.confirm" => confirm(request),
        "answer_relevancy.verdicts" => answer_relevancy(request),
        "context_precision.verdicts" => context_precision(request),
        "context_relevancy.verdicts" => context_relevancy(request),
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

/// How a text is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// By its content words.
    Content,
    /// Word by word: nothing in the whole answer has content of its own, and this is all that it says.
    Literal,
}

/// One entry a text, numbered from 1; those without a claim say so. Where none has one, each that is more than a greeting or a question
/// is the answer itself, and is judged literally.
fn entries(texts: &[String], language: Language, mut judged: impl FnMut(usize, &str, Ground) -> Value) -> Vec<Value> {
    let is_bare = !texts.iter().any(|text| is_content(text, language));
    let entry = |(at, text): (usize, &String)| {
        let ground = if is_bare && !claims::is_empty_talk(text) { Ground::Literal } else { Ground::Content };
        if ground == Ground::Content && claims(text, language).is_empty() {
            return json!({"n": at + 1, "no_claim": true});
        }
        let mut entry = judged(at, text, ground);
        entry["n"] = json!(at + 1);
        entry
    };
    texts.iter().enumerate().map(entry).collect()
}

/// Whether a text claims something by content words: a bare `yes` claims, but has none.
fn is_content(text: &str, language: Language) -> bool {
    !claims(text, language).is_empty() && !has_function_words_alone(text, language)
}

fn has_function_words_alone(text: &str, language: Language) -> bool {
    words(&normalise(text), language).into_iter().all(|word| is_stop_word(word, language))
}

/// A text of function words weighed as it stands.
fn literal(sentence: &str, texts: &[String], language: Language) -> Reading {
    let found = text_with(sentence, texts, language);
    let (verdict, coverage, why) = match found {
        Some(_) => (Verdict::Supported, 1.0, "stands there word for word"),
        None => (Verdict::Unsupported, 0.0, "has no word of its own, and stands nowhere as it is"),
    };
    let best = found.and_then(|at| {
        let there = statements(texts.get(at)?, language);
        let sentence = there.iter().find(|there| text_with(sentence, &[(**there).to_owned()], language).is_some());
        Some((at, sentence.or(there.first()).map_or_else(String::new, |sentence| (*sentence).to_owned())))
    });
    Reading { verdict, best, coverage, why: why.to_owned() }
}

/// The claims of a sentence, each weighed against the contexts.
fn weighed<'a>(
    sentence: &'a str,
    ground: Ground,
    contexts: &[String],
    evidence: &Premises,
    language: Language,
) -> Vec<(&'a str, Reading)> {
    match ground {
        Ground::Content => claims(sentence, language).into_iter().map(|claim| (claim, evidence.weigh(claim))).collect(),
        Ground::Literal => vec![(sentence, literal(sentence, contexts, language))],
    }
}

/// A sentence has the worst verdict of its claims.
fn labels(request: &JudgeRequest) -> Option<Value> {
    Some(json!({"sentences": labelled(request, request.numbered_of("sentences")?)?}))
}

/// The same for a sentence without the others.
fn sentence(request: &JudgeRequest) -> Option<Value> {
    let alone = [request.text_of("sentence")?.to_owned()];
    let label = labelled(request, &alone)?.into_iter().next()?;
    let verdict = label.get("verdict").cloned().unwrap_or_else(|| json!("no_claim"));
    Some(json!({"verdict": verdict, "reason": label.get("reason")}))
}

/// Given claims, each as a sentence without the others; one that states nothing is supported by nothing.
fn confirm(request: &JudgeRequest) -> Option<Value> {
    let mut claims = Vec::new();
    for (at, claim) in request.numbered_of("claims")?.iter().enumerate() {
        let label = labelled(request, std::slice::from_ref(claim))?.into_iter().next()?;
        let verdict = label.get("verdict").cloned().unwrap_or_else(|| json!(Verdict::Unsupported.as_str()));
        claims.push(json!({"n": at + 1, "verdict": verdict, "reason": label.get("reason")}));
    }
    Some(json!({"claims": claims}))
}

fn labelled(request: &JudgeRequest, sentences: &[String]) -> Option<Vec<Value>> {
    let contexts = request.numbered_of("contexts")?;
    let evidence = premises(contexts, request.language);
    Some(entries(sentences, request.language, |_, sentence, ground| {
        let weighed = weighed(sentence, ground, contexts, &evidence, request.language);
        let worst = weighed.into_iter().map(|(_, reading)| reading).max_by_key(|reading| badness(reading.verdict));
        worst.map_or(
            json!({"no_claim": true}),
            |reading| json!({"verdict": reading.verdict.as_str(), "reason": reading.why}),
        )
    }))
}

fn badness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Supported => 0,
        Verdict::Inferred => 1,
        Verdict::Unsupported => 2,
        Verdict::Contradicted => 3,
    }
}

fn faithfulness(request: &JudgeRequest) -> Option<Value> {
    let contexts = request.numbered_of("contexts")?;
    let evidence = premises(contexts, request.language);
    let sentences = entries(request.numbered_of("sentences")?, request.language, |_, sentence, ground| {
        let weighed: Vec<Value> = weighed(sentence, ground, contexts, &evidence, request.language)
            .into_iter()
            .map(|(claim, reading)| {
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
    let sentences = entries(request.numbered_of("sentences")?, request.language, |at, sentence, _| {
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

/// A context is relevant when it states what the question is about: the rule by which it is useful where there is no reference.
fn context_relevancy(request: &JudgeRequest) -> Option<Value> {
    let query = head(request.text_of("query")?);
    let judged = request.numbered_of("contexts")?.iter().enumerate().map(|(at, context)| {
        let about = premises(std::slice::from_ref(context), request.language).coverage_beyond(query, "").unwrap_or(0.0);
        let verdict = if STATES_QUERY <= about { "relevant" } else { "irrelevant" };
        let reason = format!("has {:.0}% of the question's words in one place", about * 100.0);
        json!({"n": at + 1, "verdict": verdict, "reason": reason})
    });
    Some(json!({"contexts": judged.collect::<Vec<_>>()}))
}

const STATES_REFERENCE: f64 = 0.5;
const ABOUT_QUERY: f64 = 0.2;
const STATES_QUERY: f64 = 0.5;

fn context_recall(request: &JudgeRequest) -> Option<Value> {
    let contexts = request.numbered_of("contexts")?;
    let evidence = premises(contexts, request.language);
    let sentences = entries(request.numbered_of("sentences")?, request.language, |_, sentence, ground| {
        let reading = match ground {
            Ground::Content => evidence.weigh(sentence),
            Ground::Literal => literal(sentence, contexts, request.language),
        };
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
    let answers = entries(answer, language, |_, sentence, ground| {
        let (is_correct, reading) = match ground {
            Ground::Content => by_reference.states(query, sentence),
            Ground::Literal => by_reference.has_literally(sentence),
        };
        let mut entry = json!({"verdict": if is_correct { "correct" } else { "wrong" }, "reason": reading.why});
        if let Some((source, _)) = reading.best {
            entry["quote"] = json!(reference.get(source).map_or("", String::as_str));
        }
        entry
    });
    let reference_is_bare = !reference.iter().any(|sentence| is_content(sentence, language));
    let references: Vec<Value> = reference
        .iter()
        .enumerate()
        .map(|(at, sentence)| {
            let (is_covered, _) = if reference_is_bare && !claims::is_empty_talk(sentence) {
                by_answer.has_literally(sentence)
            } else {
                by_answer.states(query, sentence)
            };
            json!({"n": at + 1, "verdict": if is_covered { "covered" } else { "missing" }})
        })
        .collect();
    Some(json!({"answer": answers, "reference": references}))
}

/// The answer or the reference, ready to be asked whether it states a sentence of the other.
struct Side<'a> {
    /// Its sentences.
    sentences: &'a [String],
    language: Language,
    /// Its sentences, each with the question before it.
    with_query: Premises,
    /// Its sentences alone.
    alone: Premises,
}

impl<'a> Side<'a> {
    fn new(query: &str, sentences: &'a [String], language: Language) -> Self {
        let given = query.trim_end_matches(|c: char| !c.is_alphanumeric());
        let with_query: Vec<String> = sentences.iter().map(|sentence| format!("{given}, {sentence}")).collect();
        Self { sentences, language, with_query: premises(&with_query, language), alone: premises(sentences, language) }
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

    /// Whether it has a text of function words as it stands, or answers yes or no as that text does.
    fn has_literally(&self, sentence: &str) -> (bool, Reading) {
        let reading = literal(sentence, self.sentences, self.language);
        let agrees = || {
            let own = claims::yes_or_no(sentence);
            own.is_some() && own == self.alone.first_sentence().and_then(claims::yes_or_no)
        };
        (!self.disagrees(sentence) && (is_stated(&reading) || agrees()), reading)
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
