//! A system that panics, hangs, blocks or fails costs its own case and no other.

use std::{fmt::Write as _, process::Stdio};

use crate::fixture::{FINE, Project, RECALL};

crate::tests![
    a_panic_is_one_unmeasured_case,
    a_hang_is_one_unmeasured_case,
    a_blocked_thread_is_one_unmeasured_case,
    an_error_is_one_unmeasured_case,
    more_blocked_calls_than_workers_still_end,
    no_trace_reaches_the_screen,
    every_thread_count_decides_the_same,
    an_allowed_unmeasured_case_counts_as_zero,
    blank_contexts_support_nothing,
    a_system_that_ends_the_process_is_not_green,
    a_closed_pipe_is_told_as_what_it_is,
    nothing_scored_is_not_green,
];

fn one_bad(directive: &str) -> Project {
    Project::new(
        RECALL,
        &format!(
            "- {{id: a, query: \"a [found: fee]\", relevant_doc_ids: [fee]}}\n\
             - {{id: bad, query: \"b {directive}\", relevant_doc_ids: [fee]}}\n\
             - {{id: c, query: \"c [found: fee]\", relevant_doc_ids: [fee]}}\n"
        ),
    )
}

fn costs_its_own_case(directive: &str, cause: &str) {
    let ran = one_bad(directive).run(&[]);
    ran.ends_with(101).says(cause);
    let failed = ran.failed();
    assert!(failed.contains(&"case::all::bad".to_owned()), "{failed:?}");
    assert!(failed.contains(&"gate::recall@5::mean".to_owned()), "no mean over the survivors: {failed:?}");
    assert!(failed.contains(&"gate::set::unmeasured".to_owned()), "{failed:?}");
    assert!(!failed.contains(&"case::all::a".to_owned()), "{failed:?}");
    assert!(!failed.contains(&"case::all::c".to_owned()), "{failed:?}");
}

fn a_panic_is_one_unmeasured_case() {
    costs_its_own_case("[panic: index out of bounds]", "system panicked");
    one_bad("[panic: index out of bounds]").run(&[]).says("index out of bounds");
}

fn a_hang_is_one_unmeasured_case() {
    costs_its_own_case("[hang]", "system time-out");
}

fn a_blocked_thread_is_one_unmeasured_case() {
    costs_its_own_case("[block]", "system time-out");
}

fn an_error_is_one_unmeasured_case() {
    costs_its_own_case("[error: the index is gone]", "system error");
    one_bad("[error: the index is gone]").run(&[]).says("the index is gone");
}

fn more_blocked_calls_than_workers_still_end() {
    let mut cases = String::new();
    for i in 0..20 {
        let _ = writeln!(cases, "- {{id: b{i}, query: \"{i} [block]\", relevant_doc_ids: [fee]}}");
    }
    cases.push_str("- {id: last, query: \"z [found: fee]\", relevant_doc_ids: [fee]}\n");
    let rules = RECALL.replace("timeout: 2s", "timeout: 300ms, max_in_flight: 4");
    let ran = Project::new(&rules, &cases).run(&[]);
    ran.ends_with(101);
    assert!(!ran.failed().contains(&"case::all::last".to_owned()), "{}", ran.stdout);
}

fn no_trace_reaches_the_screen() {
    one_bad("[panic: boom]").run(&[]).does_not_say("stack backtrace").does_not_say("thread '");
}

fn every_thread_count_decides_the_same() {
    let mut seen = Vec::new();
    for threads in ["1", "2", "8", "32"] {
        let ran = one_bad("[panic: boom]").run(&["--test-threads", threads]);
        let mut failed = ran.ends_with(101).failed();
        failed.sort();
        seen.push(failed);
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
}

fn an_allowed_unmeasured_case_counts_as_zero() {
    let rules =
        format!("{}max_unmeasured: 1\n", RECALL.replace("mean: {min: 0.5}, bottom10: {min: 0.5}", "mean: {min: 0.6}"));
    let project = Project::new(
        &rules,
        "- {id: a, query: \"a [found: fee]\", relevant_doc_ids: [fee]}\n- {id: bad, query: \"b [error: x]\", relevant_doc_ids: [fee]}\n",
    );
    let ran = project.run(&[]);
    ran.ends_with(101);
    assert_eq!(ran.failed(), ["gate::recall@5::mean"], "{}", ran.stdout);
    let lenient = rules.replace("min: 0.6", "min: 0.5");
    project.write("thresholds.yaml", &lenient);
    project.run(&[]).ends_with(0).says("unmeasured");
}

fn blank_contexts_support_nothing() {
    let rules = "version: 1\njudge: {provider: offline}\nsnapshots: {fail_on: never}\nwaive: {calibration: {reason: a fixture, until: 2999-12-31}}\nmetrics:\n  faithfulness: {min: 0.5}\n";
    let project = Project::new(rules, "- {id: a, query: \"a [answer: The fee is 12 euros.]\"}\n");
    let ran = project.run(&[]);
    ran.ends_with(101);
    assert!(ran.failed().contains(&"case::all::a".to_owned()));
}

fn a_system_that_ends_the_process_is_not_green() {
    if cfg!(unix) {
        // Many times: the call ends the process as soon as it may, on a thread of its own.
        for _ in 0..10 {
            one_bad("[exit]").run(&[]).ends_with(101);
        }
        one_bad("[exit]").run(&[]).ends_with(101).says("the process was ended from inside");
        let nextest = [("NEXTEST", "1"), ("NEXTEST_RUN_ID", "r")];
        one_bad("[exit]").run_with(&["--exact", "gate::recall@5::mean"], &nextest).ends_with(101);
    }
}

fn a_closed_pipe_is_told_as_what_it_is() {
    let project = Project::new(RECALL, FINE);
    let mut child = project.command(&[], &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(101), "{said}");
    assert!(said.contains("the run ended before all of it was decided and written"), "{said}");
    assert!(!said.contains("ended from inside"), "{said}");
}

fn nothing_scored_is_not_green() {
    let case = "- {id: a, query: a, ground_truth_answer: b}\n";
    let rules = RECALL.replace("min: 0.5, mean: {min: 0.5}, bottom10: {min: 0.5}", "min: 0.5");
    Project::new(&rules, case).run(&[]).ends_with(101).says("no case is scored on recall@5");
    let faulty = "- {id: a, query: \"a [error: x]\", relevant_doc_ids: [fee]}\n";
    Project::new(&format!("{rules}max_unmeasured: 5\n"), faulty).run(&[]).ends_with(101);
}
