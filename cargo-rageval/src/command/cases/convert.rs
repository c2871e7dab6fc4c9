//! `cases convert`: cases from and to the formats of other programs, with all that is lost named.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use rageval_runner::store::exchange::{self as files, Existing};
use serde_json::json;

use super::count;
use crate::{
    exchange::{self, Choices, Format, Told, Written},
    exit::{Ending, Failure, tell},
};

/// Convert cases from and to RAGAS, DeepEval, promptfoo, BEIR and TREC
///
/// What the output can't hold is named on standard error, one line a case and field; nothing is dropped in silence. Order and ids are kept.
/// Cases without an id get one from their question. JSON lines of which each goes on over several lines are read too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval cases convert testset.jsonl --from ragas-jsonl --to rageval-yaml --out cases/testset.yaml
  cargo rageval cases convert goldens.csv --from deepeval-csv --to rageval-yaml --out cases/goldens.yaml
  cargo rageval cases convert promptfooconfig.yaml --from promptfoo --to rageval-yaml --strict
  cargo rageval cases convert scifact/ --from beir --to rageval-jsonl --out cases/scifact.jsonl
  cargo rageval cases convert topics.tsv qrels.txt --from trec --to rageval-yaml
  cargo rageval cases convert cases/refunds.yaml --from rageval-yaml --to ragas-parquet --out refunds.parquet
  cargo rageval cases convert pretty.jsonl --from rageval-jsonl --to rageval-jsonl --out cases/plain.jsonl

Ends with 0 also when something was lost; with --strict, a loss writes nothing and ends with 1.")]
pub(crate) struct Convert {
    /// The files; BEIR and TREC also take a folder
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How they are written
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Format,
    /// How to write them
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Format,
    /// The file to write, or the folder for BEIR and TREC [default: standard output]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long)]
    overwrite: bool,
    /// Write nothing where something would be lost, and end with 1
    #[arg(long)]
    strict: bool,
    /// Leave recorded answers out: without `system: {kind: recorded}` they may not stand in cases
    #[arg(long)]
    without_answers: bool,
    /// The variable of promptfoo that is the question [default: query, question, input, ..., or the only one]
    #[arg(long, value_name = "NAME")]
    query_var: Option<String>,
    /// What stands between the contexts in a cell of DeepEval's
    #[arg(long, value_name = "TEXT", default_value = "|")]
    separator: String,
    /// Which judgements of BEIR: qrels/NAME.tsv
    #[arg(long, value_name = "NAME", default_value = "test")]
    split: String,
    /// How to tell what was lost; json needs --out
    #[arg(long, value_enum, default_value = "text")]
    format: Report,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Report {
    /// A line each on standard error
    Text,
    /// `{"from", "to", "cases", "written", "losses": [{"fate", "case", "field", "why", "file", "line"}], "notices"}` on standard output
    Json,
}

/// Converts and tells.
pub(super) fn run(command: &Convert) -> Result<Ending, Failure> {
    let input = |text: &str| Failure::Input(text.to_owned());
    if command.out.is_none() && !command.to.is_one_text() {
        return Err(input("this format is no text of one file: name where to write it with --out"));
    }
    if command.out.is_none() && command.format == Report::Json {
        return Err(input(
            "--format json tells on standard output what was lost: name a file for the cases with --out",
        ));
    }
    if command.separator.is_empty() {
        return Err(input("--separator is not empty"));
    }
    let choices = Choices {
        separator: command.separator.clone(),
        query_var: command.query_var.clone(),
        split: command.split.clone(),
        without_answers: command.without_answers,
    };
    let mut told = Told::default();
    let set =
        exchange::read(&command.files, command.from, &choices, &mut told).map_err(|wrong| Failure::Input(wrong.0))?;
    if set.cases.is_empty() {
        tell(told.text().trim_end());
        return Err(input("no case came of these files"));
    }
    let written = exchange::write(&set, command.to, &choices, &mut told);
    let is_refused = command.strict && !told.losses.is_empty();
    let paths = if is_refused { Vec::new() } else { write(command, &written)? };
    match command.format {
        Report::Text => tell(&text(command, set.cases.len(), &told, &paths, is_refused)),
        Report::Json => {
            let mut report = told.as_json();
            report["from"] = json!(name(command.from));
            report["to"] = json!(name(command.to));
            report["cases"] = json!(set.cases.len());
            report["written"] = json!(paths);
            let mut out = crate::out::stdout();
            writeln!(out, "{report:#}")?;
            out.flush()?;
        }
    }
    Ok(if is_refused { Ending::Fail } else { Ending::Pass })
}

/// Writes the files, or the one to standard output, and returns where they are.
fn write(command: &Convert, written: &[Written]) -> Result<Vec<String>, Failure> {
    let Some(out) = &command.out else {
        let mut stdout = crate::out::stdout();
        for file in written {
            stdout.write_all(&file.bytes)?;
        }
        stdout.flush()?;
        return Ok(Vec::new());
    };
    let path = |file: &Written| if file.name.is_empty() { out.clone() } else { out.join(file.name) };
    let paths: Vec<PathBuf> = written.iter().map(path).collect();
    let contents: Vec<(&Path, &[u8])> =
        paths.iter().zip(written).map(|(path, file)| (path.as_path(), &file.bytes[..])).collect();
    let existing = if command.overwrite { Existing::Replace } else { Existing::Keep };
    files::write(&contents, existing).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(paths.iter().map(|path| path.display().to_string()).collect())
}

fn text(command: &Convert, cases: usize, told: &Told, paths: &[String], is_refused: bool) -> String {
    let (from, to) = (name(command.from), name(command.to));
    let losses = match told.losses.len() {
        0 => "nothing lost".to_owned(),
        1 => "1 loss".to_owned(),
        losses => format!("{losses} losses"),
    };
    let where_to = if is_refused {
        ": nothing is written with --strict".to_owned()
    } else if paths.is_empty() {
        String::new()
    } else {
        format!(": {}", paths.join(", "))
    };
    format!("{}{} from {from} to {to}, {losses}{where_to}", told.text(), count(cases, "case"))
}

fn name(format: Format) -> String {
    format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
