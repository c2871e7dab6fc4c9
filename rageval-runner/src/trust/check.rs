//! Checks that the judge's name stays with one model and that it grades no model of its own family.

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::{
    family::{Kin, kin},
    generators::Generators,
    pin::{Pin, pin},
    waiver::{Waivable, Waiver},
};
use crate::model::{Place, run::JudgeStamp};

/// Providers whose judges are code: of no family, and with no name that moves.
pub(crate) const CODE: [&str; 2] = ["offline", "scripted"];

/// The provider whose judge is a program of the user, named as the user likes.
pub(crate) const PROGRAM: &str = "command";

/// Whether this judge is checked at all: it is, or may be, a model.
pub fn concerns(judge: &JudgeStamp) -> bool {
    !CODE.contains(&judge.provider.as_str())
}

/// What the policy says for the check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// The judge.
    pub judge: Party,
    /// The system that is judged.
    pub system: Party,
    /// What is waived, each at most once.
    pub waivers: Vec<Waiver>,
}

/// What the policy says of one side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Party {
    /// Its family, where its name does not tell; `none` for what is no model.
    pub family: Option<String>,
    /// Where it stands.
    pub place: Place,
}

/// What the check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// What is red, each in lines: what is wrong, then what to do.
    pub refused: Vec<Vec<String>>,
    /// Waivers that hold and are needed: to be printed on every run.
    pub waived: Vec<String>,
    /// What changes nothing and somebody should know.
    pub notices: Vec<String>,
}

/// Checks the judge of a run against the generator of its answers and against what the policy waives on this day in UTC.
///
/// `embedder` is the model of a hosted embedder; `None` where there is none.
pub fn check(
    judge: &JudgeStamp,
    generators: &Generators,
    embedder: Option<&str>,
    declared: &Declared,
    today: Date,
) -> Trust {
    let mut trust = Trust::default();
    let mut faults = Vec::new();
    if concerns(judge) {
        pinned(judge, declared, &mut faults, &mut trust.notices);
        faults.extend(undeclared(judge, generators, declared));
        not_itself(judge, generators, declared, &mut faults, &mut trust.notices);
    }
    if let Some((model, Pin::Floating(alias))) = embedder.map(|model| (model, pin(model))) {
        trust
            .notices
            .push(format!("{} moves the embedder's name `{model}`: prefer one as `{}`", alias.provider, alias.instead));
    }
    for fault in &faults {
        let waiver = declared.waivers.iter().find(|waiver| waiver.what == fault.what);
        match waiver {
            Some(waiver) if waiver.holds_on(today) => {
                trust.waived.push(format!("{} until {}: {}", waiver.what.as_str(), waiver.until, waiver.reason));
            }
            Some(waiver) => trust.refused.push(
                fault.told(&format!("or waive it anew: the waiver at {} expired on {}", waiver.place, waiver.until)),
            ),
            None => trust.refused.push(fault.told(&format!(
                "or waive it in writing: `waive: {{{}: {{reason: WHY, until: YYYY-MM-DD}}}}`",
                fault.what.as_str()
            ))),
        }
    }
    let unused = declared.waivers.iter().filter(|waiver| !faults.iter().any(|fault| fault.what == waiver.what));
    trust.notices.extend(unused.map(|waiver| {
        let end = if waiver.holds_on(today) { "" } else { ", and has expired" };
        format!("{}: `waive.{}` waives nothing{end}; remove it", waiver.place, waiver.what.as_str())
    }));
    trust
}

/// Something that is red unless it is waived.
struct Fault {
    what: Waivable,
    why: String,
    todo: String,
}

impl Fault {
    fn told(&self, waiving: &str) -> Vec<String> {
        vec![self.why.clone(), self.todo.clone(), waiving.to_owned()]
    }
}

fn pinned(judge: &JudgeStamp, declared: &Declared, faults: &mut Vec<Fault>, notices: &mut Vec<String>) {
    let model = &judge.model;
    match pin(model) {
        Pin::Fixed => {}
        Pin::Floating(alias) => faults.push(Fault {
            what: Waivable::Alias,
            why: format!(
                "{}: {} moves the judge's name `{model}` to other models, so two runs may have two judges",
                declared.judge.place, alias.provider
            ),
            todo: format!("name a model that stays, as in `model: {}`", alias.instead),
        }),
        // What a program calls itself is for its user to say.
        Pin::Unknown if judge.provider == PROGRAM => {}
        Pin::Unknown => {
            notices.push(format!("not known whether the judge's name `{model}` moves: prefer a dated one"));
        }
    }
}

/// That nobody says which models write the answers, or that the policy and the system say different ones.
fn undeclared(judge: &JudgeStamp, generators: &Generators, declared: &Declared) -> Option<Fault> {
    let (place, model) = (&declared.system.place, &judge.model);
    let told = generators.told.as_ref()?;
    let Some(generator) = &generators.declared else {
        if told.silent == 0 && !told.models.is_empty() {
            return None;
        }
        let which = if told.models.is_empty() {
            "the answers".to_owned()
        } else {
            format!("the answers, of which {} name none", told.silent)
        };
        return Some(Fault {
            what: Waivable::Generator,
            why: format!(
                "{place}: no `system.generator` says which model writes {which}, so the judge `{model}` may grade its own family"
            ),
            todo: "add `generator: MODEL` to `system`, and `family: none` beside it where no model writes them"
                .to_owned(),
        });
    };
    let others = generators.others();
    (!others.is_empty()).then(|| Fault {
        what: Waivable::Generator,
        why: format!(
            "{place}: `system.generator` declares `{generator}`, but the system says that its answers are written by {}",
            quoted(&others)
        ),
        todo: "declare what writes the answers; a system that says it itself with each answer needs no `system.generator`".to_owned(),
    })
}

fn not_itself(
    judge: &JudgeStamp,
    generators: &Generators,
    declared: &Declared,
    faults: &mut Vec<Fault>,
    notices: &mut Vec<String>,
) {
    let model = &judge.model;
    let judge_kin = kin(model, declared.judge.family.as_deref());
    let mut kindred = Vec::new();
    let mut families = BTreeSet::new();
    let mut unknown = Vec::new();
    for generator in generators.all() {
        match (&judge_kin, kin(generator, declared.system.family.as_deref())) {
            (Kin::NoModel, _) | (_, Kin::NoModel) => {}
            (Kin::Of(judges), Kin::Of(systems)) => {
                let shared: Vec<String> = judges.intersection(&systems).cloned().collect();
                if !shared.is_empty() {
                    kindred.push(generator);
                    families.extend(shared);
                }
            }
            (Kin::Of(_) | Kin::Unknown, Kin::Unknown) => unknown.push(generator),
            (Kin::Unknown, Kin::Of(_)) => {}
        }
    }
    if !kindred.is_empty() {
        let s = if kindred.len() == 1 { "" } else { "s" };
        faults.push(Fault {
            what: Waivable::Family,
            why: format!(
                "{}: the judge `{model}` and the generator{s} {} are of one family, {}: models favour their own",
                declared.judge.place,
                quoted(&kindred),
                families.into_iter().collect::<Vec<_>>().join(", ")
            ),
            todo: "let a model of another family judge".to_owned(),
        });
    }
    if generators.all().is_empty() {
        return;
    }
    match (judge_kin == Kin::Unknown, unknown.as_slice()) {
        (false, []) => {}
        (false, unknown) => {
            let s = if unknown.len() == 1 { "" } else { "s" };
            notices.push(format!("family of the generator{s} {} not known: declare `system.family`", quoted(unknown)));
        }
        (true, []) if declared_no_model(generators, declared) => {}
        (true, []) => notices.push(format!("family of the judge `{model}` not known: declare `judge.family`")),
        (true, _) => {
            notices
                .push("families of judge and generator not known: declare `judge.family`, `system.family`".to_owned());
        }
    }
}

/// Whether all answers are written by what is declared to be no model.
fn declared_no_model(generators: &Generators, declared: &Declared) -> bool {
    generators.all().iter().all(|generator| kin(generator, declared.system.family.as_deref()) == Kin::NoModel)
}

fn quoted(models: &[&str]) -> String {
    models.iter().map(|model| format!("`{model}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
