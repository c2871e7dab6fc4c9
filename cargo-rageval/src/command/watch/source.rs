//! The source of a system that is a function: where it stands, and whether it changed.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::context::Context;

/// What is built from a package: all that stands in `src`, since `include_str!` takes any file, and of the rest what cargo reads.
const WHOLE: &str = "src";
const TESTS: &str = "tests";
const FILES: [&str; 2] = ["Cargo.toml", "build.rs"];

/// The packages of the workspace. What they depend on elsewhere is not looked at.
#[derive(Debug, Default)]
pub(super) struct Source(Vec<PathBuf>);

impl Source {
    /// As cargo knows them; where it knows none, the folder itself.
    pub(super) fn of(context: &Context, root: &Path) -> Self {
        Self(packages(context, root).unwrap_or_else(|| vec![root.to_owned()]))
    }

    /// The files that it is made of, in order.
    pub(super) fn files(&self) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::new();
        for package in &self.0 {
            files.extend(FILES.iter().map(|name| package.join(name)).filter(|file| file.is_file()));
            below(&package.join(WHOLE), &|_| true, &mut files);
            // Data and snapshots of tests stand there too.
            below(&package.join(TESTS), &|file| file.extension() == Some(OsStr::new("rs")), &mut files);
        }
        files
    }

    /// The folders in which a change is one of the source; with those below where that is said.
    pub(super) fn folders(&self) -> Vec<(PathBuf, Depth)> {
        let of = |package: &PathBuf| {
            [(package.clone(), Depth::Alone), (package.join(WHOLE), Depth::Below), (package.join(TESTS), Depth::Below)]
        };
        self.0.iter().flat_map(of).collect()
    }
}

/// How much of a folder is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// What stands in it.
    Alone,
    /// And in the folders below.
    Below,
}

fn packages(context: &Context, root: &Path) -> Option<Vec<PathBuf>> {
    let mut command = Command::new(&context.cargo);
    command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let manifests = metadata["packages"].as_array()?.iter().filter_map(|package| package["manifest_path"].as_str());
    let folders: Vec<PathBuf> = manifests.filter_map(|file| Path::new(file).parent().map(Path::to_owned)).collect();
    (!folders.is_empty()).then_some(folders)
}

fn below(folder: &Path, is_meant: &dyn Fn(&Path) -> bool, files: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        // What an editor leaves beside a file is no source, and a link to a folder may lead back.
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => below(&path, is_meant, files),
            Ok(_) if is_meant(&path) => _ = files.insert(path),
            Ok(_) | Err(_) => {}
        }
    }
}
