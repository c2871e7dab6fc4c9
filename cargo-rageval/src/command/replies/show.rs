//! `replies show`: what was asked for one case, and what stands in the store for it.

use std::{io::Write, path::PathBuf};

use clap::Args;
use rageval_runner::{
    embed::stored::from_value,
    judge::key::ReplyKey,
    model::{EmbedRequest, Exchange, JudgeRequest, Reply, Request, Shown, run::Manifest},
    report::console::text::visible,
    store::replies::ReplyStore,
};
use serde_json::{Value, json};

use super::{Stored, count, latest};
use crate::{
    command::format::{Format, print_json},
    context::Context,
    exit::{Ending, Failure},
};

/// Show the stored replies for one case
///
/// What was asked stands in the run; the replies are looked up in the store, by the judge and the embedder of thresholds.yaml as they are
/// now.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval replies show refund-window
  cargo rageval replies show refund-window --run downloads/run.json")]
pub(crate) struct Show {
    /// The case's id
    case: String,
    /// A run folder, its `run.json`, or a `latest` file beside run folders [default: the latest run]
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Prints each request of the case with its reply.
pub(super) fn run(show: &Show, context: &Context) -> Result<Ending, Failure> {
    let stored = Stored::of_policy(context)?;
    let from = show.run.clone().unwrap_or_else(|| latest(context));
    let run = stored.run(&from)?;
    let Some(record) = run.records.iter().find(|record| record.case.as_str() == show.case) else {
        return Err(Failure::Input(format!(
            "{}: it holds no case {}",
            from.display(),
            no_case(&run.manifest, &show.case)
        )));
    };
    if show.format == Format::Json {
        let asked = record.exchanges().map(|exchange| as_json(&stored, exchange));
        let asked: Vec<Option<Value>> = asked.collect::<Result<_, _>>()?;
        print_json(&Value::Array(asked.into_iter().flatten().collect()))?;
        return Ok(Ending::Pass);
    }
    let mut text = String::new();
    for exchange in record.exchanges() {
        let keys = stored.keys(exchange)?;
        if keys.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        match &exchange.request {
            Request::Judge(request) => text.push_str(&of_judge(&stored, request, &keys)?),
            Request::Embed(request) => text.push_str(&of_embedder(&stored, request, &keys)),
        }
        // What the run has of a reply that is not stored is an ending, or a value that was forgotten since.
        if let Reply::Failed { ending, why } = &exchange.reply {
            text.push_str(&line("in the run", &format!("{}: {why}", ending.cause())));
        }
    }
    if text.is_empty() {
        text = format!("nothing was asked of the judge for `{}`\n", visible(&show.case));
    }
    let mut out = crate::out::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Ending::Pass)
}

/// One request for programs, with what is stored for it; `None` for one that nothing is ever stored for. Vectors are told by their lengths.
fn as_json(stored: &Stored, exchange: &Exchange) -> Result<Option<Value>, Failure> {
    let keys = stored.keys(exchange)?;
    if keys.is_empty() {
        return Ok(None);
    }
    let store = match &exchange.request {
        Request::Judge(_) => &stored.reply_store,
        Request::Embed(_) => &stored.vector_store,
    };
    let entry = |key: &ReplyKey| {
        let mut told = json!({"file": store.path(key).display().to_string()});
        match store.get(key) {
            Ok(Some(entry)) => {
                told["stored"] = json!(entry.stored);
                told["asked_first_for"] = json!(entry.case);
                match &exchange.request {
                    Request::Judge(_) => told["value"] = entry.value,
                    Request::Embed(_) => {
                        told["numbers"] = json!(from_value(&entry.value).ok().map(|vector| vector.len()));
                    }
                }
            }
            Ok(None) => told["stored"] = Value::Null,
            Err(error) => told["error"] = json!(error.to_string()),
        }
        told
    };
    Ok(Some(json!({"request": exchange.request, "replies": keys.iter().map(entry).collect::<Vec<_>>()})))
}

/// The case that a run does not hold: of a partial run another one may, so that it is told how to name it.
fn no_case(manifest: &Manifest, case: &str) -> String {
    let missing = manifest.missing.len();
    let partial = match &manifest.partial {
        Some(why) => Some(why.clone()),
        None => (missing > 0).then(|| count(missing, "case has no record", "cases have no record")),
    };
    match partial {
        Some(why) => format!(
            "`{}`, and the run is partial ({why}); name another with --run RUN, or run the whole set again",
            visible(case)
        ),
        None => format!("`{}`", visible(case)),
    }
}

fn of_judge(stored: &Stored, request: &JudgeRequest, keys: &[ReplyKey]) -> Result<String, Failure> {
    let mut text = line("request", &named(request));
    for field in &request.fields {
        match &field.shown {
            Shown::Text(shown) => text.push_str(&line(&field.name, shown)),
            Shown::Numbered(texts) => {
                for (shown, n) in texts.iter().zip(1..) {
                    let label = if n == 1 { field.name.as_str() } else { "" };
                    text.push_str(&line(label, &format!("{n}: {shown}")));
                }
            }
        }
    }
    for key in keys {
        if let Some(value) = entry(&mut text, &stored.reply_store, key) {
            let value = serde_json::to_string_pretty(&value).map_err(|error| Failure::Input(error.to_string()))?;
            value.lines().enumerate().for_each(|(at, part)| {
                text.push_str(&line(if at == 0 { "reply" } else { "" }, part));
            });
        }
    }
    Ok(text)
}

/// Each text with its vector, of which nobody wants to see the numbers.
fn of_embedder(stored: &Stored, request: &EmbedRequest, keys: &[ReplyKey]) -> String {
    let mut text = line("request", EmbedRequest::NAME);
    for (shown, key) in request.texts().iter().zip(keys) {
        text.push_str(&line("text", shown));
        if let Some(value) = entry(&mut text, &stored.vector_store, key) {
            let vector = match from_value(&value) {
                Ok(vector) => format!("{} numbers", vector.len()),
                Err(why) => format!("cannot be used: {why}"),
            };
            text.push_str(&line("vector", &vector));
        }
    }
    text
}

/// Says where a reply is and since when; returns it where there is one.
fn entry(text: &mut String, store: &ReplyStore, key: &ReplyKey) -> Option<Value> {
    text.push_str(&line("file", &store.path(key).display().to_string()));
    match store.get(key) {
        Ok(Some(entry)) => {
            text.push_str(&line("stored", &format!("{}, asked first for {}", entry.stored, entry.case)));
            return Some(entry.value);
        }
        Ok(None) => text.push_str(&line("stored", "no")),
        Err(error) => text.push_str(&line("stored", &format!("yes, and cannot be used: {error}"))),
    }
    None
}

fn named(request: &JudgeRequest) -> String {
    let reading = if request.sample > 0 { format!(", reading {}", request.sample + 1) } else { String::new() };
    let again = if request.retry > 0 { ", asked again" } else { "" };
    format!("{}, in {}{reading}{again}", request.name, request.language.as_str())
}

/// One line, whatever stands in the text: control characters are shown, not sent to the terminal.
fn line(label: &str, text: &str) -> String {
    let indent = text.len() - text.trim_start_matches(' ').len();
    format!("{label:<12}{}{}\n", " ".repeat(indent), visible(text.trim_start_matches(' ')))
}
