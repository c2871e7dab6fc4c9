//! What a failing case and a failing gate print.
