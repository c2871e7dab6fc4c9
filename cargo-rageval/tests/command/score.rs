//! `cargo rageval score`.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use super::{folder, passes, program, refuses, run, write};

const QRELS: &str = "q1 0 a 1\nq1 0 b 1\nq1 0 z 0\nq2 0 c 2\nq2 0 d 1\n";
const RUN: &str = "q1 Q0 x 1 3.0 t\nq1 Q0 a 2 2.0 t\nq2 Q0 d 1 9 t\nq2 Q0 c 2 8 t\n";

fn trec(qrels: &str, run: &str) -> tempfile::TempDir {
    let folder = folder();
    write(folder.path(), "qrels.txt", qrels);
    write(folder.path(), "run.txt", run);
    folder
}

fn arguments<'a>(metrics: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["score", "--qrels", "qrels.txt", "--run", "run.txt", "--metrics", metrics];
    arguments.extend(more);
    arguments
}

#[test]
fn means_are_printed_as_columns() {
    let folder = trec(QRELS, RUN);
    let text = passes(folder.path(), &arguments("recall@10,ndcg@10,map,mrr", &[]));
    assert_eq!(
        text,
        "recall@10\tall\t0.7500\nndcg@10  \tall\t0.6233\nmap      \tall\t0.6250\nmrr      \tall\t0.7500\n"
    );
}

#[test]
fn each_query_is_printed_before_the_means() {
    let folder = trec(QRELS, RUN);
    let text = passes(folder.path(), &arguments("mrr,precision@2", &["--per-query"]));
    let expected = "mrr        \tq1\t0.5000\nprecision@2\tq1\t0.5000\nmrr        \tq2\t1.0000\nprecision@2\tq2\t1.0000\n\
                    mrr        \tall\t0.7500\nprecision@2\tall\t0.7500\n";
    assert_eq!(text, expected);
}

#[test]
fn json_holds_the_means_and_on_request_each_query() {
    let folder = trec(QRELS, RUN);
    let text = passes(folder.path(), &arguments("mrr,hit_rate@1", &["--format", "json"]));
    assert_eq!(text, "{\n\"mean\": {\"mrr\": 0.75, \"hit_rate@1\": 0.5}\n}\n");
    let text = passes(folder.path(), &arguments("mrr", &["--format", "json", "--per-query"]));
    assert_eq!(
        text,
        "{\n\"mean\": {\"mrr\": 0.75},\n\"per_query\": {\n\"q1\": {\"mrr\": 0.5},\n\"q2\": {\"mrr\": 1.0}\n}\n}\n"
    );
}

#[test]
fn odd_query_names_are_escaped() {
    let folder = trec("a\"b\\退 0 x 1\n", "a\"b\\退 Q0 x 1 1 t\n");
    let text = passes(folder.path(), &arguments("mrr", &["--format", "json", "--per-query"]));
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["per_query"]["a\"b\\退"]["mrr"], 1.0);
}

#[test]
fn ties_are_as_listed_or_by_the_rule_of_trec_eval() {
    let folder = trec("q 0 d3 1\n", "q Q0 d1 1 1 t\nq Q0 d2 2 1 t\nq Q0 d3 3 1 t\n");
    assert_eq!(passes(folder.path(), &arguments("mrr", &[])), "mrr\tall\t0.3333\n");
    assert_eq!(passes(folder.path(), &arguments("mrr", &["--ties", "trec"])), "mrr\tall\t1.0000\n");
}

#[test]
fn gain_may_be_exponential() {
    let folder = trec("q 0 a 3\nq 0 b 1\n", "q Q0 b 1 2 t\nq Q0 a 2 1 t\n");
    assert_eq!(passes(folder.path(), &arguments("ndcg", &[])), "ndcg\tall\t0.7967\n");
    assert_eq!(passes(folder.path(), &arguments("ndcg", &["--gain", "exponential"])), "ndcg\tall\t0.7098\n");
    let folder = trec("q 0 a 5000\n", "q Q0 a 1 1 t\n");
    let text = refuses(folder.path(), &arguments("ndcg", &["--gain", "exponential"]));
    assert_eq!(text, "error: qrels.txt: query `q`: the grades are too large for `ndcg`\n");
}

#[test]
fn what_is_missing_is_counted_and_told() {
    let qrels = "q1 0 a 1\nq2 0 b 1\nq3 0 c 0\n";
    let folder = trec(qrels, "q1 Q0 a 1 1 t\nq8 Q0 a 1 1 t\nq9 Q0 a 1 1 t\nq9 Q0 b 1 1 t\n");
    let ended = run(folder.path(), &arguments("mrr", &["--per-query"]));
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.out, "mrr\tq1\t1.0000\nmrr\tq2\t0.0000\nmrr\tall\t0.5000\n");
    let expected = "1 query missing from the run, counted 0: q2\n1 query without relevant documents: not applicable\n\
                    2 queries of the run without judgements: not scored\n";
    assert_eq!(ended.err, expected);
}

#[test]
fn a_run_without_any_line_counts_0_for_every_query() {
    let folder = trec("q1 0 a 1\n", "");
    let ended = run(folder.path(), &arguments("mrr", &[]));
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "mrr\tall\t0.0000\n"));
    assert_eq!(ended.err, "1 query missing from the run, counted 0: q1\n");
}

#[test]
fn nothing_to_score_is_undecided_and_prints_no_mean() {
    let folder = trec("q1 0 a 0\n", RUN);
    let ended = run(folder.path(), &arguments("mrr", &["--format", "json"]));
    assert_eq!((ended.code, ended.out.as_str()), (Some(3), ""));
    assert!(ended.err.ends_with("nothing to score: no query has relevant documents\n"), "{}", ended.err);
}

#[test]
fn every_wrong_metric_is_told() {
    let folder = trec(QRELS, RUN);
    let text = refuses(folder.path(), &arguments("recal@10,recall,recall@0,mrr,mrr,r_precision@3", &[]));
    let known = "`hit_rate`, `recall`, `precision`, `f1`, `mrr`, `map`, `r_precision`, `ndcg`";
    let expected = format!(
        "error: --metrics: unknown retrieval metric `recal`; did you mean `recall`?; known are {known}\n\
         --metrics: `recall` needs a cut-off, as in `recall@10`\n\
         --metrics: the cut-off after `@` is a whole number of at least 1, got `0`\n\
         --metrics: `mrr` is given twice\n\
         --metrics: `r_precision` takes no cut-off\n"
    );
    assert_eq!(text, expected);
}

#[test]
fn faulty_files_are_told_with_their_lines() {
    let folder = trec("q 0 a 1\nq 0 a 2\n", "q Q0 a 1 nan t\nq Q0\n");
    let text = refuses(folder.path(), &arguments("mrr", &[]));
    assert_eq!(text, "error: qrels.txt:2: query `q` grades document `a` 2 here and 1 at line 1; keep one of them\n");
    write(folder.path(), "qrels.txt", QRELS);
    let text = refuses(folder.path(), &arguments("mrr", &[]));
    let expected = "error: run.txt:1: the score must be a number, got `nan`\n\
                    run.txt:2: expected 6 fields `query Q0 document rank score tag`, got 2\n";
    assert_eq!(text, expected);
    std::fs::remove_file(folder.path().join("run.txt")).expect("removed");
    assert!(refuses(folder.path(), &arguments("mrr", &[])).starts_with("error: cannot read run.txt: "));
}

#[test]
fn samples_are_read_from_json_lines() {
    let folder = folder();
    let text = r#"{"id":"q1","relevant_doc_ids":["a",{"id":"b","grade":1}],"retrieved":["x",{"id":"a","score":0.1}]}
{"query_id":"q2","relevant_doc_ids":["c"],"retrieved":[]}
{"id":"q3","relevant_doc_ids":[],"retrieved":["c"]}
"#;
    write(folder.path(), "s.jsonl", text);
    let ended = run(
        folder.path(),
        &["score", "--samples", "s.jsonl", "--metrics", "recall@10,mrr", "--per-query", "--format", "json"],
    );
    let expected = "{\n\"mean\": {\"recall@10\": 0.25, \"mrr\": 0.25},\n\"per_query\": {\n\
                    \"q1\": {\"recall@10\": 0.5, \"mrr\": 0.5},\n\"q2\": {\"recall@10\": 0.0, \"mrr\": 0.0}\n}\n}\n";
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), expected));
    assert_eq!(ended.err, "1 query without relevant documents: not applicable\n");
}

#[test]
fn samples_and_trec_files_do_not_mix() {
    let folder = trec(QRELS, RUN);
    for more in [&["--samples", "s.jsonl"][..], &["--samples", "s.jsonl", "--ties", "trec"]] {
        assert!(refuses(folder.path(), &arguments("mrr", more)).contains("cannot be used with"));
    }
    assert!(refuses(folder.path(), &["score", "--qrels", "qrels.txt", "--metrics", "mrr"]).contains("--run <FILE>"));
    assert!(refuses(folder.path(), &["score", "--qrels", "q", "--run", "r"]).contains("--metrics <LIST>"));
}

#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    let mut qrels = String::new();
    for query in 0..20_000 {
        writeln!(qrels, "query-{query:06} 0 a 1").expect("written");
    }
    let folder = trec(&qrels, "query-000000 Q0 a 1 1 t\n");
    let mut child = program(folder.path(), &arguments("mrr", &["--per-query"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

#[test]
fn the_recorded_figures_are_met_through_the_command() {
    let data: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/retrieval/faquad");
    if !data.is_dir() {
        println!("skipped: {} is absent", data.display());
        return;
    }
    let expected = std::fs::read_to_string(data.join("expected.json")).expect("readable");
    let expected: serde_json::Value = serde_json::from_str(&expected).expect("JSON");
    let pairs = [("recall@10", "recall_10"), ("ndcg@10", "ndcg_cut_10"), ("map", "map"), ("mrr", "recip_rank")];
    for (ties, rule) in [("listed", "as_listed"), ("trec", "trec_ties")] {
        let list = "recall@10,ndcg@10,map,mrr";
        let more = ["--metrics", list, "--ties", ties, "--per-query", "--format", "json"];
        let text = passes(&data, &[&["score", "--qrels", "qrels.txt", "--run", "run.txt"][..], &more].concat());
        let got: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let close = |a: &serde_json::Value, b: &serde_json::Value| {
            let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        };
        for (ours, theirs) in pairs {
            close(&got["mean"][ours], &expected[rule]["mean_over_all_queries"][theirs]);
            for (query, figures) in expected[rule]["per_query"].as_object().expect("an object") {
                close(&got["per_query"][query][ours], &figures[theirs]);
            }
        }
    }
}
