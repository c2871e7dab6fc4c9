//! The JSON body of a request, in which strings are templates.

use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, context, syntax::SyntaxConfig};
use serde_json::{Map, Value};

use crate::system::{
    Question,
    excerpt::{self, chain, excerpt},
    spec::TEMPLATE_NAMES,
};

/// A body whose templates are compiled.
///
/// What a template renders is put into the JSON as a string, so no question, whatever it holds, can change the shape of the body.
pub(super) struct BodyTemplate {
    environment: Environment<'static>,
    root: Node,
}

enum Node {
    /// Sent as it stands.
    Literal(Value),
    /// The template of this name in the environment, which is its JSON pointer in the body.
    Template(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl BodyTemplate {
    /// Compiles every string of the body that holds a template. All problems at once, each with its JSON pointer.
    pub(super) fn new(body: &Value) -> Result<Self, Vec<String>> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(
            SyntaxConfig::builder().keep_trailing_newline(true).build().map_err(|error| vec![chain(&error)])?,
        );
        // The name of a template is a pointer, and `/page.html` must not switch escaping on.
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        let mut compiling = Compiling { environment, problems: Vec::new(), asks: false };
        let root = compiling.node(body, String::new());
        let Compiling { environment, mut problems, asks } = compiling;
        if problems.is_empty() && !asks {
            problems.push(
                "system.body: no string in it holds `{{ query }}`, so the question would never be sent".to_owned(),
            );
        }
        if problems.is_empty() { Ok(Self { environment, root }) } else { Err(problems) }
    }

    /// The body for one question, or why it can't be made: a name that this question has no value for.
    pub(super) fn render(&self, question: &Question) -> Result<Value, String> {
        let values = context! {
            id => question.case_id.as_str(),
            query => question.query.as_str(),
            language => question.language.as_deref().unwrap_or_default(),
            metadata => &question.metadata,
            repeat => question.repeat.unwrap_or(1),
        };
        self.render_node(&self.root, &values)
    }

    fn render_node(&self, node: &Node, values: &minijinja::Value) -> Result<Value, String> {
        match node {
            Node::Literal(value) => Ok(value.clone()),
            Node::Template(name) => {
                let rendered = self.environment.get_template(name).and_then(|template| template.render(values));
                rendered.map(Value::String).map_err(|error| {
                    let why = excerpt(&chain(&error), excerpt::ERROR);
                    if error.kind() == ErrorKind::UndefinedError {
                        return format!(
                            "system.body{name} uses a value that this case does not have ({why}); \
                             give it, or write `{{{{ metadata.x | default(\"\") }}}}`"
                        );
                    }
                    format!("system.body{name} can't be rendered: {why}")
                })
            }
            Node::List(entries) => entries.iter().map(|entry| self.render_node(entry, values)).collect(),
            Node::Object(fields) => {
                let fields = fields.iter().map(|(key, node)| Ok((key.clone(), self.render_node(node, values)?)));
                fields.collect::<Result<Map<_, _>, String>>().map(Value::Object)
            }
        }
    }
}

struct Compiling {
    environment: Environment<'static>,
    problems: Vec<String>,
    /// Whether something of the question gets into the body.
    asks: bool,
}

impl Compiling {
    fn node(&mut self, value: &Value, pointer: String) -> Node {
        match value {
            Value::String(text) if is_template(text) => {
                self.template(&pointer, text);
                Node::Template(pointer)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Node::Literal(value.clone()),
            Value::Array(entries) => {
                let entries = entries.iter().enumerate();
                Node::List(entries.map(|(index, entry)| self.node(entry, format!("{pointer}/{index}"))).collect())
            }
            Value::Object(fields) => {
                Node::Object(fields.iter().map(|(key, node)| self.field(key, node, &pointer)).collect())
            }
        }
    }

    fn field(&mut self, key: &str, value: &Value, parent: &str) -> (String, Node) {
        let pointer = format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"));
        if is_template(key) {
            self.problems
                .push(format!("system.body{pointer}: a key is sent as it stands; only values can be templates"));
        }
        (key.to_owned(), self.node(value, pointer))
    }

    fn template(&mut self, pointer: &str, text: &str) {
        if let Err(error) = self.environment.add_template_owned(pointer.to_owned(), text.to_owned()) {
            self.problems.push(format!("system.body{pointer}: {}", excerpt(&chain(&error), excerpt::ERROR)));
            return;
        }
        let Ok(template) = self.environment.get_template(pointer) else { return };
        let mut names: Vec<_> = template.undeclared_variables(false).into_iter().collect();
        names.sort_unstable();
        let globals: Vec<_> = self.environment.globals().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            self.asks |= ["query", "id", "metadata"].contains(&name.as_str());
            if TEMPLATE_NAMES.contains(&name.as_str()) || globals.contains(&name) {
                continue;
            }
            let nearest = TEMPLATE_NAMES
                .iter()
                .max_by(|a, b| strsim::jaro_winkler(a, &name).total_cmp(&strsim::jaro_winkler(b, &name)));
            let hint = match nearest {
                Some(nearest) if strsim::jaro_winkler(nearest, &name) >= 0.8 => format!("did you mean `{nearest}`?"),
                _ => format!("known are {}", TEMPLATE_NAMES.join(", ")),
            };
            self.problems.push(format!("system.body{pointer}: unknown name `{name}`; {hint}"));
        }
    }
}

fn is_template(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::model::CaseId;

    fn question(query: &str) -> Question {
        Question {
            case_id: CaseId::new("q1").expect("a valid id"),
            query: query.to_owned(),
            language: None,
            metadata: BTreeMap::from([("plan".to_owned(), "pro".to_owned())]),
            repeat: None,
        }
    }

    #[track_caller]
    fn render(body: &Value, query: &str) -> Result<Value, String> {
        BodyTemplate::new(body).unwrap_or_else(|problems| panic!("{problems:?}")).render(&question(query))
    }

    #[test]
    fn a_question_cannot_leave_its_string() {
        for query in
            ["\"}], \"admin\": true, \"x\": \"", "a\nb\r\n", "{{ id }}", "<b>&amp;</b>", "退款 \u{2028}", "\\", "x\n"]
        {
            assert_eq!(render(&json!({"q.html": "{{ query }}"}), query), Ok(json!({"q.html": query})));
        }
    }

    #[test]
    fn every_name_and_every_level_is_rendered() {
        let body = json!({"m": [{"c": "[{{ language }}] {{ id }}: {{ query }} ({{ metadata.plan }})"}], "k": 5, "stream": false, "n": null, "t": "as is\n"});
        let expected = json!({"m": [{"c": "[] q1: why? (pro)"}], "k": 5, "stream": false, "n": null, "t": "as is\n"});
        assert_eq!(render(&body, "why?"), Ok(expected));
        assert_eq!(render(&json!("{{ query }}"), "why?"), Ok(json!("why?")));
    }

    #[test]
    fn a_value_that_the_case_lacks_is_said_and_not_sent_as_nothing() {
        let why = render(&json!({"q": "{{ query }}", "t": "{{ metadata.tenant }}"}), "why?").expect_err("an error");
        assert!(why.starts_with("system.body/t uses a value that this case does not have ("), "{why}");
        let with_default = json!({"q": "{{ query }}", "t": "{{ metadata.tenant | default('none') }}"});
        assert_eq!(render(&with_default, "why?"), Ok(json!({"q": "why?", "t": "none"})));
    }

    #[test]
    fn a_body_that_cannot_work_is_refused() {
        let problems = |body: Value| BodyTemplate::new(&body).err().unwrap_or_default();
        let never = "system.body: no string in it holds `{{ query }}`, so the question would never be sent";
        assert_eq!(problems(json!({"q": "query"})), [never]);
        assert_eq!(problems(json!({"q": "{{ language }}"})), [never]);
        let found = problems(json!({"a/b": "{{ query", "{{ id }}": 1, "c": ["{{ question }}", "{{ quer }}"]}));
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found.iter().any(|p| p.starts_with("system.body/a~1b: syntax error")), "{found:?}");
        assert!(
            found
                .contains(&"system.body/{{ id }}: a key is sent as it stands; only values can be templates".to_owned())
        );
        assert!(
            found.contains(
                &"system.body/c/0: unknown name `question`; known are id, query, language, metadata, repeat".to_owned()
            ),
            "{found:?}"
        );
        assert!(found.contains(&"system.body/c/1: unknown name `quer`; did you mean `query`?".to_owned()), "{found:?}");
    }
}
