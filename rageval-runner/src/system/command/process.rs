//! Starts a program, and ends it with everything that it started.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::AsyncReadExt,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::timeout,
};

use crate::{
    model::Unmeasured,
    system::{cause, excerpt::excerpt, spec::CommandSpec},
};

/// Bytes of stderr that are kept: the last ones.
const KEPT_BYTES: usize = 4096;

/// Lines and characters of stderr that a reason shows.
const SHOWN_LINES: usize = 3;
const SHOWN_CHARS: usize = 300;

/// How long a process may take to go once it has closed its stdout, and its pipes to close once it has gone.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// A program with its arguments, not started.
#[derive(Debug, Clone)]
pub(super) struct Program {
    path: PathBuf,
    arguments: Vec<String>,
    env: BTreeMap<String, String>,
    folder: PathBuf,
    /// As the policy writes it.
    pub(super) name: String,
}

impl Program {
    /// `None` for an empty list.
    pub(super) fn new(spec: &CommandSpec) -> Option<Self> {
        let (name, arguments) = spec.run.split_first()?;
        let written = Path::new(name);
        // A bare name is looked up in PATH. Others are joined here, since systems differ in where a relative program is looked for.
        let path = if written.components().count() > 1 || name.contains('/') {
            spec.folder.join(written)
        } else {
            written.into()
        };
        Some(Self {
            path,
            arguments: arguments.to_vec(),
            env: spec.env.clone(),
            folder: spec.folder.clone(),
            name: name.clone(),
        })
    }

    /// Starts it with its three streams in hand.
    pub(super) fn start(&self) -> Result<Running, Unmeasured> {
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .envs(&self.env)
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A group of its own, so that what it starts can be ended with it.
        #[cfg(unix)]
        command.process_group(0);
        let failed =
            |why: String| Unmeasured::new(cause::CRASH, format!("`{}` could not be started: {why}", self.name));
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let tree = Arc::new(Tree::of(&child));
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                Ok(Running { stdin: Some(stdin), stdout: Some(stdout), stderr: Tail::follow(stderr), tree, child })
            }
            _ => Err(failed("it has no stdin, stdout or stderr".to_owned())),
        }
    }
}

/// A started program. Dropped, it is killed, and on Unix whatever it started with it.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    /// For whoever must be able to end it from outside.
    pub(super) tree: Arc<Tree>,
    /// Until it is taken.
    pub(super) stdin: Option<ChildStdin>,
    /// Until it is taken.
    pub(super) stdout: Option<ChildStdout>,
    stderr: Tail,
}

impl Running {
    /// Waits until it ends by itself.
    pub(super) async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// How it ended, as a phrase with the last lines of its stderr; one that does not go by itself is killed after [`GRACE`].
    pub(super) async fn ending(&mut self) -> (Option<ExitStatus>, String) {
        let status = match timeout(GRACE, self.child.wait()).await {
            Ok(Ok(status)) => Some(status),
            Ok(Err(_)) | Err(_) => None,
        };
        self.tree.kill();
        let how = status.map_or_else(|| "closed its stdout".to_owned(), |status| format!("ended with {status}"));
        let lines = self.stderr.last_lines().await;
        (
            status,
            if lines.is_empty() { format!("{how}, its stderr is empty") } else { format!("{how}, stderr: {lines}") },
        )
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.tree.kill();
    }
}

/// A process and what it started; killed once.
///
/// On Unix this is the process group that it leads, so what it moved to another group or session is left. Elsewhere the process is killed
/// when its [`Running`] is dropped, and what it started is left.
#[derive(Debug)]
pub(super) struct Tree {
    #[cfg(unix)]
    group: Mutex<Option<rustix::process::Pid>>,
}

impl Tree {
    #[cfg(unix)]
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Self { group: Mutex::new(id) }
    }

    #[cfg(not(unix))]
    fn of(_: &Child) -> Self {
        Self {}
    }

    /// Kills the group. A second call does nothing: by then the number may be that of another group.
    pub(super) fn kill(&self) {
        #[cfg(unix)]
        if let Some(group) = self.group.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // The only error is that nobody is left.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// The last bytes of a stderr that is read to its end, so that it never blocks the program.
#[derive(Debug)]
struct Tail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    reading: JoinHandle<()>,
}

impl Tail {
    fn follow(mut stderr: ChildStderr) -> Self {
        let bytes = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&bytes);
        let reading = tokio::spawn(async move {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&chunk[..count]);
                let excess = kept.len().saturating_sub(KEPT_BYTES);
                kept.drain(..excess);
            }
        });
        Self { bytes, reading }
    }

    /// The last lines once the program has ended, on one line, shortened from the front.
    async fn last_lines(&mut self) -> String {
        // What it wrote last may still be on its way.
        let _ = timeout(GRACE, &mut self.reading).await;
        let bytes: Vec<u8> = self.bytes.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        shown_tail(&String::from_utf8_lossy(&bytes))
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

fn shown_tail(text: &str) -> String {
    let mut lines: Vec<_> =
        text.lines().map(|line| excerpt(line, usize::MAX)).filter(|line| !line.is_empty()).collect();
    let lines = lines.split_off(lines.len().saturating_sub(SHOWN_LINES)).join(" | ");
    let excess = lines.chars().count().saturating_sub(SHOWN_CHARS);
    if excess == 0 { lines } else { format!("…{}", lines.chars().skip(excess).collect::<String>()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::spec::Per;

    #[test]
    fn a_program_with_a_slash_is_relative_to_the_policy() {
        let path = |name: &str| {
            let spec = CommandSpec {
                run: vec![name.to_owned()],
                per: Per::Run,
                env: BTreeMap::new(),
                folder: "/policy".into(),
            };
            Program::new(&spec).map(|program| program.path)
        };
        assert_eq!(path("rag"), Some("rag".into()));
        assert_eq!(path("./bin/rag"), Some("/policy/./bin/rag".into()));
        assert_eq!(path("bin/rag"), Some("/policy/bin/rag".into()));
        #[cfg(unix)]
        assert_eq!(path("/opt/rag"), Some("/opt/rag".into()));
    }

    #[test]
    fn the_last_lines_of_stderr_are_shown() {
        assert_eq!(shown_tail("one\n\ntwo\r\n\u{1b}[31mthree\u{1b}[0m\nfour\n"), "two | three | four");
        assert_eq!(shown_tail(&"x".repeat(400)).chars().count(), 301);
        assert_eq!(shown_tail("\n \n"), "");
    }
}
