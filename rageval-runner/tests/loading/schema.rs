//! What the schemas, the documentation and the loader say of each key is the same.

use super::*;

/// One way from the top of a file to a key: the keys on the way, each with what must stand beside it.
type Way = Vec<(String, Vec<(String, String)>)>;

/// Every way to a key that a schema knows.
fn ways(schema: &serde_json::Value, defs: &serde_json::Value, way: &Way, found: &mut Vec<Way>) {
    if let Some(name) = schema["$ref"].as_str() {
        return ways(&defs[name.trim_start_matches("#/$defs/")], defs, way, found);
    }
    for branch in ["anyOf", "oneOf"] {
        for schema in schema[branch].as_array().into_iter().flatten() {
            ways(schema, defs, way, found);
        }
    }
    let properties = schema["properties"].as_object();
    let decides =
        |(name, schema): (&String, &serde_json::Value)| Some((name.clone(), schema["const"].as_str()?.to_owned()));
    let beside: Vec<_> = properties.into_iter().flatten().filter_map(decides).collect();
    for (name, schema) in properties.into_iter().flatten() {
        let mut way = way.clone();
        way.push((name.clone(), beside.clone()));
        found.push(way.clone());
        if schema.get("const").is_none() {
            ways(schema, defs, &way, found);
        }
    }
}

/// A file in which the last key of a way holds a text, and so is wrong in most places.
fn along(way: &Way) -> serde_json::Value {
    way.iter().rev().fold(serde_json::json!("x"), |value, (key, beside)| {
        let mut map: serde_json::Map<_, _> =
            beside.iter().map(|(name, word)| (name.clone(), serde_json::json!(word))).collect();
        map.entry(key.clone()).or_insert(value);
        map.into()
    })
}

fn unknown_keys(problems: &[String]) -> usize {
    problems.iter().filter(|problem| problem.contains("unknown key")).count()
}

#[test]
fn the_loader_knows_the_keys_of_the_schema_of_the_policy_and_no_others() {
    let schema = load::schema::thresholds(METRICS);
    let mut found = Vec::new();
    ways(&schema, &schema["$defs"], &Vec::new(), &mut found);
    assert!(found.len() > 100, "{}", found.len());
    for way in &found {
        let problems = Project::new(&along(way).to_string()).problems();
        assert_eq!(unknown_keys(&problems), 0, "{way:?}: {problems:?}");
    }
    // In the same maps, a key that the schema does not list.
    for way in found.iter().filter(|way| way.len() != 2 || way[0].0 != "metrics") {
        let mut way = way.clone();
        let last = way.last_mut().expect("a key");
        last.0 = "unheard".to_owned();
        let problems = Project::new(&along(&way).to_string()).problems();
        assert_eq!(unknown_keys(&problems), 1, "{way:?}: {problems:?}");
    }
}

#[test]
fn the_loader_knows_the_keys_of_the_schema_of_cases() {
    let schema = load::schema::cases();
    let mut found = Vec::new();
    ways(&schema["$defs"]["case"], &schema["$defs"], &Vec::new(), &mut found);
    assert!(found.len() > 30, "{}", found.len());
    for way in &found {
        let project = Project::recorded().with("cases/a.json", format!("[{}]", along(way)).as_bytes());
        assert_eq!(unknown_keys(&project.problems()), 0, "{way:?}");
    }
    let names: Vec<_> = schema["anyOf"][1]["properties"].as_object().expect("keys").keys().cloned().collect();
    assert_eq!(names, ["cases", "golden_set", "version"]);
}

#[test]
fn every_key_is_documented() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let check = |file: &str, schema: &serde_json::Value, defs: &serde_json::Value| {
        // Metrics and their parameters are documented on a page of their own.
        let page = |file: &str| fs::read_to_string(docs.join(file)).expect("the page");
        let text = page(file) + &page("metrics.md");
        let mut found = Vec::new();
        ways(schema, defs, &Vec::new(), &mut found);
        for way in found {
            let key = &way.last().expect("a key").0;
            let is_named = [
                format!("`{key}`"),
                format!("`{key}@"),
                format!("`{key}[@"),
                format!("{key}:"),
                format!("{key}, "),
                format!("{key}}}"),
            ];
            assert!(is_named.iter().any(|name| text.contains(name)), "{file}: {key}");
        }
    };
    let cases = load::schema::cases();
    check("cases.md", &cases["$defs"]["case"], &cases["$defs"]);
    let thresholds = load::schema::thresholds(METRICS);
    check("thresholds.md", &thresholds, &thresholds["$defs"]);
    // Keys that a label shares with a case are told there.
    let mut labels = load::schema::labels();
    let keys = labels["$defs"]["label"]["properties"].as_object_mut().expect("keys");
    keys.retain(|key, _| cases["$defs"]["case"]["properties"].get(key).is_none());
    assert!(keys.len() > 5, "{keys:?}");
    check("calibration.md", &labels["$defs"]["label"], &labels["$defs"]);
}
