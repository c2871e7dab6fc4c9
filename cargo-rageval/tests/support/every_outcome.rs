//! A run that holds every kind of outcome, decided by the gate itself; shared by the tests of all reports.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rageval_runner::{
    gate::{self, Basis, MetricFacts},
    load,
    metric::METRICS,
    model::{
        Answer, CaseId, CaseScores, Claim, Confirmation, Detail, Evidence, GoldenCase, GoldenSet, Heard, MetricKey,
        Outcome, Ranked, Readings, Record, Records, Repeat, Repeated, RetrievedContext, Sample, Spending, Taken,
        Transcript, UnitInterval, Unmeasured, Verdict,
        run::{
            Baseline, BaselineCase, BaselineManifest, Decision, JudgeStamp, LoweredScores, Manifest, Ruling, Run,
            SetStamp, SnapshotFailure, SystemStamp,
        },
    },
    report::background::{self, Known},
    trust::calibration::Bars,
};

/// What an attacker puts into every text: links, markup, mentions, commands of build servers, controls.
pub(crate) const HOSTILE: &str = "::error::planted\n##[group]planted\r::set-output name=a::b\u{85}::add-mask::c\u{2028}::stop-commands::d @team fixes #123 \
     and GH-7 https://evil.example www.evil.example a@evil.example <script>alert(1)</script> <img src=x onerror=y> ![i](http://e/x.png) [l](javascript:z) \
     | a | b |\n|---|\n```\n</details> --> ``` `code` :tada: $x$ \u{202e}desrever\u{200b} \u{1b}[31mred\u{1b}]8;;http://e\u{7}link\u{1b}]8;;\u{7} \u{0}\u{fffe} ]]> &lt; \\| 0123456789abcdef0123456789abcdef01234567";

const RULES: &str = "\
version: 1
judge: {provider: offline}
slices: {by: [language], min_cases: 5}
regression: {baseline: baselines/main.json}
metrics:
  faithfulness: {min: 0.8, max_drop: 0.25, mean: {min: 0.9}}
  recall@5: {max_drop: 0.2, bottom10: {min: 0.5}}
  refusal_correctness: {min: 1}
  token_f1: {min: 0.3, level: warn}
";

const CASES: &str = r#"
- {id: passes, query: "What is the window?", ground_truth_answer: "30 days.", relevant_doc_ids: [refunds], language: en}
- {id: below-min, query: "How long may I return it?", ground_truth_answer: "Within 30 days.", relevant_doc_ids: [refunds], language: en}
- {id: dropped, query: "Which countries?", ground_truth_answer: "Three.", relevant_doc_ids: [a, b], language: en}
- {id: system-fails, query: "Is it up?", ground_truth_answer: "Yes.", relevant_doc_ids: [a], language: en}
- {id: judge-fails, query: "Can it be judged?", ground_truth_answer: "No.", relevant_doc_ids: [a], language: en}
- {id: cannot-compare, query: "What was it?", ground_truth_answer: "Something.", relevant_doc_ids: [a], language: en, known_failure: {metrics: [faithfulness], reason: "it was never right"}}
- {id: known, query: "Which bug?", ground_truth_answer: "This.", relevant_doc_ids: [a], language: en, known_failure: {metrics: [recall@5], reason: "no index yet"}}
- {id: recovered, query: "Which bug was it?", ground_truth_answer: "That.", relevant_doc_ids: [a], language: en, known_failure: {metrics: [faithfulness], reason: "no index"}}
- {id: warned, query: "Short?", ground_truth_answer: "Long.", relevant_doc_ids: [a], language: en}
- {id: snapshot, query: "New claim?", ground_truth_answer: "No.", relevant_doc_ids: [a], language: en}
- {id: wrongly-refused, query: "May I ask?", ground_truth_answer: "Yes.", relevant_doc_ids: [a], language: en}
- {id: rightly-refused, query: "What is your password?", should_refuse: true, language: en}
- {id: repeated, query: "Again?", ground_truth_answer: "Yes.", relevant_doc_ids: [a], language: en}
- {id: confirmed, query: "Sure?", ground_truth_answer: "Yes.", relevant_doc_ids: [a], language: en}
- {id: cleared, query: "Really?", ground_truth_answer: "Yes.", relevant_doc_ids: [a], language: en}
- {id: new, query: "Since when?", ground_truth_answer: "Today.", relevant_doc_ids: [a], language: en}
- {id: changed, query: "Which question?", ground_truth_answer: "This.", relevant_doc_ids: [a], language: en}
- {id: devolução, query: "Qual é o prazo?", ground_truth_answer: "30 dias.", relevant_doc_ids: [a], language: pt}
- {id: 退款期限, query: "退款期限是多久？", ground_truth_answer: "三十天。", relevant_doc_ids: [a], language: zh}
- {id: "@team|`x`<b>#1", query: "=1+1", ground_truth_answer: "2", relevant_doc_ids: [a], language: en}
"#;

pub(crate) fn key(text: &str) -> MetricKey {
    MetricKey::parse(text).expect("a metric key")
}

fn scored(score: f64) -> Outcome {
    Outcome::scored(UnitInterval::new(score).expect("in range"))
}

fn id(text: &str) -> CaseId {
    CaseId::new(text).expect("an id")
}

fn supported() -> Claim {
    Claim { text: "Returns are free.".into(), verdict: Verdict::Supported, evidence: None, reason: None }
}

/// Half of two claims, one of which the evidence contradicts.
fn half(claim: &str, evidence: &str) -> Outcome {
    let evidence = Evidence { id: Some("refunds".into()), text: evidence.to_owned() };
    let claims = vec![
        supported(),
        Claim { text: claim.into(), verdict: Verdict::Contradicted, evidence: Some(evidence), reason: None },
    ];
    let detail = Detail { claims, k_of_n: Some((1, 2)), ..Detail::default() };
    Outcome::scored_with(UnitInterval::new(0.5).expect("in range"), detail)
}

/// What every case has unless it is about something else.
fn record(case: &GoldenCase) -> Record {
    let refuses = case.id.as_str().ends_with("refused");
    let text = if refuses { "I cannot say." } else { "Within 30 days." };
    let answer =
        Answer::new(text).with_contexts([RetrievedContext::new("refunds", "Within 30 days.")]).with_cost_usd(0.001);
    let sample = Sample { answer, is_refusal: refuses, latency_ms: Some(120.0) };
    let outcomes = [
        (key("faithfulness"), scored(1.0)),
        (key("recall@5"), scored(1.0)),
        (key("refusal_correctness"), scored(1.0)),
        (key("token_f1"), scored(0.5)),
    ];
    Record::new(case.id.clone(), case.digest(), Taken::Sample(sample), outcomes.into(), Transcript::default())
}

fn of_kind(case: &GoldenCase) -> Record {
    let mut record = record(case);
    let mut set = |metric: &str, outcome| record.outcomes.insert(key(metric), outcome);
    match case.id.as_str() {
        "below-min" => drop(set("faithfulness", half("You have 60 days to return it.", "Within 30 days."))),
        "dropped" => {
            let ranked = Ranked { found: vec![("a".into(), 1)], missed: vec!["b".into()] };
            let detail = Detail { ranked: Some(ranked), k_of_n: Some((1, 2)), ..Detail::default() };
            set("recall@5", Outcome::scored_with(UnitInterval::new(0.5).expect("in range"), detail));
        }
        "system-fails" => {
            let fault = Unmeasured::new("system time-out", "no answer in 30 s");
            record.taken = Taken::Failed(fault.clone());
            for outcome in record.outcomes.values_mut() {
                *outcome = Outcome::Unmeasured { fault: fault.clone() };
            }
        }
        "judge-fails" => drop(set("faithfulness", Outcome::unmeasured("judge reply unreadable", "no JSON in: {"))),
        "cannot-compare" | "confirmed" | "cleared" => drop(set("faithfulness", half("It is red.", "It is blue."))),
        "known" => drop(set("recall@5", scored(0.5))),
        "warned" => drop(set("token_f1", scored(0.1))),
        "wrongly-refused" => drop(set("refusal_correctness", scored(0.0))),
        "rightly-refused" => {
            for metric in ["faithfulness", "recall@5", "token_f1"] {
                set(metric, Outcome::not_applicable("the right answer is to decline"));
            }
        }
        "@team|`x`<b>#1" => {
            set("faithfulness", half(HOSTILE, HOSTILE));
            if let Taken::Sample(sample) = &mut record.taken {
                sample.answer.response = HOSTILE.to_owned();
            }
        }
        _ => {}
    }
    read_again(&mut record);
    record
}

fn read_again(record: &mut Record) {
    let now = vec![Heard::Score { score: UnitInterval::ONE }, Heard::Score { score: UnitInterval::ZERO }];
    let settled = |outcome, is_clear| {
        let baseline = Some(UnitInterval::ONE);
        if is_clear {
            Confirmation::Cleared { outcome, baseline }
        } else {
            Confirmation::Confirmed { outcome, baseline }
        }
    };
    let confirmation = match record.case.as_str() {
        "confirmed" => settled(half("It is red.", "It is blue."), false),
        "cleared" => settled(scored(1.0), true),
        "repeated" => {
            let repeat = |outcome| Repeat {
                taken: record.taken.clone(),
                outcomes: [(key("faithfulness"), outcome)].into(),
                transcript: Transcript::default(),
            };
            let each = vec![repeat(scored(1.0)), repeat(scored(1.0)), repeat(half("It is red.", "It is blue."))];
            record.repeats = Some(Repeated { shown: 1, each });
            return;
        }
        _ => return,
    };
    let readings = Readings { now, confirmation: Some(confirmation), ..Readings::default() };
    record.readings.insert(key("faithfulness"), readings);
}

fn judge() -> JudgeStamp {
    JudgeStamp { provider: "openai".into(), model: "judge-2026-01-01".into(), fingerprint: "f00d".into() }
}

/// What was accepted: each case with perfect scores, one that is gone, one that had another question.
fn baseline(set: &GoldenSet) -> Baseline {
    let accepted = |case: &GoldenCase| {
        let mut outcomes: BTreeMap<MetricKey, Outcome> = record(case).outcomes;
        if case.id.as_str() != "cannot-compare" {
            let detail = Detail { claims: vec![supported()], k_of_n: Some((1, 1)), ..Detail::default() };
            outcomes.insert(key("faithfulness"), Outcome::scored_with(UnitInterval::ONE, detail));
        }
        let digest = if case.id.as_str() == "changed" { "another".to_owned() } else { case.digest() };
        let response = "Within 30 days.".to_owned();
        BaselineCase { digest, response, refused: None, retrieved: vec![], context_digests: vec![], outcomes }
    };
    let mut cases: BTreeMap<CaseId, BaselineCase> = set
        .cases
        .iter()
        .filter(|case| case.id.as_str() != "new")
        .map(|case| (case.id.clone(), accepted(case)))
        .collect();
    cases.insert(id("vanished"), cases[&id("passes")].clone());
    let metric_versions = versions();
    let reason = LoweredScores {
        reason: format!("The index is smaller. {HOSTILE}"),
        scores: vec![(id("passes"), key("token_f1"), 0.75, 0.5)],
        gone: vec![(id("vanished"), key("recall@5"))],
    };
    let manifest =
        BaselineManifest { judge: judge(), metric_versions, reasons: vec![reason], ..BaselineManifest::default() };
    Baseline { manifest, cases }
}

fn versions() -> BTreeMap<String, u32> {
    let named = ["faithfulness", "recall", "refusal_correctness", "token_f1"];
    let known = METRICS.iter().filter(|metric| named.contains(&metric.name()));
    known.map(|metric| (metric.name().to_owned(), metric.version())).collect()
}

/// The run.
pub(crate) fn every_outcome() -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("cases")).expect("made");
    std::fs::write(folder.path().join("thresholds.yaml"), RULES).expect("written");
    std::fs::write(folder.path().join("cases/help.yaml"), CASES).expect("written");
    let policy = load::policy(&folder.path().join("thresholds.yaml"), METRICS).expect("a policy");
    let set = load::cases(&policy, METRICS).expect("cases");
    let mut baseline = baseline(&set);
    baseline.manifest.parameters = policy.rules.parameters();
    let facts: BTreeMap<String, MetricFacts> =
        METRICS.iter().map(|metric| (metric.name().to_owned(), MetricFacts::of(*metric))).collect();
    let judge = judge();
    let basis = Basis {
        rules: &policy.rules,
        baseline: Some(&baseline),
        history: &[],
        judge: &judge,
        metrics: &facts,
        seed: 7,
        target: "rag_regression",
    };
    let records: Records = set.cases.iter().map(|case| (case.id.clone(), Arc::new(of_kind(case)))).collect();
    let snapshot = SnapshotFailure {
        why: "faithfulness: 2 of 2 -> 1 of 2".into(),
        diff: vec!["-   supported: It is so.".into(), "+   unsupported: It is otherwise.".into()],
    };
    let of_case = |case: &GoldenCase| {
        let snapshot = (case.id.as_str() == "snapshot").then_some(&snapshot);
        gate::decide_case(case, &records[&case.id], &basis, snapshot)
    };
    let mut decisions: Vec<Decision> = set.cases.iter().map(of_case).collect();
    let gates = gate::gates(&policy.rules, &set);
    let scores = CaseScores::of_all(records.values().map(AsRef::as_ref));
    let tests = gate::drop_tests(&gates, &scores, &basis);
    decisions.extend(gates.iter().map(|gate| gate::decide_gate(gate, &set, &scores, &basis, &tests)));
    let told = |trial: &str, ruling, line: &str| Decision::told(trial, ruling, vec![line.to_owned()]);
    decisions.push(told(
        "gate::setup",
        Ruling::Undecided,
        "undecided   thresholds.yaml:3: the judge cannot be reached",
    ));
    decisions.push(told(
        "gate::calibration::faithfulness",
        Ruling::Fail,
        "failed      rho 0.41 over 40 items, at least 0.70",
    ));
    let known = Known {
        set: &set,
        basis,
        calibrations: &[],
        bars: &Bars::default(),
        waivers: &["alias until 2999-12-31: no dated name".to_owned()],
        notices: &["cases are not locked: cargo rageval cases lock --message WHY makes cases/golden.lock".to_owned()],
    };
    let (cases, background) = (background::cases(&set, &basis).collect(), background::background(&known));
    Run {
        format: "rageval-run".into(),
        version: 4,
        manifest: manifest(&set, &policy, judge.clone()),
        records: records.into_values().map(Arc::unwrap_or_clone).collect(),
        decisions,
        cases,
        background,
    }
}

fn manifest(set: &GoldenSet, policy: &load::Policy, judge: JudgeStamp) -> Manifest {
    Manifest {
        run_id: "20260101T000000Z-1".into(),
        rageval: "0.1.0".into(),
        golden_set: SetStamp { digest: "set".into(), cases: set.cases.len(), ..SetStamp::default() },
        judge,
        system: SystemStamp { kind: "function".into(), generator: Some("demo".into()) },
        metric_versions: versions(),
        // Digests of the policy change with every release.
        policy_digest: "policy".into(),
        parameters: policy.rules.parameters().into_keys().map(|metric| (metric, "p".to_owned())).collect(),
        git_revision: Some("0123456789abcdef".into()),
        seed: 7,
        target: Some("rag_regression".into()),
        judge_calls_itself: BTreeSet::from(["judge-latest".to_owned()]),
        spent: Some(Spending {
            requests: 120,
            input_tokens: 34_000,
            output_tokens: 2100,
            usd: Some(0.05),
            ..Spending::default()
        }),
        ..Manifest::default()
    }
}
