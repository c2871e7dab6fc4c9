//! Puts the reviewed evaluation steps of `g_eval` into its parameters: those of the file beside the policy, where only criteria are given.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    metric::{Metric, Params, material},
    model::MetricKey,
};

use super::{
    diagnostic::{Diagnostics, quoted},
    metrics,
    read::{Empty, Reader},
    shape::{Key, Shape},
    source::{Source, Span},
    thresholds::{self, Policy},
    yaml,
};

/// The metric that has steps.
const METRIC: &str = "g_eval";

const KEYS: &[Key] = &[
    Key::required("version", Shape::Count(1), "Version of this format: 1."),
    Key::required("criteria", Shape::Text, "The criteria that the steps were made for."),
    Key::required("fields", Shape::List(&Shape::OneOf(&material::FIELDS)), "What the judge was to be shown."),
    Key::required("judge", Shape::Map(JUDGE), "The judge that wrote them."),
    Key::required("language", Shape::OneOf(&["en", "pt", "zh"]), "The language that they were asked for in."),
    Key::required("steps", Shape::List(&Shape::Text), "The steps."),
];

const JUDGE: &[Key] = &[
    Key::required("provider", Shape::Text, "Its provider."),
    Key::required("model", Shape::Text, "Its model."),
    Key::required("fingerprint", Shape::Text, "Its fingerprint."),
];

/// What becomes of criteria without steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Their steps are read from the file, which must be there.
    Read,
    /// They are left as they are, for the command that has the file written.
    LeftOut,
}

/// Criteria of the policy whose steps come from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FromFile {
    /// The metric.
    pub key: MetricKey,
    /// Its parameters, without the steps.
    pub params: Params,
    /// The file, relative to the folder of the policy, with `/`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

/// The policy without steps from files, and the criteria that need such a file, whether it is there or not.
///
/// # Errors
/// The policy has problems of its own.
pub fn from_files(file: &Path, metrics: &[&dyn Metric]) -> Result<(Policy, Vec<FromFile>), Diagnostics> {
    let policy = thresholds::policy_with(file, metrics, Steps::LeftOut)?;
    let wanted = policy.rules.metrics.iter().filter(|(key, rule)| needs_file(key, &rule.params.0));
    let from_files = wanted.map(|(key, rule)| {
        let name = file_name(key);
        FromFile { key: key.clone(), params: rule.params.clone(), path: policy.root.join(&name), name }
    });
    let from_files = from_files.collect();
    Ok((policy, from_files))
}

fn needs_file(key: &MetricKey, params: &BTreeMap<String, Value>) -> bool {
    key.name() == METRIC && params.contains_key("criteria") && !params.contains_key("steps")
}

/// `g_eval/tone.yaml`.
fn file_name(key: &MetricKey) -> String {
    format!("{METRIC}/{}.yaml", label(key))
}

/// What the command and the file call a metric: its label.
fn label(key: &MetricKey) -> &str {
    key.label().unwrap_or(METRIC)
}

/// Adds the steps of a metric of the policy where it has criteria alone; what is wrong is reported at the metric.
pub(crate) fn of_policy(reader: &mut Reader<'_>, span: &Span, root: &Path, key: &MetricKey, params: &mut Params) {
    if needs_file(key, &params.0)
        && let Some(steps) = read(reader, span, root, (key, params), Whose::Policy)
    {
        params.0.insert("steps".to_owned(), steps);
    }
}

/// Adds the steps of a case's own criteria: the policy's where these are the same, else those of the file, which must have been made for them.
pub(crate) fn of_case(
    reader: &mut Reader<'_>,
    span: &Span,
    policy: &Policy,
    key: &MetricKey,
    own: &mut BTreeMap<String, Value>,
) {
    if !needs_file(key, own) {
        return;
    }
    let policys = policy.rules.metrics.get(key).map(|rule| rule.params.clone()).unwrap_or_default();
    let params = policys.overlaid(own);
    let is_the_policys = policys.text("criteria").is_some_and(|criteria| is_same(criteria, &params));
    if is_the_policys && policys.0.contains_key("steps") {
        return;
    }
    if let Some(steps) = read(reader, span, &policy.root, (key, &params), Whose::Case) {
        own.insert("steps".to_owned(), steps);
    }
}

/// Whether these are the criteria, however they are laid out over lines.
fn is_same(criteria: &str, params: &Params) -> bool {
    params.text("criteria").is_some_and(|own| own.split_whitespace().eq(criteria.split_whitespace()))
}

/// Whose criteria they are: the command makes steps for those of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Policy,
    Case,
}

impl Whose {
    /// What to do, where the command would do this.
    fn help(self, does: &str, command: &str) -> String {
        match self {
            Self::Policy => format!("{does}: {command}; or write `steps` here"),
            Self::Case => {
                "give the case `steps` of its own: the command makes them for the criteria of thresholds.yaml"
                    .to_owned()
            }
        }
    }
}

/// The steps of the file, if they were made for these parameters.
fn read(
    reader: &mut Reader<'_>,
    span: &Span,
    root: &Path,
    (key, params): (&MetricKey, &Params),
    whose: Whose,
) -> Option<Value> {
    let (name, what) = (file_name(key), quoted(&key.to_string()));
    let path = root.join(&name);
    let command = format!("cargo rageval steps {}", label(key));
    if !path.exists() {
        let problem = reader
            .problem(span, format!("{what} has criteria and no steps, and there is no {name}"))
            .help(whose.help("have the judge write the steps, and review them", &command));
        reader.problems.push(problem);
        return None;
    }
    let file = match Source::read(&name, &path) {
        Ok(source) => file(&source, reader.problems)?,
        Err(problems) => {
            reader.problems.append(problems);
            return None;
        }
    };
    let other = if !is_same(&file.criteria, params) {
        "criteria"
    } else if file.fields != material::chosen_fields(params) {
        "fields"
    } else {
        return Some(Value::from(file.steps));
    };
    let problem = reader
        .problem(span, format!("the steps in {name} were made for other {other} than those of {what}"))
        .help(whose.help("have them made again, and review them", &format!("{command} --again")));
    reader.problems.push(problem);
    None
}

/// What is used of a file of steps.
struct File {
    criteria: String,
    fields: Vec<&'static str>,
    steps: Vec<String>,
}

fn file(source: &std::sync::Arc<Source>, problems: &mut Diagnostics) -> Option<File> {
    let faults = problems.len();
    let node = yaml::read(source, problems);
    let mut reader = Reader { source, problems, whose: String::new() };
    let Some(node) = &node else {
        if reader.problems.len() == faults {
            reader.report(&(0..0), "the file holds no steps");
        }
        return None;
    };
    let entries = reader.map(node, "a file of steps")?;
    let fields = reader.fields(&node.span, entries, KEYS, Empty::Refused);
    if let Some(node) = fields.get("version") {
        thresholds::read_version(&mut reader, node);
    }
    if let Some(node) = fields.get("judge")
        && let Some(entries) = reader.map(node, "\"judge\"")
    {
        let judge = reader.fields(&node.span, entries, JUDGE, Empty::Refused);
        for key in JUDGE {
            judge.get(key.name).and_then(|node| reader.text(node, quoted(key.name)));
        }
    }
    let languages = [("en", ()), ("pt", ()), ("zh", ())];
    fields.get("language").and_then(|node| reader.one_of(node, "\"language\"", &languages));
    let criteria = fields.get("criteria").and_then(|node| reader.text(node, "\"criteria\""));
    let shown =
        fields.get("fields").and_then(|node| metrics::some_of(&mut reader, node, "\"fields\"", &material::FIELDS));
    let steps = fields.get("steps").and_then(|node| metrics::texts(&mut reader, node, "\"steps\""));
    if reader.problems.len() > faults {
        return None;
    }
    let read = Params(BTreeMap::from([("fields".to_owned(), shown?), ("steps".to_owned(), steps?)]));
    let steps = read.texts("steps").into_iter().map(str::to_owned).collect();
    Some(File { criteria: criteria?, fields: material::chosen_fields(&read), steps })
}
