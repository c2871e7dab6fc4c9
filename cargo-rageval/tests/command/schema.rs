//! `cargo rageval schema`.

use super::{folder, passes, refuses};

#[test]
fn the_schema_of_a_run_is_json_and_names_its_parts() {
    let text = passes(folder().path(), &["schema", "run"]);
    let schema: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(schema["$schema"].as_str().is_some_and(|uri| uri.starts_with("https://json-schema.org/")), "{text}");
    for part in ["format", "version", "manifest", "records", "decisions"] {
        assert!(schema["properties"][part].is_object(), "{part}");
    }
}

#[test]
fn an_unknown_file_is_wrong_usage_and_the_known_ones_are_named() {
    let text = refuses(folder().path(), &["schema", "runs"]);
    assert!(text.contains("invalid value 'runs'") && text.contains("run"), "{text}");
}
