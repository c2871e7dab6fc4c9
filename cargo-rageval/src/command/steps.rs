//! `steps`: has the judge write the evaluation steps of `g_eval`, for review.

use std::{io::Write, sync::Arc};

use clap::{Args, ValueEnum};
use rageval_runner::{
    evaluate,
    judge::{Judge, key::ReplyKeys, spec::JudgeProvider},
    load::{self, Policy, steps::FromFile},
    metric::{g_eval, material},
    model::Language,
    report::console::{spending, text::visible},
    store::{
        self,
        ledger::{Account, Ledger},
    },
};

use crate::{
    asking,
    context::Context,
    exit::{Ending, Failure, tell},
};

/// Have the judge write the evaluation steps of `g_eval`, for review
///
/// For each `g_eval` of thresholds.yaml that has `criteria` and no `steps`, asks the policy's judge once and writes its steps to
/// `g_eval/LABEL.yaml` beside thresholds.yaml. The gate uses them from then on: review the file before you commit it. A file that is there
/// is left alone. What it asks counts against the `budget` of thresholds.yaml as a run of its own; with `replay` it asks nothing and ends
/// with 2.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval steps
  cargo rageval steps tone --language pt
  cargo rageval steps tone --again")]
pub(crate) struct Steps {
    /// The label of one `g_eval`, as in `g_eval/LABEL` [default: all whose file is missing]
    label: Option<String>,
    /// The language of the prompt, and so of the steps
    #[arg(long, value_enum, default_value_t = Words::En)]
    language: Words,
    /// Write a file anew that is there already
    #[arg(long)]
    again: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Words {
    /// English
    En,
    /// Portuguese
    Pt,
    /// Chinese
    Zh,
}

impl From<Words> for Language {
    fn from(words: Words) -> Self {
        match words {
            Words::En => Self::En,
            Words::Pt => Self::Pt,
            Words::Zh => Self::Zh,
        }
    }
}

/// Asks, writes, and says what it wrote.
pub(crate) fn run(steps: &Steps, context: &Context) -> Result<Ending, Failure> {
    let file = context.policy_that_is_there().map_err(Failure::Input)?;
    let (policy, all) = load::steps::from_files(&file, &context.metrics(&[]))
        .map_err(|problems| Failure::Input(problems.to_string()))?;
    let over = asking::mode_of(context)?;
    let wanted = wanted(steps, &all)?;
    if wanted.is_empty() {
        tell("nothing to write: no `g_eval` of thresholds.yaml has `criteria` whose steps are missing");
        return Ok(Ending::Pass);
    }
    if policy.judge.provider == JudgeProvider::Offline {
        return Err(Failure::Input(format!(
            "{}: the judge `offline` is a set of rules and can't write steps; name a judge that is a model, or write `steps` \
             in thresholds.yaml",
            policy.judge.place
        )));
    }
    asking::may_ask(&policy, over, "no steps can be written")?;
    let ledger = Ledger::in_process(policy.budget.as_ref());
    let account = ReplyKeys::of(&policy.judge).map(|_| Account { ledger: ledger.clone(), price: policy.judge.price });
    let judge = asking::open_judge(&policy)?;
    let mut ending = Ending::Pass;
    for from_file in wanted {
        match write(from_file, &policy, &judge, account.clone(), steps.language.into())? {
            Ok(()) => {}
            Err(why) => {
                tell(&format!("{}: no steps were written: {}", from_file.key, visible(&why)));
                ending = Ending::Undecided;
            }
        }
    }
    for notice in judge.notices() {
        tell(&visible(&notice));
    }
    if let Some(spent) = ledger.spent() {
        tell(&format!("spent: {}", spending::line(&spent, ledger.budget())));
    }
    Ok(ending)
}

/// Those to ask for: the one that is named, which must not be there unless it is written again, or all that are missing.
fn wanted<'a>(steps: &Steps, all: &'a [FromFile]) -> Result<Vec<&'a FromFile>, Failure> {
    let Some(label) = &steps.label else {
        let (there, missing): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.path.exists() && !steps.again);
        for one in there {
            tell(&format!("{} is there and is left alone; `--again` writes it anew", one.name));
        }
        return Ok(missing);
    };
    let is_named = |one: &&FromFile| one.key.label() == Some(label) || one.key.to_string() == *label;
    let Some(one) = all.iter().find(is_named) else {
        let known: Vec<_> = all.iter().map(|one| one.key.to_string()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Failure::Input(format!(
            "thresholds.yaml has no `g_eval/{label}` with `criteria` and without `steps`; those that it has: {known}"
        )));
    };
    if one.path.exists() && !steps.again {
        return Err(Failure::Input(format!(
            "{} is there already; a person may have corrected it: `--again` writes it anew",
            one.name
        )));
    }
    Ok(vec![one])
}

/// Asks for the steps of one metric and writes them; the inner error is why the judge gave none.
fn write(
    from_file: &FromFile,
    policy: &Policy,
    judge: &Arc<dyn Judge>,
    account: Option<Account>,
    language: Language,
) -> Result<Result<(), String>, Failure> {
    let FromFile { key, params, name, path } = from_file;
    let (Some(request), Some(criteria)) = (g_eval::steps::request(params, language), params.text("criteria")) else {
        return Ok(Err("it has no `criteria`".to_owned()));
    };
    let steps = match evaluate::steps::ask_for(Arc::clone(judge), policy.judge.timeout, account, key, &request)? {
        Ok(steps) => steps,
        Err(fault) => return Ok(Err(format!("{}: {}", fault.cause, fault.why))),
    };
    let written = store::steps::WrittenSteps {
        key,
        criteria,
        fields: &material::chosen_fields(params),
        judge: &judge.stamp(),
        language,
        steps: &steps,
    };
    store::steps::write(path, &written).map_err(|error| Failure::Input(error.to_string()))?;
    let mut stdout = crate::out::stdout();
    writeln!(stdout, "{key}: wrote {name}")?;
    for (step, number) in steps.iter().zip(1..) {
        writeln!(stdout, "  {number}. {}", visible(step))?;
    }
    writeln!(stdout, "  Review these steps and commit the file: they decide what {key} scores.")?;
    stdout.flush()?;
    Ok(Ok(()))
}
