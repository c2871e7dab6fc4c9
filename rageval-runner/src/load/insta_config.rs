//! insta's own configuration file, read for the switches that would accept a changed verdict unseen.

use std::{fs, io, path::Path};

use serde::Deserialize;

/// Where insta looks for its configuration, below the workspace root.
const PLACES: [&str; 3] = [".config/insta.yaml", "insta.yaml", ".insta.yaml"];

#[derive(Debug, Default, Deserialize)]
struct Config {
    #[serde(default)]
    behavior: Behavior,
}

#[derive(Debug, Default, Deserialize)]
struct Behavior {
    #[serde(default)]
    update: Option<String>,
    #[serde(default)]
    force_pass: Option<bool>,
    #[serde(default)]
    force_update: Option<bool>,
}

/// Every setting of insta's configuration below `root` that lets a changed verdict pass, as `FILE: behavior.update: always`.
///
/// An error when a configuration exists and cannot be read: then it is not known what insta would do.
pub fn switches(root: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for place in PLACES {
        let text = match fs::read_to_string(root.join(place)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("{place}: {error}")),
        };
        if text.trim().is_empty() {
            continue;
        }
        let config: Config = serde_yaml::from_str(&text).map_err(|error| format!("{place}: {error}"))?;
        let Behavior { update, force_pass, force_update } = config.behavior;
        match update.as_deref() {
            None | Some("no" | "auto" | "new") => {}
            Some(value) => found.push(format!("{place} (behavior.update: {value})")),
        }
        if force_pass == Some(true) {
            found.push(format!("{place} (behavior.force_pass: true)"));
        }
        if force_update == Some(true) {
            found.push(format!("{place} (behavior.force_update: true)"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
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
        for harmless in ["", "behavior: {update: new}", "behavior: {output: diff}", "test: {runner: auto}"] {
            assert_eq!(found(harmless), Ok(Vec::new()), "{harmless}");
        }
    }

    #[test]
    fn an_unreadable_configuration_is_an_error() {
        assert!(found("behavior: [").is_err());
    }
}
