//! GitHub workflow commands: an error at the line of each red case, worst first.
//!
//! GitHub shows ten errors, ten warnings and ten notices of a step, so that what is beyond is summed up in the tenth. The texts hold no
//! line end but those that are escaped here, so that a command in an answer is never at the start of a line.

use std::io::{self, Write};

use rageval_runner::{
    model::{
        case::Place,
        run::{Conclusion, Decision, FindingLevel},
    },
    report::{
        console::text::{shortened, visible},
        worst,
    },
};

use super::{Input, view::CaseView, why};

/// What GitHub shows of each level a step.
const SHOWN: usize = 10;

/// Columns of a line of a message.
const COLUMNS: usize = 300;

/// One annotation.
struct Annotation {
    /// Where it is shown; `None` for what is about the run.
    place: Option<Place>,
    title: String,
    lines: Vec<String>,
}

/// Writes them; a run without anything to say has one notice, that it passed.
pub(crate) fn render(input: &Input<'_>, out: &mut dyn Write) -> io::Result<()> {
    let view = &input.view;
    let is_set_up = |decision: &&&Decision| !worst::is_of_scores(decision);
    let (first, last): (Vec<&Decision>, Vec<&Decision>) = view.red_gates.iter().partition(is_set_up);
    let mut errors: Vec<Annotation> = first.into_iter().map(of_decision).collect();
    errors.extend(why::worst_first(view.red_cases()).into_iter().map(of_case));
    errors.extend(last.into_iter().map(of_decision));
    let headline = || Annotation { place: None, title: "rageval".to_owned(), lines: vec![view.headline()] };
    if errors.is_empty() && view.conclusion != Conclusion::Pass {
        errors.push(headline());
    }
    write(out, "error", errors, &input.folder)?;
    let mut warnings: Vec<Annotation> = view.run.background.waivers.iter().map(|waiver| waived(waiver)).collect();
    warnings.extend(view.inconclusive.iter().map(|decision| of_decision(decision)));
    warnings.extend(view.cases.iter().filter_map(warned));
    write(out, "warning", warnings, &input.folder)?;
    let passed = (view.conclusion == Conclusion::Pass).then(headline);
    write(out, "notice", passed.into_iter().collect(), &input.folder)
}

fn of_case(case: &CaseView<'_>) -> Annotation {
    let lines = case.decision.map(why::essence).unwrap_or_default();
    Annotation {
        place: case.golden.map(|golden| golden.place.clone()),
        title: format!("{} {}", case.id, case.state()),
        lines: lines.into_iter().map(str::to_owned).collect(),
    }
}

fn of_decision(decision: &Decision) -> Annotation {
    let lines = why::essence(decision).into_iter().map(str::to_owned).collect();
    Annotation { place: None, title: decision.trial.clone(), lines }
}

fn waived(waiver: &str) -> Annotation {
    Annotation { place: None, title: "waived".to_owned(), lines: vec![waiver.to_owned()] }
}

/// A green case whose rules only warn.
fn warned(case: &CaseView<'_>) -> Option<Annotation> {
    let findings = case.decision.filter(|decision| !decision.ruling.is_red())?.findings.iter();
    let lines: Vec<String> =
        findings.filter(|finding| finding.level == FindingLevel::Warned).map(|finding| finding.text.clone()).collect();
    (!lines.is_empty()).then(|| Annotation {
        place: case.golden.map(|golden| golden.place.clone()),
        title: format!("{} warns", case.id),
        lines,
    })
}

/// Writes at most as many as GitHub shows; the last one says what is left out.
fn write(out: &mut dyn Write, level: &str, mut all: Vec<Annotation>, folder: &str) -> io::Result<()> {
    if all.len() > SHOWN {
        let rest = all.split_off(SHOWN - 1);
        let titles: Vec<String> = rest.iter().map(|annotation| visible(&annotation.title)).collect();
        let lines = vec![titles.join(", ")];
        all.push(Annotation { place: None, title: format!("and {} more", rest.len()), lines });
    }
    for annotation in all {
        writeln!(out, "{}", command(level, &annotation, folder))?;
    }
    Ok(())
}

/// `::error file=cases/en.yaml,line=10,col=5,title=refund-window failed::faithfulness 0.50, min 0.80`.
fn command(level: &str, annotation: &Annotation, folder: &str) -> String {
    let title = format!("title={}", property(&shortened(&annotation.title, COLUMNS)));
    let place = annotation.place.as_ref().map(|place| {
        let file = property(&visible(&below(folder, &place.file)));
        format!("file={file},line={},col={},", place.line, place.column)
    });
    let lines: Vec<String> = annotation.lines.iter().map(|line| message(&shortened(line, COLUMNS))).collect();
    format!("::{level} {}{title}::{}", place.unwrap_or_default(), lines.join("%0A"))
}

/// A file of the project as seen from the root of the repository.
fn below(folder: &str, file: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// As GitHub's toolkit escapes a message.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// As GitHub's toolkit escapes a property.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_property_is_escaped() {
        let annotation = Annotation {
            place: Some(Place { file: "cases/a,b:c.yaml".to_owned(), line: 3, column: 5 }),
            title: "100%: x, y".to_owned(),
            lines: vec!["a: b, 5%".to_owned(), "::error::c\r\n::d".to_owned()],
        };
        assert_eq!(
            command("error", &annotation, "gates/help"),
            "::error file=gates/help/cases/a%2Cb%3Ac.yaml,line=3,col=5,title=100%25%3A x%2C y::a: b, 5%25%0A::error::c ::d"
        );
    }

    #[test]
    fn a_file_is_named_from_the_root_of_the_repository() {
        for (folder, file, named) in [
            ("", "cases/a.yaml", "cases/a.yaml"),
            ("a/b", "../cases/a.yaml", "a/cases/a.yaml"),
            ("", "../a.yaml", "../a.yaml"),
            ("a", "./b.yaml", "a/b.yaml"),
        ] {
            assert_eq!(below(folder, file), named);
        }
    }
}
