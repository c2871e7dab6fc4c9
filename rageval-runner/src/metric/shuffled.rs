//! Shows items and contexts in an order of their own for each fresh sample, so that where something stands weighs on no two readings alike.

use super::material::Readable;
use crate::stats::draw::Draws;

/// The order in which one sample shows items and contexts.
///
/// Sample 0 keeps both as they are; each later one draws both orders from all that is shown and the number of the sample, so that equal
/// inputs give an equal order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shuffled<'a> {
    /// For each place among the shown items, the item that stands there.
    order: Vec<usize>,
    /// The same of the contexts.
    ranks: Vec<usize>,
    /// As they are shown.
    contexts: Readable<'a>,
}

impl<'a> Shuffled<'a> {
    pub(super) fn new(query: &str, items: &[String], contexts: &Readable<'a>, sample: u32) -> Self {
        let in_place = |count: usize| (0..count).collect::<Vec<_>>();
        let (order, ranks) = if sample == 0 {
            (in_place(items.len()), in_place(contexts.len()))
        } else {
            let mut draws = Draws::seeded(seed(query, items, contexts, sample));
            (draws.order(items.len()), draws.order(contexts.len()))
        };
        Self { order, contexts: contexts.in_order(&ranks), ranks }
    }

    /// The items as they are shown.
    pub(super) fn shown<'i>(&self, items: &'i [String]) -> Vec<&'i str> {
        self.order.iter().filter_map(|at| items.get(*at)).map(String::as_str).collect()
    }

    /// The contexts as they are shown.
    pub(super) fn contexts(&self) -> &Readable<'a> {
        &self.contexts
    }

    /// What was said of the shown items, in the order of the items.
    pub(super) fn back<T>(&self, said: Vec<T>) -> Vec<T> {
        by_place(&self.order, said)
    }

    /// What was said of the shown contexts, in rank order.
    pub(super) fn back_to_ranks<T>(&self, said: Vec<T>) -> Vec<T> {
        by_place(&self.ranks, said)
    }
}

fn by_place<T>(places: &[usize], said: Vec<T>) -> Vec<T> {
    let mut placed: Vec<_> = places.iter().copied().zip(said).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, said)| said).collect()
}

/// A number drawn from all that is shown and the sample, in which no text can look like two.
fn seed(query: &str, items: &[String], contexts: &Readable<'_>, sample: u32) -> u64 {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(&sample.to_le_bytes());
    part(query.as_bytes());
    part(&(items.len() as u64).to_le_bytes());
    items.iter().for_each(|item| part(item.as_bytes()));
    contexts.texts().for_each(|text| part(text.as_bytes()));
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}
