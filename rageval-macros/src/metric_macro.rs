//! `#[metric]`: a function in, a static `FnMetric` of the same name out.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Ident, ItemFn, LitInt, LitStr, Result, Token,
    parse::{Parse, ParseStream},
    spanned::Spanned,
};

#[derive(Default)]
struct Options {
    about: Option<LitStr>,
    version: Option<LitInt>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            let repeated = match key.to_string().as_str() {
                "about" => options.about.replace(input.parse()?).is_some(),
                "version" => options.version.replace(input.parse()?).is_some(),
                other => {
                    let text = format!("unknown option `{other}`; `#[metric]` takes `about` and `version`");
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
        Ok(options)
    }
}

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let options: Options = syn::parse2(attribute)?;
    let name = &function.sig.ident;
    let Some(about) = options.about else {
        return Err(syn::Error::new(name.span(), "say what the metric measures: `#[metric(about = \"...\")]`"));
    };
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.to_string().chars().all(plain) {
        return Err(syn::Error::new(name.span(), "a metric's name is lower-case letters, digits and `_`"));
    }
    if let Some(token) = &function.sig.asyncness {
        let text = "a metric is a plain function of case and sample; one that asks a judge implements `Metric`";
        return Err(syn::Error::new(token.span(), text));
    }
    if function.sig.inputs.len() != 2 {
        let text = "a metric is `fn(&GoldenCase, &Sample) -> Outcome`";
        return Err(syn::Error::new(function.sig.inputs.span(), text));
    }
    let version = options.version.map_or_else(|| quote!(1), |version| quote!(#version));
    let visibility = &function.vis;
    let text = name.to_string();
    Ok(quote! {
        #[doc = #about]
        #[allow(non_upper_case_globals, reason = "a metric is named as thresholds.yaml names it")]
        #visibility static #name: ::rageval_runner::metric::FnMetric = {
            #function
            ::rageval_runner::metric::FnMetric::new(#text, #about, #version, #name)
        };
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(attribute: TokenStream, item: TokenStream) -> String {
        expand(attribute, item).expect_err("refused").to_string()
    }

    #[test]
    fn what_is_no_metric_is_named() {
        let good = quote!(
            fn polite(case: &GoldenCase, sample: &Sample) -> Outcome {
                measure(case, sample)
            }
        );
        assert!(expand(quote!(about = "x"), good.clone()).is_ok());
        assert!(error(quote!(), good.clone()).contains("say what the metric measures"));
        assert!(error(quote!(abuot = "x"), good).contains("unknown option `abuot`"));
        assert!(
            error(
                quote!(about = "x"),
                quote!(
                    async fn a(c: &C, s: &S) -> O {
                        x
                    }
                )
            )
            .contains("plain function")
        );
        assert!(
            error(
                quote!(about = "x"),
                quote!(
                    fn a(c: &C) -> O {
                        x
                    }
                )
            )
            .contains("fn(&GoldenCase, &Sample)")
        );
        assert!(
            error(
                quote!(about = "x"),
                quote!(
                    fn Aa(c: &C, s: &S) -> O {
                        x
                    }
                )
            )
            .contains("lower-case")
        );
    }
}
