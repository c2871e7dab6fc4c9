//! Reads one suspect again until it is settled.

use super::Desk;
use crate::{
    evaluate::reread::FreshReading,
    gate::noise::{self, Case, Next, Suspect},
    metric::reread::score_of,
    model::{
        Claim, Confirmation, Ending, GoldenCase, Heard, Outcome, Readings, Record, Reply, Sample, UnitInterval, Verdict,
    },
};

/// Readings of a baseline's answer start behind those that it may have been accepted with.
pub(super) const OF_BASELINE: u32 = 100;

/// Calls in a row without a reading, after which a judge is taken to be out of order.
const FAILURES: usize = 3;

/// One suspect with all that its readings are held against.
pub(super) struct Question<'a> {
    desk: &'a Desk<'a>,
    case: &'a GoldenCase,
    suspect: &'a Suspect,
    depth: u32,
    first: Option<(&'a Sample, &'a Outcome)>,
    baseline: Option<(Sample, &'a Outcome)>,
}

/// What came of it.
pub(super) struct Read {
    pub(super) readings: Readings,
    /// Requests that it took.
    pub(super) requests: usize,
    /// Whether it is confirmed as a failing case that counts for `confirm.enough`.
    pub(super) is_failing: bool,
}

/// Where the readings stand.
enum Stands {
    Open(Of),
    Ended { confirmation: Box<Confirmation>, breaks_case_rule: bool },
}

/// Whose answer is read next.
#[derive(Clone, Copy)]
enum Of {
    Now,
    Baseline,
}

impl<'a> Question<'a> {
    pub(super) fn new(
        desk: &'a Desk<'a>,
        case: &'a GoldenCase,
        record: &'a Record,
        suspect: &'a Suspect,
        depth: u32,
    ) -> Self {
        let first = record.sample().zip(record.outcomes.get(&suspect.metric));
        let accepted = desk.session.baseline.as_ref().and_then(|baseline| baseline.cases.get(&case.id));
        let accepted = accepted.and_then(|accepted| accepted.outcomes.get(&suspect.metric));
        let answer = desk.answers.as_ref().ok().and_then(|answers| answers.sample_of(case));
        Self { desk, case, suspect, depth, first, baseline: answer.zip(accepted) }
    }

    /// Reads until nothing is open.
    pub(super) async fn read(&self) -> Read {
        let mut read = Read { readings: Readings::default(), requests: 0, is_failing: false };
        let confirmation = match (&self.desk.answers, self.suspect.bars.drop) {
            (Err(why), Some(_)) => Confirmation::NotConfirmed { why: why.clone() },
            (Ok(_), _) | (Err(_), None) => loop {
                match self.stands(&read.readings) {
                    Stands::Ended { confirmation, breaks_case_rule } => {
                        let is_confirmed = matches!(*confirmation, Confirmation::Confirmed { .. });
                        read.is_failing = is_confirmed && breaks_case_rule && self.suspect.counts;
                        break *confirmation;
                    }
                    Stands::Open(of) => {
                        if let Some(why) = self.one_more(of, &mut read).await {
                            break Confirmation::NotConfirmed { why };
                        }
                    }
                }
            },
        };
        read.readings.confirmation = Some(confirmation);
        read
    }

    /// One more reading; why there is no sense in another, where that is so.
    async fn one_more(&self, of: Of, read: &mut Read) -> Option<String> {
        let metric = &self.suspect.metric;
        let (list, from, answer) = match of {
            Of::Now => (&mut read.readings.now, 0, self.first),
            Of::Baseline => {
                let answer = self.baseline.as_ref().map(|(sample, outcome)| (sample, *outcome));
                (&mut read.readings.baseline, OF_BASELINE, answer)
            }
        };
        let Some((sample, outcome)) = answer else { return Some("the answer is not there".to_owned()) };
        let number = from + u32::try_from(list.len()).unwrap_or(u32::MAX) + 1;
        let FreshReading { heard, exchanges } =
            self.desk.evaluation.reread(self.case, sample, metric, outcome, number).await;
        read.requests += exchanges.len();
        let failed = |heard: &Heard| match heard {
            Heard::Nothing { why } => Some(why.clone()),
            Heard::Verdicts { .. } | Heard::Score { .. } => None,
        };
        let is_missing =
            exchanges.iter().any(|exchange| matches!(&exchange.reply, Reply::Failed { ending: Ending::Missing, .. }));
        if is_missing {
            // Nothing was asked, so nothing was heard.
            return Some(noise::REPLAYED.to_owned());
        }
        list.push(heard);
        let why = list.last().and_then(failed)?;
        let is_hopeless = exchanges.iter().any(|exchange| match &exchange.reply {
            Reply::Failed { ending, .. } => is_the_same_each_time(*ending),
            Reply::Value { .. } => false,
        });
        if is_hopeless {
            return Some(why);
        }
        let in_a_row = list.iter().rev().take_while(|heard| failed(heard).is_some()).count();
        (in_a_row >= FAILURES).then(|| format!("{in_a_row} calls in a row gave no reading, the last: {why}"))
    }

    /// Where the readings stand by now.
    fn stands(&self, readings: &Readings) -> Stands {
        let ended = |confirmation: Confirmation, breaks_case_rule: bool| Stands::Ended {
            confirmation: Box::new(confirmation),
            breaks_case_rule,
        };
        let not_confirmed = |why: String| ended(Confirmation::NotConfirmed { why }, false);
        let Some((sample, first)) = self.first else { return not_confirmed("the answer is not there".to_owned()) };
        let looked = self.desk.evaluation.with_input(self.case, sample, &self.suspect.metric, |metric, input| {
            let claims = claims_of(first);
            let reread = metric.rereads().filter(|_| !claims.is_empty());
            let is_bad = |verdict: Verdict| reread.is_some_and(|reread| reread.is_bad(input.params, verdict));
            // What has no score breaks every bar.
            let score = |bad: &[bool]| reread.and_then(|reread| score_of(reread, input, bad)).unwrap_or(f64::NAN);
            let flags = |claims: &[Claim]| claims.iter().map(|claim| is_bad(claim.verdict)).collect::<Vec<_>>();
            let bad = if reread.is_some() { flags(claims) } else { Vec::new() };
            let accepted = self.baseline.as_ref().map(|(_, accepted)| claims_of(accepted));
            let baseline = match reread {
                Some(_) => accepted.filter(|claims| !claims.is_empty()).map(flags),
                // What compares with the baseline's answer says nothing of that answer itself.
                None => accepted.filter(|_| !metric.reads_baseline()).map(|_| Vec::new()),
            };
            let case = Case {
                bad: &bad,
                first: first.score().map_or(f64::NAN, UnitInterval::get),
                bars: self.suspect.bars,
                depth: self.depth,
                score: &score,
                is_bad: &is_bad,
                baseline: baseline.as_deref(),
            };
            match noise::next(&case, &readings.now, &readings.baseline) {
                Next::ReadNow => Stands::Open(Of::Now),
                Next::ReadBaseline => Stands::Open(Of::Baseline),
                Next::NotConfirmed(why) => not_confirmed(why),
                Next::Done(settled) => {
                    let confirmation = noise::confirmation(first, &settled, &readings.now, &is_bad);
                    ended(confirmation, settled.breaks_case_rule)
                }
            }
        });
        looked.unwrap_or_else(|| not_confirmed(format!("no metric is called `{}`", self.suspect.metric.name())))
    }
}

/// Whether the next call would end the same way, with nothing sent.
fn is_the_same_each_time(ending: Ending) -> bool {
    match ending {
        Ending::Unsupported | Ending::Missing | Ending::Budget | Ending::NoKey => true,
        Ending::Unreadable
        | Ending::Empty
        | Ending::Length
        | Ending::ContentFilter
        | Ending::Refusal
        | Ending::ToolCall
        | Ending::TimeOut
        | Ending::Provider => false,
    }
}

fn claims_of(outcome: &Outcome) -> &[Claim] {
    outcome.detail().map_or(&[], |detail| &detail.claims)
}
