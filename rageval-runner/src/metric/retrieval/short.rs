//! A list that is mostly short.

use std::ops::{Deref, DerefMut};

use arrayvec::ArrayVec;

/// A list whose first `N` entries stand in it, so that a short one takes no memory elsewhere; a longer one is moved there as a whole.
///
/// Not `smallvec`, whose lists can't be lent for less than the lifetime of what is in them.
#[derive(Debug, Clone)]
pub(super) struct Short<T, const N: usize> {
    inline: ArrayVec<T, N>,
    /// All entries once they are more than `N`, else none.
    spilled: Vec<T>,
}

impl<T, const N: usize> Default for Short<T, N> {
    #[inline]
    fn default() -> Self {
        Self { inline: ArrayVec::new(), spilled: Vec::new() }
    }
}

impl<T, const N: usize> Short<T, N> {
    #[inline]
    pub(super) fn push(&mut self, entry: T) {
        if !self.spilled.is_empty() {
            self.spilled.push(entry);
        } else if let Err(full) = self.inline.try_push(entry) {
            self.spill(full.element());
        }
    }

    #[cold]
    fn spill(&mut self, entry: T) {
        self.spilled.extend(self.inline.drain(..));
        self.spilled.push(entry);
    }
}

impl<T, const N: usize> Deref for Short<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        if self.spilled.is_empty() { &self.inline } else { &self.spilled }
    }
}

impl<T, const N: usize> DerefMut for Short<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        if self.spilled.is_empty() { &mut self.inline } else { &mut self.spilled }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_in_their_order_at_every_length() {
        let mut list = Short::<usize, 4>::default();
        for count in 0..20 {
            assert_eq!(*list, (0..count).collect::<Vec<_>>());
            list.push(count);
        }
    }
}
