//! Composes an answer from sentences of what was retrieved.

use std::collections::BTreeSet;

use super::language::Language;
use super::retrieve::{Hit, Index, article};

/// An answer has at most this many sentences.
const SENTENCES: usize = 3;

/// Documents below this rank give no sentences.
const READ: usize = 3;

/// A further sentence joins when it adds at least this share of the question.
const ADDS: f64 = 0.12;

/// One to three sentences that share the most telling words with the question; `None` when what was
/// found has too little to do with it.
pub(crate) fn answer(index: &Index, query: &BTreeSet<String>, hits: &[Hit]) -> Option<String> {
    fits(index, query, hits).then(|| best_sentences(index, query, hits))
}

/// Whether the best documents speak of the question: of a fair share of a short one, or of enough of a long one.
fn fits(index: &Index, query: &BTreeSet<String>, hits: &[Hit]) -> bool {
    const FAIR_SHARE: f64 = 0.30;
    // Chinese scores are higher because each pair of characters counts beside its characters.
    let enough = match index.language {
        Language::English | Language::Portuguese => 5.5,
        Language::Chinese => 9.0,
    };
    hits.iter().any(|hit| enough <= hit.score || FAIR_SHARE <= coverage(index, query, &article(hit.document)))
}

/// The best sentences whatever they are worth; empty when nothing was retrieved.
///
/// The first is the best one; each further one must speak of something that those before did not.
pub(crate) fn best_sentences(index: &Index, query: &BTreeSet<String>, hits: &[Hit]) -> String {
    let mut candidates = candidates(index, query, hits);
    let mut open = query.clone();
    let mut chosen = Vec::new();
    while chosen.len() < SENTENCES && !candidates.is_empty() {
        let score = |candidate: &Candidate| {
            let by_title = if chosen.is_empty() { 0.2 * candidate.by_title } else { 0.0 };
            candidate.by_rank * (index.weight_of(open.intersection(&candidate.tokens)) + by_title)
        };
        let (at, best) = candidates
            .iter()
            .map(score)
            .enumerate()
            .rev()
            .max_by(|(_, left), (_, right)| left.total_cmp(right))
            .expect("not empty");
        if !chosen.is_empty() && best < ADDS * index.weight_of(query) {
            break;
        }
        let candidate = candidates.remove(at);
        open.retain(|token| !candidate.tokens.contains(token));
        chosen.push(candidate);
    }
    chosen.sort_by_key(|candidate| candidate.place);
    let sentences: Vec<&str> = chosen.iter().map(|candidate| candidate.sentence).collect();
    sentences.join(index.language.sentence_gap())
}

struct Candidate {
    sentence: &'static str,
    tokens: BTreeSet<String>,
    /// Rank of the document, then position in it.
    place: (usize, usize),
    /// How good its document is compared with the best one, 0 to 1.
    by_rank: f64,
    /// The weight of what the title shares with the question.
    by_title: f64,
}

fn candidates(index: &Index, query: &BTreeSet<String>, hits: &[Hit]) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for (rank, hit) in hits.iter().take(READ).enumerate() {
        let document = hit.document;
        let title: BTreeSet<String> = index.language.tokens(document.title).into_iter().collect();
        for (position, sentence) in index.language.sentences(&document.text).into_iter().enumerate() {
            candidates.push(Candidate {
                sentence,
                tokens: index.language.tokens(sentence).into_iter().collect(),
                place: (rank, position),
                by_rank: f64::from(hit.score / hits[0].score),
                by_title: index.weight_of(query.intersection(&title)),
            });
        }
    }
    candidates
}

/// The share of the question that a text speaks of, by weight, 0 to 1.
fn coverage(index: &Index, query: &BTreeSet<String>, text: &str) -> f64 {
    let tokens: BTreeSet<String> = index.language.tokens(text).into_iter().collect();
    let total = index.weight_of(query);
    if total == 0.0 {
        return 0.0;
    }
    index.weight_of(query.intersection(&tokens)) / total
}
