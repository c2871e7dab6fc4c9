//! TREC files in small, and the recorded figures of other tools.

use std::{collections::BTreeMap, fmt::Write as _, io::Write as _, path::PathBuf};

use super::*;
use crate::metric::retrieval::{Gain, Measurement};

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("written");
    file
}

fn rankings(text: &str, ties: Ties) -> Result<BTreeMap<String, String>, String> {
    let file = file(text);
    let mut rankings = BTreeMap::new();
    let measure = |ranking: &run::Ranking| ranking.documents().collect::<Vec<_>>().join(" ");
    for_each_ranking(file.path(), ties, measure, |query, said| {
        rankings.insert(query.to_owned(), said);
    })
    .map_err(|error| error.to_string().replace(&format!("{}:", file.path().display()), ""))?;
    Ok(rankings)
}

fn qrels_error(text: &str) -> String {
    Qrels::parse(text, Path::new("q")).expect_err("a problem").to_string()
}

#[test]
fn the_score_orders_and_the_rank_column_is_ignored() {
    let run = "q Q0 a 1 1.0 t\nq Q0 b 2 3.0 t\nq Q0 c 3 2 t\n";
    assert_eq!(rankings(run, Ties::Listed).expect("readable")["q"], "b c a");
}

#[test]
fn ties_are_as_listed_or_by_id_descending() {
    let run = "q Q0 d1 1 1 t\nq Q0 d2 2 1 t\nq Q0 d3 3 1 t\nq Q0 d0 4 -0.0 t\nq Q0 d4 5 0.0 t\n";
    assert_eq!(rankings(run, Ties::Listed).expect("readable")["q"], "d1 d2 d3 d0 d4");
    assert_eq!(rankings(run, Ties::Trec).expect("readable")["q"], "d3 d2 d1 d4 d0");
}

#[test]
fn trec_eval_keeps_scores_as_32_bit_numbers() {
    let run = "q Q0 d1 1 1.00000001 t\nq Q0 d2 2 1.0 t\n";
    assert_eq!(rankings(run, Ties::Listed).expect("readable")["q"], "d1 d2");
    assert_eq!(rankings(run, Ties::Trec).expect("readable")["q"], "d2 d1");
}

#[test]
fn scattered_lines_of_a_query_count_together() {
    let run = "p Q0 a 1 1 t\nq Q0 x 1 1 t\np Q0 b 2 2 t\nq Q0 y 2 0 t\n";
    let got = rankings(run, Ties::Listed).expect("readable");
    assert_eq!(got.into_iter().collect::<Vec<_>>(), [("p".into(), "b a".into()), ("q".into(), "x y".into())]);
}

#[test]
fn comments_blank_lines_tabs_carriage_returns_and_a_byte_order_mark_are_fine() {
    let run = "\u{feff}# comment\r\n\r\nq\tQ0\ta#b\t1\t 1e3 \ttag and more\r\n  # comment\nq Q0 c 2 inf t";
    assert_eq!(rankings(run, Ties::Listed).expect("readable")["q"], "c a#b");
}

#[test]
fn every_faulty_line_of_a_run_is_told() {
    let run = "q Q0 a 1 NaN t\nq Q0 a 1\nq Q0 b 2 high t\nq Q0 c 3 1 t\n";
    let expected = "1: the score must be a number, got `NaN`\n\
                    2: expected 6 fields `query Q0 document rank score tag`, got 4\n\
                    3: the score must be a number, got `high`";
    assert_eq!(rankings(run, Ties::Listed).expect_err("problems"), expected);
    let many = "q\n".repeat(25);
    assert!(rankings(&many, Ties::Listed).expect_err("problems").ends_with("\nand 5 more problems"));
}

#[test]
fn a_file_of_many_blocks_keeps_each_query_whole() {
    let mut run = String::new();
    for query in 0..3_000 {
        for rank in 1..=50 {
            writeln!(
                run,
                "query-{query:05} Q0 document-{rank:03} {rank} {}.5 a-long-tag-to-fill-the-blocks",
                100 - rank
            )
            .expect("written");
        }
        run.push_str("# a comment\n\n");
    }
    let got = rankings(&run, Ties::Listed).expect("readable");
    assert_eq!(got.len(), 3_000);
    let expected = (1..=50).map(|rank| format!("document-{rank:03}")).collect::<Vec<_>>().join(" ");
    assert!(got.values().all(|documents| *documents == expected));
    run.push_str("query-02999 Q0 b 1\n");
    assert_eq!(
        rankings(&run, Ties::Listed).expect_err("a problem"),
        "156001: expected 6 fields `query Q0 document rank score tag`, got 4"
    );
}

#[test]
fn a_ranking_longer_than_a_block_stays_whole() {
    let run: String =
        (0..150_000).map(|rank| format!("q Q0 document-{rank:07} {rank} {} tag\n", 150_000 - rank)).collect();
    let got = rankings(&format!("{run}r Q0 a 1 1 t\n"), Ties::Listed).expect("readable");
    assert_eq!((got["q"].split(' ').count(), got["r"].as_str()), (150_000, "a"));
}

#[test]
fn a_missing_file_is_named() {
    let error =
        for_each_ranking(Path::new("no/such.run"), Ties::Listed, |_| (), |_, ()| {}).expect_err("no file").to_string();
    assert!(error.starts_with("cannot read no/such.run: "), "{error}");
}

#[test]
fn judgements_are_grouped_by_query_wherever_they_stand() {
    let text = "p 0 a 1\nq 0 x 0\np 0 b 2\nq 0 y -1\np 0 a 1\n";
    let qrels = Qrels::parse(text, Path::new("q")).expect("readable");
    assert_eq!(qrels.count(), 2);
    assert_eq!((qrels.query(0), qrels.place("q"), qrels.place("z")), ("p", Some(1), None));
    assert_eq!(qrels.relevant(0).expect("relevant").ideal(), [2.0, 1.0]);
    assert!(qrels.relevant(1).is_none());
}

#[test]
fn every_faulty_judgement_is_told() {
    assert_eq!(
        qrels_error("p 0 a 1\n\np 0 b x\np 0 c\np 0 a 2\np 0 d NaN\n"),
        "q:3: the grade must be a number, got `x`\n\
         q:4: expected 4 fields `query iteration document grade`, got 3\n\
         q:6: the grade must be a number, got `NaN`\n\
         q:5: query `p` grades document `a` 2 here and 1 at line 1; keep one of them"
    );
    assert_eq!(
        qrels_error("# nothing\n"),
        "q:1: no judgement in the whole file; expected lines of `query iteration document grade`"
    );
}

/// The folder of recorded figures, which lies outside the repository.
fn recorded() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/retrieval");
    if !folder.is_dir() {
        println!("skipped: {} is absent", folder.display());
        return None;
    }
    Some(folder)
}

/// Scores by query, each a list in the order of `keys`.
fn scores(qrels: &Path, run: &Path, ties: Ties, keys: &[&str]) -> BTreeMap<String, Vec<f64>> {
    let measurements: Vec<_> =
        keys.iter().map(|key| Measurement::parse(key, Gain::Linear).expect("a metric")).collect();
    let text = text(qrels).expect("readable");
    let qrels = Qrels::parse(&text, qrels).expect("readable");
    let mut scores = BTreeMap::new();
    let measure = |ranking: &run::Ranking| {
        let relevant = qrels.relevant(qrels.place(ranking.query())?)?;
        let found = ranking.found(&relevant);
        Some(measurements.iter().map(|one| one.score(&found).expect("a score").get()).collect())
    };
    for_each_ranking(run, ties, measure, |query, row: Option<Vec<f64>>| {
        scores.extend(row.map(|row| (query.to_owned(), row)));
    })
    .expect("readable");
    scores
}

fn ours(trec: &str) -> String {
    match trec.rsplit_once('_') {
        Some(("P", k)) => format!("precision@{k}"),
        Some(("recall", k)) => format!("recall@{k}"),
        Some(("ndcg_cut", k)) => format!("ndcg@{k}"),
        Some(("map_cut", k)) => format!("map@{k}"),
        Some(("success", k)) => format!("hit_rate@{k}"),
        Some(("recip", _)) => "mrr".to_owned(),
        Some(_) | None if trec == "Rprec" => "r_precision".to_owned(),
        Some(_) | None => trec.to_owned(),
    }
}

#[test]
fn the_recorded_figures_of_five_collections_are_met_under_both_rules_for_ties() {
    let Some(folder) = recorded() else { return };
    for name in ["cmrc", "drcd", "faquad", "pira_pt", "squad2"] {
        let folder = folder.join(name);
        let expected = std::fs::read_to_string(folder.join("expected.json")).expect("readable");
        let expected: serde_json::Value = serde_json::from_str(&expected).expect("JSON");
        for (rule, ties) in [("trec_ties", Ties::Trec), ("as_listed", Ties::Listed)] {
            let means = expected[rule]["mean_over_all_queries"].as_object().expect("an object");
            let trec: Vec<_> = means.keys().map(String::as_str).collect();
            let keys: Vec<_> = trec.iter().map(|name| ours(name)).collect();
            let keys: Vec<_> = keys.iter().map(String::as_str).collect();
            let scores = scores(&folder.join("qrels.txt"), &folder.join("run.txt"), ties, &keys);
            let per_query = expected[rule]["per_query"].as_object().expect("an object");
            assert_eq!(scores.len(), per_query.len(), "{name}");
            for (query, figures) in per_query {
                for (index, metric) in trec.iter().enumerate() {
                    let (got, expected) = (scores[query][index], figures[*metric].as_f64().expect("a number"));
                    assert!((got - expected).abs() < 1e-6, "{name} {rule} {query} {metric}: {got}, not {expected}");
                }
            }
            for (index, metric) in trec.iter().enumerate() {
                let got = scores.values().map(|row| row[index]).sum::<f64>() / scores.len() as f64;
                let expected = means[*metric].as_f64().expect("a number");
                assert!((got - expected).abs() < 1e-6, "{name} {rule} {metric}: {got}, not {expected}");
            }
        }
    }
}

/// Rows `metric query value` of a recorded output that name one of our metrics.
fn printed(path: &Path) -> Vec<(String, String, String)> {
    let text = std::fs::read_to_string(path).expect("readable");
    let rows = text.lines().filter_map(|line| {
        let mut fields = line.split('\t').map(str::trim);
        let (metric, query, value) = (fields.next()?, fields.next()?, fields.next()?);
        let key = ours(metric);
        Measurement::parse(&key, Gain::Linear).ok().map(|_| (key, query.to_owned(), value.to_owned()))
    });
    rows.collect()
}

#[test]
fn the_recorded_outputs_of_trec_eval_are_met_to_every_printed_digit() {
    let Some(folder) = recorded() else { return };
    let folder = folder.join("trec_eval");
    for (qrels, output, at_least) in [
        ("qrels.test", "out.test", 12),
        ("qrels.test.with-comments", "out.test", 12),
        ("qrels.test", "out.test.a", 42),
        ("qrels.test", "out.test.aq", 160),
    ] {
        let rows = printed(&folder.join(output));
        assert!(rows.len() >= at_least, "{output} holds only {} rows to compare", rows.len());
        for (key, query, value) in rows {
            let scores = scores(&folder.join(qrels), &folder.join("results.test"), Ties::Trec, &[&key]);
            let got = match query.as_str() {
                "all" => scores.values().map(|row| row[0]).sum::<f64>() / scores.len() as f64,
                query => scores[query][0],
            };
            assert_eq!(format!("{got:.4}"), value, "{output} {key} {query}");
        }
    }
}

#[test]
fn public_judgements_are_read() {
    let Some(folder) = recorded() else { return };
    let folder = folder.join("public_qrels");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.to_string_lossy().ends_with(".qrels.txt") {
            let text = text(&path).expect("readable");
            let qrels = Qrels::parse(&text, &path).expect("readable");
            assert!(qrels.count() > 0);
            count += 1;
        }
    }
    assert_eq!(count, 5);
}
