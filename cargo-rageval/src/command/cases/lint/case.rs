//! What can be said of a case by itself.

use std::sync::LazyLock;

use rageval_runner::{
    model::{Expectation, GoldenCase, Verdict},
    text::{content_words, evidence::Premises, is_refusal, sentences},
    trust::Date,
};
use regex::Regex;

use super::code::Code;

/// A known failure that is older is no longer "for now".
const LONG_DAYS: i32 = 90;

/// Letters that a question needs before its script says anything.
const FEW_LETTERS: usize = 4;

/// Everything that is found in one case.
pub(super) fn findings(case: &GoldenCase, today: Date) -> Vec<(Code, String)> {
    let mut found = Vec::new();
    let mut add = |code: Code, text: Option<String>| found.extend(text.map(|text| (code, text)));
    add(Code::NothingExpected, nothing_expected(case));
    add(Code::IrrelevantOnly, irrelevant_only(case));
    add(Code::UnsupportedReference, unsupported_reference(case));
    add(Code::RefusalReference, refusal_reference(case));
    add(Code::LanguageScript, language_script(case));
    add(Code::OuterBlanks, outer_blanks(case));
    add(Code::InvisibleCharacters, invisible_characters(case));
    add(Code::OldKnownFailure, old_known_failure(case, today));
    found
}

fn nothing_expected(case: &GoldenCase) -> Option<String> {
    let has_documents = case.relevant.as_ref().is_some_and(|relevant| !relevant.is_empty());
    let says_nothing = case.expectation == Expectation::Answer
        && case.references.is_empty()
        && case.reference_contexts.is_empty()
        && case.bars.is_empty()
        && !has_documents;
    says_nothing.then(|| {
        "says nothing of its right answer: add ground_truth_answer or relevant_doc_ids, or should_refuse: true"
            .to_owned()
    })
}

fn irrelevant_only(case: &GoldenCase) -> Option<String> {
    let relevant = case.relevant.as_ref().filter(|relevant| !relevant.is_empty())?;
    let only = relevant.iter().all(|judgement| judgement.grade <= 0.0) && case.expectation == Expectation::Answer;
    only.then(|| "grades every document that it names 0 or less, so retrieval is not measured for it".to_owned())
}

/// Whether a reference holds something to check, and no sentence of it stands in the reference contexts.
fn unsupported_reference(case: &GoldenCase) -> Option<String> {
    let contexts: Vec<&str> = case.reference_contexts.iter().map(String::as_str).collect();
    if contexts.is_empty() || case.references.is_empty() {
        return None;
    }
    let premises = Premises::new(&contexts, case.language);
    let is_supported = |reference: &String| {
        let claims = sentences(reference, case.language);
        let says_something = |claim: &&str| !is_yes_or_no(claim) && !content_words(claim, case.language).is_empty();
        let mut claims = claims.into_iter().filter(says_something).peekable();
        // "Yes." names nothing that a context could hold.
        claims.peek().is_none()
            || claims.any(|claim| matches!(premises.weigh(claim).verdict, Verdict::Supported | Verdict::Inferred))
    };
    let none = !case.references.iter().any(is_supported);
    none.then(|| "no sentence of its reference stands in its reference contexts, going by words and numbers".to_owned())
}

fn is_yes_or_no(claim: &str) -> bool {
    const WORDS: [&str; 12] = ["yes", "no", "sim", "não", "是", "是的", "不是", "否", "对", "不对", "可以", "不可以"];
    let word = claim.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    WORDS.contains(&word.as_str())
}

fn refusal_reference(case: &GoldenCase) -> Option<String> {
    let declines = |reference: &String| is_refusal(reference, case.language);
    match case.expectation {
        Expectation::Answer => case.references.iter().any(declines).then(|| {
            "should be answered, and its reference reads like a refusal: say should_refuse: true if declining is right".to_owned()
        }),
        Expectation::Refuse => {
            let answers = !case.references.is_empty() && !case.references.iter().any(declines);
            answers.then(|| "should be declined, and its reference reads like an answer".to_owned())
        }
    }
}

/// Scripts by the languages written in them; a text in one of these has at least one of its letters.
static SCRIPTS: LazyLock<Vec<(&[&str], &str, Regex)>> = LazyLock::new(|| {
    let scripts: [(&[&str], &str, &str); 9] = [
        (&["zh", "yue"], "Chinese characters", r"\p{Han}"),
        (&["ja"], "Japanese", r"[\p{Han}\p{Hiragana}\p{Katakana}]"),
        (&["ko"], "Hangul", r"\p{Hangul}"),
        (&["ru", "uk", "bg", "be", "mk"], "Cyrillic", r"\p{Cyrillic}"),
        (&["ar", "fa", "ur"], "Arabic", r"\p{Arabic}"),
        (&["he", "yi"], "Hebrew", r"\p{Hebrew}"),
        (&["el"], "Greek", r"\p{Greek}"),
        (&["hi", "mr", "ne"], "Devanagari", r"\p{Devanagari}"),
        (&["th"], "Thai", r"\p{Thai}"),
    ];
    scripts.into_iter().map(|(tags, name, class)| (tags, name, Regex::new(class).expect("tested"))).collect()
});
static LATIN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\p{Latin}").expect("tested"));
const LATIN_TAGS: [&str; 12] = ["en", "pt", "es", "fr", "de", "it", "nl", "pl", "sv", "da", "fi", "tr"];

fn language_script(case: &GoldenCase) -> Option<String> {
    let tag = case.language_tag.as_deref()?;
    let mut parts = tag.split(['-', '_']);
    let primary = parts.next()?.to_ascii_lowercase();
    // `zh-Latn` is Chinese in Latin letters, and says so.
    if parts.any(|part| part.len() == 4 && part.chars().all(|c| c.is_ascii_alphabetic())) && primary != "zh" {
        return None;
    }
    let letters = case.query.chars().filter(|c| c.is_alphabetic()).count();
    if letters < FEW_LETTERS || tag.to_ascii_lowercase().contains("latn") {
        return None;
    }
    if LATIN_TAGS.contains(&primary.as_str()) {
        let latin = LATIN.find_iter(&case.query).count();
        return (latin * 5 < letters).then(|| format!("is tagged {tag}, and its question has few Latin letters"));
    }
    let (_, script, class) = SCRIPTS.iter().find(|(tags, ..)| tags.contains(&primary.as_str()))?;
    (!class.is_match(&case.query)).then(|| format!("is tagged {tag}, and its question has no {script}"))
}

fn outer_blanks(case: &GoldenCase) -> Option<String> {
    (case.query.trim() != case.query)
        .then(|| "its question starts or ends with blanks, which the system is asked too".to_owned())
}

/// Marks of width, direction and byte order; joiners are left out, since scripts and emoji need them.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

fn invisible_characters(case: &GoldenCase) -> Option<String> {
    let in_id = |c: char| is_hidden(c) || matches!(c, '\u{a0}' | '\u{200c}' | '\u{200d}');
    let documents = case.relevant.iter().flatten().map(|judgement| ("a document id", judgement.id.as_str()));
    let words = [("its type", &case.kind), ("its difficulty", &case.difficulty), ("its document", &case.document)];
    let words = words.into_iter().filter_map(|(what, word)| Some((what, word.as_deref()?)));
    let tags = case.tags.iter().map(|tag| ("a tag", tag.as_str()));
    let names = std::iter::once(("its id", case.id.as_str())).chain(documents).chain(words).chain(tags);
    let of_names = names.filter_map(|(what, text)| Some((what, text.chars().find(|c| in_id(*c))?)));
    let of_query = case.query.chars().find(|c| is_hidden(*c)).map(|c| ("its question", c));
    let (what, c) = of_query.into_iter().chain(of_names).next()?;
    Some(format!("{what} holds U+{:04X}, which nobody sees", u32::from(c)))
}

static DAY: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b\d{4}-\d{2}-\d{2}\b").expect("tested"));

fn old_known_failure(case: &GoldenCase, today: Date) -> Option<String> {
    let reason = &case.known_failure.as_ref()?.reason;
    let days = DAY.find_iter(reason).filter_map(|day| day.as_str().parse::<Date>().ok());
    let last = days.max()?;
    let passed = today.since(last).ok()?.get_days();
    (passed > LONG_DAYS)
        .then(|| format!("is a known failure, and the last day that its reason names is {last}, {passed} days ago"))
}
