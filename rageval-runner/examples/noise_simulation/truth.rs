//! What is true of a simulated system and its judge, drawn from the number of the run.

use rageval_runner::stats::draw::Draws;

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setting {
    /// Cases of the set, each with 1 to 8 claims, all as likely.
    pub(crate) cases: usize,
    /// Chance that a reading says the wrong thing of a claim.
    pub(crate) flips: f64,
    /// Share of good claims that are hard to judge.
    pub(crate) borderline: f64,
    /// Chance that a reading finds a borderline claim bad.
    pub(crate) borderline_bad: f64,
    /// Whether each further sample repeats the first.
    pub(crate) repeats: bool,
    /// Share of answers that changed since the baseline.
    pub(crate) changed: f64,
    /// Cases that truly lost one claim.
    pub(crate) lost: usize,
}

impl Setting {
    /// 200 cases, 5 % flips, 30 % of the answers changed, nothing lost.
    pub(crate) const MAIN: Self =
        Self { cases: 200, flips: 0.05, borderline: 0.0, borderline_bad: 0.3, repeats: false, changed: 0.3, lost: 0 };
}

/// What is true of one case: for each claim of either answer the chance that a reading finds it bad.
pub(crate) struct Truth {
    pub(crate) baseline: Vec<f64>,
    /// `None` where the answer did not change: its request is the baseline's, and so are its stored replies.
    pub(crate) changed: Option<Vec<f64>>,
    /// The claim that was lost.
    pub(crate) lost: Option<usize>,
}

/// Draws in [0, 1).
pub(crate) struct Uniform(Draws);

impl Uniform {
    pub(crate) fn of(run: u32, case: usize, stream: u64) -> Self {
        Self(Draws::seeded((u64::from(run) << 32) | ((case as u64) << 16) | stream))
    }

    pub(crate) fn next(&mut self) -> f64 {
        (self.0.coins() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() * bound as f64) as usize
    }
}

/// Streams of a case: its truth, then the readings of the one answer and of the other.
const TRUTH: u64 = 0xffff;
pub(crate) const OF_BASELINE: u64 = 0x8000;

pub(crate) fn truth(setting: &Setting, run: u32, case: usize, is_lost: bool) -> Truth {
    let mut draws = Uniform::of(run, case, TRUTH);
    let mut claims = || -> Vec<f64> {
        let count = 1 + draws.below(8);
        let chance = |draws: &mut Uniform| {
            if draws.next() < setting.borderline { setting.borderline_bad } else { setting.flips }
        };
        (0..count).map(|_| chance(&mut draws)).collect()
    };
    let baseline = claims();
    let mut now = claims();
    let is_changed = draws.next() < setting.changed || is_lost;
    let lost = is_lost.then(|| draws.below(now.len()));
    if let Some(lost) = lost {
        now[lost] = 1.0 - setting.flips;
    }
    Truth { baseline, changed: is_changed.then_some(now), lost }
}
