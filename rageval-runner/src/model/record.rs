//! One case evaluated: its sample and the outcome of every metric.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    ids::{CaseId, MetricKey},
    outcome::{Outcome, Unmeasured},
    readings::{Confirmation, Readings},
    repeats::Repeated,
    sample::Sample,
    transcript::{Exchange, Transcript},
};

/// One case evaluated. What was asked and read first is final for its run; further readings are added and change nothing of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// The case.
    pub case: CaseId,
    /// Content digest of the case when it was asked.
    pub digest: String,
    /// What the system did.
    pub taken: Taken,
    /// One outcome for each metric of the policy.
    #[serde(deserialize_with = "each_once")]
    pub outcomes: BTreeMap<MetricKey, Outcome>,
    /// What was asked of the judge, and its replies.
    #[serde(default)]
    pub transcript: Transcript,
    /// Further readings of judged scores, by metric; the outcomes above stay the first readings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub readings: BTreeMap<MetricKey, Readings>,
    /// Every repeat of a case that was asked several times; absent where it was asked once. The outcomes above are reduced from them,
    /// sample and transcript above are those of one of them, or the first failure of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeated>,
}

/// Reads a map in which each key stands once: of two outcomes of one metric, none can be believed.
pub(crate) fn each_once<'de, D, K, V>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
where
    D: serde::Deserializer<'de>,
    K: Deserialize<'de> + Ord + std::fmt::Display,
    V: Deserialize<'de>,
{
    struct EachOnce<K, V>(std::marker::PhantomData<(K, V)>);

    impl<'de, K, V> serde::de::Visitor<'de> for EachOnce<K, V>
    where
        K: Deserialize<'de> + Ord + std::fmt::Display,
        V: Deserialize<'de>,
    {
        type Value = BTreeMap<K, V>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a map in which each key stands once")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some((key, value)) = access.next_entry::<K, V>()? {
                if map.contains_key(&key) {
                    return Err(serde::de::Error::custom(format!("`{key}` stands twice")));
                }
                map.insert(key, value);
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(EachOnce(std::marker::PhantomData))
}

/// The records of a run, by case; shared between whoever decides over them.
pub type Records = BTreeMap<CaseId, Arc<Record>>;

/// What came of asking the system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "taken", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Taken {
    /// It answered.
    Sample(Sample),
    /// It did not: an error, a time-out, a crash, an invalid reply.
    Failed(Unmeasured),
}

impl Record {
    /// A record as it is first made: nothing was read again.
    pub fn new(
        case: CaseId,
        digest: String,
        taken: Taken,
        outcomes: BTreeMap<MetricKey, Outcome>,
        transcript: Transcript,
    ) -> Self {
        Self { case, digest, taken, outcomes, transcript, readings: BTreeMap::new(), repeats: None }
    }

    /// What a metric says after confirmation: what its readings settled, else its first reading. `None` where it has no outcome.
    pub fn settled(&self, metric: &MetricKey) -> Option<&Outcome> {
        let confirmed = self.readings.get(metric).and_then(|readings| readings.confirmation.as_ref());
        let settled = confirmed.and_then(Confirmation::settled);
        settled.or_else(|| self.outcomes.get(metric))
    }

    /// Whether the case was asked several times. Its outcomes rest on several readings already, so that no judge is asked again about
    /// them to confirm a suspicion.
    pub fn is_repeated(&self) -> bool {
        self.repeats.is_some()
    }

    /// Every answer of the system: those of all repeats, also where one of them failed.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        let of_repeats = self.repeats.iter().flat_map(|repeats| &repeats.each).map(|repeat| &repeat.taken);
        let alone = self.repeats.is_none().then_some(&self.taken);
        of_repeats.chain(alone).filter_map(|taken| match taken {
            Taken::Sample(sample) => Some(sample),
            Taken::Failed(_) => None,
        })
    }

    /// Everything that was asked of the judge, for all repeats.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        let of_repeats = self.repeats.iter().flat_map(|repeats| &repeats.each).map(|repeat| &repeat.transcript);
        let alone = self.repeats.is_none().then_some(&self.transcript);
        of_repeats.chain(alone).flat_map(|transcript| &transcript.exchanges)
    }

    /// Adds further readings of a metric to those that are there.
    pub fn add_readings(&mut self, metric: MetricKey, more: Readings) {
        let Readings { now, baseline, confirmation, second, second_failed } = more;
        let readings = self.readings.entry(metric).or_default();
        readings.now.extend(now);
        readings.baseline.extend(baseline);
        readings.confirmation = confirmation.or(readings.confirmation.take());
        readings.second = second.or(readings.second);
        readings.second_failed |= second_failed;
    }

    /// The sample, where the system answered.
    pub fn sample(&self) -> Option<&Sample> {
        match &self.taken {
            Taken::Sample(sample) => Some(sample),
            Taken::Failed(_) => None,
        }
    }

    /// Every fault of this record: of the system once, else of each metric with its key.
    pub fn faults(&self) -> Vec<(Option<&MetricKey>, &Unmeasured)> {
        match &self.taken {
            Taken::Failed(fault) => vec![(None, fault)],
            Taken::Sample(_) => self
                .outcomes
                .iter()
                .filter_map(|(key, outcome)| outcome.fault().map(|fault| (Some(key), fault)))
                .collect(),
        }
    }

    /// Whether anything in it is unmeasured.
    pub fn is_unmeasured(&self) -> bool {
        !self.faults().is_empty()
    }
}
