//! The built-in probes: claims in English, Portuguese and Chinese with evidence for, against and beside them.

use super::probes::Probe;
use crate::model::Language;

/// The built-in probes, the same in every version that calls them so. Written for this purpose; four a language: two that the evidence
/// states, one that it denies, one that it does not speak of.
pub fn built_in() -> Vec<Probe> {
    let probe = |(id, language, query, claim, contexts): &Row| Probe {
        id: (*id).to_owned(),
        language: *language,
        query: (*query).to_owned(),
        claim: (*claim).to_owned(),
        contexts: contexts.iter().map(|context| (*context).to_owned()).collect(),
    };
    ROWS.iter().map(probe).collect()
}

type Row = (&'static str, Language, &'static str, &'static str, &'static [&'static str]);

const ROWS: [Row; 12] = [
    (
        "en-stated",
        Language::En,
        "How long can I return a lamp?",
        "A lamp can be returned within 30 days.",
        &["Lamps and shades: returns are accepted up to 30 days after delivery.", "Shipping is free above 50 euros."],
    ),
    (
        "en-counted",
        Language::En,
        "How many people fit into the hall?",
        "The hall seats 240 people.",
        &["The hall has 12 rows of 20 seats each, and no standing room."],
    ),
    (
        "en-denied",
        Language::En,
        "Is the museum open on Mondays?",
        "The museum is open on Mondays.",
        &["Opening hours: Tuesday to Sunday, 10:00 to 18:00. Closed on Mondays."],
    ),
    (
        "en-beside",
        Language::En,
        "Does the bike come with a lock?",
        "The bike comes with a lock.",
        &["The bike weighs 14 kg and has eight gears.", "Locks are sold in every shop of the chain."],
    ),
    (
        "pt-stated",
        Language::Pt,
        "Qual é o prazo de entrega?",
        "A entrega leva até cinco dias úteis.",
        &["Os pedidos chegam em no máximo cinco dias úteis.", "O frete custa 12 reais."],
    ),
    (
        "pt-reworded",
        Language::Pt,
        "Quem pode usar a biblioteca?",
        "Os moradores da cidade usam a biblioteca de graça.",
        &["O acesso à biblioteca é gratuito para quem mora no município."],
    ),
    (
        "pt-denied",
        Language::Pt,
        "O plano cobre dentista?",
        "O plano cobre tratamento dentário.",
        &["O plano básico cobre consultas e exames, exceto tratamento dentário."],
    ),
    (
        "pt-beside",
        Language::Pt,
        "O hotel aceita cães?",
        "O hotel aceita cães.",
        &["O hotel fica a duzentos metros da praia e tem 40 quartos."],
    ),
    (
        "zh-stated",
        Language::Zh,
        "会员费是多少？",
        "会员每年需要支付两百元。",
        &["会员年费为200元，按自然年计算。", "非会员每次入场30元。"],
    ),
    (
        "zh-reworded",
        Language::Zh,
        "发票可以重开吗？",
        "发票信息有误时可以重新开具。",
        &["如果发票抬头或税号填写错误，请联系客服，我们会为您重开发票。"],
    ),
    ("zh-denied", Language::Zh, "退款需要手续费吗？", "退款要收取手续费。", &["退款全额原路返回，不收取任何手续费。"]),
    ("zh-beside", Language::Zh, "手机防水吗？", "这款手机可以防水。", &["这款手机重180克，电池容量为5000毫安时。"]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::CaseId;

    #[test]
    fn each_has_a_name_of_its_own_a_claim_and_evidence() {
        let probes = built_in();
        let names: BTreeSet<&str> = probes.iter().map(|probe| probe.id.as_str()).collect();
        assert_eq!(names.len(), 12);
        for probe in &probes {
            assert!(CaseId::new(&probe.id).is_ok() && !probe.query.is_empty() && !probe.claim.is_empty());
            assert!(probe.sample().readable_contexts().count() > 0);
        }
        for language in [Language::En, Language::Pt, Language::Zh] {
            assert_eq!(probes.iter().filter(|probe| probe.language == language).count(), 4);
        }
    }
}
