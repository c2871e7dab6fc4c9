//! `cases lint`: all that is wrong with the cases, and advice about those that load.

mod case;
mod code;
mod set;

use std::{collections::BTreeMap, io::Write, path::Path};

use clap::{Args, ValueEnum};
use rageval_runner::{
    load::{self, Diagnostics, Policy, calibration_queries::calibration_queries},
    model::GoldenSet,
    report::console::text::visible,
};
use serde_json::{Value, json};

use self::code::{Code, Finding};
use super::count;
use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Look the golden cases over: what can't be read, and what is probably not meant
///
/// Findings are advice and pass. --deny makes one an error, --allow leaves it out. Each has its place and a code that stays.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval cases lint
  cargo rageval cases lint --deny all --allow near-duplicate
  cargo rageval cases lint --format json

Ends with 0, with 1 where a denied finding is among them, with 2 where the cases can't be read. docs/cases.md says what each code means.")]
pub(crate) struct Lint {
    /// Leave findings of this code out; may be given several times
    #[arg(long, value_enum, value_name = "CODE")]
    allow: Vec<Code>,
    /// Make findings of this code errors, or of `all` that are not allowed; may be given several times
    #[arg(long, value_name = "CODE|all", value_parser = denied)]
    deny: Vec<Denied>,
    /// How to print them
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Denied {
    All,
    Only(Code),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line each
    Text,
    /// `{"cases", "denied", "findings": [{"code", "level", "case", "file", "line", "column", "text"}]}`, or `{"errors": [...]}`
    Json,
}

fn denied(text: &str) -> Result<Denied, String> {
    if text == "all" {
        return Ok(Denied::All);
    }
    let names = || Code::value_variants().iter().map(|code| code.name()).collect::<Vec<_>>().join(", ");
    Code::from_str(text, false).map(Denied::Only).map_err(|_| format!("it is `all` or one of {}", names()))
}

/// Finds and tells.
pub(super) fn run(command: &Lint, context: &Context) -> Result<Ending, Failure> {
    for code in &command.allow {
        if command.deny.contains(&Denied::Only(*code)) {
            return Err(Failure::Input(format!("{} is both allowed and denied", code.name())));
        }
    }
    let file = context.policy_that_is_there().map_err(Failure::Input)?;
    let found = read(&file, context).map(|(policy, golden_set, queries)| {
        let mut findings = findings(&policy, &golden_set, &queries);
        findings.retain(|finding| !command.allow.contains(&finding.code));
        (golden_set.cases.len(), findings)
    });
    let mut out = crate::out::stdout();
    let (cases, findings) = match found {
        Ok(found) => found,
        Err(problems) => {
            if command.format == Format::Json {
                writeln!(out, "{:#}", errors(&problems))?;
                out.flush()?;
            }
            return Err(Failure::Input(problems.to_string()));
        }
    };
    let is_denied = |finding: &Finding| {
        command.deny.iter().any(|denied| *denied == Denied::All || *denied == Denied::Only(finding.code))
    };
    match command.format {
        Format::Text => out.write_all(text(cases, &findings, is_denied).as_bytes())?,
        Format::Json => writeln!(out, "{:#}", as_json(cases, &findings, is_denied))?,
    }
    out.flush()?;
    Ok(if findings.iter().any(is_denied) { Ending::Fail } else { Ending::Pass })
}

type Read = (Policy, GoldenSet, std::collections::BTreeSet<String>);

/// All that the findings are about.
fn read(file: &Path, context: &Context) -> Result<Read, Diagnostics> {
    let metrics = context.metrics(&[]);
    let policy = load::policy(file, &metrics)?;
    let set = load::cases(&policy, &metrics)?;
    let slices = load::check_slices(&policy, &set);
    if !slices.is_empty() {
        return Err(slices);
    }
    let queries = calibration_queries(&policy)?;
    Ok((policy, set, queries))
}

fn findings(policy: &Policy, golden_set: &GoldenSet, queries: &std::collections::BTreeSet<String>) -> Vec<Finding> {
    let today = Context::today();
    let mut found = set::findings(golden_set, &policy.rules.slices);
    for case in &golden_set.cases {
        let (id, place) = (case.id.to_string(), &case.place);
        found.extend(case::findings(case, today).into_iter().map(|(code, text)| Finding {
            code,
            place: place.clone(),
            case: id.clone(),
            text,
        }));
    }
    found.extend(super::stats::also_labelled(golden_set, queries).into_iter().map(|case| Finding {
        code: Code::LabelledQuestion,
        place: case.place.clone(),
        case: case.id.to_string(),
        text: "its question is one of the labels in calibration/, so the judge is measured on what it gates".to_owned(),
    }));
    found.sort_by(|a, b| (&a.place, a.code).cmp(&(&b.place, b.code)));
    found
}

fn text(cases: usize, findings: &[Finding], is_denied: impl Fn(&Finding) -> bool) -> String {
    let mut text = String::new();
    for finding in findings {
        let level = if is_denied(finding) { "error" } else { "warning" };
        let line = format!("{}: {level}[{}]: {}: {}", finding.place, finding.code.name(), finding.case, finding.text);
        text.push_str(&visible(&line));
        text.push('\n');
    }
    let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.code).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(code, count)| format!("{} {count}", code.name())).collect();
    let cases = count(cases, "case");
    let last = match findings.len() {
        0 => format!("{cases}, nothing found\n"),
        found => format!("{cases}, {}: {}\n", count(found, "finding"), counts.join(", ")),
    };
    text + &last
}

fn as_json(cases: usize, findings: &[Finding], is_denied: impl Fn(&Finding) -> bool) -> Value {
    let all: Vec<Value> = findings
        .iter()
        .map(|finding| {
            json!({
                "code": finding.code.name(),
                "level": if is_denied(finding) { "error" } else { "warning" },
                "case": finding.case,
                "file": finding.place.file,
                "line": finding.place.line,
                "column": finding.place.column,
                "text": finding.text,
            })
        })
        .collect();
    let denied = findings.iter().filter(|finding| is_denied(finding)).count();
    json!({"cases": cases, "denied": denied, "findings": all})
}

fn errors(problems: &Diagnostics) -> Value {
    let all: Vec<Value> = problems
        .iter()
        .map(|problem| {
            let place = problem.place();
            json!({
                "file": place.file, "line": place.line, "column": place.column,
                "message": problem.message(), "help": problem.advice(),
            })
        })
        .collect();
    json!({"errors": all})
}
