//! Who judges which metric.

use crate::fixture::Project;

crate::tests![
    a_metric_may_be_left_to_the_offline_rules,
    another_judge_of_one_metric_is_another_judge_of_the_run,
    only_judged_metrics_take_a_judge,
];

const CASES: &str = "- {id: a, query: \"a [found: fee]\", ground_truth_answer: The fee is 12 euros.}\n";

/// The scripted judge calls every sentence unsupported.
const REPLIES: &str = r#"{"request": "faithfulness.verdicts", "case": "*", "value": {"sentences": [{"n": 1, "claims": [{"claim": "The fee is 12 euros.", "verdict": "unsupported"}]}]}}
"#;

fn rules(of_hallucination: &str) -> String {
    format!(
        "version: 1\njudge: {{provider: scripted, replies: replies.jsonl}}\nsnapshots: {{fail_on: never}}\n\
         waive: {{calibration: {{reason: a fixture, until: 2999-12-31}}}}\nmetrics:\n  faithfulness: {{min: 0.5}}\n  hallucination: {of_hallucination}\n"
    )
}

fn project(of_hallucination: &str) -> Project {
    let project = Project::new(&rules(of_hallucination), CASES);
    project.write("replies.jsonl", REPLIES);
    project
}

fn score(project: &Project, metric: &str) -> f64 {
    let run = project.latest_run();
    let outcome = run.records[0].outcomes.iter().find(|(key, _)| key.to_string() == metric).expect("measured").1;
    outcome.score().expect("scored").get()
}

fn a_metric_may_be_left_to_the_offline_rules() {
    // Both metrics ask the same: each of its own judge, and neither sees the other's reply.
    let project = project("{min: 0.5, judge: offline}");
    let ran = project.run(&[]);
    ran.ends_with(101).says("faithfulness").says("scored by the rules of the judge `offline`: hallucination");
    assert_eq!((score(&project, "faithfulness"), score(&project, "hallucination")), (0.0, 1.0));
    let transcript = &project.latest_run().records[0].transcript;
    assert_eq!(transcript.exchanges.len(), 2);
    assert_eq!(transcript.exchanges[0].request, transcript.exchanges[1].request);
}

fn another_judge_of_one_metric_is_another_judge_of_the_run() {
    let fingerprint = |of_hallucination| {
        let project = project(of_hallucination);
        project.run(&[]);
        project.latest_run().manifest.judge.fingerprint
    };
    assert_ne!(fingerprint("{min: 0.5}"), fingerprint("{min: 0.5, judge: offline}"));
    assert_eq!(fingerprint("{min: 0.5}"), fingerprint("{min: 0.4}"));
}

fn only_judged_metrics_take_a_judge() {
    let rules = "version: 1\nmetrics:\n  recall@5: {min: 0.5, judge: offline}\n";
    Project::new(rules, CASES).run(&[]).ends_with(101).says("\"recall\" is not judged, so it takes no \"judge\"");
    let rules = rules.replace("recall@5", "faithfulness").replace("offline", "nobody");
    Project::new(&rules, CASES).run(&[]).ends_with(101).says("offline");
}
