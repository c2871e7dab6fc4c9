//! What `init` says at its end: how the first run went, and the next three steps.

use super::{first_run, place::Place, plan::Plan, system::System};
use crate::exit::Ending;

/// The command that is the gate.
pub(super) fn gate(place: &Place) -> &'static str {
    if place.package.is_some() { "cargo test --test rag_regression" } else { "cargo rageval run" }
}

/// The whole text; `went` is how the first run ended, if there was one.
pub(super) fn text(plan: &Plan, place: &Place, system: &System, went: Option<Ending>, no_run: bool) -> String {
    let (gate, review) = match place.package {
        Some(_) => (gate(place), "cargo insta review"),
        None => (gate(place), "cargo rageval snapshots accept"),
    };
    let kept = first_run::snapshots(&place.root);
    // Started again, `init` runs the gate only where no verdict was kept yet.
    let again = if kept == 0 {
        "`cargo rageval init` then runs it again, and keeps the first verdicts".to_owned()
    } else {
        format!("then run {gate}, and accept what is new: {review}")
    };
    let went = match went {
        Some(Ending::Pass) if kept > 0 => format!(
            "The first run passed. What the judge said is kept in {kept} snapshots ({}), which nobody has reviewed yet: read them before you commit \
             them.",
            if place.package.is_some() { "tests/snapshots" } else { "snapshots" }
        ),
        Some(Ending::Pass) => "The first run passed.".to_owned(),
        Some(Ending::Fail) => format!("The first run is red: why stands above. Correct it; {again}."),
        Some(Ending::Undecided) => {
            let how = match system {
                System::Http(_) => "Start the system, or correct its entry in thresholds.yaml",
                System::Function | System::Command(_) | System::Recorded(_) => "Correct it",
            };
            format!("The first run could not be decided: why stands above. {how}; {again}.")
        }
        Some(Ending::Faulty) => format!("The first run did not start: why stands above. Correct it; {again}."),
        None if plan.blocked => "Nothing was run: do by hand what is named above first.".to_owned(),
        None if no_run => "Nothing was run (--no-run).".to_owned(),
        None => "Nothing was run: there are snapshots already.".to_owned(),
    };
    let cases = place.shown(&plan.cases);
    let mut first = match (&plan.example, system) {
        (Some(example), System::Recorded(_)) => {
            format!(
                "put the answers of your system in the place of those in {}, and your questions in {cases}",
                place.shown(example)
            )
        }
        (Some(example), System::Function | System::Http(_) | System::Command(_)) => {
            format!(
                "{} answers from an example: put your system there, and your questions in {cases}",
                place.shown(example)
            )
        }
        (None, _) => format!("put your own questions in {cases}"),
    };
    if plan.warns {
        first += ", then take `level: warn` out of thresholds.yaml: until then no score makes a run red; then take the `#` before its `waive` away too";
    }
    let folder = place.shown(&place.root);
    let there = if folder == "." { String::new() } else { format!(" (in {folder})") };
    format!(
        "\n{went}\n\nNext:\n  1. {first}\n  2. {gate}{there}: green while the bars of thresholds.yaml hold; changed verdicts: {review}\n  \
         3. cargo rageval baseline accept{there}: later runs are held against that one, once thresholds.yaml names it"
    )
}
