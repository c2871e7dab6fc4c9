//! JSON schemas (draft 2020-12) of the files a user writes, for editors; made from the tables that the loader reads by.

use serde_json::{Map, Value, json};

use crate::metric::{self, Cutoff, Metric, ParamKind};

use super::{
    case,
    cases::FILE_KEYS,
    label,
    labels::FILE_KEYS as LABEL_FILE_KEYS,
    rules,
    shape::{Key, Need, Shape, Variant},
    thresholds,
};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// What a label after `/` in a metric's key may hold.
const LABEL: &str = r"(/[\p{L}\p{N}._-]+)?";

/// The schema of a YAML or JSON file of golden cases.
pub fn cases() -> Value {
    let case_ref = json!({"$ref": "#/$defs/case"});
    let mut file = map_of_keys(FILE_KEYS, Nulls::Refused, &[]);
    file["properties"]["cases"] =
        json!({"description": FILE_KEYS[2].about, "type": "array", "items": case_ref.clone()});
    json!({
        "$schema": DRAFT,
        "title": "golden cases of rageval",
        "anyOf": [{"type": "array", "items": case_ref}, file],
        "$defs": {"case": map_of_keys(case::KEYS, Nulls::Allowed, &[])},
    })
}

/// The schema of a YAML or JSON file of labels.
pub fn labels() -> Value {
    let label_ref = json!({"$ref": "#/$defs/label"});
    let mut file = map_of_keys(LABEL_FILE_KEYS, Nulls::Refused, &[]);
    file["properties"]["labels"] =
        json!({"description": LABEL_FILE_KEYS[1].about, "type": "array", "items": label_ref.clone()});
    json!({
        "$schema": DRAFT,
        "title": "labels of rageval",
        "anyOf": [{"type": "array", "items": label_ref}, file],
        "$defs": {"label": map_of_keys(label::KEYS, Nulls::Allowed, &[])},
    })
}

/// The schema of `thresholds.yaml` for these metrics: the built-in ones and the user's own.
pub fn thresholds(metrics: &[&dyn Metric]) -> Value {
    let mut schema = map_of_keys(thresholds::KEYS, Nulls::Refused, metrics);
    schema["$schema"] = json!(DRAFT);
    schema["title"] = json!("the policy of rageval");
    schema["$defs"] =
        metrics.iter().map(|metric| (metric.name().to_owned(), metric_rule(*metric))).collect::<Map<_, _>>().into();
    schema
}

/// Whether an empty value may stand for a key that is left out.
#[derive(Clone, Copy)]
enum Nulls {
    Allowed,
    Refused,
}

fn map_of_keys(keys: &[Key], nulls: Nulls, metrics: &[&dyn Metric]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut one_name = Vec::new();
    for key in keys {
        let mut schema = shape(&key.shape, metrics);
        if let (Nulls::Allowed, Need::Optional) = (nulls, key.need) {
            schema = json!({"anyOf": [schema, {"type": "null"}]});
        }
        for name in key.names() {
            let mut schema = schema.clone();
            let about = if name == key.name {
                key.about.to_owned()
            } else if name == case::ANSWERABLE {
                format!("The opposite of `{}`.", key.name)
            } else {
                format!("The same as `{}`. {}", key.name, key.about)
            };
            schema["description"] = json!(about);
            properties.insert(name.to_owned(), schema);
        }
        match key.need {
            Need::Required if key.aliases.is_empty() => required.push(key.name),
            Need::Required => {
                let names: Vec<_> = key.names().map(|name| json!({"required": [name]})).collect();
                one_name.push(json!({"oneOf": names}));
            }
            Need::Optional => {}
        }
    }
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if !one_name.is_empty() {
        schema["allOf"] = json!(one_name);
    }
    schema
}

fn shape(wanted: &Shape, metrics: &[&dyn Metric]) -> Value {
    match wanted {
        Shape::Text => json!({"type": "string", "pattern": r"\S"}),
        Shape::AnyText | Shape::Word => json!({"type": ["string", "number", "boolean"]}),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Unit => json!({"type": "number", "minimum": 0, "maximum": 1}),
        Shape::Number => json!({"type": "number"}),
        Shape::Count(least) => json!({"type": "integer", "minimum": least}),
        Shape::Duration => json!({"type": "string", "pattern": "^[0-9]+(ms|s|m)$"}),
        Shape::Date => json!({"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
        Shape::Reduction => {
            json!({"type": "string", "pattern": r"^(mean|median|majority|worst|pass[@^][1-9][0-9]*)$"})
        }
        Shape::OneOf(words) => json!({"enum": words}),
        Shape::Pointer => json!({"type": "string", "pattern": "^(/.*)?$"}),
        Shape::Any => json!({}),
        Shape::List(item) => json!({"type": "array", "items": shape(item, metrics)}),
        Shape::OneOrMany(item) => {
            let item = shape(item, metrics);
            json!({"anyOf": [item.clone(), {"type": "array", "items": item}]})
        }
        Shape::OrMap(item, keys) => {
            json!({"anyOf": [shape(item, metrics), map_of_keys(keys, Nulls::Refused, metrics)]})
        }
        Shape::Map(keys) => map_of_keys(keys, Nulls::Refused, metrics),
        Shape::MapOf(item) => json!({"type": "object", "additionalProperties": shape(item, metrics)}),
        Shape::Variants(by, variants) => {
            let variants: Vec<_> = variants.iter().map(|variant| variant_schema(by, variant, metrics)).collect();
            json!({"oneOf": variants})
        }
        Shape::Metrics => metric_list(metrics),
        Shape::Bars => json!({
            "type": "object",
            "additionalProperties": {"anyOf": [
                shape(&Shape::Unit, metrics),
                {"type": "object", "properties": map_of_keys(case::BAR, Nulls::Refused, metrics)["properties"]},
            ]},
        }),
    }
}

fn variant_schema(by: &str, variant: &Variant, metrics: &[&dyn Metric]) -> Value {
    let mut schema = map_of_keys(variant.keys, Nulls::Refused, metrics);
    schema["properties"][by] = json!({"const": variant.name});
    let mut required: Vec<Value> = vec![json!(by)];
    required.extend(schema["required"].as_array().into_iter().flatten().cloned());
    schema["required"] = required.into();
    schema
}

/// The `metrics` of the policy. A name without cut-off and label is a property of its own, so that editors can offer it.
fn metric_list(metrics: &[&dyn Metric]) -> Value {
    let (mut plain, mut patterns) = (Map::new(), Map::new());
    for metric in metrics {
        let name = metric.name();
        let rule = json!({"$ref": format!("#/$defs/{name}")});
        let cutoff = match metric.cutoff() {
            Cutoff::Required => "@[1-9][0-9]*",
            Cutoff::Optional => "(@[1-9][0-9]*)?",
            Cutoff::Refused => "",
        };
        patterns.insert(format!("^{name}{cutoff}{LABEL}$"), rule.clone());
        if metric.cutoff() != Cutoff::Required {
            plain.insert(name.to_owned(), rule);
        }
    }
    json!({
        "type": "object",
        "minProperties": 1,
        "properties": plain,
        "patternProperties": patterns,
        "additionalProperties": false,
    })
}

/// The rules of one metric: a map of rules and parameters, a number for its `min`, or nothing.
fn metric_rule(metric: &dyn Metric) -> Value {
    let mut rules = map_of_keys(rules::METRIC, Nulls::Refused, &[]);
    for param in metric::params_of(metric) {
        let mut schema = match param.kind {
            ParamKind::Flag => json!({"type": "boolean"}),
            ParamKind::Number => json!({"type": "number", "minimum": 0}),
            ParamKind::Unit => json!({"type": "number", "minimum": 0, "maximum": 1}),
            ParamKind::Whole(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            ParamKind::Text => json!({"type": ["string", "number", "boolean"]}),
            ParamKind::Texts => {
                let text = json!({"type": ["string", "number", "boolean"]});
                json!({"anyOf": [text.clone(), {"type": "array", "items": text, "minItems": 1}]})
            }
            ParamKind::Regex => json!({"type": "string", "format": "regex"}),
            ParamKind::OneOf(words) => json!({"enum": words}),
            ParamKind::SomeOf(words) => {
                json!({"anyOf": [{"enum": words}, {"type": "array", "items": {"enum": words}, "minItems": 1}]})
            }
            ParamKind::Levels => json!({
                "type": "object",
                "minProperties": 2,
                "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
            }),
            ParamKind::JsonSchema => json!({"type": ["object", "boolean"]}),
            ParamKind::Any => json!({}),
        };
        schema["description"] = json!(param.about);
        rules["properties"][param.name] = schema;
    }
    json!({
        "description": metric.about(),
        "anyOf": [rules, {"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}],
    })
}
