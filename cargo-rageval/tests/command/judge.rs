//! `cargo rageval judge check`.

use rageval_runner::trust::probe_set::built_in;

use super::{
    ends, folder, json,
    loopback::{Loopback, STATEMENTS, policy, project, run_file},
    passes, program, refuses, run,
};

const BUDGET: &str = "budget: {requests: 500}";
const MODEL: &str = "judge-2026-01-01";

/// A judge of the built-in probes in a project without a baseline.
fn started() -> (Loopback, tempfile::TempDir) {
    let judge = Loopback::start(built_in().into_iter().map(|probe| probe.claim));
    let folder = folder();
    project(folder.path(), &judge.judge(MODEL), BUDGET);
    (judge, folder)
}

const CHECK: [&str; 2] = ["judge", "check"];
const RECORD: [&str; 3] = ["judge", "check", "--record"];

#[test]
fn a_judge_that_says_the_same_has_not_drifted() {
    let (judge, folder) = started();
    let text = ends(folder.path(), &RECORD, 0);
    assert!(text.contains("asking 12 probes 3 times each: 36 requests"), "{text}");
    assert!(
        text.contains("baselines/probes.json: 12 probes recorded on ") && text.contains("3 readings each"),
        "{text}"
    );
    assert_eq!(judge.asked(), (36, vec!["faithfulness-confirm".to_owned()]));
    let text = ends(folder.path(), &CHECK, 0);
    assert!(text.contains("flipped    0 of 12, 0.000 [0.00, 0.24]\n"), "{text}");
    assert!(text.contains("own noise  0.000 of the readings of then"), "{text}");
    assert!(text.contains("no drift   beyond its own noise"), "{text}");
    // Never from stored replies, and none is stored.
    assert_eq!(judge.asked().0, 36);
    assert!(!folder.path().join(".rageval").exists());
}

#[test]
fn a_judge_that_changed_behind_its_name_is_found() {
    let (judge, folder) = started();
    ends(folder.path(), &RECORD, 0);
    judge.thinks(|claim, _| {
        let turned = ["The hall seats 240 people.", "The bike comes with a lock."];
        Some(if turned.contains(&claim) { "unsupported" } else { "supported" })
    });
    let text = ends(folder.path(), &CHECK, 1);
    assert!(text.contains("flipped    2 of 12, 0.167 ["), "{text}");
    assert!(text.contains("2 of these 2 in every reading"), "{text}");
    assert!(text.contains("en-counted  supported x3 -> unsupported x3  \"The hall seats 240 people.\""), "{text}");
    assert!(
        text.contains("chance     p 0.0100 that one judge gave both") && text.contains("drift      it is not"),
        "{text}"
    );
    let ended = run(folder.path(), &["judge", "check", "--format", "json"]);
    let told = json(&ended.out);
    assert_eq!((ended.code, told["ending"].as_str(), told["flipped"].as_u64()), (Some(1), Some("drift"), Some(2)));
    assert_eq!(told["flips"][0]["now"], serde_json::json!(["unsupported", "unsupported", "unsupported"]), "{told}");
    // Recorded anew, it is the judge that is compared with.
    ends(folder.path(), &RECORD, 0);
    ends(folder.path(), &CHECK, 0);
}

#[test]
fn one_flip_and_a_judge_that_wavers_are_no_drift() {
    let (judge, folder) = started();
    let wavers = |claim: &str, times: usize| {
        Some(if claim.starts_with("The bike") && times.is_multiple_of(2) { "unsupported" } else { "supported" })
    };
    judge.thinks(wavers);
    let text = ends(folder.path(), &RECORD, 0);
    assert!(text.contains("own noise  0.028 of the readings"), "{text}");
    // The same judge, now with two of three readings on the other side, and one claim turned over.
    judge.thinks(
        move |claim, times| {
            if claim.starts_with("The hall") { Some("contradicted") } else { wavers(claim, times + 1) }
        },
    );
    let text = ends(folder.path(), &CHECK, 0);
    assert!(text.contains("flipped    ") && text.contains("no drift"), "{text}");
}

#[test]
fn what_is_not_answered_is_undecided_unless_the_rest_is_drift() {
    let (judge, folder) = started();
    judge.thinks(|claim, _| if claim.starts_with("The hall") { None } else { Some("supported") });
    let text = ends(folder.path(), &RECORD, 3);
    assert!(text.contains("nothing was recorded: every reading is needed"), "{text}");
    assert!(!folder.path().join("baselines").exists());
    judge.thinks(|_, _| Some("supported"));
    ends(folder.path(), &RECORD, 0);
    judge.thinks(|claim, _| if claim.starts_with("The hall") { None } else { Some("supported") });
    let text = ends(folder.path(), &CHECK, 3);
    assert!(text.contains("undecided  not every reading was given"), "{text}");
    assert!(text.contains("readings that came to nothing: 3\n  en-counted  "), "{text}");
    judge.thinks(|claim, _| if claim.starts_with("The hall") { None } else { Some("unsupported") });
    ends(folder.path(), &CHECK, 1);
}

#[test]
fn probes_that_could_show_no_drift_are_undecided_and_a_cut_file_is_refused() {
    let (_judge, folder) = started();
    ends(folder.path(), &RECORD, 0);
    let file = folder.path().join("baselines/probes.json");
    let text = std::fs::read_to_string(&file).expect("recorded");
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("{\"id\"")).expect("a probe");
    let cut = format!("{}\n{}\n]}}\n", lines[..first].join("\n"), lines[first].trim_end_matches(','));
    std::fs::write(&file, &cut).expect("written");
    let refused = refuses(folder.path(), &CHECK);
    assert!(refused.contains("it says that it holds 12 probes, and 1 is there"), "{refused}");
    std::fs::write(&file, cut.replace("\"count\":12", "\"count\":1")).expect("written");
    let text = ends(folder.path(), &CHECK, 3);
    assert!(text.contains("can't be told: 1 probe with 3 readings could not show drift"), "{text}");
    assert!(!text.contains("no drift"), "{text}");
}

#[test]
fn another_judge_is_undecided_and_asked_nothing() {
    let (judge, folder) = started();
    assert!(refuses(folder.path(), &CHECK).contains("no probes are recorded yet"));
    ends(folder.path(), &RECORD, 0);
    judge.asked();
    policy(folder.path(), &judge.judge("judge-2026-06-01"), BUDGET);
    let text = ends(folder.path(), &CHECK, 3);
    assert!(text.contains("with another judge, openai judge-2026-01-01 ("), "{text}");
    assert_eq!(judge.asked().0, 0);
}

#[test]
fn replay_asks_nothing_and_so_refuses() {
    let (judge, folder) = started();
    let mut command = program(folder.path(), &RECORD);
    let output = command.env("RAGEVAL_JUDGE_MODE", "replay").output().expect("the program starts");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.contains("RAGEVAL_JUDGE_MODE=replay asks nothing, so no probes can be recorded"), "{said}");
    assert_eq!(judge.asked().0, 0);
}

#[test]
fn a_judge_that_is_code_has_nothing_to_check() {
    let folder = folder();
    project(folder.path(), "{provider: offline}", "");
    let text = passes(folder.path(), &CHECK);
    assert!(text.contains("it says the same each time, so there is nothing to check"), "{text}");
}

#[test]
fn the_claims_of_a_baseline_are_probes_where_it_has_enough() {
    let claims: Vec<String> = (0..6).map(|n| STATEMENTS[n].replace(" is ", " was ")).collect();
    let judge = Loopback::start(
        STATEMENTS.map(str::to_owned).into_iter().chain(claims).chain(built_in().into_iter().map(|probe| probe.claim)),
    );
    let folder = folder();
    project(folder.path(), &judge.judge(MODEL), BUDGET);
    run_file(folder.path(), "run.json", &["Beta is big."], &[]);
    ends(folder.path(), &["baseline", "accept", "run.json", "--no-reread"], 0);
    // Six claims are too few.
    assert!(ends(folder.path(), &RECORD, 0).contains("12 probes recorded"));
    std::fs::remove_file(folder.path().join("baselines/probes.json")).expect("recorded");
    let file = folder.path().join("baselines/main.json");
    let text = std::fs::read_to_string(&file).expect("a baseline");
    let doubled = |text: &str, name: &str| {
        let claim = format!("{{\"text\":\"{name} is red.\",\"verdict\":\"supported\"}}");
        let more = format!("{claim},{},{}", claim.replace(" is ", " was "), claim.replace("is red", "was big"));
        text.replace(&claim, &more)
    };
    let text = ["Alpha", "Beta", "Gamma"].iter().fold(text, |text, name| doubled(&text, name));
    std::fs::write(&file, text).expect("written");
    ends(folder.path(), &RECORD, 0);
    let recorded = std::fs::read_to_string(folder.path().join("baselines/probes.json")).expect("recorded");
    assert!(recorded.contains("\"id\":\"beta claim 4\"") && recorded.contains("A catalogue of shapes."), "{recorded}");
    assert_eq!(recorded.lines().filter(|line| line.starts_with("{\"id\"")).count(), 12);
    ends(folder.path(), &CHECK, 0);
}
