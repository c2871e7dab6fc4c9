//! Gates whose judge changes its mind: what is noise passes, what is lost is red.

mod project;

use std::{
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

use project::{CLAIMS, Project, flips, honest, is_cleared, is_confirmed, is_not_confirmed};
use rageval_runner::model::{Confirmation, Heard};

use super::Test;

pub(crate) const TESTS: &[Test] = &[
    ("an_unchanged_system_stays_green_under_a_judge_that_flips_5_verdicts_of_100", unchanged),
    ("a_lost_claim_is_red_and_confirmed", lost),
    ("a_snapshot_shows_what_the_readings_settled", snapshot),
    ("a_snapshot_from_before_a_case_was_repeated_makes_no_suspect", snapshot_of_a_repeated_case),
    ("a_baseline_that_was_lucky_is_judged_again", lucky_baseline),
    ("after_enough_confirmed_cases_further_suspects_stay_as_first_read", enough),
    ("a_spent_budget_leaves_suspects_as_first_read", budget),
    ("a_judge_that_repeats_itself_is_said_to_tell_nothing_new", repeats),
    ("a_judge_that_fails_when_asked_again_confirms_nothing", fails),
    ("many_processes_confirm_what_one_confirms_and_ask_each_reading_once", processes),
    ("a_kill_between_first_readings_and_confirmation_loses_nothing", killed),
    ("replay_without_stored_samples_confirms_nothing", replay),
    ("one_case_alone_is_confirmed_as_deeply_as_among_all", alone),
    ("a_suspected_drop_of_a_mean_is_read_once_more_on_both_sides", mean),
];

const CASES: usize = 60;
const RULES: &str = "{min: 0.85, max_drop: 0.10, mean: {min: 0.80, max_drop: 0.05}, bottom10: {min: 0.60}}";
const REGRESSION: &str = "regression: {baseline: baselines/main.json}";

/// A project whose baseline is accepted, and whose answers are all worded anew since.
fn reworded() -> Project {
    let project = Project::new(CASES, flips, RULES);
    project.run();
    project.accept();
    project.policy(RULES, REGRESSION);
    project.answers(CASES, |_, _| " now".to_owned());
    project
}

fn unchanged() {
    let project = reworded();
    let ran = project.run();
    ran.ends_with(0).says("flaky ").says("cleared in ").says(" verdicts when asked again");
    let naive = project.first_scores_below(0.85);
    assert!(naive >= 5, "one reading alone would be red for {naive} cases");
    assert_eq!(project.ended(is_cleared).len(), naive);
    let asked = project.bodies().len();
    // Again, from what is stored alone: the same readings and decisions.
    let (readings, decisions) = (project.readings(), project.latest().decisions);
    project.run_with(&[], &[("RAGEVAL_JUDGE_MODE", "replay")]).ends_with(0);
    assert_eq!((project.readings(), project.latest().decisions), (readings, decisions));
    assert_eq!(project.bodies().len(), asked);
    let extra = asked - 2 * CASES;
    println!("{CASES} cases reworded, {naive} suspects, {extra} further requests in two runs");
}

fn lost() {
    let project = reworded();
    project.answers(CASES, |n, k| if n == 7 && k < 2 { " wrong".to_owned() } else { " now".to_owned() });
    let ran = project.run();
    ran.ends_with(101).says("confirmed: claim ");
    assert_eq!(ran.failed(), ["case::all::c07".to_owned()].into());
    assert_eq!(project.ended(is_confirmed), ["c07".to_owned()].into());
    // Two more than the six of a single pair for each doubling of the pairs: 60 of them.
    let readings = &project.readings()["c07"];
    assert!(readings.now.len() >= 11, "{} readings", readings.now.len());
}

fn snapshot() {
    let project = Project::new(4, honest, "{level: warn}");
    project.snapshots("worse");
    // Every case has its snapshot, as a person accepted it.
    project.run_with(&[], &[("INSTA_UPDATE", "always")]);
    project.run().ends_with(0);
    // One verdict in the first reading alone, and one that is really lost.
    project.judge_by(|asked| Some(asked.truth() && (asked.is_again || !asked.claim.contains("Parcel 2 holds item 0"))));
    project.answers(4, |n, k| if n == 3 && k == 1 { " wrong".to_owned() } else { " now".to_owned() });
    let ran = project.run();
    ran.ends_with(101);
    assert_eq!(ran.failed(), ["case::all::c03".to_owned()].into());
    assert_eq!(project.ended(is_cleared), ["c02".to_owned()].into());
    assert_eq!(project.ended(is_confirmed), ["c03".to_owned()].into());
}

fn snapshot_of_a_repeated_case() {
    let project = Project::new(4, honest, "{level: warn}");
    project.snapshots("worse");
    project.run_with(&[], &[("INSTA_UPDATE", "always")]);
    project.run().ends_with(0);
    // Now the cases are repeated, and claims that the stored files hold as good are lost: the bars decide, and nothing is read again.
    project.repeated(4, |n, k| if n == 3 && k == 1 { " wrong".to_owned() } else { String::new() });
    let asked = project.bodies().len();
    project.run().ends_with(0);
    assert!(project.latest().records.iter().all(|record| record.repeats.is_some()));
    assert_eq!(project.readings().len(), 0, "{:?}", project.readings());
    assert_eq!(project.bodies().len() - asked, 1, "the one new answer, once for both repeats");
}

fn lucky_baseline() {
    let rules = "{max_drop: 0.10}";
    // One claim is no better now than it was then: it was just read as supported.
    let project = Project::new(3, |asked| Some(!asked.is_again || !asked.claim.contains("lucky")), rules);
    project.answers(3, |n, k| if n == 1 && k == 0 { " lucky".to_owned() } else { String::new() });
    project.run().ends_with(0);
    project.accept();
    project.policy(rules, REGRESSION);
    project.judge_by(|asked| Some(!asked.claim.contains("lucky")));
    project.answers(3, |n, k| if n == 1 && k == 0 { " lucky now".to_owned() } else { String::new() });
    project.run().ends_with(0).says("flaky ");
    let notices: Vec<String> = project.latest().decisions.into_iter().flat_map(|decision| decision.notices).collect();
    assert!(notices.iter().any(|notice| notice.ends_with("its baseline judged again: 0.75")), "{notices:?}");
    let readings = &project.readings()["c01"];
    assert!(readings.baseline.len() >= 3 && readings.baseline.len() <= 6, "{:?}", readings.baseline.len());
    assert!(
        matches!(&readings.confirmation, Some(Confirmation::Cleared { baseline: Some(score), .. }) if score.get() == 0.75)
    );
}

/// Eight cases of which each has lost half of its claims.
fn eight_lost(more: &str) -> Project {
    let project = Project::new(8, honest, "{min: 0.85}");
    project.policy("{min: 0.85}", more);
    project.answers(8, |_, k| if k < CLAIMS / 2 { " wrong".to_owned() } else { String::new() });
    project
}

fn enough() {
    let project = eight_lost("confirm: {enough: 2}");
    project.run().ends_with(101).says("not confirmed: the run is decided by 2 confirmed cases");
    // By shortfall, then by id.
    assert_eq!(project.ended(is_confirmed), ["c00", "c01"].map(str::to_owned).into());
    assert_eq!(project.ended(is_not_confirmed).len(), 6);
    for (keys, why) in [
        ("{enough: 0}", "\"enough\" is a whole number of at least 1, got 0"),
        ("{}", "\"confirm\" says nothing"),
        ("{enuogh: 5}", "did you mean \"enough\"?"),
    ] {
        project.policy("{min: 0.85}", &format!("confirm: {keys}"));
        project.run().ends_with(101).says(why);
    }
}

fn budget() {
    let project = eight_lost("confirm: {budget: 1}");
    project.run().ends_with(101).says("not confirmed: the 1 requests of confirm.budget are spent");
    assert_eq!(project.ended(is_confirmed), ["c00".to_owned()].into());
    let project = eight_lost("confirm: {budget: 0}");
    project.run().ends_with(101);
    assert_eq!(project.bodies().len(), 8, "nothing is read again");
}

fn repeats() {
    let project = Project::new(4, |asked| Some(!asked.claim.contains("Parcel 2 holds item 0")), "{min: 0.85}");
    let ran = project.run();
    ran.ends_with(101).says("confirmed: claim 1 unsupported in ").says("further verdicts repeat the first");
    assert_eq!(ran.failed(), ["case::all::c02".to_owned()].into());
}

fn fails() {
    let rule = |asked: &project::Asked<'_>| (!asked.is_again).then_some(!asked.claim.contains("Parcel 2 holds item 0"));
    let project = Project::new(4, rule, "{min: 0.85}");
    let ran = project.run();
    ran.ends_with(101).says("not confirmed: 3 calls in a row gave no reading");
    assert_eq!(ran.failed(), ["case::all::c02".to_owned()].into());
    assert_eq!(project.bodies().len(), 4 + 3);
    // What failed is not stored, so that another run asks again.
    project.judge_by(|asked| Some(asked.is_again || !asked.claim.contains("Parcel 2 holds item 0")));
    project.run().ends_with(0);
}

fn processes() {
    let (one, many) = (reworded(), reworded());
    one.run();
    let before = many.bodies().len();
    many.run_in_processes("r1");
    let (of_one, of_many) = (one.latest(), many.latest());
    assert_eq!(many.readings(), one.readings());
    assert!(!one.readings().is_empty());
    assert_eq!(of_many.decisions, of_one.decisions);
    let asked = &many.bodies()[before..];
    let different: BTreeSet<&String> = asked.iter().collect();
    assert_eq!(asked.len(), different.len(), "each reading is asked once");
    assert_eq!(many.bodies().len(), one.bodies().len());
}

fn killed() {
    let project = reworded();
    let before = project.bodies().len();
    let mut child = project.start();
    let started = Instant::now();
    // All first readings, and some of the further ones.
    while project.bodies().len() < before + CASES + 4 {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing is read again");
        assert_eq!(child.try_wait().expect("waited"), None, "it ended by itself");
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    project.run().ends_with(0);
    let asked = project.bodies()[before..].to_vec();
    let different: BTreeSet<&String> = asked.iter().collect();
    let twice = asked.len() - different.len();
    assert!(twice <= 8, "only what was under way is paid for twice: {twice}");
}

fn replay() {
    let project = eight_lost("confirm: {budget: 0}");
    project.run().ends_with(101);
    project.policy("{min: 0.85}", "");
    let ran = project.run_with(&[], &[("RAGEVAL_JUDGE_MODE", "replay")]);
    ran.ends_with(101).says("not confirmed: no further reading is stored");
    assert_eq!((project.ended(is_not_confirmed).len(), ran.failed().len()), (8, 8));
    assert_eq!(project.bodies().len(), 8);
}

fn alone() {
    let project = reworded();
    project.answers(CASES, |n, k| if n == 7 && k < 2 { " wrong".to_owned() } else { " now".to_owned() });
    project.run().ends_with(101);
    let among_all = project.readings()["c07"].clone();
    let asked = project.bodies().len();
    project.run_with(&["--exact", "case::all::c07"], &[]).ends_with(101);
    assert_eq!(project.readings()["c07"], among_all);
    project.run_with(&["--exact", "gate::faithfulness::mean"], &[]).ends_with(0);
    assert!(project.readings().is_empty(), "a mean of first readings needs no further ones");
    assert_eq!(project.bodies().len(), asked);
    project.forget_replies();
    project.run_with(&["--exact", "case::all::c07"], &[("NEXTEST", "1"), ("NEXTEST_RUN_ID", "r")]).ends_with(101);
    let heard = |heard: &Heard| matches!(heard, Heard::Verdicts { .. });
    assert!(among_all.now.iter().all(heard));
    assert_eq!(project.bodies().len(), asked + 1 + among_all.now.len() + among_all.baseline.len());
}

fn mean() {
    let rules = "{mean: {max_drop: 0.02}}";
    let project = Project::new(CASES, honest, rules);
    project.run().ends_with(0);
    project.accept();
    project.policy(rules, REGRESSION);
    // Eight cases lose a claim in the first reading alone: 0.033 then, and half of it over two readings.
    project.answers(CASES, |n, _| if n < 10 { " now".to_owned() } else { String::new() });
    project.judge_by(|asked| {
        let is_hit = (0..8).any(|n| asked.claim.contains(&format!("Parcel {n} holds item 0 now")));
        Some(asked.is_again || !is_hit)
    });
    let before = project.bodies().len();
    project.run().ends_with(0).says("both sides of 10 changed cases were read once more");
    assert_eq!(project.bodies().len(), before + 10 + 20, "first readings of what changed, then both sides of it");
    // What is lost indeed is lost in both readings.
    project.judge_by(honest);
    project.answers(CASES, |n, k| if n < 8 && k == 0 { " wrong".to_owned() } else { String::new() });
    let ran = project.run();
    ran.ends_with(101).says("average of two readings of 8 changed cases");
    assert_eq!(ran.failed(), ["gate::faithfulness::mean_drop".to_owned()].into());
    // A run that is red already asks nothing for it.
    project.policy("{min: 0.5, mean: {max_drop: 0.02}}", REGRESSION);
    project.answers(
        CASES,
        |n, k| if (n == 20 && k < 3) || (n < 9 && k == 1) { " wrong".to_owned() } else { String::new() },
    );
    let before = project.bodies().len();
    project.run().ends_with(101);
    let notices: Vec<String> = project.latest().decisions.into_iter().flat_map(|decision| decision.notices).collect();
    let left = "not read again, since the run is red already: gate::faithfulness::mean_drop".to_owned();
    assert!(notices.contains(&left), "{notices:?}");
    assert!(project.readings().values().all(|readings| readings.second.is_none()));
    assert!(project.bodies().len() > before);
}
