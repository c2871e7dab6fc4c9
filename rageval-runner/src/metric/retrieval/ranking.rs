//! Where a ranking holds relevant documents.

use std::collections::BTreeSet;

use super::short::Short;

/// So many of a question's documents are kept without a place of their own in memory; most questions have no more.
const INLINE: usize = 8;

/// Up to this many documents, what takes time that grows with them is faster than what needs preparation.
const FEW: usize = 12;

/// So many ids go through the sieve before the first of them is looked up, at most 64.
const GROUP: usize = 16;

/// The relevant documents of one question: those with a grade above 0. Never empty.
///
/// Made once a question and used by all metrics. A document that is named twice counts once, with the grade it has first.
#[derive(Debug, Clone)]
pub struct Relevant<'a> {
    /// Tells most documents that are not relevant by one bit.
    sieve: Sieve,
    /// In the order of the judgements.
    documents: Short<Document<'a>, INLINE>,
    /// The grades, highest first: the best ranking there is.
    ideal: Short<f64, INLINE>,
    /// Their places by their keys, each in the first slot from its key's on that was free; no slots where there are few, as a look at each
    /// document is faster then.
    slots: Vec<usize>,
}

/// No place: the slot is free.
const FREE: usize = usize::MAX;

#[derive(Debug, Clone, Copy)]
struct Document<'a> {
    id: Id<'a>,
    grade: f64,
}

impl<'a> Relevant<'a> {
    /// Keeps the judgements `(id, grade)` with a grade above 0; `None` when there are none, so that no retrieval metric applies.
    #[inline]
    pub fn new(judgements: impl IntoIterator<Item = (&'a str, f64)>) -> Option<Self> {
        let mut documents = Short::<Document<'a>, INLINE>::default();
        let mut sieve = Sieve::default();
        let mut may_repeat = 0;
        for (id, grade) in judgements {
            if grade > 0.0 {
                let id = Id::new(id);
                may_repeat |= sieve.add(id.key());
                documents.push(Document { id, grade });
            }
        }
        if documents.is_empty() {
            return None;
        }
        let mut relevant = Self { sieve, documents, ideal: Short::default(), slots: Vec::new() };
        let is_distinct = match relevant.count() {
            ..=FEW => may_repeat == 0 || relevant.are_distinct(),
            _ => relevant.fill_slots(),
        };
        if !is_distinct {
            return relevant.without_repeated();
        }
        relevant.documents.iter().for_each(|document| relevant.ideal.push(document.grade));
        relevant.ideal.sort_unstable_by(|a, b| b.total_cmp(a));
        Some(relevant)
    }

    /// Whether each document could be given a slot, as none stands twice.
    fn fill_slots(&mut self) -> bool {
        self.slots = vec![FREE; (2 * self.count()).next_power_of_two()];
        for place in 0..self.count() {
            let slot = self.slot(self.documents[place].id);
            if self.slots[slot] != FREE {
                return false;
            }
            self.slots[slot] = place;
        }
        true
    }

    /// Whether none stands twice.
    fn are_distinct(&self) -> bool {
        self.documents.iter().enumerate().all(|(place, document)| self.place(document.id) == Some(place))
    }

    /// The same with the first judgement of each document only.
    fn without_repeated(self) -> Option<Self> {
        let mut seen = BTreeSet::new();
        let first = self.documents.iter().filter(|document| seen.insert(document.id.text));
        Self::new(first.map(|document| (document.id.text, document.grade)))
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
        self.documents.iter().map(|document| document.id.text)
    }

    /// The first place of a document with this id.
    fn place(&self, id: Id<'_>) -> Option<usize> {
        if self.slots.is_empty() {
            return self.documents.iter().position(|document| document.id.is(id));
        }
        Some(self.slots[self.slot(id)]).filter(|place| *place != FREE)
    }

    /// The slot of the document with this id, or the free one that it would have. There is always a free one.
    fn slot(&self, id: Id<'_>) -> usize {
        let last = self.slots.len() - 1;
        // The high bits of a product are its best mixed ones.
        let mut slot = whole_key(id.text).rotate_left(last.count_ones()) as usize & last;
        while let Some(document) = self.documents.get(self.slots[slot])
            && !document.id.is(id)
        {
            slot = (slot + 1) & last;
        }
        slot
    }
}

/// A set of keys that may take a stranger for a member, never a member for a stranger: one bit a key, so that with few nearly all
/// strangers are told.
#[derive(Debug, Clone, Default)]
struct Sieve([u64; 16]);

impl Sieve {
    /// Adds a key, and says as `may_hold` does whether it may have been there.
    #[inline]
    fn add(&mut self, key: u64) -> u64 {
        let before = self.may_hold(key);
        let (word, bit) = Self::position(key);
        self.0[word] |= 1 << bit;
        before
    }

    /// 1 when the key may be in the set, else 0.
    #[inline]
    fn may_hold(&self, key: u64) -> u64 {
        let (word, bit) = Self::position(key);
        self.0[word] >> bit & 1
    }

    /// The high bits of a product are its best mixed ones.
    #[inline]
    fn position(key: u64) -> (usize, u64) {
        ((key >> 54) as usize & 15, key >> 58)
    }
}

/// An id with its first and last bytes: one that is not longer than both is compared without a look at its text, which may lie far away.
#[derive(Debug, Clone, Copy)]
struct Id<'a> {
    text: &'a str,
    first: u64,
    last: u64,
}

impl<'a> Id<'a> {
    #[inline]
    fn new(text: &'a str) -> Self {
        let first = text.as_bytes().first_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word));
        Self { text, first, last: last_word(text.as_bytes()) }
    }

    #[inline]
    fn key(self) -> u64 {
        mix(self.text.len() as u64, self.last)
    }

    /// Whether both are the same text, byte by byte.
    #[inline]
    fn is(self, other: Id<'_>) -> bool {
        let both_ends = self.last == other.last && self.first == other.first && self.text.len() == other.text.len();
        both_ends && (self.text.len() <= 2 * size_of::<u64>() || self.text == other.text)
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
    hits: Short<Hit, INLINE>,
    /// All relevant documents.
    pub relevant: &'r Relevant<'r>,
}

impl<'r> Found<'r> {
    /// Looks through a ranking in its order. An entry without id takes up its rank and matches nothing; ids are compared byte by byte.
    ///
    /// The keys of a group are made without a branch between them, so that the processor fetches many ids at once, and nearly all of them
    /// end at the sieve.
    #[inline]
    pub fn in_ranking<'d, T>(
        ranking: &'d [T],
        id: impl Fn(&'d T) -> Option<&'d str>,
        relevant: &'r Relevant<'r>,
    ) -> Self {
        let count = relevant.count();
        let mut found = Self { hits: Short::default(), relevant };
        // Only where there are many is a list of its own faster than a look at the hits.
        let mut seen = if count <= FEW { Vec::new() } else { vec![false; count] };
        for (group, entries) in ranking.chunks(GROUP).enumerate() {
            let mut candidates: u64 = 0;
            for (within, entry) in entries.iter().enumerate() {
                candidates |= id(entry).map_or(0, |id| relevant.sieve.may_hold(end_key(id))) << within;
            }
            while candidates != 0 {
                let within = candidates.trailing_zeros() as usize;
                candidates &= candidates - 1;
                let Some(place) = id(&entries[within]).and_then(|id| relevant.place(Id::new(id))) else { continue };
                let is_repeated = match seen.get_mut(place) {
                    Some(seen) => std::mem::replace(seen, true),
                    None => found.hits.iter().any(|hit| hit.place == place),
                };
                if !is_repeated {
                    let rank = group * GROUP + within + 1;
                    found.hits.push(Hit { rank, grade: relevant.documents[place].grade, place });
                }
            }
            if found.hits.len() == count {
                break;
            }
        }
        found
    }

    /// Each relevant document at most once: of a repeated document only the first place earns.
    pub fn hits(&self) -> &[Hit] {
        &self.hits
    }

    /// The hits within the first `k` ranks.
    pub fn within(&self, k: usize) -> &[Hit] {
        &self.hits[..self.hits.partition_point(|hit| hit.rank <= k)]
    }
}

/// 64 bits over the length and the last 8 bytes of an id: quick, and ids that all end alike clash, which is bearable with few.
///
/// A clash costs comparisons of texts and nothing else.
#[inline]
fn end_key(id: &str) -> u64 {
    mix(id.len() as u64, last_word(id.as_bytes()))
}

/// 64 bits over all bytes of an id. No defence against keys that are chosen to clash.
#[inline]
fn whole_key(id: &str) -> u64 {
    let bytes = id.as_bytes();
    let words = bytes.as_chunks::<8>().0;
    let state = words.iter().fold(bytes.len() as u64, |state, word| mix(state, u64::from_le_bytes(*word)));
    mix(state, last_word(bytes))
}

#[inline]
fn mix(state: u64, word: u64) -> u64 {
    (state.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The last 8 bytes; of a shorter text all of them, so that with the length they are the text.
#[inline]
fn last_word(bytes: &[u8]) -> u64 {
    if let Some(word) = bytes.last_chunk::<8>() {
        return u64::from_le_bytes(*word);
    }
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last)),
        _ => bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(ranking: &[&str], judgements: &[(&str, f64)]) -> Vec<usize> {
        let relevant = Relevant::new(judgements.iter().copied()).expect("something relevant");
        Found::in_ranking(ranking, |id| Some(id), &relevant).hits().iter().map(|hit| hit.rank).collect()
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
                assert_ne!(whole_key(&id), whole_key(&other), "{id} {other}");
                assert_eq!(ranks(&[&other, &id], &[(&id, 1.0)]), [2]);
            }
        }
    }

    #[test]
    fn a_document_repeated_far_below_earns_its_first_place_only() {
        let mut ranking = vec!["x"; 4 * GROUP + 1];
        for place in [GROUP - 1, GROUP, 3 * GROUP] {
            ranking[place] = "a";
        }
        ranking[4 * GROUP] = "b";
        assert_eq!(ranks(&ranking, &[("a", 1.0), ("b", 1.0)]), [GROUP, 4 * GROUP + 1]);
    }

    #[test]
    fn entries_without_id_take_up_their_ranks_in_every_group() {
        let relevant = Relevant::new([("a", 1.0), ("b", 1.0)]).expect("something relevant");
        let ranking: Vec<_> = [None, Some("a")].into_iter().chain([None; 3 * GROUP]).chain([Some("b")]).collect();
        let found = Found::in_ranking(&ranking, |id| *id, &relevant);
        assert_eq!(found.hits().iter().map(|hit| hit.rank).collect::<Vec<_>>(), [2, 3 * GROUP + 3]);
    }

    #[test]
    fn ids_that_end_alike_are_told_apart() {
        let ids: Vec<_> = (0..FEW).map(|i| format!("{i:02}/the-same-end")).collect();
        let judgements: Vec<_> = ids.iter().skip(1).map(|id| (id.as_str(), 1.0)).collect();
        let ranking: Vec<_> = ids.iter().map(String::as_str).collect();
        assert_eq!(ranks(&ranking, &judgements), (2..=FEW).collect::<Vec<_>>());
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
