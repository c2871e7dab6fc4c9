//! `cargo rageval compare`.

use std::path::Path;

use rageval_runner::model::{
    Answer, CaseId, MetricKey, Outcome, Record, Sample, Taken, Transcript, UnitInterval,
    run::{JudgeStamp, Manifest, Run, SetStamp},
};

use super::{ends, folder, passes, refuses, run, write};

/// A metric's scores by case; a case without score is not applicable.
type Scores<'a> = (&'a str, &'a [Option<f64>]);

/// Writes a run of cases `c00`, `c01`, ... with these scores, all judged by `judge`.
fn write_run(folder: &Path, name: &str, judge: &str, metrics: &[Scores<'_>]) {
    let count = metrics[0].1.len();
    let outcome = |score: Option<f64>| match score {
        Some(score) => Outcome::scored(UnitInterval::new(score).expect("in range")),
        None => Outcome::not_applicable("no relevant documents"),
    };
    let record = |place: usize| {
        let outcomes =
            metrics.iter().map(|(key, scores)| (MetricKey::parse(key).expect("a key"), outcome(scores[place])));
        let sample = Sample { answer: Answer::new("30 days."), is_refusal: false, latency_ms: None };
        let id = CaseId::new(format!("c{place:02}")).expect("an id");
        Record::new(id, "one".into(), Taken::Sample(sample), outcomes.collect(), Transcript::default())
    };
    let judge =
        JudgeStamp { provider: "openai".into(), model: judge.into(), fingerprint: format!("{judge}-0123456789") };
    let manifest = Manifest {
        run_id: name.into(),
        golden_set: SetStamp { cases: count, version: Some("1.2.0".into()), ..SetStamp::default() },
        judge,
        git_revision: Some("0123456789abcdef".into()),
        ..Manifest::default()
    };
    let records = (0..count).map(record).collect();
    let run =
        Run { format: "rageval-run".into(), version: 2, manifest, records, decisions: Vec::new(), ..Run::default() };
    write(folder, name, &serde_json::to_string(&run).expect("JSON"));
}

fn level(score: f64, count: usize) -> Vec<Option<f64>> {
    vec![Some(score); count]
}

/// 20 cases, of which 8 lost half of their recall and one gained in faithfulness.
fn two_runs(folder: &Path, judge_now: &str) {
    let mut faithful = level(0.5, 20);
    faithful[19] = None;
    write_run(folder, "base.json", "m-1", &[("recall@5", &level(1.0, 20)), ("faithfulness", &faithful)]);
    faithful[0] = Some(1.0);
    let recall = [level(0.5, 8), level(1.0, 12)].concat();
    write_run(folder, "now.json", judge_now, &[("recall@5", &recall), ("faithfulness", &faithful)]);
}

const POLICY: &str = "version: 1\nsystem: {kind: function, generator: other}\nmetrics: {recall@5: 0.8}\n\
                      slices: {by: [language]}\ninterval: {cluster: document}\n";

fn write_policy(folder: &Path) {
    write(folder, "thresholds.yaml", POLICY);
    std::fs::create_dir(folder.join("cases")).expect("made");
    let case = |i: usize| {
        let language = if i < 4 { "pt" } else { "en" };
        format!("- {{id: c{i:02}, query: \"q{i}\", language: {language}, document: d{i}}}\n")
    };
    write(&folder.join("cases"), "all.yaml", &(0..20).map(case).collect::<String>());
}

#[test]
fn two_runs_are_compared_metric_by_metric() {
    let folder = folder();
    two_runs(folder.path(), "m-1");
    write_policy(folder.path());
    let text = passes(folder.path(), &["compare", "base.json", "now.json"]);
    let expected = "\
base     base.json: 20 cases, set 1.2.0, judge openai m-1 (m-1-0123), at 0123456789ab
current  now.json: 20 cases, set 1.2.0, judge openai m-1 (m-1-0123), at 0123456789ab
cases    20 compared, 0 new, 0 changed, 0 gone

faithfulness: mean 0.50 -> 0.5263, gain 0.0263 [0.00, 0.13] (95%) over 19 cases
  0 worse, 1 better, 18 equal; a true drop of 0.0899 would show 8 times in 10
  p of a drop 1.0000 (sign-flip), 1.0000 among 2 metrics (Holm); beside it: Wilcoxon p 0.8413, effect size -0.23
  without both scores: 1 not applicable, 0 unmeasured
  language=en: mean 0.50 -> 0.50, drop 0.00 over 15 cases
  language=pt: too few cases: 4, slices.min_cases 10
  the largest changes:
    0.50 -> 1.00  c00

recall@5: mean 1.00 -> 0.80, drop 0.20 [0.10, 0.30] (95%) over 20 cases
  8 worse, 0 better, 12 equal; a true drop of 0.192 would show 8 times in 10
  p of a drop 0.0039 (sign-flip), 0.0078 among 2 metrics (Holm); beside it: Wilcoxon p 0.0023, effect size 0.80
  pass rate from 0.80: 1.00 [0.84, 1.00] -> 0.60 [0.39, 0.78]
  language=en: mean 1.00 -> 0.875, drop 0.125 [0.03, 0.25] (95%) over 16 cases
  language=pt: too few cases: 4, slices.min_cases 10
  the largest changes:
    1.00 -> 0.50  c00
    1.00 -> 0.50  c01
    1.00 -> 0.50  c02
    1.00 -> 0.50  c03
    1.00 -> 0.50  c04
    1.00 -> 0.50  c05
    1.00 -> 0.50  c06
    1.00 -> 0.50  c07
";
    assert_eq!(text, expected);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/statistics.md");
    let page = std::fs::read_to_string(page).expect("the page").replace("\r\n", "\n");
    assert!(page.contains(expected), "docs/statistics.md shows another output");
}

#[test]
fn other_judges_are_said_first_and_judged_metrics_are_not_compared() {
    let folder = folder();
    two_runs(folder.path(), "m-2");
    let text = passes(folder.path(), &["compare", "base.json", "now.json"]);
    let first = "the judges differ: openai m-1 (m-1-0123) in the base, openai m-2 (m-2-0123) now\njudged metrics are not compared\n";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("\nfaithfulness: not compared: another judge\n"), "{text}");
    assert!(text.contains("\nrecall@5: mean 1.00 -> 0.80, drop 0.20"), "{text}");
    assert!(text.contains("notice   no thresholds.yaml here"), "{text}");
}

#[test]
fn a_run_is_compared_with_a_baseline_and_a_folder_is_taken_too() {
    let folder = folder();
    two_runs(folder.path(), "m-1");
    ends(folder.path(), &["baseline", "accept", "base.json", "--to", "main.json"], 0);
    std::fs::create_dir(folder.path().join("1a2b")).expect("made");
    std::fs::rename(folder.path().join("now.json"), folder.path().join("1a2b/run.json")).expect("moved");
    let text = passes(folder.path(), &["compare", "main.json", "1a2b"]);
    assert!(text.starts_with("base     main.json: 20 cases"), "{text}");
    assert!(text.contains("\nrecall@5: mean 1.00 -> 0.80, drop 0.20"), "{text}");
}

#[test]
fn json_holds_the_same_numbers() {
    let folder = folder();
    two_runs(folder.path(), "m-1");
    write_policy(folder.path());
    let text = passes(folder.path(), &["compare", "base.json", "now.json", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&report["format"], &report["version"]), (&"rageval-comparison".into(), &1.into()));
    assert_eq!(report["cases"]["paired"], 20);
    let recall = &report["metrics"][1];
    assert_eq!(recall["metric"], "recall@5");
    assert_eq!(recall["whole"]["p"], 1.0 / 256.0);
    assert_eq!(recall["whole"]["p_holm"], 2.0 / 256.0);
    assert_eq!(recall["whole"]["test"], "sign_flip");
    assert_eq!(recall["whole"]["pass_rate"]["current"][0], 0.6);
    assert_eq!(recall["slices"][1], serde_json::json!({"slice": "language=pt", "n": 4, "means": null}));
    assert_eq!(recall["largest"].as_array().map(Vec::len), Some(8));
}

#[test]
fn nothing_to_compare_is_undecided() {
    let folder = folder();
    write_run(folder.path(), "base.json", "m-1", &[("faithfulness", &level(1.0, 3))]);
    write_run(folder.path(), "now.json", "m-2", &[("faithfulness", &level(1.0, 3))]);
    let text = ends(folder.path(), &["compare", "base.json", "now.json"], 3);
    assert!(text.contains("faithfulness: not compared: another judge"), "{text}");
    write_run(folder.path(), "now.json", "m-1", &[("mrr", &level(1.0, 3))]);
    let text = ends(folder.path(), &["compare", "base.json", "now.json"], 3);
    assert!(text.contains("faithfulness: not compared: only the base has it"), "{text}");
    assert!(text.contains("mrr: not compared: only the current run has it"), "{text}");
}

#[test]
fn a_file_that_is_neither_is_refused() {
    let folder = folder();
    two_runs(folder.path(), "m-1");
    write(folder.path(), "other.json", "{\"format\": \"x\"}");
    assert!(refuses(folder.path(), &["compare", "base.json", "other.json"]).contains("other.json"));
    assert!(refuses(folder.path(), &["compare", "none.json", "base.json"]).contains("none.json"));
    assert!(refuses(folder.path(), &["compare", "base.json"]).contains("<CURRENT>"));
    assert_eq!(run(folder.path(), &["compare", "--help"]).code, Some(0));
    assert!(passes(folder.path(), &["compare", "--help"]).contains("cargo rageval compare baselines/main.json"));
}

#[test]
fn names_from_files_cannot_start_a_line() {
    let folder = folder();
    two_runs(folder.path(), "m-1\u{1b}[31m\nfake");
    let text = passes(folder.path(), &["compare", "base.json", "now.json"]);
    assert!(!text.contains('\u{1b}') && !text.contains("\nfake"), "{text}");
}
