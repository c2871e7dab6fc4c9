//! Where a ranking holds relevant documents.

use std::collections::BTreeSet;

/// The relevant documents of one question: those with a grade above 0. Never empty.
///
/// Made once a question and used by all metrics. A document that is named twice counts once, with the grade it has first.
#[derive(Debug, Clone)]
pub struct Relevant<'a> {
    /// In the order of the judgements.
    documents: Vec<Document<'a>>,
    /// A table with open addressing: 0, or 1 + the place of a document. At most one in 16 is filled, so that most documents that
    /// are not relevant are told by one look.
    slots: Vec<u32>,
    /// Which bytes of an id say where it stands in the table.
    keyed_by: KeyedBy,
    /// The grades, highest first: the best ranking there is.
    ideal: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Document<'a> {
    id: &'a str,
    grade: f64,
}

/// Up to this many documents, what takes time that grows with them is faster than what needs preparation.
const FEW: usize = 12;

/// Which bytes of an id say where it stands in the table. A clash costs comparisons of texts and nothing else.
#[derive(Debug, Clone, Copy)]
enum KeyedBy {
    /// Its length and last 8 bytes: quick, and ids that all end alike may clash, which is bearable with few.
    End,
    /// All of it.
    Whole,
}

impl<'a> Relevant<'a> {
    /// Keeps the judgements `(id, grade)` with a grade above 0; `None` when there are none, so that no retrieval metric applies.
    pub fn new(judgements: impl IntoIterator<Item = (&'a str, f64)>) -> Option<Self> {
        let documents: Vec<_> = judgements
            .into_iter()
            .filter(|(_, grade)| *grade > 0.0)
            .map(|(id, grade)| Document { id, grade })
            .collect();
        if documents.is_empty() {
            return None;
        }
        let slots = vec![0; (16 * documents.len()).next_power_of_two()];
        let keyed_by = if documents.len() <= FEW { KeyedBy::End } else { KeyedBy::Whole };
        let mut ideal: Vec<_> = documents.iter().map(|document| document.grade).collect();
        ideal.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut relevant = Self { documents, slots, keyed_by, ideal };
        let mut number = 0;
        for place in 0..relevant.documents.len() {
            number += 1;
            match relevant.search(relevant.documents[place].id) {
                Err(slot) => relevant.slots[slot] = number,
                Ok(_) => return relevant.without_repeated(),
            }
        }
        Some(relevant)
    }

    /// The same with the first judgement of each document only.
    fn without_repeated(self) -> Option<Self> {
        let mut seen = BTreeSet::new();
        Self::new(self.documents.into_iter().filter(|document| seen.insert(document.id)).map(|one| (one.id, one.grade)))
    }

    /// Number of relevant documents, at least 1.
    pub fn count(&self) -> usize {
        self.documents.len()
    }

    /// The grades, highest first.
    pub fn ideal(&self) -> &[f64] {
        &self.ideal
    }

    /// Their ids, in the order of the judgements.
    pub fn ids(&self) -> impl Iterator<Item = &'a str> {
        self.documents.iter().map(|document| document.id)
    }

    /// The place of a document, or the free slot where it would stand.
    #[inline]
    fn search(&self, id: &str) -> Result<usize, usize> {
        let key = match self.keyed_by {
            KeyedBy::End => mix(id.len() as u64, last_word(id.as_bytes())),
            KeyedBy::Whole => fingerprint(id),
        };
        let mask = self.slots.len() - 1;
        // The high bits of a product are its best mixed ones.
        let mut slot = (key >> 32) as usize & mask;
        loop {
            let Some(place) = self.slots[slot].checked_sub(1) else { return Err(slot) };
            if self.documents[place as usize].id == id {
                return Ok(place as usize);
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// A relevant document that a ranking holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its first place in the ranking, from 1.
    pub rank: usize,
    /// Its grade, above 0.
    pub grade: f64,
    /// Its place among the relevant documents, from 0.
    pub place: usize,
}

/// The relevant documents that a ranking holds, best rank first, against all that there are.
#[derive(Debug, Clone)]
pub struct Found<'r> {
    /// Each relevant document at most once: of a repeated document only the first place earns.
    pub hits: Vec<Hit>,
    /// All relevant documents.
    pub relevant: &'r Relevant<'r>,
}

impl<'r> Found<'r> {
    /// Looks through a ranking in its order. An entry without id takes up its rank and matches nothing; ids are compared byte by byte.
    pub fn in_ranking<'d>(ranking: impl IntoIterator<Item = Option<&'d str>>, relevant: &'r Relevant<'r>) -> Self {
        let count = relevant.count();
        let mut hits: Vec<Hit> = Vec::with_capacity(count.min(FEW));
        // Only where there are many is a list of its own faster than a look at the hits.
        let mut seen = if count <= FEW { Vec::new() } else { vec![false; count] };
        for (index, id) in ranking.into_iter().enumerate() {
            let Some(Ok(place)) = id.map(|id| relevant.search(id)) else { continue };
            let is_repeated = match seen.get_mut(place) {
                Some(seen) => std::mem::replace(seen, true),
                None => hits.iter().any(|hit| hit.place == place),
            };
            if is_repeated {
                continue;
            }
            hits.push(Hit { rank: index + 1, grade: relevant.documents[place].grade, place });
            if hits.len() == count {
                break;
            }
        }
        Self { hits, relevant }
    }

    /// The hits within the first `k` ranks.
    pub fn within(&self, k: usize) -> &[Hit] {
        &self.hits[..self.hits.partition_point(|hit| hit.rank <= k)]
    }
}

/// 64 bits over all bytes of an id. No defence against keys that are chosen to clash.
#[inline]
fn fingerprint(id: &str) -> u64 {
    let bytes = id.as_bytes();
    let words = bytes.as_chunks::<8>().0;
    let state = words.iter().fold(bytes.len() as u64, |state, word| mix(state, u64::from_le_bytes(*word)));
    mix(state, last_word(bytes))
}

#[inline]
fn mix(state: u64, word: u64) -> u64 {
    (state.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The last 8 bytes; of a shorter text all of them.
#[inline]
fn last_word(bytes: &[u8]) -> u64 {
    match bytes.last_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(ranking: &[&str], judgements: &[(&str, f64)]) -> Vec<usize> {
        let relevant = Relevant::new(judgements.iter().copied()).expect("something relevant");
        Found::in_ranking(ranking.iter().map(|id| Some(*id)), &relevant).hits.iter().map(|hit| hit.rank).collect()
    }

    #[test]
    fn only_the_first_place_of_a_repeated_document_earns_and_ranks_stay() {
        assert_eq!(ranks(&["a", "a", "x", "a", "b"], &[("a", 1.0), ("b", 1.0)]), [1, 5]);
    }

    #[test]
    fn grades_of_0_or_less_are_not_relevant() {
        assert_eq!(ranks(&["z", "n", "a"], &[("z", 0.0), ("n", -1.0), ("a", 0.5)]), [3]);
        assert!(Relevant::new([("z", 0.0), ("n", -2.0), ("nan", f64::NAN)]).is_none());
        assert!(Relevant::new([]).is_none());
    }

    #[test]
    fn ids_are_exact_strings() {
        let judgements = [("Straße", 1.0), ("007", 1.0), ("退款", 1.0), ("a ", 1.0)];
        assert_eq!(ranks(&["STRASSE", "7", "退 款", "a", "007", "退款", "a ", "Straße"], &judgements), [5, 6, 7, 8]);
    }

    #[test]
    fn a_document_judged_twice_counts_once() {
        let relevant = Relevant::new([("a", 1.0), ("a", 1.0), ("b", 2.0)]).expect("something relevant");
        assert_eq!(relevant.count(), 2);
        assert_eq!(relevant.ideal(), [2.0, 1.0]);
    }

    #[test]
    fn ids_of_every_length_are_told_apart() {
        for length in 0..40 {
            let id: String = ('a'..).take(length).collect();
            for place in 0..length {
                let mut other: Vec<_> = id.chars().collect();
                other[place] = '.';
                let other: String = other.into_iter().collect();
                assert_ne!(fingerprint(&id), fingerprint(&other), "{id} {other}");
                assert_eq!(ranks(&[&other, &id], &[(&id, 1.0)]), [2]);
            }
        }
    }

    #[test]
    fn many_and_few_relevant_documents_are_found_alike() {
        for count in [1, FEW, FEW + 1, 500] {
            let ids: Vec<_> = (0..count).map(|i| format!("https://docs.example/{i}/page")).collect();
            let judgements: Vec<_> = ids.iter().map(|id| (id.as_str(), 1.0)).collect();
            let mut ranking: Vec<_> = ids.iter().map(String::as_str).collect();
            ranking.insert(0, "https://docs.example/none/page");
            assert_eq!(ranks(&ranking, &judgements), (2..count + 2).collect::<Vec<_>>());
        }
    }
}
