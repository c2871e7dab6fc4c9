//! On a miss: the request of an earlier run that is most like it, and what differs.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use rageval_runner::{
    model::{CaseId, JudgeRequest, Request, Shown, run::Run},
    store::runs,
};
use serde::Serialize;

use crate::{command::replies::Stored, context::Context};

/// Earlier runs that are looked through.
const MOST_RUNS: usize = 20;

/// Characters of a text that are shown around the place where it differs.
const AROUND: usize = 30;

/// The request that is most like another one.
#[derive(Debug, Serialize)]
pub(super) struct Nearest {
    /// The run that made it.
    pub(super) run: String,
    /// Whether its reply is stored under the judge, model and prompts of now.
    pub(super) is_stored: bool,
    /// What differs, a line each; never empty.
    pub(super) differs: Vec<String>,
}

/// The request of the same name and case in another run that differs least; of equal ones the newest.
pub(super) fn of(
    request: &JudgeRequest,
    case: &CaseId,
    run: &Run,
    path: &Path,
    context: &Context,
    stored: &Stored,
) -> Option<Nearest> {
    let mut best: Option<(usize, Nearest)> = None;
    for folder in other_runs(context, run, path) {
        let Ok(other) = runs::read(&folder) else { continue };
        let Some(record) = other.records.iter().find(|record| record.case == *case) else { continue };
        for exchange in record.exchanges().filter(|exchange| exchange.of.is_policy()) {
            let Request::Judge(earlier) = &exchange.request else { continue };
            if earlier.name != request.name {
                continue;
            }
            let keys = stored.keys(exchange).unwrap_or_default();
            let is_stored = keys.iter().any(|key| matches!(stored.reply_store.get(key), Ok(Some(_))));
            let mut differs = differences(earlier, request);
            if differs.is_empty() {
                differs = of_the_judge(&other, run);
            }
            // A request whose reply is stored is worth more than a nearer one without.
            let weight = 2 * differs.len() + if is_stored { 0 } else { 1_000 };
            if best.as_ref().is_none_or(|(least, _)| weight < *least) {
                best = Some((weight, Nearest { run: folder.display().to_string(), is_stored, differs }));
            }
        }
    }
    best.map(|(_, nearest)| nearest)
}

/// Folders of other runs, newest first.
fn other_runs(context: &Context, run: &Run, path: &Path) -> Vec<PathBuf> {
    let folders = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
    };
    let of_targets = folders(&context.runs).into_iter().flat_map(|target| folders(&target));
    // Runs that were fetched stand beside each other.
    let beside = path.parent().and_then(Path::parent).map(folders).unwrap_or_default();
    let all: BTreeSet<PathBuf> = of_targets.chain(beside).filter(|folder| is_run(folder)).collect();
    let age = |folder: &PathBuf| fs::metadata(folder).and_then(|data| data.modified()).ok();
    let mut all: Vec<PathBuf> = all.into_iter().filter(|folder| !folder.ends_with(&run.manifest.run_id)).collect();
    all.sort_by_key(|folder| Reverse(age(folder)));
    all.truncate(MOST_RUNS);
    all
}

fn is_run(folder: &Path) -> bool {
    folder.join("run.json").is_file() || folder.join("manifest.json").is_file()
}

/// Where a request that is the same has another key.
fn of_the_judge(earlier: &Run, run: &Run) -> Vec<String> {
    let (before, now) = (&earlier.manifest.judge, &run.manifest.judge);
    if before.model != now.model || before.provider != now.provider {
        return vec![format!(
            "the judge: `{}` of `{}`, now `{}` of `{}`",
            before.model, before.provider, now.model, now.provider
        )];
    }
    if before.fingerprint != now.fingerprint {
        return vec!["prompts or parameters of the judge; the request's data are the same".to_owned()];
    }
    vec!["nothing of the request: its reply was removed since, could not be read, or is stored in another folder or under another `judge.name`".to_owned()]
}

/// What differs from an earlier request to a later one, a line each.
fn differences(earlier: &JudgeRequest, later: &JudgeRequest) -> Vec<String> {
    let mut lines = Vec::new();
    let mut numbers = |what: &str, before: u32, now: u32| {
        if before != now {
            lines.push(format!("{what}: {before}, now {now}"));
        }
    };
    numbers("sample", earlier.sample, later.sample);
    numbers("retry", earlier.retry, later.retry);
    if earlier.language != later.language {
        lines.push(format!("language: {}, now {}", earlier.language.as_str(), later.language.as_str()));
    }
    if earlier.logprobs != later.logprobs {
        lines.push("whether log probabilities are wanted".to_owned());
    }
    for field in &later.fields {
        match earlier.fields.iter().find(|before| before.name == field.name).map(|before| &before.shown) {
            None => lines.push(format!("{}: new", field.name)),
            Some(before) => lines.extend(of_field(&field.name, before, &field.shown)),
        }
    }
    let is_gone = |name: &str| later.fields.iter().all(|field| field.name != name);
    lines.extend(
        earlier.fields.iter().filter(|field| is_gone(&field.name)).map(|field| format!("{}: gone", field.name)),
    );
    lines
}

fn of_field(name: &str, before: &Shown, now: &Shown) -> Vec<String> {
    match (before, now) {
        (Shown::Text(before), Shown::Text(now)) if before == now => Vec::new(),
        (Shown::Text(before), Shown::Text(now)) => vec![format!("{name}: {}", around(before, now))],
        (Shown::Numbered(before), Shown::Numbered(now)) => {
            let pairs = (1..).zip(before.iter().zip(now)).filter(|(_, (before, now))| before != now);
            let mut lines: Vec<String> =
                pairs.map(|(n, (before, now))| format!("{name} {n}: {}", around(before, now))).collect();
            if before.len() != now.len() {
                lines.push(format!("{name}: {} of them, now {}", before.len(), now.len()));
            }
            lines
        }
        (Shown::Text(_), Shown::Numbered(_)) | (Shown::Numbered(_), Shown::Text(_)) => {
            vec![format!("{name}: another form")]
        }
    }
}

/// Both texts from shortly before the place where they part.
fn around(before: &str, now: &str) -> String {
    let common = before.chars().zip(now.chars()).take_while(|(one, other)| one == other).count();
    let start = common.saturating_sub(AROUND / 2);
    let part = |text: &str| {
        let shown: String = text.chars().skip(start).take(2 * AROUND).collect();
        let lead = if start > 0 { "…" } else { "" };
        let rest = if text.chars().count() > start + 2 * AROUND { "…" } else { "" };
        format!("\"{lead}{shown}{rest}\"")
    };
    format!("{}, now {}", part(before), part(now))
}

#[cfg(test)]
mod tests {
    use rageval_runner::model::Language;

    use super::*;

    fn request(answer: &str, contexts: &[&str]) -> JudgeRequest {
        JudgeRequest::new("faithfulness.verdicts", Language::En)
            .text("answer", answer)
            .numbered("contexts", contexts.iter().copied())
    }

    #[test]
    fn what_differs_is_named_with_its_place() {
        let before = request("The fee is 12 euros.", &["a", "b"]);
        assert_eq!(differences(&before, &before), Vec::<String>::new());
        let now = request("The fee is 15 euros.", &["a", "c", "d"]);
        assert_eq!(
            differences(&before, &now),
            [
                "answer: \"The fee is 12 euros.\", now \"The fee is 15 euros.\"",
                "contexts 2: \"b\", now \"c\"",
                "contexts: 2 of them, now 3",
            ]
        );
        let again = JudgeRequest { retry: 1, language: Language::Pt, ..before.clone() };
        assert_eq!(differences(&before, &again), ["retry: 0, now 1", "language: en, now pt"]);
        let other = JudgeRequest::new("faithfulness.verdicts", Language::En)
            .text("answer", "The fee is 12 euros.")
            .text("query", "q");
        assert_eq!(differences(&before, &other), ["query: new", "contexts: gone"]);
    }

    #[test]
    fn long_texts_are_shown_around_the_place() {
        let (before, now) =
            (format!("{}1{}", "退".repeat(100), "x".repeat(100)), format!("{}2{}", "退".repeat(100), "x".repeat(100)));
        let shown = around(&before, &now);
        assert!(shown.starts_with(&format!("\"…{}1xxx", "退".repeat(15))), "{shown}");
        assert!(shown.chars().count() < 150, "{shown}");
    }
}
