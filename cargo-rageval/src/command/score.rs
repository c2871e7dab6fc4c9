//! `score`: measures recorded rankings against judgements.

use std::{
    collections::HashSet,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use rageval_runner::{
    load::{
        rankings::{self, RankedQuery},
        trec::{self, Qrels, TrecError, run::Ranking},
    },
    metric::retrieval::{Found, Gain, Measurement, Relevant},
    report::console::text::visible,
};

use crate::exit::{Ending, Failure, tell};

/// Measure recorded rankings against judgements
///
/// Reads TREC files (`--qrels` and `--run`) or JSON lines (`--samples`) and prints the mean of each metric over the queries that
/// have relevant documents. A query of the judgements that the run lacks counts 0 and is listed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval score --qrels qrels.txt --run run.txt --metrics recall@10,ndcg@10,map,mrr
  cargo rageval score --qrels qrels.txt --run run.txt --metrics ndcg@10 --ties trec --per-query --format json
  cargo rageval score --samples samples.jsonl --metrics hit_rate@5,precision@5

A line of --samples:
  {\"id\": \"q1\", \"relevant_doc_ids\": [\"d3\", {\"id\": \"d7\", \"grade\": 2}], \"retrieved\": [\"d7\", \"d1\", \"d3\"]}

Metrics: hit_rate@K, recall@K, precision@K, f1@K, mrr[@K], map[@K], r_precision, ndcg[@K]")]
pub(crate) struct Score {
    /// Judgements in TREC's format: query, iteration, document, grade
    #[arg(long, value_name = "FILE", requires = "run", required_unless_present = "samples")]
    qrels: Option<PathBuf>,
    /// A run in TREC's format: query, Q0, document, rank, score, tag; the score orders, the rank is ignored
    #[arg(long, value_name = "FILE", requires = "qrels", required_unless_present = "samples")]
    run: Option<PathBuf>,
    /// Judgements and rankings as JSON lines; the order of the list is the ranking
    #[arg(long, value_name = "FILE", conflicts_with_all = ["qrels", "run", "ties"])]
    samples: Option<PathBuf>,
    /// Metrics, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    metrics: Vec<String>,
    /// Print the scores of every query too
    #[arg(long)]
    per_query: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// What decides between equal scores of one query
    #[arg(long, value_enum, default_value_t = Ties::Listed)]
    ties: Ties,
    /// What a grade is worth to ndcg
    #[arg(long, value_enum, default_value_t = GainName::Linear)]
    gain: GainName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Columns of metric, query and score
    Text,
    /// `{"mean": {METRIC: number}, "per_query": {QUERY: {METRIC: number}}}`
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ties {
    /// The order of the lines
    Listed,
    /// `trec_eval`'s rule: the document id, descending
    Trec,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GainName {
    /// The grade itself, as `trec_eval` does
    Linear,
    /// 2 to the grade, minus 1
    Exponential,
}

/// Measures and prints.
pub(crate) fn run(score: &Score) -> Result<Ending, Failure> {
    let metrics = metrics(score)?;
    let table = match (&score.samples, &score.qrels, &score.run) {
        (Some(samples), _, _) => of_samples(samples, &metrics)?,
        (None, Some(qrels), Some(run)) => of_trec(qrels, run, score.ties, &metrics)?,
        // clap requires either; this arm is for the compiler.
        (None, _, _) => return Err(Failure::Input("give --qrels and --run, or --samples".to_owned())),
    };
    table.tell_notices();
    if table.rows.is_empty() {
        tell("nothing to score: no query has relevant documents");
        return Ok(Ending::Undecided);
    }
    let mut out = BufWriter::with_capacity(1 << 16, crate::out::stdout());
    match score.format {
        Format::Text => table.print_text(&mut out, score.per_query)?,
        Format::Json => table.print_json(&mut out, score.per_query)?,
    }
    out.flush()?;
    Ok(Ending::Pass)
}

/// A metric under the name it was asked by.
type Named = (String, Measurement);

fn metrics(score: &Score) -> Result<Vec<Named>, Failure> {
    let gain = match score.gain {
        GainName::Linear => Gain::Linear,
        GainName::Exponential => Gain::Exponential,
    };
    let mut metrics: Vec<Named> = Vec::new();
    let mut problems = Vec::new();
    for text in score.metrics.iter().map(|text| text.trim()) {
        match Measurement::parse(text, gain) {
            Ok(_) if metrics.iter().any(|(name, _)| name == text) => {
                problems.push(format!("--metrics: `{text}` is given twice"));
            }
            Ok(measurement) => metrics.push((text.to_owned(), measurement)),
            Err(error) => problems.push(format!("--metrics: {error}")),
        }
    }
    if problems.is_empty() { Ok(metrics) } else { Err(Failure::Input(problems.join("\n"))) }
}

/// The scores of all queries, and what has none.
struct Table {
    metrics: Vec<Named>,
    /// Each scored query with the place of its scores.
    rows: Vec<(String, usize)>,
    /// Scores of all queries, one after the other, each in the order of `metrics`.
    scores: Vec<f64>,
    /// Queries that are judged and stand not in the run: they count 0.
    absent: Vec<String>,
    /// Queries without relevant documents: not applicable.
    without_relevant: usize,
    /// Queries that were retrieved for and not judged.
    unjudged: usize,
}

impl Table {
    fn new(metrics: Vec<Named>) -> Self {
        Self { metrics, rows: Vec::new(), scores: Vec::new(), absent: Vec::new(), without_relevant: 0, unjudged: 0 }
    }

    fn tell_notices(&self) {
        if !self.absent.is_empty() {
            tell(&format!(
                "{} missing from the run, counted 0: {}",
                queries(self.absent.len()),
                shortened(&self.absent)
            ));
        }
        if self.without_relevant > 0 {
            tell(&format!("{} without relevant documents: not applicable", queries(self.without_relevant)));
        }
        if self.unjudged > 0 {
            tell(&format!("{} of the run without judgements: not scored", queries(self.unjudged)));
        }
    }

    /// Keeps the scores of a query and returns their place.
    fn keep(&mut self, scores: impl IntoIterator<Item = f64>) -> usize {
        let place = self.scores.len();
        self.scores.extend(scores);
        place
    }

    fn of(&self, place: usize) -> &[f64] {
        &self.scores[place..place + self.metrics.len()]
    }

    fn mean(&self, column: usize) -> f64 {
        self.rows.iter().map(|(_, place)| self.of(*place)[column]).sum::<f64>() / self.rows.len() as f64
    }

    fn print_text(&self, out: &mut impl Write, per_query: bool) -> io::Result<()> {
        let width = self.metrics.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        if per_query {
            for (query, place) in &self.rows {
                for ((name, _), score) in self.metrics.iter().zip(self.of(*place)) {
                    writeln!(out, "{name:width$}\t{}\t{score:.4}", visible(query))?;
                }
            }
        }
        for (column, (name, _)) in self.metrics.iter().enumerate() {
            writeln!(out, "{name:width$}\tall\t{:.4}", self.mean(column))?;
        }
        Ok(())
    }

    fn print_json(&self, out: &mut impl Write, per_query: bool) -> io::Result<()> {
        out.write_all(b"{\n\"mean\": ")?;
        let means: Vec<_> = (0..self.metrics.len()).map(|column| self.mean(column)).collect();
        self.print_object(out, &means)?;
        if per_query {
            out.write_all(b",\n\"per_query\": {")?;
            for (index, (query, place)) in self.rows.iter().enumerate() {
                out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
                serde_json::to_writer(&mut *out, query)?;
                out.write_all(b": ")?;
                self.print_object(out, self.of(*place))?;
            }
            out.write_all(b"\n}")?;
        }
        out.write_all(b"\n}\n")
    }

    fn print_object(&self, out: &mut impl Write, scores: &[f64]) -> io::Result<()> {
        for (index, ((name, _), score)) in self.metrics.iter().zip(scores).enumerate() {
            out.write_all(if index == 0 { b"{" } else { b", " })?;
            serde_json::to_writer(&mut *out, name)?;
            out.write_all(b": ")?;
            serde_json::to_writer(&mut *out, score)?;
        }
        out.write_all(b"}")
    }
}

fn queries(count: usize) -> String {
    if count == 1 { "1 query".to_owned() } else { format!("{count} queries") }
}

fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// What became of one query.
enum Measured {
    /// Its scores, in the order of the metrics.
    Scores(Vec<f64>),
    /// It has no relevant documents.
    NothingRelevant,
    /// It has no judgements.
    Unjudged,
    /// A metric that its grades are too large for.
    TooLarge(String),
}

fn measured(metrics: &[Named], found: &Found<'_>) -> Measured {
    let mut scores = Vec::with_capacity(metrics.len());
    for (name, measurement) in metrics {
        match measurement.score(found) {
            Ok(score) => scores.push(score.get()),
            Err(_) => return Measured::TooLarge(name.clone()),
        }
    }
    Measured::Scores(scores)
}

fn too_large(path: &Path, query: &str, metric: &str) -> Failure {
    Failure::Input(format!("{}: query `{query}`: the grades are too large for `{metric}`", path.display()))
}

fn of_trec(qrels_path: &Path, run: &Path, ties: Ties, metrics: &[Named]) -> Result<Table, Failure> {
    let text = trec::text(qrels_path)?;
    let qrels = Qrels::parse(&text, qrels_path)?;
    let ties = match ties {
        Ties::Listed => trec::Ties::Listed,
        Ties::Trec => trec::Ties::Trec,
    };
    let measure = |ranking: &Ranking| {
        let Some(place) = qrels.place(ranking.query()) else { return (None, Measured::Unjudged) };
        let measured = match qrels.relevant(place) {
            Some(relevant) => measured(metrics, &ranking.found(&relevant)),
            None => Measured::NothingRelevant,
        };
        (Some(place), measured)
    };
    let mut of_query: Vec<Option<Measured>> = std::iter::repeat_with(|| None).take(qrels.count()).collect();
    let mut unjudged = HashSet::new();
    trec::for_each_ranking(run, ties, measure, |query, (place, measured)| match place {
        Some(place) => of_query[place] = Some(measured),
        None => {
            unjudged.insert(query.to_owned());
        }
    })?;
    let mut table = Table::new(metrics.to_vec());
    table.unjudged = unjudged.len();
    for (place, measured) in of_query.into_iter().enumerate() {
        let query = qrels.query(place);
        match measured {
            Some(Measured::Scores(scores)) => {
                let place = table.keep(scores);
                table.rows.push((query.to_owned(), place));
            }
            Some(Measured::TooLarge(metric)) => return Err(too_large(qrels_path, query, &metric)),
            Some(Measured::NothingRelevant | Measured::Unjudged) => table.without_relevant += 1,
            None if qrels.relevant(place).is_none() => table.without_relevant += 1,
            None => {
                table.absent.push(query.to_owned());
                let place = table.keep(metrics.iter().map(|_| 0.0));
                table.rows.push((query.to_owned(), place));
            }
        }
    }
    table.rows.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(table)
}

fn of_samples(path: &Path, metrics: &[Named]) -> Result<Table, Failure> {
    let measure = |query: &RankedQuery<'_>| match Relevant::new(query.judgements()) {
        Some(relevant) => measured(metrics, &query.found(&relevant)),
        None => Measured::NothingRelevant,
    };
    let mut table = Table::new(metrics.to_vec());
    let mut problem = None;
    rankings::for_each(path, measure, |query, measured| match measured {
        Measured::Scores(scores) => {
            let place = table.keep(scores);
            table.rows.push((query.to_owned(), place));
        }
        Measured::NothingRelevant | Measured::Unjudged => table.without_relevant += 1,
        Measured::TooLarge(metric) => problem = Some(too_large(path, query, &metric)),
    })?;
    if let Some(problem) = problem {
        return Err(problem);
    }
    table.rows.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(table)
}

impl From<TrecError> for Failure {
    fn from(error: TrecError) -> Self {
        Self::Input(error.to_string())
    }
}
