//! A baseline whose recorded answers were judged again.

use std::collections::BTreeMap;

use super::Texts;
use crate::model::{
    CaseId, MetricKey, Outcome,
    run::{Baseline, BaselineCase, BaselineManifest, JudgeStamp, SetStamp},
};

/// What judging again has found, and who judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejudging {
    /// The judge, as a run of it says.
    pub judge: JudgeStamp,
    /// What it says now, by case; a case that is not here leaves the baseline.
    pub outcomes: BTreeMap<CaseId, BTreeMap<MetricKey, Outcome>>,
    /// The version of each metric that was judged again, by its name.
    pub versions: BTreeMap<String, u32>,
    /// The digest of the parameters of each, where the policy names it.
    pub parameters: BTreeMap<MetricKey, String>,
    /// How often each score was read.
    pub readings: Option<u32>,
}

/// The baseline with the outcomes of the later judge in the place of those that the earlier one gave, and the texts that it still refers to.
///
/// `is_judged` says which outcomes are a judge's; those that the later one did not give again go, since two judges can't stand in one
/// baseline. All else is as it was: the answers, the reasons, the commit.
pub fn rejudged(
    earlier: &Baseline,
    texts: &Texts,
    later: &Rejudging,
    is_judged: impl Fn(&MetricKey) -> bool,
) -> (Baseline, Texts) {
    let mut cases = BTreeMap::new();
    for (id, outcomes) in &later.outcomes {
        let Some(before) = earlier.cases.get(id) else { continue };
        let kept = before.outcomes.iter().filter(|(key, _)| !is_judged(key));
        let outcomes = kept.chain(outcomes).map(|(key, outcome)| (key.clone(), outcome.clone())).collect();
        cases.insert(id.clone(), BaselineCase { outcomes, ..before.clone() });
    }
    let BaselineManifest { golden_set, metric_versions, parameters, .. } = earlier.manifest.clone();
    let is_left = |name: &str| cases.values().flat_map(|case| case.outcomes.keys()).any(|key| key.name() == name);
    let manifest = BaselineManifest {
        golden_set: SetStamp { cases: cases.len(), ..golden_set },
        judge: later.judge.clone(),
        metric_versions: metric_versions
            .into_iter()
            .filter(|(name, _)| is_left(name))
            .chain(later.versions.clone())
            .collect(),
        parameters: parameters.into_iter().filter(|(key, _)| !is_judged(key)).chain(later.parameters.clone()).collect(),
        readings: later.readings,
        ..earlier.manifest.clone()
    };
    let is_used = |digest: &String| cases.values().any(|case| case.context_digests.contains(digest));
    let texts = texts.iter().filter(|(digest, _)| is_used(digest));
    let texts = texts.map(|(digest, text)| (digest.clone(), text.clone())).collect();
    (Baseline { manifest, cases }, texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::UnitInterval, store::baseline::text_digest};

    fn key(text: &str) -> MetricKey {
        MetricKey::parse(text).expect("a key")
    }

    fn score(of: f64) -> Outcome {
        Outcome::scored(UnitInterval::new(of).expect("in range"))
    }

    fn id(text: &str) -> CaseId {
        CaseId::new(text).expect("an id")
    }

    fn stamp(model: &str) -> JudgeStamp {
        JudgeStamp { provider: "openai".to_owned(), model: model.to_owned(), fingerprint: model.to_owned() }
    }

    fn case(text: &str) -> BaselineCase {
        BaselineCase {
            digest: "one".to_owned(),
            response: "30 days.".to_owned(),
            refused: None,
            retrieved: vec![None],
            context_digests: vec![text_digest(text)],
            outcomes: [("recall@5", 0.5), ("faithfulness", 0.5), ("rubric", 0.2)]
                .map(|(k, s)| (key(k), score(s)))
                .into(),
        }
    }

    #[test]
    fn the_later_judge_takes_the_place_of_the_earlier_one_and_nothing_else_changes() {
        let versions = [("recall", 1), ("faithfulness", 1), ("rubric", 1)].map(|(name, v)| (name.to_owned(), v));
        let manifest = BaselineManifest {
            golden_set: SetStamp { cases: 2, digest: "set".to_owned(), ..SetStamp::default() },
            judge: stamp("one"),
            metric_versions: versions.into(),
            parameters: [("faithfulness", "p"), ("rubric", "p"), ("recall@5", "p")]
                .map(|(k, digest)| (key(k), digest.to_owned()))
                .into(),
            git_revision: Some("abc".to_owned()),
            ..BaselineManifest::default()
        };
        let earlier = Baseline { manifest, cases: [(id("a"), case("left")), (id("b"), case("gone"))].into() };
        let texts: Texts = ["left", "gone"].map(|text| (text_digest(text), text.to_owned())).into();
        let later = Rejudging {
            judge: stamp("two"),
            outcomes: [(id("a"), [(key("faithfulness"), score(0.9))].into())].into(),
            versions: [("faithfulness".to_owned(), 2)].into(),
            parameters: [(key("faithfulness"), "q".to_owned())].into(),
            readings: Some(3),
        };
        let (baseline, texts) = rejudged(&earlier, &texts, &later, |key| key.name() != "recall");
        assert_eq!(baseline.cases.keys().map(CaseId::as_str).collect::<Vec<_>>(), ["a"]);
        let left = &baseline.cases[&id("a")];
        assert_eq!(left.outcomes, [("recall@5", 0.5), ("faithfulness", 0.9)].map(|(k, s)| (key(k), score(s))).into());
        assert_eq!(left.response, "30 days.");
        let BaselineManifest { golden_set, judge, metric_versions, parameters, readings, git_revision, .. } =
            baseline.manifest;
        assert_eq!((golden_set.cases, judge, readings), (1, stamp("two"), Some(3)));
        assert_eq!(metric_versions, [("recall", 1), ("faithfulness", 2)].map(|(name, v)| (name.to_owned(), v)).into());
        assert_eq!(parameters.len(), 2);
        assert_eq!((parameters[&key("faithfulness")].as_str(), git_revision.as_deref()), ("q", Some("abc")));
        assert_eq!(texts.into_values().collect::<Vec<_>>(), ["left"]);
    }
}
