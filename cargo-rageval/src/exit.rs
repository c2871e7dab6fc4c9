//! How the command ends: 0 pass, 1 a gate or case failed, 2 wrong usage or files, 3 could not be decided.

use std::{io, process::ExitCode};

use rageval_runner::{harness::Refusal, model::run::Conclusion};

/// How a command that ran to its end came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All is well: 0.
    Pass,
    /// A gate or a case failed: 1.
    Fail,
    /// Nothing could be measured: 3.
    Undecided,
    /// What can be decided passes, and a file that the rest needs is missing or can't be read: 2.
    Faulty,
}

impl From<Conclusion> for Ending {
    fn from(conclusion: Conclusion) -> Self {
        match conclusion {
            Conclusion::Pass => Self::Pass,
            Conclusion::Fail => Self::Fail,
            Conclusion::Undecided => Self::Undecided,
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Input(refusal.to_string())
    }
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line was not understood, or asks for help: clap knows the text and the code.
    Usage(Box<clap::Error>),
    /// A file or an argument is wrong: 2, with what to tell.
    Input(String),
    /// The output could not be written: 2. That its reader has had enough is no fault: see `out`.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// The process's exit code, after what must be told was told.
pub(crate) fn code(result: Result<Ending, Failure>) -> ExitCode {
    match result {
        Ok(Ending::Pass) => ExitCode::SUCCESS,
        Ok(Ending::Fail) => ExitCode::from(1),
        Ok(Ending::Undecided) => ExitCode::from(3),
        Ok(Ending::Faulty) => ExitCode::from(2),
        Err(Failure::Usage(error)) => {
            // A closed pipe is no reason to end otherwise than the text says.
            let _ = error.print();
            u8::try_from(error.exit_code()).map_or(ExitCode::from(2), ExitCode::from)
        }
        Err(Failure::Input(text)) => {
            // Problems of the policy and the cases are told as compilers tell them, and call themselves errors.
            tell(&if text.starts_with("error: ") { text } else { format!("error: {text}") });
            ExitCode::from(2)
        }
        Err(Failure::Output(error)) => {
            tell(&format!("error: cannot write the output: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Writes a line to standard error; one that is closed is no reason to fail.
pub(crate) fn tell(text: &str) {
    use io::Write;
    let _ = writeln!(io::stderr(), "{text}");
}
