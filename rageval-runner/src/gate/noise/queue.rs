//! When the next suspect is read again: in their order, until the run is decided or the budget is spent.

use super::most_readings;
use crate::gate::rule::Confirm;

/// What became of the suspects before the next one, in their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Suspects that were confirmed as failing cases, of those that [count](super::Suspect::counts).
    pub confirmed: usize,
    /// Requests that the ended ones took.
    pub asked: usize,
    /// Suspects that are being read.
    pub in_flight: usize,
}

/// Whether the next suspect is read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// Yes.
    Now,
    /// That depends on those being read: ask again when one has ended.
    Wait,
    /// No, and neither are those after it: they stay as first read, for this reason.
    Never(String),
}

/// Whether the next suspect is read again. `budget` is [`Confirm::budget`].
///
/// As many are read at once as would be read one after the other whatever becomes of them, and no more, so that what is read does not depend on which of
/// them ends first: with 5 confirmed cases deciding the run and 2 confirmed, 3 at once. A suspect that has begun ends, so the budget may be passed by the
/// readings of one suspect.
pub fn may_start(progress: Progress, confirm: &Confirm, budget: usize, depth: u32) -> Start {
    let Progress { confirmed, asked, in_flight } = progress;
    if confirmed >= confirm.enough {
        let cases = if confirmed == 1 { "case" } else { "cases" };
        return Start::Never(format!("the run is decided by {confirmed} confirmed {cases}"));
    }
    if asked >= budget {
        return Start::Never(format!("the {budget} requests of confirm.budget are spent"));
    }
    // Of both answers, every reading a request that needs a second try.
    let most_of_one = 4 * most_readings(depth) as usize;
    let is_certain = confirmed + in_flight < confirm.enough && asked + in_flight * most_of_one < budget;
    if in_flight == 0 || is_certain { Start::Now } else { Start::Wait }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(confirmed: usize, asked: usize, in_flight: usize) -> Start {
        may_start(Progress { confirmed, asked, in_flight }, &Confirm::default(), 500, 14)
    }

    #[test]
    fn as_many_are_read_at_once_as_are_read_in_any_case() {
        for (confirmed, in_flight, expected) in
            [(0, 0, Start::Now), (0, 4, Start::Now), (0, 5, Start::Wait), (2, 2, Start::Now), (2, 3, Start::Wait)]
        {
            assert_eq!(start(confirmed, 0, in_flight), expected, "{confirmed} {in_flight}");
        }
    }

    #[test]
    fn enough_confirmed_cases_decide_the_run() {
        assert_eq!(start(5, 0, 0), Start::Never("the run is decided by 5 confirmed cases".to_owned()));
        let one = Confirm { enough: 1, budget: None };
        let progress = Progress { confirmed: 1, ..Progress::default() };
        let expected = Start::Never("the run is decided by 1 confirmed case".to_owned());
        assert_eq!(may_start(progress, &one, 100, 6), expected);
    }

    #[test]
    fn a_spent_budget_begins_no_further_suspect() {
        assert_eq!(start(0, 499, 0), Start::Now);
        assert_eq!(start(0, 500, 0), Start::Never("the 500 requests of confirm.budget are spent".to_owned()));
        // The ones in flight could spend it.
        assert_eq!(start(0, 430, 1), Start::Wait);
    }

    #[test]
    fn the_budget_is_what_the_run_asked_and_at_least_a_hundred() {
        let stated = Confirm { budget: Some(7), ..Confirm::default() };
        assert_eq!([stated.budget(900), Confirm::default().budget(900), Confirm::default().budget(3)], [7, 900, 100]);
    }
}
