//! What a run file keeps for reports beside records and decisions.

use std::collections::BTreeSet;

use super::console::{calibration::refusals, text::visible};
use crate::{
    gate::{
        Basis, compare_population,
        rule::{MetricRule, SliceField, TailStatistic},
        slice,
    },
    model::{
        Expectation, GoldenCase, GoldenSet, MetricKey,
        background::{
            Background, BaselineBackground, CalibrationBackground, CalibrationItem, CaseBackground, MetricBackground,
        },
        run::Baseline,
    },
    trust::calibration::{Bars, Looked, Measured, MeasuredItem, estimate},
};

/// What a background is made from.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// All cases of the set.
    pub set: &'a GoldenSet,
    /// Rules, baseline and judge.
    pub basis: Basis<'a>,
    /// How the judge of each trusted metric was held against people.
    pub calibrations: &'a [(&'a MetricKey, &'a Looked)],
    /// The bars of calibration.
    pub bars: &'a Bars,
    /// Waivers that hold and are needed.
    pub waivers: &'a [String],
    /// Notices of the run.
    pub notices: &'a [String],
}

/// The golden cases as far as reports show them, in the order of the set, each with what was accepted of it.
pub fn cases<'a>(set: &'a GoldenSet, basis: &'a Basis<'_>) -> impl Iterator<Item = CaseBackground> + 'a {
    let fields = fields(basis);
    set.cases.iter().map(move |case| of_case(case, basis.baseline, &fields))
}

/// The rules and the baseline of a run, as far as reports show them.
pub fn background(known: &Known<'_>) -> Background {
    let Known { set, basis, calibrations, bars, waivers, notices } = known;
    let rules = &basis.rules.metrics;
    Background {
        metrics: rules.iter().map(|(metric, rule)| of_metric(metric, rule, basis)).collect(),
        slices: basis.rules.slices.by.iter().map(|(_, field)| field.to_string()).collect(),
        baseline: basis.baseline.and_then(|baseline| of_baseline(set, baseline, basis)),
        waivers: waivers.to_vec(),
        notices: notices.to_vec(),
        calibrations: calibrations.iter().map(|(metric, looked)| of_calibration(metric, looked, bars)).collect(),
    }
}

/// The fields that are shown of each case: those that most sets have, and those of the policy.
fn fields(basis: &Basis<'_>) -> BTreeSet<SliceField> {
    let usual =
        [SliceField::Language, SliceField::Type, SliceField::Difficulty, SliceField::Tags, SliceField::Document];
    let of_policy = basis.rules.slices.by.iter().map(|(_, field)| field.clone());
    usual.into_iter().chain(of_policy).collect()
}

fn of_case(case: &GoldenCase, baseline: Option<&Baseline>, fields: &BTreeSet<SliceField>) -> CaseBackground {
    let values = |field: &SliceField| {
        let values: Vec<String> = slice::values_of(case, field).into_iter().map(str::to_owned).collect();
        (!values.is_empty()).then(|| (field.to_string(), values))
    };
    CaseBackground {
        case: case.id.clone(),
        trial: case.trial_name(),
        place: case.place.clone(),
        query: case.query.clone(),
        references: case.references.clone(),
        relevant: case.relevant.clone(),
        should_refuse: case.expectation == Expectation::Refuse,
        language: case.language.as_str().to_owned(),
        fields: fields.iter().filter_map(values).collect(),
        bars: case.bars.clone(),
        known_failure: case.known_failure.clone(),
        accepted: baseline.and_then(|baseline| baseline.cases.get(&case.id)).cloned(),
    }
}

fn of_metric(metric: &MetricKey, rule: &MetricRule, basis: &Basis<'_>) -> MetricBackground {
    let (mean, pass_rate, bottom10) = (rule.set.mean, rule.set.pass_rate, rule.set.bottom10);
    let word = |statistic| match statistic {
        TailStatistic::Quantile => "quantile".to_owned(),
        TailStatistic::TailMean => "tail_mean".to_owned(),
    };
    MetricBackground {
        metric: metric.clone(),
        is_judged: basis.is_judged(metric),
        warns: rule.level == crate::gate::rule::Level::Warn,
        min: rule.min,
        max_drop: rule.max_drop,
        mean_min: mean.and_then(|mean| mean.min),
        mean_max_drop: mean.and_then(|mean| mean.max_drop),
        pass_rate_min: pass_rate.map(|pass_rate| pass_rate.min),
        pass_rate_of: pass_rate.and_then(|pass_rate| pass_rate.of.or(rule.min)),
        bottom10_min: bottom10.and_then(|bottom10| bottom10.min),
        bottom10_max_drop: bottom10.and_then(|bottom10| bottom10.max_drop),
        bottom10_use: bottom10.map(|bottom10| word(bottom10.statistic)),
    }
}

fn of_baseline(set: &GoldenSet, baseline: &Baseline, basis: &Basis<'_>) -> Option<BaselineBackground> {
    let population = compare_population(set, baseline);
    Some(BaselineBackground {
        file: basis.rules.regression.as_ref()?.baseline.clone(),
        manifest: baseline.manifest.clone(),
        new: population.new,
        changed: population.changed,
        vanished: population.vanished,
    })
}

fn of_calibration(metric: &MetricKey, looked: &Looked, bars: &Bars) -> CalibrationBackground {
    let measured = looked.measured.as_ref();
    let rho = measured.and_then(|measured| estimate::spearman(&measured.pairs()));
    let of_item = |item: &MeasuredItem| {
        Some(CalibrationItem { item: item.item.clone(), people: item.human()?, judge: item.score()? })
    };
    let items = |measured: &Measured| measured.items.iter().filter_map(of_item).collect();
    CalibrationBackground {
        metric: metric.clone(),
        items: measured.map(items).unwrap_or_default(),
        rho: rho.map(|rho| rho.value),
        interval: rho.and_then(|rho| rho.interval),
        min_rho: bars.min_spearman,
        refusals: refusals(metric, looked, bars).iter().map(|why| visible(why)).collect(),
    }
}
