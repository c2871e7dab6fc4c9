//! The page as a whole: what comes first, what its policy lets in, what stays text.

use std::path::Path;

use rageval_runner::{
    model::{
        CaseId, Claim, Evidence, MetricKey, Outcome, Repeat, Repeated, Verdict,
        record::Taken,
        run::{Ruling, Run},
    },
    report::console::text::RED_TEXTS,
    store::runs,
};

use super::*;
use crate::report::{
    fixture,
    lowered::{Lowered, LoweredScore},
};

fn run() -> Run {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../rageval-runner/tests/fixtures/formats/run-v4.json");
    let mut run = runs::read(Path::new(fixture)).expect("a run");
    let claim = Claim {
        text: "30 days.".into(),
        verdict: Verdict::Contradicted,
        evidence: Some(Evidence { id: Some("d1".into()), text: "Within 14 days.".into() }),
        reason: Some("says 14".into()),
    };
    let key = run.records[0].outcomes.keys().next().expect("a metric").clone();
    // The settled outcome is that of the confirmation; without it, the first reading.
    run.records[0].readings.clear();
    if let Some(rageval_runner::model::Outcome::Scored { detail, .. }) = run.records[0].outcomes.get_mut(&key) {
        detail.claims.push(claim);
    }
    run
}

fn rendered_with(run: &Run, lowered: Lowered<'_>) -> String {
    let (folder, place, reach) = Default::default();
    let input = super::super::Input { view: View::of(run), lowered, folder, place, reach };
    let mut page = Vec::new();
    report(&input, &mut page).expect("a page");
    String::from_utf8(page).expect("UTF-8")
}

fn rendered(run: &Run) -> String {
    rendered_with(run, Lowered::stored(run))
}

#[test]
fn decisions_come_first_and_a_failing_claim_stands_beside_its_evidence() {
    let page = rendered(&run());
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("`{text}` is not in the page"));
    assert!(place("<h1 class=\"failed\">") < place("id=\"decisions\""));
    assert!(place("id=\"decisions\"") < place("id=\"metrics\"") && place("id=\"metrics\"") < place("id=\"cases\""));
    assert!(place("✗ contradicted") < place("Within 14 days."));
    assert!(place("Within 14 days.") < place("id=\"metrics\""), "before all that is no decision");
}

#[test]
fn the_worst_tenth_is_shown_by_the_statistic_that_its_gate_uses() {
    let mut run = crate::report::fixture::every_outcome();
    let named = |run: &Run, name: &str| rendered(run).matches(&format!("<span class=\"muted\">{name}</span>")).count();
    assert_eq!((named(&run, "quantile"), named(&run, "tail mean")), (4, 0));
    for rules in &mut run.background.metrics {
        rules.bottom10_use = (rules.metric.name() == "token_f1").then(|| "tail_mean".to_owned());
    }
    assert_eq!((named(&run, "quantile"), named(&run, "tail mean")), (3, 1));
    assert!(rendered(&run).contains("0.300 <span class=\"muted\">tail mean</span>"));
}

#[test]
fn the_policy_lets_in_its_own_style_and_script_alone() {
    let page = rendered(&run());
    let between = |from: &str, to: &str| {
        let rest = page.split_once(from).unwrap_or_else(|| panic!("{from}")).1;
        rest.split_once(to).unwrap_or_else(|| panic!("{to}")).0.to_owned()
    };
    assert!(page.contains(&format!("style-src '{}'", hash(&between("<style>", "</style>")))));
    assert!(page.contains(&format!("script-src '{}'", hash(&between("<script>", "</script>")))));
    assert!(page.contains("content=\"default-src 'none'; "));
    assert_eq!(page.matches("</style>").count(), 1);
    assert_eq!(page.matches("<script>").count(), 1, "all others are data");
    // One link leads out, and nothing is fetched by it.
    let link = format!("<a href=\"{RED_TEXTS}\"");
    assert_eq!(page.matches(&link).count(), 1, "what red texts mean");
    let page = page.replace(&link, "");
    for outside in ["src=\"", "url(", "@import", "http://", "https://", " style=\""] {
        assert!(!page.contains(outside), "`{outside}` is in the page");
    }
}

#[test]
fn every_plot_has_a_title() {
    let page = rendered(&run());
    let plots = page.matches("<svg ").count();
    assert!(plots >= 2, "a histogram and a scatter");
    assert_eq!(page.matches("role=\"img\"><title>").count(), plots);
}

#[test]
fn text_of_a_run_is_never_markup() {
    let mut run = run();
    let hostile = "</script><img src=x onerror=alert(1)>\u{202e}\u{0}";
    let id = CaseId::new("<img src=x onerror=alert(2)>").expect("an id");
    let Taken::Sample(sample) = &mut run.records[0].taken else { panic!("a sample") };
    sample.answer.response = hostile.into();
    sample.answer.retrieved_contexts[0].text = hostile.into();
    run.records[0].case = id.clone();
    run.cases[0].case = id;
    run.cases[0].query = hostile.into();
    run.decisions[0].lines = vec![hostile.into()];
    run.decisions[0].findings[0].text = hostile.into();
    run.decisions[1].ruling = Ruling::Fail;
    run.decisions[1].lines = vec![hostile.into()];
    run.manifest.run_id = hostile.into();
    run.background.notices = vec![hostile.into()];
    run.background.waivers = vec![hostile.into()];
    let page = rendered(&run);
    assert!(!page.contains("<img"), "markup from a text");
    assert!(!page.contains(['\u{202e}', '\u{0}']), "a character that hides");
    assert_eq!(page.matches("</script>").count(), page.matches("<script").count());
}

#[test]
fn runs_of_older_versions_are_shown_as_far_as_they_tell() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rageval-runner/tests/fixtures/formats");
    for version in 1..=3 {
        let run = runs::read(&fixtures.join(format!("run-v{version}.json"))).expect("a run");
        assert!(rendered(&run).contains("<h1 class="), "version {version}");
    }
}

#[test]
fn a_run_of_nothing_is_a_page_too() {
    let page = rendered(&Run::default());
    assert!(page.contains("<h1 class=\"undecided\">") && page.contains("Nothing was measured."));
}

#[test]
fn a_red_case_shows_its_answer_and_headings_count_by_ruling() {
    let run = fixture::every_outcome();
    let page = rendered(&run);
    assert!(page.contains("<p class=\"said\"><span class=\"muted\">declined: </span>"), "`wrongly-refused` is red");
    let counted = |ruling| {
        View::of(&run)
            .red_cases()
            .filter(|case| case.decision.is_some_and(|decision| decision.ruling == ruling))
            .count()
    };
    let (failed, undecided) = (counted(Ruling::Fail), counted(Ruling::Undecided));
    assert!(failed > 0 && undecided > 0, "both kinds");
    assert!(page.contains(&format!("Red cases: <span class=\"n\">{failed} failed, {undecided} undecided</span>")));
}

#[test]
fn what_the_baseline_lowered_is_a_section_where_there_is_any() {
    let run = run();
    let score = LoweredScore {
        case: run.cases[0].case.clone(),
        metric: MetricKey::parse("recall@5").expect("a metric"),
        before: Some(1.0),
        now: None,
        reason: None,
    };
    let page = rendered_with(&run, Lowered { base: Some("main.json".into()), scores: vec![score] });
    let (_, section) = page.split_once("id=\"lowered\"").expect("a section");
    let section = section.split_once("</section>").expect("its end").0;
    for text in ["main.json", "recall<wbr>@5", "1.000", "gone", "No reason given"] {
        assert!(section.contains(text), "`{text}` in {section}");
    }
    assert!(!rendered_with(&run, Lowered { base: None, scores: Vec::new() }).contains("id=\"lowered\""));
}

#[test]
fn a_reason_that_scores_share_stands_once_and_behind_the_metrics() {
    let run = run();
    let score = |metric: &str| LoweredScore {
        case: run.cases[0].case.clone(),
        metric: MetricKey::parse(metric).expect("a metric"),
        before: Some(1.0),
        now: Some(0.5),
        reason: Some("a smaller judge"),
    };
    let scores = vec![score("recall@5"), score("faithfulness")];
    let page = rendered_with(&run, Lowered { base: None, scores });
    assert_eq!(page.matches("a smaller judge").count(), 1);
    assert!(page.find("id=\"metrics\"") < page.find("id=\"lowered\""), "the metrics come first");
}

#[test]
fn a_line_for_each_metric_stands_above_more_than_five_red_cases() {
    const LINES: &str = "Metrics, before and now";
    let mut run = crate::report::fixture::every_outcome();
    let page = rendered(&run);
    let (above, _) = page.split_once("<article class=\"case\">").expect("a red case");
    let (_, lines) = above.split_once(LINES).expect("lines");
    assert!(lines.matches("href=\"#metric-").count() == 4 && lines.contains("class=\"red\""), "{lines}");
    let red = |decision: &&mut rageval_runner::model::run::Decision| decision.is_of_case() && decision.ruling.is_red();
    for decision in run.decisions.iter_mut().filter(red).skip(5) {
        decision.ruling = Ruling::Pass;
    }
    assert!(!rendered(&run).contains(LINES), "five red cases are read without");
}

/// The colours of one `:root` block, by name.
fn colours(block: &str) -> std::collections::BTreeMap<String, [f64; 3]> {
    let of = |declaration: &'_ str| -> Option<(String, [f64; 3])> {
        let (name, value) = declaration.trim().strip_prefix("--")?.split_once(": #")?;
        let digits: String =
            if value.len() == 3 { value.chars().flat_map(|c| [c, c]).collect() } else { value.to_owned() };
        let part = |at: usize| f64::from(u8::from_str_radix(&digits[at..at + 2], 16).expect("a colour")) / 255.0;
        Some((name.to_owned(), [part(0), part(2), part(4)]))
    };
    block.split([';', '\n']).filter_map(of).collect()
}

/// Contrast as WCAG 2 measures it, from 1 to 21.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let light = |colour: [f64; 3]| {
        let [r, g, b] = colour.map(|c| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (light(a), light(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Whatever text stands on whatever ground, also where no test looks: WCAG AA asks 4.5 of text and 3 of what else is to be told from its ground.
#[test]
fn every_colour_of_text_can_be_read_on_every_ground() {
    let blocks: Vec<&str> = super::STYLE.split(":root {").skip(1).filter_map(|rest| rest.split('}').next()).collect();
    assert_eq!(blocks.len(), 3, "light, dark, paper");
    for block in blocks {
        let colours = colours(block);
        for text in ["ink", "muted", "link", "red", "amber", "green"] {
            for ground in ["paper", "shade", "red-shade", "amber-shade", "green-shade"] {
                let found = contrast(colours[text], colours[ground]);
                assert!(found >= 4.5, "{text} on {ground}: {found:.2} in{block}");
            }
        }
        for drawn in ["plot-now", "plot-tail", "plot-before", "plot-bar"] {
            let found = contrast(colours[drawn], colours["paper"]);
            assert!(found >= 3.0, "{drawn}: {found:.2} in{block}");
        }
    }
    assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9 && contrast([0.6; 3], [1.0; 3]) < 4.5);
}

#[test]
fn the_numbers_of_a_row_subtract_and_say_how_many_they_are_over() {
    let page = rendered(&crate::report::fixture::every_outcome());
    let (_, table) = page.split_once("id=\"metrics-title\"").expect("metrics");
    let row = table.split("<tr>").find(|row| row.contains("faithfulness")).expect("a row");
    let cells: Vec<&str> = row.split("<td").skip(1).map(|cell| cell.split_once('>').expect("a cell").1).collect();
    let number = |cell: &str| -> f64 {
        let text = cell.split(['<', ' ']).next().expect("a number").replace('−', "-");
        text.parse().unwrap_or_else(|_| panic!("{text}: {row}"))
    };
    let [before, now, change] = [6, 7, 8].map(|at| number(cells[at]));
    assert!((now - before - change).abs() < 1e-9, "{row}");
    assert!(cells[6].contains("n 15"), "17 are scored, 15 of them compared: {row}");
    let (_, slices) = page.split_once("id=\"slices-title\"").expect("slices");
    assert!(slices.contains("the change is over those that the baseline has scored too"), "{slices}");
    assert!(slices.contains(" over 13<"), "{slices}");
}

#[test]
fn the_worst_red_case_comes_first() {
    let page = rendered(&fixture::every_outcome());
    let (_, cases) = page.split_once("Red cases: ").expect("red cases");
    let at = |case: &str| cases.find(&format!("#case={case}\"")).unwrap_or_else(|| panic!("{case}"));
    // It lies 1.00 below its bar, and stands behind the other in the set.
    assert!(at("wrongly-refused") < at("below-min"));
}

#[test]
fn what_failed_in_a_repeat_that_is_not_shown_is_on_the_page() {
    let mut run = run();
    let record = &mut run.records[0];
    let sample = record.sample().expect("a sample").clone();
    let mut repeat = Repeat {
        taken: Taken::Sample(sample),
        outcomes: record.outcomes.clone(),
        transcript: record.transcript.clone(),
    };
    let failing = repeat.outcomes.values_mut().find_map(|outcome| match outcome {
        Outcome::Scored { detail, .. } => detail.claims.last_mut(),
        Outcome::NotApplicable { .. } | Outcome::Unmeasured { .. } => None,
    });
    failing.expect("a claim").text = "Only the second repeat says 30 days.".into();
    for outcome in record.outcomes.values_mut() {
        if let Outcome::Scored { detail, .. } = outcome {
            detail.claims.clear();
        }
    }
    let first = Repeat { outcomes: record.outcomes.clone(), ..repeat.clone() };
    record.repeats = Some(Repeated { shown: 1, each: vec![first, repeat] });
    let page = rendered(&run);
    let failing = page.split("\"failing\":").nth(1).expect("the second repeat alone has failing claims");
    assert!(failing.contains("Only the second repeat says 30 days."), "{}", &failing[..200]);
    assert_eq!(page.matches("\"failing\":").count(), 1);
}
