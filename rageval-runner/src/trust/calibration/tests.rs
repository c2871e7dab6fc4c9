//! What people say together, and what the figures of a report are.

use super::*;
use crate::model::Verdict;

fn unit(value: f64) -> UnitInterval {
    UnitInterval::new(value).expect("a score")
}

fn item(id: &str, people: &[Human], judge: f64) -> MeasuredItem {
    MeasuredItem {
        item: id.to_owned(),
        language: "en".to_owned(),
        people: people.iter().enumerate().map(|(i, human)| (format!("p{i}"), *human)).collect(),
        judge: Judged::Scored(unit(judge)),
        weight: 1.0,
        length: 5,
    }
}

fn of(items: Vec<MeasuredItem>) -> Measured {
    Measured { judge: JudgeStamp::default(), labels: String::new(), set_version: None, items }
}

fn reported(items: Vec<MeasuredItem>) -> Report {
    report(&MetricKey::parse("faithfulness").expect("a metric"), &of(items), &Asked { bar: 0.5, run: None })
}

const YES: Human = Human::Verdict(Verdict::Supported);
const NO: Human = Human::Verdict(Verdict::Contradicted);

#[test]
fn people_together_are_a_mean_of_scores_and_a_majority_of_verdicts() {
    let score = |value| Human::Score(unit(value));
    let check = |people: &[Human], expected: Option<f64>| assert_eq!(item("a", people, 1.0).human(), expected);
    check(&[score(0.25), score(0.75), score(1.0)], Some(0.666_666_667));
    check(&[score(0.0), score(1.0)], Some(0.5));
    check(&[YES, NO, YES], Some(1.0));
    check(&[YES, NO, NO], Some(0.0));
    check(&[YES, NO], None);
    check(&[Human::Verdict(Verdict::Inferred)], Some(0.0));
}

#[test]
fn a_tie_counts_nowhere_and_is_named() {
    let mut items = vec![item("a", &[YES, NO], 1.0), item("b", &[YES], 1.0), item("c", &[NO], 0.0)];
    items.push(MeasuredItem { judge: Judged::NotApplicable("it declines".into()), ..item("d", &[YES], 0.0) });
    items.push(MeasuredItem { judge: Judged::Unmeasured("time-out".into()), ..item("e", &[YES], 0.0) });
    let report = reported(items);
    assert_eq!((report.items.labelled, report.items.counted), (5, 2));
    assert_eq!(report.items.tied, ["a"]);
    assert_eq!(report.items.not_applicable["d"], "it declines");
    assert_eq!(report.items.unmeasured["e"], "time-out");
    assert_eq!(report.points, [(1.0, 1.0), (0.0, 0.0)]);
}

#[test]
fn the_table_counts_yes_from_the_bar_on() {
    let counts = [(YES, 0.5, 30), (YES, 0.49, 10), (NO, 1.0, 5), (NO, 0.0, 15)];
    let items = counts.iter().flat_map(|(human, judge, count)| {
        (0..*count).map(move |i| item(&format!("{human:?}{judge}{i:02}"), &[*human], *judge))
    });
    let binary = reported(items.collect()).binary;
    let table = [binary.true_positive, binary.false_negative, binary.false_positive, binary.true_negative];
    assert_eq!(table, [30, 10, 5, 15]);
    let value = |estimate: Option<Estimate>| estimate.expect("a figure").value;
    assert_eq!((value(binary.true_positive_rate), value(binary.true_negative_rate)), (0.75, 0.75));
    assert_eq!(value(binary.balanced_accuracy), 0.75);
    // (45/60 - (40 * 35 + 20 * 25) / 3600) / (1 - that).
    assert!((value(binary.kappa) - (0.75 - 1900.0 / 3600.0) / (1.0 - 1900.0 / 3600.0)).abs() < 1e-12);
    let (low, high) = binary.true_positive_rate.and_then(|rate| rate.interval).expect("an interval");
    assert!(0.55 < low && low < 0.70 && 0.80 < high && high < 0.90, "{low} {high}");
}

#[test]
fn the_worst_disagreements_come_first() {
    let items = (0..20).map(|i| item(&format!("i{i:02}"), &[Human::Score(unit(0.5))], f64::from(i) / 20.0)).collect();
    let apart = reported(items).disagreements;
    assert_eq!(apart.len(), 10);
    let named: Vec<&str> = apart.iter().take(4).map(|one| one.item.as_str()).collect();
    assert_eq!(named, ["i00", "i01", "i19", "i02"]);
    assert!(apart.iter().all(|one| one.judge != one.human));
}

#[test]
fn an_error_that_grows_with_the_length_shows() {
    let items = (0..30_u32).map(|i| MeasuredItem {
        length: 10 * (i as usize + 1),
        ..item(&format!("i{i:02}"), &[Human::Score(unit(0.2))], 0.2 + f64::from(i) / 100.0)
    });
    let length = reported(items.collect()).length;
    assert_eq!(length.spearman.expect("a correlation").value, 1.0);
    let groups: Vec<_> = length.groups.iter().map(|group| (group.up_to, group.items)).collect();
    assert_eq!(groups, [(100, 10), (200, 10), (300, 10)]);
    assert!(length.groups[0].mean_error < length.groups[1].mean_error);
}

#[test]
fn a_kind_judge_is_corrected_downwards_by_weights_too() {
    let labelled = |weight: f64| -> Measured {
        let counts = [(YES, 1.0, 38), (YES, 0.0, 2), (NO, 1.0, 8), (NO, 0.0, 12)];
        let items = counts.iter().flat_map(|(human, judge, count)| {
            let weight = if *human == NO { weight } else { 1.0 };
            (0..*count)
                .map(move |i| MeasuredItem { weight, ..item(&format!("{human:?}{judge}{i:02}"), &[*human], *judge) })
        });
        of(items.collect())
    };
    let run: Vec<f64> = (0..100).map(|i| f64::from(i < 90)).collect();
    let corrected = |measured: &Measured| {
        let asked = Asked { bar: 0.5, run: Some(&run) };
        report(&MetricKey::parse("faithfulness").expect("a metric"), measured, &asked).pass_rate.expect("a rate")
    };
    let even = corrected(&labelled(1.0));
    assert_eq!((even.n, even.judged.value, even.mean), (100, 0.9, 0.9));
    // (0.90 + 0.60 - 1) / (0.95 + 0.60 - 1), and 0.90 minus the mean error of (8 - 2) / 60.
    let value = |estimate: Option<Estimate>| estimate.expect("a figure").value;
    assert!((value(even.rogan_gladen) - 0.5 / 0.55).abs() < 1e-12);
    assert!((value(even.prediction_powered) - 0.8).abs() < 1e-12);
    // Where each no stands for three, the judge's mean error is (24 - 2) / 100; its rates are the same.
    let weighted = corrected(&labelled(3.0));
    assert!((value(weighted.rogan_gladen) - value(even.rogan_gladen)).abs() < 1e-12);
    assert!((value(weighted.prediction_powered) - 0.68).abs() < 1e-12);
}

#[test]
fn people_are_a_benchmark_only_where_they_share_items() {
    let score = |value| Human::Score(unit(value));
    let alone = reported((0..10).map(|i| item(&format!("i{i}"), &[score(f64::from(i) / 10.0)], 0.5)).collect());
    assert_eq!((alone.people.shared, alone.people.ceiling), (0, None));
    let both = |i: i32| item(&format!("i{i}"), &[score(f64::from(i) / 10.0), score(f64::from(i) / 20.0)], 0.5);
    let shared = reported((0..10).map(both).collect()).people;
    assert_eq!((shared.shared, shared.ceiling), (10, Some(1.0)));
    assert_eq!(shared.annotators.values().copied().collect::<Vec<_>>(), [10, 10]);
    // Same order, other numbers: alpha of intervals sees what ranks do not.
    assert!(shared.krippendorff_alpha.expect("an alpha").value < 0.8);
}

#[test]
fn a_bar_on_the_edge_passes_and_one_item_less_does_not() {
    let bars = Bars::default();
    let judge = JudgeStamp::default();
    let items = |count: usize| (0..count).map(|i| item(&format!("i{i:02}"), &[YES, YES], 1.0)).collect::<Vec<_>>();
    let labels = labelled(&items(50));
    let now = Now { judge: &judge, labels: &labels, set_version: None, bars: &bars };
    assert_eq!(refusals(Some(&of(items(50))), &now), [Refusal::ConstantJudge, Refusal::ConstantPeople]);
    let few = refusals(Some(&of(items(49))), &Now { labels: &labelled(&items(49)), ..now.clone() });
    assert_eq!(few[0], Refusal::TooFew { items: 49, min: 50 });
    assert_eq!(refusals(None, &now), [Refusal::Missing { labelled: 50 }]);
    let broken = Labelled::Unreadable("a.yaml:1: no annotator".to_owned());
    let why = [Refusal::Labels("a.yaml:1: no annotator".to_owned())];
    assert_eq!(refusals(None, &Now { labels: &broken, ..now }), why);
}

/// Labels that say what these items say.
fn labelled(items: &[MeasuredItem]) -> Labelled {
    let items = items.iter().map(|item| (item.item.clone(), item.labelled())).collect();
    Labelled::Items { items, digest: String::new(), set_version: None }
}

/// What is refused of these items, where the labels are those of `labels`.
fn refused(items: Vec<MeasuredItem>, labels: &Labelled, set_version: Option<&str>) -> Vec<Refusal> {
    let now = Now { judge: &JudgeStamp::default(), labels, set_version, bars: &Bars::default() };
    refusals(Some(&of(items)), &now)
}

/// Sixty items on which the judge agrees with people but for every tenth.
fn sixty() -> Vec<MeasuredItem> {
    let one = |i: usize| {
        let good = i.is_multiple_of(2);
        item(&format!("i{i:02}"), &[if good { YES } else { NO }], f64::from(good != i.is_multiple_of(10)))
    };
    (0..60).map(one).collect()
}

#[test]
fn items_that_are_not_the_labelled_ones_are_refused() {
    let labels = labelled(&sixty());
    assert_eq!(refused(sixty(), &labels, None), []);
    let check = |change: &dyn Fn(&mut Vec<MeasuredItem>), expected: [&[&str]; 3]| {
        let mut items = sixty();
        change(&mut items);
        let [missing, added, changed] = expected.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect());
        let expected = Refusal::OtherItems(Differences { missing, added, changed, labelled: 60 });
        assert_eq!(refused(items, &labels, None)[0], expected);
    };
    // The judge's errors are deleted, or people made to say what the judge says.
    check(
        &|items| items.retain(|item| item.human() == item.score()),
        [&["i00", "i10", "i20", "i30", "i40", "i50"], &[], &[]],
    );
    check(&|items| items[10].people = [("p0".to_owned(), NO)].into(), [&[], &[], &["i10"]]);
    check(&|items| items[10].people = [("p1".to_owned(), YES)].into(), [&[], &[], &["i10"]]);
    check(&|items| items[10].weight = 0.5, [&[], &[], &["i10"]]);
    check(&|items| items[10].language = "pt".to_owned(), [&[], &[], &["i10"]]);
    check(&|items| items[10].length = 6, [&[], &[], &["i10"]]);
    check(&|items| items.push(item("new", &[YES], 1.0)), [&[], &["new"], &[]]);
    check(&|items| items.push(items[2].clone()), [&[], &["i02"], &[]]);
}

#[test]
fn more_than_a_tenth_that_is_not_applicable_is_refused() {
    let without = |count: usize| {
        let mut items = sixty();
        for item in items.iter_mut().take(count) {
            item.judge = Judged::NotApplicable("it declines".to_owned());
        }
        items
    };
    let labels = labelled(&sixty());
    assert_eq!(refused(without(6), &labels, None), []);
    assert_eq!(refused(without(7), &labels, None), [Refusal::NotApplicable { items: 7, of: 60 }]);
}

#[test]
fn the_version_in_the_labels_now_is_held_to_that_of_the_set() {
    let Labelled::Items { items, digest, .. } = labelled(&sixty()) else { panic!("they are items") };
    let labels = Labelled::Items { items, digest, set_version: Some("1.1.0".to_owned()) };
    let other = |set: Option<&str>| Refusal::OtherSetVersion { labels: "1.1.0".into(), set: set.map(str::to_owned) };
    for set in [None, Some("1.0.0")] {
        assert_eq!(refused(sixty(), &labels, set), [other(set)]);
    }
    assert_eq!(refused(sixty(), &labels, Some("1.1.0")), []);
}

#[test]
fn digits_that_come_from_adding_in_another_order_are_no_ranks() {
    let people = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]].map(|all| all.map(|score| Human::Score(unit(score))));
    let items: Vec<_> = (0..60).map(|i| item(&format!("i{i:02}"), &people[i % 2], f64::from(i % 2 == 0))).collect();
    assert_eq!(refused(items.clone(), &labelled(&items), None), [Refusal::ConstantPeople]);
    assert_eq!(reported(items).agreement.spearman, None);
    // A judge that is always a tenth too kind errs by the same on all lengths.
    let kind = (0..60_u32).map(|i| {
        let said = f64::from(i % 9) / 10.0;
        MeasuredItem { length: i as usize, ..item(&format!("i{i:02}"), &[Human::Score(unit(said))], said + 0.1) }
    });
    assert_eq!(reported(kind.collect()).length.spearman, None);
}

#[test]
fn groups_of_one_length_are_one() {
    let lengths = [5, 42, 42, 42, 42, 42, 42, 42, 50];
    let items = lengths
        .iter()
        .enumerate()
        .map(|(i, length)| MeasuredItem { length: *length, ..item(&format!("i{i}"), &[YES], 1.0) });
    let groups: Vec<_> =
        reported(items.collect()).length.groups.iter().map(|group| (group.up_to, group.items)).collect();
    assert_eq!(groups, [(42, 8), (50, 1)]);
}
