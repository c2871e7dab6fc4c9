//! The command of rageval: scores recorded rankings, accepts baselines, has steps written, prints schemas.

mod asking;
mod command;
mod context;
mod exchange;
mod exit;
mod out;
mod report;

use std::process::ExitCode;

fn main() -> ExitCode {
    exit::code(command::run(&context::Context::from_environment()))
}
