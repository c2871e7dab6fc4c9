//! A run as several reports show it: what they count, sort and compare, worked out once.

mod metric;
mod refusals;
mod spread;

use std::collections::BTreeMap;

use rageval_runner::{
    model::{
        CaseId, Record,
        background::CaseBackground,
        run::{Conclusion, Decision, Finding, FindingLevel, Ruling, Run},
    },
    report::{console::text::visible, worst},
};

pub(crate) use self::{
    metric::{MetricView, SliceView},
    refusals::Refusals,
    spread::Spread,
};

/// A run as reports show it.
#[derive(Debug)]
pub(crate) struct View<'r> {
    /// The run.
    pub(crate) run: &'r Run,
    /// What it came to.
    pub(crate) conclusion: Conclusion,
    /// Every case that has a record or stands in the set: red ones first, then in the order of the set.
    pub(crate) cases: Vec<CaseView<'r>>,
    /// Decisions about the set-up, trust and gates that are red: the worst first.
    pub(crate) red_gates: Vec<&'r Decision>,
    /// Gates that could say too little and pass.
    pub(crate) inconclusive: Vec<&'r Decision>,
    /// Each metric, in the order of the names.
    pub(crate) metrics: Vec<MetricView<'r>>,
    /// Answered or declined, against what was right.
    pub(crate) refusals: Refusals<'r>,
    /// How long the system took for each answer that tells, in milliseconds.
    pub(crate) latency_ms: Option<Spread>,
    /// What the system's answers cost, in US dollars, where they tell.
    pub(crate) cost_usd: Option<Spread>,
    /// Tokens of the system's answers, where they tell.
    pub(crate) tokens: Option<Spread>,
    /// Every notice of the run and of its decisions, once each.
    pub(crate) notices: Vec<&'r str>,
}

/// One case with all that the run says of it.
#[derive(Debug)]
pub(crate) struct CaseView<'r> {
    /// Its id.
    pub(crate) id: &'r CaseId,
    /// What stands in the golden set; `None` in runs of older versions.
    pub(crate) golden: Option<&'r CaseBackground>,
    /// What was asked and measured; `None` where the run did not come to it.
    pub(crate) record: Option<&'r Record>,
    /// What was decided; `None` where its trial did not run.
    pub(crate) decision: Option<&'r Decision>,
}

impl<'r> CaseView<'r> {
    /// Whether it makes the run red.
    pub(crate) fn is_red(&self) -> bool {
        self.decision.is_some_and(|decision| decision.ruling.is_red())
    }

    /// The findings that make it red.
    pub(crate) fn red_findings(&self) -> impl Iterator<Item = &'r Finding> {
        let findings = self.decision.iter().flat_map(|decision| &decision.findings);
        findings.filter(|finding| finding.level == FindingLevel::Red)
    }

    /// Its word in a list: `failed`, `undecided`, `passed`, `inconclusive`, `known failure`, `not run`.
    pub(crate) fn state(&self) -> &'static str {
        let Some(decision) = self.decision else { return "not run" };
        let is_known = || {
            let findings = &decision.findings;
            findings.iter().any(|finding| finding.level == FindingLevel::Known && finding.bar.is_some())
        };
        match decision.ruling {
            Ruling::Fail => "failed",
            Ruling::Undecided => "undecided",
            Ruling::Inconclusive => "inconclusive",
            Ruling::Pass if is_known() => "known failure",
            Ruling::Pass => "passed",
        }
    }

    /// Whether its answers or verdicts differed among repeats or readings of this run.
    pub(crate) fn is_flaky(&self) -> bool {
        self.record.is_some_and(spread::is_flaky)
    }

    /// Whether the baseline holds it with the same question and right answer, so that scores can be compared.
    pub(crate) fn is_paired(&self) -> bool {
        let accepted = self.golden.and_then(|golden| golden.accepted.as_ref());
        accepted.zip(self.record).is_some_and(|(accepted, record)| accepted.digest == record.digest)
    }
}

impl<'r> View<'r> {
    /// Works it out.
    pub(crate) fn of(run: &'r Run) -> Self {
        let cases = cases(run);
        let inconclusive =
            run.decisions.iter().filter(|decision| !decision.is_of_case() && decision.ruling == Ruling::Inconclusive);
        let samples = || run.records.iter().flat_map(Record::samples);
        let mut notices: Vec<&str> = Vec::new();
        let of_decisions = run.decisions.iter().flat_map(|decision| &decision.notices);
        for notice in run.background.notices.iter().chain(of_decisions) {
            if !notices.contains(&notice.as_str()) {
                notices.push(notice);
            }
        }
        Self {
            conclusion: run.conclusion(),
            red_gates: worst::gates(&run.decisions),
            inconclusive: inconclusive.collect(),
            metrics: metric::metrics(run, &cases),
            refusals: Refusals::of(&cases),
            latency_ms: Spread::of(samples().filter_map(|sample| sample.latency_ms)),
            cost_usd: Spread::of(samples().filter_map(|sample| sample.answer.cost_usd)),
            tokens: Spread::of(samples().filter_map(|sample| sample.answer.usage).map(|usage| usage.total() as f64)),
            notices,
            cases,
            run,
        }
    }

    /// Whether something is missing, so that nothing is concluded of the golden set unless something failed.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.run.is_partial() || self.run.decisions.is_empty() || !self.run.holes().is_empty()
    }

    /// The last day of the waiver of something, where one holds: `2027-01-31`.
    pub(crate) fn waived_until(&self, what: &str) -> Option<&'r str> {
        let of = |waiver: &'r String| waiver.strip_prefix(what)?.strip_prefix(" until ")?.split(": ").next();
        let is_day = |day: &&str| day.len() == 10 && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        self.run.background.waivers.iter().filter_map(of).find(is_day)
    }

    /// The cases that make the run red.
    pub(crate) fn red_cases(&self) -> impl Iterator<Item = &CaseView<'r>> {
        self.cases.iter().filter(|case| case.is_red())
    }

    /// The first line of every report: what the run came to, over how many cases.
    ///
    /// `failed: 3 of 60 cases and 2 gates`, `passed: 60 cases and 12 gates; inconclusive: 2 gates`; a partial run says that it is one and never `passed` alone.
    pub(crate) fn headline(&self) -> String {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let total = self.cases.len();
        let of_cases = |ruling: Ruling| {
            self.cases.iter().filter(|case| case.decision.is_some_and(|decision| decision.ruling == ruling)).count()
        };
        let gates = || self.run.decisions.iter().filter(|decision| !decision.is_of_case());
        let of_gates = |ruling: Ruling| gates().filter(|decision| decision.ruling == ruling).count();
        let parts = |ruling: Ruling| {
            let cases = Some(of_cases(ruling)).filter(|n| *n > 0).map(|n| format!("{n} of {}", count(total, "case")));
            let gates = Some(of_gates(ruling)).filter(|n| *n > 0).map(|n| count(n, "gate"));
            cases.into_iter().chain(gates).collect::<Vec<_>>().join(" and ")
        };
        let mut clauses = Vec::new();
        for (ruling, word) in [(Ruling::Fail, "failed"), (Ruling::Undecided, "undecided")] {
            let told = parts(ruling);
            if !told.is_empty() {
                clauses.push(format!("{word}: {told}"));
            }
        }
        if clauses.is_empty() {
            let word = self.conclusion.as_str();
            let cases = if total == 0 { "no cases".to_owned() } else { count(total, "case") };
            let passed = of_gates(Ruling::Pass);
            let is_passed = self.conclusion == Conclusion::Pass;
            let gates = if is_passed && passed > 0 { format!(" and {}", count(passed, "gate")) } else { String::new() };
            clauses.push(format!("{word}: {cases}{gates}"));
            let inconclusive = parts(Ruling::Inconclusive);
            if is_passed && !inconclusive.is_empty() {
                clauses.push(format!("inconclusive: {inconclusive}"));
            }
        }
        if self.run.is_partial() {
            let ran = self.cases.iter().filter(|case| case.record.is_some()).count();
            let why = self.run.manifest.partial.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
            clauses.push(format!("partial: {ran} of {} ran{why}", count(self.run.manifest.golden_set.cases, "case")));
        }
        if let Some((first, rest)) = self.run.holes().split_first() {
            let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
            clauses.push(format!("incomplete: {}{more}", visible(first)));
        }
        clauses.join("; ")
    }
}

/// Every case of the set and of the records: red ones first, then in the order of the set.
fn cases(run: &Run) -> Vec<CaseView<'_>> {
    let mut records: BTreeMap<&CaseId, &Record> = run.records.iter().map(|record| (&record.case, record)).collect();
    let decisions: BTreeMap<&str, &Decision> =
        run.decisions.iter().map(|decision| (decision.trial.as_str(), decision)).collect();
    let of_set = run.cases.iter().map(|golden| CaseView {
        id: &golden.case,
        golden: Some(golden),
        record: records.remove(&golden.case),
        decision: decisions.get(golden.trial.as_str()).copied(),
    });
    let mut cases: Vec<CaseView<'_>> = of_set.collect();
    // Runs of older versions tell a case's trial by its end alone.
    let by_id: BTreeMap<&str, &Decision> = run
        .decisions
        .iter()
        .filter(|decision| decision.is_of_case())
        .filter_map(|decision| Some((decision.trial.splitn(3, "::").nth(2)?, decision)))
        .collect();
    cases.extend(records.into_values().map(|record| CaseView {
        id: &record.case,
        golden: None,
        record: Some(record),
        decision: by_id.get(record.case.as_str()).copied(),
    }));
    let rank = |case: &CaseView<'_>| match case.decision.map(|decision| decision.ruling) {
        Some(Ruling::Fail) => 0,
        Some(Ruling::Undecided) => 1,
        Some(Ruling::Pass | Ruling::Inconclusive) | None => 2,
    };
    cases.sort_by_key(rank);
    cases
}

#[cfg(test)]
mod tests;
