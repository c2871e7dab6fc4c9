//! Manifests before and after.

use super::*;

const PUBLISHED: &str = "0.1";

fn gate(text: &str) -> Edited {
    with_gate(text, &Runner::Published, false).expect("a manifest")
}

#[track_caller]
fn keeps_lines(before: &str, after: &str) {
    let mut after = after.lines();
    for line in before.lines() {
        assert!(after.any(|other| other == line), "{line:?} is gone, or stands elsewhere");
    }
}

#[test]
fn a_plain_manifest_gets_both_at_its_end() {
    let before = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n";
    let after = gate(before);
    assert_eq!(
        after.text,
        format!(
            "{before}\n[dev-dependencies]\nrageval-runner = \"{PUBLISHED}\"\n\n[[test]]\nname = \"rag_regression\"\nharness = false\n\
             test = false   # `cargo test` leaves it out; `cargo test --test rag_regression` runs it\n"
        )
    );
    assert_eq!(after.added, ["the dev-dependency rageval-runner", "the [[test]] rag_regression"]);
}

#[test]
fn comments_order_and_blanks_stay() {
    let before = "# Top.\n[package] # the package\nname    =   'a'\n\n[dev-dependencies]\n# For tests.\ntempfile = \"3\"  # temporary\n\n\
                  [[test]]\nname = \"other\" # theirs\n\n# The end of the features.\n[features]\n# None.\ndefault = []\n# Last words.\n";
    let after = gate(before);
    keeps_lines(before, &after.text);
    assert!(after.text.contains("tempfile = \"3\"  # temporary\nrageval-runner = \"0.1\"\n"), "{}", after.text);
    let again = gate(&after.text);
    assert_eq!((again.text.as_str(), again.added.is_empty()), (after.text.as_str(), true));
}

#[test]
fn tables_in_other_spellings_are_understood() {
    for before in [
        "[package]\nname = \"a\"\n[dev-dependencies.tempfile]\nversion = \"3\"\n",
        "test = [{name = \"other\"}]\n[package]\nname = \"a\"\n",
        "dev-dependencies.tempfile = \"3\"\n[package]\nname = \"a\"\n",
        "[package]\nname = \"a\"\n[target.'cfg(unix)'.dev-dependencies]\nx = \"1\"\n",
    ] {
        let after = gate(before);
        let document: DocumentMut = after.text.parse().unwrap_or_else(|error| panic!("{error}\n{}", after.text));
        assert_eq!(document["dev-dependencies"]["rageval-runner"].as_str(), Some(PUBLISHED), "{}", after.text);
        assert!(after.text.contains("rag_regression"), "{}", after.text);
        assert_eq!(gate(&after.text).added, [] as [&str; 0], "{}", after.text);
    }
}

#[test]
fn what_is_there_already_is_not_added_again() {
    let before =
        "[package]\nname = \"a\"\n[dependencies]\nrageval-runner = \"0.1\"\n[[test]]\nname = \"rag_regression\"\n";
    let after = gate(before);
    assert_eq!(after.text, before);
    assert_eq!(after.by_hand, ["write `harness = false` under the [[test]] rag_regression"]);
}

#[test]
fn a_member_inherits_and_a_path_is_written_as_one() {
    let workspace = "[workspace]\nmembers = [\"a\"]\n[workspace.dependencies]\nrageval-runner = \"0.1\"\n";
    assert!(is_inherited(workspace) && !is_inherited("[workspace]\n") && !is_inherited("no TOML"));
    let text = with_gate("[package]\n", &Runner::Published, true).expect("a manifest").text;
    assert!(text.contains("rageval-runner = { workspace = true }\n"), "{text}");
    let text = with_gate("[package]\n", &Runner::Path("/a b/c".to_owned()), false).expect("a manifest").text;
    assert!(text.contains("rageval-runner = { path = \"/a b/c\" }\n"), "{text}");
}

#[test]
fn a_profile_gets_what_it_lacks() {
    let before = "[workspace]\n\n[profile.dev]\ndebug = 1 # less\n\n[profile.dev.package]\nserde_json = { opt-level = 2 } # mine\n\n[profile.release]\nlto = true\n";
    let after = with_profile(before).expect("a manifest");
    keeps_lines(before, &after.text);
    assert!(after.text.contains("granit-parser = { opt-level = 3 }\n"), "{}", after.text);
    assert!(!after.text.contains("\"*\""), "how many symbols there are is said already: {}", after.text);
    assert_eq!(after.text.matches("serde_json").count(), 1);
    assert_eq!(with_profile(&after.text).expect("a manifest").text, after.text);
    for before in
        ["[workspace]\n", "[profile.dev.package.serde_json]\nopt-level = 2\n", "[profile.release]\nlto = true\n", ""]
    {
        let after = with_profile(before).expect("a manifest").text;
        let document: DocumentMut = after.parse().unwrap_or_else(|error| panic!("{error}\n{after}"));
        assert_eq!(document["profile"]["dev"]["package"]["memchr"]["opt-level"].as_integer(), Some(3), "{after}");
        assert_eq!(document["profile"]["dev"]["package"]["*"]["debug"].as_str(), Some("line-tables-only"), "{after}");
        assert_eq!(with_profile(&after).expect("a manifest").added, [] as [&str; 0], "{after}");
    }
}

#[test]
fn a_new_profile_says_what_it_is_for() {
    assert_eq!(
        with_profile("[workspace]\n").expect("a manifest").text,
        "[workspace]\n\n\
         # Large golden sets are then read fast in builds for development; it costs some seconds, once. Dependencies get what backtraces need, and\n\
         # no more for debuggers: the first build is shorter for it.\n\
         [profile.dev.package]\n\"*\" = { debug = \"line-tables-only\" }\nblake3 = { opt-level = 3 }\ngranit-parser = { opt-level = 3 }\n\
         memchr = { opt-level = 3 }\nserde_core = { opt-level = 3 }\nserde_json = { opt-level = 3 }\nunicode-normalization = { opt-level = 3 }\n"
    );
    let theirs = with_profile("[profile.dev]\ndebug = false\n").expect("a manifest").text;
    assert!(theirs.contains("once.\n[profile.dev.package]\nblake3 ="), "{theirs}");
    let theirs = "[profile.dev.package]\n\"*\" = { opt-level = 1 }\n";
    assert!(with_profile(theirs).expect("a manifest").text.starts_with(theirs));
}

#[test]
fn line_ends_stay_as_they_were() {
    let after = gate("[package]\r\nname = \"a\"\r\n").text;
    assert!(after.contains("rageval-runner = \"0.1\"\r\n") && !after.replace("\r\n", "").contains('\n'), "{after:?}");
}

#[test]
fn what_is_no_manifest_is_told_with_its_line() {
    let error = with_gate("[package\n", &Runner::Published, false).expect_err("refused");
    assert!(error.contains("line 1"), "{error}");
    assert_eq!(
        with_gate("dev-dependencies = 3\n", &Runner::Published, false).expect_err("refused"),
        "`dev-dependencies` is no table"
    );
    assert_eq!(with_gate("[test]\n", &Runner::Published, false).expect_err("refused"), "`test` is no list of tables");
}
