//! `$ref: '#/assertionTemplates/name'`: what a configuration of promptfoo says once and names elsewhere.

use rageval_runner::load::plain::{Located, Value};

/// How many references may stand in one another; more are a circle.
const DEEPEST: usize = 32;

/// Most values that are put in, however many references name them.
const MOST: usize = 100_000;

/// The configuration with what its references name in their place; a key beside `$ref` stands over the one that is named. A reference that
/// names nothing in this file, or itself, stays as it is.
pub(super) fn resolved(config: &Located) -> Located {
    let mut room = MOST;
    put_in(config, config, 0, &mut room)
}

fn put_in(value: &Located, config: &Located, depth: usize, room: &mut usize) -> Located {
    *room = room.saturating_sub(1);
    if *room == 0 || depth > DEEPEST {
        return value.clone();
    }
    let place = value.place.clone();
    match &value.value {
        Value::List(items) => {
            let items = items.iter().map(|item| put_in(item, config, depth, room)).collect();
            Located { place, value: Value::List(items) }
        }
        Value::Map(entries) => {
            let named = value.get("$ref").and_then(Located::word).and_then(|path| find(config, &path));
            let mut all = match named.map(|named| put_in(named, config, depth + 1, room)) {
                Some(Located { value: Value::Map(of_named), .. }) => of_named,
                Some(other) => return other,
                None => Vec::new(),
            };
            for (key, value) in entries.iter().filter(|(key, _)| named.is_none() || key != "$ref") {
                let value = put_in(value, config, depth, room);
                match all.iter_mut().find(|(other, _)| other == key) {
                    Some((_, other)) => *other = value,
                    None => all.push((key.clone(), value)),
                }
            }
            Located { place, value: Value::Map(all) }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => value.clone(),
    }
}

/// What a pointer into the file, such as `#/assertionTemplates/short`, names.
fn find<'a>(config: &'a Located, path: &str) -> Option<&'a Located> {
    let steps = path.strip_prefix("#/")?.split('/').map(|step| step.replace("~1", "/").replace("~0", "~"));
    steps.into_iter().try_fold(config, |at, step| match &at.value {
        Value::List(items) => items.get(step.parse::<usize>().ok()?),
        _ => at.get(&step),
    })
}

#[cfg(test)]
mod tests {
    use rageval_runner::load::plain::yaml;

    use super::*;

    fn read(text: &str) -> Located {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.yaml");
        std::fs::write(&path, text).expect("written");
        resolved(&yaml(&path).expect("YAML"))
    }

    fn word(config: &Located, keys: &[&str]) -> Option<String> {
        keys.iter().try_fold(config, |at, key| at.get(key)).and_then(Located::word)
    }

    #[test]
    fn what_is_named_takes_the_place_of_its_name() {
        let config = read(
            "templates: {a: {type: contains, value: x}, b: {$ref: '#/templates/a', value: z}}\n\
             one: {$ref: '#/templates/a'}\ntwo: {$ref: '#/templates/b', weight: 2}\n",
        );
        assert_eq!(word(&config, &["one", "type"]).as_deref(), Some("contains"));
        assert_eq!(word(&config, &["two", "value"]).as_deref(), Some("z"));
        assert_eq!(word(&config, &["two", "weight"]).as_deref(), Some("2"));
        assert_eq!(word(&config, &["one", "$ref"]), None);
    }

    #[test]
    fn what_names_nothing_or_itself_ends() {
        let config = read("a: {$ref: '#/nothing'}\nb: {$ref: '#/b'}\nc: {$ref: 'other.yaml#/a'}\n");
        assert_eq!(word(&config, &["a", "$ref"]).as_deref(), Some("#/nothing"));
        assert_eq!(word(&config, &["c", "$ref"]).as_deref(), Some("other.yaml#/a"));
        assert!(config.get("b").is_some());
        // Each names the one before twice.
        let many: String =
            (1..60).map(|n| format!("a{n}: [{{$ref: '#/a{0}'}}, {{$ref: '#/a{0}'}}]\n", n - 1)).collect();
        read(&format!("a0: x\n{many}"));
    }
}
