//! Spoils answers on purpose, in ways that real systems have.

use std::collections::BTreeSet;

use super::compose;
use super::language::Language;
use super::retrieve::{Hit, Index};

/// The answer between courtesies, followed by three sentences of documents that were not retrieved.
pub(crate) fn verbose(answer: &str, index: &Index, hits: &[Hit]) -> String {
    let (opening, closing) = match index.language {
        Language::English => (
            "Thank you so much for reaching out to us today, we truly value every single question!",
            "Our award-winning team of 400 specialists is always happy to help, and nine out of ten customers recommend us.",
        ),
        Language::Portuguese => (
            "Muito obrigado pelo seu contato, a sua pergunta é muito importante para nós!",
            "Nossa equipe premiada de 400 especialistas está sempre pronta para ajudar, e nove em cada dez clientes nos recomendam.",
        ),
        Language::Chinese => (
            "非常感谢您的咨询，您的每一个问题对我们都十分重要！",
            "我们拥有400名专家的获奖团队随时为您服务，十位客户中有九位推荐我们。",
        ),
    };
    let retrieved: BTreeSet<&str> = hits.iter().map(|hit| hit.document.id).collect();
    let padding: Vec<&str> = index
        .documents
        .iter()
        .filter(|document| !retrieved.contains(document.id))
        .filter_map(|document| index.language.sentences(&document.text).pop())
        .collect();
    let start = answer.chars().count();
    let unrelated = (0..3).map(|step| padding[(start + 5 * step) % padding.len()]);
    let sentences: Vec<&str> = [opening, answer].into_iter().chain(unrelated).chain([closing]).collect();
    sentences.join(index.language.sentence_gap())
}

/// The answer with each number and well-known name changed, and one invented sentence.
pub(crate) fn hallucinating(answer: &str, language: Language) -> String {
    let (names, inventions) = match language {
        Language::English => (ENGLISH_NAMES, ENGLISH_INVENTIONS),
        Language::Portuguese => (PORTUGUESE_NAMES, PORTUGUESE_INVENTIONS),
        Language::Chinese => (CHINESE_NAMES, CHINESE_INVENTIONS),
    };
    let mut spoilt = with_other_numbers(answer);
    for (name, other) in names {
        spoilt = spoilt.replace(name, other);
    }
    let invention = inventions[answer.chars().count() % inventions.len()];
    format!("{spoilt}{}{invention}", language.sentence_gap())
}

/// Says yes, with the best sentences there are.
pub(crate) fn confident_guess(index: &Index, query: &BTreeSet<String>, hits: &[Hit]) -> String {
    let yes = match index.language {
        Language::English => "Yes, Pakomo takes care of that at every site and at no extra charge.",
        Language::Portuguese => "Sim, a Pakomo cuida disso em todas as unidades e sem custo adicional.",
        Language::Chinese => "是的，帕可莫所有网点都提供这项服务，不另外收费。",
    };
    let found = compose::best_sentences(index, query, hits);
    if found.is_empty() {
        return yes.to_owned();
    }
    format!("{yes}{}{found}", index.language.sentence_gap())
}

/// Shifts the first digit of every number, so that 14 becomes 44 and 30 becomes 60.
fn with_other_numbers(text: &str) -> String {
    let mut previous_was_digit = false;
    text.chars()
        .map(|character| {
            let first_digit = character.to_digit(10).filter(|_| !previous_was_digit);
            previous_was_digit = character.is_ascii_digit();
            let shifted = first_digit.and_then(|digit| char::from_digit((digit + 2) % 9 + 1, 10));
            shifted.unwrap_or(character)
        })
        .collect()
}

const ENGLISH_NAMES: &[(&str, &str)] = &[
    ("Ines Carvalho", "Helen Marsh"),
    ("Tom Hadley", "Oliver Stone"),
    ("Leeds", "Cardiff"),
    ("Doncaster", "Plymouth"),
    ("Kings Cross", "Euston"),
    ("March", "October"),
    ("two", "five"),
    ("three", "six"),
    ("four", "nine"),
    ("six-digit", "ten-digit"),
];
const ENGLISH_INVENTIONS: &[&str] = &[
    "Gold customers in Ireland are exempt from this rule until the end of 2031.",
    "If you ask at the desk, a manager will double the amount for you.",
    "You will also receive a £75 voucher by post within an hour.",
];

const PORTUGUESE_NAMES: &[(&str, &str)] = &[
    ("Renata Siqueira", "Marcelo Teles"),
    ("Lúcia Amaral", "Paulo Brandão"),
    ("Campinas", "Manaus"),
    ("Guarulhos", "Belém"),
    ("São Paulo", "Fortaleza"),
    ("fevereiro", "novembro"),
    ("WhatsApp", "Telegram"),
    ("duas", "nove"),
    ("Cinco", "Doze"),
];
const PORTUGUESE_INVENTIONS: &[&str] = &[
    "Clientes Ouro de Portugal ficam isentos dessa regra até o fim de 2031.",
    "Se você pedir no balcão, o gerente dobra o valor na hora.",
    "Você também recebe um vale de R$ 75,00 pelo correio em uma hora.",
];

const CHINESE_NAMES: &[(&str, &str)] =
    &[("上海", "成都"), ("杭州", "长沙"), ("西藏", "海南"), ("微信", "抖音"), ("工作日", "自然月"), ("除夕", "国庆")];
const CHINESE_INVENTIONS: &[&str] = &[
    "香港的金卡用户在2031年底以前不受这条规定限制。",
    "只要到柜台提出，经理会当场给您双倍的金额。",
    "您还会在一小时内收到一张75元的购物券。",
];
