//! `main!`: keys in, one `fn main` out.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Expr, ExprArray, Ident, Result, Token,
    parse::{Parse, ParseStream},
};

#[derive(Default)]
struct Input {
    system: Option<Expr>,
    metrics: Option<ExprArray>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut parsed = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![:]>()?;
            let repeated = match key.to_string().as_str() {
                "system" => parsed.system.replace(input.parse()?).is_some(),
                "metrics" => parsed.metrics.replace(input.parse()?).is_some(),
                other => {
                    let text = format!("unknown key `{other}`; `main!` takes `system` and `metrics`");
                    return Err(syn::Error::new(key.span(), text));
                }
            };
            if repeated {
                return Err(syn::Error::new(key.span(), format!("`{key}` is given twice")));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(parsed)
    }
}

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let Input { system, metrics } = syn::parse2(input)?;
    let system = system.map(|system| quote!(.system(#system)));
    let metrics = metrics.into_iter().flat_map(|list| list.elems).map(|metric| quote!(.metric(&#metric)));
    Ok(quote! {
        // Compiled only where libtest's own harness took the place of ours: that would run no case, and be green.
        #[test]
        fn set_harness_to_false() {
            panic!("the gate did not run: write `harness = false` under its [[test]] in Cargo.toml");
        }

        fn main() -> ::std::process::ExitCode {
            ::rageval_runner::Suite::new(::rageval_runner::location!()) #system #(#metrics)* .run()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(input: TokenStream) -> String {
        expand(input).expect_err("refused").to_string()
    }

    #[test]
    fn unknown_and_repeated_keys_are_named() {
        assert_eq!(error(quote!(sistem: answer)), "unknown key `sistem`; `main!` takes `system` and `metrics`");
        assert_eq!(error(quote!(system: a, system: b)), "`system` is given twice");
    }

    #[test]
    fn no_keys_make_a_suite_without_a_function() {
        let text = expand(quote!()).expect("an empty input is fine").to_string();
        assert!(!text.contains("system"), "{text}");
        assert!(text.contains("ExitCode"), "{text}");
    }
}
