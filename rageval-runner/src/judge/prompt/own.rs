//! Templates that a user wrote: what is wrong with one, and where.

use std::{collections::BTreeMap, ops::Range};

use super::{
    PARTS, SYSTEM, USER,
    catalog::{Field, Presence, Template},
    fill, parts, texts,
};

/// The value that holds what every prompt says.
const RULES: &str = "rules";

/// Stands on both sides of a name where a block will stand; no template has it by chance.
const MARK: char = '\u{E000}';

/// One thing that is wrong with a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateFault {
    /// The bytes of the template that are meant.
    pub span: Range<usize>,
    /// What is wrong.
    pub why: String,
    /// What to do, where there is something to say.
    pub help: Option<String>,
}

/// One of the two parts of a template.
struct Part<'a> {
    text: &'a str,
    /// Where it starts in the template.
    start: usize,
    /// The line above it.
    head: Range<usize>,
}

/// All that is wrong with a template for the requests of a name, found by filling it in for every set of fields that they may have.
pub(super) fn faults(template: &Template, text: &str) -> Vec<TemplateFault> {
    let Some((system, user)) = parts(text) else {
        return vec![TemplateFault { span: 0..first_line(text).len(), why: PARTS.to_owned(), help: None }];
    };
    let user_start = SYSTEM.len() + system.len() + USER.len();
    let user_head = user_start + 1 - USER.len()..user_start - 1;
    let system = Part { text: system, start: SYSTEM.len(), head: 0..SYSTEM.len() - 1 };
    let user = Part { text: user, start: user_start, head: user_head };
    let mut faults = Vec::new();
    if let Some(at) = format!("\n{}\n", user.text).find(USER) {
        let span = user.start + at..user.start + at + USER.trim().len();
        faults.push(TemplateFault { span, why: "this line stands twice".to_owned(), help: None });
    }
    instructions(template, &system, &mut faults);
    for fields in choices(template.fields) {
        for fault in data(template, &user, &fields) {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    }
    faults
}

/// The system part: the rules once, and no data.
fn instructions(template: &Template, part: &Part<'_>, faults: &mut Vec<TemplateFault>) {
    match fill(part.text, [(RULES, marked(RULES).into())]) {
        Err(error) => faults.extend(part.cannot_be_filled(&error, |name| {
            let is_field = template.fields.iter().any(|field| field.name == name);
            (name != RULES).then(|| {
                if is_field {
                    (
                        format!("`{name}` is data and stands among the instructions"),
                        "move it below `=== user ===`".to_owned(),
                    )
                } else {
                    (
                        format!("there is nothing called `{name}` here"),
                        "the instructions take `{{ rules }}` alone".to_owned(),
                    )
                }
            })
        })),
        Ok(text) => match text.matches(&marked(RULES)).count() {
            0 => faults.push(TemplateFault {
                span: part.head.clone(),
                why: "the instructions lack `{{ rules }}`: nothing says what is data and how to reply".to_owned(),
                help: Some("add a line `{{ rules }}` above the example of a reply".to_owned()),
            }),
            1 => {}
            _ => faults.push(part.stands_twice(RULES)),
        },
    }
}

/// The user part for a request with these fields: each once, on a line of its own, the first on top.
fn data(template: &Template, part: &Part<'_>, fields: &[&'static str]) -> Vec<TemplateFault> {
    let blocks: BTreeMap<&str, String> = fields.iter().map(|name| (*name, marked(name))).collect();
    let text = match fill(part.text, texts(&blocks)) {
        Ok(text) => text,
        Err(error) => {
            return part.cannot_be_filled(&error, |name| {
                if fields.contains(&name) {
                    return None;
                }
                if name == RULES {
                    return Some((
                        "`rules` stands among the data".to_owned(),
                        "move it above `=== user ===`".to_owned(),
                    ));
                }
                if template.fields.iter().any(|field| field.name == name) {
                    return Some((format!("not every request has `{name}`"), if_defined(name)));
                }
                let known: Vec<_> = template.fields.iter().map(|field| format!("`{}`", field.name)).collect();
                Some((
                    format!("`{}` has no field `{name}`", template.name),
                    format!("its fields are {}", known.join(", ")),
                ))
            });
        }
    };
    let mut faults = Vec::new();
    for name in fields {
        match text.matches(&marked(name)).count() {
            0 => faults.push(TemplateFault {
                span: part.head.clone(),
                why: format!("the field `{name}` is not shown, or not as it is"),
                help: Some(
                    match template.fields.iter().find(|field| field.name == *name).map(|field| field.presence) {
                        Some(Presence::WhereGiven) => if_defined(name),
                        Some(Presence::Always) | None => format!("add a line `{{{{ {name} }}}}` below `=== user ===`"),
                    },
                ),
            }),
            1 if text.lines().any(|line| line == marked(name)) => {}
            1 => faults.push(TemplateFault {
                span: part.place_of(name, 0),
                why: format!("something else stands on the line of `{name}`"),
                help: Some("a block begins and ends with lines of its own".to_owned()),
            }),
            _ => faults.push(part.stands_twice(name)),
        }
    }
    if faults.is_empty() && !text.starts_with(MARK) {
        let span = part.start..part.start + first_line(part.text).len();
        let help = "the rules tell the judge to read the code of the fences off the first line";
        let why = "the first line must show a field".to_owned();
        faults.push(TemplateFault { span, why, help: Some(help.to_owned()) });
    }
    faults
}

impl Part<'_> {
    /// Why filling it in failed: each name at which `explain` finds fault, else what the template engine says.
    fn cannot_be_filled(
        &self,
        error: &minijinja::Error,
        explain: impl Fn(&str) -> Option<(String, String)>,
    ) -> Vec<TemplateFault> {
        let mut faults = Vec::new();
        if error.kind() == minijinja::ErrorKind::UndefinedError {
            for (name, span) in self.shown() {
                faults.extend(explain(name).map(|(why, help)| TemplateFault { span, why, help: Some(help) }));
            }
        }
        if faults.is_empty() {
            let said = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            let why = format!("the template can't be filled in: {said}");
            faults.push(TemplateFault { span: self.line(error.line().unwrap_or(1)), why, help: None });
        }
        faults
    }

    fn stands_twice(&self, name: &str) -> TemplateFault {
        TemplateFault { span: self.place_of(name, 1), why: format!("`{name}` is shown twice"), help: None }
    }

    /// The names that it shows as they are, `{{ name }}`, and where.
    fn shown(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.text.match_indices("{{").filter_map(|(at, _)| {
            let inner = &self.text[at + 2..];
            let inner = &inner[..inner.find("}}")?];
            let name = inner.trim_matches('-').trim();
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            is_name.then(|| (name, self.start + at..self.start + at + inner.len() + 4))
        })
    }

    /// Where it shows a name for the n-th time, from 0; the line above it where it can't be told.
    fn place_of(&self, name: &str, n: usize) -> Range<usize> {
        self.shown().filter(|(shown, _)| *shown == name).nth(n).map_or_else(|| self.head.clone(), |(_, span)| span)
    }

    /// The bytes of a line, from 1.
    fn line(&self, number: usize) -> Range<usize> {
        let before: usize = self.text.split_inclusive('\n').take(number.saturating_sub(1)).map(str::len).sum();
        let start = self.start + before;
        start..start + first_line(&self.text[before..]).len()
    }
}

/// Every set of fields that a request may have: all, with and without each that may be left out.
fn choices(fields: &[Field]) -> Vec<Vec<&'static str>> {
    fields.iter().fold(vec![Vec::new()], |choices, field| {
        let with = choices.iter().map(|choice| [choice.as_slice(), &[field.name]].concat());
        match field.presence {
            Presence::Always => with.collect(),
            Presence::WhereGiven => with.chain(choices.iter().cloned()).collect(),
        }
    })
}

fn if_defined(name: &str) -> String {
    format!(
        "show it with `{{% if {name} is defined -%}}`, `{{{{ {name} }}}}` and `{{% endif -%}}`, each on a line of its own"
    )
}

pub(super) fn marked(name: &str) -> String {
    format!("{MARK}{name}{MARK}")
}

fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{super::built_in, *};
    use crate::{judge::prompt::catalog, model::Language};

    /// The faults of a template with the piece that each points at.
    #[track_caller]
    fn check(name: &str, text: &str, expected: &[(&str, &str)]) {
        let faults = faults(catalog::template(name).expect("a template"), text);
        let found: Vec<_> = faults.iter().map(|fault| (&text[fault.span.clone()], fault.why.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    fn refusal(system: &str, user: &str, expected: &[(&str, &str)]) {
        check("refusal_correctness.verdict", &format!("=== system ===\n{system}\n=== user ===\n{user}\n"), expected);
    }

    const FINE: &str = "{{ query }}\n{{ answer }}\nJudge.";

    #[test]
    fn the_built_in_templates_have_no_fault() {
        for template in catalog::TEMPLATES {
            for language in catalog::LANGUAGES {
                let text = built_in(template.name, language).expect("a template");
                assert_eq!(faults(template, text), [], "{} {}", template.name, language.as_str());
            }
        }
    }

    #[test]
    fn both_parts_are_there_once() {
        let parts = |text| check("refusal_correctness.verdict", text, &[(first_line(text), PARTS)]);
        parts("");
        parts("You check answers.\n=== user ===\n{{ query }}\n{{ answer }}");
        parts("=== system ===\n{{ rules }}\n{{ query }}\n{{ answer }}");
        parts("=== system ===\n{{ rules }}\n=== user ===\n");
        let twice = "=== user ===\n{{ query }}\n{{ answer }}\n=== user ===\nJudge.";
        let text = format!("=== system ===\n{{{{ rules }}}}\n{twice}");
        check("refusal_correctness.verdict", &text, &[("=== user ===", "this line stands twice")]);
    }

    #[test]
    fn the_instructions_show_the_rules_once_and_no_data() {
        refusal("You check answers.\n\n{{ rules }}\n", FINE, &[]);
        let why = "the instructions lack `{{ rules }}`: nothing says what is data and how to reply";
        refusal("You check answers.", FINE, &[("=== system ===", why)]);
        refusal("{{rules}}\n{{ rules }}", FINE, &[("{{ rules }}", "`rules` is shown twice")]);
        let why = "`query` is data and stands among the instructions";
        refusal("{{ rules }}\n{{- query }}", FINE, &[("{{- query }}", why)]);
        refusal("{{ rule }}", FINE, &[("{{ rule }}", "there is nothing called `rule` here")]);
    }

    #[test]
    fn a_template_that_takes_for_ever_is_refused() {
        let endless = "{{ rules }}\n{% for i in range(10000) %}{% for j in range(10000) %}x{% endfor %}{% endfor %}";
        let text = format!("=== system ===\n{endless}\n=== user ===\n{FINE}\n");
        let faults = faults(catalog::template("refusal_correctness.verdict").expect("a template"), &text);
        assert!(faults.iter().any(|fault| fault.why.contains("fuel")), "{faults:?}");
    }

    #[test]
    fn the_user_part_shows_every_field_once_on_a_line_of_its_own() {
        let missing = "the field `answer` is not shown, or not as it is";
        refusal("{{ rules }}", "{{ query }}", &[("=== user ===", missing)]);
        refusal("{{ rules }}", "{{ query }}\n{{ answer | upper }}", &[("=== user ===", missing)]);
        refusal(
            "{{ rules }}",
            "{{ query }}\n{{ answer }}\n{{ query }}\n{{ query }}",
            &[("{{ query }}", "`query` is shown twice")],
        );
        refusal(
            "{{ rules }}",
            "{{ query }}\nThe answer: {{ answer }}",
            &[("{{ answer }}", "something else stands on the line of `answer`")],
        );
        refusal("{{ rules }}", "Judge.\n{{ query }}\n{{ answer }}", &[("Judge.", "the first line must show a field")]);
        refusal(
            "{{ rules }}",
            "{{ query }}\n{{ answer }}\n{{ contexts }}",
            &[("{{ contexts }}", "`refusal_correctness.verdict` has no field `contexts`")],
        );
        refusal(
            "{{ rules }}",
            "{{ query }}\n{{ answer }}\n{{ rules }}",
            &[("{{ rules }}", "`rules` stands among the data")],
        );
    }

    #[test]
    fn a_field_that_a_request_may_lack_is_shown_where_there_is_one() {
        let of = |user: &str| format!("=== system ===\n{{{{ rules }}}}\n=== user ===\n{user}");
        let name = "context_precision.verdicts";
        check(name, built_in(name, Language::Zh).expect("a template"), &[]);
        check(
            name,
            &of("{{ query }}\n{{ reference }}\n{{ contexts }}"),
            &[("{{ reference }}", "not every request has `reference`")],
        );
        check(
            name,
            &of("{{ query }}\n{% if refrence is defined %}{{ reference }}{% endif %}\n{{ contexts }}"),
            &[("=== user ===", "the field `reference` is not shown, or not as it is")],
        );
    }

    #[test]
    fn what_is_no_template_is_told_by_its_line() {
        let found = |text: &str| {
            let text = format!("=== system ===\n{{{{ rules }}}}\n=== user ===\n{{{{ query }}}}\n{text}\nend");
            let template = catalog::template("refusal_correctness.verdict").expect("a template");
            let faults = faults(template, &text);
            assert_eq!(faults.len(), 1, "{faults:?}");
            assert!(faults[0].why.starts_with("the template can't be filled in: "), "{faults:?}");
            text[faults[0].span.clone()].to_owned()
        };
        for line in ["{{ answer", "{% if answer %}", "{% endif %}", "{{ answer | shout }}", "{{ a.b.c }}"] {
            let shown = found(line);
            assert!(shown == line || shown == "end", "{line}: {shown}");
        }
    }
}
