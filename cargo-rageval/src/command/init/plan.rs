//! What `init` would write, file by file: nothing here writes, and no file that is there is overwritten.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rageval_runner::{load, metric::METRICS};

use super::{
    manifest::{self, Runner, TARGET},
    nextest,
    place::{self, Package, Place},
    policy::{self, Bars},
    system::System,
    workflow,
};
use crate::{context::Context, exit::Failure};

const LIBRARY: &str = include_str!("templates/library.rs");
const TEST_OF_LIBRARY: &str = include_str!("templates/test_of_library.rs");
const TEST_WITH_EXAMPLE: &str = include_str!("templates/test_with_example.rs");
const TEST_OF_POLICY: &str = include_str!("templates/test_of_policy.rs");
const ANSWERS: &str = include_str!("templates/answers.jsonl");

/// Days for which the waivers of a first use hold.
const DAYS: u64 = 90;

/// One file, and what becomes of it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) path: PathBuf,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// It was not there.
    New(String),
    /// It is there, and gets something that it lacks.
    Change { earlier: String, text: String, added: String },
    /// It is there and is left as it stands; where it may lack something, with what to do by hand.
    Left(Option<String>),
}

/// All steps, and what they come to.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// Where the user's system belongs, if an example stands there now.
    pub(super) example: Option<PathBuf>,
    /// The file of cases to edit, or the folder of those that are there.
    pub(super) cases: PathBuf,
    /// Whether the bars that are written now only warn.
    pub(super) warns: bool,
    /// What keeps the gate from running before something is done by hand.
    pub(super) blocked: bool,
}

/// What is to be made.
pub(super) struct Order<'a> {
    pub(super) place: &'a Place,
    pub(super) system: &'a System,
    pub(super) runner: &'a Runner,
    pub(super) workflow: bool,
}

impl Plan {
    /// Reads what is there, and says what is missing.
    ///
    /// # Errors
    /// A file that must be added to can't be read.
    pub(super) fn of(order: &Order<'_>) -> Result<Self, Failure> {
        let root = &order.place.root;
        let mut plan =
            Self { steps: Vec::new(), example: None, cases: root.join("cases"), warns: false, blocked: false };
        if let Some(package) = &order.place.package {
            plan.package(order, package)?;
        }
        plan.policy(order)?;
        plan.ignored(order);
        if order.workflow {
            let folder = root.strip_prefix(&order.place.repository).unwrap_or(Path::new(""));
            let folder = folder.display().to_string().replace('\\', "/");
            let command =
                if order.place.package.is_some() { "cargo test --test rag_regression" } else { "cargo rageval run" };
            let by_hand = format!("let it run `{command}`");
            let path = order.place.repository.join(".github/workflows/rag-regression.yml");
            plan.file(path, workflow::text(&folder, order.system, command), |text| {
                (!text.contains("rageval") && !text.contains(TARGET)).then_some(by_hand)
            });
        }
        let mut written = plan.steps.iter().filter(|step| !matches!(step.what, What::Left(_)));
        written.try_for_each(|step| order.place.check_inside(&step.path))?;
        Ok(plan)
    }

    /// A file that is written where there is none; `lacks` says of another text what to do by hand.
    fn file(&mut self, path: PathBuf, text: String, lacks: impl FnOnce(&str) -> Option<String>) {
        let what = match fs::read_to_string(&path) {
            Ok(there) if there == text => What::Left(None),
            Ok(there) => What::Left(lacks(&there)),
            Err(_) if fs::symlink_metadata(&path).is_ok() => What::Left(Some("it can't be read as text".to_owned())),
            Err(_) => What::New(text),
        };
        self.steps.push(Step { path, what });
    }

    fn is_new(&self, path: &Path) -> bool {
        self.steps.iter().any(|step| step.path == path && matches!(step.what, What::New(_)))
    }

    /// Test, manifest, profile of the workspace, profile of nextest.
    fn package(&mut self, order: &Order<'_>, package: &Package) -> Result<(), Failure> {
        let root = &order.place.root;
        let library = root.join("src/lib.rs");
        let has_example = package.is_new || fs::read_to_string(&library).is_ok_and(|text| text == LIBRARY);
        if package.is_new {
            self.file(library.clone(), LIBRARY.to_owned(), |_| None);
        }
        let test = root.join("tests").join(format!("{TARGET}.rs"));
        let in_folder = root.join("tests").join(TARGET).join("main.rs");
        let (text, example) = match order.system {
            System::Function if has_example => {
                (TEST_OF_LIBRARY.replace("CRATE", &package.name.replace('-', "_")), Some(&library))
            }
            System::Function => (TEST_WITH_EXAMPLE.replace("EXAMPLE", &indented(LIBRARY)), Some(&test)),
            System::Http(_) | System::Command(_) | System::Recorded(_) => (TEST_OF_POLICY.to_owned(), None),
        };
        let mut is_gate = true;
        let lacks = |there: &str| {
            is_gate = there.contains("rageval_runner::main!") || there.contains("Suite::new");
            let system = if order.system == &System::Function { " system: your_function " } else { "" };
            let how = format!(
                "it is no gate: rename it and run `cargo rageval init` again, or write `rageval_runner::main! {{{system}}}` into it and `harness = \
                 false` under its [[test]]"
            );
            (!is_gate).then_some(how)
        };
        self.file(if in_folder.exists() { in_folder } else { test.clone() }, text, lacks);
        self.blocked |= !is_gate;
        if self.is_new(example.unwrap_or(&test)) || (has_example && self.is_new(&test)) {
            self.example = example.cloned();
        }
        self.manifests(order, package, is_gate)?;
        let path = package.workspace.join(".config/nextest.toml");
        match fs::read_to_string(&path) {
            Ok(earlier) => match nextest::merged(&earlier) {
                Ok(text) => self.changed(path, earlier, text, "a profile for the gate".to_owned(), None),
                Err(why) => {
                    let how =
                        format!("nothing was added ({why}); the gate needs `retries = 0` and `fail-fast = false`");
                    self.steps.push(Step { path, what: What::Left(Some(how)) });
                }
            },
            Err(_) => self.file(path, nextest::FILE.to_owned(), |_| None),
        }
        Ok(())
    }

    fn manifests(&mut self, order: &Order<'_>, package: &Package, is_gate: bool) -> Result<(), Failure> {
        let path = order.place.root.join("Cargo.toml");
        let wrong = |path: &Path| {
            let path = order.place.shown(path);
            move |why: String| Failure::Input(format!("{path}: {why}"))
        };
        let with_profile = |text: &str| manifest::with_profile(text).map_err(wrong(&path));
        if package.is_new {
            let new = format!(
                "[package]\nname = \"{}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n",
                package.name
            );
            let gate = manifest::with_gate(&new, order.runner, false).map_err(wrong(&path))?;
            let text = with_profile(&gate.text)?.text;
            self.file(path, text, |_| None);
            return Ok(());
        }
        let read = |path: &Path| {
            fs::read_to_string(path).map_err(|error| Failure::Input(format!("{}: {error}", order.place.shown(path))))
        };
        let earlier = read(&path)?;
        let root = package.workspace.join("Cargo.toml");
        let is_root = package.workspace == order.place.root;
        let of_workspace = if is_root { earlier.clone() } else { read(&root)? };
        let mut text = earlier.clone();
        let mut added = Vec::new();
        let mut by_hand = Vec::new();
        // A test that is not ours would no longer run under a harness that is not libtest's.
        if is_gate {
            let gate = manifest::with_gate(&earlier, order.runner, manifest::is_inherited(&of_workspace))
                .map_err(wrong(&path))?;
            self.blocked |= !gate.by_hand.is_empty();
            (text, added, by_hand) = (gate.text, gate.added, gate.by_hand);
        }
        if is_root {
            let profile = with_profile(&text)?;
            text = profile.text;
            added.extend(profile.added);
        } else {
            let profile = manifest::with_profile(&of_workspace).map_err(wrong(&root))?;
            self.changed(root, of_workspace, profile.text, profile.added.join(", "), None);
        }
        let by_hand = Some(by_hand.join("; ")).filter(|how| !how.is_empty());
        self.changed(path, earlier, text, added.join(", "), by_hand);
        Ok(())
    }

    fn changed(&mut self, path: PathBuf, earlier: String, text: String, added: String, by_hand: Option<String>) {
        let is_same = earlier == text;
        if is_same || by_hand.is_some() {
            self.steps.push(Step { path: path.clone(), what: What::Left(by_hand) });
        }
        if !is_same {
            self.steps.push(Step { path, what: What::Change { earlier, text, added } });
        }
    }

    /// Cases, thresholds, and the schemas by which editors know them.
    fn policy(&mut self, order: &Order<'_>) -> Result<(), Failure> {
        let place = order.place;
        let file = place::policy(&place.root);
        let folder = place.root.join("cases");
        place.check_file(&file)?;
        place.check_file(&place.root.join(load::FILE_NAME))?;
        let examples = folder.join("examples.yaml");
        let mut bars = match order.system {
            System::Function if self.example.is_some() => Bars::Firm,
            System::Function | System::Http(_) | System::Command(_) | System::Recorded(_) => Bars::Warn,
        };
        let mut cases = policy::examples(&place.slug());
        let has_policy = file.exists();
        // A policy that is there names its answers itself.
        if let System::Recorded(samples) = order.system
            && !has_policy
        {
            let path = place.root.join(samples);
            match fs::read_to_string(&path) {
                Ok(text) => {
                    if text != ANSWERS {
                        cases = policy::cases_of(&place.slug(), samples, &text).map_err(Failure::Input)?;
                    } else {
                        bars = Bars::Firm;
                    }
                    self.steps.push(Step { path, what: What::Left(None) });
                }
                Err(error) if path.exists() => return Err(Failure::Input(format!("{}: {error}", place.shown(&path)))),
                Err(_) => {
                    bars = Bars::Firm;
                    self.example = Some(path.clone());
                    self.file(path, ANSWERS.to_owned(), |_| None);
                }
            }
        }
        if has_policy || has_cases(&folder) {
            bars = Bars::Warn;
            let path = if examples.exists() { examples } else { folder };
            self.cases = if path.exists() { path.clone() } else { file.clone() };
            self.steps.extend(path.exists().then_some(Step { path, what: What::Left(None) }));
        } else {
            place.check_folder(&folder)?;
            self.cases.clone_from(&examples);
            self.file(examples, cases, |_| None);
        }
        if has_policy {
            let is_above = file.parent() != Some(&place.root);
            self.steps.push(Step { path: file, what: What::Left(None) });
            if is_above {
                return Ok(());
            }
        } else {
            self.warns = bars == Bars::Warn;
            self.file(file, policy::thresholds(order.system, bars, Context::day_in(DAYS)), |_| None);
        }
        let again = |name: &str| {
            let how = format!("it is of another version; `cargo rageval schema {name}` prints that of this one");
            move |_: &str| Some(how)
        };
        let schemas = place.root.join(".rageval/schema");
        self.file(schemas.join("cases.json"), format!("{:#}\n", load::schema::cases()), again("cases"));
        self.file(
            schemas.join("thresholds.json"),
            format!("{:#}\n", load::schema::thresholds(METRICS)),
            again("thresholds"),
        );
        Ok(())
    }

    /// The lines of `.gitignore` that no file of the repository has yet.
    fn ignored(&mut self, order: &Order<'_>) {
        let place = order.place;
        let is_alone = place.package.as_ref().is_none_or(|package| package.is_new);
        let target = is_alone.then_some("/target/");
        // Schemas are for all who edit the files; replies and whatever else comes there are not.
        let wanted = target.into_iter().chain([".rageval/*", "!.rageval/schema/", "*.snap.new"]);
        let folders = place.root.ancestors().take_while(|folder| folder.starts_with(&place.repository));
        let there: Vec<String> =
            folders.filter_map(|folder| fs::read_to_string(folder.join(".gitignore")).ok()).collect();
        let bare = |line: &str| line.trim().trim_matches('/').to_owned();
        let is_there = |line: &str| there.iter().flat_map(|text| text.lines()).any(|other| bare(other) == bare(line));
        let missing: Vec<&str> = wanted.filter(|line| !is_there(line)).collect();
        let path = place.root.join(".gitignore");
        let lines: String = missing.iter().map(|line| format!("{line}\n")).collect();
        match fs::read_to_string(&path) {
            Ok(earlier) => {
                let end = if earlier.is_empty() || earlier.ends_with('\n') { "" } else { "\n" };
                let text = format!("{earlier}{end}{lines}");
                self.changed(path, earlier, text, missing.join(", "), None);
            }
            Err(_) if missing.is_empty() => {}
            Err(_) => self.file(path, lines, |_| None),
        }
    }
}

/// Whether a folder of cases holds files of its own.
fn has_cases(folder: &Path) -> bool {
    let is_case = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let endings = ["yaml", "yml", "json", "jsonl", "csv"];
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        !name.starts_with(['.', '_']) && endings.contains(&&*ending)
    };
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    entries
        .into_iter()
        .any(|path| if path.is_dir() { !path.ends_with("calibration") && has_cases(&path) } else { is_case(&path) })
}

/// The example as the inside of a module.
fn indented(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    text.lines().map(line).collect()
}
