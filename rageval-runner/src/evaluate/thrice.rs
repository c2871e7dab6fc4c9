//! Reads a judged score until a baseline can be made of it: three readings, and what most of them say.

use super::Evaluation;
use crate::{
    metric::majority::{majority, readings},
    model::{GoldenCase, Heard, MetricKey, Outcome, Sample},
};

/// How many readings a baseline is made of, the first one counted.
pub const READINGS: usize = 3;

/// How many more calls may come to nothing before it is given up.
const SPARE: usize = 2;

/// A score that was read once, or has been read further for a confirmation.
#[derive(Debug, Clone, Copy)]
pub struct ReadFirst<'a> {
    /// The case.
    pub case: &'a GoldenCase,
    /// The answer.
    pub sample: &'a Sample,
    /// The metric.
    pub metric: &'a MetricKey,
    /// The first reading.
    pub first: &'a Outcome,
    /// Further readings that are there already, in their order.
    pub heard: &'a [Heard],
}

impl Evaluation {
    /// What [`READINGS`] readings say of a score; those that are there already are taken before anything is asked.
    ///
    /// # Errors
    /// Why there are fewer, in the words of the last call that came to nothing.
    pub async fn read_thrice(&self, read: ReadFirst<'_>) -> Result<Outcome, String> {
        let ReadFirst { case, sample, metric, first, heard } = read;
        let mut heard = heard.to_vec();
        let mut last = String::new();
        let most = heard.len() + READINGS - 1 + SPARE;
        while readings(&heard) < READINGS {
            if heard.len() >= most {
                return Err(last);
            }
            let number = u32::try_from(heard.len() + 1).unwrap_or(u32::MAX);
            let fresh = self.reread(case, sample, metric, first, number).await.heard;
            if let Heard::Nothing { why } = &fresh {
                last.clone_from(why);
            }
            heard.push(fresh);
        }
        self.with_input(case, sample, metric, |metric, input| majority(metric, input, first, &heard))
            .ok_or_else(|| format!("no metric is called `{}`", metric.name()))
    }
}
