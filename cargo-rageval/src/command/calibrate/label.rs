//! `calibrate label`: shows items of a run one after the other, and keeps what a person says of each.

mod agreement;
mod candidates;
mod keys;
mod screen;
mod session;

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use rageval_runner::{
    metric::{self, Kind, METRICS},
    model::{Item, MetricKey, run::Run},
    report::console::{calibration as told, text::visible},
    store::labels::LabelFile,
    trust::{
        calibration::Refusal,
        sampling::{Stratum, draw},
    },
};

use super::{Files, measure};
use crate::{
    context::Context,
    exit::{Ending, Failure, tell},
};
use candidates::candidates;
use keys::Keys;
use session::{Session, ToLabel};

/// Label items of a run, so that a judge can be held against you
///
/// Draws items of a run: the claims of answers for `faithfulness`, whole answers for every other metric; some of every language, low and
/// uncertain ones more often, each with the weight that makes up for it. Shows question, evidence and claim, never what the judge said. Each
/// label is in the file as soon as you gave it: Ctrl-C loses nothing, and the same command goes on where you stopped.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval calibrate label --annotator ana
  cargo rageval calibrate label --annotator ben --metric answer_correctness --items 60

Keys: s supported, i inferred, u unsupported, c contradicted; for whole answers 1 (wrong) to 5 (right); k skip, z take the last
one back, n note, ? help, q quit. Where there is no terminal, or with --lines, one of these and Enter.

Let a second person label the same items: the same command with another --annotator. Keep --items and --seed as they were, since the
weights depend on them.")]
pub(crate) struct LabelItems {
    /// Who labels: a name, or initials
    #[arg(long, value_name = "NAME", value_parser = annotator)]
    annotator: String,
    /// What to look at
    #[arg(long, value_name = "METRIC", default_value = "faithfulness", value_parser = MetricKey::parse)]
    metric: MetricKey,
    /// A run folder, its `run.json`, or `latest`
    #[arg(long, value_name = "RUN", default_value = "latest")]
    run: PathBuf,
    /// How many items to draw
    #[arg(long, value_name = "NUMBER", default_value = "60", value_parser = at_least_one)]
    items: usize,
    /// Seed of the draw
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// The file that labels are added to, JSON lines [default: NAME.jsonl among the labels]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Read lines, as where there is no terminal: for screen readers
    #[arg(long)]
    lines: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "it is a whole number of at least 1".to_owned())
}

fn annotator(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("say who labels".to_owned());
    }
    if text.chars().any(rageval_runner::model::ids::is_unfit_for_names) {
        return Err("a name holds no control characters".to_owned());
    }
    Ok(text.to_owned())
}

/// Draws, asks, and tells how far the labels agree with those of others.
pub(super) fn run(command: &LabelItems, context: &Context) -> Result<Ending, Failure> {
    let files = Files::read(context)?;
    let run = measure::read_run(&command.run, context)?;
    let path = match &command.to {
        Some(path) => path.clone(),
        None => files.policy.labels.join(file_name(&command.annotator)),
    };
    if path.extension().is_none_or(|ending| ending != "jsonl") {
        return Err(Failure::Input(format!("--to {}: labels are added as JSON lines; name it .jsonl", path.display())));
    }
    let key = &command.metric;
    let is_read = is_read(&path, &files.policy.labels);
    if is_read {
        states_the_version(&files, key)?;
    }
    let drawn = drawn(command, &files, &run)?;
    let own = files.labels.labels.iter().filter(|label| label.metric == *key && label.annotator == command.annotator);
    let done: BTreeSet<&str> = own.map(|label| label.item.as_str()).collect();
    let known: BTreeSet<String> = files.labels.items.iter().map(|item| item.id.clone()).collect();
    let count = drawn.len();
    let to_label: Vec<ToLabel> = drawn.into_iter().filter(|one| !done.contains(one.item.id.as_str())).collect();
    let before = count - to_label.len();
    let mut written = 0;
    if !to_label.is_empty() {
        let session = Session {
            metric: key,
            annotator: &command.annotator,
            set_version: files.set_version(),
            items: to_label,
            before,
            known,
            keys: Keys::new(command.lines),
        };
        written = session.run(LabelFile::new(path.clone()))?;
    }
    let files = Files::read(context)?;
    let mut out = crate::out::stdout();
    let shown = path.strip_prefix(&files.policy.root).unwrap_or(&path);
    if !is_read {
        let folder = files.policy.labels.strip_prefix(&files.policy.root).unwrap_or(&files.policy.labels);
        let labels = if written == 1 { "1 label".to_owned() } else { format!("{written} labels") };
        writeln!(
            out,
            "wrote {labels} of {key} to {}; `calibrate` reads only {}, so move the file there",
            shown.display(),
            folder.display()
        )?;
        out.flush()?;
        return Ok(Ending::Pass);
    }
    for line in agreement::lines(&files.labels, key, &command.annotator, count, shown) {
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(Ending::Pass)
}

/// Whether a file of this path is among those that labels are read from.
fn is_read(path: &Path, labels: &Path) -> bool {
    let whole = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_left_out = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['_', '.']));
    !is_left_out && whole(folder) == whole(labels)
}

/// Refuses labels of another version of the golden set beside those that state one: files of two versions can't be read together.
fn states_the_version(files: &Files, key: &MetricKey) -> Result<(), Failure> {
    let set = files.set_version();
    match &files.labels.set_version {
        Some(labels) if set.as_ref() != Some(labels) => {
            let refusal = Refusal::OtherSetVersion { labels: labels.clone(), set };
            let (why, todo) = told::told(key, &refusal, &files.policy.calibration);
            Err(Failure::Input(format!("{why}\n  {todo}")))
        }
        Some(_) | None => Ok(()),
    }
}

/// The file of a person's labels: what of the name can stand in a file's name everywhere, and a digest where that is not all of it.
fn file_name(annotator: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let slug: String = annotator.chars().filter(plain).take(40).collect::<String>().to_ascii_lowercase();
    let slug = slug.trim_start_matches(['_', '-']);
    if slug == annotator {
        return format!("{slug}.jsonl");
    }
    let mut fields = rageval_runner::model::case::Fields::default();
    fields.add("annotator", annotator);
    format!("labels-{slug}-{}.jsonl", &fields.finish()[..8])
}

/// What is drawn from the run, after it was made sure that people can label it.
fn drawn(command: &LabelItems, files: &Files, run: &Run) -> Result<Vec<ToLabel>, Failure> {
    let key = &command.metric;
    let is_judged = metric::find(key.name()).is_some_and(|metric| metric.kind() == Kind::Judged);
    if !is_judged {
        let known = METRICS.iter().filter(|metric| metric.kind() == Kind::Judged).map(|metric| metric.name());
        let why = format!("--metric {key}: it asks no judge; one of {}", known.collect::<Vec<_>>().join(", "));
        return Err(Failure::Input(why));
    }
    let found = candidates(run, &files.set, key);
    let cases = |count: usize| if count == 1 { "1 case".to_owned() } else { format!("{count} cases") };
    if found.changed > 0 {
        tell(&format!("left out: {} changed or gone since the run", cases(found.changed)));
    }
    if found.unscored > 0 {
        tell(&format!("left out: {} without a score of {key}, such as declined ones", cases(found.unscored)));
    }
    if found.repeated > 0 {
        let of = cases(found.repeated);
        tell(&format!("left out: {of} asked several times, whose score of {key} is of several answers"));
    }
    if found.all.is_empty() {
        let measured: BTreeSet<String> =
            run.records.iter().flat_map(|record| record.outcomes.keys()).map(|key| visible(&key.to_string())).collect();
        let measured: Vec<String> = measured.into_iter().collect();
        return Err(Failure::Input(format!(
            "the run {} holds nothing of {key} to label; it measured {}",
            visible(&run.manifest.run_id),
            measured.join(", ")
        )));
    }
    let mut found = found.all;
    let count = found.len();
    // What is labelled under another id, or drawn twice, would count as two items; loading refuses it.
    let labelled = files.labels.items_of(key);
    let mut ids: HashMap<_, &str> = labelled.iter().map(|item| (item.texts(), item.id.as_str())).collect();
    let keep: Vec<bool> =
        found.iter().map(|one| *ids.entry(one.item.texts()).or_insert(&one.item.id) == one.item.id).collect();
    let mut keep = keep.into_iter();
    found.retain(|_| keep.next() == Some(true));
    if found.len() < count {
        tell(&format!("left out: {} whose texts stand under another id", count - found.len()));
    }
    let strata: Vec<Stratum> = found.iter().map(|candidate| candidate.stratum.clone()).collect();
    let mut items: Vec<Option<Item>> = found.into_iter().map(|candidate| Some(candidate.item)).collect();
    let drawn = draw(&strata, command.items, command.seed);
    Ok(drawn.into_iter().filter_map(|one| Some(ToLabel { item: items[one.at].take()?, weight: one.weight })).collect())
}
