//! The profile of cargo-nextest: a file of its own, or what an existing one lacks.

use toml_edit::DocumentMut;

use super::manifest::TARGET;

/// The file as it stands where there was none.
pub(super) const FILE: &str = include_str!("templates/nextest.toml");

/// An existing file with what it lacks at its end: the profile, and overrides of the default profile that name the gate.
///
/// # Errors
/// The text is no TOML, or can't take tables at its end.
pub(super) fn merged(text: &str) -> Result<String, String> {
    let document: DocumentMut = text.parse().map_err(|error| format!("{error}").trim_end().to_owned())?;
    let profiles = document.get("profile");
    let has_profile = profiles.and_then(|profiles| profiles.get("rag-regression")).is_some();
    let has_overrides = profiles
        .and_then(|profiles| profiles.get("default")?.get("overrides"))
        .is_some_and(|overrides| overrides.to_string().contains(TARGET));
    if has_profile && has_overrides {
        return Ok(text.to_owned());
    }
    let (profile, overrides) = FILE.split_at(FILE.find("# The same").unwrap_or(FILE.len()));
    let missing = match (has_profile, has_overrides) {
        (false, false) => FILE,
        (false, true) => profile.trim_end(),
        (true, _) => overrides,
    };
    let end = match text {
        "" => "",
        _ if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let merged = format!("{text}{end}{}\n", missing.trim_end());
    let is_crlf = text.contains("\r\n");
    let merged = if is_crlf { merged.replace("\r\n", "\n").replace('\n', "\r\n") } else { merged };
    // A list of overrides in the form `overrides = [..]` can't be added to in this way.
    merged.parse::<DocumentMut>().map_err(|_| "its tables are written in a form that can't be added to".to_owned())?;
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_keeps_its_text_and_gets_what_it_lacks_once() {
        for before in [
            "# Mine.\n[profile.default]\nretries = 2 # flaky\n\n[[profile.default.overrides]]\nfilter = 'test(a)'\nretries = 4\n",
            "",
            "[profile.ci]\r\nretries = 1",
        ] {
            let after = merged(before).expect("merged");
            assert!(after.starts_with(before.trim_end_matches('\n')), "{after}");
            let document: DocumentMut = after.parse().expect("TOML");
            assert_eq!(document["profile"]["rag-regression"]["retries"].as_integer(), Some(0), "{after}");
            assert!(document["profile"]["default"]["overrides"].to_string().contains("priority = 100"), "{after}");
            assert_eq!(merged(&after).expect("merged"), after);
        }
    }

    #[test]
    fn a_profile_that_is_there_is_not_written_twice() {
        let before = "[profile.rag-regression]\nretries = 1\n";
        let after = merged(before).expect("merged");
        assert!(after.starts_with(before) && after.matches("[profile.rag-regression]").count() == 1, "{after}");
        assert!(after.contains("priority = 100"), "{after}");
    }

    #[test]
    fn what_cannot_be_added_to_is_refused() {
        assert!(merged("[profile").is_err());
        assert!(merged("[profile.default]\noverrides = [{filter = 'test(a)', retries = 1}]\n").is_err());
    }
}
