//! `snapshots`: what a run's verdicts mean for the snapshots that stand here, and changed verdicts that wait for a person.

mod accept;
mod apply;
mod place;

use clap::Subcommand;

use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Work with the snapshots of judge verdicts
#[derive(Debug, Subcommand)]
pub(crate) enum Snapshots {
    Apply(apply::Apply),
    Accept(accept::Accept),
}

/// Does what the command line says.
pub(crate) fn run(snapshots: &Snapshots, context: &Context) -> Result<Ending, Failure> {
    match snapshots {
        Snapshots::Apply(apply) => apply::run(apply, context),
        Snapshots::Accept(accept) => accept::run(accept, context),
    }
}
