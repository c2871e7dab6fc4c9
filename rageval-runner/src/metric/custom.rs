//! Metrics of the user: a plain function of case and sample.

use super::{Kind, Metric, Params, Step};
use crate::model::{GoldenCase, Outcome, Sample, Transcript};

/// A metric made of a function; `#[rageval_runner::metric]` writes one.
///
/// It applies to every case; a function that has nothing to measure returns [`Outcome::NotApplicable`]. It counts as a text metric,
/// so `not: true` negates it. A panic of the function leaves the case unmeasured.
///
/// ```
/// use rageval_runner::{metric::{FnMetric, Metric as _}, model::{Outcome, UnitInterval}};
///
/// static BRIEF: FnMetric = FnMetric::new("brief", "whether the answer is one line", 1, |_case, sample| {
///     Outcome::scored(UnitInterval::from_yes(sample.answer.response.lines().count() <= 1))
/// });
/// assert_eq!(BRIEF.name(), "brief");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct FnMetric {
    name: &'static str,
    about: &'static str,
    version: u32,
    measure: fn(&GoldenCase, &Sample) -> Outcome,
}

impl FnMetric {
    /// A metric of this name; raise the version whenever the same input may score differently.
    pub const fn new(
        name: &'static str,
        about: &'static str,
        version: u32,
        measure: fn(&GoldenCase, &Sample) -> Outcome,
    ) -> Self {
        Self { name, about, version, measure }
    }
}

impl Metric for FnMetric {
    fn name(&self) -> &str {
        self.name
    }

    fn about(&self) -> &str {
        self.about
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn step(&self, input: &super::Input<'_>, _transcript: &Transcript) -> Step {
        Step::Done((self.measure)(input.case, input.sample))
    }
}
