//! What a run spent, in one line.

use std::fmt::Write as _;

use crate::model::{Budget, Spending};

/// What a run spent and, where limits are known, of how much: `120 requests of 1,000, 34,000 tokens read and 2,100 written, 0.05 USD of 5`.
pub fn line(spent: &Spending, budget: &Budget) -> String {
    let of = |most: Option<String>| most.map(|most| format!(" of {most}")).unwrap_or_default();
    let requests = if spent.requests == 1 { "request" } else { "requests" };
    let mut line = format!(
        "{} {requests}{}, {} tokens read and {} written{}",
        thousands(spent.requests),
        of(budget.requests.map(thousands)),
        thousands(spent.input_tokens),
        thousands(spent.output_tokens),
        of(budget.tokens.map(thousands)),
    );
    if spent.estimated_tokens > 0 {
        // Writing to a string cannot fail.
        let _ = write!(line, " ({} of them estimated)", thousands(spent.estimated_tokens));
    }
    if let Some(usd) = spent.usd {
        let about = if spent.estimated_tokens > 0 { "about " } else { "" };
        let _ = write!(line, ", {about}{}{}", money(usd), of(budget.usd.map(|most| most.to_string())));
    }
    line
}

/// A count with a comma before each three digits: `34,000`.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An amount of US dollars: to the cent; below a dime to a hundredth of a cent, and to two digits that say something where it is smaller.
pub fn money(usd: f64) -> String {
    if usd == 0.0 || usd >= 0.1 {
        return format!("{usd:.2} USD");
    }
    // 0.00001 is 1e-5, whose second digit is the sixth decimal.
    let places = (1.0 - usd.log10().floor()) as usize;
    format!("{usd:.*} USD", places.max(4))
}

/// A limit in US dollars, as [`money`] or, where that would round it, as it was written.
pub fn limit(usd: f64) -> String {
    let rounded = money(usd);
    let is_whole = rounded.strip_suffix(" USD").and_then(|number| number.parse().ok()) == Some(usd);
    if is_whole { rounded } else { format!("{usd} USD") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_three_digits() {
        assert_eq!([0, 999, 1000, 34_000, 1_234_567].map(thousands), ["0", "999", "1,000", "34,000", "1,234,567"]);
    }

    #[test]
    fn small_amounts_keep_their_digits() {
        assert_eq!([0.0, 0.0504, 0.1, 12.345].map(money), ["0.00 USD", "0.0504 USD", "0.10 USD", "12.35 USD"]);
    }

    #[test]
    fn no_amount_is_told_as_nothing() {
        assert_eq!([0.00001, 0.000_012_4, 1e-9].map(money), ["0.000010 USD", "0.000012 USD", "0.0000000010 USD"]);
        assert_eq!([0.0, 5.0, 0.0015].map(limit), ["0.00 USD", "5.00 USD", "0.0015 USD"]);
        assert_eq!([0.00125, 0.125, 0.000_001_234].map(limit), ["0.00125 USD", "0.125 USD", "0.000001234 USD"]);
    }

    #[test]
    fn a_line_says_what_was_spent_of_what() {
        let spent = Spending {
            requests: 120,
            input_tokens: 34_000,
            output_tokens: 2100,
            estimated_tokens: 0,
            usd: Some(0.052),
        };
        let budget = Budget { requests: Some(1000), usd: Some(5.0), ..Budget::default() };
        assert_eq!(
            line(&spent, &budget),
            "120 requests of 1,000, 34,000 tokens read and 2,100 written, 0.0520 USD of 5"
        );
        let spent = Spending { requests: 1, estimated_tokens: 40, ..spent };
        assert_eq!(
            line(&spent, &Budget { tokens: Some(200_000), ..Budget::default() }),
            "1 request, 34,000 tokens read and 2,100 written of 200,000 (40 of them estimated), about 0.0520 USD"
        );
        assert_eq!(
            line(&Spending { usd: None, estimated_tokens: 0, ..spent }, &Budget::default()),
            "1 request, 34,000 tokens read and 2,100 written"
        );
    }
}
