//! The retrieval formulas with the numbers of one case.

use super::{Found, Gain, Hit, Measure, Measurement, formula as reckon};
use crate::{
    metric::{
        Formula,
        worked::{equals, row},
    },
    report::console::text::score,
};

/// What each measure is.
pub(super) fn formula(measure: Measure, gain: Gain) -> Formula {
    match measure {
        Measure::HitRate => Formula::of("1 when at least one relevant document is among the first k, else 0"),
        Measure::Recall => Formula::of("|first k and relevant| / |relevant|"),
        Measure::Precision => Formula::of("|first k and relevant| / k"),
        Measure::F1 => Formula::of("2 x |first k and relevant| / (k + |relevant|)"),
        Measure::Mrr => Formula::of("1 / rank of the first relevant document (among the first k); 0 without one"),
        Measure::Map => Formula::of("sum of (relevant ones down to its rank) / rank over those found / |relevant|"),
        Measure::RPrecision => Formula::of("|first R and relevant| / R, R being |relevant|"),
        Measure::Ndcg => Formula::of(match gain {
            Gain::Linear => "sum of grade / log2(rank + 1) over those found / the same of the best ranking",
            Gain::Exponential => {
                "sum of (2^grade - 1) / log2(rank + 1) over those found / the same of the best ranking"
            }
        }),
    }
}

/// The numbers of one ranking.
pub(super) fn lines(measurement: Measurement, found: &Found<'_>) -> Vec<String> {
    let ids: Vec<&str> = found.relevant.ids().collect();
    let relevant = ids.len();
    let depth = measurement.depth(relevant);
    let hits = depth.map_or(found.hits(), |depth| found.within(depth));
    let name = |hit: &Hit| ids.get(hit.place).copied().unwrap_or_default();
    let of_all = format!("|{{{}}} of {{{}}}|", row(hits.iter().map(|hit| name(hit).to_owned()), ", "), names(&ids));
    let within = depth.map_or_else(String::new, |k| format!(" among the first {k}"));
    let counted = hits.len();
    match measurement {
        Measurement::HitRate(k) => vec![match hits.first() {
            Some(hit) => format!("{} at rank {}{within}{}", name(hit), hit.rank, equals(reckon::hit_rate(found, k))),
            None => format!("none of {{{}}}{within}{}", names(&ids), equals(0.0)),
        }],
        Measurement::Recall(k) => {
            vec![format!("{of_all} / {relevant} = {counted} / {relevant}{}", equals(reckon::recall(found, k)))]
        }
        Measurement::Precision(k) => {
            vec![format!("{of_all} / {k} = {counted} / {k}{}", equals(reckon::precision(found, k)))]
        }
        Measurement::F1(k) => vec![format!(
            "2 x {of_all} / ({k} + {relevant}) = {} / {}{}",
            2 * counted,
            k.get() + relevant,
            equals(reckon::f1(found, k))
        )],
        Measurement::RPrecision => {
            vec![format!("{of_all} / {relevant} = {counted} / {relevant}{}", equals(reckon::r_precision(found)))]
        }
        Measurement::Mrr(k) => vec![match hits.first() {
            Some(hit) => format!("1 / {} [{}]{}", hit.rank, name(hit), equals(reckon::reciprocal_rank(found, k))),
            None => format!("none of {{{}}}{within}{}", names(&ids), equals(0.0)),
        }],
        Measurement::Map(k) => {
            let terms = hits.iter().enumerate().map(|(at, hit)| format!("{}/{} [{}]", at + 1, hit.rank, name(hit)));
            let sum = if hits.is_empty() { "0".to_owned() } else { row(terms, " + ") };
            vec![format!("({sum}) / {relevant}{}", equals(reckon::average_precision(found, k)))]
        }
        Measurement::Ndcg(k, gain) => {
            let depth = k.map_or(usize::MAX, std::num::NonZeroUsize::get);
            let term = |grade: f64, rank: usize| format!("{} / log2({})", gain.of(grade), rank + 1);
            let of_hit = |hit: &Hit| format!("{} [{} at {}]", term(hit.grade, hit.rank), name(hit), hit.rank);
            let grades = found.relevant.ideal().iter().take(depth).copied().enumerate();
            let (sum, ideal) = reckon::gains(found, k, gain);
            let found_terms = if hits.is_empty() { "0".to_owned() } else { row(hits.iter().map(of_hit), " + ") };
            vec![
                format!("found: {found_terms}{}", equals(sum)),
                format!("best:  {}{}", row(grades.map(|(at, grade)| term(grade, at + 1)), " + "), equals(ideal)),
                format!("{} / {}{}", score(sum), score(ideal), equals(reckon::ndcg(found, k, gain))),
            ]
        }
    }
}

fn names(ids: &[&str]) -> String {
    row(ids.iter().map(|id| (*id).to_owned()), ", ")
}
