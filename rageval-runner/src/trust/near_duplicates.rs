//! Finds questions that say nearly the same: two of them count one thing twice.
//!
//! Two questions of one language are near-duplicates where their sets of words agree: |shared| / |all| (the Jaccard index) is at least a
//! bound. Found without comparing all pairs, by prefix filtering (Bayardo, Ma and Srikant 2007, "Scaling up all pairs similarity search";
//! Xiao et al. 2008, "Efficient similarity joins for near duplicate detection"): with the words of each set in one order, the rarest
//! first, two sets that agree to t share a word among the first |x| - ceil(t |x|) + 1 of each. Nothing is missed by it. The work grows with
//! the questions times how often their rarest words occur, and is quadratic only where all questions are made of the same few words.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{
    model::Language,
    text::{normalise, words},
};

/// Slack of a comparison with the bound.
const SLACK: f64 = 1e-9;

/// A question and the language whose words it has.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The language.
    pub language: Language,
    /// The text.
    pub text: &'a str,
}

/// Questions that belong together: each is near to at least one other of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Their places in the list, ascending; at least two.
    pub members: Vec<usize>,
    /// The lowest similarity by which one of them was joined; 1 where all have the same words.
    pub similarity: f64,
}

/// The words of a question, one after the other: what is equal here differs at most in letter case, punctuation and blanks.
///
/// Chinese is one word a character. A question without any word is its normalised text.
pub fn plain(question: Question<'_>) -> Vec<String> {
    let normal = normalise(question.text);
    let words: Vec<String> = words(&normal, question.language).into_iter().map(str::to_owned).collect();
    if words.is_empty() { vec![normal] } else { words }
}

/// Groups of questions of one language whose words agree to at least `bound`, in the order of their first members.
///
/// `bound` is above 0 and at most 1.
pub fn near_duplicates(questions: &[Question<'_>], bound: f64) -> Vec<Group> {
    let mut groups = Groups { parent: (0..questions.len()).collect(), similarity: vec![1.0; questions.len()] };
    let mut by_language: BTreeMap<&str, BTreeMap<BTreeSet<String>, usize>> = BTreeMap::new();
    for (at, question) in questions.iter().enumerate() {
        let sets = by_language.entry(question.language.as_str()).or_default();
        // Equal sets are joined here, so that what follows sees each once.
        let first = *sets.entry(plain(*question).into_iter().collect()).or_insert(at);
        groups.join(first, at, 1.0);
    }
    for sets in by_language.into_values() {
        join_similar(&sets, bound, &mut groups);
    }
    groups.found()
}

/// Joins sets of one language that agree to the bound.
fn join_similar(sets: &BTreeMap<BTreeSet<String>, usize>, bound: f64, groups: &mut Groups) {
    let mut sets = numbered(sets);
    sets.sort_by_key(|(set, question)| (set.len(), *question));
    // For each word, the sets so far that have it among their first.
    let mut index: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut last_seen = vec![usize::MAX; sets.len()];
    for (at, (set, question)) in sets.iter().enumerate() {
        let size = set.len() as f64;
        let prefix = set.len() + 1 - ((bound * size - SLACK).ceil() as usize).clamp(1, set.len());
        for word in &set[..prefix] {
            for &other in index.get(word).into_iter().flatten() {
                let (other_set, other_question) = &sets[other];
                let is_seen = std::mem::replace(&mut last_seen[other], at) == at;
                if is_seen || (other_set.len() as f64) < bound * size - SLACK {
                    continue;
                }
                let similarity = jaccard(set, other_set);
                if similarity >= bound - SLACK {
                    groups.join(*other_question, *question, similarity);
                }
            }
        }
        for word in &set[..prefix] {
            index.entry(*word).or_default().push(at);
        }
    }
}

/// The sets with their words as numbers, ascending, the rarest word having the lowest.
fn numbered(sets: &BTreeMap<BTreeSet<String>, usize>) -> Vec<(Vec<u32>, usize)> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for word in sets.keys().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let mut order: Vec<(u32, &str)> = counts.into_iter().map(|(word, count)| (count, word)).collect();
    order.sort_unstable();
    let numbers: HashMap<&str, u32> = (0..).zip(order).map(|(number, (_, word))| (word, number)).collect();
    let number = |set: &BTreeSet<String>| {
        let mut set: Vec<u32> = set.iter().map(|word| numbers[word.as_str()]).collect();
        set.sort_unstable();
        set
    };
    sets.iter().map(|(set, question)| (number(set), *question)).collect()
}

/// Shared members over all members of two ascending lists.
fn jaccard(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    f64::from(shared) / (a.len() + b.len() - shared as usize) as f64
}

/// Questions that were joined, as a forest.
struct Groups {
    parent: Vec<usize>,
    /// Of a root: the similarity of its group.
    similarity: Vec<f64>,
}

impl Groups {
    fn root(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    /// The earlier root stays. Two of one group say nothing new of how it holds together.
    fn join(&mut self, a: usize, b: usize, similarity: f64) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parent[a.max(b)] = a.min(b);
            self.similarity[a.min(b)] = self.similarity[a].min(self.similarity[b]).min(similarity);
        }
    }

    fn found(mut self) -> Vec<Group> {
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in 0..self.parent.len() {
            members.entry(self.root(at)).or_default().push(at);
        }
        let groups = members.into_iter().filter(|(_, members)| members.len() > 1);
        groups.map(|(root, members)| Group { members, similarity: self.similarity[root] }).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn groups(language: Language, texts: &[&str]) -> Vec<(Vec<usize>, f64)> {
        let questions: Vec<Question<'_>> = texts.iter().map(|text| Question { language, text }).collect();
        near_duplicates(&questions, 0.8).into_iter().map(|group| (group.members, group.similarity)).collect()
    }

    #[test]
    fn letter_case_punctuation_and_order_do_not_count() {
        let texts = ["What is the fee?", "WHAT, is the fee", "The fee: is what?", "What is the price?"];
        assert_eq!(groups(Language::En, &texts), [(vec![0, 1, 2], 1.0)]);
    }

    #[test]
    fn questions_that_share_most_words_are_near() {
        let texts = ["How long do I have to return it?", "How long do I have to return this?", "How long is it?"];
        // 7 words of 9.
        assert_eq!(groups(Language::En, &texts), []);
        let texts = ["How long do I have to return it today?", "How long do I have to return it?"];
        assert_eq!(groups(Language::En, &texts), [(vec![0, 1], 8.0 / 9.0)]);
    }

    #[test]
    fn chinese_is_compared_by_characters() {
        assert_eq!(groups(Language::Zh, &["退款多久到账？", "请问退款多久到账", "怎么退货"]), []);
        assert_eq!(groups(Language::Zh, &["退款多久能到账？", "退款多久到账"]), [(vec![0, 1], 6.0 / 7.0)]);
    }

    #[test]
    fn languages_are_apart_and_questions_without_words_are_compared_as_they_stand() {
        let question = |language, text| Question { language, text };
        let questions = [question(Language::En, "Pakomo Plus?"), question(Language::Pt, "Pakomo Plus?")];
        assert_eq!(near_duplicates(&questions, 0.8), []);
        assert_eq!(groups(Language::En, &["???", "!!!", "? ??", "???"]), [(vec![0, 3], 1.0)]);
    }

    #[test]
    fn a_group_tells_the_lowest_similarity_by_which_one_was_joined() {
        let texts = ["a1 b1 c1 d1 e1 f1 g1 h1", "a1 b1 c1 d1 e1 f1 g1 h1 i1", "a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1"];
        assert_eq!(groups(Language::En, &texts), [(vec![0, 1, 2], 9.0 / 11.0)]);
    }

    /// The same groups from a comparison of all pairs.
    fn by_all_pairs(sets: &[BTreeSet<String>], bound: f64) -> Vec<Vec<usize>> {
        let mut groups = Groups { parent: (0..sets.len()).collect(), similarity: vec![1.0; sets.len()] };
        for i in 0..sets.len() {
            for j in 0..i {
                let shared = sets[i].intersection(&sets[j]).count() as f64;
                if shared / sets[i].union(&sets[j]).count() as f64 >= bound - SLACK {
                    groups.join(j, i, 1.0);
                }
            }
        }
        groups.found().into_iter().map(|group| group.members).collect()
    }

    proptest! {
        #[test]
        fn nothing_is_missed_and_nothing_added(
            sets in prop::collection::vec(prop::collection::btree_set("[a-f]x", 1..6), 0..30),
            bound in prop::sample::select(vec![0.5, 0.6, 2.0 / 3.0, 0.75, 0.8, 0.9, 1.0]),
        ) {
            let texts: Vec<String> = sets.iter().map(|set| set.iter().cloned().collect::<Vec<_>>().join(" ")).collect();
            let questions: Vec<Question<'_>> =
                texts.iter().map(|text| Question { language: Language::En, text }).collect();
            let found: Vec<Vec<usize>> = near_duplicates(&questions, bound).into_iter().map(|g| g.members).collect();
            prop_assert_eq!(found, by_all_pairs(&sets, bound));
        }
    }
}
