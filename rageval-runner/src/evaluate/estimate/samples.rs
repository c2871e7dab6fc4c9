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
    pub(super) run: BTreeMap<CaseId, Record>,
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

    /// The known answers to a case, each with what a judge said of it then, and where they come from. Fewer than the case is asked for
    /// where no more are known: at least one, but for `Source::Nothing`.
    pub(super) fn of(&self, case: &GoldenCase) -> (Source, Vec<(Sample, Transcript)>) {
        let earlier = self.of_run(case);
        if !earlier.is_empty() {
            return (Source::Run, earlier);
        }
        let alone = |sample| vec![(sample, Transcript::default())];
        if let Some(accepted) = self.accepted(case) {
            return (Source::Baseline, alone(accepted));
        }
        let recorded = self.of_file(case);
        if !recorded.is_empty() {
            return (Source::Recorded, recorded);
        }
        match stand_in(case) {
            Some(answer) => (Source::StandIn, alone(sample(case, answer))),
            None => (Source::Nothing, Vec::new()),
        }
    }

    fn of_run(&self, case: &GoldenCase) -> Vec<(Sample, Transcript)> {
        let Some(record) = self.run.get(&case.id).filter(|record| record.digest == case.digest()) else {
            return Vec::new();
        };
        let answered = |taken: &Taken, transcript: &Transcript| match taken {
            Taken::Sample(sample) => Some((sample.clone(), transcript.clone())),
            Taken::Failed(_) => None,
        };
        match &record.repeats {
            None => answered(&record.taken, &record.transcript).into_iter().collect(),
            Some(repeats) => {
                let each = repeats.each.iter().take(case.repeats.times);
                each.filter_map(|repeat| answered(&repeat.taken, &repeat.transcript)).collect()
            }
        }
    }

    fn of_file(&self, case: &GoldenCase) -> Vec<(Sample, Transcript)> {
        let Some(recorded) = &self.recorded else { return Vec::new() };
        let question = |repeat| Question { repeat: Some(repeat), ..Question::from(case) };
        let answers = (1..=case.repeats.times).filter_map(|repeat| recorded.answer(&question(repeat)).ok());
        answers.map(|asked| (sample(case, asked.answer), Transcript::default())).collect()
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
