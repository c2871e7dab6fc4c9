//! The folder in which a page's commands run, as on its reader's machine.
//!
//! Cargo finds the crates of this repository under the names that a reader writes, builds into the target folder of this repository and
//! asks no network. Folders have fixed names, so that what was built for a page is replaced, not added to, the next time.

use std::{
    fs::{self, File},
    io::Read as _,
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use super::root;

/// The longest that one command may take: a first build of the gate takes minutes.
const PATIENCE: Duration = Duration::from_secs(900);
/// The longest that a server may take to listen.
const LISTENS: Duration = Duration::from_secs(30);
/// The port that pages use; a free one takes its place.
const PORT: &str = "8080";
/// A waiver's last day on a page is a day like any other, and passes; the folder's waivers hold.
const UNTIL: &str = "2999-12-31";

/// A page's folder.
pub(crate) struct Sandbox {
    /// Where commands run; `cd` moves it.
    here: PathBuf,
    port: Option<u16>,
    servers: Vec<Child>,
    /// Held while the folder is in use.
    _lock: File,
}

/// What a command printed, both streams as a terminal shows them, and how it ended.
pub(crate) struct Ended {
    pub(crate) printed: String,
    pub(crate) code: Option<i32>,
}

impl Sandbox {
    /// An empty folder for a page, or one that starts as a copy of a project.
    pub(crate) fn new(page: &str, project: Option<&str>) -> Self {
        let checkout: String =
            root().to_string_lossy().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let all = std::env::temp_dir().join(format!("rageval-book{checkout}"));
        let name = format!("{}-{}", page.trim_end_matches(".md").replace('/', "-"), project.unwrap_or("empty"));
        let folder = all.join(&name);
        fs::create_dir_all(&all).expect("a folder in the temporary one");
        let lock = File::create(all.join(format!("{name}.lock"))).expect("a lock");
        lock.lock().expect("the folder for this page alone");
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("the folder of the last time goes");
        }
        let here = folder.join("here");
        fs::create_dir_all(folder.join(".cargo")).expect("a folder");
        fs::create_dir(&here).expect("a folder");
        fs::write(folder.join(".cargo/config.toml"), cargo_configuration()).expect("written");
        if let Some(project) = project {
            let source = root().join("cargo-rageval/tests/book/projects").join(project);
            assert!(source.is_dir(), "no project {}", source.display());
            copy(&source, &here);
        }
        Self { here, port: None, servers: Vec::new(), _lock: lock }
    }

    /// Writes a file as the page shows it.
    pub(crate) fn write(&mut self, file: &str, text: &str) {
        let path = self.here.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, self.local(text)).expect("written");
    }

    /// Adds lines to a file that is there.
    pub(crate) fn append(&mut self, file: &str, text: &str) -> Result<(), String> {
        let path = self.here.join(file);
        let before = fs::read_to_string(&path).map_err(|e| format!("{file}: {e}"))?;
        fs::write(path, before + "\n" + &self.local(text)).map_err(|e| format!("{file}: {e}"))
    }

    /// The path of a file as the commands see it.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.here.join(file)
    }

    /// A text of the page with what differs from one machine and day to the next.
    pub(crate) fn local(&mut self, text: &str) -> String {
        let mut text = in_force(text);
        if text.contains(PORT) {
            let port = *self.port.get_or_insert_with(free_port);
            text = text.replace(PORT, &port.to_string());
        }
        text
    }

    /// A printed text as the page would show it.
    pub(crate) fn shown(&self, printed: &str) -> String {
        // How far a run is is told where it takes seconds, as on a machine that has much to do.
        let is_progress = |line: &&str| line.contains(" cases, ") && line.contains(" a second, about ");
        let lines: String = printed.split_inclusive('\n').filter(|line| !is_progress(line)).collect();
        let text = lines.replace(&*self.here.to_string_lossy(), "[..]");
        self.port.map_or_else(|| text.clone(), |port| text.replace(&port.to_string(), PORT))
    }

    /// Runs a command to its end.
    pub(crate) fn run(&mut self, command: &str) -> Result<Ended, String> {
        if let Some(folder) = command.strip_prefix("cd ") {
            self.here.push(folder.trim());
            return if self.here.is_dir() {
                Ok(Ended { printed: String::new(), code: Some(0) })
            } else {
                Err(format!("no folder {folder}"))
            };
        }
        let local = self.local(command);
        let mut process = self.process(command);
        if let Some(server) = local.trim_end().strip_suffix('&') {
            return self.serve(process.arg(format!("exec 2>/dev/null\nexec {server}")));
        }
        process.arg(format!("exec 2>&1\n{local}")).stdout(Stdio::piped());
        let mut child = process.spawn().map_err(|e| format!("sh: {e}"))?;
        let mut out = child.stdout.take().expect("a pipe");
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = out.read_to_end(&mut bytes);
            // Nobody listens where the command ran out of time.
            drop(tell.send(read.map(|_| bytes)));
        });
        match told.recv_timeout(PATIENCE) {
            Ok(bytes) => {
                let code = child.wait().map_err(|e| e.to_string())?.code();
                let printed = String::from_utf8(bytes.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
                Ok(Ended { printed, code })
            }
            Err(_) => {
                drop(child.kill());
                Err(format!("not done after {} s", PATIENCE.as_secs()))
            }
        }
    }

    /// Starts a server and waits until it listens; it ends with the page.
    fn serve(&mut self, process: &mut Command) -> Result<Ended, String> {
        let port = self.port.ok_or_else(|| format!("a command in the background must name port {PORT}"))?;
        self.servers.push(process.stdout(Stdio::null()).spawn().map_err(|e| format!("sh: {e}"))?);
        let began = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if began.elapsed() > LISTENS {
                return Err(format!("nothing listens on port {PORT} after {} s", LISTENS.as_secs()));
            }
            thread::yield_now();
        }
        Ok(Ended { printed: String::new(), code: Some(0) })
    }

    fn process(&self, command: &str) -> Command {
        if self.here.join("Cargo.toml").exists() || command.contains("cargo ") {
            let lock = self.here.join("Cargo.lock");
            if !lock.exists() {
                fs::copy(root().join("Cargo.lock"), lock).expect("the lock file of this repository");
            }
        }
        let mut process = Command::new("sh");
        process.arg("-c").current_dir(&self.here).stdin(Stdio::null());
        let ours = ["CARGO", "RUST", "RAGEVAL", "INSTA", "NEXTEST", "GITHUB"];
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            let home = matches!(&*name, "CARGO_HOME" | "RUSTUP_HOME" | "RUSTUP_TOOLCHAIN");
            if !home && (name == "CI" || name == "GIT_DIR" || ours.iter().any(|start| name.starts_with(start))) {
                process.env_remove(&*name);
            }
        }
        let program = Path::new(env!("CARGO_BIN_EXE_cargo-rageval"));
        let mut paths = vec![program.parent().expect("a folder").to_owned()];
        paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        process.env("PATH", std::env::join_paths(paths).expect("no path holds a colon"));
        process.env("CARGO_TARGET_DIR", target()).env("CARGO_INCREMENTAL", "0").env("CARGO_NET_OFFLINE", "true");
        process.env("RAGEVAL_RUNS", "target/rageval/runs").env("NO_COLOR", "1").env("CARGO_TERM_COLOR", "never");
        process
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        for server in &mut self.servers {
            // One that has ended needs no end.
            drop(server.kill());
            drop(server.wait());
        }
    }
}

/// The target folder of this repository: what the gate needs is built there already.
fn target() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-rageval"));
    program.ancestors().nth(2).expect("<target>/<profile>/cargo-rageval").to_owned()
}

/// Names of crates as a reader writes them, served from this repository, with its own profile, so that builds are shared.
fn cargo_configuration() -> String {
    let runner = root().join("rageval-runner");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
    let profiles = manifest.find("[profile.dev]").map_or("", |at| &manifest[at..]);
    format!("[patch.crates-io]\nrageval-runner = {{ path = {runner:?} }}\n\n{profiles}")
}

/// A text with each waiver's last day in the far future.
pub(crate) fn in_force(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("until") {
        let after = rest[at + 5..].trim_start_matches([':', ' ', '"']);
        let day = after.get(..10).filter(|day| day.starts_with("20") && day.as_bytes()[4] == b'-');
        let end = rest.len() - after.len() + day.map_or(0, str::len);
        kept.push_str(&rest[..rest.len() - after.len()]);
        kept.push_str(day.map_or("", |_| UNTIL));
        rest = &rest[end..];
    }
    kept + rest
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("an address").port()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            fs::create_dir(&target).expect("a folder");
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copied");
        }
    }
}
