//! Follows a page from top to bottom: writes its files, runs its commands, reads what it shows.

use std::{collections::BTreeMap, fs};

use snapbox::{Assert, Data, assert::Action};

use super::{
    block::Block,
    files,
    page::Page,
    root,
    sandbox::{Sandbox, in_force},
};

/// Follows it.
pub(crate) fn page(page: &Page) -> Result<(), String> {
    let mut sandboxes: BTreeMap<Option<&str>, Sandbox> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut changed: Vec<(&Block, String)> = Vec::new();
    for block in page.blocks.iter().filter(|block| block.ignored().is_none()) {
        let runs = matches!(block.language.as_str(), "console" | "sh");
        let project = block.value("in");
        let acts = runs || block.value("file").or(block.value("append")).is_some();
        let done = if acts {
            // Windows has no `sh`; there the pages are read, and their commands are not run.
            if cfg!(not(unix)) {
                continue;
            }
            let sandbox = sandboxes.entry(project).or_insert_with(|| Sandbox::new(&page.path, project));
            if runs {
                run(sandbox, block).map(|printed| changed.extend(printed.map(|text| (block, text))))
            } else {
                put(sandbox, block)
            }
        } else {
            files::read(block)
        };
        if let Err(why) = done {
            faults.push(format!("{}:{}: {why}", page.path, block.line));
            if acts {
                break; // What follows builds on it.
            }
        }
    }
    if overwrites() && !changed.is_empty() {
        overwrite(page, &changed);
        faults.push(format!("{} blocks of {} were rewritten: read them", changed.len(), page.path));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n\n")) }
}

fn put(sandbox: &mut Sandbox, block: &Block) -> Result<(), String> {
    if let Some(file) = block.value("append") {
        return sandbox.append(file, &block.body);
    }
    let file = block.value("file").expect("one of the two");
    sandbox.write(file, &block.body);
    if file == "thresholds.yaml" { files::policy(&sandbox.path(file)) } else { Ok(()) }
}

/// A command of a block, and what the page says that it prints.
struct Step {
    command: String,
    expected: String,
}

/// `$ command` and what it prints; in `sh` each line is a command, and what it prints is not shown.
fn steps(block: &Block) -> Result<Vec<Step>, String> {
    let shows = block.language == "console";
    let mut steps: Vec<Step> = Vec::new();
    let mut goes_on = false;
    for line in block.body.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (_, Some(step)) if goes_on => step.command += &["\n", line].concat(),
            (Some(command), _) if shows => steps.push(Step { command: command.to_owned(), expected: String::new() }),
            (None, Some(step)) if shows => step.expected += &[line, "\n"].concat(),
            (None, None) if shows => return Err(format!("a console block begins with `$ `, not with {line:?}")),
            _ if line.trim().is_empty() || line.starts_with('#') => continue,
            _ => steps.push(Step { command: line.to_owned(), expected: String::new() }),
        }
        goes_on = steps.last().is_some_and(|step| step.command.ends_with('\\'));
    }
    if steps.is_empty() { Err("no command".to_owned()) } else { Ok(steps) }
}

/// Runs a block. Returns what it should say where it says something else and may be rewritten.
fn run(sandbox: &mut Sandbox, block: &Block) -> Result<Option<String>, String> {
    let steps = steps(block)?;
    let last = block.value("exit").map_or(Ok(0), str::parse).map_err(|_| "`exit` takes a number")?;
    let mut said = String::new();
    let mut differs = false;
    for (i, step) in steps.iter().enumerate() {
        let told = |why: String| format!("$ {}\n{why}", step.command);
        let ended = sandbox.run(&step.command).map_err(told)?;
        let code = if i + 1 == steps.len() { last } else { 0 };
        if ended.code != Some(code) {
            return Err(told(format!("ended with {:?}, not with {code}:\n{}", ended.code, ended.printed)));
        }
        let printed = sandbox.shown(&ended.printed);
        let compared = if block.language == "sh" { Ok(()) } else { difference(&printed, &in_force(&step.expected)) };
        let shown = if compared.is_ok() { &step.expected } else { &printed };
        said += &["$ ", &step.command, "\n", shown].concat();
        said.truncate(said.trim_end_matches('\n').len());
        said.push('\n');
        if let Err(why) = compared {
            differs = true;
            if !overwrites() {
                return Err(told(why));
            }
        }
    }
    Ok(differs.then_some(said))
}

/// Whether pages are to be rewritten by what was printed.
fn overwrites() -> bool {
    std::env::var_os("RAGEVAL_BOOK").is_some_and(|word| word == "overwrite")
}

/// How a text differs from what is expected, where `[..]` stands for anything within a line, and a line `...` for any lines.
fn difference(printed: &str, expected: &str) -> Result<(), String> {
    let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned() + "\n").collect::<String>();
    // A page need not end as the output ends, nor show blank lines at its ends.
    let (printed, expected) = (lines(printed.trim_matches('\n')), lines(expected.trim_matches('\n')));
    let compared =
        Assert::new().action(Action::Verify).try_eq(Some(&"the output"), Data::text(printed), Data::text(expected));
    compared.map_err(|e| e.to_string())
}

/// Puts texts in place of blocks.
fn overwrite(page: &Page, changed: &[(&Block, String)]) {
    let mut text = page.text.clone();
    for (block, said) in changed.iter().rev() {
        text.replace_range(block.place.clone(), said);
    }
    fs::write(root().join(&page.path), text).expect("the page is written");
}
