//! Reads the prompts that a policy puts in the place of the built-in ones.

use std::path::Path;

use crate::{
    judge::prompt::{self, LANGUAGES, Prompts},
    model::Language,
};

use super::{
    connect::path,
    diagnostic::{Diagnostic, Diagnostics, quoted},
    files::sorted,
    read::{Fields, Reader},
    source::{Source, reason},
};

/// Most files of one folder that are read: one for each prompt and language, and as many that are mistakes.
const MAX_FILES: usize = 200;

/// The prompts of a judge: `reasons` and the folder `prompts`, where they stand.
pub(super) fn read(reader: &mut Reader<'_>, fields: &Fields<'_, '_>, root: &Path) -> Prompts {
    let reasons = fields.get("reasons").and_then(|node| reader.flag(node, "\"reasons\""));
    let mut prompts = Prompts::new(reasons.unwrap_or_default());
    let Some(node) = fields.get("prompts") else { return prompts };
    let Some(folder) = path(reader, node, "\"prompts\"", root) else { return prompts };
    let shown = folder.strip_prefix(root).unwrap_or(&folder).to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let files = match sorted(&folder) {
        Ok(files) => files,
        Err(error) => {
            let message = format!("the prompts cannot be read from {}: {}", quoted(&shown), reason(&error));
            reader.report(&node.span, message);
            return prompts;
        }
    };
    let names = files.iter().filter_map(|file| Some((file.file_name()?.to_string_lossy().into_owned(), file)));
    let files: Vec<_> = names.filter(|(name, _)| !name.starts_with(['_', '.'])).collect();
    if files.is_empty() {
        let problem = reader.problem(&node.span, format!("the folder {} holds no prompts", quoted(&shown)));
        reader.problems.push(problem.help("a prompt is a file such as `faithfulness.verdicts.en.md`"));
    }
    if files.len() > MAX_FILES {
        let message = format!("the folder {} holds more than {MAX_FILES} files; is it the right one?", quoted(&shown));
        reader.report(&node.span, message);
        return prompts;
    }
    for (name, file) in files {
        own(&format!("{}/{name}", shown.trim_end_matches('/')), &name, file, &mut prompts, reader.problems);
    }
    prompts
}

/// Puts one file in the place of a built-in prompt.
fn own(shown: &str, name: &str, file: &Path, prompts: &mut Prompts, problems: &mut Diagnostics) {
    let (request, language) = match meant(name, problems) {
        Ok(meant) => meant,
        Err((message, help)) => {
            problems.push(Diagnostic::of_file(shown, message).help(help));
            return;
        }
    };
    // Reading a pipe would wait for ever; a link that leads nowhere is reported when it is read.
    if file.metadata().is_ok_and(|file| !file.is_file()) {
        problems.push(Diagnostic::of_file(shown, "this is no regular file, so it is not read as a prompt"));
        return;
    }
    let source = match Source::read(shown, file) {
        Ok(source) => Source::new(shown, source.text.replace("\r\n", "\n")),
        Err(found) => {
            problems.append(found);
            return;
        }
    };
    if let Err(faults) = prompts.replace(request, language, &source.text) {
        for fault in faults {
            problems.push(Diagnostic::at(&source, &fault.span, fault.why).maybe_help(fault.help));
        }
    }
}

/// The request and the language that a file's name says; else what is wrong with it, and what to do.
fn meant<'n>(name: &'n str, problems: &Diagnostics) -> Result<(&'n str, Language), (String, String)> {
    let example = "a prompt is a file such as `faithfulness.verdicts.en.md`; a leading `_` leaves a file out";
    let stem =
        name.strip_suffix(".md").ok_or_else(|| ("a file of prompts ends in .md".to_owned(), example.to_owned()))?;
    let tags = LANGUAGES.map(Language::as_str);
    let languages = format!("the languages are `{}`", tags.join("`, `"));
    if prompt::names().contains(&stem) {
        return Err(("the name of the file lacks its language".to_owned(), languages));
    }
    let (request, tag) =
        stem.rsplit_once('.').ok_or_else(|| (format!("unknown prompt {}", quoted(stem)), example.to_owned()))?;
    if !prompt::names().contains(&request) {
        let names = || format!("the prompts are `{}`", prompt::names().join("`, `"));
        let help = problems.suggestion(request, prompt::names().iter().copied()).unwrap_or_else(names);
        return Err((format!("unknown prompt {}", quoted(request)), help));
    }
    let language = LANGUAGES.into_iter().find(|language| language.as_str() == tag);
    language.map(|language| (request, language)).ok_or((format!("unknown language {}", quoted(tag)), languages))
}
