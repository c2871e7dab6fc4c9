//! What a gate that did not pass prints.

use super::text::{line, run_alone, whole_line};

/// Cases that a gate names.
pub const MOST_CASES: usize = 8;

/// What a gate that did not pass says, before it is laid out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateText {
    /// What was found, in one sentence with its numbers.
    pub headline: String,
    /// Aggregates, counts and what to know about them.
    pub facts: Vec<String>,
    /// What the cases are: `the lowest 6 of 57`.
    pub cases_are: String,
    /// The cases, worst first, already as text.
    pub cases: Vec<String>,
    /// What to do; empty where there is nothing to accept.
    pub accept: String,
    /// How much of it is said.
    pub extent: Extent,
}

/// How much a gate says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// All that is known.
    #[default]
    Whole,
    /// The headline: `gate::setup` says the rest.
    OneLine,
}

/// Lays a gate's text out: the word of the ruling, the facts, the cases worst first, how to look closer, how to accept.
pub fn lines(label: &str, text: &GateText, trial: &str, target: &str) -> Vec<String> {
    let mut lines = vec![line(label, &text.headline)];
    match text.extent {
        Extent::Whole => {}
        Extent::OneLine => return lines,
    }
    lines.extend(text.facts.iter().map(|fact| line("", fact)));
    if !text.cases.is_empty() {
        lines.push(line("cases", &text.cases_are));
        lines.extend(text.cases.iter().take(MOST_CASES).map(|case| line("", case)));
        if text.cases.len() > MOST_CASES {
            lines.push(line("", &format!("and {} more", text.cases.len() - MOST_CASES)));
        }
    }
    lines.push(whole_line("look", &run_alone(target, trial)));
    if !text.accept.is_empty() {
        lines.push(line("accept", &text.accept));
    }
    lines
}
