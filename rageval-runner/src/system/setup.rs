//! Makes the system that the policy describes.

use std::{error, fmt, path::Path};

use super::{
    RagSystem, command,
    http::HttpSystem,
    recorded,
    spec::{SystemKind, SystemSpec},
};
use crate::model::GoldenSet;

/// Why a system can't be made from its description: all problems at once, one line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupError {
    /// What is wrong, each with its place; never empty, and never with the value of a variable in it.
    pub problems: Vec<String>,
}

impl SetupError {
    /// One problem.
    pub(super) fn of(problem: impl Into<String>) -> Self {
        Self { problems: vec![problem.into()] }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

impl error::Error for SetupError {}

/// Makes the system of a policy, unless it is a function.
///
/// Nothing is started or asked yet: a command starts with its first question. `root` is the folder of the policy, by which files are named
/// in errors; `env` looks up a variable of the environment; `set` is the whole golden set, whose cases may hold their own recorded answers.
pub fn open(
    spec: &SystemSpec,
    root: &Path,
    env: &dyn Fn(&str) -> Option<String>,
    set: &GoldenSet,
) -> Result<Box<dyn RagSystem>, SetupError> {
    let in_policy = |error: SetupError| SetupError {
        problems: error.problems.into_iter().map(|problem| format!("{}: {problem}", spec.place)).collect(),
    };
    match &spec.kind {
        SystemKind::Function => Err(in_policy(SetupError::of(
            "`kind: function` can only be asked by the test binary of its crate: run `cargo test --test rag_regression`, \
             or name another kind (http, command, recorded)",
        ))),
        SystemKind::Recorded(recorded) => Ok(Box::new(recorded::open(recorded, root, set)?)),
        SystemKind::Command(command) => command::open(command).map_err(in_policy),
        SystemKind::Http(http) => Ok(Box::new(HttpSystem::new(http, spec.timeout, env).map_err(in_policy)?)),
    }
}

/// A path as errors name it: relative to the policy's folder where it lies below, with `/` between its parts.
pub(super) fn shown_path(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string().replace('\\', "/")
}
