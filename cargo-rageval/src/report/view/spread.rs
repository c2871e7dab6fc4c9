//! How numbers of a run spread, and whether readings of one thing differ.

use rageval_runner::model::{Heard, Outcome, Record, record::Taken};

/// Percentiles of what was measured, by nearest rank: each is a number that somebody measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// How many.
    pub(crate) n: usize,
    /// Half of them are at most this.
    pub(crate) p50: f64,
    /// 95 of 100 are at most this.
    pub(crate) p95: f64,
    /// All together.
    pub(crate) sum: f64,
}

impl Spread {
    /// Of finite numbers; `None` of none.
    pub(crate) fn of(numbers: impl Iterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = numbers.filter(|number| number.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let nearest = |percent: usize| sorted.get((sorted.len() * percent).div_ceil(100).max(1) - 1).copied();
        Some(Self { n: sorted.len(), p50: nearest(50)?, p95: nearest(95)?, sum: sorted.iter().sum() })
    }
}

/// Whether repeats of a case came out differently, or further readings of one answer gave other verdicts.
pub(super) fn is_flaky(record: &Record) -> bool {
    let repeats = record.repeats.iter().flat_map(|repeats| {
        let keys = repeats.each.iter().flat_map(|repeat| repeat.outcomes.keys());
        keys.map(|key| {
            let scores = repeats.each.iter().map(|repeat| match &repeat.taken {
                Taken::Sample(_) => repeat.outcomes.get(key).and_then(Outcome::score),
                Taken::Failed(_) => None,
            });
            scores.collect::<Vec<_>>()
        })
    });
    let differ = |scores: Vec<_>| scores.windows(2).any(|pair| pair[0] != pair[1]);
    let mut readings = record.readings.values();
    repeats.into_iter().any(differ)
        || readings.any(|readings| heard_differ(&readings.now) || heard_differ(&readings.baseline))
}

fn heard_differ(heard: &[Heard]) -> bool {
    let told: Vec<&Heard> = heard.iter().filter(|heard| !matches!(heard, Heard::Nothing { .. })).collect();
    told.windows(2).any(|pair| pair[0] != pair[1])
}
