//! One process for each question.

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use super::{
    MAX_REPLY_BYTES,
    process::{GRACE, Program},
    question_line,
};
use crate::{
    model::Unmeasured,
    system::{
        Asked, BoxFuture, Question, RagSystem, cause,
        excerpt::{self, excerpt},
        spec::CommandSpec,
        wire::{Object, Said},
    },
};

/// A program that is started for each question: the question on stdin, the reply on stdout.
#[derive(Debug)]
pub struct PerCase {
    program: Program,
}

impl PerCase {
    pub(super) fn new(program: Program) -> Self {
        Self { program }
    }

    /// `None` when the description names no program.
    pub(crate) fn open(spec: &CommandSpec) -> Option<Self> {
        Program::new(spec).map(Self::new)
    }

    /// Starts the program, gives it the line and returns all that it wrote to stdout.
    pub(crate) async fn exchange(&self, line: Vec<u8>) -> Result<Vec<u8>, Unmeasured> {
        let name = &self.program.name;
        let mut running = self.program.start()?;
        let (stdin, stdout) = (running.stdin.take(), running.stdout.take());
        let mut exchange = Box::pin(async move {
            let write = async {
                if let Some(mut stdin) = stdin {
                    // A program that does not read its question may answer all the same; if it does not, that is the fault to name.
                    let _ = stdin.write_all(&line).await;
                }
            };
            let read = async {
                match stdout {
                    Some(stdout) => read_bounded(stdout).await,
                    None => Ok(Vec::new()),
                }
            };
            tokio::join!(write, read).1
        });
        let read = tokio::select! {
            read = &mut exchange => read,
            _ = running.wait() => match timeout(GRACE, &mut exchange).await {
                Ok(read) => read,
                // Something that it started holds its streams open.
                Err(_) => {
                    running.tree.kill();
                    timeout(GRACE, &mut exchange).await.unwrap_or_else(|_| {
                        Err(format!("`{name}` ended and left its stdout open to a process that it had started"))
                    })
                }
            },
        };
        let bytes = read.map_err(|why| Unmeasured::new(cause::INVALID, why))?;
        let status = running.wait().await;
        if !status.is_ok_and(|status| status.success()) {
            return Err(Unmeasured::new(cause::CRASH, format!("`{name}` {}", running.ending().await.1)));
        }
        Ok(bytes)
    }

    /// The program as the policy writes it.
    pub(crate) fn name(&self) -> &str {
        &self.program.name
    }
}

impl RagSystem for PerCase {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Asked, Unmeasured>> {
        Box::pin(async {
            let bytes = self.exchange(question_line(question)).await?;
            let name = self.name();
            read_reply(&bytes, question).map_err(|fault| Unmeasured { why: format!("`{name}` {}", fault.why), ..fault })
        })
    }
}

async fn read_bounded(stdout: impl AsyncRead + Unpin) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut bounded = stdout.take(MAX_REPLY_BYTES as u64 + 1);
    bounded.read_to_end(&mut bytes).await.map_err(|error| format!("stdout can't be read: {error}"))?;
    if bytes.len() > MAX_REPLY_BYTES {
        return Err(format!("stdout is longer than {} MiB", MAX_REPLY_BYTES >> 20));
    }
    Ok(bytes)
}

/// The whole of stdout is one object.
fn read_reply(bytes: &[u8], question: &Question) -> Result<Asked, Unmeasured> {
    let invalid = |why: String| Err(Unmeasured::new(cause::INVALID, why));
    let shown = || excerpt(&String::from_utf8_lossy(bytes), excerpt::REPLY);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return invalid(format!("wrote what is not UTF-8: {}", shown()));
    };
    if text.trim().is_empty() {
        return invalid("wrote nothing to stdout".to_owned());
    }
    let object = match Object::parse(text) {
        Ok(object) => object,
        Err(error) => {
            let why = error.why;
            return invalid(format!(
                "must write one JSON object and nothing else to stdout ({why}), it wrote: {}",
                shown()
            ));
        }
    };
    match object.id() {
        Ok(None) => {}
        Ok(Some(id)) if id == question.case_id.as_str() => {}
        Ok(Some(id)) => {
            return invalid(format!("answered with the id `{}`, which is not that of the question", excerpt(&id, 60)));
        }
        Err(why) => return invalid(format!("wrote an unreadable reply: {why}")),
    }
    match object.said() {
        Ok(Said::Answer(asked)) => Ok(asked),
        Ok(Said::Error(why)) => Err(Unmeasured::new(cause::ERROR, format!("says: {why}"))),
        Err(problems) => {
            invalid(format!("wrote an unreadable reply: {}", excerpt(&problems.join("; "), excerpt::ERROR)))
        }
    }
}
