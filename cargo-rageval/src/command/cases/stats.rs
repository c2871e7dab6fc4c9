//! `cases stats`: how many cases of what kind, which kinds have too few, and which questions say the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
};

use clap::Args;
use rageval_runner::{
    gate::rule::SliceField,
    load::calibration_queries::calibration_queries,
    model::{GoldenCase, GoldenSet},
    report::console::text::{COLUMNS, listed as listed_names, shortened, visible},
    text::guess_language,
    trust::{
        near_duplicates::{Group, Question, near_duplicates, plain},
        strata::{Strata, Thin, strata},
    },
};
use serde_json::{Value, json};

use super::{count, files};
use crate::{
    command::format::Format,
    context::Context,
    exit::{Ending, Failure},
};

/// Lines of a list in the text; the rest are counted, and JSON has them all.
const MOST_LINES: usize = 20;

/// Count the golden cases, and name what is thin or stands twice
///
/// Counts by language, type, difficulty, refusal and tags; strata and crossings of two with fewer cases than `slices.min_cases`; questions of one
/// language whose words agree to --similarity (shared words over all words, the Jaccard index; Chinese by characters); cases whose question is also one of
/// the labels in `calibration/`. Nothing here makes a gate red.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval cases stats
  cargo rageval cases stats --similarity 0.7 --format json")]
pub(crate) struct Stats {
    /// How far the words of two questions agree that are near-duplicates, above 0, at most 1
    #[arg(long, value_name = "NUMBER", default_value = "0.8", value_parser = bound)]
    similarity: f64,
    /// How to print them: as JSON it is `{"cases", "golden_set", "min_cases", "fields", "thin", "similarity", "near_duplicates",
    /// "also_labelled"}`, lists whole
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

fn bound(text: &str) -> Result<f64, String> {
    let bound: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    if bound > 0.0 && bound <= 1.0 { Ok(bound) } else { Err("it is above 0 and at most 1".to_owned()) }
}

/// All that is told.
struct Findings<'a> {
    set: &'a GoldenSet,
    min_cases: usize,
    similarity: f64,
    strata: Strata,
    groups: Vec<Group>,
    also_labelled: Vec<&'a GoldenCase>,
}

/// Counts and tells.
pub(super) fn run(command: &Stats, context: &Context) -> Result<Ending, Failure> {
    let (policy, set) = files(context)?;
    let queries = calibration_queries(&policy).map_err(|problems| Failure::Input(problems.to_string()))?;
    let min_cases = policy.rules.slices.min_cases;
    let questions: Vec<Question<'_>> = set.cases.iter().map(question).collect();
    let findings = Findings {
        set: &set,
        min_cases,
        similarity: command.similarity,
        strata: strata(&set, min_cases),
        groups: near_duplicates(&questions, command.similarity),
        also_labelled: also_labelled(&set, &queries),
    };
    let mut out = crate::out::stdout();
    match command.format {
        Format::Text => out.write_all(text(&findings).as_bytes())?,
        Format::Json => writeln!(out, "{:#}", as_json(&findings))?,
    }
    out.flush()?;
    Ok(Ending::Pass)
}

pub(super) fn question(case: &GoldenCase) -> Question<'_> {
    Question { language: case.language, text: &case.query }
}

/// The cases whose question is a label's too, but for letter case, punctuation and blanks.
pub(super) fn also_labelled<'a>(set: &'a GoldenSet, queries: &BTreeSet<String>) -> Vec<&'a GoldenCase> {
    let labelled: BTreeSet<Vec<String>> =
        queries.iter().map(|text| plain(Question { language: guess_language(text), text })).collect();
    // A label states no language, so the case's question is read as the label's was.
    let read = |case: &GoldenCase| plain(Question { language: guess_language(&case.query), text: &case.query });
    set.cases.iter().filter(|case| labelled.contains(&read(case))).collect()
}

fn text(findings: &Findings<'_>) -> String {
    let Findings { set, min_cases, similarity, strata, groups, also_labelled } = findings;
    let set_name = set.name.as_deref().map(|name| format!(" of {}", visible(name))).unwrap_or_default();
    let version = set.version.as_deref().map(|version| format!(", version {}", visible(version))).unwrap_or_default();
    let mut lines = vec![format!("{:<14}{}{set_name}{version}", "cases", strata.cases)];
    for field in &strata.fields {
        let mut values: Vec<(&String, &usize)> = field.values.iter().collect();
        values.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let mut words: Vec<String> =
            values.iter().take(MOST_LINES).map(|(value, count)| format!("{} {count}", visible(value))).collect();
        if values.len() > MOST_LINES {
            words.push(format!("and {} more values", values.len() - MOST_LINES));
        }
        if field.unstated > 0 {
            words.push(format!("not stated {}", field.unstated));
        }
        lines.push(format!("{:<14}{}", field.field.to_string(), words.join(", ")));
    }
    let mut part = |heading: String, entries: Vec<String>| {
        lines.push(String::new());
        lines.push(heading);
        lines.extend(entries.iter().take(MOST_LINES).map(|entry| format!("  {entry}")));
        if entries.len() > MOST_LINES {
            lines.push(format!("  and {} more: --format json has them all", entries.len() - MOST_LINES));
        }
    };
    if strata.thin.is_empty() {
        part(format!("no stratum has fewer than {}", count(*min_cases, "case")), Vec::new());
    } else {
        // A set has many tags, and most are rare: one line for them.
        let (tags, others): (Vec<&Thin>, Vec<&Thin>) =
            strata.thin.iter().partition(|thin| matches!(&thin.slices[..], [slice] if slice.field == SliceField::Tags));
        let mut entries: Vec<String> = Vec::new();
        if !tags.is_empty() {
            let named: Vec<String> =
                tags.iter().map(|thin| format!("{} {}", visible(&thin.slices[0].value), thin.cases)).collect();
            entries.push(format!("tags  {}", listed_names(&named, COLUMNS - 8)));
        }
        entries.extend(others.iter().map(|thin| {
            let slices: Vec<String> = thin.slices.iter().map(|slice| visible(&slice.to_string())).collect();
            format!("{:>4}  {}", thin.cases, slices.join(", "))
        }));
        let what = if strata.thin.len() == 1 { "stratum has" } else { "strata have" };
        part(format!("{} {what} fewer than {}:", strata.thin.len(), count(*min_cases, "case")), entries);
    }
    if groups.is_empty() {
        part(format!("no two questions agree in {similarity} of their words"), Vec::new());
    } else {
        let mut entries = Vec::new();
        for group in groups {
            for (i, &member) in group.members.iter().enumerate() {
                let case = &set.cases[member];
                let similarity = if i == 0 { format!("{:.2}", group.similarity) } else { String::new() };
                let question = shortened(&case.query, 60);
                entries.push(format!("{similarity:>4}  {}  {}  {question}", visible(case.id.as_str()), case.place));
            }
        }
        let groups = count(groups.len(), "group");
        part(format!("{groups} of questions that agree in {similarity} of their words:"), entries);
    }
    if !also_labelled.is_empty() {
        let entries = also_labelled.iter().map(|case| format!("{}  {}", visible(case.id.as_str()), case.place));
        let cases = count(also_labelled.len(), "case");
        let what = "also asked in the labels of `calibration/`, so the judge is measured on what it gates";
        part(format!("{cases} {what}:"), entries.collect());
    }
    lines.join("\n") + "\n"
}

fn as_json(findings: &Findings<'_>) -> Value {
    let Findings { set, min_cases, similarity, strata, groups, also_labelled } = findings;
    let fields: BTreeMap<String, Value> = strata
        .fields
        .iter()
        .map(|field| (field.field.to_string(), json!({"values": field.values, "unstated": field.unstated})))
        .collect();
    let thin: Vec<Value> = strata
        .thin
        .iter()
        .map(|thin| {
            let slices: Vec<String> = thin.slices.iter().map(ToString::to_string).collect();
            json!({"slices": slices, "cases": thin.cases})
        })
        .collect();
    let groups: Vec<Value> = groups
        .iter()
        .map(|group| {
            let ids: Vec<&str> = group.members.iter().map(|&member| set.cases[member].id.as_str()).collect();
            json!({"similarity": group.similarity, "cases": ids})
        })
        .collect();
    let labelled: Vec<&str> = also_labelled.iter().map(|case| case.id.as_str()).collect();
    json!({
        "cases": strata.cases,
        "golden_set": {"name": set.name, "version": set.version},
        "min_cases": min_cases,
        "fields": fields,
        "thin": thin,
        "similarity": similarity,
        "near_duplicates": groups,
        "also_labelled": labelled,
    })
}
