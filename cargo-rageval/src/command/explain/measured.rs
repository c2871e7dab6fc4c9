//! One metric of one case: its outcome with the formula and the numbers, its rule, its baseline, and what was read again.

use rageval_runner::{
    gate::{
        Basis, CaseFindings,
        rule::{Level, MetricRule, SetRules},
    },
    metric::{self, Input, Metric, Params, Step, worked},
    model::{
        AskedOf, Exchange, GoldenCase, MetricKey, Outcome, Readings, Record, Sample, Taken, Transcript, UnitInterval,
        background::CaseBackground,
        decision::{Finding, FindingKind, FindingLevel},
        run::{Decision, Run},
    },
    report::console::{
        case::bar_text,
        text::{bar, score},
    },
};
use serde::Serialize;

use super::{account::in_a_word, advice, surroundings::Surroundings};

/// Rounds of asking after which a metric is taken to be unable to finish.
const MOST_ROUNDS: usize = 64;

/// One metric of the case.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) metric: MetricKey,
    /// What it measures, in one sentence; `None` for a metric of the test binary.
    pub(super) about: Option<String>,
    /// The formula in words and signs; `None` for a metric that does not say.
    pub(super) formula: Option<&'static str>,
    /// The first reading; of a repeated case reduced from its repeats.
    pub(super) outcome: Outcome,
    /// What further readings settled, where that is another outcome.
    pub(super) settled: Option<Outcome>,
    /// The formula with its numbers, a line each.
    pub(super) worked: Vec<String>,
    /// What to do about an outcome without a score, or why there is nothing to do.
    pub(super) advice: Option<&'static str>,
    /// Each repeat, where the case was asked several times.
    pub(super) repeats: Vec<OfRepeat>,
    /// Rules that hold for the case.
    pub(super) rule: Option<OfRule>,
    /// The accepted score, or why there is none.
    pub(super) baseline: OfBaseline,
    /// Further readings, where there are any.
    pub(super) readings: Option<Readings>,
}

/// One repeat of a metric.
#[derive(Debug, Serialize)]
pub(super) struct OfRepeat {
    pub(super) number: usize,
    pub(super) outcome: Outcome,
    pub(super) worked: Vec<String>,
}

/// The rules on one metric of one case.
#[derive(Debug, Serialize)]
pub(super) struct OfRule {
    /// Where they stand.
    pub(super) places: Vec<String>,
    pub(super) min: Option<UnitInterval>,
    pub(super) max_drop: Option<UnitInterval>,
    pub(super) level: Level,
    /// Rules over many cases in which this score counts: `mean min 0.80`.
    pub(super) counts_in: Vec<String>,
    /// What the rules on the case say of it.
    pub(super) says: Says,
    /// The same in a sentence.
    pub(super) why: String,
}

/// What the rules on one case say of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Says {
    /// It makes the case red.
    Fails,
    /// It is unmeasured, or a drop can't be decided: red.
    Undecided,
    /// A rule is broken that only warns.
    Warns,
    /// A rule is broken, and the case is known to fail.
    KnownFailure,
    /// Every rule on the case holds.
    Holds,
    /// No rule on single cases.
    Nothing,
}

impl Says {
    /// What the run found.
    fn of(finding: &Finding) -> Self {
        match (finding.level, finding.kind) {
            (FindingLevel::Warned, _) => Self::Warns,
            (FindingLevel::Known, _) => Self::KnownFailure,
            (FindingLevel::Red, FindingKind::Min | FindingKind::MaxDrop) => Self::Fails,
            (FindingLevel::Red, FindingKind::Unmeasured | FindingKind::Incomparable | FindingKind::Recovered) => {
                Self::Undecided
            }
        }
    }
}

/// The accepted score.
#[derive(Debug, Serialize)]
#[serde(tag = "baseline", rename_all = "snake_case")]
pub(super) enum OfBaseline {
    /// It can be compared.
    Accepted { outcome: Outcome },
    /// It can't, or there is none.
    None { why: String },
    /// There is no baseline at all, for no metric.
    Nowhere,
}

/// What one case is explained by.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) record: &'a Record,
    pub(super) run: &'a Run,
    /// What the run keeps of the golden case.
    pub(super) of_run: Option<&'a CaseBackground>,
    pub(super) decision: Option<&'a Decision>,
    /// The golden case, where it is the one that was measured.
    pub(super) case: Option<&'a GoldenCase>,
    pub(super) here: &'a Surroundings,
    pub(super) basis: Option<&'a Basis<'a>>,
    pub(super) findings: Option<&'a CaseFindings>,
}

impl<'a> Scene<'a> {
    /// One metric of the record.
    pub(super) fn measured(&self, key: &MetricKey) -> Measured {
        let first = &self.record.outcomes[key];
        let settled = self.record.settled(key).filter(|settled| *settled != first);
        let outcome = settled.unwrap_or(first);
        let metric = metric::find(key.name());
        let formula = metric.map(|metric| metric.formula(&self.params(key)).text).filter(|text| !text.is_empty());
        let worked = match self.record.is_repeated() {
            true => reduced(outcome, self.each(key)),
            false => self.worked(key, &self.record.taken, &self.record.transcript, outcome),
        };
        Measured {
            metric: key.clone(),
            about: metric.map(|metric| metric.about().to_owned()),
            formula,
            outcome: first.clone(),
            settled: settled.cloned(),
            worked,
            advice: advice_on(outcome),
            repeats: self.repeats(key),
            rule: self.rule(key, outcome),
            baseline: self.baseline(key),
            readings: self.record.readings.get(key).cloned(),
        }
    }

    /// The metric's parameters for this case, as they stand here.
    pub(super) fn params(&self, key: &MetricKey) -> Params {
        let rules = self.here.policy.as_ref().map(|policy| &policy.rules);
        rules.zip(self.case).map(|(rules, case)| rules.params_of(case, key)).unwrap_or_default()
    }

    /// Who judges the metric, as it stands here.
    pub(super) fn judge_of(&self, key: &MetricKey) -> AskedOf {
        let rules = self.here.policy.as_ref().map(|policy| &policy.rules);
        rules.and_then(|rules| rules.metrics.get(key)).map_or(AskedOf::Policy, |rule| rule.judge)
    }

    fn each(&self, key: &MetricKey) -> Vec<&'a Outcome> {
        let repeats = self.record.repeats.iter().flat_map(|repeats| &repeats.each);
        repeats.filter_map(|repeat| repeat.outcomes.get(key)).collect()
    }

    fn repeats(&self, key: &MetricKey) -> Vec<OfRepeat> {
        let repeats = self.record.repeats.iter().flat_map(|repeats| &repeats.each);
        let of = |(number, repeat): (usize, &'a rageval_runner::model::Repeat)| {
            let outcome = repeat.outcomes.get(key)?;
            let worked = self.worked(key, &repeat.taken, &repeat.transcript, outcome);
            Some(OfRepeat { number, outcome: outcome.clone(), worked })
        };
        (1..).zip(repeats).filter_map(of).collect()
    }

    /// The formula with its numbers; empty where the case that was measured, or the rules, do not stand here.
    fn worked(&self, key: &MetricKey, taken: &Taken, transcript: &Transcript, outcome: &Outcome) -> Vec<String> {
        let (Some(metric), Some(case), Taken::Sample(sample)) = (metric::find(key.name()), self.case, taken) else {
            return Vec::new();
        };
        let params = self.params(key);
        let before = self.here.answers.sample_of(case).filter(|_| metric.reads_baseline());
        let input = Input { case, sample, key, params: &params, baseline: before.as_ref() };
        let own = of_judge(transcript, self.judge_of(key));
        let mut lines = worked::worked(metric, &input, &own, outcome);
        if let Outcome::Scored { score: scored, .. } = outcome
            && !worked::explains(&lines, scored)
        {
            let recorded = score(scored.value.get());
            lines.push(format!(
                "the run says {recorded}: the rules, or the readings behind the score, are not those of these numbers"
            ));
        }
        lines
    }

    fn rule(&self, key: &MetricKey, outcome: &Outcome) -> Option<OfRule> {
        let (Some(basis), Some(case)) = (self.basis, self.case) else { return self.rule_of_run(key, outcome) };
        let rule = basis.rules.metrics.get(key);
        let own = case.bars.get(key);
        let mut places = Vec::new();
        places.extend(rule.map(|rule| rule.place.to_string()));
        places.extend(own.map(|_| format!("{} (the case's own)", case.place)));
        let min = basis.rules.min_of(case, key);
        let max_drop = own.and_then(|own| own.max_drop).or_else(|| rule.and_then(|rule| rule.max_drop));
        let level = rule.map(|rule| rule.level).unwrap_or_default();
        let (says, why) = self.says(key, outcome, min.is_some() || max_drop.is_some());
        let counts_in = rule.map(counts_in).unwrap_or_default();
        Some(OfRule { places, min, max_drop, level, counts_in, says, why })
    }

    /// The rules as the run keeps them.
    fn rule_of_run(&self, key: &MetricKey, outcome: &Outcome) -> Option<OfRule> {
        let rule = self.run.background.metrics.iter().find(|rule| rule.metric == *key);
        let own = self.of_run.and_then(|case| case.bars.get(key));
        let min = own.and_then(|own| own.min).or_else(|| rule?.min);
        let max_drop = own.and_then(|own| own.max_drop).or_else(|| rule?.max_drop);
        let level = if rule.is_some_and(|rule| rule.warns) { Level::Warn } else { Level::Fail };
        let findings = self.decision.iter().flat_map(|decision| &decision.findings);
        let finding =
            findings.filter(|finding| finding.metric.as_ref() == Some(key)).min_by_key(|finding| finding.level);
        let (says, why) = match finding {
            Some(finding) => (Says::of(finding), format!("in the run: {}", finding.text)),
            None if outcome.fault().is_some() => {
                (Says::Undecided, "what is unmeasured is red, whatever the rules say".to_owned())
            }
            None if self.decision.is_none() => (Says::Nothing, "the case's own trial did not run".to_owned()),
            None if min.or(max_drop).is_some() && outcome.score().is_some() => {
                (Says::Holds, "every rule on the case held in the run".to_owned())
            }
            None => (Says::Nothing, "no rule on single cases says anything of it".to_owned()),
        };
        let places = vec!["as the run keeps them".to_owned()];
        (rule.is_some() || own.is_some()).then_some(OfRule {
            places,
            min,
            max_drop,
            level,
            counts_in: Vec::new(),
            says,
            why,
        })
    }

    /// The accepted score as the run keeps it.
    fn baseline_of_run(&self, key: &MetricKey) -> OfBaseline {
        let accepted =
            self.of_run.and_then(|case| case.accepted.as_ref()).filter(|one| one.digest == self.record.digest);
        match accepted.and_then(|accepted| accepted.outcomes.get(key)) {
            Some(outcome) => OfBaseline::Accepted { outcome: outcome.clone() },
            None => OfBaseline::None { why: "the run keeps none of this case as it was".to_owned() },
        }
    }

    /// What the rules on the case say.
    fn says(&self, key: &MetricKey, outcome: &Outcome, has_bars: bool) -> (Says, String) {
        let Some(findings) = self.findings else { return (Says::Nothing, String::new()) };
        let texts = |broken: &[rageval_runner::gate::Broken]| {
            let texts: Vec<String> = broken.iter().filter(|one| one.metric == *key).map(bar_text).collect();
            (!texts.is_empty()).then(|| texts.join("; "))
        };
        if let Some(text) = texts(&findings.failed) {
            return (Says::Fails, format!("it makes the case red: {text}"));
        }
        if outcome.fault().is_some() {
            return (Says::Undecided, "what is unmeasured is red, whatever the rules say".to_owned());
        }
        if let Some((_, why)) = findings.undecided.iter().find(|(metric, _)| metric == key) {
            return (Says::Undecided, format!("its drop cannot be decided, which is red: {}", why.why()));
        }
        if let Some(text) = texts(&findings.known) {
            return (Says::KnownFailure, format!("a known failure, which passes: {text}"));
        }
        if let Some(text) = texts(&findings.warned) {
            return (Says::Warns, format!("it only warns: {text}"));
        }
        match (outcome.score().is_some(), has_bars) {
            (false, _) => (Says::Nothing, "without a score no rule on the case holds".to_owned()),
            (true, true) => (Says::Holds, "every rule on the case holds".to_owned()),
            (true, false) => (Says::Nothing, "no rule on single cases: it decides nothing by itself".to_owned()),
        }
    }

    fn baseline(&self, key: &MetricKey) -> OfBaseline {
        let none = |why: &str| OfBaseline::None { why: why.to_owned() };
        let (Some(basis), Some(_)) = (self.basis, self.case) else { return self.baseline_of_run(key) };
        let Some(baseline) = basis.baseline else { return OfBaseline::Nowhere };
        let Some(accepted) = baseline.cases.get(&self.record.case) else {
            return none("the baseline lacks the case: it is compared as new");
        };
        if accepted.digest != self.record.digest {
            return none("the case changed since the baseline: it is compared as new");
        }
        if let Err(why) = basis.check(key, baseline) {
            return OfBaseline::None { why: why.why().to_owned() };
        }
        match accepted.outcomes.get(key) {
            Some(outcome) => OfBaseline::Accepted { outcome: outcome.clone() },
            None => none("the baseline was made without this metric"),
        }
    }

    /// The exchanges that a metric asked for of one sample, in their order. Told by its name where it can't be reckoned anew.
    pub(super) fn asked(&self, key: &MetricKey, sample: &Sample, transcript: &'a Transcript) -> Vec<&'a Exchange> {
        let own = self.judge_of(key);
        let of_judge = || transcript.exchanges.iter().filter(|exchange| exchange.of == own);
        let (Some(metric), Some(case)) = (metric::find(key.name()), self.case) else {
            let begins = format!("{}.", key.name());
            return of_judge().filter(|exchange| exchange.request.name().starts_with(&begins)).collect();
        };
        let params = self.params(key);
        let before = self.here.answers.sample_of(case).filter(|_| metric.reads_baseline());
        let input = Input { case, sample, key, params: &params, baseline: before.as_ref() };
        retraced(metric, &input, &of_judge().collect::<Vec<_>>())
    }
}

/// Steps a metric through what was replied, and returns what it asked for.
fn retraced<'a>(metric: &dyn Metric, input: &Input<'_>, exchanges: &[&'a Exchange]) -> Vec<&'a Exchange> {
    let mut known = Transcript::default();
    let mut asked: Vec<&'a Exchange> = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let Step::Ask(requests) = metric.step(input, &known) else { break };
        let before = asked.len();
        for request in requests {
            let found = exchanges.iter().find(|exchange| exchange.request == request);
            if let Some(exchange) = found.filter(|_| known.reply_to(&request).is_none()) {
                asked.push(exchange);
                known.exchanges.push((*exchange).clone());
            }
        }
        if asked.len() == before {
            break;
        }
    }
    asked
}

/// What one judge was asked; a metric sees nothing of another's.
fn of_judge(transcript: &Transcript, of: AskedOf) -> Transcript {
    Transcript { exchanges: transcript.exchanges.iter().filter(|exchange| exchange.of == of).cloned().collect() }
}

/// How repeats became one number.
fn reduced(outcome: &Outcome, each: Vec<&Outcome>) -> Vec<String> {
    let Outcome::Scored { score: reached, detail } = outcome else { return Vec::new() };
    let Some(reduced) = &detail.reduced else { return Vec::new() };
    let all: Vec<String> = each.into_iter().map(in_a_word).collect();
    let min = reduced.min.map(|min| format!(", a repeat passing from {} on", bar(min.get()))).unwrap_or_default();
    vec![format!("{} of {}{min} = {}", reduced.by, all.join(", "), score(reached.value.get()))]
}

fn advice_on(outcome: &Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Scored { .. } => None,
        Outcome::NotApplicable { why } => advice::on_not_applicable(why),
        Outcome::Unmeasured { fault } => advice::on_cause(&fault.cause),
    }
}

/// The rules over many cases in which a score counts.
fn counts_in(rule: &MetricRule) -> Vec<String> {
    let mut texts = of_set(&rule.set, "");
    for (slice, (_, rules)) in &rule.slices {
        texts.extend(of_set(rules, &format!(" of {slice}")));
    }
    texts
}

fn of_set(rules: &SetRules, of: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut add = |what: &str, min: Option<UnitInterval>, max_drop: Option<UnitInterval>, level: Level| {
        let parts = [("min", min), ("max_drop", max_drop)];
        let parts = parts.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", bar(value?.get()))));
        let parts: Vec<String> = parts.collect();
        let warns = if level == Level::Warn { " (warns)" } else { "" };
        texts.push(format!(
            "{what}{of}: {}{warns}",
            if parts.is_empty() { "shown".to_owned() } else { parts.join(", ") }
        ));
    };
    if let Some(mean) = rules.mean {
        add("mean", mean.min, mean.max_drop, mean.level);
    }
    if let Some(rate) = rules.pass_rate {
        add("pass_rate", Some(rate.min), None, rate.level);
    }
    if let Some(tail) = rules.bottom10 {
        add("bottom10", tail.min, tail.max_drop, tail.level);
    }
    texts
}
