//! Requests and replies for people.

use rageval_runner::model::{JudgeRequest, Reply, Request, Shown};

use super::{
    super::{
        account::Came,
        asked::{Asked, OfStore, Prompted},
        nearest::Nearest,
    },
    Page,
};

/// Keys that are printed for one request without `--full`.
const MOST_KEYS: usize = 3;

/// Every request of the metric.
pub(super) fn requests(page: &mut Page, requests: &[Asked], came: &Came) {
    page.gap();
    match came {
        _ if !requests.is_empty() => {}
        Came::Answer(_) => page.text("requests", "none: it was settled without asking a model"),
        Came::Failed { .. } => page.text("requests", "none: without an answer nothing is asked"),
    }
    for (asked, n) in requests.iter().zip(1..) {
        page.gap();
        of_one(page, asked, n, requests.len());
    }
}

fn of_one(page: &mut Page, asked: &Asked, n: usize, all: usize) {
    let repeat = asked.repeat.map(|repeat| format!(", repeat {repeat}")).unwrap_or_default();
    page.text("request", &format!("{n} of {all}: {}{}{repeat}", asked.name, of_request(&asked.request)));
    for (line, n) in asked.why.iter().zip(0..) {
        page.text(if n == 0 { "came from" } else { "" }, line);
    }
    let most = if page.full { usize::MAX } else { MOST_KEYS };
    for stored in asked.stored.iter().take(most) {
        of_store(page, stored);
    }
    if asked.stored.len() > most {
        page.text("key", &format!("and {} more; all with --full", asked.stored.len() - most));
    }
    if let Some(nearest) = &asked.nearest {
        of_nearest(page, nearest);
    }
    match &asked.prompt {
        Prompted::Messages { system, user, schema } => {
            page.block("system", system);
            page.block("user", user);
            if page.full {
                page.block("schema", schema);
            }
        }
        Prompted::None { why } => {
            page.text("prompt", why);
            fields(page, &asked.request);
        }
    }
    match &asked.reply {
        Reply::Value { value } => page.block("reply", &serde_json::to_string_pretty(value).unwrap_or_default()),
        Reply::Failed { ending, why } => page.text("no reply", &format!("{}: {why}", ending.cause())),
    }
}

fn of_request(request: &Request) -> String {
    match request {
        Request::Judge(JudgeRequest { language, sample, retry, .. }) => {
            let sample = if *sample > 0 { format!(", sample {sample}") } else { String::new() };
            let retry = if *retry > 0 { ", asked again since the first reply did not fit" } else { "" };
            format!(", in {}{sample}{retry}", language.as_str())
        }
        Request::Embed(request) => format!(", {} texts", request.texts().len()),
    }
}

fn of_store(page: &mut Page, stored: &OfStore) {
    page.whole("key", &stored.key);
    page.whole("  of", &format!("{} at {}", stored.model, stored.judge));
    match (&stored.stored, &stored.fault) {
        (Some((day, case)), _) => {
            page.whole("  file", &stored.file);
            page.text("  stored", &format!("{day}, asked first for {case}"));
        }
        (None, Some(fault)) => page.text("  stored", &format!("yes, and cannot be used: {fault}")),
        (None, None) => {}
    }
}

fn of_nearest(page: &mut Page, nearest: &Nearest) {
    let stored = if nearest.is_stored { "its reply is stored" } else { "its reply is not stored either" };
    page.whole("nearest", &format!("the request of {}; {stored}", nearest.run));
    for (line, n) in nearest.differs.iter().zip(0..) {
        page.text(if n == 0 { "  differs" } else { "" }, line);
    }
}

/// The fields of a request to a judge that gets no prompt.
fn fields(page: &mut Page, request: &Request) {
    match request {
        Request::Judge(request) => {
            for field in &request.fields {
                match &field.shown {
                    Shown::Text(text) => page.text(&field.name, text),
                    Shown::Numbered(texts) => {
                        for (text, n) in texts.iter().zip(1..) {
                            page.text(
                                &if n == 1 { field.name.clone() } else { String::new() },
                                &format!("{n}: {text}"),
                            );
                        }
                    }
                }
            }
        }
        Request::Embed(request) => {
            for text in request.texts() {
                page.text("text", &text);
            }
        }
    }
}
