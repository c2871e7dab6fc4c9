//! The workflow of the user's repository: it calls the action of rageval, which knows what forks, comments and artifacts need.

use super::system::{Kind, System};

const FILE: &str = include_str!("templates/workflow.yml");

/// The workflow for a project in a folder of the repository (empty at its root), with the command that is the gate.
pub(super) fn text(folder: &str, system: &System, command: &str) -> String {
    let below = |path: &str| if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
    let quoted = |path: String| serde_json::Value::from(path).to_string();
    let mut paths: Vec<String> = ["cases/**", "baselines/**", "thresholds.yaml", "**/snapshots/**"].map(below).into();
    let sources = match system {
        // What a function is made of may stand in any crate of the repository.
        System::Function => ["**/*.rs", "**/Cargo.toml", "Cargo.lock"].map(str::to_owned).into(),
        System::Recorded(samples) => vec![below(samples)],
        System::Http(_) | System::Command(_) => Vec::new(),
    };
    paths.extend(sources);
    paths.push(".github/workflows/rag-regression.yml".to_owned());
    let mut list = "    paths:\n".to_owned();
    for path in paths {
        list.extend(["      - ", &quoted(path), "\n"]);
    }
    if matches!(system.kind(), Kind::Http | Kind::Command) {
        list.push_str("      # And what your system is made of:\n      # - src/**\n");
    }
    let start = match system.kind() {
        Kind::Http => "      # Start your system here, so that its address answers.\n",
        Kind::Command => "      # Install here what your program needs.\n",
        Kind::Function | Kind::Recorded => "",
    };
    let folder = if folder.is_empty() {
        String::new()
    } else {
        format!("          working-directory: {}\n", quoted(folder.to_owned()))
    };
    FILE.replace("PATHS", &list).replace("SYSTEM", start).replace("GATE", command).replace("FOLDER", &folder)
}
