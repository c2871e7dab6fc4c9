//! What stands here beside the run: rules, cases and baseline, as far as they can be read.

use std::collections::BTreeMap;

use rageval_runner::{
    gate::{Basis, MetricFacts},
    load::{self, Policy},
    metric::Metric,
    model::{
        CaseId, GoldenCase, GoldenSet,
        run::{Baseline, Manifest},
    },
    report::console::text::visible,
    store::baseline::{self, Answers},
};

use crate::context::Context;

/// The files that stand here. What cannot be read is missing, and a notice says so: the run can be explained in part without.
pub(super) struct Surroundings {
    pub(super) policy: Option<Policy>,
    set: GoldenSet,
    pub(super) baseline: Option<Baseline>,
    /// The baseline's answers, for metrics that compare with them.
    pub(super) answers: Answers,
    facts: BTreeMap<String, MetricFacts>,
    /// Whether the judge of thresholds.yaml is the one of the run.
    pub(super) notices: Vec<String>,
}

impl Surroundings {
    /// Reads what there is.
    pub(super) fn read(context: &Context, metrics: &[&dyn Metric], manifest: &Manifest) -> Self {
        let facts = metrics.iter().map(|metric| (metric.name().to_owned(), MetricFacts::of(*metric))).collect();
        let mut here = Self {
            policy: None,
            set: GoldenSet::default(),
            baseline: None,
            answers: Answers::default(),
            facts,
            notices: Vec::new(),
        };
        let file = context.root.join(load::FILE_NAME);
        if !file.is_file() {
            here.notices
                .push("no thresholds.yaml here or above: no rules, no baseline, no prompts and no keys".to_owned());
            return here;
        }
        let policy = match load::policy(&file, metrics) {
            Ok(policy) => policy,
            Err(problems) => {
                let why = first_line(&problems.to_string());
                here.notices.push(format!("thresholds.yaml cannot be read by this command ({why}): no rules, no baseline, no prompts and no keys"));
                return here;
            }
        };
        match load::cases(&policy, metrics) {
            Ok(set) => here.set = set,
            Err(problems) => {
                let why = first_line(&problems.to_string());
                here.notices.push(format!(
                    "the golden cases cannot be read ({why}): the question and what was expected are not known"
                ));
            }
        }
        if policy.digest != manifest.policy_digest {
            here.notices.push(
                "thresholds.yaml is not the one of the run: rules and parameters below are those that stand here now"
                    .to_owned(),
            );
        }
        here.read_baseline(&policy);
        here.policy = Some(policy);
        here
    }

    fn read_baseline(&mut self, policy: &Policy) {
        let Some(regression) = &policy.rules.regression else { return };
        let path = policy.root.join(&regression.baseline);
        match baseline::read(&path) {
            Ok(read) => {
                let texts = baseline::read_texts(&path);
                self.answers = texts.and_then(|texts| Answers::new(&path, &read, &texts)).unwrap_or_default();
                self.baseline = Some(read);
            }
            Err(error) => self.notices.push(format!("the baseline cannot be read: {}", visible(&error.to_string()))),
        }
    }

    /// The golden case, where it stands here.
    pub(super) fn case(&self, id: &CaseId) -> Option<&GoldenCase> {
        self.set.get(id)
    }

    /// What decisions on the run's cases rest on, where there are rules.
    pub(super) fn basis<'a>(&'a self, manifest: &'a Manifest) -> Option<Basis<'a>> {
        let policy = self.policy.as_ref()?;
        Some(Basis {
            rules: &policy.rules,
            baseline: self.baseline.as_ref(),
            // No single case is compared with more than the baseline.
            history: &[],
            judge: &manifest.judge,
            metrics: &self.facts,
            seed: manifest.seed,
            target: manifest.target.as_deref().unwrap_or("rag_regression"),
        })
    }
}

fn first_line(text: &str) -> String {
    visible(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim_start_matches("error: "))
}
