//! One process a trial, as cargo-nextest runs them: the same decisions, each case asked once.

use std::{collections::BTreeMap, fmt::Write as _, thread};

use crate::fixture::{Project, RECALL, Ran, finish};

crate::tests![
    many_processes_ask_each_case_once,
    many_processes_decide_as_one_does,
    a_gate_alone_evaluates_its_population,
    a_process_that_dies_loses_its_own_case_only,
    a_failing_process_prints_its_reason_in_one_line,
    the_folder_of_many_processes_reads_as_a_run,
    many_processes_tell_what_one_tells,
    the_limit_on_calls_holds_across_processes,
];

const CASES: usize = 12;

fn project() -> Project {
    let mut cases = String::new();
    for i in 0..CASES {
        let found = if i % 4 == 0 { "time" } else { "fee" };
        let query = format!("{i} [wait: 20] [found: {found}]");
        let _ = writeln!(cases, "- {{id: c{i}, query: \"{query}\", relevant_doc_ids: [fee]}}");
    }
    Project::new(RECALL, &cases)
}

/// Runs every listed trial in a process of its own, all at once, gates first; gives each one's run by name.
pub(crate) fn all_at_once(project: &Project, run: &str) -> BTreeMap<String, Ran> {
    let listing = project.run(&["--list", "--format", "terse"]);
    let mut names: Vec<&str> = listing.stdout.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    names.sort_by_key(|name| !name.starts_with("gate::"));
    thread::scope(|scope| {
        let running: Vec<_> = names
            .into_iter()
            .map(|name| {
                let command = project.command(&["--exact", name, "--nocapture"], &nextest(run));
                (name.to_owned(), scope.spawn(move || finish(command)))
            })
            .collect();
        running.into_iter().map(|(name, ran)| (name, ran.join().expect("ran"))).collect()
    })
}

fn nextest(run: &str) -> [(&str, &str); 2] {
    [("NEXTEST", "1"), ("NEXTEST_RUN_ID", run)]
}

fn many_processes_ask_each_case_once() {
    let project = project();
    all_at_once(&project, "r1");
    let mut asked = project.asked();
    assert_eq!(asked.len(), CASES);
    asked.dedup();
    assert_eq!(asked.len(), CASES);
    all_at_once(&project, "r2");
    assert_eq!(project.asked().len(), 2 * CASES, "another run asks anew");
}

fn many_processes_decide_as_one_does() {
    let project = project();
    let many = all_at_once(&project, "r1");
    let failed_many: Vec<&String> = many.iter().filter(|(_, ran)| ran.code != Some(0)).map(|(name, _)| name).collect();
    let one = project.run(&[]);
    let mut failed_one = one.failed();
    failed_one.sort();
    assert_eq!(failed_one.iter().collect::<Vec<_>>(), failed_many);
    assert!(!failed_one.is_empty());
}

fn a_gate_alone_evaluates_its_population() {
    let project = project();
    project.run_with(&["--exact", "gate::recall@5::mean", "--nocapture"], &nextest("r")).ends_with(0);
    assert_eq!(project.asked().len(), CASES);
}

fn a_process_that_dies_loses_its_own_case_only() {
    let project = Project::new(
        RECALL,
        "- {id: a, query: \"a [found: fee]\", relevant_doc_ids: [fee]}\n- {id: dead, query: \"b [abort]\", relevant_doc_ids: [fee]}\n",
    );
    let dead = project.run_with(&["--exact", "case::all::dead", "--nocapture"], &nextest("r"));
    assert_ne!(dead.code, Some(0));
    // The kernel freed its lock, so nobody waits for it.
    project.run_with(&["--exact", "case::all::a", "--nocapture"], &nextest("r")).ends_with(0);
    let gate = project.run_with(&["--exact", "gate::recall@5::mean", "--nocapture"], &nextest("r"));
    assert_ne!(gate.code, Some(0), "a gate over a case that kills its process is not green");
}

fn a_failing_process_prints_its_reason_in_one_line() {
    let project = project();
    let ran = project.run_with(&["--exact", "case::all::c0", "--nocapture"], &nextest("r"));
    ran.ends_with(101);
    let reasons: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("Error: ")).collect();
    assert_eq!(reasons.len(), 1, "{}", ran.stderr);
    assert!(reasons[0].contains("recall@5"), "{}", reasons[0]);
}

fn the_folder_of_many_processes_reads_as_a_run() {
    let project = project();
    all_at_once(&project, "r1");
    let many = project.latest_run();
    project.run(&[]);
    let one = project.latest_run();
    assert_eq!(many.decisions, one.decisions);
    let outcomes = |run: &rageval_runner::model::run::Run| -> Vec<_> {
        run.records.iter().map(|record| (record.case.clone(), record.outcomes.clone())).collect()
    };
    assert_eq!(outcomes(&many), outcomes(&one));
    assert_eq!(many.manifest.golden_set, one.manifest.golden_set);
    assert!(many.manifest.missing.is_empty());
}

/// What a run tells beside its decisions, without how many processes told the same.
fn told(project: &Project) -> Vec<String> {
    let notices = project.latest_run().background.notices;
    let alone = |notice: String| notice.split("; the same in each of ").next().unwrap_or_default().to_owned();
    let mut notices: Vec<String> = notices.into_iter().map(alone).collect();
    notices.sort();
    notices
}

fn many_processes_tell_what_one_tells() {
    let rules = format!(
        "{}  token_f1: {{max_drop: 0.5}}\nslices: {{by: [type]}}\n",
        RECALL.replace("mean: {min: 0.5}, bottom10: {min: 0.5}", "level: warn")
    );
    let recorded = rules.replace("{kind: function, timeout: 2s}", "{kind: recorded, samples: answers.jsonl}");
    let faithful = rules.replace("recall@5: {min: 0.5, level: warn}", "faithfulness: {min: 0.1}");
    for (rules, update) in [(&rules, "no"), (&recorded, "no"), (&faithful, "always")] {
        let case = "- {id: a, query: \"a [found: fee]\", relevant_doc_ids: [fee], ground_truth_answer: The fee is 12 euros., type: fact}\n";
        let of = || {
            let project =
                Project::new(rules, &format!("{case}{}", case.replace("id: a", "id: b"))).with("INSTA_UPDATE", update);
            let answer = |id: &str| format!("{{\"id\": \"{id}\", \"response\": \"The fee is 12 euros.\"}}\n");
            project.write("answers.jsonl", &["a", "b", "nobody"].map(answer).concat());
            if *rules == recorded { project.with(crate::fixture::SWITCH, "no-function") } else { project }
        };
        let (many, one) = (of(), of());
        all_at_once(&many, "r1");
        one.run(&[]);
        let (many, one) = (told(&many), told(&one));
        assert!(one.len() > 1, "{one:?}");
        assert_eq!(many, one);
    }
}

fn the_limit_on_calls_holds_across_processes() {
    let rules = RECALL.replace("timeout: 2s", "timeout: 20s, max_in_flight: 1");
    let mut cases = String::new();
    for i in 0..6 {
        let _ = writeln!(cases, "- {{id: c{i}, query: \"{i} [wait: 100] [found: fee]\", relevant_doc_ids: [fee]}}");
    }
    let project = Project::new(&rules, &cases);
    let started = std::time::Instant::now();
    all_at_once(&project, "r");
    // Six calls of 100 ms, one at a time, cannot take less.
    assert!(started.elapsed().as_millis() >= 600, "{:?}", started.elapsed());
}
