//! insta's own configuration file, read for the switches that would accept a changed verdict unseen.

use std::path::Path;

use super::{
    diagnostic::Diagnostics,
    node::{Kind, Node},
    source::Source,
    yaml,
};

/// Where insta looks for its configuration, below the workspace root.
const PLACES: [&str; 3] = [".config/insta.yaml", "insta.yaml", ".insta.yaml"];

/// What below `behavior` may let a changed verdict pass; the rest is about what insta shows.
const SWITCHES: [&str; 3] = ["update", "force_pass", "force_update"];

/// Every setting of insta's configuration below `root` that lets a changed verdict pass, as `FILE: behavior.update: always`.
///
/// An error when a configuration exists and cannot be read: then it is not known what insta would do.
pub fn switches(root: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for place in PLACES {
        let path = root.join(place);
        if !path.try_exists().map_err(|error| format!("{place}: {error}"))? {
            continue;
        }
        for (setting, value) in behavior(place, &path)? {
            let harmless: &[&str] = if setting == "update" { &["no", "auto", "new"] } else { &["false"] };
            if !harmless.contains(&value.as_str()) {
                found.push(format!("{place} (behavior.{setting}: {value})"));
            }
        }
    }
    Ok(found)
}

/// The settings of [`SWITCHES`] that say something, as they are written.
fn behavior(place: &str, path: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let mut problems = Diagnostics::default();
    let source = Source::read(place, path).map_err(|problems| shown(&problems))?;
    let tree = yaml::read(&source, &mut problems);
    if !problems.is_empty() {
        return Err(shown(&problems));
    }
    let Some(tree) = tree else { return Ok(Vec::new()) };
    let Some(settings) = entry(place, &tree, "behavior")? else { return Ok(Vec::new()) };
    let mut said = Vec::new();
    for name in SWITCHES {
        let value = match entry(place, settings, name)?.map(|node| &node.kind) {
            None | Some(Kind::Null) => continue,
            Some(Kind::Bool(value)) => value.to_string(),
            Some(Kind::Number(text) | Kind::Text(text)) => text.to_string(),
            Some(Kind::List(_) | Kind::Map(_)) => return Err(format!("{place}: behavior.{name} is no plain value")),
        };
        said.push((name, value));
    }
    Ok(said)
}

/// The value of a key; nothing has none.
fn entry<'n, 's>(place: &str, node: &'n Node<'s>, key: &str) -> Result<Option<&'n Node<'s>>, String> {
    match &node.kind {
        Kind::Null => Ok(None),
        Kind::Map(entries) => Ok(entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)),
        Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) => {
            Err(format!("{place}: {} where settings are expected", node.noun()))
        }
    }
}

fn shown(problems: &Diagnostics) -> String {
    problems.iter().map(|problem| format!("{}: {}", problem.place(), problem.message())).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found(text: &str) -> Result<Vec<String>, String> {
        let root = tempfile::tempdir().expect("a temporary folder");
        fs::write(root.path().join("insta.yaml"), text).expect("written");
        switches(root.path())
    }

    #[test]
    fn settings_that_accept_unseen_are_found() {
        let update = Ok(vec!["insta.yaml (behavior.update: always)".to_owned()]);
        assert_eq!(found("behavior:\n  update: always\n"), update);
        let pass = Ok(vec!["insta.yaml (behavior.force_pass: true)".to_owned()]);
        assert_eq!(found("behavior: {force_pass: true}\ntest: {runner: nextest}\n"), pass);
        assert_eq!(found("behavior: {force_pass: \"true\", update: no}"), pass);
        let update = Ok(vec!["insta.yaml (behavior.force_update: True)".to_owned()]);
        assert_eq!(found("behavior: {force_update: !!str True, force_pass: false}"), update);
        for harmless in [
            "",
            "behavior: {update: new}",
            "behavior: {output: diff}",
            "behavior: {update: ~}",
            "behavior:",
            "test: {runner: auto}",
        ] {
            assert_eq!(found(harmless), Ok(Vec::new()), "{harmless}");
        }
    }

    #[test]
    fn an_unreadable_configuration_is_an_error() {
        for text in [
            "behavior: [",
            "behavior: [update]",
            "behavior: {update: [always]}",
            "always",
            "behavior: {update: no, update: always}",
        ] {
            let error = found(text).expect_err(text);
            assert!(error.starts_with("insta.yaml"), "{error}");
        }
    }
}
