//! Asks the models of a policy from the command: whether it may, with what, and what it took.

use std::sync::Arc;

use rageval_runner::{
    embed::{self, Embedder},
    evaluate::{asking, assembly::Keeping, stamp},
    judge::{self, Judge, spec::ReplyMode},
    load::{Policy, ReplyModes},
    model::{Record, run::JudgeStamp},
    report::console::{spending, text::visible},
    store::baseline::Answers,
};

pub(crate) use rageval_runner::evaluate::asking::ToMeasure;

use crate::{
    context::Context,
    exit::{Failure, tell},
};

/// What a command needs of the models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Replies, which may be stored ones; in `replay` nothing is asked, and what is not stored is unmeasured.
    Replies,
    /// What the judge says now: stored replies are neither read nor written, and `replay` is refused with what then can't be done, as in
    /// `no steps can be written`.
    Fresh(&'static str),
}

/// The models of a policy, open, within its limits and its budget.
pub(crate) struct Asking {
    judge: Arc<dyn Judge>,
    stamp: JudgeStamp,
    asking: asking::Asking,
}

/// The mode that `RAGEVAL_JUDGE_MODE` says; `None` where it is unset.
pub(crate) fn mode_of(context: &Context) -> Result<Option<ReplyMode>, Failure> {
    context.judge_mode.as_deref().map(ReplyMode::of_variable).transpose().map_err(Failure::Input)
}

/// Opens the judge, and the embedder where there is one, after the refusals: a model that may cost money is not asked without a budget.
///
/// `baseline` holds the answers that comparing metrics compare with; empty where nothing is compared.
pub(crate) fn open(policy: &Policy, context: &Context, need: Need, baseline: Answers) -> Result<Asking, Failure> {
    let over = mode_of(context)?;
    let modes = policy.reply_modes(over);
    let keeping = match need {
        Need::Replies => Keeping::Stored(modes),
        Need::Fresh(undone) => {
            may_ask(policy, over, undone)?;
            Keeping::Nothing
        }
    };
    budgeted(policy, modes)?;
    let judge = open_judge(policy)?;
    let embedder: Option<Arc<dyn Embedder>> = match &policy.embedder {
        None => None,
        Some(spec) => {
            let opened = embed::open(spec, &Context::variable);
            Some(opened.map_err(|error| Failure::Input(format!("{}: {error}", spec.place)))?)
        }
    };
    let stamp = stamp::of_scores(policy, judge.as_ref(), embedder.as_deref());
    let asking = asking::Asking::new(policy, Arc::clone(&judge), embedder, baseline, keeping)?;
    Ok(Asking { judge, stamp, asking })
}

/// Opens the judge of the policy.
pub(crate) fn open_judge(policy: &Policy) -> Result<Arc<dyn Judge>, Failure> {
    judge::open(&policy.judge, &Context::variable)
        .map_err(|error| Failure::Input(format!("{}: {error}", policy.judge.place)))
}

/// Refuses where the mode asks nothing, or where a judge that may cost money would be asked without a budget. `undone` is what then can't
/// be done, as in `no steps can be written`.
pub(crate) fn may_ask(policy: &Policy, over: Option<ReplyMode>, undone: &str) -> Result<(), Failure> {
    let place = &policy.judge.place;
    match (policy.reply_modes(over).judge, over) {
        (ReplyMode::Replay, Some(_)) => Err(Failure::Input(format!(
            "RAGEVAL_JUDGE_MODE=replay asks nothing, so {undone}; unset it to have the judge asked"
        ))),
        (ReplyMode::Replay, None) => Err(Failure::Input(format!(
            "{place}: `mode: replay` asks nothing, so {undone}; run with RAGEVAL_JUDGE_MODE=cached to have the judge asked"
        ))),
        (ReplyMode::Live | ReplyMode::Cached, _) => {
            budgeted(policy, ReplyModes { embedder: ReplyMode::Replay, ..policy.reply_modes(over) })
        }
    }
}

/// Refuses where a model that may cost money would be asked without a budget.
fn budgeted(policy: &Policy, modes: ReplyModes) -> Result<(), Failure> {
    let Some((whom, place)) = policy.unbudgeted(modes) else { return Ok(()) };
    Err(Failure::Input(format!(
        "{place}: this asks {whom} that may cost money, and no `budget` says how much may be spent; add one line to \
         thresholds.yaml, as in `budget: {{requests: 1000, minutes: 10}}`"
    )))
}

impl Asking {
    /// The judge.
    pub(crate) fn judge(&self) -> &dyn Judge {
        self.judge.as_ref()
    }

    /// What its scores depend on: the stamp that runs and baselines carry.
    pub(crate) fn stamp(&self) -> &JudgeStamp {
        &self.stamp
    }

    /// A record for each answer, in their order, with an outcome for each of its metrics and no other.
    pub(crate) fn records(&self, answers: Vec<ToMeasure<'_>>) -> Vec<Record> {
        self.asking.records(answers)
    }

    /// What asks, for what is no outcome.
    pub(crate) fn inner(&self) -> &asking::Asking {
        &self.asking
    }

    /// Tells on standard error what the models had to say and what was spent.
    pub(crate) fn tell_notices(&self) {
        let evaluation = self.asking.evaluation();
        let of_embedder =
            evaluation.embedding.as_ref().map(rageval_runner::evaluate::Embedding::notices).unwrap_or_default();
        for notice in evaluation.judging.notices().into_iter().chain(of_embedder) {
            tell(&visible(&notice));
        }
        if let Some(spent) = evaluation.ledger.spent() {
            tell(&format!("spent: {}", spending::line(&spent, evaluation.ledger.budget())));
        }
    }
}
