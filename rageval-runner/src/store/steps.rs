//! Writes files of evaluation steps: `g_eval/LABEL.yaml` beside the policy.

use std::{fmt::Write as _, path::Path};

use super::{StoreError, write_atomically};
use crate::model::{Language, MetricKey, run::JudgeStamp};

/// Evaluation steps as a judge wrote them, with all that they were made for.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenSteps<'a> {
    /// The metric that they are for.
    pub key: &'a MetricKey,
    /// Its criteria.
    pub criteria: &'a str,
    /// What it shows the judge.
    pub fields: &'a [&'a str],
    /// The judge that wrote them.
    pub judge: &'a JudgeStamp,
    /// The language that they were asked for in.
    pub language: Language,
    /// The steps.
    pub steps: &'a [String],
}

/// Writes the file whole or not at all, over one that is there.
///
/// # Errors
/// The operating system says no.
pub fn write(path: &Path, written: &WrittenSteps<'_>) -> Result<(), StoreError> {
    write_atomically(path, text(written).as_bytes())
}

fn text(written: &WrittenSteps<'_>) -> String {
    let WrittenSteps { key, criteria, fields, judge, language, steps } = written;
    let mut text = format!(
        "# Evaluation steps of {key}, written by a judge. Review them, correct what is wrong, and commit the file.\n\
         version: 1\ncriteria: {}\nfields: [{}]\n",
        quoted(criteria),
        fields.join(", "),
    );
    let (provider, model) = (quoted(&judge.provider), quoted(&judge.model));
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "judge: {{provider: {provider}, model: {model}, fingerprint: {}}}\nlanguage: {}\nsteps:\n",
        quoted(&judge.fingerprint),
        language.as_str(),
    );
    for step in *steps {
        let _ = writeln!(text, "  - {}", quoted(step));
    }
    text
}

/// A text between double quotes as YAML reads it: as in JSON, and all control characters by their number.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    let escaped = |c: char| if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    json.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_laid_out_for_review() {
        let judge = JudgeStamp { provider: "openai".into(), model: "m-1".into(), fingerprint: "f".into() };
        let key = MetricKey::parse("g_eval/tone").expect("a key");
        let steps = ["Look: is it \"kind\"?".to_owned(), "退款\u{7f}".to_owned()];
        let written = WrittenSteps {
            key: &key,
            criteria: "Is it kind?\n",
            fields: &["query", "answer"],
            judge: &judge,
            language: Language::En,
            steps: &steps,
        };
        let expected = "# Evaluation steps of g_eval/tone, written by a judge. Review them, correct what is wrong, and commit the file.
version: 1
criteria: \"Is it kind?\\n\"
fields: [query, answer]
judge: {provider: \"openai\", model: \"m-1\", fingerprint: \"f\"}
language: en
steps:
  - \"Look: is it \\\"kind\\\"?\"
  - \"退款\\u007f\"
";
        assert_eq!(text(&written), expected);
    }
}
