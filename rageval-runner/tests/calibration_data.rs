//! The calibration's figures on public judgements of people and of real judges, against those that SciPy gives.
//!
//! The data stands beside the repository and is not part of it: where it is absent the tests say so and pass.

use std::{collections::BTreeMap, fs, path::PathBuf};

use rageval_runner::{
    model::{Human, MetricKey, UnitInterval, run::JudgeStamp},
    report::console,
    stats,
    trust::{
        Date,
        calibration::{
            Asked, Bars, Judged, Labelled, Looked, Measured, MeasuredItem, Now, Refusal, estimate, refusals, report,
        },
    },
};
use serde_json::Value;

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/calibration");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: there is no {}", folder.display());
    None
}

fn rows(folder: &std::path::Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(name)).expect("a file of the data");
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn expected(folder: &std::path::Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("expected.json")).expect("figures")).expect("JSON")
}

/// A score on the row's scale as one between 0 and 1.
fn unit(row: &Value, score: f64) -> UnitInterval {
    let scale: Vec<f64> =
        row["scale"].as_array().expect("a scale").iter().map(|end| end.as_f64().expect("a number")).collect();
    UnitInterval::new((score - scale[0]) / (scale[1] - scale[0])).expect("a score on the scale")
}

/// One item of one row; `judge` is its score, where it could be read.
fn item(row: &Value, judge: Option<f64>) -> MeasuredItem {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let people: BTreeMap<String, Human> = match row["human"].as_array() {
        Some(each) => each
            .iter()
            .enumerate()
            .map(|(i, score)| (format!("p{i}"), Human::Score(unit(row, score.as_f64().expect("a number")))))
            .collect(),
        None => {
            let mean = row["human_mean"].as_f64().expect("a number");
            [("mean".to_owned(), Human::Score(unit(row, mean)))].into()
        }
    };
    MeasuredItem {
        item: text("id"),
        language: "en".to_owned(),
        people,
        judge: match judge {
            Some(score) => Judged::Scored(unit(row, score)),
            None => Judged::Unmeasured("no score in the reply".to_owned()),
        },
        weight: 1.0,
        length: 1,
    }
}

fn stamp() -> JudgeStamp {
    JudgeStamp { provider: "openai".into(), model: "m".into(), fingerprint: "f".into() }
}

fn measured(items: Vec<MeasuredItem>) -> Measured {
    Measured { judge: stamp(), labels: "d".to_owned(), set_version: None, items }
}

fn refused(measured: &Measured) -> Vec<Refusal> {
    let labels = Labelled::Items {
        items: measured.items.iter().map(|item| (item.item.clone(), item.labelled())).collect(),
        digest: "d".to_owned(),
        set_version: None,
    };
    refusals(Some(measured), &Now { judge: &stamp(), labels: &labels, set_version: None, bars: &Bars::default() })
}

#[track_caller]
fn agrees(measured: &Measured, figures: &Value, what: &str) {
    let pairs = measured.pairs();
    assert_eq!(pairs.len() as u64, figures["n"].as_u64().expect("a number"), "{what}");
    let unread = measured.items.iter().filter(|item| item.score().is_none()).count();
    assert_eq!(unread as u64, figures["unread"].as_u64().expect("a number"), "{what}");
    for (name, ours) in [
        ("spearman", stats::spearman(&pairs)),
        ("pearson", stats::pearson(&pairs)),
        ("kendall_tau_b", stats::kendall_tau_b(&pairs)),
    ] {
        let (ours, theirs) = (ours.expect("a figure"), figures[name].as_f64().expect("a number"));
        assert!((ours - theirs).abs() < 1e-9, "{what} {name}: {ours}, not {theirs}");
    }
}

#[test]
fn judges_of_summaries_are_refused_in_every_dimension() {
    let Some(folder) = folder() else { return };
    let expected = expected(&folder);
    for judge in ["gpt-4-0314", "gpt-3.5-turbo-0301", "llama-2-70b-chat-hf"] {
        let name = format!("summeval_{judge}.jsonl");
        let rows = rows(&folder, &name);
        for dimension in ["coherence", "consistency", "fluency", "relevance"] {
            let of_dimension = rows.iter().filter(|row| row["dimension"] == dimension);
            let measured = measured(of_dimension.map(|row| item(row, row["judge_score"].as_f64())).collect());
            agrees(&measured, &expected["figures"][&name][dimension], &format!("{judge} {dimension}"));
            let refusals = refused(&measured);
            assert!(
                refusals.iter().any(|refusal| matches!(refusal, Refusal::Low { .. })),
                "{judge} {dimension}: {refusals:?}"
            );
        }
    }
}

/// The mean over systems would let the same judge pass: that is why means of systems are refused.
#[test]
fn means_of_systems_flatter_the_judge() {
    let Some(folder) = folder() else { return };
    let name = "summeval_gpt-4-0314.jsonl";
    let figures = &expected(&folder)["figures"][name];
    for dimension in ["fluency", "relevance"] {
        let (items, systems) = (&figures[dimension], &figures["system_level_for_contrast"][dimension]);
        assert!(items["spearman"].as_f64() < Some(0.5) && systems["spearman"].as_f64() > Some(0.9), "{dimension}");
    }
}

/// The mean of all samples of each item that could be read, and the first alone.
fn samples(rows: &[Value], first_only: bool) -> Measured {
    measured(
        rows.iter()
            .map(|row| {
                let all = row["sample_scores"].as_array().expect("scores");
                let all = if first_only { &all[..1] } else { &all[..] };
                let read: Vec<f64> = all.iter().filter_map(Value::as_f64).collect();
                item(row, stats::mean(&read))
            })
            .collect(),
    )
}

#[test]
fn engagingness_passes_by_a_hair_with_twenty_samples_and_fails_with_one() {
    let Some(folder) = folder() else { return };
    let name = "topicalchat_gpt3.5_eng_analyze_rate_auto_cot.jsonl";
    let (rows, figures) = (rows(&folder, name), &expected(&folder)["figures"][name]);
    let twenty = samples(&rows, false);
    agrees(&twenty, &figures["mean_of_samples"], "twenty samples");
    assert_eq!(refused(&twenty), []);
    let rho = estimate::spearman(&twenty.pairs()).expect("a correlation");
    let (low, high) = rho.interval.expect("an interval");
    assert!(0.7 < rho.value && rho.value < 0.72, "{rho:?}");
    // The bar lies well inside: the next 183 items may as well fail.
    assert!(0.6 < low && low < 0.65 && 0.77 < high && high < 0.82, "{rho:?}");
    let metric = MetricKey::parse("rubric/engaging").expect("a metric");
    let looked = Looked { measured: Some(twenty), refusals: Vec::new() };
    let decision = console::calibration::decision(&metric, &looked, &Bars::default(), None, Date::MIN);
    let line = &decision.lines[0];
    assert!(
        line.starts_with("passed      rho 0.7175 [0.6") && line.contains("over 183 items, at least 0.70"),
        "{line}"
    );

    let one = samples(&rows, true);
    agrees(&one, &figures["first_sample_only"], "one sample");
    let refusals = refused(&one);
    assert!(refusals.contains(&Refusal::Unmeasured { items: 1, of: 183 }), "{refusals:?}");
    assert!(matches!(refusals.last(), Some(Refusal::Low { rho, .. }) if (0.58..0.59).contains(rho)), "{refusals:?}");
}

#[test]
fn every_stored_figure_of_dialogues_is_reproduced() {
    let Some(folder) = folder() else { return };
    let expected = expected(&folder);
    let all = expected["figures"].as_object().expect("figures");
    let mut files = 0;
    for (name, figures) in all.iter().filter(|(name, _)| name.starts_with("topicalchat")) {
        let rows = rows(&folder, name);
        for (key, first_only) in [("mean_of_samples", false), ("first_sample_only", true)] {
            agrees(&samples(&rows, first_only), &figures[key], &format!("{name} {key}"));
        }
        files += 1;
    }
    assert!(files >= 5, "{files}");
}

/// A whole report of many annotators: the people agree better with each other than the judge does with them.
#[test]
fn a_report_of_real_labels_fits_a_screen() {
    let Some(folder) = folder() else { return };
    let rows = rows(&folder, "summeval_gpt-4-0314.jsonl");
    // Every sixth item: the intervals of all would take long without an optimiser.
    let some = rows.iter().filter(|row| row["dimension"] == "consistency").step_by(6);
    let measured = measured(some.map(|row| item(row, row["judge_score"].as_f64())).collect());
    let metric = MetricKey::parse("faithfulness").expect("a metric");
    let run: Vec<f64> = measured.items.iter().filter_map(MeasuredItem::score).collect();
    let report = report(&metric, &measured, &Asked { bar: 0.75, run: Some(&run) });
    assert_eq!((report.people.annotators.len(), report.people.shared), (3, measured.items.len()));
    let ceiling = report.people.ceiling.expect("a ceiling");
    assert!(ceiling > report.agreement.spearman.expect("a correlation").value, "{ceiling}");
    let lines = console::calibration::report(&report, &refused(&measured), &Bars::default());
    println!("{}", lines.join("\n"));
    assert!(lines.len() <= 40, "{}", lines.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{lines:#?}");
}
