//! An example: answers from the five sentences below. Put your own system in its place.

/// What was found and what was said.
pub struct Reply {
    pub text: String,
    /// Id and text of each document, the best first.
    pub documents: Vec<(&'static str, &'static str)>,
}

const DOCUMENTS: [(&str, &str); 5] = [
    ("hours", "The library is open from 9 am to 8 pm on weekdays. It is open from 10 am to 4 pm on Saturdays."),
    ("loans", "Books can be borrowed for 21 days. A loan can be renewed twice."),
    ("fees", "A late book costs 20 cents a day. The fee for one book is at most 5 euros."),
    ("cards", "A library card is free for residents. Visitors pay 10 euros a year for a library card."),
    ("rooms", "A study room can be booked for up to 3 hours a day."),
];

/// Finds the documents that share words with the question, and answers with the sentence that shares most.
pub fn answer(question: &str) -> Reply {
    let words = words_of(question);
    let shared = |text: &str| words_of(text).iter().filter(|word| words.contains(word)).count();
    let mut documents: Vec<_> = DOCUMENTS.into_iter().filter(|(_, text)| shared(text) > 0).collect();
    documents.sort_by_key(|(_, text)| std::cmp::Reverse(shared(text)));
    let sentences = documents.iter().flat_map(|(_, text)| text.split_inclusive(". "));
    let best = sentences.max_by_key(|sentence| shared(sentence)).filter(|sentence| shared(sentence) > 1);
    let text = best.map_or("Sorry, I can't answer that from the documents.", str::trim);
    Reply { text: text.to_string(), documents }
}

/// The words of a text that are worth comparing, in lower case.
fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.len() > 3 || word.chars().any(char::is_numeric)).collect()
}
