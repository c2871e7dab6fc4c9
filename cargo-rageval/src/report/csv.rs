//! The scores as a table for spreadsheets and notebooks: one row a case and metric, as RFC 4180 says.
//!
//! Numbers stay numbers. A text that a spreadsheet would take for a formula starts with an apostrophe.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use csv::{Terminator, WriterBuilder};
use rageval_runner::{
    model::{MetricKey, Outcome, UnitInterval},
    report::console::text::visible,
};

use super::{Input, view::CaseView, why};

/// Writes it.
pub(crate) fn render(input: &Input<'_>, out: &mut dyn Write) -> io::Result<()> {
    let view = &input.view;
    let fields: BTreeSet<&str> =
        view.run.cases.iter().flat_map(|case| case.fields.keys()).map(String::as_str).collect();
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
    let head = ["case", "file", "line"].into_iter().chain(fields.iter().copied());
    let head = head.chain(["metric", "outcome", "score", "baseline", "change", "state"]);
    writer.write_record(head.map(text))?;
    for case in &view.cases {
        let mut keys: BTreeSet<&MetricKey> = view.run.background.metrics.iter().map(|metric| &metric.metric).collect();
        keys.extend(case.golden.iter().flat_map(|golden| golden.bars.keys()));
        keys.extend(case.record.iter().flat_map(|record| record.outcomes.keys()));
        for key in keys {
            writer.write_record(row(case, key, &fields))?;
        }
    }
    writer.flush()
}

fn row(case: &CaseView<'_>, key: &MetricKey, fields: &BTreeSet<&str>) -> Vec<String> {
    let mut row = vec![text(case.id.as_str())];
    let place = case.golden.map(|golden| &golden.place);
    row.push(place.map(|place| text(&place.file)).unwrap_or_default());
    row.push(place.map(|place| place.line.to_string()).unwrap_or_default());
    let values =
        |field: &&str| case.golden.and_then(|golden| golden.fields.get(*field)).map(|values| values.join("; "));
    row.extend(fields.iter().map(|field| values(field).map(|values| text(&values)).unwrap_or_default()));
    row.push(text(&key.to_string()));
    let outcome = case.record.map(|record| record.settled(key));
    row.push(
        match outcome {
            None => "not_run",
            Some(Some(Outcome::Scored { .. })) => "scored",
            Some(Some(Outcome::NotApplicable { .. })) => "not_applicable",
            Some(Some(Outcome::Unmeasured { .. }) | None) => "unmeasured",
        }
        .to_owned(),
    );
    let score = outcome.flatten().and_then(Outcome::score).map(UnitInterval::get);
    let baseline = why::baseline(case, key);
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    row.extend([score, baseline, score.zip(baseline).map(|(now, before)| now - before)].map(number));
    row.push(case.state().to_owned());
    row
}

/// A cell of text: on one line, no formula, and no workflow command.
fn text(text: &str) -> String {
    let text = visible(text);
    // Some spreadsheets take the wide forms of Chinese and Japanese for the same.
    let is_formula = text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    // Printed into a log of GitHub's, a line that starts so would be a command.
    let is_command = text.trim_start().starts_with("::") || text.trim_start().starts_with("##[");
    if is_formula || is_command { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_would_be_a_formula_starts_with_an_apostrophe() {
        for (given, cell) in [
            ("=1+1", "'=1+1"),
            ("\t=1", "'=1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("＝1", "'＝1"),
            ("a\r\n=b", "a =b"),
            ("refunds", "refunds"),
        ] {
            assert_eq!(text(given), cell);
        }
    }
}
