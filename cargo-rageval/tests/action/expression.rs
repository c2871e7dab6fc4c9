//! The expressions of `action.yml`, as far as it uses them: names, texts, `==`, `!=`, `&&`, `always()`.

use std::collections::BTreeMap;

/// The values of `inputs.x`, `github.x`, `steps.x.outputs.y`; a name that is not there is empty, as with GitHub.
pub(crate) type Values = BTreeMap<String, String>;

/// A text with each `${{ name }}` filled in.
pub(crate) fn fill(text: &str, values: &Values) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        let (expression, tail) = after.split_once("}}").expect("an expression ends");
        filled.push_str(before);
        filled.push_str(&value(expression.trim(), values));
        rest = tail;
    }
    filled + rest
}

/// Whether a step runs. Without `always()` it does only while no step before it failed.
pub(crate) fn holds(condition: &str, values: &Values, has_failed: bool) -> bool {
    let terms: Vec<&str> = condition.split("&&").map(str::trim).filter(|term| !term.is_empty()).collect();
    let is_always = terms.contains(&"always()");
    let term_holds = |term: &&str| {
        if *term == "always()" {
            return true;
        }
        let (left, is_equal, right) = match (term.split_once("=="), term.split_once("!=")) {
            (Some((left, right)), _) => (left, true, right),
            (None, Some((left, right))) => (left, false, right),
            (None, None) => panic!("a condition that this test does not know: {term}"),
        };
        (value(left.trim(), values) == value(right.trim(), values)) == is_equal
    };
    (is_always || !has_failed) && terms.iter().all(term_holds)
}

fn value(expression: &str, values: &Values) -> String {
    if let Some(text) = expression.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return text.to_owned();
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let known = ["inputs.", "github.", "steps."];
    let is_known = known.iter().any(|start| expression.starts_with(start)) && expression.chars().all(is_name);
    assert!(is_known, "an expression that this test does not know: {expression}");
    values.get(expression).cloned().unwrap_or_default()
}
