//! Where a ranking holds relevant documents.

/// The relevant documents of one question: those with a grade above 0. Never empty.
///
/// Made once a question and used by all metrics. A document that is named twice counts once, with the grade it has first.
#[derive(Debug, Clone)]
pub struct Relevant<'a> {
    /// Sorted by fingerprint, then id.
    documents: Vec<Document<'a>>,
    /// One bit for the end of each id: most documents that are not relevant are told by it alone.
    sketch: u64,
    /// The grades, highest first: the best ranking there is.
    ideal: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Document<'a> {
    fingerprint: u64,
    id: &'a str,
    grade: f64,
    /// Place in the judgements as given, from 0.
    place: usize,
}

/// Up to this many documents are looked through one by one, which is faster than a binary search.
const FEW: usize = 12;

impl<'a> Relevant<'a> {
    /// Keeps the judgements `(id, grade)` with a grade above 0; `None` when there are none, so that no retrieval metric applies.
    pub fn new(judgements: impl IntoIterator<Item = (&'a str, f64)>) -> Option<Self> {
        let mut documents: Vec<_> = judgements
            .into_iter()
            .enumerate()
            .filter(|(_, (_, grade))| *grade > 0.0)
            .map(|(place, (id, grade))| Document { fingerprint: fingerprint(id), id, grade, place })
            .collect();
        if documents.len() > 1 {
            documents.sort_unstable_by(|a, b| (a.fingerprint, a.id, a.place).cmp(&(b.fingerprint, b.id, b.place)));
            documents.dedup_by(|later, first| later.fingerprint == first.fingerprint && later.id == first.id);
        }
        let mut ideal: Vec<_> = documents.iter().map(|document| document.grade).collect();
        ideal.sort_unstable_by(|a, b| b.total_cmp(a));
        let sketch = documents.iter().fold(0, |sketch, document| sketch | bit(document.id));
        (!documents.is_empty()).then_some(Self { documents, sketch, ideal })
    }

    /// Number of relevant documents, at least 1.
    pub fn count(&self) -> usize {
        self.documents.len()
    }

    /// The grades, highest first.
    pub fn ideal(&self) -> &[f64] {
        &self.ideal
    }

    /// Ids with their place in the judgements as given, in that order.
    pub fn ids(&self) -> Vec<(usize, &'a str)> {
        let mut ids: Vec<_> = self.documents.iter().map(|document| (document.place, document.id)).collect();
        ids.sort_unstable();
        ids
    }

    /// Index into `documents`.
    #[inline]
    fn position(&self, id: &str) -> Option<usize> {
        if self.sketch & bit(id) == 0 { None } else { self.search(id) }
    }

    fn search(&self, id: &str) -> Option<usize> {
        let wanted = fingerprint(id);
        if self.documents.len() <= FEW {
            return self.documents.iter().position(|document| document.fingerprint == wanted && document.id == id);
        }
        let start = self.documents.partition_point(|document| document.fingerprint < wanted);
        self.documents[start..]
            .iter()
            .take_while(|document| document.fingerprint == wanted)
            .position(|document| document.id == id)
            .map(|offset| start + offset)
    }
}

/// A relevant document that a ranking holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its first place in the ranking, from 1.
    pub rank: usize,
    /// Its grade, above 0.
    pub grade: f64,
    /// Its place in the judgements as given, from 0.
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
            let Some(position) = id.and_then(|id| relevant.position(id)) else { continue };
            let document = &relevant.documents[position];
            let is_repeated = match seen.get_mut(position) {
                Some(seen) => std::mem::replace(seen, true),
                None => hits.iter().any(|hit| hit.place == document.place),
            };
            if is_repeated {
                continue;
            }
            hits.push(Hit { rank: index + 1, grade: document.grade, place: document.place });
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

/// 64 bits over all bytes of an id, so that most comparisons of unequal ids are one comparison of numbers.
///
/// Not a hash table's defence against chosen keys: equal fingerprints only cost a comparison of the texts.
fn fingerprint(id: &str) -> u64 {
    let bytes = id.as_bytes();
    let mut state = bytes.len() as u64;
    let words = bytes.as_chunks::<8>().0;
    for word in words {
        state = mix(state, u64::from_le_bytes(*word));
    }
    mix(state, last_word(bytes))
}

/// The bit that stands for an id in a sketch: one of 64, by its length and last 8 bytes.
#[inline]
fn bit(id: &str) -> u64 {
    let bytes = id.as_bytes();
    1 << (mix(bytes.len() as u64, last_word(bytes)) >> 58)
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
