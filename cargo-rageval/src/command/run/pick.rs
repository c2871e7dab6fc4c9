//! Which cases a person means by `--case`, `--slice` and `--failed`.

use std::collections::BTreeSet;

use clap::Args;
use rageval_runner::{
    gate::{rule::SliceField, slice::values_of},
    harness::Part,
    load::{did_you_mean, field_of_slices},
    model::{CaseId, GoldenCase, GoldenSet, run::Run},
    report::console::{shell, text::visible},
};

/// The cases that are asked for.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Picking {
    /// Only this case, by its id or its trial's name; may be repeated
    #[arg(long = "case", value_name = "ID")]
    cases: Vec<String>,
    /// Only the cases of this slice; of several values of one field any, of several fields all
    #[arg(long = "slice", value_name = "FIELD=VALUE")]
    slices: Vec<String>,
}

impl Picking {
    /// The same flags, for a command that people copy.
    pub(crate) fn flags(&self) -> String {
        let quoted = |flag: &str, word: &String| format!(" {flag} {}", shell::word(&visible(word)));
        let cases = self.cases.iter().map(|case| quoted("--case", case));
        cases.chain(self.slices.iter().map(|slice| quoted("--slice", slice))).collect()
    }

    /// The part of the set that is meant.
    ///
    /// # Errors
    /// A case or slice that the set does not have, with the one that may have been meant.
    pub(crate) fn part(&self, set: &GoldenSet) -> Result<Part, String> {
        if self.cases.is_empty() && self.slices.is_empty() {
            return Ok(Part::Whole);
        }
        let mut cases = BTreeSet::new();
        for word in &self.cases {
            cases.insert(named(word, set)?.id.clone());
        }
        let fields = self.slices.iter().map(|slice| Slice::read(slice, set)).collect::<Result<Vec<_>, _>>()?;
        if !fields.is_empty() {
            let is_of = |case: &&GoldenCase| {
                fields.iter().all(|one| fields.iter().any(|other| other.field == one.field && other.has(case)))
            };
            let picked: Vec<&GoldenCase> = set.cases.iter().filter(is_of).collect();
            if picked.is_empty() {
                return Err(format!("no case is of all slices: {}", self.slices.join(", ")));
            }
            cases.extend(picked.into_iter().map(|case| case.id.clone()));
        }
        let words = self.cases.iter().map(|case| format!("--case {case}"));
        let how: Vec<String> = words.chain(self.slices.iter().map(|slice| format!("--slice {slice}"))).collect();
        Ok(Part::Picked { cases, how: visible(&how.join(" ")) })
    }
}

/// The cases of a part that were red in a run; `None` where none was.
pub(crate) fn failed(part: Part, run: &Run, set: &GoldenSet) -> Option<Part> {
    let red: BTreeSet<&str> = run
        .decisions
        .iter()
        .filter(|decision| decision.ruling.is_red())
        .map(|decision| decision.trial.as_str())
        .collect();
    let was_red = set.cases.iter().filter(|case| red.contains(case.trial_name().as_str()));
    let was_red: BTreeSet<CaseId> = was_red.map(|case| case.id.clone()).collect();
    let flag = format!("--failed of the run {}", visible(&run.manifest.run_id));
    let (cases, how) = match part {
        Part::Whole => (was_red, flag),
        Part::Picked { cases, how } => (&cases & &was_red, format!("{how} {flag}")),
    };
    (!cases.is_empty()).then_some(Part::Picked { cases, how })
}

fn named<'s>(word: &str, set: &'s GoldenSet) -> Result<&'s GoldenCase, String> {
    let by_id = || CaseId::new(word).ok().and_then(|id| set.get(&id));
    let by_trial = || set.cases.iter().find(|case| case.trial_name() == word);
    by_id().or_else(by_trial).ok_or_else(|| {
        let known = set.cases.iter().map(|case| case.id.as_str());
        let help = did_you_mean(word, known);
        let help = help.unwrap_or_else(|| format!("the set has {} cases", set.cases.len()));
        // Blanks around it may be all that is wrong; `visible` would drop those in front.
        let blanks = |text: &str| " ".repeat(text.chars().filter(|c| *c == ' ').count());
        let bare = word.trim();
        let (before, behind) = word.split_once(bare).unwrap_or_default();
        format!("no case has the id \"{}{}{}\"; {help}", blanks(before), visible(bare), blanks(behind))
    })
}

/// One `--slice`.
struct Slice<'a> {
    field: SliceField,
    value: &'a str,
}

impl<'a> Slice<'a> {
    fn read(text: &'a str, set: &GoldenSet) -> Result<Self, String> {
        let Some((name, value)) = text.split_once('=').filter(|(_, value)| !value.is_empty()) else {
            return Err(format!("\"{}\" is no slice; write FIELD=VALUE, as in language=pt", visible(text)));
        };
        let field =
            field_of_slices(name).map_err(|help| format!("unknown slice field \"{}\"; {help}", visible(name)))?;
        let values: BTreeSet<&str> = set.cases.iter().flat_map(|case| values_of(case, &field)).collect();
        if values.contains(value) {
            return Ok(Self { field, value });
        }
        let help = did_you_mean(value, values.iter().copied()).unwrap_or_else(|| {
            let shown: Vec<&str> = values.iter().copied().take(10).collect();
            if shown.is_empty() { "no case states it".to_owned() } else { format!("there are {}", shown.join(", ")) }
        });
        Err(format!("no case is of the slice {}={}; {}", field, visible(value), visible(&help)))
    }

    fn has(&self, case: &GoldenCase) -> bool {
        values_of(case, &self.field).contains(&self.value)
    }
}
