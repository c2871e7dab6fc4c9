//! Puts another judge into a policy: one that stands in a file of its own, to be compared with others.

use std::{path::Path, sync::Arc};

use crate::{
    judge::spec::{JudgeProvider, JudgeSpec},
    model::AskedOf,
};

use super::{
    budget,
    diagnostic::Diagnostics,
    judge,
    read::{Empty, Reader},
    shape::{Key, Shape},
    source::Source,
    thresholds::{JudgeStated, Policy},
    yaml,
};

/// Keys of a file with a judge.
const KEYS: &[Key] = &[Key::required("judge", Shape::Variants("provider", judge::PROVIDERS), "Who judges.")];

/// This policy with the judge of a file that holds a `judge` as thresholds.yaml does; paths in it are relative to its folder. `None` in place
/// of a file: the judge `offline`.
///
/// Metrics that the policy leaves to `offline` are left to this judge, so that it is the one that is looked at.
///
/// # Errors
/// The file can't be read or holds something else, and what the policy's own judge would be refused for: a budget in money without a price.
pub fn with_judge(policy: &Policy, file: Option<&Path>) -> Result<Policy, Diagnostics> {
    let mut policy = policy.clone();
    policy.judge = match file {
        Some(file) => read(&policy, file)?,
        None => JudgeSpec { place: policy.judge.place.clone(), ..JudgeSpec::of_provider(JudgeProvider::Offline) },
    };
    policy.judge_stated = JudgeStated::Yes;
    for rule in policy.rules.metrics.values_mut() {
        rule.judge = AskedOf::Policy;
    }
    Ok(policy)
}

fn read(policy: &Policy, file: &Path) -> Result<JudgeSpec, Diagnostics> {
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let source: Arc<Source> = Source::read(&file.to_string_lossy(), &path)?;
    let mut problems = Diagnostics::default();
    let node = yaml::read(&source, &mut problems);
    let mut reader = Reader { source: &source, problems: &mut problems, whose: String::new() };
    let Some(node) = node else {
        if reader.problems.is_empty() {
            reader.report(&(0..0), "the file is empty; it holds a `judge` as thresholds.yaml does");
        }
        return Err(problems);
    };
    let entries = reader.map(&node, "a file with a judge").unwrap_or_default();
    let fields = reader.fields(&node.span, entries, KEYS, Empty::Refused);
    let root = path.parent().unwrap_or(Path::new(""));
    let judge = fields.entry("judge").and_then(|entry| {
        let judge = judge::read(&mut reader, entry, root)?;
        budget::check_other(&mut reader, entry, policy.budget.as_ref(), &judge);
        Some(judge)
    });
    match judge {
        Some(judge) => problems.or(judge),
        None => Err(problems.sorted()),
    }
}
