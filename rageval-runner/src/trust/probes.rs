//! Tells whether a judge changed behind its name: the same claims asked now and when they were recorded.

use std::collections::BTreeMap;

use crate::{
    model::{Answer, Language, RetrievedContext, Sample, Verdict},
    stats::{Interval, wilson},
};

/// The level at which the test says that a judge drifted.
pub const ALPHA: f64 = 0.01;

/// A claim with its evidence, which a judge is asked about again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Its name, unique among the probes.
    pub id: String,
    /// The language that it is asked in.
    pub language: Language,
    /// The question that the claim answers.
    pub query: String,
    /// The claim.
    pub claim: String,
    /// The texts that it is held against; at least one that says something.
    pub contexts: Vec<String>,
}

impl Probe {
    /// The answer that holds the claim.
    pub fn sample(&self) -> Sample {
        let contexts = self.contexts.iter().map(RetrievedContext::without_id);
        let answer = Answer::new(&self.claim).with_contexts(contexts);
        Sample { answer, is_refusal: false, latency_ms: None }
    }
}

/// The verdicts of one probe, then and now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared<'a> {
    /// The probe.
    pub probe: &'a Probe,
    /// When it was recorded; at least one.
    pub then: Vec<Verdict>,
    /// Now; at least one.
    pub now: Vec<Verdict>,
}

impl Compared<'_> {
    /// Whether most readings of now are on the other side than most of then.
    pub fn is_flipped(&self) -> bool {
        majority(&self.then) != majority(&self.now)
    }

    /// Whether every reading of now is on the other side than most of then.
    pub fn is_flipped_in_all(&self) -> bool {
        self.now.iter().all(|verdict| is_supported(*verdict) != majority(&self.then))
    }
}

/// What the probes say of a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// Probes that were compared.
    pub probes: usize,
    /// Those whose majority changed sides.
    pub flipped: usize,
    /// 95 % Wilson interval of their share; `None` without a probe.
    pub interval: Option<Interval>,
    /// Share of the readings of then that are not on the side of their probe's majority: the judge's own flip rate.
    pub own_rate_then: Option<f64>,
    /// The same of now.
    pub own_rate_now: Option<f64>,
    /// Of the flipped ones, those that flipped in every reading: flips that no further reading would show to be noise.
    pub flipped_in_all: usize,
    /// Probability of at least so much difference if each probe's readings of then and now were of one judge.
    pub p: f64,
    /// The smallest `p` that so many probes and readings can have: were every reading of then on one side and every one of now on the other.
    pub least_p: f64,
}

impl Findings {
    /// Compares the readings of then with those of now.
    pub fn of(compared: &[Compared<'_>]) -> Self {
        let flipped = compared.iter().filter(|probe| probe.is_flipped());
        let flipped_in_all = flipped.clone().filter(|probe| probe.is_flipped_in_all()).count();
        let flipped = flipped.count();
        Self {
            probes: compared.len(),
            flipped,
            interval: wilson(flipped, compared.len()),
            own_rate_then: own_rate(compared.iter().map(|probe| probe.then.as_slice())),
            own_rate_now: own_rate(compared.iter().map(|probe| probe.now.as_slice())),
            flipped_in_all,
            p: p_value(compared),
            least_p: least_p(compared),
        }
    }

    /// Whether so many probes and readings could show any drift at all.
    pub fn can_show_drift(&self) -> bool {
        self.least_p <= ALPHA + 1e-9
    }

    /// Whether the judge is another one than when the probes were recorded, beyond its own noise.
    pub fn is_drift(&self) -> bool {
        // Shares are sums of fractions: what is 0.01 exactly may come out a last digit above.
        self.flipped > 0 && self.p <= ALPHA + 1e-9
    }
}

fn is_supported(verdict: Verdict) -> bool {
    verdict == Verdict::Supported
}

/// Whether most of the readings support the claim; a tie does not.
fn majority(readings: &[Verdict]) -> bool {
    2 * readings.iter().filter(|verdict| is_supported(**verdict)).count() > readings.len()
}

/// Share of the readings that stand against the majority of their probe; `None` without a reading.
fn own_rate<'a>(probes: impl Iterator<Item = &'a [Verdict]>) -> Option<f64> {
    let (mut against, mut all) = (0_usize, 0_usize);
    for readings in probes {
        let side = majority(readings);
        against += readings.iter().filter(|verdict| is_supported(**verdict) != side).count();
        all += readings.len();
    }
    (all > 0).then(|| against as f64 / all as f64)
}

/// The exact probability, over all ways to deal each probe's readings out to then and now, of a sum of differences at least as large as the
/// one seen.
///
/// Fisher's randomisation test (The design of experiments, 1935) within probes: were the judge the same, the readings of a probe could have
/// come in any order, so a probe that it wavers on says little and one on which it was sure says much. The difference of a probe is that of
/// its shares of supporting readings. With three readings on each side one probe that turns over whole has p 0.1, two have 0.01.
fn p_value(compared: &[Compared<'_>]) -> f64 {
    // Differences are counted in parts of then x now readings, so that the sums are whole numbers.
    let mut sums: BTreeMap<u64, f64> = BTreeMap::from([(0, 1.0)]);
    let mut seen = 0;
    let readings = compared.iter().map(|probe| probe.then.len() * probe.now.len());
    let unit = readings.fold(1, least_common_multiple);
    for probe in compared {
        let supporting = |readings: &[Verdict]| readings.iter().filter(|verdict| is_supported(**verdict)).count();
        let (then, now) = (probe.then.len(), probe.now.len());
        let (of_then, of_now) = (supporting(&probe.then), supporting(&probe.now));
        let scale = unit / (then * now);
        let difference = |of_then: usize, of_now: usize| ((of_then * now).abs_diff(of_now * then) * scale) as u64;
        seen += difference(of_then, of_now);
        let all = of_then + of_now;
        let ways = choose(then + now, all);
        let mut next: BTreeMap<u64, f64> = BTreeMap::new();
        for here in all.saturating_sub(now)..=all.min(then) {
            let chance = choose(then, here) * choose(now, all - here) / ways;
            for (sum, weight) in &sums {
                *next.entry(sum + difference(here, all - here)).or_default() += weight * chance;
            }
        }
        sums = next;
    }
    sums.range(seen..).map(|(_, weight)| weight).sum::<f64>().min(1.0)
}

/// Of all ways to deal out the readings of a probe, one puts the two sides so far apart as can be; two where then and now have as many readings.
fn least_p(compared: &[Compared<'_>]) -> f64 {
    let of = |probe: &Compared<'_>| {
        let (then, now) = (probe.then.len(), probe.now.len());
        let furthest = if then == now { 2.0 } else { 1.0 };
        (furthest / choose(then + now, then)).min(1.0)
    };
    compared.iter().map(of).product()
}

/// Of `n`, so many ways to take `k`.
fn choose(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |ways, taken| ways * (n - taken) as f64 / (taken + 1) as f64)
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut larger, mut rest) = (a, b);
    while rest > 0 {
        (larger, rest) = (rest, larger % rest);
    }
    a / larger.max(1) * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Contradicted, Inferred, Supported, Unsupported};

    fn probe() -> Probe {
        Probe {
            id: "p".to_owned(),
            language: Language::En,
            query: "Q?".to_owned(),
            claim: "C.".to_owned(),
            contexts: vec!["one".to_owned(), "two".to_owned()],
        }
    }

    /// Findings over probes whose readings are the given ones.
    fn findings(readings: &[(&[Verdict], &[Verdict])]) -> Findings {
        let probe = probe();
        let compared =
            readings.iter().map(|(then, now)| Compared { probe: &probe, then: then.to_vec(), now: now.to_vec() });
        Findings::of(&compared.collect::<Vec<_>>())
    }

    const GOOD: &[Verdict] = &[Supported, Supported, Supported];
    const BAD: &[Verdict] = &[Unsupported, Unsupported, Contradicted];

    #[test]
    fn one_probe_that_turns_over_may_be_chance_and_two_are_drift() {
        let steady = vec![(GOOD, GOOD); 10];
        let mut one = steady.clone();
        one.push((GOOD, BAD));
        let found = findings(&one);
        assert_eq!((found.probes, found.flipped, found.flipped_in_all, found.is_drift()), (11, 1, 1, false));
        assert!((found.p - 0.1).abs() < 1e-12, "{found:?}");
        let mut two = one;
        two.push((BAD, GOOD));
        let found = findings(&two);
        assert!((found.p - 0.01).abs() < 1e-12 && found.is_drift(), "{found:?}");
    }

    #[test]
    fn a_judge_that_wavers_as_it_did_has_not_drifted() {
        let wavering: (&[Verdict], &[Verdict]) =
            (&[Supported, Unsupported, Supported], &[Unsupported, Supported, Unsupported]);
        let found = findings(&[wavering; 8]);
        assert_eq!((found.flipped, found.flipped_in_all, found.is_drift()), (8, 0, false));
        assert_eq!(found.p, 1.0);
        assert_eq!((found.own_rate_then, found.own_rate_now), (Some(1.0 / 3.0), Some(1.0 / 3.0)));
    }

    #[test]
    fn what_did_not_change_has_no_drift_and_other_words_of_one_side_are_no_flip() {
        let found = findings(&[(GOOD, GOOD), (BAD, &[Inferred, Contradicted, Unsupported])]);
        assert_eq!((found.flipped, found.p, found.is_drift()), (0, 1.0, false));
        assert_eq!(found.own_rate_then, Some(0.0));
        assert_eq!(findings(&[]).interval, None);
    }

    #[test]
    fn the_least_p_is_that_of_a_judge_that_turned_over_whole() {
        let pair: (&[Verdict], &[Verdict]) = (&GOOD[..2], &BAD[..2]);
        let uneven: (&[Verdict], &[Verdict]) = (&GOOD[..2], &[Unsupported; 4]);
        for (readings, can_show) in [
            (vec![], false),
            (vec![(GOOD, BAD)], false),
            (vec![(GOOD, BAD), (BAD, GOOD)], true),
            (vec![pair; 4], false),
            (vec![pair; 5], true),
            (vec![uneven], false),
            (vec![uneven; 2], true),
        ] {
            let found = findings(&readings);
            assert!((found.p - found.least_p).abs() < 1e-12, "{found:?}");
            assert_eq!((found.can_show_drift(), found.is_drift()), (can_show, can_show), "{found:?}");
        }
    }

    #[test]
    fn the_numbers_of_readings_may_differ() {
        // All 2 of then for, all 4 of now against: of the 15 ways to deal two supporting readings, one gives both to then.
        let found = findings(&[(&[Supported, Supported], &[Unsupported; 4])]);
        assert!((found.p - 1.0 / 15.0).abs() < 1e-12, "{found:?}");
        let found = findings(&[(&[Supported, Supported], &[Unsupported; 4]), (GOOD, BAD)]);
        assert!((found.p - 0.1 / 15.0).abs() < 1e-12, "{found:?}");
    }
}
