//! The comparison as a person reads it.

use rageval_runner::{
    gate::{
        compare::{Comparison, Means, Numbers, OfMetric, PassRates, Test},
        rule::Rules,
    },
    model::{CaseId, run::JudgeStamp},
    report::console::text::{bar, interval_text, listed, score, visible},
    stats::Interval,
};

use super::Told;

/// Width of a list of ids.
const COLUMNS: usize = 80;

/// All lines, the judges first where they differ.
pub(super) fn lines(sides: &[Told<'_>; 2], comparison: &Comparison, rules: &Rules, notices: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some([before, now]) = &comparison.judges_differ {
        lines.push(format!("the judges differ: {} in the base, {} now", judge(before), judge(now)));
        lines.push("judged metrics are not compared".to_owned());
        lines.push(String::new());
    }
    for (word, side) in ["base", "current"].into_iter().zip(sides) {
        let revision = side.git_revision.map(|revision| format!(", at {revision:.12}")).unwrap_or_default();
        let missing = match side.missing {
            0 => String::new(),
            missing => format!(", {missing} of its set without a record"),
        };
        let version = side.golden_set.version.as_deref().map(|version| format!(", set {version}")).unwrap_or_default();
        let told =
            format!("{}: {}{missing}{version}, judge {}{revision}", side.file, cases(side.cases), judge(side.judge));
        lines.push(format!("{word:<8} {}", visible(&told)));
    }
    let of = &comparison.cases;
    lines.push(format!(
        "cases    {} compared, {} new, {} changed, {} gone",
        of.paired,
        of.new.len(),
        of.changed.len(),
        of.gone.len()
    ));
    for (word, ids) in [("new", &of.new), ("changed", &of.changed), ("gone", &of.gone)] {
        if !ids.is_empty() {
            lines.push(format!("         {word}: {}", ids_of(ids)));
        }
    }
    lines.extend(notices.iter().map(|notice| format!("notice   {}", visible(notice))));
    let compared = comparison.compared();
    for metric in &comparison.metrics {
        lines.push(String::new());
        lines.extend(of_metric(metric, compared, rules));
    }
    if comparison.metrics.is_empty() {
        lines.push("no metric on either side".to_owned());
    }
    lines
}

fn of_metric(of: &OfMetric, compared: usize, rules: &Rules) -> Vec<String> {
    let name = visible(&of.metric.to_string());
    let (Some(numbers), None) = (&of.whole, &of.not_compared) else {
        let why = of.not_compared.as_deref().unwrap_or("no paired case");
        return vec![format!("{name}: not compared: {}", visible(why))];
    };
    let mut lines = vec![format!("{name}: {} over {}", means(&numbers.means), cases(numbers.n))];
    let mut fact = |text: String| lines.push(format!("  {text}"));
    fact(changes(numbers));
    if 0 < numbers.worse + numbers.better {
        fact(tested(numbers, compared));
    }
    if let Some(rates) = &numbers.pass_rate {
        fact(passing(rates));
    }
    if 0 < numbers.not_applicable + numbers.unmeasured {
        let (not_applicable, unmeasured) = (numbers.not_applicable, numbers.unmeasured);
        fact(format!("without both scores: {not_applicable} not applicable, {unmeasured} unmeasured"));
    }
    for slice in &of.slices {
        fact(match &slice.means {
            Some(of) => format!("{}: {} over {}", visible(&slice.slice), means(of), cases(slice.n)),
            None => format!(
                "{}: too few cases: {}, slices.min_cases {}",
                visible(&slice.slice),
                slice.n,
                rules.slices.min_cases
            ),
        });
    }
    if !of.largest.is_empty() {
        fact("the largest changes:".to_owned());
        for change in &of.largest {
            fact(format!("  {} -> {}  {}", score(change.base), score(change.current), visible(change.case.as_str())));
        }
    }
    lines
}

fn means(of: &Means) -> String {
    // A gain is a drop below 0, so the ends of its interval change places.
    let is_gain = of.drop < 0.0;
    let word = if is_gain { "gain" } else { "drop" };
    let interval = of.drop_interval.map(|[low, high]| {
        let shown = if is_gain { Interval { low: 0.0 - high, high: 0.0 - low } } else { Interval { low, high } };
        format!(" {} (95%)", interval_text(&shown))
    });
    let interval = interval.unwrap_or_default();
    format!("mean {} -> {}, {word} {}{interval}", score(of.base), score(of.current), score(of.drop.abs()))
}

fn changes(numbers: &Numbers) -> String {
    let counts = format!("{} worse, {} better, {} equal", numbers.worse, numbers.better, numbers.equal);
    match numbers.detectable_drop {
        Some(drop) => format!("{counts}; a true drop of {} would show 8 times in 10", score(drop)),
        None => counts,
    }
}

fn tested(numbers: &Numbers, compared: usize) -> String {
    let test = match numbers.test {
        Test::McNemar => "McNemar",
        Test::SignFlip => "sign-flip",
    };
    let effect = numbers.effect_size.map(|size| format!(", effect size {size:.2}")).unwrap_or_default();
    let metrics = if compared == 1 { "1 metric".to_owned() } else { format!("{compared} metrics") };
    format!(
        "p of a drop {:.4} ({test}), {:.4} among {metrics} (Holm); beside it: Wilcoxon p {:.4}{effect}",
        numbers.p, numbers.p_holm, numbers.wilcoxon_p
    )
}

fn passing(rates: &PassRates) -> String {
    let share = |[share, low, high]: [f64; 3]| format!("{} {}", score(share), interval_text(&Interval { low, high }));
    format!("pass rate from {}: {} -> {}", bar(rates.of), share(rates.base), share(rates.current))
}

fn judge(judge: &JudgeStamp) -> String {
    let fingerprint: String = judge.fingerprint.chars().take(8).collect();
    let fingerprint = if fingerprint.is_empty() { String::new() } else { format!(" ({fingerprint})") };
    let named = format!("{} {}", judge.provider, judge.model);
    visible(&format!("{}{fingerprint}", named.trim()))
}

fn cases(count: usize) -> String {
    if count == 1 { "1 case".to_owned() } else { format!("{count} cases") }
}

fn ids_of(ids: &[CaseId]) -> String {
    visible(&listed(&ids.iter().collect::<Vec<_>>(), COLUMNS))
}
