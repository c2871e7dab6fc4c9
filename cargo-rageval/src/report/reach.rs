//! How somebody who reads a report elsewhere comes by its run, and what the report's commands call it.

use std::borrow::Cow;

use rageval_runner::report::console::shell;

use crate::context::Context;

/// Where the run is kept for readers elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// The artifact that holds the reports, and the folder of run folders as `runs`.
    artifact: Option<String>,
    /// The run of GitHub that keeps the artifact, and the repository, as `gh` names it.
    build: Option<(String, String)>,
}

impl Reach {
    /// By the artifact that is named, and by what GitHub says of its run.
    pub(crate) fn of(artifact: Option<&str>) -> Self {
        let build = || {
            let repository = Context::variable("GITHUB_REPOSITORY")?;
            let server = Context::variable("GITHUB_SERVER_URL").unwrap_or_default();
            let host = server.trim_start_matches("https://");
            let is_elsewhere = !host.is_empty() && host != "github.com";
            let named = if is_elsewhere { format!("{host}/{repository}") } else { repository };
            Some((Context::variable("GITHUB_RUN_ID")?, named))
        };
        Self { artifact: artifact.map(str::to_owned), build: artifact.and_then(|_| build()) }
    }

    /// What commands call the run: a path below the artifact's folder, else a word in place of it.
    pub(crate) fn run(&self) -> String {
        self.artifact.as_ref().map_or_else(|| "RUN".to_owned(), |name| shell::word(&format!("{name}/runs/latest")))
    }

    /// The command that fetches the artifact into a folder of its name.
    pub(crate) fn fetch(&self) -> Option<String> {
        let ((id, repository), name) = self.build.as_ref().zip(self.artifact.as_deref().map(shell::word))?;
        Some(format!(
            "gh run download {} --repo {} --name {name} --dir {name}",
            shell::word(id),
            shell::word(repository)
        ))
    }

    /// The artifact's name.
    pub(crate) fn artifact(&self) -> Option<&str> {
        self.artifact.as_deref()
    }

    /// A line that a decision printed, whose command reads this run instead of the latest of whoever types it.
    pub(crate) fn line<'l>(&self, line: &'l str) -> Cow<'l, str> {
        const ACCEPT: &str = "cargo rageval baseline accept --reason";
        if explains(line) {
            format!("{line} --run {}", self.run()).into()
        } else if line.starts_with("accept ") && line.contains(ACCEPT) {
            line.replacen(ACCEPT, &format!("cargo rageval baseline accept {} --reason", self.run()), 1).into()
        } else {
            line.into()
        }
    }
}

/// Whether a line that a decision printed ends with the command that explains its case.
pub(super) fn explains(line: &str) -> bool {
    line.starts_with(' ') && line.contains(" more lines: cargo rageval explain ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str) -> Reach {
        Reach { artifact: Some(name.to_owned()), build: Some(("7".to_owned(), "acme/help".to_owned())) }
    }

    #[test]
    fn an_artifact_is_fetched_by_its_name_into_a_folder_of_it() {
        let reach = kept("rageval-run");
        let fetch = "gh run download 7 --repo acme/help --name rageval-run --dir rageval-run";
        assert_eq!((reach.run().as_str(), reach.fetch().as_deref()), ("rageval-run/runs/latest", Some(fetch)));
        assert_eq!(kept("it's a run").run(), r"'it'\''s a run/runs/latest'");
        assert_eq!((Reach::default().run().as_str(), Reach::default().fetch()), ("RUN", None));
    }

    #[test]
    fn a_printed_command_reads_the_run_of_the_report() {
        let reach = kept("r");
        for (line, told) in [
            (
                "            and 3 more lines: cargo rageval explain a",
                "            and 3 more lines: cargo rageval explain a --run r/runs/latest",
            ),
            (
                "accept      cargo rageval baseline accept --reason WHY",
                "accept      cargo rageval baseline accept r/runs/latest --reason WHY",
            ),
            ("claim       cargo rageval explain a", "claim       cargo rageval explain a"),
        ] {
            assert_eq!(reach.line(line), told);
        }
    }
}
