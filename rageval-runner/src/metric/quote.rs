//! What a judge quotes as its evidence, held against the text that it says it quotes.

use crate::{
    metric::numbered::Part,
    model::{DocId, Evidence},
    text::normalise,
};

/// The evidence that a part of a reply names by `context` and `quote`, and the reason that it gives.
///
/// A quote must stand in one of the texts; case, spaces, kinds of quotes and dashes don't count, and `...` may stand for what is left out.
/// Where it stands in another text than the one named, that one is the evidence. What stands in none is no evidence, and the reason says
/// so: the verdict is the judge's all the same, since a judge that quotes badly may judge well.
///
/// # Errors
/// A number that no text has, or a wrong type.
pub(super) fn grounds(
    part: &Part<'_>,
    texts: &[(Option<&DocId>, &str)],
) -> Result<(Option<Evidence>, Option<String>), String> {
    let named = part.number("context", texts.len())?.map(|number| number - 1);
    let reason = part.text("reason")?.map(str::to_owned);
    let Some(quote) = part.text("quote")? else { return Ok((None, reason)) };
    let mut places = named.into_iter().chain(0..texts.len());
    let Some(at) = places.find(|at| holds(texts[*at].1, quote)) else {
        let said = format!("it quotes what was not there: {quote}");
        return Ok((None, Some(reason.map_or(said.clone(), |reason| format!("{reason}; {said}")))));
    };
    // Without a number a text has no name that anyone said.
    let id = named.and(texts[at].0).cloned();
    Ok((Some(Evidence { id, text: quote.to_owned() }), reason))
}

/// Whether all pieces of a quote stand in a text.
fn holds(text: &str, quote: &str) -> bool {
    if text.contains(quote) {
        return true;
    }
    let text = normalise(text);
    let quote = normalise(quote).replace("[...]", "...");
    // What quotes are put in or end with need not be the text's.
    let outer = |c: char| c.is_whitespace() || "\"'.,;:!?。，；：！？、「」『』".contains(c);
    let pieces: Vec<&str> = quote.split("...").map(|piece| piece.trim_matches(outer)).collect();
    pieces.iter().any(|piece| !piece.is_empty()) && pieces.iter().all(|piece| text.contains(piece))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::metric::numbered::entries;

    const TEXTS: [&str; 2] =
        ["Refunds are possible within 30 days.", "A devolução é grátis — em 14 dias. 退款需要 30 天。"];

    fn of(reply: &Value) -> Result<(Option<Evidence>, Option<String>), String> {
        let ids = ["refunds", "devolução"].map(DocId::from);
        let texts: Vec<_> = ids.iter().map(Some).zip(TEXTS).collect();
        let reply = json!({"all": [reply]});
        grounds(&entries(&reply, "all", 1)?[0], &texts)
    }

    fn id(reply: &Value) -> Option<String> {
        of(reply).expect("a reply that can be read").0.and_then(|evidence| evidence.id).map(|id| id.to_string())
    }

    #[test]
    fn a_quote_is_evidence_as_a_text_holds_it() {
        for (number, quote) in [
            (1, "within 30 days"),
            (1, "“Refunds  are POSSIBLE … 30 days”"),
            (1, "refunds [...] within 30 days!"),
            (2, "grátis - em 14 dias"),
            (2, "退款需要30天".replace("30", " 30 ").as_str()),
        ] {
            let (evidence, reason) =
                of(&json!({"n": 1, "context": number, "quote": quote, "reason": "stated"})).expect("readable");
            let evidence = evidence.unwrap_or_else(|| panic!("{quote}"));
            assert_eq!((evidence.text.as_str(), reason.as_deref()), (quote, Some("stated")));
        }
    }

    #[test]
    fn the_text_that_holds_it_is_named_whatever_number_was() {
        assert_eq!(id(&json!({"n": 1, "context": 2, "quote": "within 30 days"})).as_deref(), Some("refunds"));
        assert_eq!(id(&json!({"n": 1, "context": null, "quote": "within 30 days"})), None);
    }

    #[test]
    fn what_stands_nowhere_is_no_evidence_and_said() {
        for quote in ["within 90 days", "Refunds ... within 90 days", "...", "“”", "days within 30"] {
            let (evidence, reason) = of(&json!({"n": 1, "context": 1, "quote": quote})).expect("readable");
            assert_eq!(evidence, None, "{quote}");
            assert_eq!(reason, Some(format!("it quotes what was not there: {quote}")));
        }
        let both = of(&json!({"n": 1, "quote": "90 days", "reason": "stated"})).expect("readable").1;
        assert_eq!(both.as_deref(), Some("stated; it quotes what was not there: 90 days"));
    }

    #[test]
    fn without_a_quote_there_is_no_evidence() {
        assert_eq!(of(&json!({"n": 1, "context": 1, "quote": null})), Ok((None, None)));
        assert!(of(&json!({"n": 1, "context": 3, "quote": "within"})).is_err());
        assert!(of(&json!({"n": 1, "quote": 1})).is_err());
    }
}
