//! Counts the strata of a golden set, and finds those with too few cases to say anything.

use std::collections::BTreeMap;

use crate::{
    gate::{
        rule::{SliceField, SliceName},
        slice::values_of,
    },
    model::GoldenSet,
};

/// The fields that are counted, in the order in which they are shown.
pub const FIELDS: [SliceField; 5] =
    [SliceField::Language, SliceField::Type, SliceField::Difficulty, SliceField::ShouldRefuse, SliceField::Tags];

/// The cases of a set by what they state.
#[derive(Debug, Clone, PartialEq)]
pub struct Strata {
    /// Cases in all.
    pub cases: usize,
    /// One entry a field of [`FIELDS`].
    pub fields: Vec<FieldCounts>,
    /// Strata with fewer than the least number of cases: single ones first, then crossings of two, each in the order of the fields and values.
    pub thin: Vec<Thin>,
}

/// The cases by their value of one field. A case with several tags counts for each.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldCounts {
    /// The field.
    pub field: SliceField,
    /// Cases of each value, as written. Both values of `should_refuse` are always there.
    pub values: BTreeMap<String, usize>,
    /// Cases that do not state it.
    pub unstated: usize,
}

/// A stratum with few cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Thin {
    /// One slice, or two that are crossed.
    pub slices: Vec<SliceName>,
    /// Its cases.
    pub cases: usize,
}

/// Counts the set, and names the strata with fewer than `min_cases` cases.
///
/// Crossed are language, type, difficulty and `should_refuse` with each other, and tags with the language. A crossing is named only where both of
/// its slices have enough cases: below a thin slice all crossings are thin. One without any case is named too.
pub fn strata(set: &GoldenSet, min_cases: usize) -> Strata {
    let fields: Vec<FieldCounts> = FIELDS.iter().map(|field| counts(set, field)).collect();
    let mut thin = Vec::new();
    for counted in &fields {
        for (value, &cases) in counted.values.iter().filter(|(_, cases)| **cases < min_cases) {
            thin.push(Thin { slices: vec![name(&counted.field, value)], cases });
        }
    }
    for (i, first) in fields.iter().enumerate() {
        for second in &fields[i + 1..] {
            if second.field == SliceField::Tags && first.field != SliceField::Language {
                continue;
            }
            let crossed = crossed(set, &first.field, &second.field);
            let enough = |counted: &&FieldCounts| -> Vec<String> {
                counted
                    .values
                    .iter()
                    .filter(|(_, cases)| **cases >= min_cases)
                    .map(|(value, _)| value.clone())
                    .collect()
            };
            for left in enough(&first) {
                for right in enough(&second) {
                    let cases = crossed.get(&(left.as_str(), right.as_str())).copied().unwrap_or_default();
                    if cases < min_cases {
                        let slices = vec![name(&first.field, &left), name(&second.field, &right)];
                        thin.push(Thin { slices, cases });
                    }
                }
            }
        }
    }
    Strata { cases: set.cases.len(), fields, thin }
}

fn name(field: &SliceField, value: &str) -> SliceName {
    SliceName { field: field.clone(), value: value.to_owned() }
}

fn counts(set: &GoldenSet, field: &SliceField) -> FieldCounts {
    let mut values: BTreeMap<String, usize> = BTreeMap::new();
    if *field == SliceField::ShouldRefuse {
        // A set without a question to decline has a thin stratum, and not one stratum less.
        values.extend(["false", "true"].map(|value| (value.to_owned(), 0)));
    }
    let mut unstated = 0;
    for case in &set.cases {
        let stated = values_of(case, field);
        unstated += usize::from(stated.is_empty());
        for value in stated {
            *values.entry(value.to_owned()).or_default() += 1;
        }
    }
    FieldCounts { field: field.clone(), values, unstated }
}

fn crossed<'a>(set: &'a GoldenSet, first: &SliceField, second: &SliceField) -> BTreeMap<(&'a str, &'a str), usize> {
    let mut crossed = BTreeMap::new();
    for case in &set.cases {
        for left in values_of(case, first) {
            for right in values_of(case, second) {
                *crossed.entry((left, right)).or_default() += 1;
            }
        }
    }
    crossed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gate::fixture::golden, model::Expectation};

    /// Cases of a language, a type and tags.
    fn set(cases: &[(&str, &str, &[&str])]) -> GoldenSet {
        let case = |(i, (language, kind, tags)): (usize, &(&str, &str, &[&str]))| {
            let mut case = golden(&format!("c{i}"), i);
            case.language_tag = (!language.is_empty()).then(|| (*language).to_owned());
            case.kind = Some((*kind).to_owned());
            case.tags = tags.iter().map(|&tag| tag.to_owned()).collect();
            case
        };
        GoldenSet { cases: cases.iter().enumerate().map(case).collect(), ..GoldenSet::default() }
    }

    fn thin(set: &GoldenSet, min_cases: usize) -> Vec<String> {
        let name = |thin: &Thin| {
            let slices: Vec<String> = thin.slices.iter().map(ToString::to_string).collect();
            format!("{} {}", slices.join(" x "), thin.cases)
        };
        strata(set, min_cases).thin.iter().map(name).collect()
    }

    #[test]
    fn every_case_is_counted_once_a_value() {
        let strata = strata(&set(&[("en", "fact", &["a", "b"]), ("pt", "fact", &["a"]), ("", "how-to", &[])]), 1);
        let shown: Vec<String> =
            strata.fields.iter().map(|f| format!("{} {:?} {}", f.field, f.values, f.unstated)).collect();
        let expected = [
            r#"language {"en": 1, "pt": 1} 1"#,
            r#"type {"fact": 2, "how-to": 1} 0"#,
            "difficulty {} 3",
            r#"should_refuse {"false": 3, "true": 0} 0"#,
            r#"tags {"a": 2, "b": 1} 1"#,
        ];
        assert_eq!((strata.cases, shown), (3, expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn thin_slices_are_named_and_hide_their_crossings() {
        let set = set(&[("en", "fact", &[]), ("en", "fact", &[]), ("pt", "fact", &[])]);
        assert_eq!(thin(&set, 2), ["language=pt 1", "should_refuse=true 0"]);
    }

    #[test]
    fn a_crossing_without_a_case_is_thin() {
        let mut set = set(&[("en", "fact", &[]), ("en", "how-to", &[]), ("pt", "fact", &[]), ("pt", "fact", &[])]);
        set.cases.push(set.cases[1].clone());
        for i in [0, 2] {
            set.cases[i].expectation = Expectation::Refuse;
        }
        let expected = [
            "language=en x type=fact 1",
            "language=pt x type=how-to 0",
            "language=en x should_refuse=true 1",
            "language=pt x should_refuse=false 1",
            "language=pt x should_refuse=true 1",
            "type=fact x should_refuse=false 1",
            "type=how-to x should_refuse=true 0",
        ];
        assert_eq!(thin(&set, 2), expected);
    }

    #[test]
    fn tags_are_crossed_with_the_language_alone() {
        let tag: &[&str] = &["a"];
        let set = set(&[("en", "fact", tag), ("en", "how-to", tag), ("pt", "fact", &[]), ("pt", "how-to", &[])]);
        let tags: Vec<String> = thin(&set, 2).into_iter().filter(|name| name.contains("tags")).collect();
        assert_eq!(tags, ["language=pt x tags=a 0"]);
    }
}
