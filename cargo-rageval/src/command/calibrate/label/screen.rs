//! What a person sees of an item: question, evidence and claim, and nothing of what a judge said.

use rageval_runner::{
    model::{Human, Item, MetricKey},
    report::console::text::{lines_of, score, visible},
};

/// Characters of a text that are laid out at once: fewer than a line of a report reads, so that nothing of an item is cut.
const PIECE: usize = 1_000;

/// How a sitting starts.
pub(super) fn start(metric: &MetricKey, all: usize, before: usize, takes_verdicts: bool) -> Vec<String> {
    let what = if takes_verdicts { "claims" } else { "answers" };
    let done = if before == 0 { String::new() } else { format!(", {before} of them labelled before") };
    vec![format!("{}: {all} {what}{done}", visible(&metric.to_string()))]
}

/// The keys with what they mean.
pub(super) fn help(takes_verdicts: bool) -> Vec<String> {
    let labels: &[&str] = if takes_verdicts {
        &[
            "  s  supported     the evidence states it, in these or other words",
            "  i  inferred      the evidence does not state it, but it follows for certain",
            "  u  unsupported   the evidence says nothing of it, or too little",
            "  c  contradicted  the evidence says what can't be true together with it: another number, date, name, the opposite",
            "     Only the evidence counts, not what you know. A claim that is right in part is not supported.",
        ]
    } else {
        &["  1  wrong, or nothing of it   2  mostly wrong   3  half   4  mostly right   5  right"]
    };
    let keys = [
        "  k  skip          it is asked again next time",
        "  z  take back     the last label, and return to its item",
        "  n  note          a line that is kept with the next label",
        "  ?  help          this    q  quit    what is labelled is kept",
    ];
    labels.iter().chain(&keys).map(|line| (*line).to_owned()).collect()
}

/// What is asked for.
pub(super) fn prompt(takes_verdicts: bool) -> String {
    let keys = if takes_verdicts { "s/i/u/c" } else { "1-5" };
    format!("{keys}, k/z/n/?/q > ")
}

/// What was said, as it was kept.
pub(super) fn said(human: Human) -> String {
    match human {
        Human::Verdict(verdict) => verdict.as_str().to_owned(),
        Human::Score(number) => format!("score {}", score(number.get())),
    }
}

/// One item, whole: nothing that decides may be cut off.
pub(super) fn item(item: &Item, number: usize, of: usize) -> Vec<String> {
    let mut lines = vec![String::new(), format!("---- {number} of {of} ----")];
    lines.extend(whole("question", &item.case.query));
    // A claim is held against the evidence alone, and a reference beside it would tell what to say.
    for reference in item.case.references.iter().filter(|_| item.claim.is_none()) {
        lines.extend(whole("reference", reference));
    }
    for (at, context) in item.sample.answer.retrieved_contexts.iter().enumerate() {
        lines.extend(whole(&format!("evidence {}", at + 1), &context.text));
    }
    if item.sample.answer.retrieved_contexts.is_empty() {
        lines.push("evidence    none was retrieved".to_owned());
    }
    match &item.claim {
        Some(claim) => lines.extend(whole("claim", claim)),
        None => lines.extend(whole("answer", &item.sample.answer.response)),
    }
    lines
}

/// A text under a label, line by line, with everything in it that a terminal would obey made inert.
fn whole(label: &str, text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut rest = paragraph;
        while !rest.is_empty() {
            let end = rest.char_indices().nth(PIECE).map_or(rest.len(), |(at, _)| at);
            let (piece, behind) = rest.split_at(end);
            let label = if lines.is_empty() { label } else { "        |" };
            lines.extend(lines_of(label, piece, usize::MAX));
            rest = behind;
        }
    }
    if lines.is_empty() {
        lines.push(format!("{label:<12}(blank)"));
    }
    lines
}
