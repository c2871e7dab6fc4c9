//! `cargo rageval report`, and the run that `gate --out` writes for it.

use rageval_runner::{
    model::{Taken, run::Run},
    store::runs,
};

use super::{
    ends, folder,
    gate::{change_run, project},
    passes, program, refuses, write,
};

const FORMATS: [&str; 7] = ["markdown", "summary", "annotations", "junit", "json", "csv", "text"];

#[test]
fn a_run_that_was_merged_from_shards_is_a_run_of_its_own() {
    let folder = folder();
    project(folder.path(), &[&[("a", 0.25)], &[("b", 0.5)]]);
    change_run(folder.path(), |run| run.manifest.system.kind = "function".into());
    let told = ends(folder.path(), &["gate", "1.json", "2.json", "--out", "whole"], 1);
    let whole = folder.path().join("whole");
    let run: Run = runs::read(&whole).expect("a run");
    assert_eq!((run.records.len(), run.version), (2, runs::VERSION));
    assert!(!run.is_partial(), "its shards were");
    // What the gate printed, from its run alone; only the place differs.
    let text = passes(folder.path(), &["report", "whole", "--format", "text"]);
    assert_eq!(text.trim_end().strip_suffix("whole"), told.trim_end().strip_suffix("1.json 2.json"));
    for format in FORMATS {
        let text = passes(folder.path(), &["report", "whole/run.json", "--format", format]);
        assert!(text.contains("recall@5"), "{format}: {text}");
    }
    // The gate decides the same of it again, and it is one that can be accepted.
    ends(folder.path(), &["gate", "whole"], 1);
    let rules =
        "version: 1\nregression: {baseline: baselines/main.json}\nmetrics:\n  recall@5: {min: 0.2, mean: {min: 0.5}}\n";
    write(folder.path(), "thresholds.yaml", rules);
    ends(folder.path(), &["baseline", "accept", "1.json", "--reason", "First."], 2);
    ends(folder.path(), &["baseline", "accept", "whole", "--reason", "First."], 0);
}

#[test]
fn cases_without_a_record_leave_a_partial_run() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0)], &[("b", 0.5)]]);
    ends(folder.path(), &["gate", "1.json", "--out", "some"], 3);
    let text = passes(folder.path(), &["report", "some", "--format", "markdown"]);
    assert!(text.starts_with("### 🛑 undecided: 2 cases; partial: 1 of 2 cases ran\n"), "{text}");
}

#[test]
fn a_report_is_written_whole_and_ends_with_0_whatever_it_says() {
    let folder = folder();
    project(folder.path(), &[&[("a", 0.25), ("b", 0.5)]]);
    ends(folder.path(), &["gate", "1.json", "--out", "run"], 1);
    let told = passes(folder.path(), &["report", "run", "--format", "markdown", "--out", "deep/er/comment.md"]);
    assert_eq!(told, "");
    let text = std::fs::read_to_string(folder.path().join("deep/er/comment.md")).expect("written");
    assert_eq!(text, passes(folder.path(), &["report", "run", "--format", "markdown"]));
    assert!(text.starts_with("### ❌ failed: "), "{text}");
    let text = refuses(folder.path(), &["report", "run", "--format", "pdf"]);
    assert!(text.contains("markdown, summary, annotations, junit, json, csv"), "{text}");
    let text = refuses(folder.path(), &["report", "nowhere", "--format", "json"]);
    assert!(text.contains("nowhere"), "{text}");
}

#[test]
fn the_latest_run_is_reported_where_none_is_named() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 1.0)]]);
    ends(folder.path(), &["gate", "1.json", "--out", "kept/help/7"], 0);
    write(&folder.path().join("kept"), "latest", "help/7");
    for arguments in [&["report", "--format", "json"][..], &["report", "latest", "--format", "json"]] {
        let output = program(folder.path(), arguments).env("RAGEVAL_RUNS", "kept").output().expect("it starts");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(json["conclusion"], "pass", "{json}");
    }
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let folder = folder();
    project(folder.path(), &[&[("a", 0.25), ("b", 0.5)]]);
    let gate = |name: &str| {
        let mut command = program(folder.path(), &["gate", "1.json"]);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        if !name.is_empty() {
            command.env(name, "1");
        }
        String::from_utf8(command.output().expect("it starts").stdout).expect("UTF-8")
    };
    assert!(!gate("").contains('\u{1b}') && !gate("NO_COLOR").contains('\u{1b}'));
    assert!(gate("CLICOLOR_FORCE").contains("\u{1b}[31mfailed\u{1b}[0m"));
}

#[test]
fn annotations_name_files_from_the_root_of_the_repository() {
    let folder = folder();
    let below = folder.path().join("gates/help");
    std::fs::create_dir_all(&below).expect("made");
    project(&below, &[&[("a", 0.1), ("b", 1.0)]]);
    ends(&below, &["gate", "1.json", "--out", "run"], 1);
    let annotations = |variable: Option<&str>| {
        let mut command = program(&below, &["report", "run", "--format", "annotations"]);
        command.env_remove("GITHUB_WORKSPACE");
        if let Some(name) = variable {
            command.env(name, folder.path());
        }
        String::from_utf8(command.output().expect("it starts").stdout).expect("UTF-8")
    };
    let at = "::error file=gates/help/cases/all.yaml,line=1,col=3,title=a failed::failed recall@5 0.10, min 0.20\n";
    assert!(annotations(Some("GITHUB_WORKSPACE")).contains(at), "{}", annotations(Some("GITHUB_WORKSPACE")));
    std::fs::create_dir(folder.path().join(".git")).expect("made");
    assert!(annotations(None).contains(at), "{}", annotations(None));
}

#[test]
fn no_line_that_reaches_a_log_starts_with_an_answer() {
    let folder = folder();
    project(folder.path(), &[&[("a", 0.1), ("b", 0.1)]]);
    let planted =
        "::error::planted\r::set-output name=a::b\n##[group]planted\u{85}::add-mask::c\u{2028}::stop-commands::d";
    change_run(folder.path(), |run| {
        for record in &mut run.records {
            if let Taken::Sample(sample) = &mut record.taken {
                sample.answer.response = planted.to_owned();
            }
        }
    });
    let mut told = ends(folder.path(), &["gate", "1.json", "--out", "run"], 1);
    for format in FORMATS {
        told += &passes(folder.path(), &["report", "run", "--format", format]);
    }
    assert!(told.contains("planted"), "{told}");
    for line in told.split(['\n', '\r', '\u{85}', '\u{2028}']) {
        let ours = ["::error file=", "::error title=", "::warning title="];
        let start = line.trim_start();
        assert!(!start.starts_with("::") || ours.iter().any(|ours| start.starts_with(ours)), "{line}");
        assert!(!line.contains("##["), "{line}");
    }
}

#[test]
fn what_the_branch_lowered_is_shown_against_the_base() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 0.5)]]);
    let rules =
        "version: 1\nregression: {baseline: baselines/main.json}\nmetrics:\n  recall@5: {min: 0.2, mean: {min: 0.5}}\n";
    write(folder.path(), "thresholds.yaml", rules);
    change_run(folder.path(), |run| {
        run.manifest.partial = None;
        run.manifest.system.kind = "function".into();
    });
    ends(folder.path(), &["baseline", "accept", "1.json", "--reason", "First."], 0);
    std::fs::copy(folder.path().join("baselines/main.json"), folder.path().join("base.json")).expect("copied");
    change_run(folder.path(), |run| {
        let lower = rageval_runner::model::UnitInterval::new(0.5).expect("in range");
        for outcome in run.records[0].outcomes.values_mut() {
            *outcome = rageval_runner::model::Outcome::scored(lower);
        }
    });
    ends(folder.path(), &["baseline", "accept", "1.json", "--reason", "The index is smaller."], 0);
    ends(folder.path(), &["gate", "1.json", "--out", "run"], 0);
    let report = ["report", "run", "--format", "markdown", "--base-baseline", "base.json"];
    let text = passes(folder.path(), &report);
    assert!(text.contains("#### Lowered by this branch's baseline"), "{text}");
    assert!(text.contains("| `a` | `recall@5` | 1.00 | 0.50 | `The index is smaller.` |"), "{text}");
    let text = refuses(folder.path(), &["report", "run", "--format", "markdown", "--base-baseline", "missing.json"]);
    assert!(text.contains("missing.json"), "{text}");
}
