//! Judge verdicts as insta snapshots: our comparison decides, insta stores, shows and accepts.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use unicode_normalization::UnicodeNormalization;

use crate::{
    contain,
    gate::rule::FailOn,
    metric::{Kind, Metric},
    model::{CaseId, GoldenCase, MetricKey, Outcome, Record, Sample, UnitInterval, Verdict, case::Fields},
    report::console::text::visible,
};

/// Bytes of an id that its file name keeps readable; the hash behind tells the rest apart.
const SLUG_BYTES: usize = 80;

/// Where the snapshots of one test target stand, and how its crate asserts one.
#[derive(Debug, Clone)]
pub(super) struct Snapshots {
    /// `tests/snapshots/<target>` in the package.
    pub(super) folder: PathBuf,
    /// Calls insta in the user's crate.
    pub(super) assert: fn(&str, &str),
    /// Which difference is red.
    pub(super) fail_on: FailOn,
    /// Digest over judge and metric versions: with answer and contexts it says whether verdicts may differ at all.
    pub(super) judge: String,
    /// Whether differences are left for review, as `.snap.new`.
    pub(super) writing: Writing,
}

/// What happens to a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// Nothing is written: CI.
    Never,
    /// insta leaves `.snap.new` for review, or what its own switches say.
    Pending,
    /// As above, and red differences pass: `INSTA_FORCE_PASS`, which `cargo insta test` sets to collect all of them.
    PendingAndPass,
}

/// What the snapshot of one case says of this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    /// Nothing to compare: no judged metric, or something is unmeasured, or the case is repeated.
    Nothing,
    /// The same verdicts.
    Same,
    /// Other verdicts, which `fail_on` lets pass.
    Changed,
    /// insta's own switch rewrote the stored file.
    Rewritten,
    /// Red.
    Red {
        /// Why, as a phrase.
        why: String,
        /// The difference, line by line.
        diff: Vec<String>,
    },
}

/// One case's verdicts as they are compared and stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) body: String,
    digest: String,
}

impl Snapshots {
    /// The file name of a case's snapshot, without ending: a readable slug and eight hex digits of the id's hash.
    ///
    /// Ids that differ only in letter case, or only in what a slug drops, never share a file, on any file system.
    pub(super) fn name(id: &CaseId) -> String {
        let id = id.nfc();
        let mut slug = String::new();
        for c in id.to_lowercase().nfc() {
            let kept = if c.is_alphanumeric() || c == '_' { c } else { '-' };
            if slug.len() + kept.len_utf8() > SLUG_BYTES {
                break;
            }
            if !(kept == '-' && (slug.is_empty() || slug.ends_with('-'))) {
                slug.push(kept);
            }
        }
        let hash = blake3::hash(id.as_bytes()).to_hex();
        format!("{}-{}", slug.trim_end_matches('-'), &hash[..8]).trim_start_matches('-').to_owned()
    }

    /// Compares a case's verdicts with the stored ones; leaves a difference for review where that is allowed.
    pub(super) fn check(
        &self,
        case: &GoldenCase,
        record: &Record,
        metrics: &[&dyn Metric],
        case_file: &Path,
    ) -> Result<Finding, String> {
        // The answers of a repeated case, and with them its claims, differ from run to run; its bars decide.
        if record.is_repeated() {
            return Ok(Finding::Nothing);
        }
        let Some(sample) = record.sample() else { return Ok(Finding::Nothing) };
        let judged = judged(record, metrics);
        if judged.is_empty() || judged.values().any(|outcome| outcome.fault().is_some()) {
            return Ok(Finding::Nothing);
        }
        let name = Self::name(&case.id);
        let path = self.folder.join(format!("{name}.snap"));
        let new = Snapshot { body: body(&judged), digest: digest(sample, &self.judge) };
        let stored = read(&path)?;
        let red = match &stored {
            Some(stored) if stored.body == new.body => {
                // insta removes a pending file that is no longer true.
                if self.writing != Writing::Never && path.with_extension("snap.new").exists() {
                    self.assert(&name, &new, case, record, case_file);
                }
                return Ok(Finding::Same);
            }
            Some(stored) => self.red(stored, &new),
            None => match self.fail_on {
                FailOn::Worse | FailOn::Any => Some("no snapshot of this case yet".to_owned()),
                FailOn::Never => None,
            },
        };
        if self.writing != Writing::Never {
            self.assert(&name, &new, case, record, case_file);
            if read(&path)?.is_some_and(|stored| stored.body == new.body) {
                return Ok(Finding::Rewritten);
            }
        }
        let difference = difference(stored.as_ref().map_or("", |stored| stored.body.as_str()), &new.body);
        match red {
            Some(why) if self.writing != Writing::PendingAndPass => Ok(Finding::Red { why, diff: difference }),
            Some(_) | None => Ok(Finding::Changed),
        }
    }

    /// The metrics whose verdicts make a case's snapshot red, and could be noise: they differ from the stored ones, and some are bad.
    pub(super) fn suspects(&self, case: &GoldenCase, record: &Record, metrics: &[&dyn Metric]) -> Vec<MetricKey> {
        // What is left of the time before it was repeated is compared with nothing.
        if record.is_repeated() {
            return Vec::new();
        }
        let judged = judged(record, metrics);
        let Some(sample) = record.sample().filter(|_| judged.values().all(|outcome| outcome.fault().is_none())) else {
            return Vec::new();
        };
        let path = self.folder.join(format!("{}.snap", Self::name(&case.id)));
        let Ok(Some(stored)) = read(&path) else { return Vec::new() };
        let new = Snapshot { body: body(&judged), digest: digest(sample, &self.judge) };
        if stored.body == new.body || self.red(&stored, &new).is_none() {
            return Vec::new();
        }
        let (old, now) = (lines_of_each(&stored.body), lines_of_each(&new.body));
        let could_be_noise = |(key, outcome): &(&&MetricKey, &&Outcome)| {
            let name = key.to_string();
            let is_bad = outcome.score().is_some_and(|score| score != UnitInterval::ONE);
            is_bad && old.contains_key(name.as_str()) && old.get(name.as_str()) != now.get(name.as_str())
        };
        judged.iter().filter(could_be_noise).map(|(key, _)| (*key).clone()).collect()
    }

    /// Why a difference is red; `None` when `fail_on` lets it pass.
    fn red(&self, stored: &Snapshot, new: &Snapshot) -> Option<String> {
        let unseen = unseen(&stored.body, &new.body);
        match self.fail_on {
            FailOn::Never => None,
            FailOn::Any | FailOn::Worse if !unseen.is_empty() => {
                Some(format!("verdicts of {} have not been reviewed yet", unseen.join(", ")))
            }
            FailOn::Any => Some(other_metrics(&stored.body, &new.body).unwrap_or("the verdicts changed".to_owned())),
            FailOn::Worse if stored.digest == new.digest => {
                let judge = || "the same answer, contexts and judge now get other verdicts".to_owned();
                Some(other_metrics(&stored.body, &new.body).unwrap_or_else(judge))
            }
            FailOn::Worse => worse(&stored.body, &new.body),
        }
    }

    /// Lets insta compare, in the user's crate; it prints nothing and its panic says nothing new.
    fn assert(&self, name: &str, new: &Snapshot, case: &GoldenCase, record: &Record, case_file: &Path) {
        let mut settings = insta::Settings::new();
        settings.set_snapshot_path(&self.folder);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_description(description(case, record, &new.digest));
        settings.set_input_file(case_file);
        let _quiet = contain::quietly();
        settings.bind(|| {
            // A panic is insta's way to say that they differ, which is known already.
            catch_unwind(AssertUnwindSafe(|| (self.assert)(name, &new.body))).ok();
        });
    }

    /// Snapshot files of this target that belong to no case, by file name.
    pub(super) fn orphans<'a>(&self, ids: impl Iterator<Item = &'a CaseId>) -> Vec<String> {
        let known: std::collections::BTreeSet<String> = ids.map(Self::name).collect();
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let mut orphans: Vec<String> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|file| {
                file.strip_suffix(".snap").is_some_and(|name| !known.contains(&name.nfc().collect::<String>()))
            })
            .collect();
        orphans.sort();
        orphans
    }
}

/// The judged metrics that say something, by key: what their readings settled.
fn judged<'r>(record: &'r Record, metrics: &[&dyn Metric]) -> BTreeMap<&'r MetricKey, &'r Outcome> {
    let is_judged = |key: &MetricKey| metrics.iter().any(|m| m.name() == key.name() && m.kind() == Kind::Judged);
    let settled = |key: &'r MetricKey| record.settled(key).map(|outcome| (key, outcome));
    record.outcomes.keys().filter(|key| is_judged(key)).filter_map(settled).collect()
}

/// What is compared: per metric the claims with their verdicts and `k of n`; nothing that changes from one run to the next.
fn body(judged: &BTreeMap<&MetricKey, &Outcome>) -> String {
    let mut body = String::new();
    for (key, outcome) in judged {
        match outcome {
            Outcome::Scored { score, detail } => {
                let value = score.value.get();
                let standing = match detail.k_of_n {
                    Some((k, n)) => format!("{k} of {n}"),
                    // A cosine is 0 or 1 by chance, and then again not.
                    None if detail.similarity.is_some() => "scored".to_owned(),
                    None if value == 0.0 => "0 of 1".to_owned(),
                    None if value == 1.0 => "1 of 1".to_owned(),
                    None => "scored".to_owned(),
                };
                let _ = writeln!(body, "{key}: {standing}");
                for claim in &detail.claims {
                    let _ = writeln!(body, "  {}: {}", claim.verdict.as_str(), visible(&claim.text));
                }
            }
            Outcome::NotApplicable { why } => {
                let _ = writeln!(body, "{key}: not applicable, {}", visible(why));
            }
            Outcome::Unmeasured { .. } => {}
        }
    }
    body
}

/// What a reviewer reads above the verdicts. The last line is read back: it says which sample the verdicts are of.
fn description(case: &GoldenCase, record: &Record, digest: &str) -> String {
    let mut text = format!("Question: {}\n", visible(&case.query));
    if let Some(sample) = record.sample() {
        let _ = writeln!(text, "Answer: {}", visible(sample.answer.response.trim()));
        let ids: Vec<String> = sample
            .answer
            .retrieved_contexts
            .iter()
            .map(|context| context.id.as_ref().map_or_else(|| "(no id)".to_owned(), |id| visible(id.as_str())))
            .collect();
        let _ = writeln!(text, "Contexts: {}", if ids.is_empty() { "none".to_owned() } else { ids.join(", ") });
    }
    let _ = write!(text, "{DIGEST}{digest}");
    text
}

pub(super) const DIGEST: &str = "Sample: ";

/// Digest of what the verdicts depend on: answer, contexts, judge.
fn digest(sample: &Sample, judge: &str) -> String {
    let mut fields = Fields::default();
    fields.add("judge", judge);
    fields.add("answer", &sample.answer.response);
    fields.add("refusal", if sample.is_refusal { "yes" } else { "no" });
    for context in &sample.answer.retrieved_contexts {
        fields.add("id", context.id.as_ref().map_or("", |id| id.as_str()));
        fields.add("text", &context.text);
    }
    fields.finish()
}

/// The stored snapshot; `None` when there is none, an error when it cannot be read.
pub(super) fn read(path: &Path) -> Result<Option<Snapshot>, String> {
    if !path.exists() {
        return Ok(None);
    }
    let unreadable = |why: &str| {
        format!("{}: not a readable snapshot ({why}); restore it from version control or delete it", path.display())
    };
    let snapshot = insta::Snapshot::from_file(path).map_err(|error| unreadable(&error.to_string()))?;
    let text = snapshot.as_text().ok_or_else(|| unreadable("it holds no text"))?.to_string();
    let described = snapshot.metadata().description().unwrap_or_default();
    let digest = described.lines().rev().find_map(|line| line.strip_prefix(DIGEST)).unwrap_or_default().to_owned();
    if digest.is_empty() {
        return Err(unreadable("its description does not end with the sample it is of"));
    }
    if let Some(line) = text.trim_end().lines().find(|line| !is_of_a_body(line)) {
        return Err(unreadable(&format!("this is no verdict: {}", visible(line))));
    }
    Ok(Some(Snapshot { body: format!("{}\n", text.trim_end()), digest }))
}

/// Whether a line is one that [`body`] writes: after a careless merge or a slip of the hand it is not, and would be compared with nothing.
fn is_of_a_body(line: &str) -> bool {
    match line.strip_prefix("  ") {
        Some(claim) => claim.split(':').next().is_some_and(|word| Verdict::from_word(word).is_some()),
        None => line.split_once(": ").is_some_and(|(key, standing)| {
            let is_known =
                standing == "scored" || standing.starts_with("not applicable, ") || share_of(standing).is_some();
            MetricKey::parse(key).is_ok() && is_known
        }),
    }
}

/// The `k of n` of a heading.
fn share_of(standing: &str) -> Option<(usize, usize)> {
    let (k, n) = standing.split_once(" of ")?;
    Some((k.parse().ok()?, n.parse().ok()?))
}

/// Metrics that the stored verdicts do not hold.
fn unseen<'a>(old: &str, new: &'a str) -> Vec<&'a str> {
    let old = Standing::of_all(old);
    Standing::of_all(new).into_keys().filter(|key| !old.contains_key(key)).collect()
}

/// Which metrics are judged no more or newly, where no verdict differs beside that: nobody changed their mind then.
///
/// A metric that was not applicable and now is judged, as `pairwise` with its first baseline, counts, and so does the reverse.
fn other_metrics(old: &str, new: &str) -> Option<String> {
    let (old, new) = (lines_of_each(old), lines_of_each(new));
    let keys: std::collections::BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let mut changed = Vec::new();
    for key in keys {
        let is_applicable = |lines: &Vec<&str>| !lines[0].starts_with("not applicable, ");
        match (old.get(key), new.get(key)) {
            (Some(before), Some(now)) if before == now => {}
            (Some(before), Some(now)) => match (is_applicable(before), is_applicable(now)) {
                (false, true) => changed.push(format!("+ {key} (was not applicable)")),
                (true, false) => changed.push(format!("- {key} (now {})", now[0])),
                (true, true) | (false, false) => return None,
            },
            (Some(_), None) => changed.push(format!("- {key}")),
            (None, _) => changed.push(format!("+ {key}")),
        }
    }
    (!changed.is_empty()).then(|| format!("the metrics that are judged changed: {}", changed.join(", ")))
}

/// The standing of each metric in a body, then its claims.
fn lines_of_each(body: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut current = "";
    for line in body.lines() {
        match line.split_once(": ").filter(|_| !line.starts_with("  ")) {
            Some((key, standing)) => {
                current = key;
                all.insert(key, vec![standing]);
            }
            None => all.entry(current).or_default().push(line),
        }
    }
    all
}

/// Why a changed answer's verdicts are worse: a lower share, or a claim newly unsupported or contradicted.
fn worse(old: &str, new: &str) -> Option<String> {
    let (old, new) = (Standing::of_all(old), Standing::of_all(new));
    for (key, now) in &new {
        let Some(before) = old.get(key) else { continue };
        if let (Some((k, n)), Some((now_k, now_n))) = (before.share, now.share)
            && now_k * n < k * now_n
        {
            return Some(format!("{key} fell from {k} of {n} to {now_k} of {now_n}"));
        }
        if let Some(claim) = now.bad.iter().find(|claim| !before.bad.contains(claim)) {
            return Some(format!("{key}: a claim is newly {claim}"));
        }
    }
    None
}

/// What one metric's lines in a body say.
#[derive(Debug, Default)]
struct Standing<'a> {
    share: Option<(usize, usize)>,
    bad: Vec<&'a str>,
}

impl<'a> Standing<'a> {
    fn of_all(body: &'a str) -> BTreeMap<&'a str, Self> {
        let mut all: BTreeMap<&str, Self> = BTreeMap::new();
        let mut current = "";
        for line in body.lines() {
            if let Some(claim) = line.strip_prefix("  ") {
                let verdict = claim.split(':').next().and_then(Verdict::from_word);
                if matches!(verdict, Some(Verdict::Unsupported | Verdict::Contradicted)) {
                    all.entry(current).or_default().bad.push(claim);
                }
            } else if let Some((key, standing)) = line.split_once(": ") {
                current = key;
                all.insert(key, Self { share: share_of(standing), bad: Vec::new() });
            }
        }
        all
    }
}

/// The lines that differ, with `-` and `+`, each metric's heading kept above them.
pub(super) fn difference(old: &str, new: &str) -> Vec<String> {
    let diff = similar::TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for change in diff.iter_all_changes() {
        let line = change.value().trim_end_matches('\n');
        match change.tag() {
            similar::ChangeTag::Delete => lines.push(format!("- {line}")),
            similar::ChangeTag::Insert => lines.push(format!("+ {line}")),
            similar::ChangeTag::Equal if !line.starts_with("  ") => lines.push(format!("  {line}")),
            similar::ChangeTag::Equal => {}
        }
    }
    // An unchanged heading is kept only above a changed claim of its own.
    let explains = |i: usize| lines.get(i + 1).is_some_and(|next: &String| next[2..].starts_with("  "));
    let kept = (0..lines.len()).filter(|&i| !lines[i].starts_with("  ") || explains(i));
    kept.map(|i| lines[i].clone()).collect()
}

#[cfg(test)]
mod tests;
