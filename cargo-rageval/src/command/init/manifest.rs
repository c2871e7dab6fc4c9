//! Adds the gate to a `Cargo.toml`, and its profile to that of the workspace; all that stands there stays as it is written.

use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, value};

/// The name of the test, of its file and of its snapshots' folder.
pub(super) const TARGET: &str = "rag_regression";

/// The crate that the test is built on.
const RUNNER: &str = "rageval-runner";

/// What a gate that reads many cases should not run unoptimised: what parses and digests them. The rest would cost more in a first build
/// than it saves, most of all the runner itself and the engine of patterns.
const OPTIMISED: [&str; 6] = ["blake3", "granit-parser", "memchr", "serde_core", "serde_json", "unicode-normalization"];

/// All dependencies in `[profile.dev.package]`.
const ALL: &str = "*";

/// Where the runner comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Runner {
    /// The published crate of this command's version.
    Published,
    /// A folder: for work on rageval itself.
    Path(String),
}

/// A manifest with what was added to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edited {
    pub(super) text: String,
    /// Each addition, as a person would name it; empty when all was there.
    pub(super) added: Vec<&'static str>,
    /// What stands there in another way and was left so, with what to do.
    pub(super) by_hand: Vec<String>,
}

/// Adds the dependency on the runner and the `[[test]]`.
///
/// # Errors
/// The text is no TOML; or a table is something else.
pub(super) fn with_gate(text: &str, runner: &Runner, in_workspace: bool) -> Result<Edited, String> {
    edit(text, |document, edited| {
        let names = ["dependencies", "dev-dependencies"];
        let is_there =
            |name: &&str| document.get(name).and_then(Item::as_table_like).is_some_and(|t| t.contains_key(RUNNER));
        if names.iter().find(|name| is_there(name)).is_none() {
            let table = document.entry("dev-dependencies").or_insert_with(toml_edit::table);
            let table = table.as_table_like_mut().ok_or("`dev-dependencies` is no table")?;
            table.insert(RUNNER, dependency(runner, in_workspace));
            edited.added.push("the dev-dependency rageval-runner");
        }
        test(document, edited)
    })
}

/// Adds to `[profile.dev.package]` the crates that are not named there yet, and fewer symbols for all dependencies where nobody has said
/// how many.
///
/// # Errors
/// As for the gate.
pub(super) fn with_profile(text: &str) -> Result<Edited, String> {
    edit(text, |document, edited| {
        let mut table: &mut dyn TableLike = document.as_table_mut();
        let (mut is_new, mut says_symbols) = (false, false);
        for name in ["profile", "dev", "package"] {
            says_symbols = name == "package" && table.contains_key("debug");
            is_new = !table.contains_key(name);
            let implicit = || {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            };
            let item = table.entry(name).or_insert_with(implicit);
            table = item.as_table_like_mut().ok_or_else(|| format!("`{name}` of the profile is no table"))?;
        }
        let adds_symbols = !says_symbols && !table.contains_key(ALL);
        if adds_symbols {
            table.insert(ALL, value(InlineTable::from_iter([("debug", "line-tables-only")])));
        }
        let missing: Vec<_> = OPTIMISED.iter().filter(|name| !table.contains_key(name)).collect();
        for name in &missing {
            table.insert(name, value(InlineTable::from_iter([("opt-level", 3)])));
        }
        if !missing.is_empty() {
            edited.added.push("[profile.dev.package] for the crates that read cases");
        } else if adds_symbols {
            edited.added.push("[profile.dev.package] for a shorter build");
        }
        if is_new && let Some(table) = document["profile"]["dev"]["package"].as_table_mut() {
            let symbols = if adds_symbols {
                " Dependencies get what backtraces need, and\n# no more for debuggers: the first build is shorter for it.\n"
            } else {
                "\n"
            };
            table.decor_mut().set_prefix(format!(
                "\n# Large golden sets are then read fast in builds for development; it costs some seconds, once.{symbols}"
            ));
        }
        Ok(())
    })
}

/// Whether the workspace has the runner among the dependencies that members inherit.
pub(super) fn is_inherited(workspace: &str) -> bool {
    let Ok(document) = workspace.parse::<DocumentMut>() else { return false };
    let dependencies = document.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    dependencies.and_then(Item::as_table_like).is_some_and(|table| table.contains_key(RUNNER))
}

/// Reads, edits and writes the text, with the line ends it had.
fn edit(
    text: &str,
    change: impl FnOnce(&mut DocumentMut, &mut Edited) -> Result<(), String>,
) -> Result<Edited, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("{error}").trim_end().to_owned())?;
    let mut edited = Edited { text: text.to_owned(), added: Vec::new(), by_hand: Vec::new() };
    change(&mut document, &mut edited)?;
    if !edited.added.is_empty() {
        let new = document.to_string();
        let is_crlf = text.contains("\r\n");
        edited.text = if is_crlf { new.replace("\r\n", "\n").replace('\n', "\r\n") } else { new };
    }
    Ok(edited)
}

fn dependency(runner: &Runner, in_workspace: bool) -> Item {
    match runner {
        _ if in_workspace => value(InlineTable::from_iter([("workspace", true)])),
        Runner::Published => value(concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"))),
        Runner::Path(path) => value(InlineTable::from_iter([("path", path.as_str())])),
    }
}

/// The `[[test]]`, unless there is one of this name.
fn test(document: &mut DocumentMut, edited: &mut Edited) -> Result<(), String> {
    let item = document.entry("test").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let named = |table: &dyn TableLike| table.get("name").and_then(Item::as_str) == Some(TARGET);
    let has_no_harness = |table: &dyn TableLike| table.get("harness").and_then(Item::as_bool) == Some(false);
    let there = match &*item {
        Item::ArrayOfTables(tables) => tables.iter().find(|table| named(*table)).map(|table| has_no_harness(table)),
        Item::Value(list) => {
            let tables = list
                .as_array()
                .ok_or("`test` is no list of tables")?
                .iter()
                .filter_map(|value| value.as_inline_table());
            tables.into_iter().find(|table| named(*table)).map(|table| has_no_harness(table))
        }
        Item::None | Item::Table(_) => return Err("`test` is no list of tables".to_owned()),
    };
    match there {
        Some(true) => return Ok(()),
        Some(false) => {
            edited.by_hand.push(format!("write `harness = false` under the [[test]] {TARGET}"));
            return Ok(());
        }
        None => edited.added.push("the [[test]] rag_regression"),
    }
    match item {
        Item::ArrayOfTables(tables) => {
            let mut table = Table::new();
            table.insert("name", value(TARGET));
            table.insert("harness", value(false));
            let mut apart = value(false);
            if let Some(value) = apart.as_value_mut() {
                value
                    .decor_mut()
                    .set_suffix("   # `cargo test` leaves it out; `cargo test --test rag_regression` runs it");
            }
            table.insert("test", apart);
            tables.push(table);
        }
        Item::Value(list) => {
            let mut table = InlineTable::from_iter([("name", TARGET)]);
            table.insert("harness", false.into());
            table.insert("test", false.into());
            list.as_array_mut().ok_or("`test` is no list of tables")?.push(table);
        }
        Item::None | Item::Table(_) => return Err("`test` is no list of tables".to_owned()),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
