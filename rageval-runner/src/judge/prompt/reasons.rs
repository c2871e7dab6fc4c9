//! The key `reason` beside each verdict, for policies that ask for reasons.
//!
//! It stands before the verdict: what a model has written down, it takes into account.

/// The keys that hold what was decided.
const DECISIONS: [&str; 2] = ["\"verdict\"", "\"level\""];

/// Whether a reply of this schema has anything to give a reason for.
pub(super) fn fit(schema: &str) -> bool {
    DECISIONS.iter().any(|key| schema.contains(key))
}

/// A schema with a `reason` in each object that holds a decision: text or null, and required like every key.
pub(super) fn in_schema(schema: &str) -> String {
    before_decisions(schema, |rest| {
        // Among the properties a key is followed by its schema, in `required` it stands alone.
        if rest.starts_with(':') { r#""reason": { "type": ["string", "null"] }, "# } else { r#""reason", "# }
    })
}

/// Instructions whose examples of a reply, the lines that are JSON, have a `reason` before each decision.
pub(super) fn in_examples(system: &str) -> String {
    let line = |line: &str| {
        let is_example = line.starts_with("{\"") && !line.contains("\"reason\"");
        if is_example { before_decisions(line, |_| r#""reason": "...", "#) } else { line.to_owned() }
    };
    system.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Puts something before each decision, by what follows its key.
fn before_decisions(text: &str, put: impl Fn(&str) -> &'static str) -> String {
    let mut found = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some((at, key)) = DECISIONS.iter().filter_map(|key| Some((rest.find(key)?, key))).min() {
        let (before, from) = rest.split_at(at);
        let (key, after) = from.split_at(key.len());
        found.push_str(before);
        found.push_str(put(after));
        found.push_str(key);
        rest = after;
    }
    found.push_str(rest);
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::judge::prompt::catalog::TEMPLATES;

    /// Takes the reasons out of a schema again, and counts them.
    fn without(schema: &mut Value) -> usize {
        let mut count = 0;
        if let Value::Object(object) = schema {
            if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut)
                && let Some(reason) = properties.remove("reason")
            {
                assert_eq!(reason, json!({"type": ["string", "null"]}));
                assert!(properties.contains_key("verdict") || properties.contains_key("level"), "{properties:?}");
                let required = object["required"].as_array_mut().expect("a list");
                required.retain(|name| name != "reason");
                count += 1;
            }
            count += object.values_mut().map(without).sum::<usize>();
        }
        if let Value::Array(items) = schema {
            count += items.iter_mut().map(without).sum::<usize>();
        }
        count
    }

    #[test]
    fn every_object_with_a_decision_gets_a_reason_and_nothing_else_changes() {
        let mut unfit = Vec::new();
        for template in TEMPLATES {
            if !fit(template.schema) {
                unfit.push(template.name);
            }
            let mut schema: Value = serde_json::from_str(&in_schema(template.schema)).expect("JSON");
            let decisions: usize =
                DECISIONS.iter().map(|key| template.schema.matches(&format!("{key}:")).count()).sum();
            assert_eq!(without(&mut schema), decisions, "{}", template.name);
            assert_eq!(schema, serde_json::from_str::<Value>(template.schema).expect("JSON"), "{}", template.name);
        }
        let expected = [
            "answer_relevancy.questions",
            "faithfulness.claims",
            "g_eval.score",
            "g_eval.steps",
            "pairwise.preference",
            "refusal_correctness.verdict",
            "self_critique.grades",
        ];
        assert_eq!(unfit, expected);
    }

    #[test]
    fn an_example_shows_reasons_and_the_text_around_it_stays() {
        let text = "Say \"verdict\": yes.\n{{ rules }}\n\n{\"s\": [{\"n\": 1, \"verdict\": \"a\"}, {\"n\": 2, \"verdict\": \"b\"}]}";
        let expected = "Say \"verdict\": yes.\n{{ rules }}\n\n{\"s\": [{\"n\": 1, \"reason\": \"...\", \"verdict\": \"a\"}, \
                        {\"n\": 2, \"reason\": \"...\", \"verdict\": \"b\"}]}";
        assert_eq!(in_examples(text), expected);
        assert_eq!(in_examples(expected), expected);
    }
}
