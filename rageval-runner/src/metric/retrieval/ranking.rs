//! Where a ranking holds relevant documents.

use std::collections::BTreeSet;

/// The relevant documents of one question: those with a grade above 0. Never empty.
///
/// Made once a question and used by all metrics. A document that is named twice counts once, with the grade it has first.
#[derive(Debug, Clone)]
pub struct Relevant<'a> {
    /// In the order of the judgements.
    documents: Vec<Document<'a>>,
    /// Tells most documents that are not relevant by one bit.
    sieve: Sieve,
    /// Keys and places in the order of the keys; empty where there are few, as a look at each is faster then.
    by_key: Vec<(u64, usize)>,
    /// The grades, highest first: the best ranking there is.
    ideal: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Document<'a> {
    id: &'a str,
    key: u64,
    grade: f64,
}

/// So many ids go through the sieve together, at most 64.
const GROUP: usize = 16;

/// Up to this many documents, what takes time that grows with them is faster than what needs preparation.
const FEW: usize = 12;

impl<'a> Relevant<'a> {
    /// Keeps the judgements `(id, grade)` with a grade above 0; `None` when there are none, so that no retrieval metric applies.
    pub fn new(judgements: impl IntoIterator<Item = (&'a str, f64)>) -> Option<Self> {
        let mut documents: Vec<_> = judgements
            .into_iter()
            .filter(|(_, grade)| *grade > 0.0)
            .map(|(id, grade)| Document { id, key: 0, grade })
            .collect();
        if documents.is_empty() {
            return None;
        }
        let mut sieve = Sieve::default();
        let key = if documents.len() <= FEW { end_key } else { whole_key };
        for document in &mut documents {
            document.key = key(document.id);
            sieve.add(document.key);
        }
        let mut by_key = Vec::new();
        if documents.len() > FEW {
            by_key.extend(documents.iter().enumerate().map(|(place, document)| (document.key, place)));
            by_key.sort_unstable();
        }
        let mut relevant = Self { documents, sieve, by_key, ideal: Vec::new() };
        if (0..relevant.count())
            .any(|place| relevant.place(relevant.documents[place].key, relevant.documents[place].id) != Some(place))
        {
            return relevant.without_repeated();
        }
        relevant.ideal.extend(relevant.documents.iter().map(|document| document.grade));
        relevant.ideal.sort_unstable_by(|a, b| b.total_cmp(a));
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

    /// The first place of a document with this key and id.
    fn place(&self, key: u64, id: &str) -> Option<usize> {
        if self.by_key.is_empty() {
            return self.documents.iter().position(|document| document.key == key && document.id == id);
        }
        let start = self.by_key.partition_point(|(known, _)| *known < key);
        let alike = self.by_key[start..].iter().take_while(|(known, _)| *known == key);
        alike.map(|(_, place)| *place).find(|place| self.documents[*place].id == id)
    }
}

/// A set of keys that may take a stranger for a member, never a member for a stranger: one bit a key, so that with few nearly all
/// strangers are told.
#[derive(Debug, Clone, Default)]
struct Sieve([u64; 16]);

impl Sieve {
    fn add(&mut self, key: u64) {
        let (word, bit) = Self::position(key);
        self.0[word] |= 1 << bit;
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
        if relevant.count() <= FEW {
            Self::by(end_key, ranking, relevant)
        } else {
            Self::by(whole_key, ranking, relevant)
        }
    }

    /// Ids go through the sieve in groups, without a branch between them, so that the processor fetches many at once.
    #[inline]
    fn by<'d>(
        key: impl Fn(&str) -> u64,
        ranking: impl IntoIterator<Item = Option<&'d str>>,
        relevant: &'r Relevant<'r>,
    ) -> Self {
        let count = relevant.count();
        let mut hits: Vec<Hit> = Vec::with_capacity(count.min(FEW));
        // Only where there are many is a list of its own faster than a look at the hits.
        let mut seen = if count <= FEW { Vec::new() } else { vec![false; count] };
        let mut ranking = ranking.into_iter();
        let mut group = [(0, ""); GROUP];
        let mut before = 0;
        loop {
            let mut length = 0;
            let mut candidates: u64 = 0;
            while length < GROUP {
                let Some(id) = ranking.next() else { break };
                if let Some(id) = id {
                    let key = key(id);
                    group[length] = (key, id);
                    candidates |= relevant.sieve.may_hold(key) << length;
                }
                length += 1;
            }
            while candidates != 0 {
                let within = candidates.trailing_zeros() as usize;
                candidates &= candidates - 1;
                let (key, id) = group[within];
                let Some(place) = relevant.place(key, id) else { continue };
                let is_repeated = match seen.get_mut(place) {
                    Some(seen) => std::mem::replace(seen, true),
                    None => hits.iter().any(|hit| hit.place == place),
                };
                if !is_repeated {
                    hits.push(Hit { rank: before + within + 1, grade: relevant.documents[place].grade, place });
                }
            }
            before += length;
            if length < GROUP || hits.len() == count {
                return Self { hits, relevant };
            }
        }
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
        let ranking = [None, Some("a")].into_iter().chain([None; 3 * GROUP]).chain([Some("b")]);
        let found = Found::in_ranking(ranking, &relevant);
        assert_eq!(found.hits.iter().map(|hit| hit.rank).collect::<Vec<_>>(), [2, 3 * GROUP + 3]);
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
