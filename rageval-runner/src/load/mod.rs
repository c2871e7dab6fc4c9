//! Files that a person wrote, read into checked types with every problem at its place.

mod blocks;
pub mod rankings;
pub mod trec;
