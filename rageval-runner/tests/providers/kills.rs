//! The gate is killed at any moment, again and again: nothing that was stored is asked for again, and nothing is torn.

use std::{
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

use super::{
    Test,
    gate::{Project, parcel, truth},
    stub::Stub,
};

pub(crate) const TESTS: &[Test] = &[("a_run_that_is_killed_again_and_again_pays_for_each_reply_once", killed)];

const CASES: usize = 200;
const KILLS: usize = 15;
/// Cases under way at once, each with one request: what may be lost with a kill.
const UNDER_WAY: usize = 2 + 4;
/// The longest that the test may take.
const PATIENCE: Duration = Duration::from_secs(60);

fn killed() {
    let stub = Stub::start(|seen, _| {
        thread::sleep(Duration::from_millis(15));
        truth(seen)
    });
    let project = Project::new(&stub, 0..CASES, "");
    let started = Instant::now();
    let stored = || -> BTreeSet<String> {
        let store = project.store();
        let entry = |key| store.get(&key).expect("a whole reply").expect("there").case;
        store.keys().expect("readable").into_iter().map(entry).collect()
    };
    let mut asked_before = 0;
    let mut before = BTreeSet::new();
    let mut lost = 0;
    for kill in 0..KILLS {
        let mut child = project.start();
        // After one to eleven requests of this process, and then some part of the time that a reply takes to come and be written.
        let target = asked_before + 1 + kill * 7 % 11;
        while stub.seen().len() < target {
            assert!(started.elapsed() < PATIENCE, "nothing is asked");
            assert_eq!(child.try_wait().expect("waited"), None, "it ended by itself");
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_micros((kill as u64) * 5_300 % 22_000));
        child.kill().expect("killed");
        child.wait().expect("ended");
        // What it sent at last may still be read by the server.
        thread::sleep(Duration::from_millis(30));
        let seen = stub.seen();
        for request in &seen[asked_before..] {
            let case = format!("c{}", parcel(request));
            assert!(!before.contains(&case), "{case} was stored, and asked for again after kill {kill}");
        }
        let after = stored();
        assert!(before.is_subset(&after), "a stored reply was lost");
        let came = after.len() - before.len();
        let under_way = seen.len() - asked_before - came;
        assert!(under_way <= UNDER_WAY, "{under_way} requests were paid for nothing at kill {kill}");
        lost += under_way;
        (asked_before, before) = (seen.len(), after);
    }
    assert!(!before.is_empty() && before.len() < CASES, "the kills came in the middle: {}", before.len());
    project.passes("cached");
    assert_eq!(stored().len(), CASES);
    assert_eq!(stub.seen().len(), CASES + lost, "only what was under way at a kill is paid for twice");
    let run = project.latest();
    assert!(run.manifest.missing.is_empty());
    for (case, outcome) in project.outcomes() {
        let n: usize = case.as_str()[1..].parse().expect("a number");
        let right = if n.is_multiple_of(3) { 1.0 } else { 0.5 };
        assert_eq!(outcome.score().expect("scored").get(), right, "{case}");
    }
    project.passes("replay");
    println!("{KILLS} kills, {lost} of {CASES} requests paid for twice, in {:?}", started.elapsed());
}
