//! Finds documents by BM25, one index a language.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use bm25::{Document as Entry, SearchEngine, SearchEngineBuilder, Tokenizer};

use super::corpus::{self, Document};
use super::language::Language;

/// A retrieved document with its BM25 score.
pub(crate) struct Hit {
    pub(crate) document: &'static Document,
    pub(crate) score: f32,
}

/// The searchable help centre of one language.
pub(crate) struct Index {
    pub(crate) language: Language,
    pub(crate) documents: &'static [Document],
    articles: Engine,
    titles: Engine,
    document_frequencies: BTreeMap<String, usize>,
}

type Engine = SearchEngine<u32, u32, Words>;

struct Words(Language);

impl Tokenizer for Words {
    fn tokenize(&self, input_text: &str) -> Vec<String> {
        self.0.tokens(input_text)
    }
}

impl Index {
    /// The index of a language, built at its first use.
    pub(crate) fn of(language: Language) -> &'static Self {
        static ENGLISH: OnceLock<Index> = OnceLock::new();
        static PORTUGUESE: OnceLock<Index> = OnceLock::new();
        static CHINESE: OnceLock<Index> = OnceLock::new();
        let built = match language {
            Language::English => &ENGLISH,
            Language::Portuguese => &PORTUGUESE,
            Language::Chinese => &CHINESE,
        };
        built.get_or_init(|| Self::build(language))
    }

    fn build(language: Language) -> Self {
        let documents = corpus::documents(language);
        let mut document_frequencies = BTreeMap::new();
        for document in documents {
            let tokens = language.tokens(&article(document));
            for token in tokens.into_iter().collect::<BTreeSet<_>>() {
                *document_frequencies.entry(token).or_insert(0) += 1;
            }
        }
        Self {
            language,
            documents,
            articles: engine(language, documents.iter().map(article)),
            titles: engine(language, documents.iter().map(|document| document.title.to_owned())),
            document_frequencies,
        }
    }

    /// The best documents by title and text, best first.
    pub(crate) fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        self.ranked(&self.articles, query, limit)
    }

    /// The best documents by title alone, best first.
    pub(crate) fn search_titles(&self, query: &str, limit: usize) -> Vec<Hit> {
        self.ranked(&self.titles, query, limit)
    }

    /// The engine leaves equal scores in the order of a hash map, so it is asked for everything and cut here.
    fn ranked(&self, engine: &Engine, query: &str, limit: usize) -> Vec<Hit> {
        let mut results = engine.search(query, None);
        results
            .sort_by(|left, right| right.score.total_cmp(&left.score).then(left.document.id.cmp(&right.document.id)));
        results
            .iter()
            .take(limit)
            .map(|result| Hit { document: &self.documents[result.document.id as usize], score: result.score })
            .collect()
    }

    /// The different terms of a question.
    pub(crate) fn query_tokens(&self, query: &str) -> BTreeSet<String> {
        self.language.tokens(query).into_iter().collect()
    }

    /// How much a term says: high for rare ones, highest for those that no document has.
    pub(crate) fn weight(&self, token: &str) -> f64 {
        let frequency = self.document_frequencies.get(token).copied().unwrap_or(0);
        let documents = self.documents.len();
        (1.0 + ((documents - frequency) as f64 + 0.5) / (frequency as f64 + 0.5)).ln()
    }

    /// The summed weight of terms.
    pub(crate) fn weight_of<'a>(&self, tokens: impl IntoIterator<Item = &'a String>) -> f64 {
        tokens.into_iter().map(|token| self.weight(token)).sum()
    }
}

/// What is indexed of a document.
pub(crate) fn article(document: &Document) -> String {
    format!("{}\n{}", document.title, document.text)
}

fn engine(language: Language, texts: impl Iterator<Item = String>) -> Engine {
    let entries: Vec<Entry<u32>> = (0..).zip(texts).map(|(id, text)| Entry::new(id, text)).collect();
    SearchEngineBuilder::<u32, u32, Words>::with_tokenizer_and_documents(Words(language), entries).build()
}
