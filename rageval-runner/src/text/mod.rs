//! Sentences, words and normal forms of English, Portuguese and Chinese text, and what one text says of another.
