//! Stored replies, end to end: what is asked, what is not, and what is decided in each mode.

use std::{collections::BTreeMap, fs, sync::Mutex, thread, time::Duration};

use super::{
    Test,
    gate::{Project, half, parcel, truth, verdicts},
    stub::{Reply, Seen, Stub},
};

pub(crate) const TESTS: &[Test] = &[
    ("a_second_run_asks_nothing_and_decides_the_same", second_run),
    ("live_asks_all_again_and_replaces", live),
    ("a_live_run_leaves_no_older_reply_behind", live_unreadable),
    ("a_live_run_without_a_reply_leaves_the_older_one", live_failed),
    ("replay_needs_no_key_and_no_server", replay),
    ("a_miss_in_replay_is_red_and_says_what_to_do", miss),
    ("an_unknown_mode_is_red_before_anything_is_asked", unknown_mode),
    ("equal_requests_of_two_cases_are_asked_once", equal),
    ("replies_that_took_a_second_try_replay_as_they_went", second_try),
    ("replies_that_left_a_metric_unmeasured_are_asked_for_anew", forgotten),
    ("what_was_paid_for_stays_when_the_judge_fails_later", failed_later),
    ("damaged_replies_are_asked_for_again_and_told_once", damaged),
    ("a_folder_that_cannot_be_written_costs_the_replies_and_not_the_run", unwritable),
    ("many_processes_share_the_stored_replies", processes),
];

const CASES: usize = 6;

/// A server that answers by what came and how often the same parcel came before.
fn by_turn(answer: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static) -> Stub {
    let turns: Mutex<BTreeMap<usize, usize>> = Mutex::default();
    Stub::start(move |seen, _| {
        let turn = {
            let mut turns = turns.lock().expect("no panic");
            let turn = turns.entry(parcel(seen)).or_default();
            *turn += 1;
            *turn - 1
        };
        answer(seen, turn)
    })
}

fn unreadable() -> Reply {
    Reply::completion("I would rather not say.")
}

fn second_run() {
    let stub = Stub::start(|seen, _| truth(seen));
    let project = Project::new(&stub, 0..CASES, "");
    project.run(&[]).ends_with(0).says("judge replies: 0 stored, 6 asked for (`cached`)");
    let first = project.latest();
    project.run(&[]).ends_with(0).says("judge replies: 6 stored, 0 asked for (`cached`)");
    let second = project.latest();
    assert_eq!(stub.seen().len(), CASES);
    assert_ne!(first.manifest.run_id, second.manifest.run_id);
    assert_eq!((but_sources(first.records), first.decisions), (but_sources(second.records), second.decisions));
    assert_eq!(project.store().keys().expect("readable").len(), CASES);
}

fn live() {
    let stub = by_turn(|_, turn| verdicts(if turn == 0 { "supported" } else { "contradicted" }));
    let project = Project::new(&stub, 0..CASES, "");
    project.passes("cached");
    let first = project.outcomes();
    project.passes("live").says("judge replies: 0 stored, 6 asked for (`live`)");
    let live = project.outcomes();
    assert_ne!(first, live);
    assert_eq!(stub.seen().len(), 2 * CASES);
    project.passes("cached");
    assert_eq!(project.outcomes(), live, "the later reply took the place of the earlier one");
    assert_eq!(stub.seen().len(), 2 * CASES);
}

fn live_unreadable() {
    let stub = by_turn(|_, turn| match turn {
        0 => verdicts("supported"),
        1 => unreadable(),
        _ => verdicts("contradicted"),
    });
    let project = Project::new(&stub, 0..CASES, "");
    project.passes("cached");
    project.passes("live");
    let live = project.outcomes();
    assert_eq!(stub.seen().len(), 3 * CASES);
    project.passes("cached");
    assert_eq!(project.outcomes(), live);
    assert_eq!(stub.seen().len(), 3 * CASES);
}

fn live_failed() {
    let stub = by_turn(|seen, turn| if turn == 0 { truth(seen) } else { Reply::status(403, "no") });
    let project = Project::new(&stub, 0..CASES, "");
    project.passes("cached");
    let first = project.outcomes();
    project.run(&[("RAGEVAL_JUDGE_MODE", "live")]).ends_with(101).says("judge error");
    let asked = stub.seen().len();
    project.passes("cached");
    assert_eq!((project.outcomes(), stub.seen().len()), (first, asked));
}

fn replay() {
    let stub = Stub::start(|seen, _| truth(seen));
    let project = Project::new(&stub, 0..CASES, ", name: ours");
    project.passes("cached");
    let first = project.latest();
    // Nothing listens there.
    project.judge("http://127.0.0.1:1", ", name: ours, mode: replay");
    project.run(&[("JUDGE_KEY", "")]).ends_with(0).says("judge replies: 6 stored, 0 asked for (`replay`)");
    let second = project.latest();
    assert_eq!((but_sources(first.records), first.decisions), (but_sources(second.records), second.decisions));
    assert_eq!(stub.seen().len(), CASES);
}

fn miss() {
    let stub = Stub::start(|seen, _| truth(seen));
    let project = Project::new(&stub, 0..CASES, "");
    project.passes("cached");
    fs::remove_file(project.reply_of("c2")).expect("removed");
    let ran = project.run(&[("RAGEVAL_JUDGE_MODE", "replay")]);
    ran.ends_with(101).says("judge reply not stored").says("RAGEVAL_JUDGE_MODE=cached asks for what is missing");
    let unmeasured: Vec<_> = project.outcomes().into_iter().filter(|(_, outcome)| outcome.fault().is_some()).collect();
    assert_eq!(unmeasured.len(), 1, "{unmeasured:?}");
    assert_eq!(unmeasured[0].0.as_str(), "c2");
    assert_eq!(stub.seen().len(), CASES);
    project.passes("cached").says("judge replies: 5 stored, 1 asked for (`cached`)");
    project.passes("replay");
}

fn unknown_mode() {
    let stub = Stub::start(|seen, _| truth(seen));
    let project = Project::new(&stub, 0..CASES, "");
    let ran = project.run(&[("RAGEVAL_JUDGE_MODE", "chached")]);
    ran.ends_with(101).says("RAGEVAL_JUDGE_MODE says `chached`; it is one of `live`, `cached`, `replay`, or unset");
    ran.says("red gates   gate::setup, gate::faithfulness::mean, gate::set::unmeasured");
    assert_eq!(stub.seen().len(), 0);
}

fn equal() {
    let stub = Stub::start(|seen, _| {
        thread::sleep(Duration::from_millis(50));
        truth(seen)
    });
    let project = Project::new(&stub, [7; CASES], "");
    project.passes("cached").says("judge replies: 5 stored, 1 asked for");
    assert_eq!(stub.seen().len(), 1);
    project.passes("live").says("judge replies: 5 stored, 1 asked for");
    assert_eq!(stub.seen().len(), 2);
}

fn second_try() {
    // A reply of the wrong form is not stored, one that does not fit is.
    let stub = by_turn(|seen, turn| match (turn, parcel(seen) % 2) {
        (0, 0) => unreadable(),
        (0, _) => half(),
        (_, _) => truth(seen),
    });
    let project = Project::new(&stub, 0..CASES, "");
    project.passes("cached");
    let first = (project.outcomes(), project.latest().decisions);
    assert_eq!(stub.seen().len(), 2 * CASES);
    for mode in ["cached", "replay"] {
        project.passes(mode).says(&format!("0 asked for (`{mode}`)"));
        assert_eq!((project.outcomes(), project.latest().decisions), first, "{mode}");
    }
    assert_eq!(stub.seen().len(), 2 * CASES);
    assert_eq!(project.store().keys().expect("readable").len(), CASES + CASES / 2);
}

fn forgotten() {
    let stub = by_turn(|seen, turn| match (turn, parcel(seen)) {
        (0 | 1, 0) => half(),
        _ => truth(seen),
    });
    let project = Project::new(&stub, 0..CASES, "");
    project.run(&[]).ends_with(101).says("judge reply incomplete");
    assert_eq!(stub.seen().len(), CASES + 1);
    assert_eq!(project.store().keys().expect("readable").len(), CASES - 1);
    project.passes("cached").says("judge replies: 5 stored, 1 asked for");
    assert_eq!(stub.seen().len(), CASES + 2);
}

fn failed_later() {
    // The claims come, the verdicts do not, until the second run.
    let claims = r#"{"sentences": [{"n": 1, "claims": [{"claim": "c"}]}, {"n": 2, "no_claim": true}]}"#;
    let verdicts = r#"{"claims": [{"n": 1, "verdict": "supported", "context": 1, "quote": null}]}"#;
    let stub = by_turn(move |_, turn| match turn {
        0 => Reply::completion(claims),
        1 => Reply::status(403, "no"),
        _ => Reply::completion(verdicts),
    });
    let project = Project::new(&stub, 0..1, "");
    project.policy(&stub.url(), "", "{mode: two_step, mean: {min: 0.4}}");
    project.run(&[]).ends_with(101);
    let asked = stub.seen().len();
    project.passes("cached").says("judge replies: 1 stored, 1 asked for");
    assert_eq!(stub.seen().len(), asked + 1, "{:?}", stub.seen());
}

fn damaged() {
    let stub = Stub::start(|seen, _| truth(seen));
    let project = Project::new(&stub, 0..CASES, "");
    project.passes("cached");
    let first = project.outcomes();
    let files = ["c1", "c3", "c4"].map(|case| project.reply_of(case));
    let spoil = || {
        let text = fs::read_to_string(&files[0]).expect("there");
        fs::write(&files[0], &text[..text.len() / 2]).expect("cut");
        fs::write(&files[1], "").expect("emptied");
        fs::write(&files[2], text.replace("\"version\": 1", "\"version\": 2")).expect("made new");
    };
    spoil();
    let ran = project.run(&[("RAGEVAL_JUDGE_MODE", "replay")]);
    ran.ends_with(101).says("judge reply not stored").says("RAGEVAL_JUDGE_MODE=cached asks anew: ");
    ran.says("stored replies that cannot be read: 3, not asked: ");
    assert_eq!(project.outcomes().values().filter(|outcome| outcome.fault().is_some()).count(), 3);
    assert_eq!(stub.seen().len(), CASES);

    let ran = project.passes("cached");
    ran.says("judge replies: 3 stored, 3 asked for");
    assert_eq!(ran.times("stored replies that cannot be read: 3, asked anew: "), 1);
    assert_eq!(ran.times("cannot be read"), 1);
    assert_eq!(project.outcomes(), first);
    assert_eq!(stub.seen().len(), CASES + 3);
    assert_eq!(project.passes("cached").times("cannot be read"), 0);

    spoil();
    assert!(project.run_in_processes("r", "cached"));
    assert_eq!(stub.seen().len(), CASES + 6);
}

fn unwritable() {
    let stub = Stub::start(|seen, _| truth(seen));
    let project = Project::new(&stub, 0..CASES, "");
    project.write(".rageval", "a file in its place");
    let ran = project.passes("cached");
    ran.says("judge replies that are not kept: 6: ");
    project.passes("cached");
    assert_eq!(stub.seen().len(), 2 * CASES);
    read_only(&project);
}

#[cfg(unix)]
fn read_only(project: &Project) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::remove_file(project.path(".rageval")).expect("removed");
    let folder = project.path(".rageval/replies");
    fs::create_dir_all(&folder).expect("made");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).expect("set");
    if fs::write(folder.join("probe"), "").is_ok() {
        println!("skipped: this user may write into read-only folders");
        return;
    }
    project.passes("cached").says("judge replies that are not kept: 6: ");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("set");
}

#[cfg(not(unix))]
fn read_only(_: &Project) {}

fn processes() {
    let stub = Stub::start(|seen, _| {
        thread::sleep(Duration::from_millis(50));
        truth(seen)
    });
    // Two of the six cases ask the same as two others.
    let project = Project::new(&stub, [0, 1, 2, 3, 0, 1], "");
    assert!(project.run_in_processes("r1", "cached"));
    let first = (project.outcomes(), project.latest().decisions);
    assert_eq!(stub.seen().len(), 4);
    for (run, mode, asked) in [("r2", "cached", 4), ("r3", "live", 8), ("r4", "replay", 8)] {
        assert!(project.run_in_processes(run, mode), "{mode}");
        assert_eq!(stub.seen().len(), asked, "{mode}");
        assert_eq!((project.outcomes(), project.latest().decisions), first, "{mode}");
    }
    // One process decides the same by the same replies.
    project.passes("replay");
    assert_eq!((project.outcomes(), project.latest().decisions), first);
}

/// Records without where their replies came from: that is all in which a run that asked differs from one that did not.
fn but_sources(mut records: Vec<rageval_runner::model::Record>) -> Vec<rageval_runner::model::Record> {
    for exchange in records.iter_mut().flat_map(|record| &mut record.transcript.exchanges) {
        exchange.source = None;
    }
    records
}
