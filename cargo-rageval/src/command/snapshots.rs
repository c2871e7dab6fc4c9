//! `snapshots`: changed verdicts that wait for a person.

mod accept;

use clap::Subcommand;

use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Look at changed verdicts and accept them
#[derive(Debug, Subcommand)]
pub(crate) enum Snapshots {
    Accept(accept::Accept),
}

/// Does what the command line says.
pub(crate) fn run(command: &Snapshots, context: &Context) -> Result<Ending, Failure> {
    match command {
        Snapshots::Accept(accept) => accept::run(accept, context),
    }
}
