//! System kind `command`: a program that takes and gives JSON lines.

mod per_case;
mod per_run;
mod process;
mod waiting;

use serde_json::json;

use self::process::Program;
pub use self::{per_case::PerCase, per_run::PerRun};
use super::{
    Asked, Question, RagSystem, SetupError, cause,
    excerpt::{self, excerpt},
    spec::{CommandSpec, Per},
    wire::{Object, Said},
};
use crate::model::Unmeasured;

/// Bytes of one reply that are read; a longer one is a fault.
pub const MAX_REPLY_BYTES: usize = 16 << 20;

/// How often a process for all cases is started again after it ended before its time.
pub const RESTARTS: u32 = 3;

/// The system that a program is. Nothing is started yet.
pub fn open(spec: &CommandSpec) -> Result<Box<dyn RagSystem>, SetupError> {
    let program = Program::new(spec).ok_or_else(|| SetupError::of("system.run: names no program"))?;
    Ok(match spec.per {
        Per::Run => Box::new(PerRun::new(program)),
        Per::Case => Box::new(PerCase::new(program)),
    })
}

/// A question as programs read it: one line.
fn question_line(question: &Question) -> Vec<u8> {
    let mut line = json!({
        "id": question.case_id.as_str(),
        "query": question.query,
        "language": question.language,
        "metadata": question.metadata,
    });
    if let Some(repeat) = question.repeat {
        line["repeat"] = repeat.into();
    }
    let mut line = line.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// The answer that a line of a process for all questions holds.
fn read_answer(line: &str) -> Result<Asked, Unmeasured> {
    let unreadable = |why: String| Unmeasured::new(cause::INVALID, format!("wrote an unreadable reply: {why}"));
    match Object::parse(line).map_err(|error| unreadable(error.why))?.said() {
        Ok(Said::Answer(asked)) => Ok(asked),
        Ok(Said::Error(why)) => Err(Unmeasured::new(cause::ERROR, format!("says: {why}"))),
        Err(problems) => Err(unreadable(excerpt(&problems.join("; "), excerpt::ERROR))),
    }
}
