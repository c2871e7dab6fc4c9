//! `prompts`: prints what a judge that is a language model is told, to start an own prompt from.

use std::io::Write;

use clap::{Args, builder::PossibleValuesParser};

use rageval_runner::judge::prompt::{self, LANGUAGES};

use crate::exit::{Ending, Failure};

/// Print the names of the built-in prompts, or one of them
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval prompts
  cargo rageval prompts faithfulness.verdicts --language pt > prompts/faithfulness.verdicts.pt.md

`judge.prompts: prompts` in thresholds.yaml then puts the files of that folder in the place of the built-in ones.")]
pub(crate) struct Prompts {
    /// The request that it is for; left out, the names are printed
    #[arg(value_parser = PossibleValuesParser::new(prompt::names()), hide_possible_values = true)]
    name: Option<String>,

    /// The language of the prompt
    #[arg(long, default_value = "en", value_parser = PossibleValuesParser::new(LANGUAGES.map(|language| language.as_str())))]
    language: String,
}

/// Prints it.
pub(crate) fn run(prompts: &Prompts) -> Result<Ending, Failure> {
    let mut stdout = crate::out::stdout();
    match &prompts.name {
        None => prompt::names().iter().try_for_each(|name| writeln!(stdout, "{name}"))?,
        Some(name) => {
            let language = LANGUAGES.into_iter().find(|language| language.as_str() == prompts.language);
            let text = language.and_then(|language| prompt::built_in(name, language));
            let none = || Failure::Input(format!("there is no prompt `{name}` in `{}`", prompts.language));
            stdout.write_all(text.ok_or_else(none)?.as_bytes())?;
        }
    }
    stdout.flush()?;
    Ok(Ending::Pass)
}
