//! Goes through the items, key by key.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use rageval_runner::{
    model::{Human, Item, Label, MetricKey, Place, UnitInterval, Verdict},
    report::console::text::visible,
    store::labels::{LabelFile, Texts},
};

use super::{
    keys::{Keys, Typed},
    screen,
};
use crate::exit::Failure;

/// An item that is to be labelled, and how many of the run it stands for.
#[derive(Debug)]
pub(super) struct ToLabel {
    pub(super) item: Item,
    pub(super) weight: f64,
}

/// One sitting of one person.
pub(super) struct Session<'a> {
    pub(super) metric: &'a MetricKey,
    pub(super) annotator: &'a str,
    pub(super) set_version: Option<String>,
    pub(super) items: Vec<ToLabel>,
    /// Items of the draw that this person had labelled before.
    pub(super) before: usize,
    /// Items whose texts stand in some file of labels.
    pub(super) known: BTreeSet<String>,
    pub(super) keys: Keys,
}

/// What a person decides about an item.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    Said(Human),
    Skip,
    Back,
    Note,
    Help,
    Quit,
}

/// What became of an item of this sitting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Labelled { with_texts: bool },
    Skipped,
}

impl Session<'_> {
    /// Asks until all is labelled or skipped, the person quits, or the input ends; gives how many labels it wrote.
    pub(super) fn run(mut self, mut file: LabelFile) -> Result<usize, Failure> {
        let takes_verdicts = self.items.iter().all(|one| one.item.claim.is_some());
        let all = self.before + self.items.len();
        let mut done: Vec<Done> = Vec::new();
        let mut note: Option<String> = None;
        print(&screen::start(self.metric, all, self.before, takes_verdicts))?;
        print(&screen::help(takes_verdicts))?;
        while let Some(one) = self.items.get(done.len()) {
            print(&screen::item(&one.item, self.before + done.len() + 1, all))?;
            let choice = loop {
                ask(&screen::prompt(takes_verdicts))?;
                let Some(typed) = self.keys.next()? else {
                    end_line()?;
                    return Ok(written(&done));
                };
                match choice(&typed, takes_verdicts) {
                    Some(Choice::Help) => print(&screen::help(takes_verdicts))?,
                    Some(Choice::Note) => {
                        let text = if typed.rest.is_empty() { self.keys.text("note: ")? } else { Some(typed.rest) };
                        note = text.filter(|text| !text.is_empty());
                        print(&["the note goes with the label that you give next".to_owned()])?;
                    }
                    Some(choice) => break choice,
                    None => print(&[format!("`{}` is no key here; ? shows all", visible(&typed.word))])?,
                }
            };
            match choice {
                Choice::Said(human) => {
                    let with_texts = self.known.insert(one.item.id.clone());
                    let label = Label {
                        item: one.item.id.clone(),
                        metric: self.metric.clone(),
                        human,
                        annotator: self.annotator.to_owned(),
                        weight: one.weight,
                        note: note.take(),
                        place: Place::default(),
                    };
                    let texts =
                        if with_texts { Texts::Here(&one.item, self.set_version.as_deref()) } else { Texts::Elsewhere };
                    file.append(&label, texts).map_err(|error| Failure::Input(error.to_string()))?;
                    print(&[screen::said(human)])?;
                    done.push(Done::Labelled { with_texts });
                }
                Choice::Skip => {
                    note = None;
                    print(&["skipped: it is asked again next time".to_owned()])?;
                    done.push(Done::Skipped);
                }
                Choice::Back => match done.pop() {
                    None => print(&["this is the first item of this sitting; nothing to take back".to_owned()])?,
                    Some(Done::Skipped) => print(&["back to the one that was skipped".to_owned()])?,
                    Some(Done::Labelled { with_texts }) => {
                        file.take_back().map_err(|error| Failure::Input(error.to_string()))?;
                        if with_texts {
                            self.known.remove(&self.items[done.len()].item.id);
                        }
                        print(&["the last label was taken back".to_owned()])?;
                    }
                },
                Choice::Quit => break,
                Choice::Note | Choice::Help => {}
            }
        }
        Ok(written(&done))
    }
}

fn written(done: &[Done]) -> usize {
    done.iter().filter(|done| matches!(done, Done::Labelled { .. })).count()
}

/// What was typed, as a key or as the word that it stands for; `None`: neither.
fn choice(typed: &Typed, takes_verdicts: bool) -> Option<Choice> {
    let verdict = |verdict| takes_verdicts.then_some(Choice::Said(Human::Verdict(verdict)));
    match typed.word.as_str() {
        "s" | "supported" => verdict(Verdict::Supported),
        "i" | "inferred" => verdict(Verdict::Inferred),
        "u" | "unsupported" => verdict(Verdict::Unsupported),
        "c" | "contradicted" => verdict(Verdict::Contradicted),
        "k" | "skip" => Some(Choice::Skip),
        "z" | "back" | "undo" => Some(Choice::Back),
        "n" | "note" => Some(Choice::Note),
        "?" | "help" => Some(Choice::Help),
        "q" | "quit" => Some(Choice::Quit),
        key @ ("1" | "2" | "3" | "4" | "5") if !takes_verdicts => {
            let step = f64::from(key.parse::<u8>().ok()? - 1);
            UnitInterval::new(step / 4.0).ok().map(|score| Choice::Said(Human::Score(score)))
        }
        _ => None,
    }
}

fn print(lines: &[String]) -> io::Result<()> {
    let mut out = crate::out::stdout();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

fn ask(prompt: &str) -> io::Result<()> {
    let mut out = crate::out::stdout();
    write!(out, "{prompt}")?;
    out.flush()
}

/// Ends the line of a prompt that was not answered.
fn end_line() -> io::Result<()> {
    print(&[String::new()])
}
