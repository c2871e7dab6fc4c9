//! Every report over a run that holds every kind of outcome.

use std::path::PathBuf;

use rageval_runner::{
    model::run::{Conclusion, Ruling},
    store::runs,
};

use super::*;

mod agreement;
mod comment;
mod hostile;

/// What a format says of a run.
pub(super) fn rendered(name: &str, run: &rageval_runner::model::run::Run) -> String {
    let reporter = REPORTERS.iter().find(|reporter| reporter.name == name).expect("a format");
    let input = Input {
        view: View::of(run),
        lowered: Lowered::stored(run),
        folder: "gates/help".to_owned(),
        place: "target/rageval/runs/latest".to_owned(),
        reach: Reach::default(),
    };
    let mut bytes = Vec::new();
    if reporter.is_coloured {
        (reporter.render)(&input, &mut anstream::StripStream::new(&mut bytes)).expect("written");
    } else {
        (reporter.render)(&input, &mut bytes).expect("written");
    }
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn the_run_holds_every_kind_of_outcome() {
    let run = fixture::every_outcome();
    let view = View::of(&run);
    let states: std::collections::BTreeMap<&str, &str> =
        view.cases.iter().map(|case| (case.id.as_str(), case.state())).collect();
    for (case, state) in [
        ("passes", "passed"),
        ("below-min", "failed"),
        ("dropped", "failed"),
        ("system-fails", "undecided"),
        ("judge-fails", "undecided"),
        ("cannot-compare", "undecided"),
        ("known", "known failure"),
        ("warned", "passed"),
        ("snapshot", "failed"),
        ("wrongly-refused", "failed"),
        ("rightly-refused", "passed"),
        ("confirmed", "failed"),
        ("cleared", "passed"),
    ] {
        assert_eq!(states[case], state, "{case}");
    }
    assert!(!view.inconclusive.is_empty(), "a slice of one case says nothing");
}

/// Compares with a file of `tests/reports/`: `None` where it is the same, else what accepts the new text.
fn accept(name: &str, text: &str) -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reports").join(name);
    let accepted = std::fs::read_to_string(&path).unwrap_or_default();
    let plain = |text: &str| text.replace("\r\n", "\n");
    if plain(&accepted) == plain(text) {
        return None;
    }
    let new = std::env::temp_dir().join(format!("rageval-{name}"));
    std::fs::write(&new, text).expect("written");
    Some(format!("cp {} {}", new.display(), path.display()))
}

#[test]
fn every_report_is_as_accepted() {
    let run = fixture::every_outcome();
    let files = [
        ("markdown", "comment.md"),
        ("summary", "summary.md"),
        ("annotations", "annotations.txt"),
        ("junit", "junit.xml"),
        ("json", "report.json"),
        ("csv", "scores.csv"),
        ("text", "text.txt"),
    ];
    let changed: Vec<String> = files.iter().filter_map(|(name, file)| accept(file, &rendered(name, &run))).collect();
    assert!(changed.is_empty(), "reports changed; read the new ones, then accept them:\n{}", changed.join("\n"));
}

#[test]
fn runs_of_older_versions_are_reported_too() {
    for version in 1..=4 {
        let file = format!("../rageval-runner/tests/fixtures/formats/run-v{version}.json");
        let run = runs::read(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file)).expect("a run");
        for reporter in REPORTERS {
            assert!(!rendered(reporter.name, &run).is_empty(), "{} of version {version}", reporter.name);
        }
    }
}

#[test]
fn a_run_of_many_processes_is_reported_as_far_as_it_came() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = fixture::every_outcome();
    let of_run = runs::RunFolder::new(folder.path().to_owned(), "help.rag_regression".into(), "1".into());
    let shown = || runs::ForReports { cases: whole.cases.clone(), background: whole.background.clone() };
    let cases = whole.cases.iter().map(|case| case.case.clone()).collect();
    of_run.write_manifest(&whole.manifest, cases, shown).expect("written");
    for decision in &whole.decisions {
        of_run.write_decision(decision).expect("written");
    }
    let run = runs::read(&of_run.path()).expect("a run");
    for name in ["markdown", "annotations", "junit", "json", "text"] {
        let text = rendered(name, &run);
        assert!(text.contains("below-min") && text.contains("faithfulness 0.50, min 0.80"), "{name}: {text}");
    }
    assert!(
        rendered("markdown", &run).lines().next().is_some_and(|first| first.ends_with("; partial: 0 of 20 cases ran"))
    );
}

#[test]
fn the_json_report_is_as_its_schema_says() {
    let schema = schemars::schema_for!(json::Report<'_>).to_value();
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("report.json", schema).expect("a schema");
    let schema = compiler.compile("report.json", &mut schemas).expect("a schema that holds");
    let report = serde_json::from_str(&rendered("json", &fixture::every_outcome())).expect("JSON");
    if let Err(error) = schemas.validate(&report, schema) {
        panic!("{error:#}");
    }
}

#[test]
fn the_table_of_scores_reads_back() {
    let run = fixture::every_outcome();
    let text = rendered("csv", &run);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let head: Vec<String> = reader.headers().expect("a head").iter().map(str::to_owned).collect();
    let rows: Vec<::csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows of one length");
    assert_eq!(rows.len(), 20 * 4);
    let column = |name: &str| head.iter().position(|column| column == name).expect("a column");
    for row in &rows {
        let (outcome, score) = (&row[column("outcome")], &row[column("score")]);
        assert_eq!(outcome == "scored", score.parse::<f64>().is_ok(), "{row:?}");
        assert!(!row.iter().any(|cell| cell.starts_with(['=', '+', '@'])), "{row:?}");
    }
    assert!(rows.iter().any(|row| &row[column("change")] == "-0.5"), "a drop is a number");
}

#[test]
fn scores_below_those_of_the_base_branch_are_shown_with_their_reason() {
    let run = fixture::every_outcome();
    let mut base = rageval_runner::model::run::Baseline::default();
    for case in &run.cases {
        base.cases.extend(case.accepted.clone().map(|accepted| (case.case.clone(), accepted)));
    }
    let of = |base: &_| Lowered::against(&run, base, "base.json".to_owned()).scores.len();
    assert_eq!(of(&base), 0);
    let higher = rageval_runner::model::Outcome::scored(rageval_runner::model::UnitInterval::ONE);
    let case = rageval_runner::model::CaseId::new("passes").expect("an id");
    base.cases.get_mut(&case).expect("it").outcomes.insert(fixture::key("token_f1"), higher);
    let lowered = Lowered::against(&run, &base, "base.json".to_owned());
    assert_eq!((lowered.scores[0].before, lowered.scores[0].now), (Some(1.0), Some(0.5)));
    assert!(lowered.scores[0].reason.is_some_and(|reason| reason.starts_with("The index is smaller.")));
}

#[test]
fn a_partial_run_has_not_passed_in_any_report() {
    let mut run = fixture::every_outcome();
    for decision in &mut run.decisions {
        decision.ruling = Ruling::Pass;
    }
    run.manifest.partial = Some("shard 1/3".to_owned());
    assert_eq!(View::of(&run).conclusion, Conclusion::Undecided);
    for name in ["markdown", "summary", "annotations", "junit", "json", "text"] {
        let text = rendered(name, &run);
        assert!(text.contains("partial: 20 of 20 cases ran (shard 1/3)"), "{name}: {text}");
    }
}
