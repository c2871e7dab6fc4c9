//! Finds the files of a golden set.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use crate::model::ids;

use super::{
    diagnostic::{Diagnostic, Diagnostics, quoted},
    source::reason,
    thresholds::Policy,
};

/// Folders deeper than this are a loop of links.
const MAX_FOLDERS: usize = 32;

/// Endings of files that hold cases elsewhere and are not read here: leaving them out silently would lose cases.
pub(super) const NOT_READ: [&str; 9] = ["ndjson", "jsonlines", "json5", "tsv", "toml", "xls", "xlsx", "ods", "parquet"];

/// One file of golden cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CaseFile {
    /// Relative to the folder of the policy, with `/` between the parts.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The path under the cases folder without extension, with `/` between the parts.
    pub(crate) group: String,
    /// How it is written.
    pub(crate) format: Format,
}

/// How a file is written; its ending says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A list of cases, or a map with the list in it, in YAML 1.2.
    Yaml,
    /// The same in JSON.
    Json,
    /// One object a case.
    JsonLines,
    /// A header, then one row a case.
    Csv,
}

impl Format {
    pub(super) fn of(path: &Path) -> Option<Self> {
        match extension(path).as_str() {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "jsonl" => Some(Self::JsonLines),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// The ending in lower case: some systems write `CASES.CSV`.
pub(super) fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Every file of the set in the order of their paths.
pub(crate) fn all(policy: &Policy, problems: &mut Diagnostics) -> Vec<CaseFile> {
    let mut files = Vec::new();
    if policy.cases.is_file() {
        let Some(format) = Format::of(&policy.cases) else {
            problems.push(
                Diagnostic::at(&policy.source, &policy.cases_span, "\"cases\" names a file that is not read")
                    .help("a file of cases ends in .yaml, .yml, .json, .jsonl or .csv"),
            );
            return files;
        };
        files.extend(case_file(policy, policy.cases.clone(), format, problems));
        return files;
    }
    walk(policy, &policy.cases, 0, &mut files, problems);
    files.sort_by(|a, b| a.name.split('/').cmp(b.name.split('/')));
    files
}

/// The files of one group: `refunds.yaml` and `refunds.csv` may stand side by side. Empty when there is none.
pub(crate) fn of_group(policy: &Policy, group: &str, problems: &mut Diagnostics) -> Vec<CaseFile> {
    if policy.cases.is_file() {
        let mut files = all(policy, problems);
        files.retain(|file| file.group == group);
        return files;
    }
    let mut folder = policy.cases.clone();
    let relative = Path::new(group);
    let parts: Vec<_> = group.split('/').collect();
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let skipped = parts.iter().any(|part| part.is_empty() || part.starts_with(['_', '.']));
    if !plain || skipped || (parts.len() > 1 && parts[0] == "calibration") {
        return Vec::new();
    }
    if let Some(parent) = relative.parent() {
        folder.push(parent);
    }
    let mut files = Vec::new();
    for path in sorted(&folder).unwrap_or_default() {
        let is_meant = path.file_stem().and_then(|stem| stem.to_str()) == parts.last().copied();
        if let Some(format) = Format::of(&path).filter(|_| is_meant && path.is_file()) {
            files.extend(case_file(policy, path, format, problems));
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

fn walk(policy: &Policy, folder: &Path, depth: usize, files: &mut Vec<CaseFile>, problems: &mut Diagnostics) {
    let paths = match sorted(folder) {
        Ok(paths) => paths,
        Err(error) if depth == 0 => {
            let message =
                format!("the cases cannot be read from {}: {}", quoted(&relative_name(policy, folder)), reason(&error));
            let problem = Diagnostic::at(&policy.source, &policy.cases_span, message);
            problems.push(match error.kind() {
                io::ErrorKind::NotFound => {
                    problem.help("make the folder and put a file of cases into it, or name another")
                }
                _ => problem,
            });
            return;
        }
        Err(error) => {
            problems.push(Diagnostic::of_file(
                &relative_name(policy, folder),
                format!("the folder cannot be read: {}", reason(&error)),
            ));
            return;
        }
    };
    for path in paths {
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        if name.starts_with(['_', '.']) {
            continue;
        }
        if path.is_dir() {
            if depth == 0 && name == "calibration" {
                continue;
            }
            if depth == MAX_FOLDERS {
                let message = format!("folders are nested deeper than {MAX_FOLDERS} levels; is there a loop of links?");
                problems.push(Diagnostic::of_file(&relative_name(policy, &path), message));
                continue;
            }
            walk(policy, &path, depth + 1, files, problems);
        } else if let Some(format) = Format::of(&path) {
            files.extend(case_file(policy, path, format, problems));
        } else if NOT_READ.contains(&extension(&path).as_str()) {
            let message = format!("files that end in .{} are not read", extension(&path));
            problems.push(
                Diagnostic::of_file(&relative_name(policy, &path), message)
                    .help("cases stand in .yaml, .yml, .json, .jsonl or .csv; a leading `_` leaves a file out"),
            );
        }
    }
}

/// What a folder holds, in the order of the names.
pub(super) fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// The path relative to the policy's folder, with `/` between the parts on every system.
pub(super) fn relative_name(policy: &Policy, path: &Path) -> String {
    let path = path.strip_prefix(&policy.root).unwrap_or(path);
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

fn case_file(policy: &Policy, path: PathBuf, format: Format, problems: &mut Diagnostics) -> Option<CaseFile> {
    let name = relative_name(policy, &path);
    // Reading a pipe would wait for ever; a link that leads nowhere is reported when it is read.
    if path.metadata().is_ok_and(|file| !file.is_file()) {
        problems.push(Diagnostic::of_file(&name, "this is no regular file, so it is not read as cases"));
        return None;
    }
    let under = match path.strip_prefix(&policy.cases) {
        Ok(under) if under.as_os_str().is_empty() => PathBuf::from(path.file_name()?),
        Ok(under) => under.to_owned(),
        Err(_) => PathBuf::from(path.file_name()?),
    };
    let Some(group) = under.with_extension("").to_str().map(|group| group.replace(std::path::MAIN_SEPARATOR, "/"))
    else {
        problems.push(Diagnostic::of_file(&name, "the name of the file is not Unicode"));
        return None;
    };
    // The group is the middle of a trial's name, between `::`, and runners drop control characters from names.
    if group.contains(':') || group.chars().any(ids::is_unfit_for_names) {
        problems.push(
            Diagnostic::of_file(&name, "the path of a file of cases must not hold `:` or control characters")
                .help("it is part of the names of its tests; rename it"),
        );
        return None;
    }
    Some(CaseFile { name, path, group, format })
}
