//! What further readings say of the judge itself.

use std::collections::BTreeMap;

use super::text::visible;
use crate::{
    gate::noise,
    model::{CaseScores, Confirmation, Heard, MetricKey, Scores},
};

/// Counts over all further readings of a run.
#[derive(Debug, Default)]
struct Counts<'a> {
    confirmed: usize,
    cleared: usize,
    /// Suspects that nothing settled: why, and whether they were read again.
    unsettled: BTreeMap<(&'a str, bool), usize>,
    /// Further readings asked for of this run's answers, those that failed included.
    readings: usize,
    /// Further readings of the baseline's answers.
    of_baseline: usize,
    failed: usize,
    /// Verdicts, or scores of metrics without fixed items, on this run's answers.
    said: usize,
    /// Those of them that differ from the first reading's.
    changed: usize,
    /// Pairs whose both sides were read once more for the drop of a mean.
    pairs: usize,
    /// Pairs of which a side gave no such reading.
    pairs_failed: usize,
}

/// One line each: how the suspects ended, how often the judge changed its mind, and what says that it can't.
///
/// Only answers that looked bad at first are read again, so the share of changed verdicts is no estimate of the judge's error over all answers.
pub fn notices(scores: &Scores) -> Vec<String> {
    let counts = Counts::of(scores);
    let mut notices = Vec::new();
    if counts.confirmed + counts.cleared > 0 {
        let parts = [(counts.confirmed, "confirmed"), (counts.cleared, "cleared")];
        let parts: Vec<String> =
            parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let failed = match counts.failed {
            0 => String::new(),
            failed => format!(", {failed} call{} that gave none", plural(failed)),
        };
        let given = counts.readings + counts.of_baseline - counts.failed;
        notices.push(format!("suspects: {} in {given} further reading{}{failed}", parts.join(", "), plural(given)));
    }
    notices.extend(unsettled(&counts.unsettled));
    let Counts { pairs, pairs_failed, .. } = counts;
    if pairs_failed > 0 {
        let all = pairs + pairs_failed;
        notices.push(format!(
            "both sides of {pairs} of {all} changed case{} were read once more for a mean: {pairs_failed} gave none",
            plural(all)
        ));
    } else if pairs > 0 {
        notices.push(format!("both sides of {pairs} changed case{} were read once more for a mean", plural(pairs)));
    }
    if counts.said > 0 && counts.changed == 0 {
        notices.push(format!(
            "all {} further verdicts repeat the first: they carry no information if the judge answers the same each time",
            counts.said
        ));
    } else if counts.said > 0 {
        notices.push(format!("the judge changed {} of {} verdicts when asked again", counts.changed, counts.said));
    }
    notices
}

/// What became of the suspects that nothing settled, by the most frequent reason: the first readings count, red or green.
fn unsettled(counts: &BTreeMap<(&str, bool), usize>) -> Option<String> {
    let all: usize = counts.values().sum();
    // Of equally many the first by its words, so that the text does not depend on what came first.
    let ((why, is_read_again), most) = counts.iter().rev().max_by_key(|(_, n)| **n)?;
    let why = if *why == noise::REPLAYED { "replies are only replayed".to_owned() } else { visible(why) };
    let ended = if *is_read_again { "not settled" } else { "not read again" };
    let others = match all - most {
        0 => String::new(),
        others => format!(", {others} for another reason"),
    };
    let most = if others.is_empty() { String::new() } else { format!("{most} ") };
    let whose = if all == 1 { "counts by its" } else { "count by their" };
    Some(format!("{all} suspect{} {whose} first reading: {most}{ended} ({why}){others}", plural(all)))
}

impl<'a> Counts<'a> {
    fn of(scores: &'a Scores) -> Self {
        let mut counts = Self::default();
        for scores in scores.values() {
            for metric in scores.readings.keys() {
                counts.add(scores, metric);
            }
        }
        counts
    }

    fn add(&mut self, scores: &'a CaseScores, metric: &'a MetricKey) {
        let Some(readings) = scores.readings.get(metric) else { return };
        match &readings.confirmation {
            None => {}
            Some(Confirmation::Confirmed { .. }) => self.confirmed += 1,
            Some(Confirmation::Cleared { .. }) => self.cleared += 1,
            Some(Confirmation::NotConfirmed { why }) => {
                let is_read_again = !readings.now.is_empty();
                *self.unsettled.entry((why, is_read_again)).or_default() += 1;
            }
        }
        self.pairs += usize::from(readings.second.is_some());
        self.pairs_failed += usize::from(readings.second_failed);
        self.of_baseline += readings.baseline.len();
        let failed = |heard: &&Heard| matches!(heard, Heard::Nothing { .. });
        self.failed += readings.now.iter().chain(&readings.baseline).filter(failed).count();
        let first = scores.outcome(metric);
        let claims = first.as_ref().and_then(|first| first.detail()).map_or(&[][..], |detail| &detail.claims);
        for heard in &readings.now {
            self.readings += 1;
            match heard {
                Heard::Verdicts { verdicts } => {
                    self.said += verdicts.len();
                    let pairs = verdicts.iter().zip(claims);
                    self.changed += pairs.filter(|(verdict, claim)| **verdict != claim.verdict).count();
                }
                Heard::Score { score } => {
                    self.said += 1;
                    self.changed += usize::from(first.as_ref().and_then(|first| first.score()) != Some(*score));
                }
                Heard::Nothing { .. } => {}
            }
        }
    }
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::fixture::{World, id, key, scored, unit},
        model::{Claim, Detail, Outcome, Readings, SecondReading, Verdict},
    };

    fn read_again(now: &[&[Verdict]], confirmation: Confirmation) -> Vec<String> {
        let claim = |verdict| Claim { text: "a".to_owned(), verdict, evidence: None, reason: None };
        let claims = vec![claim(Verdict::Supported), claim(Verdict::Unsupported)];
        let first = Outcome::scored_with(unit(0.5), Detail { claims, ..Detail::default() });
        let heard = |verdicts: &&[Verdict]| match verdicts {
            [] => Heard::Nothing { why: "judge error".to_owned() },
            verdicts => Heard::Verdicts { verdicts: verdicts.to_vec() },
        };
        let now = now.iter().map(heard).collect();
        let world = World::with("faithfulness", [first]).change(|world| {
            let readings = Readings { now, confirmation: Some(confirmation), ..Readings::default() };
            world.record_mut(&id("c00")).add_readings(key("faithfulness"), readings);
        });
        notices(&world.scores())
    }

    fn cleared() -> Confirmation {
        Confirmation::Cleared { outcome: scored(1.0), baseline: None }
    }

    #[test]
    fn a_run_that_read_nothing_again_says_nothing() {
        assert_eq!(notices(&World::of(&[1.0]).scores()), Vec::<String>::new());
    }

    #[test]
    fn changed_verdicts_are_counted_over_all_that_were_heard() {
        let (good, bad) = (Verdict::Supported, Verdict::Unsupported);
        let said = read_again(&[&[good, good], &[], &[good, bad], &[Verdict::Inferred, good]], cleared());
        let expected = [
            "suspects: 1 cleared in 3 further readings, 1 call that gave none",
            "the judge changed 3 of 6 verdicts when asked again",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn verdicts_that_never_change_are_said_to_carry_no_information() {
        let (good, bad) = (Verdict::Supported, Verdict::Unsupported);
        let confirmed = Confirmation::Confirmed { outcome: scored(0.5), baseline: None };
        let said = read_again(&[&[good, bad], &[good, bad]], confirmed);
        let expected = [
            "suspects: 1 confirmed in 2 further readings",
            "all 4 further verdicts repeat the first: they carry no information if the judge answers the same each time",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn calls_that_gave_none_are_no_readings() {
        let said = read_again(&[&[], &[]], Confirmation::NotConfirmed { why: "judge error".to_owned() });
        assert_eq!(said, ["1 suspect counts by its first reading: not settled (judge error)"]);
    }

    #[test]
    fn pairs_that_gave_no_second_reading_are_counted() {
        let said = |given: usize, failed: usize| {
            let world = World::with("faithfulness", vec![scored(0.5); given + failed]).change(|world| {
                for place in 0..given + failed {
                    let second = (place < given).then(|| SecondReading { before: unit(1.0), now: unit(0.5) });
                    let readings = Readings { second, second_failed: second.is_none(), ..Readings::default() };
                    world.record_mut(&id(&format!("c{place:02}"))).add_readings(key("faithfulness"), readings);
                }
            });
            notices(&world.scores())
        };
        assert_eq!(said(1, 0), ["both sides of 1 changed case were read once more for a mean"]);
        assert_eq!(said(16, 14), ["both sides of 16 of 30 changed cases were read once more for a mean: 14 gave none"]);
        assert_eq!(said(0, 1), ["both sides of 0 of 1 changed case were read once more for a mean: 1 gave none"]);
    }

    #[test]
    fn a_suspect_that_was_not_read_again_is_counted_as_such() {
        let said = read_again(&[], Confirmation::NotConfirmed { why: noise::REPLAYED.to_owned() });
        assert_eq!(said, ["1 suspect counts by its first reading: not read again (replies are only replayed)"]);
    }

    #[test]
    fn what_most_suspects_were_not_settled_for_is_told() {
        let counts = BTreeMap::from([(("judge error", true), 1), (("a is spent", false), 2), (("b", false), 2)]);
        let told = "5 suspects count by their first reading: 2 not read again (a is spent), 3 for another reason";
        assert_eq!(unsettled(&counts).as_deref(), Some(told));
        assert_eq!(unsettled(&BTreeMap::new()), None);
    }
}
