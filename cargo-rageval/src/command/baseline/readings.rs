//! Has the judge read each score of a baseline until most of its readings can be kept.

use std::collections::BTreeMap;

use rageval_runner::{
    evaluate::thrice::{READINGS, ReadFirst},
    model::{CaseId, MetricKey, Outcome},
    report::console::text::visible,
};

use super::count;
use crate::{asking::Asking, exit::tell};

/// The scores that most readings give, with how many of them differ from the first reading.
pub(super) struct Settled {
    pub(super) outcomes: BTreeMap<(CaseId, MetricKey), Outcome>,
    pub(super) differing: usize,
}

/// So many scores are named that could not be read again; the rest is counted.
const SHOWN: usize = 10;

/// Reads each score three times, the first reading counted, and tells before what that takes. `None`, after a line for each, where one
/// could not be read so often.
pub(super) fn settled(asking: &Asking, scores: &[ReadFirst<'_>]) -> Option<Settled> {
    let to_ask: usize = scores.iter().map(|read| (READINGS - 1).saturating_sub(read.heard.len())).sum();
    if to_ask > 0 {
        tell(&format!(
            "reading {} until each was read {READINGS} times: about {}, less what is stored; `--no-reread` leaves it",
            count(scores.len(), "judged score"),
            count(to_ask, "request"),
        ));
    }
    let read = asking.inner().each(scores.iter().copied(), async |evaluation, read| evaluation.read_thrice(read).await);
    let mut outcomes = BTreeMap::new();
    let mut failed = Vec::new();
    let mut differing = 0;
    for (score, outcome) in scores.iter().zip(read) {
        match outcome {
            Ok(outcome) => {
                differing += usize::from(outcome.score() != score.first.score());
                outcomes.insert((score.case.id.clone(), score.metric.clone()), outcome);
            }
            Err(why) => failed.push(format!("  {}  {}: {}", score.case.id, score.metric, visible(&why))),
        }
    }
    if failed.is_empty() {
        return Some(Settled { outcomes, differing });
    }
    tell(&format!("{} could not be read {READINGS} times:", count(failed.len(), "judged score")));
    failed.iter().take(SHOWN).for_each(|line| tell(line));
    if failed.len() > SHOWN {
        tell(&format!("  and {} more", failed.len() - SHOWN));
    }
    tell(
        "nothing was written; what was read is stored where replies are: run it again, or leave it with `--no-reread`",
    );
    None
}
