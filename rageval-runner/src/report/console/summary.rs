//! What a run prints at its end.

use std::{borrow::Cow, collections::BTreeMap};

use unicode_width::UnicodeWidthStr as _;

use super::{
    findings::phrase_of,
    text::{COLUMNS, LABEL, RED_TEXTS, line, listed, shortened, visible, whole_line},
};
use crate::{
    gate::Population,
    model::{
        CaseId, GoldenCase, Place,
        background::CaseBackground,
        run::{Decision, Finding, FindingKind, FindingLevel, Ruling},
    },
    report::worst,
};

/// Lines of a summary.
pub const MOST_LINES: usize = 12;

/// Worst scores that a summary names.
const MOST_WORST: usize = 5;

/// Starts the notice of a known failure.
const KNOWN: &str = "known failure: ";

/// Starts the notice of a case that further readings cleared.
const FLAKY: &str = "flaky: ";

/// Lines that name such cases.
const MOST_FLAKY: usize = 2;

/// Starts the notice of what could not be said and passes.
const INCONCLUSIVE: &str = "inconclusive: ";

/// All that a summary is made from: what a run file holds.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a> {
    /// What was decided.
    pub decisions: &'a [Decision],
    /// The golden cases.
    pub cases: &'a [OfSet<'a>],
    /// The set against the baseline, where there is one.
    pub population: Option<&'a Population>,
    /// Waivers that hold: all are shown, in place of some of the worst scores where there is no room.
    pub waivers: &'a [String],
    /// Notices of the run itself, which come first, such as `no regression.baseline: nothing is compared`.
    pub notices: &'a [String],
    /// Where the run is kept.
    pub run: &'a str,
}

/// What a summary says of a golden case.
#[derive(Debug, Clone)]
pub struct OfSet<'a> {
    case: &'a CaseId,
    trial: Cow<'a, str>,
    place: &'a Place,
}

impl<'a> From<&'a GoldenCase> for OfSet<'a> {
    fn from(case: &'a GoldenCase) -> Self {
        Self { case: &case.id, trial: Cow::Owned(case.trial_name()), place: &case.place }
    }
}

impl<'a> From<&'a CaseBackground> for OfSet<'a> {
    fn from(case: &'a CaseBackground) -> Self {
        Self { case: &case.case, trial: Cow::Borrowed(&case.trial), place: &case.place }
    }
}

/// The lines after the test runner's own summary, at most [`MOST_LINES`]: counts, causes, the worst scores, known failures, notices, where red texts
/// are explained, where the run is.
pub fn summary(summary: &Summary<'_>) -> Vec<String> {
    let Summary { decisions, cases: golden, population, waivers, notices, run } = summary;
    let (cases, gates): (Vec<&Decision>, Vec<&Decision>) = decisions.iter().partition(|decision| decision.is_of_case());
    let trials: BTreeMap<&str, &Decision> = cases.iter().map(|decision| (decision.trial.as_str(), *decision)).collect();
    let of_set: Vec<(&OfSet<'_>, &Decision)> =
        golden.iter().filter_map(|case| Some((case, *trials.get(&*case.trial)?))).collect();

    let (of_cases, of_gates) = (counts(&cases, "case"), counts(&gates, "gate"));
    let both = format!("{of_cases}; {of_gates}");
    let mut lines = if LABEL + both.width() <= COLUMNS {
        vec![line("rageval", &both)]
    } else {
        vec![line("rageval", &format!("{of_cases};")), line("", &of_gates)]
    };
    lines.extend(causes(&of_set).map(|causes| line("causes", &causes)));
    if let Some(population) = population {
        let Population { paired, new, changed, vanished } = population;
        let counts = format!(
            "{} paired, {} new, {} changed, {} vanished",
            paired.len(),
            new.len(),
            changed.len(),
            vanished.len()
        );
        lines.push(line("baseline", &counts));
    }
    let all: Vec<&str> =
        notices.iter().chain(decisions.iter().flat_map(|decision| &decision.notices)).map(String::as_str).collect();
    let is_red = decisions.iter().any(|decision| decision.ruling.is_red());
    let help = is_red.then(|| whole_line("help", &format!("what red texts mean: {RED_TEXTS}")));
    // Waivers and what is flaky are shown in place of some of the worst scores.
    let room = MOST_WORST.saturating_sub(waivers.len());
    let flaky = flaky(&all, MOST_FLAKY.min(room));
    let known = subjects(&all, KNOWN);
    let red_gates: Vec<&str> =
        worst::gates(gates.iter().copied()).into_iter().map(|gate| gate.trial.as_str()).collect();
    // Two lines are left besides: notices, and where the run is.
    let others =
        waivers.len() + usize::from(!known.is_empty()) + usize::from(!red_gates.is_empty()) + usize::from(is_red) + 2;
    let left = MOST_LINES.saturating_sub(lines.len() + flaky.len() + others);
    let worst = worst(&of_set, left.min(room - flaky.len()));
    lines.extend(worst.into_iter().map(|text| line("worst", &text)));
    if !red_gates.is_empty() {
        lines.push(line("red gates", &listed(&red_gates, COLUMNS - LABEL)));
    }

    lines.extend(flaky.iter().map(|text| line("flaky", text)));
    if !known.is_empty() {
        let text = format!("{}: {}", known.len(), listed(&known, COLUMNS - LABEL - 6));
        lines.push(line("known", &text));
    }
    lines.extend(waivers.iter().map(|waiver| line("waived", waiver)));
    let inconclusive = subjects(&all, INCONCLUSIVE);
    let mut shown: Vec<String> = all
        .iter()
        .filter(|notice| ![KNOWN, FLAKY, INCONCLUSIVE].iter().any(|prefix| notice.starts_with(prefix)))
        .map(|notice| (*notice).to_owned())
        .collect();
    if !inconclusive.is_empty() {
        let names = listed(&inconclusive, COLUMNS - LABEL - INCONCLUSIVE.len() - 6);
        shown.push(format!("{}{}: {names}", INCONCLUSIVE, inconclusive.len()));
    }
    let room = (MOST_LINES - 1).saturating_sub(lines.len() + usize::from(is_red));
    if shown.len() > room {
        let left = shown.len() - room;
        let more = format!(" (and {left} more notice{})", if left == 1 { "" } else { "s" });
        shown.truncate(room);
        if let Some(last) = shown.last_mut() {
            *last = shortened(last, COLUMNS - LABEL - more.len()) + &more;
        }
    }
    lines.extend(shown.iter().map(|notice| line("notice", notice)));
    lines.extend(help);
    lines.push(whole_line("run", run));
    lines
}

/// Cases that further readings cleared, with their votes, in at most so many lines; the last line counts those that have none of their own.
fn flaky(notices: &[&str], most: usize) -> Vec<String> {
    let all: Vec<&str> = notices.iter().filter_map(|notice| notice.strip_prefix(FLAKY)).collect();
    if all.len() <= most || most == 0 {
        return all.into_iter().take(most).map(str::to_owned).collect();
    }
    let (told, counted) = all.split_at(most - 1);
    let names: Vec<&str> = counted.iter().filter_map(|text| text.split(": ").next()).collect();
    let names = format!("{}: {}", counted.len(), listed(&names, COLUMNS - LABEL - 12));
    let more = if told.is_empty() { names } else { format!("and {names}") };
    told.iter().map(|text| (*text).to_owned()).chain([more]).collect()
}

/// What notices of one sort are about: the text up to the next colon and blank.
fn subjects<'a>(notices: &[&'a str], prefix: &str) -> Vec<&'a str> {
    notices.iter().filter_map(|notice| notice.strip_prefix(prefix)?.split(": ").next()).collect()
}

/// `97 cases: 90 passed, 5 failed, 2 undecided`; the four add up.
fn counts(decisions: &[&Decision], what: &str) -> String {
    let plural = if decisions.len() == 1 { "" } else { "s" };
    let words: Vec<String> = [
        (Ruling::Pass, "passed"),
        (Ruling::Fail, "failed"),
        (Ruling::Undecided, "undecided"),
        (Ruling::Inconclusive, "inconclusive"),
    ]
    .into_iter()
    .map(|(ruling, word)| (decisions.iter().filter(|decision| decision.ruling == ruling).count(), word))
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect();
    let words = if words.is_empty() { "none ran".to_owned() } else { words.join(", ") };
    format!("{} {what}{plural}: {words}", decisions.len())
}

/// Behind the causes, where they add up to more than the cases that have one.
const SEVERAL: &str = " (a case may have several)";

/// How many cases are red, or have something unmeasured, for which cause: the most frequent first. A case counts once for each of its causes.
fn causes(of_set: &[(&OfSet<'_>, &Decision)]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut several = "";
    for (_, decision) in of_set {
        let Decision { findings, ruling, snapshot, .. } = decision;
        let is = |kind| findings.iter().any(|finding| finding.level == FindingLevel::Red && finding.kind == kind);
        let is_unmeasured = |finding: &&Finding| finding.kind == FindingKind::Unmeasured;
        let faults = findings.iter().filter(is_unmeasured);
        let mut of_case: Vec<&str> = faults.filter_map(|finding| finding.text.split(": ").next()).collect();
        let is_snapshot_alone =
            snapshot.is_some() && !findings.iter().any(|finding| finding.level == FindingLevel::Red);
        let more = [
            (is(FindingKind::Min), "below min"),
            (is(FindingKind::MaxDrop), "dropped"),
            (is(FindingKind::Incomparable), "not comparable"),
            (is_snapshot_alone, "snapshot alone"),
            (*ruling == Ruling::Undecided && findings.is_empty(), "no record"),
        ];
        of_case.extend(more.into_iter().filter(|(applies, _)| *applies).map(|(_, cause)| cause));
        of_case.sort_unstable();
        of_case.dedup();
        if of_case.len() > 1 {
            several = SEVERAL;
        }
        for cause in of_case {
            *counts.entry(cause).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let counts: Vec<String> = counts.into_iter().map(|(cause, count)| format!("{count} {cause}")).collect();
    (!counts.is_empty()).then(|| listed(&counts, COLUMNS - LABEL - several.len()) + several)
}

/// The worst broken rule of at most so many cases, the worst case first; equals stay in the order of the set.
fn worst(of_set: &[(&OfSet<'_>, &Decision)], most: usize) -> Vec<String> {
    let mut red: Vec<_> = of_set.iter().filter(|(_, decision)| decision.ruling.is_red()).collect();
    red.sort_by(|(_, one), (_, other)| worst::of_cases(one, other));
    red.into_iter()
        .filter_map(|(case, decision)| Some((case, worst::findings(decision).into_iter().find_map(phrase_of)?)))
        .take(most)
        .map(|(case, phrase)| {
            // The place stays whole; what stands before it may be cut.
            let place = visible(&case.place.to_string());
            let room = (COLUMNS - LABEL).saturating_sub(place.width() + 2);
            format!("{}  {place}", shortened(&format!("{}: {phrase}", case.case), room))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::{
        gate::{
            compare_population, decide_case, decide_gate,
            fixture::{World, golden, id, key, unit},
            gates,
            rule::{MeanRule, SliceField},
        },
        model::{KnownFailure, Outcome, Place},
    };

    fn summed_up(world: &World, notices: &[String]) -> Vec<String> {
        waived(world, &[], notices)
    }

    /// Decides every trial and sums the run up.
    fn waived(world: &World, waivers: &[String], notices: &[String]) -> Vec<String> {
        let basis = world.basis();
        let (scores, tests) = (world.scores(), world.tests());
        let cases = world.set.cases.iter().map(|case| decide_case(case, &world.records[&case.id], &basis, None));
        let gates = gates(&world.rules, &world.set);
        let gates = gates.iter().map(|gate| decide_gate(gate, &world.set, &scores, &basis, &tests));
        let decisions: Vec<Decision> = cases.chain(gates).collect();
        let population = world.baseline.as_ref().map(|baseline| compare_population(&world.set, baseline));
        summary(&Summary {
            decisions: &decisions,
            cases: &world.set.cases.iter().map(OfSet::from).collect::<Vec<_>>(),
            population: population.as_ref(),
            waivers,
            notices,
            run: "target/rageval/runs/20260101-000000-abcd/run.json",
        })
    }

    /// Sixteen cases of all sorts.
    fn world() -> World {
        let scores: Vec<f64> = (0..14).map(|i| f64::from(i) * 0.1).map(|score| score.min(1.0)).collect();
        let outcomes = scores.iter().map(|score| Outcome::scored(unit(*score)));
        let outcomes = outcomes.chain([
            Outcome::unmeasured("system time-out", "30 s"),
            Outcome::unmeasured("judge reply unreadable", "no JSON"),
        ]);
        World::with("recall@5", outcomes)
            .accepted(&[1.0; 15])
            .rule(|rule| {
                rule.min = Some(unit(0.75));
                rule.set.mean = Some(MeanRule { min: Some(unit(0.9)), ..MeanRule::default() });
            })
            .change(|world| {
                world.rules.slices.by = vec![(Place::default(), SliceField::Language)];
                world.set.cases[0].language_tag = Some("zh".to_owned());
                let known = KnownFailure { metrics: vec![key("recall@5")], reason: "known".to_owned() };
                world.set.cases[1].known_failure = Some(known);
                world.set.cases[2].query = "Another?".to_owned();
                let baseline = world.baseline.as_mut().expect("a baseline");
                let gone = baseline.cases[&id("c00")].clone();
                baseline.cases.insert(id("gone"), gone);
            })
    }

    #[test]
    fn a_run_is_summed_up_in_few_lines() {
        let lines = summed_up(&world(), &["no golden.lock: the golden set is not locked".to_owned()]);
        let expected: &[&str] = &[
            "rageval     16 cases: 7 passed, 7 failed, 2 undecided; 4 gates: 3 undecided, 1 inconclusive",
            "causes      7 below min, 1 judge reply unreadable, 1 system time-out",
            "baseline    14 paired, 1 new, 1 changed, 1 vanished",
            "worst       c00: recall@5 0.00, min 0.75 cases/en.yaml:10",
            "worst       c02: recall@5 0.20, min 0.75 cases/en.yaml:12",
            "worst       c03: recall@5 0.30, min 0.75 cases/en.yaml:13",
            "worst       c04: recall@5 0.40, min 0.75 cases/en.yaml:14",
            "red gates   gate::recall@5::mean, gate::set::unmeasured, gate::recall@5::mean@language=en",
            "known       1: c01",
            "notice      no golden.lock: the golden set is not locked (and 1 more notice)",
            "help        what red texts mean: https://github.com/rageval/rageval/blob/main/docs/red.md",
            "run         target/rageval/runs/20260101-000000-abcd/run.json",
        ];
        assert_eq!(lines, expected, "\n{}", lines.join("\n"));
    }

    #[test]
    fn every_waiver_is_shown_in_place_of_some_of_the_worst() {
        let waivers = [
            "alias until 2026-12-31: no dated name".to_owned(),
            format!("family until 2026-12-31: {}", "x".repeat(200)),
        ];
        let lines = waived(&world(), &waivers, &["a".to_owned(), "b".to_owned()]);
        assert_eq!(lines.len(), MOST_LINES, "{lines:#?}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("worst")).count(), MOST_WORST - 3);
        let shown: Vec<_> = lines.iter().filter(|line| line.starts_with("waived")).collect();
        assert_eq!(shown[0], "waived      alias until 2026-12-31: no dated name");
        assert!(shown.len() == 2 && shown[1].width() == COLUMNS, "{lines:#?}");
    }

    #[test]
    fn cleared_suspects_are_named_with_their_votes_in_place_of_some_of_the_worst() {
        let notice = |n: usize| format!("flaky: c{n:02}: faithfulness 0.50 at first, 1.00 after 3 readings");
        let two: Vec<String> = (0..2).map(notice).collect();
        let shown = |notices: &[String]| -> Vec<String> {
            summed_up(&world(), notices).into_iter().filter(|line| line.starts_with("flaky")).collect()
        };
        let expected = [
            "flaky       c00: faithfulness 0.50 at first, 1.00 after 3 readings",
            "flaky       c01: faithfulness 0.50 at first, 1.00 after 3 readings",
        ];
        assert_eq!(shown(&two), expected);
        let five: Vec<String> = (0..5).map(notice).collect();
        assert_eq!(shown(&five), [expected[0], "flaky       and 4: c01, c02, c03, c04"]);
        assert_eq!(summed_up(&world(), &five).len(), MOST_LINES);
    }

    #[test]
    fn causes_that_add_up_to_more_than_the_cases_say_so() {
        let world = World::of(&[0.1, 0.1]).accepted(&[0.1, 1.0]).rule(|rule| {
            (rule.min, rule.max_drop) = (Some(unit(0.5)), Some(unit(0.1)));
        });
        let lines = summed_up(&world, &[]);
        assert_eq!(lines[1], "causes      2 below min, 1 dropped (a case may have several)", "{lines:#?}");
    }

    #[test]
    fn a_clean_run_is_summed_up_in_two_lines() {
        let lines = summed_up(&World::of(&[1.0; 12]).mean(0.8), &[]);
        let expected: &[&str] = &[
            "rageval     12 cases: 12 passed; 2 gates: 2 passed",
            "run         target/rageval/runs/20260101-000000-abcd/run.json",
        ];
        assert_eq!(lines, expected, "\n{}", lines.join("\n"));
    }

    #[test]
    fn a_run_without_cases_says_that_none_ran() {
        let lines = summed_up(&World::of(&[]), &[]);
        assert_eq!(lines[0], "rageval     0 cases: none ran; 1 gate: 1 undecided");
    }

    #[test]
    fn however_much_went_wrong_there_are_twelve_lines() {
        let notices: Vec<String> = (0..40).map(|i| format!("notice {i} {}", "退款".repeat(60))).collect();
        let world = world().change(|world| {
            for i in 0..200 {
                let case = golden(&format!("{i}-{}", "长".repeat(40)), i);
                let mut record = crate::model::Record::clone(&world.records[&id("c00")]);
                (record.case, record.digest) = (case.id.clone(), case.digest());
                world.records.insert(case.id.clone(), record.into());
                world.set.cases.push(case);
            }
        });
        let lines = summed_up(&world, &notices);
        assert_eq!(lines.len(), MOST_LINES, "{lines:#?}");
        assert!(lines.iter().all(|line| line.width() <= COLUMNS), "{lines:#?}");
        assert!(lines[9].ends_with("more notices)"), "{lines:#?}");
    }

    fn told(cases: usize) -> Vec<String> {
        let rulings = [Ruling::Pass, Ruling::Fail, Ruling::Undecided, Ruling::Inconclusive];
        let decision = |what: &str, n: usize| Decision::told(format!("{what}::{n}"), rulings[n % 4], Vec::new());
        let decisions: Vec<Decision> = (0..cases).flat_map(|n| [decision("case", n), decision("gate", n)]).collect();
        let empty = Summary {
            decisions: &decisions,
            cases: &[],
            population: None,
            waivers: &[],
            notices: &[],
            run: "run.json",
        };
        summary(&empty)
    }

    #[test]
    fn counts_that_fit_stand_in_one_line() {
        let lines = told(2);
        assert_eq!(lines[0], "rageval     2 cases: 1 passed, 1 failed; 2 gates: 1 passed, 1 failed");
        assert!(!lines[1].starts_with(' '), "{lines:?}");
    }

    #[test]
    fn no_count_is_cut_off() {
        let lines = told(4000);
        assert_eq!(lines[0], "rageval     4000 cases: 1000 passed, 1000 failed, 1000 undecided, 1000 inconclusive;");
        assert_eq!(lines[1], "            4000 gates: 1000 passed, 1000 failed, 1000 undecided, 1000 inconclusive");
    }
}
