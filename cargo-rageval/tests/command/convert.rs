//! `cargo rageval cases convert`, on files that the other programs wrote, and on what goes wrong.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Ended, folder, run, write};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/convert")
}

fn convert(folder: &Path, files: &[&str], from: &str, to: &str, more: &[&str]) -> Ended {
    run(folder, &[&["cases", "convert"], files, &["--from", from, "--to", to], more].concat())
}

/// What a fixture becomes as our YAML, and what was told of it, held against `expected/NAME.txt`.
#[track_caller]
fn check(name: &str, files: &[&str], from: &str, more: &[&str]) {
    let ended = convert(&fixtures(), files, from, "rageval-yaml", more);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let found = format!("{}\n--- told\n{}", ended.out, ended.err);
    let expected = fixtures().join("expected").join(format!("{name}.txt"));
    if fs::read_to_string(&expected).unwrap_or_default() != found {
        let actual = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("convert-{name}.txt"));
        fs::write(&actual, &found).expect("written");
        panic!("{name} differs. Read it, then accept it:\ncp {} {}\n{found}", actual.display(), expected.display());
    }
    loads(&ended.out, ended.out.contains("response: "));
}

/// What was written loads as the cases of a project.
#[track_caller]
fn loads(cases: &str, recorded: bool) {
    let project = folder();
    fs::create_dir(project.path().join("cases")).expect("made");
    write(&project.path().join("cases"), "all.yaml", cases);
    let system = if recorded { "system: {kind: recorded}\n" } else { "" };
    let judge = "judge: {provider: offline}\n";
    write(
        project.path(),
        "thresholds.yaml",
        &format!("version: 1\n{system}{judge}metrics:\n  recall@5: {{min: 0.2}}\n"),
    );
    let ended = run(project.path(), &["cases", "stats"]);
    assert_eq!(ended.code, Some(0), "{cases}\n{}", ended.err);
}

#[test]
fn ragas_datasets_of_every_form_become_the_same_cases() {
    let read = |file: &str, format: &str| {
        let ended = convert(&fixtures(), &[file], format, "rageval-jsonl", &[]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        (ended.out, ended.err)
    };
    let (cases, told) = read("ragas/evaluation.jsonl", "ragas-jsonl");
    assert!(told.ends_with("2 cases from ragas-jsonl to rageval-jsonl, nothing lost\n"), "{told}");
    for (file, format) in [
        ("ragas/evaluation.json", "ragas-json"),
        ("ragas/pandas.json", "ragas-json"),
        ("ragas/datasets.jsonl", "ragas-jsonl"),
        ("ragas/pandas.parquet", "ragas-parquet"),
        ("ragas/datasets.parquet", "ragas-parquet"),
    ] {
        assert_eq!(read(file, format).0, cases, "{file}");
    }
    // In a table an empty answer is an empty cell, and what it was made from needs one.
    for file in ["ragas/evaluation.csv", "ragas/numpy.csv"] {
        assert_eq!(read(file, "ragas-csv").0, cases, "{file}");
    }
    check("ragas", &["ragas/evaluation.jsonl"], "ragas-jsonl", &[]);
    check("ragas_without_answers", &["ragas/evaluation.jsonl"], "ragas-jsonl", &["--without-answers"]);
}

#[test]
fn a_generated_test_set_of_ragas_keeps_how_it_was_made() {
    check("testset", &["ragas/testset.csv"], "ragas-csv", &[]);
    let json = convert(&fixtures(), &["ragas/testset.jsonl"], "ragas-jsonl", "rageval-yaml", &[]);
    assert_eq!(json.out, convert(&fixtures(), &["ragas/testset.csv"], "ragas-csv", "rageval-yaml", &[]).out);
}

#[test]
fn what_is_missing_in_a_table_is_no_answer() {
    check("holes_parquet", &["ragas/holes.parquet"], "ragas-parquet", &[]);
    check("holes_csv", &["ragas/holes.csv"], "ragas-csv", &[]);
}

#[test]
fn parquet_is_read_with_every_codec_that_pandas_writes() {
    let read =
        |name: &str| convert(&fixtures(), &[&format!("ragas/{name}.parquet")], "ragas-parquet", "rageval-jsonl", &[]);
    let snappy = read("holes");
    assert_eq!(snappy.code, Some(0), "{}", snappy.err);
    for codec in ["brotli", "gzip", "lz4", "zstd"] {
        let found = read(codec);
        assert_eq!((found.code, &found.out), (Some(0), &snappy.out), "{codec}: {}", found.err);
    }
}

#[test]
fn goldens_of_deepeval_become_the_same_cases_from_every_form() {
    check("deepeval", &["deepeval/goldens.json"], "deepeval-json", &[]);
    let read = |file: &str, format: &str| convert(&fixtures(), &[file], format, "rageval-yaml", &[]).out;
    let cases = read("deepeval/goldens.json", "deepeval-json");
    assert_eq!(read("deepeval/goldens.jsonl", "deepeval-jsonl"), cases);
    assert_eq!(read("deepeval/goldens.csv", "deepeval-csv"), cases);
}

#[test]
fn contexts_that_were_joined_otherwise_are_parted_when_asked() {
    let project = folder();
    write(project.path(), "g.csv", "input,context\nWhat?,one;two\n");
    let one = convert(project.path(), &["g.csv"], "deepeval-csv", "rageval-jsonl", &[]);
    assert!(one.out.contains("\"reference_contexts\":[\"one;two\"]"), "{}", one.out);
    assert!(one.err.contains("context: taken for one context, though it holds `;`: --separator ';' parts it there"));
    let two = convert(project.path(), &["g.csv"], "deepeval-csv", "rageval-jsonl", &["--separator", ";"]);
    assert!(two.out.contains("\"reference_contexts\":[\"one\",\"two\"]"), "{}", two.out);
}

#[test]
fn promptfoo_tests_and_assertions_become_cases_and_bars() {
    check("promptfoo", &["promptfoo/promptfooconfig.yaml"], "promptfoo", &[]);
}

#[test]
fn a_table_of_promptfoo_is_read_by_itself_too() {
    let alone = convert(&fixtures(), &["promptfoo/tests.csv"], "promptfoo", "rageval-jsonl", &[]);
    assert_eq!(alone.code, Some(0), "{}", alone.err);
    assert_eq!(alone.out.lines().count(), 2, "{}", alone.out);
    let project = folder();
    let wrong = |header: &str, row: &str| {
        write(project.path(), "t.csv", &format!("query,{header}\nWhat?,{row}\n"));
        convert(project.path(), &["t.csv"], "promptfoo", "rageval-jsonl", &[])
    };
    let column = wrong("__config:__expected:metric", "1");
    assert!(column.code == Some(2) && column.err.contains("t.csv:2: the column"), "{}", column.err);
    let number = wrong("__config:__expected:threshold", "high");
    assert!(number.code == Some(2) && number.err.contains("\"high\" is no number"), "{}", number.err);
}

#[test]
fn the_question_among_variables_is_guessed_or_named() {
    let project = folder();
    write(project.path(), "c.yaml", "tests:\n- vars: {product: x, city: y}\n");
    let ended = convert(project.path(), &["c.yaml"], "promptfoo", "rageval-yaml", &[]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.err.contains("c.yaml:2: which variable is the question? --query-var names one of city, product"),
        "{}",
        ended.err
    );
    let named = convert(project.path(), &["c.yaml"], "promptfoo", "rageval-yaml", &["--query-var", "city"]);
    assert!(named.out.contains("query: \"y\"\n") && named.out.contains("metadata: {product: x}"), "{}", named.out);
}

#[test]
fn beir_and_trec_collections_become_cases() {
    check("beir", &["beir"], "beir", &[]);
    check("trec", &["trec/topics.tsv", "trec/qrels.txt"], "trec", &[]);
    check("trec_blocks", &["trec/topics.txt", "trec/qrels.txt"], "trec", &[]);
    let named = ["beir/queries.jsonl", "beir/qrels/test.tsv"];
    assert_eq!(
        convert(&fixtures(), &named, "beir", "rageval-yaml", &[]).out,
        convert(&fixtures(), &["beir"], "beir", "rageval-yaml", &[]).out
    );
    let missing = convert(&fixtures(), &["beir"], "beir", "rageval-yaml", &["--split", "dev"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("the folder holds test.tsv, train.tsv: --split names one"), "{}", missing.err);
}

const OURS: &str = "\
golden_set: fees
version: \"1\"
cases:
- {id: a, query: What is the fee?, ground_truth_answer: [None., Free.], relevant_doc_ids: [d, {id: e f, grade: 0.5}], type: fact, tags: [x]}
- {id: b c, query: \"Will it\\train?\", should_refuse: true, thresholds: {contains: {any: [no], min: 1}, recall@5: {min: 1}}}
";

#[test]
fn ours_becomes_every_other_format_with_the_losses_named() {
    let project = folder();
    write(project.path(), "ours.yaml", OURS);
    let mut told = String::new();
    for format in ["ragas-json", "deepeval-json", "promptfoo", "beir", "trec"] {
        let ended = convert(project.path(), &["ours.yaml"], "rageval-yaml", format, &["--out", format]);
        assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
        told += &ended.err;
    }
    let files = [
        "ragas-json",
        "deepeval-json",
        "promptfoo",
        "beir/queries.jsonl",
        "beir/qrels/test.tsv",
        "trec/topics.tsv",
        "trec/qrels.txt",
    ];
    for file in files {
        told += &["--- ", file, "\n", &fs::read_to_string(project.path().join(file)).expect("written")].concat();
    }
    let expected = fixtures().join("expected/from_ours.txt");
    if fs::read_to_string(&expected).unwrap_or_default() != told {
        let actual = Path::new(env!("CARGO_TARGET_TMPDIR")).join("convert-from_ours.txt");
        fs::write(&actual, &told).expect("written");
        panic!("it differs. Read it, then accept it:\ncp {} {}\n{told}", actual.display(), expected.display());
    }
}

#[test]
fn losses_end_with_0_unless_strict_and_then_nothing_is_written() {
    let project = folder();
    write(project.path(), "ours.yaml", OURS);
    let strict = convert(project.path(), &["ours.yaml"], "rageval-yaml", "beir", &["--out", "b", "--strict"]);
    assert_eq!(strict.code, Some(1));
    assert!(
        strict.err.contains("ours.yaml:4: lost: a: ground_truth_answer: BEIR has no place for it"),
        "{}",
        strict.err
    );
    assert!(strict.err.ends_with("losses: nothing is written with --strict\n"), "{}", strict.err);
    assert!(!project.path().join("b").exists());
    let lossless = convert(project.path(), &["ours.yaml"], "rageval-yaml", "rageval-json", &["--strict"]);
    assert_eq!(lossless.code, Some(0), "{}", lossless.err);
}

#[test]
fn a_file_is_written_over_only_when_that_is_said() {
    let project = folder();
    write(project.path(), "ours.yaml", OURS);
    write(project.path(), "old.json", "mine");
    let kept = convert(project.path(), &["ours.yaml"], "rageval-yaml", "rageval-json", &["--out", "old.json"]);
    assert_eq!(kept.code, Some(2));
    assert_eq!(kept.err, "error: old.json: it is there already; name another, or pass --overwrite\n");
    assert_eq!(fs::read_to_string(project.path().join("old.json")).expect("read"), "mine");
    let more = ["--out", "old.json", "--overwrite"];
    assert_eq!(convert(project.path(), &["ours.yaml"], "rageval-yaml", "rageval-json", &more).code, Some(0));
}

#[test]
fn the_report_as_json_names_losses_with_their_places() {
    let project = folder();
    write(project.path(), "ours.yaml", OURS);
    let more = ["--out", "r.jsonl", "--format", "json"];
    let ended = convert(project.path(), &["ours.yaml"], "rageval-yaml", "ragas-jsonl", &more);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    let report: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    assert_eq!(
        (&report["cases"], &report["to"], &report["written"]),
        (&2.into(), &"ragas-jsonl".into(), &serde_json::json!(["r.jsonl"]))
    );
    let lost = serde_json::json!({"fate": "lost", "case": "a", "field": "type", "why": "RAGAS has no place for it", "file": "ours.yaml", "line": 4});
    assert!(report["losses"].as_array().expect("a list").contains(&lost), "{report:#}");
    let no_file = convert(project.path(), &["ours.yaml"], "rageval-yaml", "ragas-jsonl", &["--format", "json"]);
    assert_eq!(no_file.code, Some(2));
    let parquet = convert(project.path(), &["ours.yaml"], "rageval-yaml", "ragas-parquet", &[]);
    assert!(parquet.code == Some(2) && parquet.err.contains("--out"), "{}", parquet.err);
}

#[test]
fn json_lines_that_go_on_over_several_lines_are_read_here_and_the_loader_says_so() {
    let project = folder();
    let pretty = "\u{feff}{\r\n  \"id\": \"a\",\r\n  \"query\": \"What?\"\r\n}\r\n{\r\n  \"id\": \"007\", \"query\": \"Why\u{2028}?\"\r\n}\r\n";
    fs::create_dir(project.path().join("cases")).expect("made");
    write(project.path(), "thresholds.yaml", "version: 1\nmetrics:\n  recall@5: {min: 0.2}\n");
    write(project.path(), "cases/a.jsonl", pretty);
    let refused = run(project.path(), &["cases", "stats"]);
    assert!(
        refused.err.contains("cargo rageval cases convert FILE --from rageval-jsonl --to rageval-jsonl"),
        "{}",
        refused.err
    );
    let more = ["--out", "cases/a.jsonl", "--overwrite"];
    assert_eq!(convert(project.path(), &["cases/a.jsonl"], "rageval-jsonl", "rageval-jsonl", &more).code, Some(0));
    let plain = fs::read_to_string(project.path().join("cases/a.jsonl")).expect("read");
    assert_eq!(plain, "{\"id\":\"a\",\"query\":\"What?\"}\n{\"id\":\"007\",\"query\":\"Why\u{2028}?\"}\n");
    assert_eq!(run(project.path(), &["cases", "stats"]).code, Some(0));
}

/// One trap of other people's files: what must come of it, and what must be told.
#[track_caller]
fn trap(file: &str, bytes: &[u8], from: &str, cases: &str, told: &str) {
    let project = folder();
    fs::write(project.path().join(file), bytes).expect("written");
    let ended = convert(project.path(), &[file], from, "rageval-jsonl", &[]);
    assert!(ended.out.contains(cases), "{cases}\nis not in\n{}{}", ended.out, ended.err);
    assert!(ended.err.contains(told), "{told}\nis not in\n{}", ended.err);
}

#[test]
fn traps_of_tables() {
    let bom = "\u{feff}user_input,reference\r\nWhat?,\"two\r\nlines\"\r\n,\r\n";
    trap("a.csv", bom.as_bytes(), "ragas-csv", r#""query":"What?","ground_truth_answer":"two\r\nlines""#, "1 case");
    let lines = "input,name\r\n\r\nWhat?,\"x\r\ny\"\r\nWhy?\r\n";
    trap("a.csv", lines.as_bytes(), "deepeval-csv", "", "a.csv:5: this row has 1 cells, the header has 2");
    trap("a.csv", "input,name\nWhat?,007\n".as_bytes(), "deepeval-csv", r#""id":"007""#, "nothing lost");
    trap(
        "a.csv",
        "input,name\nWhat?,x\nWhy?,x\n".as_bytes(),
        "deepeval-csv",
        r#""id":"x-2""#,
        "a.csv:3: changed: x-2: id: \"x\" stands at a.csv:2 already",
    );
    trap("a.csv", "user_input\nWhat?\u{2028}So?\n".as_bytes(), "ragas-csv", "What?\u{2028}So?", "nothing lost");
    let empty = "user_input,reference,reference_contexts\nWhat?,None,\"['', 'a']\"\n,b,\n";
    trap(
        "a.csv",
        empty.as_bytes(),
        "ragas-csv",
        r#""reference_contexts":["a"]"#,
        "reference: the word `None`, taken for a value that is missing",
    );
    trap("a.csv", empty.as_bytes(), "ragas-csv", "What?", "reference_contexts: a blank context");
    trap(
        "a.csv",
        empty.as_bytes(),
        "ragas-csv",
        "What?",
        "a.csv:3: lost: user_input: a case without a question is no case",
    );
    trap(
        "a.csv",
        "user_input,reference_contexts\nWhat?,\"['a' ... 'b']\"\n".as_bytes(),
        "ragas-csv",
        "What?",
        "it was shortened when it was printed",
    );
    trap(
        "a.csv",
        "input,name\nWhat?\n".as_bytes(),
        "deepeval-csv",
        "",
        "a.csv:2: this row has 1 cells, the header has 2",
    );
    trap("a.csv", "input,input\na,b\n".as_bytes(), "deepeval-csv", "", "a.csv:1: the column \"input\" stands twice");
    trap("a.csv", b"input\n\xff\n", "deepeval-csv", "", "a.csv:2: not UTF-8");
}

#[test]
fn traps_of_json_and_parquet() {
    trap(
        "a.json",
        "\u{feff}[{\"user_input\": \"a\u{2028}b\", \"reference\": \"\"}]\r\n".as_bytes(),
        "ragas-json",
        "a\u{2028}b",
        "reference: blank",
    );
    trap(
        "a.json",
        br#"[{"user_input": "a", "id": 7, "score": NaN}]"#,
        "ragas-json",
        "",
        "`NaN` and `Infinity` are Python's, and no JSON",
    );
    trap(
        "a.json",
        br#"[{"user_input": "a", "id": "-x"}]"#,
        "ragas-json",
        r#""id":"a-"#,
        "id: \"-x\": an id must not start with `-`; made from the question",
    );
    trap(
        "a.json",
        br#"[{"user_input": "a", "reference_context_ids": [7, "7", ""]}]"#,
        "ragas-json",
        r#""relevant_doc_ids":["7"]"#,
        "reference_context_ids: \"7\" stands twice",
    );
    trap("a.json", br#"[1]"#, "ragas-json", "", "a.json:1: a case is an object");
    trap(
        "a.jsonl",
        br#"{"scenario": "s", "turns": []}"#,
        "deepeval-jsonl",
        "",
        "a.jsonl:1: lost: scenario: a golden of a conversation",
    );
    let conversation = convert(&fixtures(), &["ragas/conversation.jsonl"], "ragas-jsonl", "rageval-yaml", &[]);
    assert_eq!(conversation.code, Some(2));
    assert!(
        conversation.err.contains("user_input: a conversation of several turns")
            && conversation.err.contains("no case came of these files")
    );
    trap("a.parquet", b"PAR1", "ragas-parquet", "", "error: a.parquet: ");
}

#[test]
fn traps_of_collections() {
    let project = folder();
    let path = project.path();
    write(path, "topics.tsv", "1\ta\n1\tb\n");
    write(path, "qrels.txt", "1 0 d 1\r\n1 0 d 1\r\n");
    let twice = convert(path, &["topics.tsv", "qrels.txt"], "trec", "rageval-yaml", &[]);
    assert!(twice.code == Some(2) && twice.err.contains("topics.tsv:2: the topic `1` stands twice"), "{}", twice.err);
    write(path, "topics.tsv", "1\ta\n");
    write(path, "qrels.txt", "1 0 d 1\n1 0 d 2\n1 0 e\n1 0 e NaN\n");
    let wrong = convert(path, &["topics.tsv", "qrels.txt"], "trec", "rageval-yaml", &[]);
    assert_eq!(
        wrong.err,
        "error: qrels.txt:2: query `1` grades document `d` 2 here and 1 at line 1; keep one of them\n\
        qrels.txt:3: expected 4 fields `query iteration document grade`, got 3\n\
        qrels.txt:4: the grade must be a number, got `NaN`\n"
    );
    write(path, "queries.jsonl", "{\"_id\": \"1\", \"text\": \"a\"}\n{\"_id\": 1, \"text\": \"b\"}\n");
    write(path, "q.tsv", "query-id\tcorpus-id\tscore\r\n1\td\t1\r\n");
    let twice = convert(path, &["queries.jsonl", "q.tsv"], "beir", "rageval-yaml", &[]);
    assert!(
        twice.code == Some(2)
            && twice.err.contains("queries.jsonl:2: the query \"1\" stands at queries.jsonl:1 already"),
        "{}",
        twice.err
    );
}

#[test]
fn what_is_wrong_with_our_own_files_is_told_as_the_loader_tells_it() {
    let project = folder();
    write(
        project.path(),
        "a.yaml",
        "- {id: 007, query: a}\n- {id: b, querry: c}\n- {id: c, query: d}\n- {id: c, query: e}\n",
    );
    let ended = convert(project.path(), &["a.yaml"], "rageval-yaml", "rageval-json", &[]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""));
    for text in ["quote it: \"007\"", "did you mean \"query\"?", "the id \"c\" stands twice"] {
        assert!(ended.err.contains(text), "{text}: {}", ended.err);
    }
}
