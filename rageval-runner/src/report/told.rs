//! What a process has to tell at the end of its run that nothing else of the run knows.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// What one process saw by itself: what became of snapshots, and what system, judge and embedder left to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// Cases whose verdicts changed and pass.
    pub changed: usize,
    /// The command that shows these; absent where nothing was left to look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<String>,
    /// Cases whose first snapshot was written.
    pub first_snapshots: usize,
    /// Cases whose snapshot insta's own switch rewrote.
    pub rewritten: usize,
    /// What system, judge and embedder left to say, a notice each.
    pub left_to_say: Vec<String>,
}

impl Told {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        *self == Self { look: self.look.clone(), ..Self::default() }
    }

    /// What became of snapshots, a notice each.
    pub fn of_snapshots(&self) -> Vec<String> {
        let Self { changed, look, first_snapshots, rewritten, left_to_say: _ } = self;
        let look = look.as_ref().map(|look| format!("; look: {look}")).unwrap_or_default();
        let s = |n: usize| if n == 1 { "" } else { "s" };
        let mut notices = Vec::new();
        if *changed > 0 {
            notices.push(format!("verdicts of {changed} case{} changed and pass{look}", s(*changed)));
        }
        match first_snapshots {
            0 => {}
            1 => notices.push("wrote the first snapshot of 1 case: read it before you commit it".to_owned()),
            n => notices.push(format!("wrote the first snapshots of {n} cases: read them before you commit them")),
        }
        if *rewritten > 0 {
            let n = *rewritten;
            notices.push(format!("insta's update switch rewrote the snapshot{} of {n} case{}", s(n), s(n)));
        }
        notices
    }
}

/// What the processes of one run tell, as one notice each: cases are added up. What system, judge and embedder left to say stands in words, so
/// that numbers of several processes are not added: the first is shown, with how many processes told the like.
pub fn joined(all: &[Told]) -> Vec<String> {
    let mut whole = Told::default();
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for told in all {
        whole.changed += told.changed;
        whole.first_snapshots += told.first_snapshots;
        whole.rewritten += told.rewritten;
        whole.look = whole.look.or_else(|| told.look.clone());
        for notice in &told.left_to_say {
            alike.entry(without_numbers(notice)).or_default().push(notice);
        }
    }
    let mut notices = whole.of_snapshots();
    notices.extend(alike.into_iter().map(|(form, mut each)| {
        each.sort_unstable();
        let (first, n) = (each[0], each.len());
        let distinct = each.iter().collect::<BTreeSet<_>>().len();
        match (n, distinct) {
            // Without a number in it once is enough.
            (1, _) => first.to_owned(),
            (_, 1) if form == first => first.to_owned(),
            (_, 1) => format!("{first}; the same in each of {n} processes"),
            _ => format!("{first}; {n} processes told the like, each of itself"),
        }
    }));
    notices
}

/// A text with each number that stands outside backticks as `#`.
fn without_numbers(text: &str) -> String {
    let mut form = String::with_capacity(text.len());
    let mut is_quoted = false;
    for c in text.chars() {
        match c {
            '`' => {
                is_quoted = !is_quoted;
                form.push(c);
            }
            c if c.is_ascii_digit() && !is_quoted => {
                if !form.ends_with('#') {
                    form.push('#');
                }
            }
            c => form.push(c),
        }
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saying(notices: &[&str]) -> Told {
        Told { left_to_say: notices.iter().map(|notice| (*notice).to_owned()).collect(), ..Told::default() }
    }

    #[test]
    fn cases_of_all_processes_are_added_up() {
        let one = |changed| Told { changed, look: Some("cargo insta review".to_owned()), ..Told::default() };
        let written = Told { first_snapshots: 1, ..Told::default() };
        assert_eq!(
            joined(&[one(1), one(1), written]),
            [
                "verdicts of 2 cases changed and pass; look: cargo insta review",
                "wrote the first snapshot of 1 case: read it before you commit it"
            ]
        );
    }

    #[test]
    fn what_many_processes_say_alike_is_one_notice_and_no_sum() {
        let refused = "the judge refused `max_tokens`, so it was asked with `max_completion_tokens`";
        let named = "the judge was asked as `a-1` and calls itself `a-2`";
        let of = |stored: usize| format!("the judge's replies: {stored} stored, 0 asked for (`cached`)");
        let told = [saying(&[refused, named, &of(1)]), saying(&[refused, named, &of(3)]), saying(&["status 429: 1"])];
        assert_eq!(
            joined(&told),
            [
                "status 429: 1".to_owned(),
                refused.to_owned(),
                named.to_owned(),
                format!("{}; 2 processes told the like, each of itself", of(1)),
            ]
        );
        assert_eq!(
            joined(&[saying(&["again: 1"]), saying(&["again: 1"])]),
            ["again: 1; the same in each of 2 processes"]
        );
    }

    #[test]
    fn nothing_to_tell_is_nothing() {
        let none = Told { look: Some("cargo insta review".to_owned()), ..Told::default() };
        assert!(none.is_empty() && joined(&[none]).is_empty());
        assert!(!saying(&["x"]).is_empty());
    }
}
