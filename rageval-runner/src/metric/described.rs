//! A metric of another binary, known by what a run says of it: its rules can be read and its scores decided over, and none can be made.

use super::{Cutoff, Kind, Metric, Param, ParamKind, Params, Step};
use crate::model::{GoldenCase, Outcome, Transcript, described::DescribedMetric};

/// The stand-in for a metric that this binary does not link.
#[derive(Debug, Clone)]
pub struct Described {
    name: String,
    facts: DescribedMetric,
    params: Vec<Param>,
    judged_when: Option<(&'static str, &'static str)>,
}

impl Described {
    /// The metric of this name as a run describes it.
    ///
    /// What the trait promises for as long as the program runs, the names of parameters, is kept for as long: some bytes a metric.
    pub fn new(name: &str, facts: DescribedMetric) -> Self {
        let about = "of a metric of your own, which checks it itself";
        let param = |name: &String| Param { name: kept(name), kind: ParamKind::Any, about };
        let params = facts.parameters.iter().map(param).collect();
        let judged_when = facts.judged_when.as_ref().map(|(name, word)| (kept(name), kept(word)));
        Self { name: name.to_owned(), facts, params, judged_when }
    }
}

fn kept(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// What others must know of a metric; `rules` are the parameters of each rule that names it.
pub fn describe<'p>(metric: &dyn Metric, mut rules: impl Iterator<Item = &'p Params>) -> DescribedMetric {
    DescribedMetric {
        about: metric.about().to_owned(),
        kind: metric.kind(),
        version: metric.version(),
        cutoff: metric.cutoff(),
        parameters: metric.params().iter().map(|param| param.name.to_owned()).collect(),
        judged_when: metric.judged_when().map(|(name, word)| (name.to_owned(), word.to_owned())),
        reads_baseline: metric.reads_baseline(),
        needs_embedder: rules.any(|params| metric.needs_embedder(params)),
    }
}

impl Metric for Described {
    fn name(&self) -> &str {
        &self.name
    }

    fn about(&self) -> &str {
        &self.facts.about
    }

    fn kind(&self) -> Kind {
        self.facts.kind
    }

    fn version(&self) -> u32 {
        self.facts.version
    }

    fn cutoff(&self) -> Cutoff {
        self.facts.cutoff
    }

    fn params(&self) -> &[Param] {
        &self.params
    }

    fn judged_when(&self) -> Option<(&'static str, &'static str)> {
        self.judged_when
    }

    fn reads_baseline(&self) -> bool {
        self.facts.reads_baseline
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn needs_embedder(&self, _params: &Params) -> bool {
        self.facts.needs_embedder
    }

    fn step(&self, _input: &super::Input<'_>, _transcript: &Transcript) -> Step {
        let why = format!("`{}` is a metric of a test binary, which alone can measure it", self.name);
        Step::Done(Outcome::unmeasured(super::cause::ELSEWHERE, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{METRICS, params_of};

    /// Every built-in metric, described and stood in for, says of itself what it said.
    #[test]
    fn a_description_tells_what_the_metric_says_of_itself() {
        for metric in METRICS {
            let described = Described::new(metric.name(), describe(*metric, [Params::default()].iter()));
            let names = |metric: &dyn Metric| {
                let mut names: Vec<_> = params_of(metric).iter().map(|param| param.name).collect();
                names.sort_unstable();
                names
            };
            assert_eq!(names(&described), names(*metric), "{}", metric.name());
            assert_eq!((described.kind(), described.cutoff()), (metric.kind(), metric.cutoff()));
            assert_eq!((described.version(), described.about()), (metric.version(), metric.about()));
            assert_eq!(described.judged_when(), metric.judged_when());
            assert_eq!(described.reads_baseline(), metric.reads_baseline());
            assert_eq!(described.needs_embedder(&Params::default()), metric.needs_embedder(&Params::default()));
        }
    }
}
