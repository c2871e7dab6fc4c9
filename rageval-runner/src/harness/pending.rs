//! Changed verdicts that wait for a person, with what changed.

use std::path::{Path, PathBuf};

use crate::{
    model::CaseId,
    report::snapshot::{self, DIGEST, Snapshot},
    store::{StoreError, pending, snapshots::read},
};

/// One case's changed verdicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The pending file.
    pub path: PathBuf,
    /// Question, answer and context ids, a line each.
    pub description: Vec<String>,
    /// The lines that differ from the accepted ones, with `-` and `+`; all of them where nothing was accepted yet.
    pub difference: Vec<String>,
}

impl Pending {
    /// Every pending snapshot of a folder.
    ///
    /// # Errors
    /// One of them, or what it would replace, can't be read.
    pub fn of_folder(folder: &Path) -> Result<Vec<Self>, String> {
        let of_file = |path: PathBuf| {
            let body = |snapshot: Option<Snapshot>| snapshot.map_or_else(String::new, |snapshot| snapshot.body);
            let (old, new) = (body(read(&pending::accepted(&path))?), body(read(&path)?));
            let text = insta::Snapshot::from_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let description = text.metadata().description().unwrap_or_default();
            let lines = description.lines().filter(|line| !line.starts_with(DIGEST));
            Ok(Self {
                description: lines.map(str::to_owned).collect(),
                difference: snapshot::difference(&old, &new),
                path,
            })
        };
        pending::list(folder).into_iter().map(of_file).collect()
    }

    /// Whether these are verdicts of this case.
    pub fn is_of(&self, case: &CaseId) -> bool {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_suffix(".snap.new") == Some(&snapshot::file_name(case))
    }

    /// Accepts them: from here on they are what others are compared with.
    ///
    /// # Errors
    /// The file can't be read or written.
    pub fn accept(&self) -> Result<(), StoreError> {
        pending::accept(&self.path)
    }
}
