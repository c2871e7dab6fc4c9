//! Loading files that a person wrote: whole projects in `fixtures/load`, each with the text that loading it must give.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rageval_runner::{
    load::{self, Diagnostics, Policy},
    metric::{Cutoff, Input, Kind, Metric, Param, ParamKind, Params, Step},
    model::{GoldenCase, GoldenSet, Outcome, Transcript, UnitInterval},
};

/// A metric that has a name and keys and scores everything 1.
struct Named {
    name: &'static str,
    kind: Kind,
    cutoff: Cutoff,
    params: &'static [Param],
}

impl Metric for Named {
    fn name(&self) -> &str {
        self.name
    }

    fn about(&self) -> &str {
        "Nothing."
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn cutoff(&self) -> Cutoff {
        self.cutoff
    }

    fn params(&self) -> &[Param] {
        self.params
    }

    fn not_applicable(&self, _: &GoldenCase, _: &Params) -> Option<String> {
        None
    }

    fn step(&self, _: &Input<'_>, _: &Transcript) -> Step {
        Step::Done(Outcome::Scored {
            score: UnitInterval::ONE.into(),
            detail: rageval_runner::model::Detail::default(),
        })
    }
}

const fn metric(name: &'static str, kind: Kind, cutoff: Cutoff, params: &'static [Param]) -> Named {
    Named { name, kind, cutoff, params }
}

const fn param(name: &'static str, kind: ParamKind) -> Param {
    Param { name, kind, about: "Something." }
}

static RECALL: Named = metric("recall", Kind::Retrieval, Cutoff::Required, &[]);
static NDCG: Named =
    metric("ndcg", Kind::Retrieval, Cutoff::Required, &[param("gain", ParamKind::OneOf(&["linear", "exponential"]))]);
static MRR: Named = metric("mrr", Kind::Retrieval, Cutoff::Optional, &[]);
static FAITHFULNESS: Named = metric("faithfulness", Kind::Judged, Cutoff::Refused, &[]);
static CONTAINS: Named =
    metric("contains", Kind::Text, Cutoff::Refused, &[param("all", ParamKind::Texts), param("any", ParamKind::Texts)]);
static REGEX: Named = metric("regex", Kind::Text, Cutoff::Refused, &[param("pattern", ParamKind::Regex)]);
static LENGTH: Named = metric("length", Kind::Quantity, Cutoff::Refused, &[param("max", ParamKind::Number)]);
static METRICS: [&dyn Metric; 7] = [&RECALL, &NDCG, &MRR, &FAITHFULNESS, &CONTAINS, &REGEX, &LENGTH];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/load")
}

fn load(folder: &Path) -> Result<(Policy, GoldenSet), Diagnostics> {
    let policy = load::policy(&folder.join(load::FILE_NAME), &METRICS)?;
    let golden_set = load::cases(&policy, &METRICS)?;
    let problems = load::check_slices(&policy, &golden_set);
    if problems.is_empty() { Ok((policy, golden_set)) } else { Err(problems) }
}

/// What a reader of the test wants to see: every problem, else what was read.
fn shown(folder: &Path) -> String {
    match load(folder) {
        Err(problems) => format!("{problems}\n"),
        Ok((policy, golden_set)) => {
            let root = policy.root.to_string_lossy().into_owned();
            let read = format!("{:#?}\n{:#?}\n{:#?}\n{golden_set:#?}\n", policy.system, policy.judge, policy.rules);
            read.replace(&root, "ROOT")
        }
    }
}

/// Each folder of `fixtures/load` is a project; `expected.txt` in it is what loading it says. A difference leaves the new text in
/// the build's folder, with the command that accepts it.
#[test]
fn every_project_loads_as_written_down() {
    let mut wrong = Vec::new();
    let mut folders: Vec<_> =
        fs::read_dir(fixtures()).expect("fixtures").map(|entry| entry.expect("entry").path()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    for folder in folders {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let expected = folder.join("expected.txt");
        let actual = shown(&folder);
        if fs::read_to_string(&expected).is_ok_and(|text| text.replace("\r\n", "\n") == actual) {
            continue;
        }
        let written = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.txt"));
        fs::write(&written, &actual).expect("the build's folder can be written");
        wrong.push(format!("{name}:\n{actual}\nto accept: cp {} {}\n", written.display(), expected.display()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
