//! The metric `g_eval`: a score by your own criteria, reached by evaluation steps.

mod score;
pub mod steps;
#[cfg(test)]
mod tests;

use self::score::{expected_score, normalised, score, score_with_probabilities};
use super::{
    Formula, Input, Kind, Made, Metric, Param, ParamKind, Params, Step,
    asking::{self, Reading},
    cause, material,
    worked::equals,
};
use crate::{
    model::{Detail, Ending, GoldenCase, JudgeRequest, Outcome, Request, SCORE_PROBABILITIES, Transcript, Unmeasured},
    report::console::text,
};

/// A whole score that a judge gives by criteria and evaluation steps: G-Eval (Liu et al. 2023, arXiv 2303.16634, section 2).
///
/// The score s on the scale 1 to n becomes (s - 1) / (n - 1). What s is depends on `mode`: the one score that was given; the mean over
/// `samples` requests; or the sum of p(s) x s over the scores (the paper's equation 1), p taken from the judge's log probabilities and
/// divided by their sum over the scores seen.
///
/// Not applicable to a right refusal, and where `fields` has the reference and the case has none. Unmeasured for a blank answer, without
/// `steps`, where a sample has no readable score, and with `mode: logprobs` where the judge gives no probabilities or they cover less
/// than half of what it could have said.
#[derive(Debug, Clone, Copy)]
pub struct GEval;

/// How the score is read off the judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// One score.
    Single,
    /// The mean of so many.
    Samples(u32),
    /// Weighted by the probabilities of the scores.
    Logprobs,
}

/// The highest score where `scale` is left out: the paper's.
const DEFAULT_SCALE: usize = 5;

/// Scores have at most two digits, since judges tell finer ones apart at random.
const LARGEST_SCALE: usize = 10;

/// With log probabilities a score is one digit: of two digits nobody can tell whether they are one token or the first is a score.
const LARGEST_SCALE_OF_LOGPROBS: usize = 9;

/// How many samples are taken where `samples` is left out. The paper takes 20.
const DEFAULT_SAMPLES: usize = 5;

/// No more requests than that for one case.
const MOST_SAMPLES: usize = 100;

impl Metric for GEval {
    fn name(&self) -> &str {
        "g_eval"
    }

    fn about(&self) -> &str {
        "a score by your own criteria, reached by evaluation steps (G-Eval)"
    }

    fn formula(&self, params: &Params) -> Formula {
        Formula::of(match mode(params) {
            Ok(Mode::Samples(_)) => "(mean of the scores - 1) / (scale - 1)",
            Ok(Mode::Logprobs) => "(sum of score x its probability - 1) / (scale - 1)",
            Ok(Mode::Single) | Err(_) => "(score - 1) / (scale - 1)",
        })
    }

    fn worked(&self, Made { input, value, detail, .. }: &Made<'_>) -> Option<Vec<String>> {
        let scale = scale(input.params).ok()?;
        let reached = text::score(1.0 + value * (scale - 1) as f64);
        let note = detail.note.iter().cloned();
        Some(note.chain([format!("({reached} - 1) / ({scale} - 1){}", equals(*value))]).collect())
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn params(&self) -> &[Param] {
        &[
            Param {
                name: "criteria",
                kind: ParamKind::Text,
                about: "what is scored; without `steps` they are read from `g_eval/LABEL.yaml`, which `cargo rageval steps` writes",
            },
            Param { name: "steps", kind: ParamKind::Texts, about: "the evaluation steps, in their order" },
            Param {
                name: "fields",
                kind: ParamKind::SomeOf(&material::FIELDS),
                about: "what the judge is shown; `[query, answer]` where it is left out",
            },
            Param {
                name: "scale",
                kind: ParamKind::Whole(2, LARGEST_SCALE),
                about: "the highest score, the lowest being 1; 5 where it is left out, at most 9 with `mode: logprobs`",
            },
            Param {
                name: "mode",
                kind: ParamKind::OneOf(&["single", "samples", "logprobs"]),
                about: "one score (the default), the mean of several, or weighted by the judge's log probabilities",
            },
            Param {
                name: "samples",
                kind: ParamKind::Whole(2, MOST_SAMPLES),
                about: "how many scores `mode: samples` takes the mean of; 5 where it is left out, 20 in the paper",
            },
        ]
    }

    fn not_applicable(&self, case: &GoldenCase, params: &Params) -> Option<String> {
        material::lacks_field(case, params)
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        if let Some(outcome) = material::settled(input) {
            return Step::Done(outcome);
        }
        let (scale, mode) = match (scale(input.params), mode(input.params)) {
            (Ok(scale), Ok(mode)) => (scale, mode),
            (Err(why), _) | (_, Err(why)) => return Step::Done(unusable(&why)),
        };
        if mode == Mode::Logprobs && scale > LARGEST_SCALE_OF_LOGPROBS {
            let why = "with `mode: logprobs` a score is one digit; set `scale` to 9 or less";
            return Step::Done(unusable(why));
        }
        let Some(request) = request(input, scale) else {
            let why = "there are no `steps`; write them, or `criteria` and have them made: cargo rageval steps";
            return Step::Done(unusable(why));
        };
        match mode {
            Mode::Single => asking::read(transcript, &request, |reply| score(reply, scale))
                .then(|score| outcome(score as f64, scale, format!("mode single: {score} on a scale of 1 to {scale}"))),
            Mode::Samples(count) => sampled(transcript, &request, scale, count),
            Mode::Logprobs => weighted(transcript, request, scale),
        }
    }
}

fn unusable(why: &str) -> Outcome {
    Outcome::unmeasured(cause::PARAMETER, format!("g_eval: {why}"))
}

fn outcome(score: f64, scale: usize, note: String) -> Outcome {
    super::scoring::scored(normalised(score, scale), Detail { note: Some(note), ..Detail::default() })
}

/// A parameter that is a whole number between two bounds.
fn whole(params: &Params, name: &str, default: usize, least: usize, most: usize) -> Result<usize, String> {
    match params.0.get(name) {
        None => Ok(default),
        Some(value) => value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| format!("`{name}` is a whole number from {least} to {most}")),
    }
}

fn scale(params: &Params) -> Result<usize, String> {
    whole(params, "scale", DEFAULT_SCALE, 2, LARGEST_SCALE)
}

fn mode(params: &Params) -> Result<Mode, String> {
    match params.text("mode") {
        None | Some("single") => Ok(Mode::Single),
        Some("samples") => {
            let samples = whole(params, "samples", DEFAULT_SAMPLES, 2, MOST_SAMPLES)?;
            Ok(Mode::Samples(u32::try_from(samples).unwrap_or(u32::MAX)))
        }
        Some("logprobs") => Ok(Mode::Logprobs),
        Some(other) => Err(format!("there is no mode `{other}`; those that there are: single, samples, logprobs")),
    }
}

/// The request; `None` without steps.
fn request(input: &Input<'_>, scale: usize) -> Option<JudgeRequest> {
    let steps: Vec<_> = input.params.texts("steps").into_iter().filter(|step| !step.trim().is_empty()).collect();
    if steps.is_empty() {
        return None;
    }
    let mut request = JudgeRequest::new("g_eval.score", input.language());
    if let Some(criteria) = input.params.text("criteria") {
        request = request.text("criteria", criteria);
    }
    Some(material::with_chosen_fields(request.numbered("steps", steps), input).text("scale", scale.to_string()))
}

/// The mean over all samples; one that has no score leaves the metric unmeasured, since the others are not a sample of their own.
fn sampled(transcript: &Transcript, request: &JudgeRequest, scale: usize, count: u32) -> Step {
    let mut scores = Vec::new();
    let mut asks: Vec<Request> = Vec::new();
    for sample in 0..count {
        let request = JudgeRequest { sample, ..request.clone() };
        match asking::read(transcript, &request, |reply| score(reply, scale)) {
            Reading::Read(score) => scores.push(score),
            Reading::Ask(request) => asks.push(request),
            Reading::Fault(Unmeasured { cause, why }) => {
                return Step::Done(Outcome::unmeasured(cause, format!("sample {} of {count}: {why}", sample + 1)));
            }
        }
    }
    if !asks.is_empty() {
        return Step::Ask(asks);
    }
    let mean = scores.iter().sum::<usize>() as f64 / f64::from(count);
    let shown: Vec<_> = scores.iter().map(ToString::to_string).collect();
    let note = format!("mode samples: mean {mean:.2} of {count} on a scale of 1 to {scale} ({})", shown.join(", "));
    Step::Done(outcome(mean, scale, note))
}

/// The sum over the scores of score x probability.
fn weighted(transcript: &Transcript, request: JudgeRequest, scale: usize) -> Step {
    let request = JudgeRequest { logprobs: true, ..request };
    match asking::read(transcript, &request, |reply| score_with_probabilities(reply, scale)) {
        Reading::Ask(request) => Step::Ask(vec![request]),
        Reading::Fault(Unmeasured { cause, why }) if cause == Ending::Unsupported.cause() => {
            Step::Done(Outcome::unmeasured(cause, format!("{why}; {OTHER_MODE}")))
        }
        Reading::Fault(fault) => Step::Done(Outcome::Unmeasured { fault }),
        Reading::Read(None) => {
            let why = format!("g_eval.score: the reply has no `{SCORE_PROBABILITIES}`; {OTHER_MODE}");
            Step::Done(Outcome::unmeasured(Ending::Unsupported.cause(), why))
        }
        Reading::Read(Some(probabilities)) => Step::Done(match expected_score(&probabilities) {
            Ok(expected) => {
                let shown: Vec<_> = probabilities.iter().map(|(score, p)| format!("{score}: {p:.3}")).collect();
                let shown = shown.join(", ");
                let note = format!("mode logprobs: {expected:.2} on a scale of 1 to {scale} ({shown})");
                outcome(expected, scale, note)
            }
            Err(why) => Outcome::unmeasured(cause::PROBABILITIES, format!("g_eval.score: {why}; {OTHER_MODE}")),
        }),
    }
}

/// What to do about a judge that gives no probabilities. Nobody does it for the user: two modes are two metrics.
const OTHER_MODE: &str = "use a judge that gives log probabilities, or set `mode: samples` or `mode: single`";
