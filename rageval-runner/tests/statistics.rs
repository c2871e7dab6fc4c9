//! The figures of SciPy, statsmodels, scikit-learn and krippendorff in `fixtures/stats/figures.json`, reproduced.

use std::collections::BTreeSet;

use rageval_runner::stats::{self, Cluster, Confusion, Level, resample};
use serde::Deserialize;

/// Exact formulas agree to this; what differs is the order of additions.
const EXACT: f64 = 1e-9;

#[derive(Deserialize)]
struct Figures {
    correlation: Vec<Correlation>,
    wilcoxon: Vec<Wilcoxon>,
    mcnemar: Vec<McNemar>,
    sign_flip: Vec<SignFlip>,
    wilson: Vec<Wilson>,
    holm: Vec<Holm>,
    kappa: Vec<Kappa>,
    weighted_kappa: WeightedKappa,
    weighted_pearson: WeightedPearson,
    alpha: Vec<Alpha>,
    bca_same_resamples: Vec<SameResamples>,
    bca_resampled: Vec<Resampled>,
}

fn figures() -> Figures {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stats/figures.json");
    serde_json::from_str(&std::fs::read_to_string(file).expect("the fixture")).expect("JSON")
}

#[track_caller]
fn same(what: &str, ours: Option<f64>, theirs: Option<f64>, tolerance: f64) {
    let agree = match (ours, theirs) {
        (Some(ours), Some(theirs)) => (ours - theirs).abs() <= tolerance,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    assert!(agree, "{what}: {ours:?}, not {theirs:?}");
}

#[derive(Deserialize)]
struct Correlation {
    name: String,
    left: Vec<f64>,
    right: Vec<f64>,
    spearman: Option<f64>,
    kendall_tau_b: Option<f64>,
    pearson: Option<f64>,
}

#[test]
fn correlations_are_those_of_scipy() {
    let cases = figures().correlation;
    assert_eq!(cases.len(), 18);
    for case in cases {
        let pairs: Vec<(f64, f64)> = case.left.iter().copied().zip(case.right.iter().copied()).collect();
        same(&format!("{}: Spearman", case.name), stats::spearman(&pairs), case.spearman, EXACT);
        same(&format!("{}: Kendall", case.name), stats::kendall_tau_b(&pairs), case.kendall_tau_b, EXACT);
        same(&format!("{}: Pearson", case.name), stats::pearson(&pairs), case.pearson, EXACT);
    }
}

#[derive(Deserialize)]
struct WeightedPearson {
    left: Vec<f64>,
    right: Vec<f64>,
    weights: Vec<f64>,
    pearson: f64,
    repeated: f64,
}

#[test]
fn a_weight_counts_as_so_many_pairs() {
    let of = figures().weighted_pearson;
    let triples =
        of.left.iter().zip(&of.right).zip(&of.weights).map(|((left, right), weight)| (*left, *right, *weight));
    let ours = stats::weighted_pearson(triples);
    same("weighted", ours, Some(of.pearson), EXACT);
    same("repeated", ours, Some(of.repeated), EXACT);
}

#[derive(Deserialize)]
struct Wilcoxon {
    name: String,
    differences: Vec<f64>,
    p: f64,
}

#[test]
fn wilcoxons_p_is_scipys() {
    for case in figures().wilcoxon {
        same(&case.name, Some(stats::wilcoxon(&case.differences)), Some(case.p), EXACT);
    }
}

#[derive(Deserialize)]
struct McNemar {
    lost: usize,
    gained: usize,
    p: f64,
    two_sided: f64,
}

#[test]
fn mcnemars_p_is_the_binomial_test_of_scipy_and_half_of_statsmodels() {
    for McNemar { lost, gained, p, two_sided } in figures().mcnemar {
        let ours = stats::mcnemar(lost, gained);
        same(&format!("{lost} lost, {gained} gained"), Some(ours), Some(p), EXACT);
        let both = (2.0 * ours.min(stats::mcnemar(gained, lost))).min(1.0);
        same(&format!("{lost} lost, {gained} gained, two-sided"), Some(both), Some(two_sided), EXACT);
    }
}

#[derive(Deserialize)]
struct SignFlip {
    name: String,
    differences: Vec<f64>,
    exact: f64,
}

#[test]
fn the_sign_flip_test_of_few_differences_is_exact() {
    for SignFlip { name, differences, exact } in figures().sign_flip {
        same(&name, Some(stats::sign_flip(&differences, stats::paired::FLIPS, 0)), Some(exact), EXACT);
    }
}

#[derive(Deserialize)]
struct Wilson {
    wins: usize,
    n: usize,
    low: f64,
    high: f64,
}

#[test]
fn wilsons_interval_is_that_of_statsmodels() {
    for Wilson { wins, n, low, high } in figures().wilson {
        let ours = stats::wilson(wins, n).expect("a share");
        same(&format!("{wins} of {n}, low"), Some(ours.low), Some(low), EXACT);
        same(&format!("{wins} of {n}, high"), Some(ours.high), Some(high), EXACT);
    }
}

#[derive(Deserialize)]
struct Holm {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

#[test]
fn holms_adjustment_is_that_of_statsmodels() {
    for Holm { p, adjusted } in figures().holm {
        let ours = stats::holm(&p);
        assert_eq!(ours.len(), adjusted.len());
        for (ours, theirs) in ours.iter().zip(&adjusted) {
            same(&format!("{p:?}"), Some(*ours), Some(*theirs), EXACT);
        }
    }
}

#[derive(Deserialize)]
struct Kappa {
    name: String,
    left: Vec<u8>,
    right: Vec<u8>,
    kappa: Option<f64>,
    table: Option<[f64; 4]>,
    #[serde(default)]
    tpr: Option<f64>,
    #[serde(default)]
    tnr: Option<f64>,
    #[serde(default)]
    balanced_accuracy: Option<f64>,
}

#[test]
fn kappa_and_the_confusion_table_are_those_of_scikit_learn() {
    for case in figures().kappa {
        let pairs: Vec<(u8, u8)> = case.left.iter().copied().zip(case.right.iter().copied()).collect();
        same(&format!("{}: kappa", case.name), stats::cohen_kappa(&pairs), case.kappa, EXACT);
        let Some(cells) = case.table else { continue };
        let table = Confusion::of(pairs.iter().map(|(people, judge)| (*people == 1, *judge == 1)));
        let ours = [table.true_positive, table.false_positive, table.false_negative, table.true_negative];
        assert_eq!(ours, cells, "{}", case.name);
        same(&format!("{}: kappa of the table", case.name), table.kappa(), case.kappa, EXACT);
        same(&format!("{}: TPR", case.name), table.true_positive_rate(), case.tpr, EXACT);
        same(&format!("{}: TNR", case.name), table.true_negative_rate(), case.tnr, EXACT);
        same(&format!("{}: balanced", case.name), table.balanced_accuracy(), case.balanced_accuracy, EXACT);
    }
}

#[derive(Deserialize)]
struct WeightedKappa {
    left: Vec<u8>,
    right: Vec<u8>,
    weights: Vec<f64>,
    kappa: f64,
    balanced_accuracy: f64,
}

#[test]
fn a_weighted_table_is_that_of_scikit_learn() {
    let of = figures().weighted_kappa;
    let items =
        of.left.iter().zip(&of.right).zip(&of.weights).map(|((people, judge), w)| (*people == 1, *judge == 1, *w));
    let table = Confusion::weighted(items).expect("sound weights");
    same("kappa", table.kappa(), Some(of.kappa), EXACT);
    same("balanced accuracy", table.balanced_accuracy(), Some(of.balanced_accuracy), EXACT);
}

#[derive(Deserialize)]
struct Alpha {
    name: String,
    units: Vec<Vec<f64>>,
    nominal: Option<f64>,
    interval: Option<f64>,
}

#[test]
fn krippendorffs_alpha_is_that_of_the_package_of_his_name() {
    for case in figures().alpha {
        for (level, theirs) in [(Level::Nominal, case.nominal), (Level::Interval, case.interval)] {
            let ours = stats::krippendorff_alpha(&case.units, level);
            same(&format!("{}: {level:?}", case.name), ours, theirs, EXACT);
        }
    }
}

#[derive(Deserialize)]
struct SameResamples {
    name: String,
    resampled: Vec<f64>,
    observed: f64,
    jackknife: Vec<f64>,
    low: Option<f64>,
    high: Option<f64>,
    percentile: [f64; 2],
}

#[test]
fn bca_limits_of_the_same_resamples_are_those_of_scipy() {
    for mut case in figures().bca_same_resamples {
        case.resampled.sort_by(f64::total_cmp);
        let ours = resample::bca(&case.resampled, case.observed, &case.jackknife, [0.025, 0.975]);
        // The normal distribution has 7 digits in its lower tail.
        same(&format!("{}: low", case.name), ours.map(|limits| limits[0]), case.low, 1e-7);
        same(&format!("{}: high", case.name), ours.map(|limits| limits[1]), case.high, 1e-7);
        let plain = case.percentile.map(Some);
        same(&format!("{}: percentile", case.name), Some(resample::quantile(&case.resampled, 0.025)), plain[0], EXACT);
        same(&format!("{}: percentile", case.name), Some(resample::quantile(&case.resampled, 0.975)), plain[1], EXACT);
    }
}

#[derive(Deserialize)]
struct Resampled {
    name: String,
    numbers: Vec<f64>,
    low: f64,
    high: f64,
}

/// 10,000 resamples against 300,000: a limit wanders by some hundredths of the interval's width.
#[test]
fn bca_limits_of_our_resamples_are_those_of_scipy_within_the_error_of_resampling() {
    for case in figures().bca_resampled {
        let clusters: Vec<Cluster> = case.numbers.iter().copied().map(Cluster::one).collect();
        let ours = stats::mean_interval(&clusters, 0).expect("an interval");
        let width = case.high - case.low;
        same(&format!("{}: low", case.name), Some(ours.low), Some(case.low), 0.04 * width);
        same(&format!("{}: high", case.name), Some(ours.high), Some(case.high), 0.04 * width);
        let mean = |places: &[usize]| stats::mean(&places.iter().map(|place| case.numbers[*place]).collect::<Vec<_>>());
        let any = stats::interval_over_items(case.numbers.len(), stats::Limits::Bca, 0, mean).expect("an interval");
        same(&format!("{}: low of any statistic", case.name), Some(any.interval.low), Some(case.low), 0.04 * width);
        same(&format!("{}: high of any statistic", case.name), Some(any.interval.high), Some(case.high), 0.04 * width);
    }
}

#[test]
fn the_figures_of_the_documentation_are_ours() {
    let interval = |interval: stats::Interval| format!("95% {:.3} to {:.3}", interval.low, interval.high);
    let share = |wins, n| stats::Share::of(wins, n).expect("a share");
    let wilson = interval(stats::wilson(57, 60).expect("a share"));
    let corrected = stats::rogan_gladen(share(90, 100), share(38, 40), share(12, 20)).expect("a share");
    let differences = [vec![0.1; 10], vec![-0.1; 3]].concat();
    let table = Confusion { true_positive: 20.0, false_positive: 5.0, false_negative: 10.0, true_negative: 15.0 };
    let rows = [
        format!("| 57 of 60 pass | 0.950, {wilson} (Wilson) |"),
        format!(
            "| 90 of 100 judged good, TPR 38 of 40, TNR 12 of 20 | {:.3}, {} (Rogan and Gladen) |",
            corrected.estimate,
            interval(corrected.interval)
        ),
        format!("| 7 cases lost a yes, none gained one | p {:.4} (McNemar) |", stats::mcnemar(7, 0)),
        format!(
            "| 10 drops of 0.1, 3 gains of 0.1 | p {:.4} (sign-flip, exact) |",
            stats::sign_flip(&differences, stats::paired::FLIPS, 0)
        ),
        format!("| kappa of 20, 5, 10 and 15 in the table | {:.3} |", table.kappa().expect("a kappa")),
    ];
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/statistics.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for row in rows {
        assert!(page.contains(&row), "docs/statistics.md lacks: {row}");
    }
}

#[test]
fn the_fixture_holds_what_tests_like_to_forget() {
    let figures = figures();
    let names: BTreeSet<&str> = figures.correlation.iter().map(|case| case.name.as_str()).collect();
    for name in ["none", "one", "two", "three", "constant left", "constant both", "many ties", "float noise"] {
        assert!(names.contains(name), "{name}");
    }
    assert!(figures.kappa.iter().any(|case| case.kappa.is_none()));
    assert!(figures.alpha.iter().any(|case| case.nominal.is_none()));
}
