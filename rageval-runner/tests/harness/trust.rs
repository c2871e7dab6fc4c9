//! A judge that can't be believed is red, and only a waiver that holds passes it.

use crate::fixture::{FINE, Project, Ran};

crate::tests![
    a_name_that_moves_is_red,
    a_judge_of_the_generators_family_is_red,
    an_undeclared_generator_is_red,
    a_waiver_passes_each_refusal_and_is_printed,
    an_expired_waiver_is_red,
    a_waiver_is_printed_on_a_filtered_run_too,
    a_waiver_without_use_is_a_notice,
    the_rest_is_decided_and_the_run_says_why,
    one_of_many_processes_says_it,
    nothing_is_said_in_a_listing,
    a_judge_that_is_code_is_believed,
    families_are_declared_where_names_tell_nothing,
    a_system_may_say_which_model_wrote_each_answer,
    a_generator_that_the_system_denies_is_red,
    a_shard_leaves_who_wrote_it_to_the_gates,
];

const DATED: &str = "gpt-4o-2024-08-06";

/// Rules with a judge that only replays, so that nothing is asked.
fn rules(model: &str, system: &str, more: &str) -> String {
    format!(
        "version: 1\nsystem: {{kind: function{system}}}\n\
         judge: {{provider: openai, base_url: \"http://127.0.0.1:9/v1\", model: {model}, mode: replay}}\n\
         metrics:\n  recall@5: {{min: 0.5, mean: {{min: 0.5}}}}\n{more}"
    )
}

fn ran(model: &str, system: &str, more: &str) -> Ran {
    Project::new(&rules(model, system, more), FINE).run(&[])
}

/// Each refusal with the judge and the system that cause it.
const REFUSALS: [(&str, &str, &str); 3] = [
    ("alias", "gpt-4o", ", generator: claude-opus-4-6"),
    ("family", DATED, ", generator: gpt-4.1-2025-04-14"),
    ("generator", DATED, ""),
];

fn a_name_that_moves_is_red() {
    let ran = ran("gpt-4o", ", generator: claude-opus-4-6", "");
    ran.ends_with(101).says("thresholds.yaml:3: OpenAI moves the judge's name `gpt-4o`").says("gpt-4o-2024-08-06");
    assert_eq!(ran.failed(), ["gate::setup"]);
}

fn a_judge_of_the_generators_family_is_red() {
    let ran = ran(DATED, ", generator: o3-mini", "");
    ran.ends_with(101).says("are of one family, openai");
    assert_eq!(ran.failed(), ["gate::setup"]);
}

fn an_undeclared_generator_is_red() {
    let ran = ran(DATED, "", "");
    ran.ends_with(101).says("thresholds.yaml:2: no `system.generator`").says("waive: {generator: {reason: WHY");
    assert_eq!(ran.failed(), ["gate::setup"]);
}

fn a_waiver_passes_each_refusal_and_is_printed() {
    for (what, model, system) in REFUSALS {
        ran(model, system, "").ends_with(101);
        let waiver = format!("waive: {{{what}: {{reason: as agreed, until: 2999-12-31}}}}\n");
        let waived = ran(model, system, &waiver);
        waived.ends_with(0).says(&format!("waived      {what} until 2999-12-31: as agreed"));
        // A waiver of something else waives nothing of this.
        let other = if what == "alias" { "family" } else { "alias" };
        ran(model, system, &waiver.replace(what, other)).ends_with(101).says("waives nothing");
    }
}

fn an_expired_waiver_is_red() {
    for (what, model, system) in REFUSALS {
        let ran = ran(model, system, &format!("waive: {{{what}: {{reason: as agreed, until: 2020-02-29}}}}\n"));
        ran.ends_with(101).says("the waiver at thresholds.yaml:6 expired on 2020-02-29").does_not_say("waived ");
        assert_eq!(ran.failed(), ["gate::setup"]);
    }
}

fn a_waiver_is_printed_on_a_filtered_run_too() {
    let waiver = "waive: {alias: {reason: as agreed, until: 2999-12-31}}\n";
    let project = Project::new(&rules("gpt-4o", ", generator: claude-opus-4-6", waiver), FINE);
    for arguments in [&["case::all::fine", "--exact"][..], &["fine"], &["gate::recall"]] {
        project.run(arguments).ends_with(0).says("waived      alias until 2999-12-31: as agreed");
    }
}

fn a_waiver_without_use_is_a_notice() {
    let waivers = "waive:\n  alias: {reason: r, until: 2999-12-31}\n  calibration: {reason: r, until: 2999-12-31}\n";
    let ran = ran(DATED, ", generator: claude-opus-4-6", waivers);
    ran.ends_with(0).says("thresholds.yaml:7: `waive.alias` waives nothing; remove it");
    ran.says("thresholds.yaml:8: `waive.calibration` waives nothing; remove it").does_not_say("waived ");
}

fn the_rest_is_decided_and_the_run_says_why() {
    let project = Project::new(&rules("gpt-4o", ", generator: gpt-4o", ""), FINE);
    let ran = project.run(&[]);
    ran.ends_with(101).says("1 case: 1 passed; 4 gates: 3 passed, 1 failed").says("red gates   gate::setup");
    let run = project.latest_run();
    let setup = run.decisions.iter().find(|decision| decision.trial == "gate::setup").expect("decided");
    assert_eq!(setup.ruling, rageval_runner::model::run::Ruling::Fail);
    assert_eq!(setup.lines.iter().filter(|line| line.starts_with("failed ")).count(), 2, "{:?}", setup.lines);
    assert_eq!(run.records.len(), 1);
}

fn one_of_many_processes_says_it() {
    let many = [("NEXTEST", "1"), ("NEXTEST_RUN_ID", "r1")];
    let project = Project::new(&rules("gpt-4o", ", generator: claude-opus-4-6", ""), FINE);
    let exact = |name: &str| project.run_with(&[name, "--exact"], &many);
    exact("gate::setup").ends_with(101).says("Error: thresholds.yaml:3: OpenAI moves the judge's name `gpt-4o`");
    exact("gate::recall@5::mean").ends_with(0);
    let waiver = "waive: {alias: {reason: as agreed, until: 2999-12-31}}\n";
    project.write("thresholds.yaml", &rules("gpt-4o", ", generator: claude-opus-4-6", waiver));
    exact("gate::setup").ends_with(0);
    let setup = &project.latest_run().decisions[1];
    assert_eq!(setup.trial, "gate::setup");
    assert_eq!(setup.lines, ["waived      alias until 2999-12-31: as agreed"]);
}

fn nothing_is_said_in_a_listing() {
    let ran = Project::new(&rules("gpt-4o", "", ""), FINE).run(&["--list"]);
    ran.ends_with(0).does_not_say("gpt-4o").does_not_say("generator");
}

fn a_judge_that_is_code_is_believed() {
    let rules = "version: 1\njudge: {provider: offline}\nmetrics:\n  faithfulness: {min: 0.5}\n";
    Project::new(rules, FINE).run(&[]).does_not_say("generator").does_not_say("family");
}

fn families_are_declared_where_names_tell_nothing() {
    let bot = ran(DATED, ", generator: support-bot", "");
    bot.ends_with(0).says("family of the generator `support-bot` not known: declare `system.family`");
    ran(DATED, ", generator: support-bot, family: gpt", "").ends_with(101).says("of one family, openai");
    for family in ["claude", "none"] {
        let ran = ran(DATED, &format!(", generator: support-bot, family: {family}"), "");
        ran.ends_with(0).does_not_say("family");
    }
}

/// Two cases whose answers name these models.
fn written_by(first: &str, second: &str) -> String {
    let written = |model: &str| if model.is_empty() { String::new() } else { format!(" [written by: {model}]") };
    format!(
        "- {{id: a, query: \"What is the fee? [found: fee]{}\", relevant_doc_ids: [fee]}}\n\
         - {{id: b, query: \"And the fee? [found: fee]{}\", relevant_doc_ids: [fee]}}\n",
        written(first),
        written(second)
    )
}

fn a_system_may_say_which_model_wrote_each_answer() {
    let told = |system: &str, first: &str, second: &str| {
        Project::new(&rules(DATED, system, ""), &written_by(first, second)).run(&[])
    };
    told("", "claude-opus-4-6", "qwen-max").ends_with(0).does_not_say("generator");
    told("", "claude-opus-4-6", "").ends_with(101).says("which model writes the answers, of which 1 name none");
    told("", "claude-opus-4-6", "o3-mini").ends_with(101).says("the generator `o3-mini` are of one family, openai");
    told(", generator: claude-opus-4-6", "Claude-Opus-4-6", "").ends_with(0).does_not_say("generator");
}

fn a_generator_that_the_system_denies_is_red() {
    let cases = written_by("qwen-max", "claude-opus-4-6");
    let denied = |waiver: &str| Project::new(&rules(DATED, ", generator: claude-opus-4-6", waiver), &cases).run(&[]);
    let ran = denied("");
    ran.ends_with(101).says(
        "`system.generator` declares `claude-opus-4-6`, but the system says that its answers are written by `qwen-max`",
    );
    assert_eq!(ran.failed(), ["gate::setup"]);
    denied("waive: {generator: {reason: as agreed, until: 2999-12-31}}\n")
        .ends_with(0)
        .says("waived      generator until 2999-12-31: as agreed");
}

fn a_shard_leaves_who_wrote_it_to_the_gates() {
    let project = Project::new(&rules(DATED, "", ""), &written_by("claude-opus-4-6", ""));
    project.run_with(&["case::all::a"], &[("RAGEVAL_SHARD", "1/2")]).ends_with(0);
    project.run_with(&["gate::setup"], &[("RAGEVAL_SHARD", "1/2")]).ends_with(0).does_not_say("generator");
    project.run(&["gate::setup"]).ends_with(101).says("of which 1 name none");
}
