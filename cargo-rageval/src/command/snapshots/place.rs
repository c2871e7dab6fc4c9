//! Where a run says that its snapshots stand, checked: an artifact comes from elsewhere, and must not write outside of this project.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use rageval_runner::{model::run::SnapshotsStamp, report::console::text::visible};

/// The folder of the snapshots below `root`, which holds a package of this project.
///
/// # Errors
/// Why the run's word on it is not followed.
pub(super) fn folder(root: &Path, stamp: &SnapshotsStamp) -> Result<PathBuf, String> {
    let refused =
        |why: &str| Err(format!("the run's `manifest.snapshots.folder` is `{}`: {why}", visible(&stamp.folder)));
    let Some(below) = plain(&stamp.folder) else {
        return refused("it must lie below the folder of thresholds.yaml, in plain parts");
    };
    let parts: Vec<&str> = stamp.folder.split('/').collect();
    let (package, target) = match parts.as_slice() {
        [package @ .., "tests", "snapshots", target] => (package, *target),
        // Those of `cargo rageval run` are of no package.
        ["snapshots"] => return inside(root, &below).or_else(refused),
        _ => return refused("it does not end with `tests/snapshots/<target>`"),
    };
    if !target.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return refused("its last part is no name of a test target");
    }
    let package: PathBuf = package.iter().collect();
    if !root.join(&package).join("Cargo.toml").is_file() {
        return refused("there is no package here; is this the project of the run?");
    }
    inside(root, &below).or_else(refused)
}

/// A folder below the root to which no link leads elsewhere.
fn inside(root: &Path, below: &Path) -> Result<PathBuf, &'static str> {
    let folder = root.join(below);
    let there = folder.ancestors().find(|path| path.as_os_str().is_empty() || path.exists());
    let canonical = |path: &Path| fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path });
    match (there.map(canonical), canonical(root)) {
        (Some(Ok(there)), Ok(root)) if there.starts_with(&root) => Ok(folder),
        (_, _) => Err("a symbolic link leads out of the folder of thresholds.yaml"),
    }
}

/// Checks what the run says of its source: it is written above each snapshot.
///
/// # Errors
/// Why it can't be.
pub(super) fn source(stamp: &SnapshotsStamp) -> Result<(), String> {
    let is_rust = stamp.source.ends_with(".rs") && plain(&stamp.source).is_some();
    let refused = || {
        format!(
            "the run's `manifest.snapshots.source` is `{}`: no path of a test below the root",
            visible(&stamp.source)
        )
    };
    is_rust.then_some(()).ok_or_else(refused)
}

/// A relative path whose parts are names alone, with `/` between them; `None` for anything else.
fn plain(text: &str) -> Option<PathBuf> {
    let is_fit = !text.is_empty() && !text.contains(['\\', ':']) && !text.chars().any(char::is_control);
    let path = PathBuf::from(text);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    let has_no_dots = text.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    (is_fit && is_plain && has_no_dots).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(folder: &str) -> SnapshotsStamp {
        SnapshotsStamp { folder: folder.to_owned(), source: "tests/rag.rs".to_owned(), ..SnapshotsStamp::default() }
    }

    #[test]
    fn only_a_snapshot_folder_of_a_package_below_the_root_is_taken() {
        let project = tempfile::tempdir().expect("a folder");
        let root = project.path();
        fs::create_dir_all(root.join("inner")).expect("made");
        for package in ["Cargo.toml", "inner/Cargo.toml"] {
            fs::write(root.join(package), "").expect("written");
        }
        for good in ["tests/snapshots/rag", "inner/tests/snapshots/rag_regression"] {
            assert_eq!(folder(root, &stamp(good)), Ok(root.join(good)));
        }
        for bad in [
            "",
            "/etc/tests/snapshots/rag",
            "../tests/snapshots/rag",
            "inner/../../tests/snapshots/rag",
            "inner/./tests/snapshots/rag",
            "inner//tests/snapshots/rag",
            "C:/tests/snapshots/rag",
            "inner\\tests/snapshots/rag",
            "tests/snapshots/..",
            "tests/snapshots/a b",
            "tests/snapshots",
            ".github/workflows",
            "other/tests/snapshots/rag",
            "tests/snapshots/rag\n",
        ] {
            assert!(folder(root, &stamp(bad)).is_err(), "{bad:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_refused() {
        let (project, elsewhere) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let root = project.path();
        fs::write(root.join("Cargo.toml"), "").expect("written");
        std::os::unix::fs::symlink(elsewhere.path(), root.join("tests")).expect("linked");
        let why = folder(root, &stamp("tests/snapshots/rag")).expect_err("refused");
        assert!(why.contains("symbolic link"), "{why}");
    }

    #[test]
    fn the_source_is_a_rust_file_below_the_root() {
        let of = |text: &str| source(&SnapshotsStamp { source: text.to_owned(), ..SnapshotsStamp::default() });
        assert_eq!(of("tests/rag_regression.rs"), Ok(()));
        for bad in ["", "/etc/passwd", "../x.rs", "a\nb.rs", "tests/rag"] {
            assert!(of(bad).is_err(), "{bad:?}");
        }
    }
}
