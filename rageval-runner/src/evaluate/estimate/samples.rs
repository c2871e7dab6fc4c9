//! What an estimate takes for the system's answer to a case.

use std::collections::BTreeMap;

use crate::{
    model::{Answer, CaseId, Expectation, GoldenCase, Record, RetrievedContext, Sample, Taken, Transcript, run::Run},
    store::baseline::Answers,
    system::{Question, recorded::RecordedSystem},
    text,
};

/// Where the answer to a case comes from, in the order in which they are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// An earlier run, of the case as it is now.
    Run,
    /// The baseline, of the case as it is now.
    Baseline,
    /// The recorded answers of the policy.
    Recorded,
    /// A stand-in from the case's own reference answer and reference contexts.
    StandIn,
    /// Nothing is known: the case is not counted.
    Nothing,
}

/// All answers that are known without asking the system.
#[derive(Debug, Default)]
pub struct Samples {
    /// Records of an earlier run.
    run: BTreeMap<CaseId, Record>,
    /// The answers of an accepted run.
    baseline: Answers,
    /// The recorded answers of the policy.
    recorded: Option<RecordedSystem>,
}

impl Samples {
    /// Samples of a run, a baseline, and recorded answers, as far as there are any.
    pub fn new(run: Option<Run>, baseline: Answers, recorded: Option<RecordedSystem>) -> Self {
        let records = run.into_iter().flat_map(|run| run.records);
        Self { run: records.map(|record| (record.case.clone(), record)).collect(), baseline, recorded }
    }

    /// The answer to a case, where it comes from, and what a judge said of it then.
    pub(super) fn of(&self, case: &GoldenCase) -> (Source, Option<Sample>, Transcript) {
        let digest = case.digest();
        if let Some(record) = self.run.get(&case.id).filter(|record| record.digest == digest)
            && let Taken::Sample(sample) = &record.taken
        {
            return (Source::Run, Some(sample.clone()), record.transcript.clone());
        }
        let none = Transcript::default();
        if let Some(accepted) = self.accepted(case) {
            return (Source::Baseline, Some(accepted), none);
        }
        let recorded = self.recorded.as_ref().and_then(|recorded| recorded.answer(&Question::from(case)).ok());
        if let Some(asked) = recorded {
            return (Source::Recorded, Some(sample(case, asked.answer)), none);
        }
        match stand_in(case) {
            Some(answer) => (Source::StandIn, Some(sample(case, answer)), none),
            None => (Source::Nothing, None, none),
        }
    }

    /// The accepted sample, where the case is still the same.
    pub(super) fn accepted(&self, case: &GoldenCase) -> Option<Sample> {
        self.baseline.sample_of(case)
    }
}

fn sample(case: &GoldenCase, answer: Answer) -> Sample {
    let is_refusal = answer.refused.unwrap_or_else(|| text::is_refusal(&answer.response, case.language));
    Sample { answer, is_refusal, latency_ms: None }
}

/// What a good system might do with the case; `None` for one without a reference.
fn stand_in(case: &GoldenCase) -> Option<Answer> {
    let contexts = |answer: &str| match &case.reference_contexts[..] {
        // An answer from nothing is judged without asking: the reference stands for the text that it would come from.
        [] => vec![RetrievedContext::without_id(answer)],
        texts => texts.iter().map(RetrievedContext::without_id).collect(),
    };
    match case.expectation {
        Expectation::Refuse => {
            let answer = case.references.first().map_or("", String::as_str);
            Some(Answer::new(answer).with_refused(true).with_contexts(contexts(answer)))
        }
        Expectation::Answer => {
            let answer = case.references.first().or(case.reference_contexts.first())?;
            Some(Answer::new(answer.clone()).with_contexts(contexts(answer)))
        }
    }
}
