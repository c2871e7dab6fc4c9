//! The explanation for people.

mod asked;
mod measured;

use rageval_runner::{
    model::Expectation,
    report::console::{
        shell,
        text::{bar, score, visible, whole_block, whole_line, whole_lines_of},
    },
};

use super::account::{Came, Explanation, OfAnswer, OfCase, OfContext};

/// Characters of a text that are printed without `--full`.
const CUT: usize = 600;

/// The same of a prompt or a reply.
const CUT_OF_BLOCK: usize = 2_400;

/// The label of a line that belongs to the one above.
const CONTINUED: &str = "          |";

/// Contexts that are printed without `--full`.
const MOST_CONTEXTS: usize = 10;

/// Lines under labels, texts from outside cut unless all is wanted.
pub(super) struct Page {
    lines: Vec<String>,
    full: bool,
}

impl Page {
    /// A text under a label, broken into lines.
    fn text(&mut self, label: &str, text: &str) {
        let text = self.cut(text);
        // A line from outside that stood alone could be a command of a build server.
        let label = if label.is_empty() { CONTINUED } else { label };
        self.lines.extend(whole_lines_of(label, &text));
    }

    /// A line that is never broken: a path, a command.
    fn whole(&mut self, label: &str, text: &str) {
        self.lines.push(whole_line(label, text));
    }

    /// A text whose line breaks count.
    fn block(&mut self, label: &str, text: &str) {
        let text = self.cut_to(text, CUT_OF_BLOCK);
        let mut lines = whole_block(&text);
        if let Some(first) = lines.first_mut()
            && let Some(rest) = first.get(label.len()..)
            && first.is_char_boundary(label.len())
        {
            *first = format!("{label}{rest}");
        }
        self.lines.extend(lines);
    }

    fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// A text that is too long for a screen, with how much of it is left out.
    fn cut(&self, text: &str) -> String {
        self.cut_to(text, CUT)
    }

    fn cut_to(&self, text: &str, most: usize) -> String {
        let all = text.chars().count();
        if self.full || all <= most + most / 4 {
            return text.to_owned();
        }
        let kept: String = text.chars().take(most).collect();
        format!("{}… ({most} of {all} characters; all with --full)", kept.trim_end())
    }
}

/// What is printed.
pub(super) fn lines(explanation: &Explanation, full: bool) -> Vec<String> {
    let mut page = Page { lines: Vec::new(), full };
    for notice in &explanation.notices {
        page.text("notice", notice);
    }
    page.gap();
    of_case(&mut page, explanation);
    page.gap();
    match &explanation.came {
        Came::Answer(answer) => of_answer(&mut page, answer),
        Came::Failed { fault, advice } => {
            page.text("came", &format!("nothing: {}: {}", fault.cause, fault.why));
            if let Some(advice) = advice {
                page.text("do", advice);
            }
        }
    }
    match &explanation.requests {
        None => {
            of_decision(&mut page, explanation);
            for metric in &explanation.metrics {
                page.gap();
                measured::short(&mut page, metric);
            }
            page.gap();
            let id = shell::quoted(&explanation.id);
            let metric =
                explanation.metrics.first().map_or_else(|| "METRIC".to_owned(), |metric| metric.metric.to_string());
            page.whole("one metric", &format!("cargo rageval explain {id} {metric}"));
        }
        Some(requests) => {
            for metric in &explanation.metrics {
                page.gap();
                measured::long(&mut page, metric);
            }
            asked::requests(&mut page, requests, &explanation.came);
        }
    }
    page.lines
}

fn of_case(page: &mut Page, explanation: &Explanation) {
    match &explanation.case {
        None => page.whole("case", &explanation.id),
        Some(case) => {
            page.whole(
                "case",
                &format!(
                    "{} ({}{})",
                    explanation.id,
                    case.place,
                    if case.changed_since { ", changed since the run" } else { "" }
                ),
            );
            page.text("question", &case.query);
            expected(page, case);
        }
    }
    let run = &explanation.run;
    let commit = run.git_revision.as_deref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
    page.whole("run", &format!("{} ({}{commit})", run.file, run.id));
    page.whole("judge", &format!("{} of {}", run.judge.model, run.judge.provider));
}

fn expected(page: &mut Page, case: &OfCase) {
    match (case.expectation, case.references.as_slice()) {
        (Expectation::Refuse, _) => page.text("expected", "that it declines to answer"),
        (Expectation::Answer, []) => page.text("expected", "an answer; no reference says which"),
        (Expectation::Answer, references) => {
            for (reference, n) in references.iter().zip(1..) {
                page.text(if n == 1 { "expected" } else { "or" }, reference);
            }
        }
    }
    match case.relevant.as_deref() {
        None => page.text("relevant", "the case names no documents"),
        Some(judgements) => {
            let named = judgements.iter().map(|one| match one.grade {
                1.0 => one.id.as_str().to_owned(),
                grade => format!("{} (grade {grade})", one.id.as_str()),
            });
            let named: Vec<String> = named.collect();
            page.text("relevant", &if named.is_empty() { "none".to_owned() } else { named.join(", ") });
        }
    }
    if let Some(known) = &case.known_failure {
        let metrics: Vec<String> = known.metrics.iter().map(ToString::to_string).collect();
        page.text("known", &format!("it is known to fail in {}: {}", metrics.join(", "), known.reason));
    }
}

fn of_answer(page: &mut Page, answer: &OfAnswer) {
    if let Some((shown, all)) = answer.repeat {
        page.text("repeats", &format!("asked {all} times; the answer below is number {shown}"));
    }
    page.text("answer", if answer.response.trim().is_empty() { "(blank)" } else { &answer.response });
    let by = if answer.refused.is_some() { "by the system's own flag" } else { "by the text detector" };
    page.text("refusal", &format!("{}, {by}", if answer.is_refusal { "yes" } else { "no" }));
    let mut facts = Vec::new();
    facts.extend(answer.latency_ms.map(|ms| format!("{ms:.0} ms")));
    facts.extend(
        answer.usage.map(|usage| format!("{} tokens read, {} written", usage.input_tokens, usage.output_tokens)),
    );
    facts.extend(answer.cost_usd.map(|usd| format!("{usd} US dollars")));
    facts.extend(answer.generator.as_ref().map(|model| format!("written by {model}")));
    if !facts.is_empty() {
        page.text("took", &facts.join("; "));
    }
    if answer.contexts.is_empty() {
        page.text("contexts", "none came back");
    }
    let most = if page.full { usize::MAX } else { MOST_CONTEXTS };
    for context in answer.contexts.iter().take(most) {
        page.text(&format!("context {}", context.rank), &of_context(context));
    }
    let more = answer.contexts.len().saturating_sub(most);
    if more > 0 {
        page.text("contexts", &format!("and {more} more; all with --full"));
    }
}

fn of_context(context: &OfContext) -> String {
    let id = context.id.as_ref().map_or("(no id)", |id| id.as_str());
    let mut facts = Vec::new();
    facts.extend(
        context
            .grade
            .map(|grade| if grade == 1.0 { "relevant".to_owned() } else { format!("relevant, grade {grade}") }),
    );
    facts.extend(context.score.map(|number| format!("score {}", score(number))));
    let facts = if facts.is_empty() { String::new() } else { format!(" [{}]", facts.join("; ")) };
    let text = if context.text.trim().is_empty() { "(blank, which counts as none)" } else { &context.text };
    format!("{id}{facts}: {text}")
}

fn of_decision(page: &mut Page, explanation: &Explanation) {
    page.gap();
    let Some(decision) = &explanation.decision else {
        page.text("decision", "none in the run: the case's own trial did not run");
        return;
    };
    let word = match decision.ruling {
        rageval_runner::model::run::Ruling::Pass => "pass",
        rageval_runner::model::run::Ruling::Fail => "FAIL",
        rageval_runner::model::run::Ruling::Inconclusive => "inconclusive, which passes",
        rageval_runner::model::run::Ruling::Undecided => "UNDECIDED, which is red",
    };
    page.whole("decision", &format!("{word} ({})", decision.trial));
    if let Some(snapshot) = &decision.snapshot {
        page.text("snapshot", &snapshot.why);
        page.lines.extend(whole_block(&snapshot.diff.join("\n")));
    }
}

/// A bar in the words of thresholds.yaml.
fn bar_of(name: &str, value: Option<rageval_runner::model::UnitInterval>) -> Option<String> {
    value.map(|value| format!("{name} {}", bar(value.get())))
}

/// Text of our own with names from outside in it.
fn shown(text: &str) -> String {
    visible(text)
}
