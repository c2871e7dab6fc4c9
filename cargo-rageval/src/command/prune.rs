//! `prune`: removes what runs leave behind and nobody needs.

use std::{fmt::Write as _, io::Write};

use clap::Args;
use rageval_runner::store::prune::{self, Leftover, OfTarget};

use super::replies;
use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Remove old runs, and what ended processes left
///
/// Of each test target the newest runs stay, what `latest` names stays whatever its age, and so does a run that may be going on. Of runs that
/// stay, locks go once they have ended, and so do temporary files of writers that died. Nothing outside the folder of run folders is touched,
/// but for --replies; symbolic links are neither followed nor removed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval prune --dry-run
  cargo rageval prune --runs 5
  cargo rageval prune --replies      # and stored replies that the latest run does not use

The gate itself keeps the newest 20 runs of a target whenever a run ends. Don't prune while a run is going on.")]
pub(crate) struct Prune {
    /// Runs of each test target that stay
    #[arg(long, value_name = "N", default_value_t = 20)]
    runs: usize,
    /// Also do what `cargo rageval replies prune` does
    #[arg(long)]
    replies: bool,
    /// Remove nothing, and say what would be removed
    #[arg(long)]
    dry_run: bool,
}

/// Removes them, and tells.
pub(crate) fn run(command: &Prune, context: &Context) -> Result<Ending, Failure> {
    // First, since it reads the latest run and may refuse: then nothing is removed at all.
    if command.replies {
        replies::prune(context, command.dry_run)?;
    }
    let input = |error: rageval_runner::store::StoreError| Failure::Input(error.to_string());
    let targets = prune::leftovers(&context.runs, command.runs).map_err(input)?;
    let mut out = crate::out::stdout();
    if targets.is_empty() {
        writeln!(out, "{}: no runs there", context.runs.display())?;
    }
    let mut freed = 0;
    for target in &targets {
        if !command.dry_run {
            for leftover in target.surplus.iter().chain(&target.stale) {
                prune::remove(leftover).map_err(input)?;
            }
        }
        freed += bytes(&target.surplus) + bytes(&target.stale);
        write!(out, "{}", told(target, command.dry_run))?;
    }
    if targets.len() > 1 {
        writeln!(out, "{} in all: {}", if command.dry_run { "would be freed" } else { "freed" }, size(freed))?;
    }
    out.flush()?;
    Ok(Ending::Pass)
}

fn told(target: &OfTarget, dry_run: bool) -> String {
    let verb = if dry_run { "would be removed" } else { "removed" };
    let OfTarget { folder, kept, surplus, stale } = target;
    let stays = if *kept == 1 { "stays" } else { "stay" };
    let mut text = format!(
        "{}: {} {verb} ({}), {kept} {stays}\n",
        folder.display(),
        replies::count(surplus.len(), "run", "runs"),
        size(bytes(surplus))
    );
    for run in surplus {
        let name = run.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let _ = writeln!(text, "  {verb}: {name} ({})", size(run.bytes));
    }
    if !stale.is_empty() {
        let files = replies::count(stale.len(), "stale lock or temporary file", "stale locks and temporary files");
        let _ = writeln!(text, "  {verb}: {files} ({})", size(bytes(stale)));
    }
    text
}

fn bytes(leftovers: &[Leftover]) -> u64 {
    leftovers.iter().map(|leftover| leftover.bytes).sum()
}

/// Bytes as a person reads them.
fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_told_in_units_of_1024() {
        let told = [0, 1023, 1024, 1536, 5 << 20, 3 << 30].map(size);
        assert_eq!(told, ["0 bytes", "1023 bytes", "1.0 KiB", "1.5 KiB", "5.0 MiB", "3.0 GiB"]);
    }
}
