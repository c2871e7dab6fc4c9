//! Cases in the formats of other programs, both ways. What a format can't hold is named, never dropped in silence.
//!
//! Every format is read into [`PlainSet`], the cases as our own files hold them, and written from it. So there are twice as many parts as
//! formats, not as many as pairs of them.

mod beir;
mod cell;
mod deepeval;
mod draft;
mod ids;
mod judged;
mod loss;
mod ours;
mod parquet;
mod promptfoo;
mod ragas;
mod table;
mod trec;
mod yaml_text;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rageval_runner::load::{
    Diagnostics,
    plain::{CaseFormat, Located, PlainSet, Value, json},
};

pub(crate) use loss::Told;

/// How cases are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Our own, in YAML
    RagevalYaml,
    /// Our own, in JSON
    RagevalJson,
    /// Our own, one object a case
    RagevalJsonl,
    /// Our own, in a table
    RagevalCsv,
    /// RAGAS: a list, or columns as pandas writes them
    RagasJson,
    /// RAGAS: `EvaluationDataset.to_jsonl`, `Testset.to_jsonl`
    RagasJsonl,
    /// RAGAS: `to_csv`
    RagasCsv,
    /// RAGAS: `to_pandas().to_parquet`, `to_hf_dataset().to_parquet`
    RagasParquet,
    /// DeepEval goldens: `EvaluationDataset.save_as("json", ...)`
    DeepevalJson,
    /// DeepEval goldens, one object each
    DeepevalJsonl,
    /// DeepEval goldens in a table
    DeepevalCsv,
    /// promptfoo configuration, YAML or JSON: tests, defaultTest
    Promptfoo,
    /// BEIR: a folder with queries.jsonl, qrels/*.tsv, corpus.jsonl
    Beir,
    /// TREC topics and qrels
    Trec,
}

impl Format {
    /// Whether it is text of one file, which may go to standard output.
    pub(crate) fn is_one_text(self) -> bool {
        !matches!(self, Self::RagasParquet | Self::Beir | Self::Trec)
    }
}

/// What the user chose beside the formats.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    /// What separates the contexts in a cell of DeepEval's.
    pub(crate) separator: String,
    /// The variable of promptfoo that is the question; guessed where it is `None`.
    pub(crate) query_var: Option<String>,
    /// The split of BEIR's qrels.
    pub(crate) split: String,
    /// Leave recorded answers out.
    pub(crate) without_answers: bool,
}

/// Why files can't be converted: one line a problem, each with its place.
#[derive(Debug)]
pub(crate) struct Wrong(pub(crate) String);

impl From<Diagnostics> for Wrong {
    fn from(problems: Diagnostics) -> Self {
        Self(problems.to_string())
    }
}

/// A file to write; its name is empty where the format is one file, else relative to the folder.
pub(crate) struct Written {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// Reads files of a format, in their order.
pub(crate) fn read(paths: &[PathBuf], format: Format, choices: &Choices, told: &mut Told) -> Result<PlainSet, Wrong> {
    let all = |of: CaseFormat| {
        let files: Vec<_> = paths.iter().map(|path| (path.as_path(), of)).collect();
        rageval_runner::load::plain::cases(&files).map_err(Wrong::from)
    };
    let mut set = match format {
        Format::RagevalYaml => all(CaseFormat::Yaml)?,
        Format::RagevalJson => all(CaseFormat::Json)?,
        Format::RagevalJsonl => all(CaseFormat::JsonLines)?,
        Format::RagevalCsv => all(CaseFormat::Csv)?,
        Format::RagasJson | Format::RagasJsonl => ragas::read(&rows(paths)?, told),
        Format::RagasCsv => ragas::read(&each(paths, table::rows)?, told),
        Format::RagasParquet => ragas::read(&each(paths, parquet::rows)?, told),
        Format::DeepevalJson | Format::DeepevalJsonl => deepeval::read(&rows(paths)?, &choices.separator, told),
        Format::DeepevalCsv => deepeval::read(&each(paths, table::rows)?, &choices.separator, told),
        Format::Promptfoo => promptfoo::read(paths, choices.query_var.as_deref(), told)?,
        Format::Beir => beir::read(paths, &choices.split, told)?,
        Format::Trec => trec::read(paths, told)?,
    };
    if choices.without_answers {
        let answers = set.cases.iter_mut().filter_map(|case| case.recorded.take()).count();
        told.notice(format!("left recorded answers out, as asked: {answers}"));
    }
    Ok(set)
}

/// Writes cases in a format.
pub(crate) fn write(set: &PlainSet, format: Format, choices: &Choices, told: &mut Told) -> Vec<Written> {
    let is_ours_with_a_name = matches!(format, Format::RagevalYaml | Format::RagevalJson);
    for (field, value) in [("golden_set", &set.name), ("version", &set.version)] {
        if let Some(value) = value.as_ref().filter(|_| !is_ours_with_a_name) {
            told.lost_of_set(field, format!("{value:?}: the format has no place for it"));
        }
    }
    let cases = &set.cases;
    let bytes = match format {
        Format::RagevalYaml => ours::yaml(set).into_bytes(),
        Format::RagevalJson => ours::json(set).into_bytes(),
        Format::RagevalJsonl => ours::json_lines(cases).into_bytes(),
        Format::RagevalCsv => ours::csv(cases, told),
        Format::RagasJson => pretty(&ragas::write(cases, told).into()),
        Format::RagasJsonl => lines(&ragas::write(cases, told)),
        Format::RagasCsv => ragas::csv(&ragas::write(cases, told), cases, told),
        Format::RagasParquet => parquet::write(&ragas::write(cases, told)),
        Format::DeepevalJson => pretty(&deepeval::write(cases, told).into()),
        Format::DeepevalJsonl => lines(&deepeval::write(cases, told)),
        Format::DeepevalCsv => deepeval::csv(cases, &choices.separator, told),
        Format::Promptfoo => promptfoo::write(cases, told).into_bytes(),
        Format::Beir => return beir::write(cases, told),
        Format::Trec => return trec::write(cases, told),
    };
    vec![Written { name: "", bytes }]
}

/// Each row of each file in turn.
fn each(paths: &[PathBuf], read: impl Fn(&Path) -> Result<Vec<Located>, Wrong>) -> Result<Vec<Located>, Wrong> {
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for path in paths {
        match read(path) {
            Ok(read) => rows.extend(read),
            Err(problem) => wrong.push(problem.0),
        }
    }
    if wrong.is_empty() { Ok(rows) } else { Err(Wrong(wrong.join("\n"))) }
}

/// Rows that stand in JSON: in a list, one after the other, or as columns.
fn rows(paths: &[PathBuf]) -> Result<Vec<Located>, Wrong> {
    each(paths, |path| {
        let mut rows = Vec::new();
        let values = json(path)?;
        let is_one = values.len() == 1;
        for value in values {
            match &value.value {
                Value::List(_) => {
                    let Value::List(items) = value.value else { continue };
                    rows.extend(items);
                }
                Value::Map(_) => {
                    let columns = if is_one { columns(&value) } else { None };
                    rows.extend(columns.unwrap_or_else(|| vec![value]));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
                    return Err(Wrong(format!("{}: expected a list of objects, or an object a case", value.place)));
                }
            }
        }
        match rows.iter().find(|row| !matches!(row.value, Value::Map(_))) {
            Some(row) => Err(Wrong(format!("{}: a case is an object", row.place))),
            None => Ok(rows),
        }
    })
}

/// The rows of columns: `{"question": {"0": ..., "1": ...}}` as pandas writes them, or `{"question": [...]}`. `None` where it is a row.
fn columns(value: &Located) -> Option<Vec<Located>> {
    let Value::Map(columns) = &value.value else { return None };
    let cells = |column: &Located| match &column.value {
        Value::List(items) => Some(items.clone()),
        Value::Map(entries) if entries.iter().all(|(key, _)| key.parse::<u64>().is_ok()) => {
            Some(entries.iter().map(|(_, cell)| cell.clone()).collect())
        }
        Value::Map(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => None,
    };
    let table: Option<Vec<(&String, Vec<Located>)>> =
        columns.iter().map(|(name, column)| Some((name, cells(column)?))).collect();
    // A question is no list, so a map in which every value is one holds columns.
    let table = table.filter(|table| table.len() > 1)?;
    let height = table.iter().map(|(_, cells)| cells.len()).max()?;
    if table.iter().any(|(_, cells)| cells.len() != height) {
        return None;
    }
    let row = |at: usize| {
        let entries: Vec<(String, Located)> =
            table.iter().map(|(name, cells)| ((*name).clone(), cells[at].clone())).collect();
        let place = entries.first().map_or_else(|| value.place.clone(), |(_, cell)| cell.place.clone());
        Located { place, value: Value::Map(entries) }
    };
    Some((0..height).map(row).collect())
}

fn pretty(value: &serde_json::Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

fn lines(values: &[serde_json::Value]) -> Vec<u8> {
    values.iter().map(|value| format!("{value}\n")).collect::<String>().into_bytes()
}
