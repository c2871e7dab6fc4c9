//! Tests of the history of baselines.

use super::*;
use crate::gate::fixture::World;

fn accepted(scores: &[f64]) -> Baseline {
    World::of(scores).accepted(scores).baseline.expect("accepted")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn each_accepted_run_adds_a_line_and_the_same_run_none() {
    let folder = folder();
    let path = folder.path().join("main.json");
    for scores in [[1.0, 0.5], [1.0, 0.5], [0.5, 0.5], [1.0, 0.5]] {
        append(&path, &accepted(&scores)).expect("written");
    }
    let runs = last(&path, 9).expect("readable");
    let places: Vec<_> = runs.iter().map(|run| run.place.as_str()).collect();
    // The first and the third line are equal, and so one run.
    assert_eq!(places, ["history.jsonl:2", "history.jsonl:3"]);
    let outcomes = |baseline: &Baseline| baseline.cases.values().map(|case| case.outcomes.clone()).collect::<Vec<_>>();
    assert_eq!(outcomes(&runs[0].baseline), outcomes(&accepted(&[0.5, 0.5])));
    assert_eq!(runs[0].baseline.manifest, accepted(&[0.5, 0.5]).manifest);
    let last_two: Vec<_> = last(&path, 2).expect("readable").into_iter().map(|run| run.place).collect();
    assert_eq!(last_two, ["history.jsonl:2", "history.jsonl:3"]);
}

#[test]
fn a_line_that_a_merge_doubled_pushes_no_run_out() {
    let folder = folder();
    let path = folder.path().join("main.json");
    append(&path, &accepted(&[1.0, 1.0])).expect("written");
    append(&path, &accepted(&[0.5, 0.5])).expect("written");
    let history = path_of(&path);
    let text = fs::read_to_string(&history).expect("written");
    let doubled = text.lines().last().expect("a line");
    fs::write(&history, format!("{text}{doubled}\n{doubled}\n")).expect("written");
    let places: Vec<_> = last(&path, 2).expect("readable").into_iter().map(|run| run.place).collect();
    assert_eq!(places, ["history.jsonl:1", "history.jsonl:4"]);
}

#[test]
fn baselines_of_one_folder_have_their_own_lines() {
    let folder = folder();
    let (main, other) = (folder.path().join("main.json"), folder.path().join("other.json"));
    append(&main, &accepted(&[1.0])).expect("written");
    append(&other, &accepted(&[0.5])).expect("written");
    append(&main, &accepted(&[1.0])).expect("written");
    let places = |path| last(path, 9).expect("readable").into_iter().map(|run| run.place).collect::<Vec<_>>();
    assert_eq!(places(&main), ["history.jsonl:1"]);
    assert_eq!(places(&other), ["history.jsonl:2"]);
}

#[test]
fn a_baseline_without_history_has_no_runs() {
    assert_eq!(last(&folder().path().join("main.json"), 3).expect("none"), []);
}

#[test]
fn what_is_no_line_of_ours_is_refused_at_its_place() {
    let folder = folder();
    let path = folder.path().join("main.json");
    append(&path, &accepted(&[1.0, 0.5])).expect("written");
    let history = path_of(&path);
    let line = fs::read_to_string(&history).expect("written");
    for (text, expected) in [
        (format!("{line}<<<<<<< HEAD\n"), "line 2: expected value"),
        (format!("\n{}", line.replace("0.75", "0.76")), "line 2: its means are not those of its scores"),
        (line.replace("\"version\":1", "\"version\":2"), "line 1: written by a newer rageval (format 2"),
        (line.replace("c01", "c00"), "line 1: case `c00` stands there twice"),
        (line.replace("rageval-history", "x"), "line 1: its `format` says `x`"),
    ] {
        fs::write(&history, text).expect("written");
        let error = last(&path, 9).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_history_of_version_1_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats/history-v1.json");
    let text = fs::read_to_string(path.with_extension("jsonl")).expect("the fixture");
    let folder = folder();
    let baseline = folder.path().join("history-v1.json");
    fs::write(path_of(&baseline), &text).expect("written");
    let runs = last(&baseline, 1).expect("readable");
    let metric = MetricKey::parse("mrr").expect("a key");
    let scores: Vec<_> = runs[0]
        .baseline
        .cases
        .values()
        .filter_map(|case| case.outcomes[&metric].score())
        .map(UnitInterval::get)
        .collect();
    assert_eq!(scores, [1.0, 0.5]);
    // What is written now is what stood there.
    append(&baseline, &runs[0].baseline).expect("written");
    assert_eq!(fs::read_to_string(path_of(&baseline)).expect("written"), text);
}
