//! Ids of cases whose format has none, or whose ids we can't take.

use std::collections::HashMap;

use rageval_runner::model::{CaseId, Place, case::Fields};

use super::loss::{Told, Whose};

/// Most characters of a question that its id shows.
const SHOWN: usize = 40;

/// The ids given so far.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// Where each stands, by its NFC form.
    taken: HashMap<String, Place>,
    made: usize,
}

impl Ids {
    /// The id of a case: the one it has, where that is one of ours and free, else one made from its question. What was changed is told.
    pub(crate) fn of(&mut self, stated: Option<&str>, query: &str, place: &Place, told: &mut Told) -> CaseId {
        let Some(stated) = stated.filter(|text| !text.is_empty()) else {
            self.made += 1;
            return self.free(&made(query), place);
        };
        match CaseId::new(stated) {
            Ok(id) if !self.taken.contains_key(&id.nfc()) => self.take(id, place),
            Ok(id) => {
                let first = self.taken.get(&id.nfc()).cloned().unwrap_or_default();
                // A number behind an id of nearly 150 bytes has no room.
                let stem = if id.as_str().len() < 140 { id.as_str().to_owned() } else { made(query) };
                let id = self.free(&stem, place);
                told.changed(Whose { id: id.as_str(), place }, "id", format!("{stated:?} stands at {first} already"));
                id
            }
            Err(error) => {
                let id = self.free(&made(query), place);
                let why = format!("{stated:?}: {error}; made from the question");
                told.changed(Whose { id: id.as_str(), place }, "id", why);
                id
            }
        }
    }

    /// Says how many ids were made, and of what.
    pub(crate) fn tell(&self, told: &mut Told) {
        if self.made > 0 {
            let cases = if self.made == 1 { "1 case".to_owned() } else { format!("{} cases", self.made) };
            told.notice(format!(
                "made the ids of {cases} from their questions: the same question gets the same id in every conversion"
            ));
        }
    }

    fn take(&mut self, id: CaseId, place: &Place) -> CaseId {
        self.taken.insert(id.nfc(), place.clone());
        id
    }

    /// The stem, or the first free number behind it.
    fn free(&mut self, stem: &str, place: &Place) -> CaseId {
        let numbered = (2..).map(|number: usize| format!("{stem}-{number}"));
        let id = std::iter::once(stem.to_owned())
            .chain(numbered)
            .filter_map(|text| CaseId::new(text).ok())
            .find(|id| !self.taken.contains_key(&id.nfc()))
            .expect("one of endlessly many is free");
        self.take(id, place)
    }
}

/// The first words of the question, for people, and eight digits of its digest, for uniqueness. Nothing else goes in, so that a
/// corrected answer keeps its id.
fn made(query: &str) -> String {
    let mut slug = String::new();
    for c in query.chars().flat_map(char::to_lowercase) {
        if slug.chars().count() >= SHOWN || slug.len() > 100 {
            break;
        }
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let mut digest = Fields::default();
    digest.add("query", query);
    let digest = digest.finish();
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { format!("case-{}", &digest[..8]) } else { format!("{slug}-{}", &digest[..8]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(stated: &[(Option<&str>, &str)]) -> (Vec<String>, Told) {
        let (mut ids, mut told) = (Ids::default(), Told::default());
        let place = Place::default();
        let ids_of = stated.iter().map(|(id, query)| ids.of(*id, query, &place, &mut told).to_string()).collect();
        ids.tell(&mut told);
        (ids_of, told)
    }

    #[test]
    fn an_id_that_is_there_is_kept_and_one_that_is_not_is_made_of_the_question() {
        let (ids, told) = all(&[(Some("007"), "a"), (None, "What is the fee?"), (None, "费用是多少？"), (None, "???")]);
        assert_eq!(ids[0], "007");
        assert_eq!(&ids[1][..ids[1].len() - 8], "what-is-the-fee-");
        assert_eq!(&ids[2][..ids[2].len() - 8], "费用是多少-");
        assert_eq!(&ids[3][..5], "case-");
        assert!(told.losses.is_empty());
        assert!(told.notices[0].contains("made the ids of 3 cases"));
    }

    #[test]
    fn the_same_question_twice_has_two_ids_and_the_same_ones_again() {
        let once = all(&[(None, "Why?"), (None, "Why?")]).0;
        assert_eq!(once[1], format!("{}-2", once[0]));
        assert_eq!(all(&[(None, "Why?"), (None, "Why?")]).0, once);
    }

    #[test]
    fn an_id_that_is_none_of_ours_or_stands_twice_is_told() {
        let (ids, told) =
            all(&[(Some("a"), "q"), (Some("a"), "r"), (Some("-x"), "s"), (Some("e\u{301}"), "t"), (Some("é"), "u")]);
        assert_eq!(ids[1], "a-2");
        assert!(ids[2].starts_with("s-"));
        assert_eq!(ids[4], "é-2");
        assert_eq!(told.losses.len(), 3);
    }
}
