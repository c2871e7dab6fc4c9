//! What the gate prints: each red trial with its text, then the run in few lines. Colours mark the words that say what a line is.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use rageval_runner::{
    gate::Population,
    model::run::{Conclusion, Decision},
    report::console::{OfSet, Summary, summary, text::visible},
};

use super::{Input, view::CaseView, why};

/// Writes it.
pub(crate) fn render(input: &Input<'_>, out: &mut dyn Write) -> io::Result<()> {
    let run = input.view.run;
    red(&run.decisions, out)?;
    let population = population(input);
    let lines = summary(&Summary {
        decisions: &run.decisions,
        cases: &run.cases.iter().map(OfSet::from).collect::<Vec<_>>(),
        population: population.as_ref(),
        waivers: &run.background.waivers,
        notices: &run.background.notices,
        run: &input.place,
    });
    let conclusion = match input.view.conclusion {
        Conclusion::Pass => AnsiColor::Green,
        Conclusion::Fail => AnsiColor::Red,
        Conclusion::Undecided => AnsiColor::Yellow,
    };
    for (at, line) in lines.iter().enumerate() {
        // The first line counts what passed and what did not.
        let line = if at == 0 { painted(conclusion.on_default().bold(), line) } else { labelled(line) };
        writeln!(out, "{line}")?;
    }
    if input.view.is_incomplete() {
        let label = if run.is_partial() { "partial" } else { "undecided" };
        writeln!(out, "{}", labelled(&format!("{label:<12}{}", visible(&input.view.headline()))))?;
    }
    Ok(())
}

/// Writes each red decision with its text, and an empty line behind it.
pub(crate) fn red(decisions: &[Decision], out: &mut dyn Write) -> io::Result<()> {
    for decision in decisions.iter().filter(|decision| decision.ruling.is_red()) {
        let head = format!("---- {} ----", visible(&decision.trial));
        writeln!(out, "{}", painted(Style::new().bold(), &head))?;
        for line in &decision.lines {
            writeln!(out, "{}", labelled(&why::line(line)))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The set against the baseline; `None` where there is none, and for runs of older versions.
fn population(input: &Input<'_>) -> Option<Population> {
    let baseline = input.view.run.background.baseline.as_ref()?;
    let is_paired = |case: &&CaseView<'_>| {
        case.golden.is_some() && !baseline.new.contains(case.id) && !baseline.changed.contains(case.id)
    };
    Some(Population {
        paired: input.view.cases.iter().filter(is_paired).map(|case| case.id.clone()).collect(),
        new: baseline.new.clone(),
        changed: baseline.changed.clone(),
        vanished: baseline.vanished.clone(),
    })
}

/// A line with its label in colour; a line that continues another has none.
fn labelled(line: &str) -> String {
    let Some((label, rest)) = line.split_once(' ').filter(|(label, _)| !label.is_empty()) else {
        return line.to_owned();
    };
    let style = match label {
        "failed" => AnsiColor::Red.on_default(),
        "unmeasured" | "undecided" | "partial" => AnsiColor::Yellow.on_default(),
        _ => Style::new().dimmed(),
    };
    format!("{} {rest}", painted(style, label))
}

pub(crate) fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
