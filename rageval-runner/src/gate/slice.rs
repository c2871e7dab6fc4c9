//! Named parts of the set.

use std::{collections::BTreeSet, fmt};

use super::rule::{SliceField, SliceName, Slices};
use crate::model::{Expectation, GoldenCase, GoldenSet};

impl fmt::Display for SliceField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Language => f.write_str("language"),
            Self::Type => f.write_str("type"),
            Self::Difficulty => f.write_str("difficulty"),
            Self::Tags => f.write_str("tags"),
            Self::Document => f.write_str("document"),
            Self::ShouldRefuse => f.write_str("should_refuse"),
            Self::Metadata(key) => write!(f, "metadata.{key}"),
        }
    }
}

impl fmt::Display for SliceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.field, self.value)
    }
}

/// The values that a case has in a field: none where it does not say, several only for tags.
///
/// Values are taken as written: `pt` and `pt-BR` are two slices.
pub fn values_of<'a>(case: &'a GoldenCase, field: &SliceField) -> Vec<&'a str> {
    match field {
        SliceField::Language => case.language_tag.as_deref().into_iter().collect(),
        SliceField::Type => case.kind.as_deref().into_iter().collect(),
        SliceField::Difficulty => case.difficulty.as_deref().into_iter().collect(),
        SliceField::Tags => case.tags.iter().map(String::as_str).collect(),
        SliceField::Document => case.document.as_deref().into_iter().collect(),
        SliceField::ShouldRefuse => match case.expectation {
            Expectation::Answer => vec!["false"],
            Expectation::Refuse => vec!["true"],
        },
        SliceField::Metadata(key) => case.metadata.get(key).map(String::as_str).into_iter().collect(),
    }
}

/// Whether a case belongs to a slice.
pub fn contains(slice: &SliceName, case: &GoldenCase) -> bool {
    values_of(case, &slice.field).contains(&slice.value.as_str())
}

/// Every slice of the set by the configured fields: in the order of the fields, then of the values.
pub fn slices_of(slices: &Slices, set: &GoldenSet) -> Vec<SliceName> {
    let mut names: Vec<SliceName> = Vec::new();
    for (_, field) in &slices.by {
        let values: BTreeSet<&str> = set.cases.iter().flat_map(|case| values_of(case, field)).collect();
        let of_field = values.into_iter().map(|value| SliceName { field: field.clone(), value: value.to_owned() });
        // A field that is named twice makes its slices once: two trials of one name would be lost by some runners.
        names.extend(of_field.filter(|name| !names.contains(name)).collect::<Vec<_>>());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::fixture::golden,
        model::{GoldenSet, Place},
    };

    fn values(field: &SliceField) -> Vec<String> {
        let mut case = golden("a", 1);
        case.language_tag = Some("pt-BR".to_owned());
        case.tags = vec!["billing".to_owned(), "urgent".to_owned()];
        case.expectation = Expectation::Refuse;
        case.metadata.insert("team".to_owned(), "refunds".to_owned());
        values_of(&case, field).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_case_belongs_to_the_slices_it_states() {
        assert_eq!(values(&SliceField::Language), ["pt-BR"]);
        assert_eq!(values(&SliceField::Tags), ["billing", "urgent"]);
        assert_eq!(values(&SliceField::ShouldRefuse), ["true"]);
        assert_eq!(values(&SliceField::Metadata("team".to_owned())), ["refunds"]);
    }

    #[test]
    fn a_case_that_does_not_state_a_field_belongs_to_no_slice_of_it() {
        assert!(values(&SliceField::Difficulty).is_empty());
        assert!(values(&SliceField::Document).is_empty());
        assert!(values(&SliceField::Metadata("other".to_owned())).is_empty());
    }

    #[test]
    fn slices_are_listed_once_each_by_field_and_value() {
        let mut cases = vec![golden("a", 1), golden("b", 2), golden("c", 3)];
        cases[1].language_tag = Some("zh".to_owned());
        let set = GoldenSet { cases, ..GoldenSet::default() };
        let by =
            [SliceField::Type, SliceField::Language, SliceField::Type].map(|field| (Place::default(), field)).into();
        let names: Vec<_> = slices_of(&Slices { by, min_cases: 10 }, &set).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["type=fact", "language=en", "language=zh"]);
    }

    #[test]
    fn values_stand_in_names_as_written() {
        let name = SliceName { field: SliceField::Metadata("a b".to_owned()), value: "退款 = sim".to_owned() };
        assert_eq!(name.to_string(), "metadata.a b=退款 = sim");
    }
}
