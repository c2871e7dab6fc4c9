//! The command on a terminal: the bar of `run`, and the question of `watch`.

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    os::unix::{ffi::OsStrExt as _, fs::OpenOptionsExt as _},
    path::Path,
    process::{Child, Command},
    sync::mpsc::{Receiver, channel},
    thread,
};

use rustix::{
    fs::OFlags,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use super::{
    folder,
    running::{
        alone,
        endpoint::{Endpoint, LONG},
    },
    watching::interrupt,
};

const RULES: &str = "metrics:\n  recall@5: {min: 0.5, mean: {min: 0.6}}\n";

/// A program on a terminal of 100 columns; killed where a test ends before it.
struct Terminal {
    child: Child,
    keys: File,
    shown: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::of(alone(folder, arguments))
    }

    fn of(mut command: Command) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).expect("granted");
        unlockpt(&ours).expect("unlocked");
        let name = ptsname(&ours, Vec::new()).expect("a name");
        let size = Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&ours, size).expect("sized");
        let flag = i32::try_from(OFlags::NOCTTY.bits()).expect("a flag");
        let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
        let theirs = OpenOptions::new().read(true).write(true).custom_flags(flag).open(path).expect("opened");
        let copy = || theirs.try_clone().expect("a copy");
        command.stdin(copy()).stdout(copy()).stderr(copy()).env("TERM", "xterm").env_remove("NO_COLOR");
        let child = command.spawn().expect("the program starts");
        drop((command, theirs));
        let keys = File::from(ours);
        let mut screen = keys.try_clone().expect("a copy");
        let (sender, shown) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Once nobody has the terminal open, reading from it is an error.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, keys, shown, seen: String::new() }
    }

    /// What was shown up to a text, which must come.
    #[track_caller]
    fn says(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.seen.find(text) {
                return self.seen.drain(..at + text.len()).collect();
            }
            let seen = &self.seen;
            let more = self.shown.recv_timeout(LONG).unwrap_or_else(|_| panic!("{text} was never shown, but {seen:?}"));
            self.seen.push_str(&String::from_utf8_lossy(&more));
        }
    }

    fn types(&mut self, text: &str) {
        self.keys.write_all(text.as_bytes()).expect("typed");
    }

    fn ends(&mut self) -> Option<i32> {
        self.child.wait().expect("ended").code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A run of three cases on a terminal, of which one waits for its answer.
fn one_answer_missing() -> (tempfile::TempDir, Endpoint, Terminal) {
    let (folder, endpoint) = (folder(), Endpoint::start());
    endpoint.project(folder.path(), RULES);
    endpoint.hold("ask-a");
    let terminal = Terminal::start(folder.path(), &["run"]);
    (folder, endpoint, terminal)
}

#[test]
fn the_bar_says_what_is_waited_for_then_how_far_it_is_and_goes() {
    let (_folder, endpoint, mut terminal) = one_answer_missing();
    let said = terminal.says("waiting for the first answer");
    assert!(said.contains("0/3 cases") && !said.contains("left"), "{said:?}");
    terminal.says("2/3 cases  ");
    let said = terminal.says(" s left");
    assert!(said.contains(" a second  "), "{said:?}");
    endpoint.release();
    let said = terminal.says("3 cases: 3 passed; 4 gates: 4 passed");
    assert!(said.contains("\r\u{1b}[2K"), "the bar is taken away: {said:?}");
    assert_eq!(terminal.ends(), Some(0));
}

#[test]
fn an_interrupted_bar_leaves_the_screen_to_what_is_said() {
    let (_folder, endpoint, mut terminal) = one_answer_missing();
    terminal.says("2/3 cases");
    interrupt(&terminal.child);
    terminal.says("\u{1b}[2Kinterrupted: 2 of 3 cases are done; go on with: cargo rageval run --resume");
    assert_eq!(terminal.ends(), Some(130));
    endpoint.release();
}

#[test]
fn a_judge_that_may_cost_money_is_asked_after_a_yes_on_the_terminal() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    let project = |bar: &str| {
        let rest = "judge: {provider: openai, base_url: \"http://127.0.0.1:9/v1\", model: m-2026-01-01}\nbudget: {requests: 5}\n";
        endpoint.project(folder.path(), &format!("{rest}metrics:\n  recall@5: {{mean: {{min: {bar}}}}}\n"));
    };
    project("0.6");
    let mut terminal = Terminal::start(folder.path(), &["watch"]);
    terminal.says("asking 3 cases");
    terminal.says("ask? [y/N]");
    assert_eq!(endpoint.asked(), Vec::<String>::new());
    terminal.types("n\n");
    terminal.says("not asked: the next change asks again");
    terminal.says("waiting for changes");
    assert_eq!(endpoint.asked(), Vec::<String>::new());
    project("0.7");
    terminal.says("ask? [y/N]");
    terminal.types("y\n");
    terminal.says("3 cases: 3 passed");
    terminal.says("waiting for changes");
    assert_eq!(endpoint.asked().len(), 3);
    project("0.6");
    terminal.says("nothing is asked");
    terminal.says("waiting for changes");
    interrupt(&terminal.child);
    terminal.says("watch ended");
    assert_eq!(terminal.ends(), Some(0));
}
