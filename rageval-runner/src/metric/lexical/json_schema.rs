//! The metric `json_schema`: whether the answer is JSON of the right form.

use boon::{CompileError, Compiler, SchemaIndex, Schemas, UrlLoader};
use serde_json::Value;

use super::passes_by_silence;
use crate::{
    metric::{
        Formula, Input, Kind, Metric, Param, ParamKind, Params, Step,
        answering::{Answering, right_refusal},
        asking::shortened,
        cause,
    },
    model::{Detail, Expectation, GoldenCase, Outcome, Transcript, UnitInterval},
};

/// 1 when the answer is one JSON value that fits `schema`, else 0. Without `schema` any JSON fits.
///
/// The answer is taken as it stands: JSON in a Markdown fence, or with words around it, is no JSON. Not applicable to a right refusal.
/// Unmeasured for a schema that can't be used.
#[derive(Debug, Clone, Copy)]
pub struct JsonSchema;

impl Metric for JsonSchema {
    fn name(&self) -> &str {
        "json_schema"
    }

    fn about(&self) -> &str {
        "whether the answer is JSON that fits a schema"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("1 when the answer is JSON that fits `schema`, else 0")
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn params(&self) -> &[Param] {
        &[Param {
            name: "schema",
            kind: ParamKind::JsonSchema,
            about: "the JSON schema that the answer must fit; without it any JSON fits",
        }]
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        Step::Done(outcome(input))
    }
}

fn outcome(input: &Input<'_>) -> Outcome {
    if let Some(outcome) = passes_by_silence(input) {
        return outcome;
    }
    match (Answering::of(input.sample), input.case.expectation) {
        (Answering::Refused, Expectation::Refuse) => return right_refusal(),
        (Answering::Refused | Answering::Answered | Answering::Blank, Expectation::Answer | Expectation::Refuse) => {}
    }
    let schema = match input.params.0.get("schema").map(Schema::compile) {
        None => None,
        Some(Ok(schema)) => Some(schema),
        Some(Err(why)) => return Outcome::unmeasured(cause::PARAMETER, format!("json_schema: `schema` {why}")),
    };
    let fault = match serde_json::from_str::<Value>(&input.sample.answer.response) {
        Err(error) => Some(format!("no JSON: {error}")),
        Ok(value) => schema.and_then(|schema| schema.fault_of(&value)),
    };
    let score = UnitInterval::from_yes(fault.is_none());
    Outcome::scored_with(score, Detail { note: fault, ..Detail::default() })
}

/// A JSON schema, ready to be used. Draft 2020-12 unless its `$schema` says another; `format` is checked.
pub(crate) struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    /// Compiles a schema. It may refer to itself only: nothing is loaded from files or the network.
    ///
    /// # Errors
    /// Why it can't be used, as the end of a sentence about it.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(NothingElse));
        compiler.enable_format_assertions();
        let mut schemas = Schemas::new();
        compiler.add_resource(PLACE, schema.clone()).map_err(unusable)?;
        let index = compiler.compile(PLACE, &mut schemas).map_err(unusable)?;
        Ok(Self { schemas, index })
    }

    /// What does not fit, in one line; `None` when all does.
    fn fault_of(&self, value: &Value) -> Option<String> {
        let error = self.schemas.validate(value, self.index).err()?;
        Some(in_one_line(&error.to_string()))
    }
}

/// Where a schema is taken to stand; never looked up.
const PLACE: &str = "mem:///schema";

/// Refuses to load any other schema.
struct NothingElse;

impl UrlLoader for NothingElse {
    fn load(&self, url: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err(format!("`{url}` is another schema; write it under `$defs`").into())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form that `map_err` takes")]
fn unusable(error: CompileError) -> String {
    let why = match &error {
        CompileError::ValidationError { src, .. } => in_one_line(&src.to_string()),
        CompileError::LoadUrlError { src, .. } => src.to_string(),
        other => shortened(&other.to_string().replace(PLACE, "")),
    };
    format!("is no JSON schema that can be used: {why}")
}

/// What an error of validation says at its places; its first line only repeats that there is one.
fn in_one_line(text: &str) -> String {
    let places: Vec<_> = text.lines().skip(1).map(|line| line.trim().trim_start_matches("- ")).collect();
    shortened(&places.join("; ").replace(PLACE, ""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metric::trying::Try;

    fn tried(answer: &str) -> Try {
        Try::of(&JsonSchema).answer(answer).param(
            "schema",
            json!({
                "type": "object",
                "required": ["days"],
                "properties": {"days": {"type": "integer", "minimum": 0}, "from": {"type": "string", "format": "date"}},
            }),
        )
    }

    #[test]
    fn an_answer_is_json_of_the_right_form_or_it_is_not() {
        for answer in [r#"{"days": 30}"#, " {\"days\": 0, \"more\": [1]}\n", r#"{"days": 30, "from": "2007-06-29"}"#] {
            tried(answer).expect_score(1.0);
        }
        for (answer, note) in [
            (r#"{"days": "30"}"#, "at '/days': want integer, but got string"),
            (r#"{"days": -1, "from": "June"}"#, "at '/days'"),
            (r#"{"days": 1, "from": "June"}"#, "at '/from'"),
            ("{}", "missing properties 'days'"),
            ("[]", "want object, but got array"),
            ("30 days", "no JSON"),
            ("```json\n{\"days\": 30}\n```", "no JSON"),
            (r#"{"days": 30} {"days": 31}"#, "no JSON: trailing characters"),
            (r#"{"days": NaN}"#, "no JSON"),
            ("", "no JSON"),
        ] {
            tried(answer).expect_score(0.0).expect_note(note);
        }
    }

    #[test]
    fn without_a_schema_any_json_fits() {
        for answer in ["{}", "[1, 2]", "null", "\"text\"", "3.5"] {
            Try::of(&JsonSchema).answer(answer).expect_score(1.0);
        }
        for answer in ["", "text", "{\"a\": 1", "{a: 1}"] {
            Try::of(&JsonSchema).answer(answer).expect_score(0.0).expect_note("no JSON");
        }
        Try::of(&JsonSchema).answer("[[[").param("not", json!(true)).expect_score(1.0);
        Try::of(&JsonSchema).answer(&"[".repeat(100_000)).expect_score(0.0);
    }

    #[test]
    fn a_right_refusal_need_not_be_json() {
        tried("").should_refuse().refusal("Sorry.").expect_not_applicable("as it should");
        tried("").refusal("Sorry.").expect_score(0.0);
    }

    #[test]
    fn a_schema_that_cant_be_used_scores_nothing() {
        for (schema, why) in [
            (json!({"type": "objekt"}), "no JSON schema"),
            (json!({"minimum": "0"}), "no JSON schema"),
            (json!({"pattern": "("}), "no JSON schema"),
            (json!(7), "no JSON schema"),
            (json!({"$ref": "#/$defs/none"}), "no JSON schema"),
            (json!({"$ref": "file:///etc/hostname"}), "another schema"),
            (json!({"$ref": "https://example.org/schema.json"}), "another schema"),
        ] {
            Try::of(&JsonSchema)
                .answer("{}")
                .param("schema", schema)
                .expect_unmeasured("metric parameter invalid")
                .expect_why(why);
        }
    }

    #[test]
    fn a_schema_may_refer_to_itself() {
        let tree = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": false});
        let tried = |answer: &str| Try::of(&JsonSchema).answer(answer).param("schema", tree.clone());
        tried(r#"{"next": {"next": {}}}"#).expect_score(1.0);
        tried(r#"{"next": {"after": {}}}"#).expect_score(0.0).expect_note("at '/next'");
        Try::of(&JsonSchema).answer("{}").param("schema", json!({"$ref": "#"})).expect_score(0.0);
    }
}
