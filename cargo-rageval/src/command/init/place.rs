//! Where `init` writes: the folder of the policy, the package of the test, the root of the workspace and of the repository.

use std::{
    fs,
    path::{Component, Path, PathBuf},
    process::{Command, Stdio},
};

use rageval_runner::load;
use serde_json::Value;

use crate::{context::Context, exit::Failure};

/// What may stand in a folder that still counts as empty.
const HARMLESS: [&str; 6] = ["readme", "license", "cargo.lock", "thresholds.yaml", "cases", "baselines"];

/// The folders of one project.
#[derive(Debug)]
pub(super) struct Place {
    /// Of `thresholds.yaml` and `cases/`.
    pub(super) root: PathBuf,
    /// The package that gets the test.
    pub(super) package: Option<Package>,
    /// Of the repository: where `.git` is, else of the workspace, else the root.
    pub(super) repository: PathBuf,
}

/// A package, there or to be made.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    /// The root of its workspace; its own folder where it is alone.
    pub(super) workspace: PathBuf,
    /// Whether it is still to be made.
    pub(super) is_new: bool,
}

impl Place {
    /// Looks where all of it is; writes nothing.
    ///
    /// # Errors
    /// There is no package where one is needed, and none can be made.
    pub(super) fn find(folder: &Path, needs_package: bool, context: &Context) -> Result<Self, Failure> {
        let root = normal(folder)?;
        let package = if needs_package { Some(package(&root, context)?) } else { None };
        let with_git = root.ancestors().find(|folder| folder.join(".git").exists());
        let or_else = package.as_ref().map_or(&root, |package| &package.workspace);
        let repository = with_git.unwrap_or(or_else).to_owned();
        Ok(Self { root, package, repository })
    }

    /// The folder that a name is made of: of the set, and of a new crate.
    pub(super) fn slug(&self) -> String {
        slug(&self.root.file_name().unwrap_or_default().to_string_lossy())
    }

    /// Refuses what stands in the place of a file and is none.
    pub(super) fn check_file(&self, path: &Path) -> Result<(), Failure> {
        let Some(what) = kind(path).filter(|kind| *kind != Kind::File) else { return Ok(()) };
        let (name, what) = (self.shown(path), what.as_str());
        Err(Failure::Input(format!("{name} is {what}, where a file belongs: move or remove it, and start again")))
    }

    /// Refuses what stands in the place of a folder and is none.
    pub(super) fn check_folder(&self, path: &Path) -> Result<(), Failure> {
        let Some(what) = kind(path).filter(|kind| *kind != Kind::Folder) else { return Ok(()) };
        let (name, what) = (self.shown(path), what.as_str());
        Err(Failure::Input(format!("{name} is {what}, where a folder belongs: move or remove it, and start again")))
    }

    /// Refuses to write where a link leads out of the folder, or of the repository for what belongs there.
    ///
    /// # Errors
    /// The link, where it leads, and what to do. What stands in the place of a folder.
    pub(super) fn check_inside(&self, path: &Path) -> Result<(), Failure> {
        let workspace = self.package.as_ref().map(|package| package.workspace.as_path());
        let holders = [Some(self.root.as_path()), workspace, Some(self.repository.as_path())];
        // A path with `..` is one that was asked for, as with --samples.
        let Some(holder) = holders.into_iter().flatten().find(|holder| {
            path.strip_prefix(holder)
                .is_ok_and(|rest| rest.components().all(|part| matches!(part, Component::Normal(_))))
        }) else {
            return Ok(());
        };
        let below = path.ancestors().skip(1).take_while(|folder| *folder != holder).collect::<Vec<_>>();
        for folder in below.into_iter().rev() {
            self.check_folder(folder)?;
            let real = |path: &Path| fs::canonicalize(path).ok();
            if let (Some(to), Some(holder)) = (real(folder), real(holder))
                && !to.starts_with(&holder)
            {
                return Err(Failure::Input(format!(
                    "{} is a link that leads outside, to {}, where nothing is written: put a folder in its place, and start again",
                    self.shown(folder),
                    to.display()
                )));
            }
        }
        Ok(())
    }

    /// The path as a person would write it from where the command runs.
    pub(super) fn shown(&self, path: &Path) -> String {
        let here = normal(Path::new(".")).unwrap_or_else(|_| self.root.clone());
        let shown = path.strip_prefix(&here).unwrap_or(path);
        if shown.as_os_str().is_empty() { ".".to_owned() } else { shown.display().to_string().replace('\\', "/") }
    }
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Dangling,
    Other,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Dangling => "a link to nothing",
            Self::Other => "neither file nor folder",
        }
    }
}

/// What stands under a name, links followed; `None` for nothing.
fn kind(path: &Path) -> Option<Kind> {
    fs::symlink_metadata(path).ok()?;
    Some(match fs::metadata(path) {
        Ok(data) if data.is_file() => Kind::File,
        Ok(data) if data.is_dir() => Kind::Folder,
        Ok(_) => Kind::Other,
        Err(_) => Kind::Dangling,
    })
}

/// The policy of a folder, there or not. A package may be held to one above it, as its test is; else the nearest is that of the folder itself.
pub(super) fn policy(folder: &Path) -> PathBuf {
    let above = if folder.join("Cargo.toml").exists() { load::find(folder) } else { None };
    above.unwrap_or_else(|| folder.join(load::FILE_NAME))
}

/// A folder's one name: links resolved as far as it is there, so that it compares with what cargo and git say.
fn normal(folder: &Path) -> Result<PathBuf, Failure> {
    let cannot = |error: std::io::Error| Failure::Input(format!("{}: {error}", folder.display()));
    let path = std::path::absolute(folder).map_err(cannot)?;
    let there = path.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(&path);
    let rest = path.strip_prefix(there).unwrap_or(Path::new("")).to_owned();
    let there = if cfg!(windows) { there.to_owned() } else { fs::canonicalize(there).map_err(cannot)? };
    if rest.as_os_str().is_empty() && !there.is_dir() {
        return Err(Failure::Input(format!("{} is no folder", folder.display())));
    }
    Ok(if rest.as_os_str().is_empty() { there } else { there.join(rest) })
}

fn package(root: &Path, context: &Context) -> Result<Package, Failure> {
    if !root.join("Cargo.toml").exists() {
        return new_package(root);
    }
    let metadata = metadata(root, context)?;
    let workspace = PathBuf::from(metadata["workspace_root"].as_str().unwrap_or_default());
    let packages: Vec<(&str, &Path)> = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|package| {
            Some((package["name"].as_str()?, Path::new(package["manifest_path"].as_str()?).parent()?))
        })
        .collect();
    if let Some((name, _)) = packages.iter().find(|(_, folder)| *folder == root) {
        return Ok(Package { name: (*name).to_owned(), workspace, is_new: false });
    }
    let below = |folder: &Path| folder.strip_prefix(&workspace).unwrap_or(folder).display().to_string();
    let flags: Vec<String> = packages.iter().map(|(_, folder)| format!("\n  --crate {}", below(folder))).collect();
    Err(Failure::Input(format!(
        "{} is a workspace and no package, and the test of a gate belongs into one: name it{}",
        root.join("Cargo.toml").display(),
        if flags.is_empty() { " with --crate".to_owned() } else { flags.concat() }
    )))
}

/// What cargo says of the package in a folder.
fn metadata(root: &Path, context: &Context) -> Result<Value, Failure> {
    let mut cargo = Command::new(&context.cargo);
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root).stdin(Stdio::null());
    let output = cargo.output().map_err(|error| Failure::Input(format!("cargo does not start: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        return Err(Failure::Input(format!("cargo cannot read {}:\n{said}", root.join("Cargo.toml").display())));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| Failure::Input(format!("cargo metadata: {error}")))
}

/// A crate that is still to be made, in a folder that holds nothing else.
fn new_package(root: &Path) -> Result<Package, Failure> {
    let mut others: Vec<String> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .filter(|name| !name.starts_with('.') && !HARMLESS.iter().any(|known| name.to_lowercase().starts_with(known)))
        .collect();
    others.sort();
    if let Some(other) = others.first() {
        return Err(Failure::Input(format!(
            "{} holds no Cargo.toml, and is not empty ({other} is in it): name a crate with --crate, an empty folder, or make a crate here \
             with `cargo init --lib`",
            root.display()
        )));
    }
    // Cargo would take the new crate for a member, and refuse to build it.
    let above = root.ancestors().skip(1).find(|folder| folder.join("Cargo.toml").exists());
    if let Some(above) = above {
        return Err(Failure::Input(format!(
            "{} lies in the cargo project {}: name one of its packages with --crate, make one here with `cargo new`, or go to a folder \
             outside of it",
            root.display(),
            above.display()
        )));
    }
    let name = slug(&root.file_name().unwrap_or_default().to_string_lossy());
    Ok(Package { name, workspace: root.to_owned(), is_new: true })
}

/// A name that cargo takes for a package, made of a folder's.
fn slug(folder: &str) -> String {
    let mut slug = String::new();
    for c in folder.chars().map(|c| c.to_ascii_lowercase()) {
        let kept = if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        if !(kept == '-' && (slug.is_empty() || slug.ends_with('-'))) {
            slug.push(kept);
        }
    }
    let slug = slug.trim_matches(['-', '_']);
    let is_fit = slug.starts_with(|c: char| c.is_ascii_alphabetic());
    // Behind a word of ours no name is a keyword, one of cargo's own, or that of a crate which the test needs.
    if is_fit && slug.len() > 1 && slug.contains('-') && !slug.starts_with("rageval") {
        slug.to_owned()
    } else {
        format!("gate-of-{slug}").trim_end_matches("-of-").to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn names_are_such_as_cargo_takes() {
        for (folder, name) in [
            ("My RAG gate", "my-rag-gate"),
            ("help-centre", "help-centre"),
            ("test", "gate-of-test"),
            (".tmpAb12", "gate-of-tmpab12"),
            ("42", "gate-of-42"),
            ("rageval-runner", "gate-of-rageval-runner"),
            ("质量", "gate"),
            ("", "gate"),
        ] {
            assert_eq!(slug(folder), name);
        }
    }
}
