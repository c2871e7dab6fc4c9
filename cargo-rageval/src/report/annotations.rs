//! GitHub workflow commands: an error at the line of each red case, worst first.
//!
//! GitHub shows ten errors, ten warnings and ten notices of a step, so that what is beyond is summed up in the tenth. The texts hold no
//! line end but those that are escaped here, so that a command in an answer is never at the start of a line.

use std::io::{self, Write};

use rageval_runner::{
    model::{
        case::Place,
        run::{Conclusion, Decision, Finding, FindingLevel},
    },
    report::{
        console::text::{shortened, visible},
        worst,
    },
};

use super::{
    Input,
    reach::{self, Reach},
    view::CaseView,
    why,
};

/// What GitHub shows of each level a step.
const SHOWN: usize = 10;

/// Broken rules of a case that are told.
const RULES: usize = 6;

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
    errors.extend(why::worst_first(view.red_cases()).into_iter().map(|case| of_case(case, &input.reach)));
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

fn of_case(case: &CaseView<'_>, reach: &Reach) -> Annotation {
    Annotation {
        place: case.golden.map(|golden| golden.place.clone()),
        title: format!("{} {}", case.id, case.state()),
        lines: lines_of_case(case, reach),
    }
}

/// The broken rules, the worst first and each with its reason whole, then what else the case printed, and its snapshot last.
fn lines_of_case(case: &CaseView<'_>, reach: &Reach) -> Vec<String> {
    let broken: Vec<&Finding> =
        why::red_findings(case).into_iter().filter(|finding| why::is_of_score(finding)).collect();
    let mut lines: Vec<String> = broken.iter().take(RULES).map(|finding| format!("failed {}", finding.text)).collect();
    if broken.len() > RULES {
        lines.push(format!("failed and {} more", broken.len() - RULES));
    }
    let printed = case.decision.map(why::essence).unwrap_or_default();
    // A terminal's line is cut at its width; runs of older versions hold nothing else.
    let mut printed: Vec<&str> =
        printed.into_iter().filter(|line| broken.is_empty() || !line.starts_with("failed ")).collect();
    printed.sort_by_key(|line| match line.split(' ').next() {
        Some("snapshot" | "diff") => 1,
        _ if reach::explains(line) => 2,
        _ => 0,
    });
    // Only where it is said how the run is fetched do commands read it.
    let told = |line: &str| if reach.artifact().is_some() { reach.line(line).into_owned() } else { line.to_owned() };
    lines.extend(printed.into_iter().map(told));
    lines
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
    use crate::report::{fixture, view::View};

    #[test]
    fn broken_rules_come_first_with_their_reason_whole() {
        let mut run = fixture::every_outcome();
        let reason = "refused, should answer; ".repeat(8);
        for decision in run.decisions.iter_mut().filter(|decision| decision.trial.ends_with("::below-min")) {
            decision.findings[0].text = format!("faithfulness 0.50, min 0.80 ({reason})");
            let printed = [
                "snapshot    why",
                "failed      faithfulness 0.50, min 0.80 (refu…",
                "claim       a",
                "diff        + b",
            ];
            decision.lines = printed.map(str::to_owned).to_vec();
            decision.lines.push("            and 2 more lines: cargo rageval explain below-min".to_owned());
        }
        let view = View::of(&run);
        let case = view.cases.iter().find(|case| case.id.as_str() == "below-min").expect("a case");
        let lines = lines_of_case(case, &Reach::default());
        assert_eq!(lines[0], format!("failed faithfulness 0.50, min 0.80 ({reason})"));
        let labels: Vec<&str> = lines.iter().map(|line| line.split(' ').next().unwrap_or_default()).collect();
        assert_eq!(labels, ["failed", "failed", "claim", "snapshot", "diff", ""], "{lines:?}");
    }

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
