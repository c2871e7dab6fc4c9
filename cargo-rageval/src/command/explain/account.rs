//! The explanation of one case as data: the JSON, and all that is printed.

use std::{collections::BTreeSet, path::Path};

use rageval_runner::{
    gate,
    model::{
        CaseScores, DocId, Expectation, GoldenCase, Judgement, KnownFailure, MetricKey, Outcome, Record, Taken,
        Unmeasured, Usage,
        background::CaseBackground,
        run::{Decision, JudgeStamp, Run},
    },
};
use serde::Serialize;

use super::{
    asked::Asked,
    measured::{Measured, Scene},
    surroundings::Surroundings,
};
use crate::context::Context;

/// What `format` says.
const FORMAT: &str = "rageval-explanation";
const VERSION: u32 = 1;

/// Why one case got its scores.
#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    format: &'static str,
    version: u32,
    pub(super) run: OfRun,
    pub(super) id: String,
    /// As it stands here, else as the run keeps it; `None` where neither does.
    pub(super) case: Option<OfCase>,
    pub(super) came: Came,
    /// What was decided of the case in the run; `None` where its trial did not run.
    pub(super) decision: Option<Decision>,
    /// Every metric, or the one that was asked for.
    pub(super) metrics: Vec<Measured>,
    /// Each request of the metric that was asked for, in the order asked; `None` where no metric was.
    pub(super) requests: Option<Vec<Asked>>,
    pub(super) notices: Vec<String>,
}

/// The run.
#[derive(Debug, Serialize)]
pub(super) struct OfRun {
    pub(super) file: String,
    pub(super) id: String,
    pub(super) git_revision: Option<String>,
    pub(super) judge: JudgeStamp,
    /// How stored replies were used, where they were.
    pub(super) reply_mode: Option<String>,
}

/// The golden case.
#[derive(Debug, Serialize)]
pub(super) struct OfCase {
    pub(super) place: String,
    pub(super) trial: String,
    pub(super) query: String,
    pub(super) language: String,
    pub(super) expectation: Expectation,
    pub(super) references: Vec<String>,
    /// `None` where the case does not say.
    pub(super) relevant: Option<Vec<Judgement>>,
    pub(super) known_failure: Option<KnownFailure>,
    /// It is not the one that the run evaluated.
    pub(super) changed_since: bool,
}

/// What came back.
#[derive(Debug, Serialize)]
#[serde(tag = "came", rename_all = "snake_case")]
pub(super) enum Came {
    Answer(Box<OfAnswer>),
    Failed { fault: Unmeasured, advice: Option<&'static str> },
}

/// The answer; of a repeated case the one that stands for all.
#[derive(Debug, Serialize)]
pub(super) struct OfAnswer {
    pub(super) response: String,
    pub(super) is_refusal: bool,
    /// The system's own word; `None` leaves it to the text detector.
    pub(super) refused: Option<bool>,
    pub(super) contexts: Vec<OfContext>,
    pub(super) latency_ms: Option<f64>,
    pub(super) usage: Option<Usage>,
    pub(super) cost_usd: Option<f64>,
    pub(super) generator: Option<String>,
    /// Which repeat this is, and how many there are; `None` where the case was asked once.
    pub(super) repeat: Option<(usize, usize)>,
}

/// One retrieved context.
#[derive(Debug, Serialize)]
pub(super) struct OfContext {
    pub(super) rank: usize,
    pub(super) id: Option<DocId>,
    pub(super) score: Option<f64>,
    /// The grade that the case gives the document; `None` where it is not among the relevant ones.
    pub(super) grade: Option<f64>,
    pub(super) text: String,
}

impl Explanation {
    /// Explains a record of a run, of one metric or of all.
    pub(super) fn of(
        run: &Run,
        path: &Path,
        record: &Record,
        metric: Option<&MetricKey>,
        here: &Surroundings,
        context: &Context,
    ) -> Self {
        let mut notices = here.notices.clone();
        let case = here.case(&record.case);
        let of_run = run.cases.iter().find(|case| case.case == record.case);
        let changed_since = case.is_some_and(|case| case.digest() != record.digest);
        match case {
            Some(case) if changed_since => notices.push(format!(
                "{} changed since the run: numbers are not reckoned anew, and what is told of the case is how it stands now",
                case.place
            )),
            Some(_) => {}
            None if here.policy.is_some() => {
                notices.push("the case does not stand here: what is told of it is what the run keeps, and numbers are not reckoned anew".to_owned());
            }
            None => {}
        }
        // Numbers are those of the case that was measured, or there are none.
        let same = case.filter(|_| !changed_since);
        let basis = here.basis(&run.manifest);
        let is_of_case = |decision: &&Decision| {
            let trial = case.map(GoldenCase::trial_name).or_else(|| of_run.map(|case| case.trial.clone()));
            trial.map_or_else(
                || decision.trial.starts_with("case::") && decision.trial.ends_with(&format!("::{}", record.case)),
                |trial| decision.trial == trial,
            )
        };
        let scores = CaseScores::from(record);
        let findings = same.zip(basis.as_ref()).map(|(case, basis)| gate::case_findings(case, &scores, basis));
        let decision = run.decisions.iter().find(is_of_case);
        let scene = Scene {
            record,
            run,
            of_run,
            decision,
            case: same,
            here,
            basis: basis.as_ref(),
            findings: findings.as_ref(),
        };
        let wanted: Vec<&MetricKey> =
            record.outcomes.keys().filter(|key| metric.is_none_or(|one| one == *key)).collect();
        let metrics: Vec<Measured> = wanted.iter().map(|key| scene.measured(key)).collect();
        let requests = metric.map(|key| Asked::all(&scene, key, run, path, context));
        Self {
            format: FORMAT,
            version: VERSION,
            run: OfRun {
                file: path.display().to_string(),
                id: run.manifest.run_id.clone(),
                git_revision: run.manifest.git_revision.clone(),
                judge: run.manifest.judge.clone(),
                reply_mode: run.manifest.reply_mode.clone(),
            },
            id: record.case.to_string(),
            case: case.map(|case| OfCase::of(case, changed_since)).or_else(|| of_run.map(OfCase::of_run)),
            came: Came::of(record, case),
            decision: decision.cloned(),
            metrics,
            requests,
            notices,
        }
    }
}

impl OfCase {
    /// As the run keeps it.
    fn of_run(case: &CaseBackground) -> Self {
        Self {
            place: case.place.to_string(),
            trial: case.trial.clone(),
            query: case.query.clone(),
            language: case.language.clone(),
            expectation: if case.should_refuse { Expectation::Refuse } else { Expectation::Answer },
            references: case.references.clone(),
            relevant: case.relevant.clone(),
            known_failure: case.known_failure.clone(),
            changed_since: false,
        }
    }

    fn of(case: &GoldenCase, changed_since: bool) -> Self {
        Self {
            place: case.place.to_string(),
            trial: case.trial_name(),
            query: case.query.clone(),
            language: case.language_tag.clone().unwrap_or_else(|| case.language.as_str().to_owned()),
            expectation: case.expectation,
            references: case.references.clone(),
            relevant: case.relevant.clone(),
            known_failure: case.known_failure.clone(),
            changed_since,
        }
    }
}

impl Came {
    fn of(record: &Record, case: Option<&GoldenCase>) -> Self {
        let sample = match &record.taken {
            Taken::Sample(sample) => sample,
            Taken::Failed(fault) => {
                return Self::Failed { fault: fault.clone(), advice: super::advice::on_cause(&fault.cause) };
            }
        };
        let mut earned = BTreeSet::new();
        let mut contexts = Vec::new();
        for (rank, context) in (1..).zip(&sample.answer.retrieved_contexts) {
            let judged =
                case.and_then(|case| case.relevant_documents().find(|one| Some(&one.id) == context.id.as_ref()));
            // Of a repeated document only the first place earns.
            let grade = judged.filter(|one| earned.insert(one.id.clone())).map(|one| one.grade);
            let (id, text) = (context.id.clone(), context.text.clone());
            contexts.push(OfContext { rank, id, score: context.score, grade, text });
        }
        Self::Answer(Box::new(OfAnswer {
            response: sample.answer.response.clone(),
            is_refusal: sample.is_refusal,
            refused: sample.answer.refused,
            contexts,
            latency_ms: sample.latency_ms,
            usage: sample.answer.usage,
            cost_usd: sample.answer.cost_usd,
            generator: sample.answer.generator.clone(),
            repeat: record.repeats.as_ref().map(|repeats| (repeats.shown, repeats.each.len())),
        }))
    }
}

/// The score of an outcome, for a line.
pub(super) fn in_a_word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Scored { score, .. } => rageval_runner::report::console::text::score(score.value.get()),
        Outcome::NotApplicable { .. } => "not applicable".to_owned(),
        Outcome::Unmeasured { .. } => "unmeasured".to_owned(),
    }
}
