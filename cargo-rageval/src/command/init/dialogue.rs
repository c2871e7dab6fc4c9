//! What `init` asks on a terminal: only what no flag has said.

use std::io::{BufRead, Write};

use super::system::{Kind, Said};
use crate::exit::Failure;

const KINDS: [(Kind, &str); 4] = [
    (Kind::Function, "a Rust function"),
    (Kind::Http, "an HTTP endpoint"),
    (Kind::Command, "a program that reads questions and writes answers, one JSON object a line"),
    (Kind::Recorded, "a file of recorded answers"),
];

/// Asks for what is missing.
///
/// # Errors
/// The input ends before all is answered: nothing was written then.
pub(super) fn complete(said: &mut Said, input: &mut dyn BufRead, out: &mut dyn Write) -> Result<(), Failure> {
    let kind = match said.kind {
        Some(kind) => kind,
        None => kind_of(input, out)?,
    };
    said.kind = Some(kind);
    match kind {
        Kind::Function => {}
        Kind::Http if said.url.is_none() => {
            said.url = Some(line(input, out, "Its address, such as http://127.0.0.1:8080/ask")?);
        }
        Kind::Command if said.command.is_empty() => {
            let words = line(input, out, "The program and its arguments, such as ./bin/rag --top-k 5")?;
            said.command = words.split_whitespace().map(str::to_owned).collect();
        }
        Kind::Recorded if said.samples.is_none() => {
            said.samples =
                Some(line(input, out, "The file, such as answers.jsonl; where it is missing, an example is written")?);
        }
        Kind::Http | Kind::Command | Kind::Recorded => {}
    }
    Ok(())
}

/// Asks something that is answered by yes or no; an empty line is no.
pub(super) fn agrees(input: &mut dyn BufRead, out: &mut dyn Write, question: &str) -> Result<bool, Failure> {
    loop {
        match ask(input, out, &format!("{question} [y/N]"))?.to_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "" | "n" | "no" => return Ok(false),
            _ => {}
        }
    }
}

fn kind_of(input: &mut dyn BufRead, out: &mut dyn Write) -> Result<Kind, Failure> {
    writeln!(out, "What answers the questions?")?;
    for (i, (kind, what)) in KINDS.iter().enumerate() {
        writeln!(out, "  {} {:<9} {what}", i + 1, kind.as_str())?;
    }
    loop {
        let answer = ask(input, out, "1 to 4")?;
        let meant = |(i, (kind, _)): &(usize, &(Kind, &str))| (i + 1).to_string() == answer || kind.as_str() == answer;
        if let Some((_, (kind, _))) = KINDS.iter().enumerate().find(meant) {
            return Ok(*kind);
        }
    }
}

/// Asks until something is said.
fn line(input: &mut dyn BufRead, out: &mut dyn Write, question: &str) -> Result<String, Failure> {
    loop {
        let answer = ask(input, out, question)?;
        if !answer.is_empty() {
            return Ok(answer);
        }
    }
}

fn ask(input: &mut dyn BufRead, out: &mut dyn Write, question: &str) -> Result<String, Failure> {
    write!(out, "{question}: ")?;
    out.flush()?;
    let mut answer = String::new();
    let read =
        input.read_line(&mut answer).map_err(|error| Failure::Input(format!("the answer cannot be read: {error}")))?;
    if read == 0 {
        return Err(Failure::Input("the input ended before all was answered; nothing was written".to_owned()));
    }
    Ok(answer.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(mut said: Said, answers: &str) -> (Result<Said, Failure>, String) {
        let mut out = Vec::new();
        let result = complete(&mut said, &mut answers.as_bytes(), &mut out).map(|()| said);
        (result, String::from_utf8(out).expect("UTF-8"))
    }

    #[test]
    fn what_flags_said_is_not_asked() {
        let said = Said { kind: Some(Kind::Http), url: Some("http://localhost/a".to_owned()), ..Said::default() };
        let (result, text) = asked(said.clone(), "");
        assert_eq!((result.expect("complete"), text.as_str()), (said, ""));
    }

    #[test]
    fn a_number_or_a_name_answers_and_other_words_are_asked_again() {
        let (result, text) = asked(Said::default(), "5\nwhat\n3\n\n  ./bin/rag  --top-k 5\n");
        let said = result.expect("complete");
        assert_eq!(said.kind, Some(Kind::Command));
        assert_eq!(said.command, ["./bin/rag", "--top-k", "5"]);
        assert!(text.contains("  2 http      an HTTP endpoint\n") && text.matches("1 to 4: ").count() == 3, "{text}");
        assert_eq!(asked(Said::default(), "function\n").0.expect("complete").kind, Some(Kind::Function));
        assert_eq!(asked(Said::default(), "4\na.jsonl\n").0.expect("complete").samples.as_deref(), Some("a.jsonl"));
    }

    #[test]
    fn an_input_that_ends_is_an_error() {
        assert!(
            matches!(asked(Said::default(), "2\n").0, Err(Failure::Input(text)) if text.contains("nothing was written"))
        );
    }

    #[test]
    fn yes_is_said_and_no_is_the_default() {
        let mut out = Vec::new();
        assert!(agrees(&mut "perhaps\nYes\n".as_bytes(), &mut out, "Shall it").expect("answered"));
        assert!(!agrees(&mut "\n".as_bytes(), &mut out, "Shall it").expect("answered"));
    }
}
