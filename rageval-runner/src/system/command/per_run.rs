//! One process for all questions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::mpsc,
    task::JoinHandle,
};

use super::{
    MAX_REPLY_BYTES, RESTARTS,
    process::{Program, Running, Tree},
    question_line, read_answer,
    waiting::{Entered, Left, Receiver, Strays, WaitingRoom},
};
use crate::{
    model::{GoldenSet, Unmeasured},
    system::{Asked, BoxFuture, Question, RagSystem, cause, spec::CommandSpec},
};

/// Nobody reads the process any more, as when its runtime is shut down.
const ABANDONED: &str = "was ended before it answered";

/// A program that is started with the first question and answers all of them, in any order.
///
/// When it ends before its time, the questions it had are unmeasured, and it is started again for the next ones, at most
/// [`RESTARTS`] times. A question that runs into its time limit while no other is answered ends the process as well: it hangs.
#[derive(Debug)]
pub struct PerRun {
    program: Program,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    session: Option<Session>,
    starts: u32,
    /// Of the processes before this one.
    strays: Strays,
    /// Why it cannot be started: the same for every question, so it is tried once.
    failure: Option<Unmeasured>,
}

impl PerRun {
    pub(super) fn new(program: Program) -> Self {
        Self { program, state: Mutex::default() }
    }

    /// `None` when the description names no program.
    pub(crate) fn open(spec: &CommandSpec) -> Option<Self> {
        Program::new(spec).map(Self::new)
    }

    /// Sends a line that holds this id; returns the line with the same id that comes back.
    pub(crate) async fn exchange(&self, id: &str, line: Vec<u8>) -> Result<String, Unmeasured> {
        let (place, reply) = self.enter(id, line)?;
        let reply = match reply.await {
            Ok(reply) => reply,
            Err(_) => Err(Unmeasured::new(cause::CRASH, ABANDONED)),
        };
        drop(place);
        reply.map_err(|fault| self.named(fault))
    }

    fn named(&self, fault: Unmeasured) -> Unmeasured {
        Unmeasured { why: format!("`{}` {}", self.program.name, fault.why), ..fault }
    }

    /// What the program did that nobody can be blamed for.
    pub(crate) fn strays(&self) -> Vec<String> {
        let state = lock(&self.state);
        let mut strays = state.strays.clone();
        if let Some(session) = &state.session {
            strays.append(lock(&session.room).strays().clone());
        }
        match (strays.first.first(), strays.count) {
            (None, _) => Vec::new(),
            (Some(first), 1) => vec![format!("`{}` {first}", self.program.name)],
            (Some(first), count) => {
                vec![format!(
                    "`{}` wrote {count} lines to stdout that belong to no question; it first {first}",
                    self.program.name
                )]
            }
        }
    }

    /// Sends the line to the process that runs, or to a new one.
    fn enter(&self, id: &str, line: Vec<u8>) -> Result<(Place, Receiver), Unmeasured> {
        let mut state = lock(&self.state);
        let entered = state.session.as_ref().and_then(|session| session.enter(id));
        let (ticket, reply) = match entered {
            Some(entered) => entered,
            None => self.start(&mut state, id)?,
        };
        let session = state.session.as_ref().ok_or_else(|| self.gone(&state))?;
        // The writer is gone only when the process is, and then the room is closed in a moment.
        let _ = session.questions.send(line);
        let place =
            Place { room: Arc::clone(&session.room), tree: Arc::clone(&session.tree), ticket, id: id.to_owned() };
        Ok((place, reply))
    }

    /// Starts a process in which this question waits already.
    fn start(&self, state: &mut State, id: &str) -> Result<Entered, Unmeasured> {
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        if state.starts > RESTARTS {
            return Err(self.gone(state));
        }
        state.starts += 1;
        if let Some(last) = state.session.take() {
            state.strays.append(lock(&last.room).strays().clone());
        }
        match Session::start(&self.program, id) {
            Ok((session, entered)) => {
                state.session = Some(session);
                Ok(entered)
            }
            Err(fault) => {
                state.failure = Some(fault.clone());
                Err(fault)
            }
        }
    }

    fn gone(&self, state: &State) -> Unmeasured {
        let last =
            state.session.as_ref().and_then(|session| lock(&session.room).closed().map(|fault| fault.why.clone()));
        let last = last.unwrap_or_else(|| "left no word".to_owned());
        let why = format!(
            "`{}` was started {} times and is not started again; the last one {last}",
            self.program.name, state.starts
        );
        Unmeasured::new(cause::CRASH, why)
    }
}

impl RagSystem for PerRun {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Asked, Unmeasured>> {
        Box::pin(async {
            let line = self.exchange(question.case_id.as_str(), question_line(question)).await?;
            read_answer(&line).map_err(|fault| self.named(fault))
        })
    }

    fn notices(&self, _set: &GoldenSet) -> Vec<String> {
        self.strays()
    }
}

/// One process with everything that talks to it. Dropped, it is killed.
#[derive(Debug)]
struct Session {
    /// Lines for the writer, so that a question that is given up is never cut in the middle of its line.
    questions: mpsc::UnboundedSender<Vec<u8>>,
    room: Arc<Mutex<WaitingRoom>>,
    tree: Arc<Tree>,
    serving: JoinHandle<()>,
}

impl Session {
    /// The first question waits before anything is read, so that what the program says at its start is held against it, however early it comes.
    fn start(program: &Program, first: &str) -> Result<(Self, Entered), Unmeasured> {
        let mut running = program.start()?;
        let (questions, lines) = mpsc::unbounded_channel();
        let (room, entered) = WaitingRoom::opened_for(first);
        let room = Arc::new(Mutex::new(room));
        let tree = Arc::clone(&running.tree);
        let (stdin, stdout) = (running.stdin.take(), running.stdout.take());
        let closing = CloseOnDrop(Arc::clone(&room));
        let serving = tokio::spawn(async move {
            if let (Some(stdin), Some(stdout)) = (stdin, stdout) {
                serve(running, stdin, stdout, lines, &closing.0).await;
            }
        });
        Ok((Self { questions, room, tree, serving }, entered))
    }

    fn enter(&self, id: &str) -> Option<Entered> {
        lock(&self.room).enter(id)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.tree.kill();
        self.serving.abort();
    }
}

/// Sees to it that nobody waits for a reply that nobody reads, however the task ends.
struct CloseOnDrop(Arc<Mutex<WaitingRoom>>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        lock(&self.0).close(&Unmeasured::new(cause::CRASH, ABANDONED));
    }
}

/// Writes questions and reads replies until the process ends; then closes the room.
async fn serve(
    mut running: Running,
    stdin: ChildStdin,
    stdout: ChildStdout,
    lines: mpsc::UnboundedReceiver<Vec<u8>>,
    room: &Mutex<WaitingRoom>,
) {
    let writing = write_lines(stdin, lines);
    let reading = read_lines(BufReader::with_capacity(64 << 10, stdout), room);
    tokio::pin!(writing, reading);
    let mut writes = true;
    let end = loop {
        tokio::select! {
            end = &mut reading => break end,
            // It reads no more; what it still says counts.
            () = &mut writing, if writes => writes = false,
        }
    };
    let fault = match end {
        End::TooLong => {
            running.tree.kill();
            Unmeasured::new(
                cause::INVALID,
                format!("wrote a line of more than {} MiB and was ended", MAX_REPLY_BYTES >> 20),
            )
        }
        End::Closed => {
            let (status, how) = running.ending().await;
            let answered = lock(room).replies();
            let early = status.is_some_and(|status| status.success()) && answered <= 1;
            let hint = if early { "; a program that answers one question and ends needs `per: case`" } else { "" };
            Unmeasured::new(cause::CRASH, format!("{how}{hint}"))
        }
    };
    lock(room).close(&fault);
}

async fn write_lines(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(&line).await.is_err() {
            break;
        }
    }
}

enum End {
    Closed,
    TooLong,
}

async fn read_lines(mut stdout: impl AsyncBufRead + Unpin, room: &Mutex<WaitingRoom>) -> End {
    let mut line = Vec::new();
    loop {
        let (found, used) = match stdout.fill_buf().await {
            Ok([]) | Err(_) => {
                // A last line without its end is a line, or the cut one that says why the process died.
                if !line.is_empty() {
                    lock(room).line(&line);
                }
                return End::Closed;
            }
            Ok(buffer) => match buffer.iter().position(|byte| *byte == b'\n') {
                Some(at) => {
                    line.extend_from_slice(&buffer[..at]);
                    (true, at + 1)
                }
                None => {
                    line.extend_from_slice(buffer);
                    (false, buffer.len())
                }
            },
        };
        stdout.consume(used);
        if line.len() > MAX_REPLY_BYTES {
            return End::TooLong;
        }
        if found {
            lock(room).line(&line);
            line.clear();
        }
    }
}

/// A question's place in the room; dropped before the reply came, it is given up.
struct Place {
    room: Arc<Mutex<WaitingRoom>>,
    tree: Arc<Tree>,
    ticket: u64,
    id: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut room = lock(&self.room);
        match room.leave(self.ticket) {
            Left::Working | Left::Done => {}
            Left::Hung => {
                let why = format!("was ended, since it answered nothing while `{}` ran into its time limit", self.id);
                room.close(&Unmeasured::new(cause::CRASH, why));
                self.tree.kill();
            }
        }
    }
}

/// No code that holds one of these locks can panic halfway through a change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
