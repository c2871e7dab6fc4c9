//! `JUnit` XML: one testcase a trial, failures apart from what could not be decided, which is an error.
//!
//! Any text is valid XML: terminal sequences go whole, and so do characters that XML does not know.

use std::{
    io::{self, Write},
    time::Duration,
};

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use rageval_runner::{
    model::run::{Decision, FindingLevel, Ruling, Run},
    report::console::text::visible,
};

use super::{
    Input,
    view::{CaseView, View},
    why,
};

/// Writes it.
pub(crate) fn render(input: &Input<'_>, out: &mut dyn Write) -> io::Result<()> {
    let view = &input.view;
    let mut suite = TestSuite::new(visible(view.run.manifest.target.as_deref().unwrap_or("rageval")));
    suite.add_properties(properties(view.run));
    suite.add_test_cases(incomplete(view));
    suite.add_test_cases(view.cases.iter().map(of_case));
    let gates = view.run.decisions.iter().filter(|decision| !decision.is_of_case());
    suite.add_test_cases(gates.map(|decision| test_case(&decision.trial, "gates", decision, None)));
    let mut report = Report::new("rageval");
    report.add_test_suite(suite);
    report.serialize(out).map_err(io::Error::other)
}

/// What the scores depend on.
fn properties(run: &Run) -> Vec<Property> {
    let manifest = &run.manifest;
    let all = [
        ("run", Some(manifest.run_id.as_str())),
        ("rageval", Some(manifest.rageval.as_str())),
        ("golden_set", Some(manifest.golden_set.digest.as_str())),
        ("judge.provider", Some(manifest.judge.provider.as_str())),
        ("judge.model", Some(manifest.judge.model.as_str())),
        ("judge.fingerprint", Some(manifest.judge.fingerprint.as_str())),
        ("system", Some(manifest.system.kind.as_str())),
        ("system.generator", manifest.system.generator.as_deref()),
        ("policy", Some(manifest.policy_digest.as_str())),
        ("git_revision", manifest.git_revision.as_deref()),
    ];
    all.into_iter().filter_map(|(name, value)| Some(Property::new(name, visible(value?)))).collect()
}

/// What is wrong with the run as a whole, which no trial says: something is missing.
fn incomplete(view: &View<'_>) -> Option<TestCase> {
    view.is_incomplete().then(|| {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("partial").set_message(visible(&view.headline()));
        let mut test_case = TestCase::new("the run is whole", status);
        test_case.set_classname("gates");
        test_case
    })
}

fn of_case(case: &CaseView<'_>) -> TestCase {
    let file = case.golden.map_or("cases", |golden| golden.place.file.as_str());
    let Some(decision) = case.decision else {
        let mut status = TestCaseStatus::skipped();
        status.set_message("not run");
        let mut test_case = TestCase::new(visible(case.id.as_str()), status);
        test_case.set_classname(visible(file));
        return test_case;
    };
    let mut test_case = test_case(case.id.as_str(), file, decision, case.golden.map(|golden| golden.place.to_string()));
    let latency = case.record.and_then(|record| record.sample()?.latency_ms);
    let seconds = latency.and_then(|latency| Duration::try_from_secs_f64(latency / 1000.0).ok());
    if let Some(seconds) = seconds {
        test_case.set_time(seconds);
    }
    test_case
}

fn test_case(name: &str, class: &str, decision: &Decision, place: Option<String>) -> TestCase {
    let mut status = match decision.ruling {
        Ruling::Pass => TestCaseStatus::success(),
        Ruling::Inconclusive => TestCaseStatus::skipped(),
        Ruling::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Ruling::Undecided => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    if decision.ruling != Ruling::Pass {
        status.set_message(message(decision)).set_type(kind(decision));
        let lines = decision.lines.iter().map(|line| why::line(line));
        status.set_description(lines.collect::<Vec<_>>().join("\n"));
    }
    let mut test_case = TestCase::new(visible(name), status);
    test_case.set_classname(visible(class));
    if let Some(place) = place {
        test_case.add_property(Property::new("place", visible(&place)));
    }
    for notice in &decision.notices {
        test_case.add_property(Property::new("notice", visible(notice)));
    }
    test_case
}

/// Every finding that makes it red, with the first claim that failed; of a gate its statistic.
fn message(decision: &Decision) -> String {
    let red = decision.findings.iter().filter(|finding| finding.level == FindingLevel::Red);
    let mut parts: Vec<String> = red.map(|finding| visible(&finding.text)).collect();
    if parts.is_empty() {
        parts.push(why::reason(decision));
    }
    let judged = |line: &&String| ["claim ", "context ", "reference "].iter().any(|label| line.starts_with(label));
    parts.extend(decision.lines.iter().find(judged).map(|line| visible(line)));
    parts.join("; ")
}

/// What is found, as a word that a dashboard can count.
fn kind(decision: &Decision) -> &'static str {
    use rageval_runner::model::run::FindingKind::{Incomparable, MaxDrop, Min, Recovered, Unmeasured};
    let red = decision.findings.iter().find(|finding| finding.level == FindingLevel::Red);
    match (red.map(|finding| finding.kind), decision.ruling) {
        (Some(Min), _) => "min",
        (Some(MaxDrop), _) => "max_drop",
        (Some(Unmeasured), _) => "unmeasured",
        (Some(Incomparable), _) => "incomparable",
        (Some(Recovered), _) => "recovered",
        (None, _) if decision.snapshot.is_some() => "snapshot",
        (None, Ruling::Undecided) => "undecided",
        (None, Ruling::Inconclusive) => "inconclusive",
        (None, Ruling::Fail | Ruling::Pass) => "gate",
    }
}
