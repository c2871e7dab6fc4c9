//! Cuts inflection off words, lightly: enough that `refunds`, `refunded` and `refunding` meet.

use crate::model::Language;

/// The stem of a normalised word: the word without plural and common verb endings. Chinese has none; words with digits stay whole.
///
/// Far from a full stemmer, on purpose: rules that fit on a page do less harm in a comparison than a stem that joins strangers. A stem
/// always has at least three letters, and it is no word to show to anybody.
pub fn stem(word: &str, language: Language) -> String {
    if word.chars().any(|c| !c.is_alphabetic() && c != '\'') {
        return word.to_owned();
    }
    match language {
        Language::En => english(word),
        Language::Pt => portuguese(word),
        Language::Zh => word.to_owned(),
    }
}

/// Plural, -ed, -ing, -ly, and a final e or doubled consonant that these leave or hide.
fn english(word: &str) -> String {
    if let Some((_, base)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return (*base).to_owned();
    }
    let mut stem = word.trim_matches('\'').to_owned();
    if let Some(cut) = cut(&stem, "ies", 2) {
        stem = format!("{cut}y");
    } else if let Some(cut) = ["sses", "shes", "ches", "xes", "zes"]
        .iter()
        .find_map(|end| cut(&stem, end, 1))
        .map(|_| stem[..stem.len() - 2].to_owned())
    {
        stem = cut;
    } else if !stem.ends_with("ss") && !stem.ends_with("us") && !stem.ends_with("is") {
        stem = cut(&stem, "s", 3).unwrap_or(&stem).to_owned();
    }
    for ending in ["ied", "edly", "ing", "ed", "ly"] {
        if let Some(cut) = cut(&stem, ending, 3).filter(|cut| cut.contains(['a', 'e', 'i', 'o', 'u', 'y'])) {
            stem = if ending == "ied" { format!("{cut}y") } else { cut.to_owned() };
            break;
        }
    }
    // "stopped" -> "stopp" -> "stop"; but "call", "miss", "buzz".
    let ends_doubled = {
        let mut back = stem.chars().rev();
        let (last, before) = (back.next(), back.next());
        last == before && last.is_some_and(|c| !matches!(c, 'l' | 's' | 'z' | 'e' | 'o'))
    };
    if ends_doubled && 3 < stem.len() {
        stem.pop();
    }
    if let Some(cut) = cut(&stem, "e", 3) {
        stem = cut.to_owned();
    }
    if let Some(cut) = cut(&stem, "y", 3) {
        stem = format!("{cut}i");
    }
    stem
}

/// Plural, gender, and the endings of regular verbs; accents of what is left are kept.
fn portuguese(word: &str) -> String {
    let mut stem = word.to_owned();
    for (plural, singular) in [
        ("ões", "ão"),
        ("ães", "ão"),
        ("ais", "al"),
        ("éis", "el"),
        ("óis", "ol"),
        ("ns", "m"),
        ("res", "r"),
        ("zes", "z"),
    ] {
        if let Some(cut) = cut(&stem, plural, 2) {
            stem = format!("{cut}{singular}");
            return portuguese_noun(&stem);
        }
    }
    if let Some(cut) = cut(&stem, "s", 3) {
        stem = cut.to_owned();
    }
    for ending in [
        "ando", "endo", "indo", "aram", "eram", "iram", "arão", "erão", "irão", "aria", "eria", "iria", "avam", "ados",
        "idos", "adas", "idas", "ado", "ido", "ada", "ida", "ará", "erá", "irá", "ava", "iam", "asse", "esse", "isse",
        "ar", "er", "ir", "am", "em", "ou", "eu", "iu", "ei",
    ] {
        if let Some(cut) = cut(&stem, ending, 3) {
            return cut.to_owned();
        }
    }
    portuguese_noun(&stem)
}

/// A noun or adjective without its last vowel; `-ção` and `-mente` go too, so that `devolução` comes near `devolver`.
fn portuguese_noun(word: &str) -> String {
    for ending in ["amente", "mente", "ação", "ição", "ução", "ção", "são"] {
        if let Some(cut) = cut(word, ending, 4) {
            return cut.to_owned();
        }
    }
    ["a", "o", "e"].iter().find_map(|end| cut(word, end, 3)).unwrap_or(word).to_owned()
}

/// The word without an ending, when at least `keep` characters stay.
fn cut<'a>(word: &'a str, ending: &str, keep: usize) -> Option<&'a str> {
    word.strip_suffix(ending).filter(|rest| keep <= rest.chars().count())
}

/// Frequent English forms that no ending explains.
const IRREGULAR: &[(&str, &str)] = &[
    ("bought", "buy"),
    ("brought", "bring"),
    ("built", "build"),
    ("began", "begin"),
    ("begun", "begin"),
    ("became", "becom"),
    ("children", "child"),
    ("chose", "choos"),
    ("chosen", "choos"),
    ("cost", "cost"),
    ("died", "die"),
    ("fell", "fall"),
    ("fed", "feed"),
    ("feet", "foot"),
    ("found", "find"),
    ("gave", "giv"),
    ("given", "giv"),
    ("gone", "go"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("held", "hold"),
    ("kept", "keep"),
    ("knew", "know"),
    ("known", "know"),
    ("led", "lead"),
    ("left", "leav"),
    ("lost", "los"),
    ("made", "mak"),
    ("men", "man"),
    ("met", "meet"),
    ("paid", "pay"),
    ("people", "person"),
    ("ran", "run"),
    ("said", "say"),
    ("saw", "see"),
    ("seen", "see"),
    ("sent", "send"),
    ("shot", "shoot"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("struck", "strik"),
    ("taken", "tak"),
    ("taught", "teach"),
    ("told", "tell"),
    ("took", "tak"),
    ("used", "use"),
    ("using", "use"),
    ("went", "go"),
    ("women", "woman"),
    ("won", "win"),
    ("wrote", "writ"),
    ("written", "writ"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn meet(language: Language, groups: &[&[&str]]) {
        for group in groups {
            let stems: Vec<_> = group.iter().map(|word| stem(word, language)).collect();
            assert!(stems.iter().all(|other| *other == stems[0]), "{group:?} -> {stems:?}");
        }
    }

    #[test]
    fn english_forms_meet() {
        meet(
            Language::En,
            &[
                &["refund", "refunds", "refunded", "refunding"],
                &["stop", "stops", "stopped", "stopping"],
                &["city", "cities"],
                &["box", "boxes"],
                &["use", "uses", "used", "using"],
                &["study", "studies", "studied", "studying"],
                &["buy", "bought", "buying"],
                &["pay", "paid", "pays"],
            ],
        );
    }

    #[test]
    fn portuguese_forms_meet() {
        meet(
            Language::Pt,
            &[
                &["produto", "produtos"],
                &["condição", "condições"],
                &["plano", "planos"],
                &["pagar", "pago", "paga"],
                &["cancelar", "cancelado", "cancelada", "cancelou", "cancelam"],
                &["hotel", "hotéis"],
                &["personalizado", "personalizados"],
            ],
        );
    }

    #[test]
    fn strangers_stay_apart() {
        for (one, other, language) in [
            ("universe", "united", Language::En),
            ("this", "the", Language::En),
            ("casa", "caso", Language::Zh),
            ("1200", "120", Language::En),
        ] {
            assert_ne!(stem(one, language), stem(other, language));
        }
        assert_eq!(stem("s", Language::En), "s");
        assert_eq!(stem("", Language::Pt), "");
        assert_eq!(stem("ões", Language::Pt), "ões");
    }
}
