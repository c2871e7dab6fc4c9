//! Ledgers in memory and in files: what they let through, what they refuse, and what is left behind.

use super::*;

fn budget(change: impl FnOnce(&mut Budget)) -> Budget {
    let place = crate::model::Place { file: "thresholds.yaml".to_owned(), line: 7, column: 1 };
    let mut budget = Budget { place, ..Budget::default() };
    change(&mut budget);
    budget
}

fn account(budget: &Budget) -> Account {
    Account { ledger: Ledger::in_process(Some(budget)), price: Some(Price { input: 1.0, output: 10.0 }) }
}

fn shared(budget: &Budget, file: &Path) -> Account {
    Account { ledger: Ledger::across_processes(Some(budget), file.to_owned()), price: None }
}

/// One request of so many tokens, all of them read.
fn of(tokens: u64) -> Spent {
    Spent { requests: 1, input_tokens: tokens, output_tokens: 0, estimated_tokens: tokens }
}

#[track_caller]
fn refused(result: Result<Reservation, String>) -> String {
    result.expect_err("the budget is used up")
}

#[tokio::test]
async fn each_limit_refuses_by_its_name_with_what_is_spent_and_where_to_raise_it() {
    let limits: [(Budget, &str); 3] = [
        (
            budget(|budget| budget.requests = Some(1)),
            "`budget.requests` is 1, and 1 are spent; raise it at thresholds.yaml:7",
        ),
        (
            budget(|budget| budget.tokens = Some(1900)),
            "`budget.tokens` is 1,900, and 1,000 are spent; this request takes about 1,000; raise it at thresholds.yaml:7",
        ),
        (
            budget(|budget| budget.usd = Some(0.0015)),
            "`budget.usd` is 0.0015 USD, and 0.0010 USD are spent; this request takes about 0.0010 USD; raise it at",
        ),
    ];
    for (budget, why) in limits {
        let account = account(&budget);
        let _first = account.reserve(of(1000)).await.expect("it fits");
        let said = refused(account.reserve(of(1000)).await);
        assert!(said.starts_with("not asked: ") && said.contains(why), "{said}");
    }
}

#[tokio::test]
async fn usage_beyond_all_numbers_closes_the_budget_and_breaks_nothing() {
    let most = Spent { requests: 1, input_tokens: u64::MAX, output_tokens: u64::MAX, estimated_tokens: 0 };
    for limit in [budget(|budget| budget.tokens = Some(5000)), budget(|budget| budget.usd = Some(0.01))] {
        let account = account(&limit);
        account.reserve(of(1000)).await.expect("it fits").settle(most).await;
        refused(account.reserve(of(1)).await);
    }
}

#[tokio::test]
async fn what_fits_exactly_is_let_through() {
    let account = account(&budget(|budget| {
        (budget.requests, budget.tokens, budget.usd) = (Some(2), Some(2000), Some(0.002));
    }));
    for _ in 0..2 {
        account.reserve(of(1000)).await.expect("it fits").settle(of(1000)).await;
    }
    refused(account.reserve(of(0)).await);
}

#[tokio::test]
async fn a_limit_of_nothing_lets_nothing_through() {
    let account = account(&budget(|budget| budget.requests = Some(0)));
    refused(account.reserve(of(1)).await);
    assert_eq!(account.ledger.spent(), None);
}

#[tokio::test]
async fn what_was_really_spent_takes_the_place_of_the_estimate() {
    let account = account(&budget(|budget| budget.tokens = Some(1000)));
    let real = Spent { requests: 3, input_tokens: 100, output_tokens: 10, estimated_tokens: 0 };
    account.reserve(of(900)).await.expect("it fits").settle(real).await;
    assert_eq!(
        account.ledger.spent(),
        Some(Spending { requests: 3, input_tokens: 100, output_tokens: 10, estimated_tokens: 0, usd: Some(0.0002) })
    );
    account.reserve(of(890)).await.expect("the estimate is free again").settle(Spent::default()).await;
    assert_eq!(account.ledger.spent().map(|spent| spent.requests), Some(3), "what was not sent costs nothing");
}

#[tokio::test]
async fn after_one_request_that_does_not_fit_none_is_let_through() {
    let account = account(&budget(|budget| budget.tokens = Some(1000)));
    let open = account.reserve(of(600)).await.expect("it fits");
    refused(account.reserve(of(600)).await);
    open.settle(of(1)).await;
    let said = refused(account.reserve(of(1)).await);
    assert!(said.starts_with("not asked: `budget.tokens` is 1,000, and 1 are spent; raise it"), "{said}");
}

#[tokio::test]
async fn what_is_dropped_without_an_end_stays_counted() {
    let account = account(&budget(|budget| budget.requests = Some(1)));
    drop(account.reserve(of(500)).await);
    refused(account.reserve(of(1)).await);
    let spent = account.ledger.spent().expect("one request");
    assert_eq!((spent.requests, spent.estimated_tokens), (1, 500));
}

#[tokio::test]
async fn without_a_budget_everything_is_counted_and_nothing_refused() {
    let account = Account { ledger: Ledger::in_process(None), price: None };
    for _ in 0..100 {
        account.reserve(of(1_000_000)).await.expect("no limit").settle(of(5)).await;
    }
    let spent = account.ledger.spent().expect("a hundred requests");
    assert_eq!((spent.requests, spent.input_tokens, spent.usd), (100, 500, None));
}

#[test]
fn those_who_share_a_file_share_its_budget() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("budget");
    let budget = budget(|budget| budget.requests = Some(40));
    let let_through: usize = std::thread::scope(|scope| {
        let each = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
            let mut let_through = 0;
            for _ in 0..10 {
                if let Ok(reservation) = runtime.block_on(shared(&budget, &file).reserve(of(7))) {
                    let_through += 1;
                    runtime.block_on(reservation.settle(of(7)));
                }
            }
            let_through
        };
        let running: Vec<_> = (0..8).map(|_| scope.spawn(each)).collect();
        running.into_iter().map(|one| one.join().expect("no panic")).sum()
    });
    assert_eq!(let_through, 40);
    let spent = read(&file).expect("readable").expect("spent");
    assert_eq!((spent.requests, spent.input_tokens), (40, 280));
}

#[tokio::test]
async fn a_damaged_file_lets_nothing_through_and_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("budget");
    let account = shared(&budget(|budget| budget.requests = Some(100)), &file);
    account.reserve(of(1)).await.expect("a new file").settle(of(1)).await;
    let whole = std::fs::read(&file).expect("written");
    let mut flipped = whole.clone();
    flipped[8] ^= 1;
    let longer = [&whole[..], &[0]].concat();
    let torn = (1..whole.len()).map(|end| whole[..end].to_vec());
    for bytes in torn.chain([flipped, longer]) {
        std::fs::write(&file, &bytes).expect("written");
        let said = refused(account.reserve(of(1)).await);
        assert!(said.contains("damaged"), "{said}");
        assert_eq!(std::fs::read(&file).expect("there"), bytes);
    }
}

#[tokio::test]
async fn the_minutes_of_a_run_are_those_since_its_first_request() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("budget");
    let budget = budget(|budget| budget.minutes = Some(10.0));
    let started_before = |minutes: u64| {
        let micros = u64::try_from(now().as_micros()).expect("a time") - minutes * 60_000_000;
        std::fs::write(&file, Totals { started: micros, ..Totals::default() }.to_bytes()).expect("written");
    };
    started_before(9);
    let reservation = shared(&budget, &file).reserve(of(1)).await.expect("a minute is left");
    let left = reservation.deadline().expect("a deadline") - Instant::now();
    assert!((50..=60).contains(&left.as_secs()), "{left:?}");
    assert!(reservation.cut_off().starts_with("cut off: `budget.minutes` is 10, counted from the run's first request"));
    started_before(10);
    let said = refused(shared(&budget, &file).reserve(of(1)).await);
    assert!(said.contains("`budget.minutes` is 10"), "{said}");
}

#[tokio::test]
async fn a_run_without_minutes_has_no_deadline() {
    let account = account(&budget(|budget| budget.requests = Some(1)));
    assert_eq!(account.reserve(of(1)).await.expect("it fits").deadline(), None);
}
