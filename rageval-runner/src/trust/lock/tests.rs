//! The lock against sets that changed in every way.

use super::*;
use crate::{
    gate::fixture::{golden, id},
    model::{DocId, Expectation, GoldenCase, Judgement},
};

const FILE: &str = "cases/golden.lock";

fn set() -> GoldenSet {
    GoldenSet { cases: vec![golden("a", 1), golden("b", 2), golden("c", 3)], ..GoldenSet::default() }
}

fn decided(set: &GoldenSet) -> Decision {
    decide(set, Ok(&Lock::of(&self::set(), "1.0.0")), FILE)
}

#[track_caller]
fn red(set: &GoldenSet, lines: &[&str]) {
    let decision = decided(set);
    assert_eq!((decision.ruling, decision.lines), (Ruling::Fail, lines.iter().map(|&l| l.to_owned()).collect()));
}

const LOOK: &str = "look        cargo rageval cases diff";
const BUMP: &str = "accept      cargo rageval cases lock --bump patch|minor|major --message WHY";

#[test]
fn the_same_cases_in_another_order_pass() {
    let mut set = set();
    set.cases.reverse();
    assert_eq!((decided(&set).ruling, decided(&set).lines), (Ruling::Pass, Vec::new()));
}

#[test]
fn what_no_digest_covers_may_change() {
    let mut set = set();
    set.cases[0].kind = None;
    set.cases[0].tags = vec!["new".to_owned()];
    assert_eq!(decided(&set).ruling, Ruling::Pass);
}

#[test]
fn changed_new_and_gone_cases_are_red_and_named() {
    let mut set = set();
    set.cases[1].query.push('?');
    set.cases[1].expectation = Expectation::Refuse;
    set.cases[2].id = id("d");
    red(
        &set,
        &[
            "failed      1 changed, 1 new, 1 gone since version 1.0.0 of cases/golden.lock, without a new version",
            "changed     b (query, should_refuse) cases/en.yaml:2",
            "new         d cases/en.yaml:3",
            "gone        c",
            LOOK,
            BUMP,
        ],
    );
}

#[test]
fn ten_are_named_and_the_rest_counted() {
    let mut set = set();
    set.cases.extend((0..13).map(|i| golden(&format!("n{i:02}"), i)));
    let lines = decided(&set).lines;
    assert_eq!(lines.iter().filter(|line| line.starts_with("new ")).count(), 10);
    assert!(lines.contains(&"            and 3 more".to_owned()), "{lines:?}");
}

#[test]
fn a_new_name_is_red() {
    let set = GoldenSet { name: Some("other".to_owned()), ..set() };
    let failed = "failed      the name changed since version 1.0.0 of cases/golden.lock, without a new version";
    red(&set, &[failed, "renamed     the golden set: no name -> \"other\"", LOOK, BUMP]);
}

fn stating(version: &str, set: GoldenSet) -> GoldenSet {
    let place = |file: &str| Place { file: file.to_owned(), line: 2, column: 10 };
    let version_places = vec![place("cases/en.yaml"), place("cases/pt.yaml")];
    GoldenSet { version: Some(version.to_owned()), version_places, ..set }
}

#[test]
fn the_version_that_is_stated_is_that_of_the_lock() {
    assert_eq!(decided(&stating("1.0.0", set())).ruling, Ruling::Pass);
    red(
        &stating("1.1.0", set()),
        &[
            "failed      version 1.1.0 is stated at cases/en.yaml:2, cases/pt.yaml:2, and cases/golden.lock holds 1.0.0",
            "            no case differs from the lock, so there is nothing to lock under another version",
            "accept      write version 1.0.0 at cases/en.yaml:2, cases/pt.yaml:2",
        ],
    );
}

#[test]
fn a_stated_version_says_what_to_do_about_changed_cases() {
    let mut changed = set();
    changed.cases[0].references.push("Another.".to_owned());
    let name = "changed     a (ground_truth_answer) cases/en.yaml:1";
    red(
        &stating("1.0.0", changed.clone()),
        &[
            "failed      1 changed since version 1.0.0 of cases/golden.lock, without a new version",
            name,
            LOOK,
            "accept      write the new version at cases/en.yaml:2, cases/pt.yaml:2, then: cargo rageval cases lock --message WHY",
        ],
    );
    red(
        &stating("1.1.0", changed),
        &[
            "failed      1 changed since version 1.0.0 of cases/golden.lock; version 1.1.0 is stated and not yet locked",
            name,
            LOOK,
            "accept      cargo rageval cases lock --message WHY",
        ],
    );
}

#[test]
fn a_lock_that_cannot_be_read_is_undecided() {
    let decision = decide(&set(), Err("cases/golden.lock: it is damaged"), FILE);
    assert_eq!(decision.ruling, Ruling::Undecided);
    assert_eq!(decision.lines, ["undecided   cases/golden.lock: it is damaged"]);
}

fn only(case: &GoldenCase) -> GoldenSet {
    GoldenSet { cases: vec![case.clone()], ..GoldenSet::default() }
}

/// Every part of the content, and only that part, tells of its change.
#[test]
fn each_part_is_told_apart() {
    let doc = |id: &str, grade| Judgement { id: DocId(id.to_owned()), grade };
    let base = GoldenCase { relevant: Some(vec![doc("x", 1.0), doc("y", 1.0)]), ..golden("a", 1) };
    let changed = |part, change: &dyn Fn(&mut GoldenCase)| {
        let mut after = base.clone();
        change(&mut after);
        let difference = Difference::between(&Lock::of(&only(&base), "1"), &Lock::of(&only(&after), "1"));
        assert_eq!(difference.changed, [(id("a"), vec![part])]);
    };
    changed(CasePart::Query, &|case| case.query.push('!'));
    changed(CasePart::References, &|case| case.references.clear());
    changed(CasePart::Relevant, &|case| case.relevant = None);
    changed(CasePart::Relevant, &|case| case.relevant.as_mut().expect("some")[1].grade = 0.5);
    changed(CasePart::Relevant, &|case| case.relevant = Some(Vec::new()));
    changed(CasePart::ReferenceContexts, &|case| case.reference_contexts.push("text".to_owned()));
    changed(CasePart::Expectation, &|case| case.expectation = Expectation::Refuse);
    let mut turned = base.clone();
    turned.relevant.as_mut().expect("some").reverse();
    assert!(Difference::between(&Lock::of(&only(&base), "1"), &Lock::of(&only(&turned), "1")).is_empty());
}

#[test]
fn a_lock_has_the_digest_of_its_set() {
    assert_eq!(Lock::of(&set(), "1.0.0").digest(), set().digest());
}

/// Digests stand in baselines and locks that are checked in, so they never change by accident.
#[test]
fn digests_are_as_they_were() {
    let case = &set().cases[0];
    assert_eq!(case.digest(), "1da9227a9c8612e07fbd090706e5fb13");
    assert_eq!(case.part_digest(CasePart::Query).as_deref(), Some("3c173a7a304d242b"));
    assert_eq!(case.part_digest(CasePart::Expectation), None);
}
