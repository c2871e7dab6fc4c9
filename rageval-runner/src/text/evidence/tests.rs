//! Claims beside evidence, and the verdict of each.

use super::*;

/// Each row: context, claim, the verdict.
fn check(language: Language, rows: &[(&str, &str, Verdict)]) {
    let wrong: Vec<_> = rows
        .iter()
        .filter_map(|(context, claim, verdict)| {
            let reading = weigh(claim, &[context], language);
            (reading.verdict != *verdict).then(|| format!("{claim:?} by {context:?}: {reading:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

use Verdict::{Contradicted, Inferred, Supported, Unsupported};

#[test]
fn english_claims() {
    let plans = "The Basic plan costs $49 a month and includes 5 users. The Pro plan costs $129 a month, with phone support. Keys never expire.";
    check(
        Language::En,
        &[
            (plans, "The Basic plan costs $49.", Supported),
            (plans, "The Basic plan costs $59.", Contradicted),
            (plans, "Each key expires.", Contradicted),
            (plans, "Keys do not expire.", Supported),
            (plans, "The Enterprise Gold plan costs $49.", Unsupported),
            (plans, "Support is given by carrier pigeon in the winter.", Unsupported),
            ("Returns are possible within thirty days.", "Returns are possible within 30 days.", Supported),
            ("The river is 13.29 km long.", "The river is about 13 km long.", Inferred),
            ("The shop opens before noon.", "The shop opens after noon.", Contradicted),
            ("The minimum order is ten boxes.", "The maximum order is ten boxes.", Contradicted),
            ("Water damage is not covered.", "Water damage is covered.", Contradicted),
            ("The plan has unlimited users.", "The plan has limited users.", Contradicted),
            ("It accepts no more than 100 requests.", "It accepts 100 requests.", Supported),
            (
                "Plain keys have limits. Enterprise keys have no rate limit.",
                "Enterprise keys have limits.",
                Contradicted,
            ),
            (
                "The telescope was launched by NASA in 2009.",
                "The telescope was launched by the European Space Agency.",
                Unsupported,
            ),
        ],
    );
}

#[test]
fn portuguese_claims() {
    check(
        Language::Pt,
        &[
            ("O frete de devolução é pago pela loja.", "A loja paga o frete da devolução.", Supported),
            ("A ponte tem 13,29 quilômetros.", "A ponte tem mais de 13 quilômetros.", Inferred),
            ("A ponte foi inaugurada em 1974.", "A ponte foi inaugurada em 1984.", Contradicted),
            ("Produtos usados não podem ser devolvidos.", "Produtos usados podem ser devolvidos.", Contradicted),
            ("O evento custa R$ 1.500,00.", "O evento custa mil e quinhentos reais.", Supported),
            ("A loja abre antes do almoço.", "A empresa foi fundada em Curitiba.", Unsupported),
            ("O plano inclui usuários ilimitados.", "O plano tem usuários limitados.", Contradicted),
            ("O pedido mínimo é de dez caixas.", "O pedido máximo é de dez caixas.", Contradicted),
        ],
    );
}

#[test]
fn chinese_claims() {
    check(
        Language::Zh,
        &[
            ("读者凭借书证最多可借阅10本书，借期为30天。", "借期为三十天。", Supported),
            ("读者凭借书证最多可借阅10本书，借期为30天。", "借期为60天。", Contradicted),
            ("试用期员工不享受年假。", "试用期员工享受年假。", Contradicted),
            ("该手机支持67瓦有线快充，不支持无线充电。", "该手机支持无线充电。", Contradicted),
            ("图书馆周一至周五晚上9点关门，周末下午6点关门。", "图书馆周末晚上9点关门。", Contradicted),
            ("退款在5个工作日内到账。", "公司总部设在上海浦东新区。", Unsupported),
        ],
    );
}

#[test]
fn another_unit_currency_or_sign_contradicts() {
    for (language, rows) in [
        (
            Language::En,
            &[
                ("Returns are accepted within 30 weeks.", "Returns are accepted within 30 days.", Contradicted),
                ("Refunds take 30 weeks.", "Refunds take 30 days.", Contradicted),
                ("The job runs for 5 hours.", "The job runs for 5 minutes.", Contradicted),
                ("The job runs for 5 hours.", "The job runs for 5 h.", Supported),
                ("The fee is €5.", "The fee is $5.", Contradicted),
                ("The fee is US$5.", "The fee is $5.", Supported),
                ("The fee is 5 dollars.", "The fee is $5.", Supported),
                ("The fee is EUR 5.", "The fee is 5 pounds.", Contradicted),
                ("The bag weighs 5 g.", "The bag weighs 5 kg.", Contradicted),
                ("The bag weighs 5kg in total.", "The bag weighs 5 kilograms in total.", Supported),
                ("The freezer runs at -5 °C.", "The freezer runs at 5 °C.", Contradicted),
                ("The freezer runs at 5 °C.", "The freezer runs at −5 °C.", Contradicted),
                ("The freezer runs at 5 °F.", "The freezer runs at 5 °C.", Contradicted),
                ("The freezer runs at minus 5 degrees.", "The freezer runs at -5 degrees.", Supported),
                ("The balance is -100 euros.", "The balance is 100 euros.", Contradicted),
                ("The balance is -$100.", "The balance is $100.", Contradicted),
                ("The balance is -$100.", "The balance is -100 dollars.", Supported),
                ("The film runs 90 minutes in full.", "The film runs 1.5 hours in full.", Supported),
                ("Delivery takes 3-5 days.", "Delivery takes 5 days.", Supported),
                ("The road is 5 miles long.", "The road is 5 kilometres long.", Contradicted),
                ("The share is 5 percent.", "The share is 5%.", Supported),
                ("The trial is a 30-day one.", "The trial is 30 weeks.", Contradicted),
            ] as &[_],
        ),
        (
            Language::Pt,
            &[
                ("A tarefa dura 5 horas.", "A tarefa dura 5 minutos.", Contradicted),
                ("A tarefa dura 5 horas.", "A tarefa dura cinco horas.", Supported),
                ("A taxa é de 5 reais.", "A taxa é de 5 euros.", Contradicted),
                ("A taxa é de R$ 5.", "A taxa é de US$ 5.", Contradicted),
                ("A taxa é de R$ 5,00.", "A taxa é de 5 reais.", Supported),
                ("O pacote pesa 5 gramas.", "O pacote pesa 5 quilos.", Contradicted),
                ("A câmara fica a 5 ºC.", "A câmara fica a -5 ºC.", Contradicted),
                ("A câmara fica a 5 graus negativos.", "A câmara fica a 5 graus.", Contradicted),
                ("O saldo é de -100 euros.", "O saldo é de 100 euros.", Contradicted),
                ("A espera é de pelo menos 5 dias.", "A espera é de 5 dias.", Supported),
                ("O prazo é de 30 semanas.", "O prazo é de 30 dias.", Contradicted),
            ],
        ),
        (
            Language::Zh,
            &[
                ("任务运行5小时。", "任务运行5分钟。", Contradicted),
                ("任务运行5个小时。", "任务运行五小时。", Supported),
                ("桥长100公里。", "桥长100米。", Contradicted),
                ("桥长5千米。", "桥长5公里。", Supported),
                ("今天气温零下5度。", "今天气温5度。", Contradicted),
                ("今天气温零下5度。", "今天气温-5度。", Supported),
                ("今天气温零下五度。", "今天气温零下5℃。", Supported),
                ("费用是5欧元。", "费用是5美元。", Contradicted),
                ("费用是5元。", "费用是¥5。", Supported),
                ("包裹重5克。", "包裹重5公斤。", Contradicted),
                ("退货期为30周。", "退货期为30天。", Contradicted),
                ("占比为20%。", "占比为百分之二十。", Supported),
                ("三月3天-5天", "三月5天", Supported),
            ],
        ),
    ] {
        check(language, rows);
    }
}

#[test]
fn small_numbers_and_ordinals_in_words_count() {
    check(
        Language::En,
        &[
            ("The team took third place in the cup.", "The team took second place in the cup.", Contradicted),
            ("The team took 2nd place in the cup.", "The team took second place in the cup.", Supported),
            ("The plan includes three users.", "The plan includes two users.", Contradicted),
            ("The plan includes 2 users.", "The plan includes two users.", Supported),
            ("The rope is 300 m long.", "The rope is 300 metres long.", Supported),
        ],
    );
    check(
        Language::Pt,
        &[
            ("A sala fica no terceiro andar do prédio.", "A sala fica no segundo andar do prédio.", Contradicted),
            ("O plano inclui três usuários.", "O plano inclui dois usuários.", Contradicted),
            ("O plano inclui 2 salas.", "O plano inclui duas salas.", Supported),
        ],
    );
    check(
        Language::Zh,
        &[
            ("他在比赛中获得第三名。", "他在比赛中获得第二名。", Contradicted),
            ("会议在三月举行。", "会议在二月举行。", Contradicted),
            ("会议在一月举行。", "会议在二月举行。", Contradicted),
            ("每人可借三本书。", "每人可借两本书。", Contradicted),
            ("每人可借2本书。", "每人可借两本书。", Supported),
            ("费用是15000元。", "费用是一万五千元。", Supported),
            ("费用是1万5千元。", "费用是15000元。", Supported),
        ],
    );
}

#[test]
fn the_nearest_evidence_is_named() {
    let texts = ["Nothing here.", "First. The fee is 5 dollars. Last."];
    let reading = weigh("The fee is 5 dollars.", &texts, Language::En);
    assert_eq!(reading.best, Some((1, "The fee is 5 dollars.".to_owned())));
    assert!((reading.coverage - 1.0).abs() < 1e-9);
    let reading = weigh("The fee is 6 dollars.", &texts, Language::En);
    assert_eq!(reading.why, "says 5, not 6");
    assert_eq!(reading.best, Some((1, "The fee is 5 dollars.".to_owned())));
}

#[test]
fn words_that_stand_far_apart_are_not_evidence() {
    let context = "The museum has a garden. It rains often here. Dogs like walks. Nobody knows why. Tickets are sold online for students.";
    assert_eq!(weigh("Dogs buy tickets for the rainy garden.", &[context], Language::En).verdict, Unsupported);
    // Nor are two texts one.
    assert_eq!(
        weigh(
            "The museum garden sells tickets online.",
            &["The museum has a garden.", "Cars are washed online."],
            Language::En
        )
        .verdict,
        Unsupported
    );
}

#[test]
fn nothing_is_never_supported() {
    for (claim, evidence) in
        [("", vec!["x"]), ("The fee is 5.", vec![]), ("The fee is 5.", vec![""]), ("…!", vec!["…!"])]
    {
        for language in [Language::En, Language::Pt, Language::Zh] {
            let reading = weigh(claim, &evidence, language);
            assert_eq!((reading.verdict, reading.best), (Unsupported, None), "{claim:?} {evidence:?}");
            assert_eq!(reading.coverage.to_bits(), 0.0f64.to_bits());
        }
    }
}

#[test]
fn words_without_content_claim_nothing() {
    assert_eq!(weigh("it is", &["it is"], Language::En).verdict, Unsupported);
}

#[test]
fn every_text_states_itself_unless_it_contradicts_itself() {
    for (language, text) in [
        (Language::En, "The quick brown fox did not jump over the 3 lazy dogs of Mr. Smith."),
        (Language::Pt, "A raposa não pulou sobre os 3 cachorros do Sr. Silva."),
        (Language::Zh, "这只狐狸没有跳过三只懒狗。"),
    ] {
        let reading = weigh(text, &[text], language);
        assert_eq!(reading.verdict, Supported, "{reading:?}");
    }
}

proptest::proptest! {
    #[test]
    fn coverage_is_a_share_and_weighing_is_deterministic(claim in ".{0,80}", evidence in ".{0,120}") {
        for language in [Language::En, Language::Pt, Language::Zh] {
            let one = weigh(&claim, &[&evidence], language);
            proptest::prop_assert!((0.0..=1.0).contains(&one.coverage));
            proptest::prop_assert_eq!(one, weigh(&claim, &[&evidence], language));
        }
    }
}
