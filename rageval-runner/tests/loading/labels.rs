//! Loading labels: what a file may look like, and what is wrong with it at its place.

use std::path::Path;

use rageval_runner::{
    load::{self, Labels},
    metric::METRICS,
    model::{Human, Label, MetricKey},
};

use super::Project;

const POLICY: &str = "version: 1\njudge: {provider: offline}\nmetrics: {faithfulness: }\n";

fn read(files: &[(&str, &str)]) -> Result<Labels, Vec<String>> {
    let project = files.iter().fold(Project::new(POLICY), |project, (name, text)| {
        project.with(&format!("cases/calibration/{name}"), text.as_bytes())
    });
    load::labels(&project.policy(), METRICS).map_err(|problems| {
        let told = |problem: &load::Diagnostic| {
            let place = problem.place();
            let file = place.file.trim_start_matches("cases/calibration/");
            let advice = problem.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
            format!("{file}:{}:{} {}{advice}", place.line, place.column, problem.message())
        };
        problems.iter().map(told).collect()
    })
}

#[track_caller]
fn loaded(files: &[(&str, &str)]) -> Labels {
    read(files).unwrap_or_else(|problems| panic!("{}", problems.join("\n")))
}

/// One row of YAML, or several, must give exactly these problems.
#[track_caller]
fn check(rows: &str, expected: &[&str]) {
    let problems = read(&[("a.yaml", rows)]).err().unwrap_or_default();
    assert_eq!(problems, expected, "{rows}");
}

/// A row, with what it says of the item.
fn row(more: &str) -> String {
    format!(
        "- {{id: a, query: Q?, response: R., retrieved_contexts: [C.], metric: faithfulness, annotator: ana{more}}}\n"
    )
}

fn human(label: &Label) -> String {
    match label.human {
        Human::Score(score) => score.get().to_string(),
        Human::Verdict(verdict) => verdict.as_str().to_owned(),
    }
}

#[test]
fn the_same_labels_are_read_from_every_format() {
    let yaml = "golden_set_version: 1.2.0\nlabels:\n\
                - id: a\n  question: \"Q, and why?\"\n  answer: R.\n  contexts: [C., {id: d, text: D.}]\n  language: pt-BR\n  ground_truth: T.\n\
                \x20 metric: faithfulness\n  annotator: ana\n  score: 0.25\n  weight: 2.5\n  note: hm\n\
                - {item: a, metric: faithfulness, annotator: bo, score: 1}\n";
    let first = "\"id\": \"a\", \"query\": \"Q, and why?\", \"response\": \"R.\", \"retrieved_contexts\": [\"C.\", {\"id\": \"d\", \"text\": \"D.\"}], \
                 \"language\": \"pt-BR\", \"reference\": \"T.\", \"metric\": \"faithfulness\", \"annotator\": \"ana\", \"score\": 0.25, \"weight\": 2.5, \
                 \"note\": \"hm\", \"golden_set_version\": \"1.2.0\"";
    let second = "\"item\": \"a\", \"metric\": \"faithfulness\", \"annotator\": \"bo\", \"score\": 1, \"level\": \"item\", \"claim\": null";
    let lines = format!("{{{first}}}\n\n{{{second}}}\n");
    let list = format!("[{{{first}}}, {{{second}}}]");
    let csv = "id,query,response,retrieved_contexts,language,reference,metric,annotator,score,weight,note,golden_set_version\n\
               a,\"Q, and why?\",R.,\"[\"\"C.\"\", {\"\"id\"\": \"\"d\"\", \"\"text\"\": \"\"D.\"\"}]\",pt-BR,T.,faithfulness,ana,0.25,2.5,hm,1.2.0\n\
               a,,,,,,faithfulness,bo,1,,,\n";
    let expected = loaded(&[("a.yaml", yaml)]);
    assert_eq!((expected.items.len(), expected.labels.len()), (1, 2));
    let item = &expected.items[0];
    assert_eq!(
        (item.id.as_str(), item.case.query.as_str(), item.case.references[0].as_str()),
        ("a", "Q, and why?", "T.")
    );
    assert_eq!((item.sample.answer.response.as_str(), item.sample.answer.retrieved_contexts.len()), ("R.", 2));
    assert_eq!((item.claim.as_ref(), item.case.recorded.as_ref()), (None, None));
    let said: Vec<_> =
        expected.labels.iter().map(|label| (label.annotator.as_str(), human(label), label.weight)).collect();
    assert_eq!(said, [("ana", "0.25".to_owned(), 2.5), ("bo", "1".to_owned(), 2.5)], "a weight is the item's");
    assert_eq!((expected.set_version.as_deref(), expected.labels[0].note.as_deref()), (Some("1.2.0"), Some("hm")));
    for (name, text) in [("a.yml", yaml), ("a.jsonl", &lines), ("a.json", &list), ("a.csv", csv)] {
        let other = loaded(&[(name, text)]);
        assert_eq!((&other.digest, &other.set_version), (&expected.digest, &expected.set_version), "{name}");
        assert_eq!(other.items[0].sample, item.sample, "{name}");
    }
}

#[test]
fn verdicts_are_words_or_yes_and_no() {
    let rows: String = ["supported", "inferred", "unsupported", "contradicted", "true", "false", "\"true\""]
        .iter()
        .enumerate()
        .map(|(i, word)| row(&format!(", verdict: {word}")).replace("id: a", &format!("id: i{i}, claim: C{i}.")))
        .collect();
    let labels = loaded(&[("a.yaml", &rows)]);
    let said: Vec<_> = labels.labels.iter().map(human).collect();
    assert_eq!(said, ["supported", "inferred", "unsupported", "contradicted", "supported", "unsupported", "supported"]);
    assert!(labels.items.iter().all(|item| item.claim.as_ref().is_some_and(|claim| claim.starts_with('C'))));
}

#[test]
fn an_item_may_stand_in_another_file_than_what_refers_to_it() {
    let labels = loaded(&[
        ("a.jsonl", "{\"item\": \"x\", \"metric\": \"faithfulness\", \"annotator\": \"bo\", \"verdict\": false}\n"),
        ("b.yaml", &row(", verdict: true").replace("id: a", "id: x")),
        // The same texts again are no contradiction.
        ("c.yaml", &row(", verdict: true").replace("id: a", "id: x").replace("ana", "cy")),
        ("_progress.jsonl", "not read\n"),
        ("README.md", "not read\n"),
    ]);
    assert_eq!((labels.items.len(), labels.labels.len()), (1, 3));
    let metric = MetricKey::parse("faithfulness").expect("a metric");
    assert_eq!((labels.items_of(&metric).len(), labels.metrics().len()), (1, 1));
}

#[test]
fn a_project_without_labels_has_none() {
    assert_eq!(loaded(&[]).labels.len(), 0);
}

#[test]
fn the_digest_tells_what_was_said_from_where_it_stands() {
    let metric = MetricKey::parse("faithfulness").expect("a metric");
    let digest = |rows: &str| loaded(&[("a.yaml", rows)]).digest_of(&metric);
    let two = row(", score: 0.5") + &row(", score: 1").replace("ana", "bo");
    let turned = row(", score: 1").replace("ana", "bo") + &row(", score: 0.5, note: hm");
    assert_eq!(digest(&two), digest(&turned));
    for (before, after) in [
        ("score: 0.5", "score: 0.25"),
        ("ana", "al"),
        ("Q?", "P?"),
        ("R.", "S."),
        ("[C.]", "[D.]"),
        ("id: a", "id: b"),
        ("Q?", "Q?, claim: X"),
        ("Q?", "Q?, weight: 2"),
        ("Q?", "Q?, reference: T"),
    ] {
        assert_ne!(digest(&two), digest(&two.replace(before, after)), "{before} {after}");
    }
    // Labels of another metric are none of this one's business.
    let more = two.clone() + "- {item: a, metric: answer_relevancy, annotator: ana, score: 1}\n";
    assert_eq!(digest(&two), digest(&more));
    assert_ne!(loaded(&[("a.yaml", &two)]).digest, loaded(&[("a.yaml", &more)]).digest);
}

#[test]
fn what_a_row_says_is_checked() {
    check(&row(", score: 1.5"), &["a.yaml:1:107 \"score\" is a number from 0 to 1, got 1.5"]);
    check(&row(", score: \"1\""), &["a.yaml:1:107 \"score\" is a number from 0 to 1, got a text; take the quotes off"]);
    check(
        &row(", verdict: suported"),
        &[
            "a.yaml:1:109 \"verdict\" is one of `supported`, `inferred`, `unsupported`, `contradicted`, `true`, `false`, got \"suported\"; did you mean \"supported\"?",
        ],
    );
    check(
        &row(""),
        &[
            "a.yaml:1:3 \"score\" or \"verdict\" is missing: what does the person say?; a score is a number from 0 to 1, a verdict one of `supported`, `inferred`, `unsupported`, `contradicted`, `true`, `false`",
        ],
    );
    check(
        &row(", score: 1, verdict: true"),
        &["a.yaml:1:110 \"score\" and \"verdict\" say the same thing in two ways; keep one of them"],
    );
    check(&row(", score: 1").replace("annotator: ana", "note: x"), &["a.yaml:1:3 \"annotator\" is missing"]);
    check(
        &row(", score: 1").replace("annotator", "anotator"),
        &["a.yaml:1:3 \"annotator\" is missing", "a.yaml:1:84 unknown key \"anotator\"; did you mean \"annotator\"?"],
    );
    check(
        &row(", score: 1").replace("query", "qery"),
        &["a.yaml:1:3 case \"a\": \"query\" is missing", "a.yaml:1:11 unknown key \"qery\"; did you mean \"query\"?"],
    );
    check(
        &row(", score: 1").replace("faithfulness", "faithfulnes"),
        &["a.yaml:1:70 unknown metric \"faithfulnes\"; did you mean \"faithfulness\"?"],
    );
    check(
        &row(", score: 1").replace("faithfulness", "recall@5"),
        &["a.yaml:1:70 \"recall@5\" asks no judge, so there is nothing to hold against people"],
    );
    check(
        &row(", score: 1, level: system"),
        &[
            "a.yaml:1:117 means of whole systems calibrate nothing: they agree where single items do not; label single items",
        ],
    );
    check(&row(", score: 1, weight: 0"), &["a.yaml:1:118 \"weight\" is a number above 0, up to 1000000, got 0"]);
    check(
        &row(", score: 1, weight: 1000001"),
        &["a.yaml:1:118 \"weight\" is a number above 0, up to 1000000, got 1000001"],
    );
    check(
        &row(", score: 1").replace("response: R., retrieved_contexts: [C.], ", ""),
        &["a.yaml:1:3 \"response\" is missing: the answer that was labelled; it may be empty where the answer was"],
    );
    check(
        "- {metric: faithfulness, annotator: ana, score: 1}\n",
        &[
            "a.yaml:1:3 \"id\" is missing: which item is this about?; write `id` with the item's texts, or `item` with the id of one whose texts stand in another row",
        ],
    );
    check(
        "- {item: a, query: Q?, metric: faithfulness, annotator: ana, score: 1}\n",
        &[
            "a.yaml:1:13 \"query\" stands beside \"item\"; write the item's id under `id` where its texts stand, and nothing but `item` elsewhere",
        ],
    );
    check(&row(", score: 1, thresholds: {faithfulness: 1}"), &["a.yaml:1:110 unknown key \"thresholds\""]);
}

#[test]
fn rows_that_contradict_each_other_are_named() {
    let two = |first: &str, second: &str| row(first) + &row(second).replace("ana", "bo");
    check(
        &two(", score: 1", ", score: 0").replace("bo", "ana"),
        &[
            "a.yaml:2:95 \"ana\" labels the item \"a\" twice for faithfulness; keep one of them, or name who else it was",
        ],
    );
    check(
        &two(", score: 1", ", verdict: true"),
        &[
            "a.yaml:2:108 faithfulness is labelled by a verdict here and by a score elsewhere; label a metric by scores or by verdicts, not by both",
        ],
    );
    check(
        &two(", score: 1, weight: 2", ", score: 1, weight: 3"),
        &["a.yaml:2:117 the weight of the item \"a\" is 3 here and 2 elsewhere"],
    );
    let help = "all who label an item must have seen the same; write `item: ID` and no texts, or give it another id";
    for (from, to, what) in [
        ("Q?", "P?", "question"),
        ("R.", "S.", "answer"),
        ("[C.]", "[C., D.]", "list of contexts"),
        ("Q?", "Q?, claim: X", "claim"),
        ("Q?", "Q?, reference: T", "reference answer"),
    ] {
        let rows = row(", score: 1") + &row(", score: 1").replace("ana", "bo").replace(from, to);
        check(&rows, &[&format!("a.yaml:2:8 the {what} of the item \"a\" is another one here; {help}")]);
    }
    check(
        &(row(", score: 1") + "- {item: b, metric: faithfulness, annotator: bo, score: 1}\n"),
        &["a.yaml:2:10 no row holds the texts of the item \"b\"; did you mean \"a\"?"],
    );
    let versions = [("a.yaml", "golden_set_version: 1\nlabels:\n"), ("b.yaml", "golden_set_version: 2\nlabels:\n")];
    let [a, b] = versions.map(|(name, head)| {
        let row = row(", score: 1").replace("id: a, query: Q?", &format!("id: {name}, query: {name}"));
        (name, format!("{head}{row}"))
    });
    assert_eq!(
        read(&[(a.0, &a.1), (b.0, &b.1)]),
        Err(vec!["b.yaml:1:21 \"golden_set_version\" is \"2\" here and \"1\" elsewhere; all files of a set state the same, or nothing".to_owned()])
    );
}

#[test]
fn an_answer_that_is_labelled_under_several_ids_is_one_item() {
    let as_item = |id: &str| row(", score: 1").replace("id: a", &format!("id: {id}"));
    let help = "label it once: several people name one item by `item: ID`";
    let rows =
        as_item("a") + &as_item("b") + &as_item("c") + "- {item: b, metric: faithfulness, annotator: bo, score: 1}\n";
    check(
        &rows,
        &[
            &format!("a.yaml:2:8 item \"b\" has the texts of item \"a\" at cases/calibration/a.yaml:1; {help}"),
            &format!("a.yaml:3:8 item \"c\" has the texts of item \"a\" at cases/calibration/a.yaml:1; {help}"),
        ],
    );
    for (from, to) in [("Q?", "P?"), ("R.", "S."), ("[C.]", "[C., D.]"), ("Q?", "Q?, claim: X")] {
        assert_eq!(loaded(&[("a.yaml", &(as_item("a") + &as_item("b").replace(from, to)))]).items.len(), 2);
    }
}

#[test]
fn all_problems_of_all_files_are_told_at_once() {
    let problems = read(&[
        ("a.csv", "id,query,response,metric,annotator,skore\na,Q,R,faithfulness,ana,1\n"),
        ("b.jsonl", "{\"id\": \"b\"\n"),
        ("c.yaml", ""),
        ("d.tsv", ""),
        ("e/f.yaml", ""),
    ]);
    assert_eq!(
        problems,
        Err([
            "a.csv:1:36 unknown key \"skore\"; did you mean \"score\"?",
            "a.csv:2:1 \"score\" or \"verdict\" is missing: what does the person say?; a score is a number from 0 to 1, a verdict one of `supported`, `inferred`, `unsupported`, `contradicted`, `true`, `false`",
            "b.jsonl:1:10 this is not JSON: it is cut off here",
            "c.yaml:0:0 the file holds no label; start its name with `_` to leave it out",
            "d.tsv:0:0 files that end in .tsv are not read; labels stand in .jsonl, .csv, .yaml, .yml or .json; a leading `_` leaves a file out",
            "e:0:0 labels stand in the folder itself, not in a folder below it; move the files up; a leading `_` leaves a folder or a file out",
        ]
        .map(str::to_owned)
        .to_vec())
    );
}

#[test]
fn the_folder_of_the_labels_may_be_named() {
    let policy =
        |labels: &str| format!("{POLICY}calibration: {{labels: {labels}, min_labels: 80, min_spearman: 0.8}}\n");
    let project = Project::new(&policy("people")).with("people/a.yaml", row(", score: 1").as_bytes());
    let read = project.policy();
    assert_eq!((read.calibration.min_labels, read.calibration.min_spearman), (80, 0.8));
    assert_eq!(load::labels(&read, METRICS).expect("labels").labels.len(), 1);
    let project = Project::new(&policy("cases/people"));
    let problem = project.load().expect_err("read as cases");
    let text = problem.to_string();
    assert!(text.contains("\"labels\" names a folder among the golden cases"), "{text}");
}

/// Those of this repository.
#[test]
fn the_demos_labels_load() {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(load::FILE_NAME);
    let policy = load::policy(&policy, METRICS).expect("the demo's policy");
    let labels = load::labels(&policy, METRICS).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(labels.labels.is_empty(), !policy.labels.is_dir());
}
