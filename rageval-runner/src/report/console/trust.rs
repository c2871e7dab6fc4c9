//! What is said of a judge that can't be believed.

use super::text::{line, whole_lines};
use crate::{
    model::run::{Decision, Ruling},
    trust::Trust,
};

/// The trial that says whether the set-up can be trusted.
pub const SETUP: &str = "gate::setup";

/// What the trust in the judge decides of [`SETUP`]: it fails for whatever is refused, and names in one line what is waived.
pub fn decision(trust: &Trust) -> Decision {
    let waived = (!trust.waived.is_empty()).then(|| line("waived", &trust.waived.join("; ")));
    let refused = trust.refused.iter().flat_map(|refused| whole_lines("failed", refused));
    let ruling = if trust.refused.is_empty() { Ruling::Pass } else { Ruling::Fail };
    Decision::told(SETUP, ruling, refused.chain(waived).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_fails_and_is_told_whole() {
        let refused = vec![vec!["one: why".to_owned(), "what to do".to_owned()], vec!["two".to_owned()]];
        let trust = Trust { refused, waived: vec!["alias until 2026-12-31: r".to_owned()], notices: Vec::new() };
        let decision = decision(&trust);
        assert_eq!(decision.ruling, Ruling::Fail);
        let expected = [
            "failed      one: why",
            "            what to do",
            "failed      two",
            "waived      alias until 2026-12-31: r",
        ];
        assert_eq!(decision.lines, expected);
    }

    #[test]
    fn a_waiver_alone_passes_with_one_line() {
        let waived = vec!["alias until 2026-12-31: r".to_owned(), "family until 2026-12-31: r".to_owned()];
        let decision = decision(&Trust { waived, ..Trust::default() });
        assert_eq!((decision.ruling, decision.lines.len()), (Ruling::Pass, 1));
        assert_eq!(super::decision(&Trust::default()).lines, Vec::<String>::new());
    }
}
