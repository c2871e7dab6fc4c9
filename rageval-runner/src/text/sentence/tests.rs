//! Texts in three languages, and where their sentences end.

use proptest::prelude::*;

use super::*;

/// Splits as marked: `|` stands where sentences part.
fn check(language: Language, marked: &[&str]) {
    for marked in marked {
        let expected: Vec<_> = marked.split('|').collect();
        let text = expected.concat();
        assert_eq!(sentences(&text, language), expected);
    }
}

#[test]
fn english_sentences() {
    check(
        Language::En,
        &[
            "Hello there. |How are you? |Fine!",
            "Dr. Smith met Mrs. Jones. |They spoke.",
            "See Fig. 2.1 for details. |It is clear.",
            "Order No. 5 is late. |No. |I mean it.",
            "He lives in the U.S. and works. |She moved to the U.S. |The end.",
            "The U.S. Senate voted.",
            "Bring fruit, e.g. Apples or pears, i.e. Food.",
            "We sell tea, coffee, etc. |Open at 9 a.m. |We close at 6 p.m. on Friday.",
            "It costs $3.14. |Pay 1,234.56 now.",
            "Wait... |Then go. |Or… |Maybe not.",
            "\"Is it?\" she asked. |\"Yes.\" |He left.",
            "He said (in 2010.) |Then he left.",
            "Write to a.b@example.com. |See https://example.com/a.b?q=1&r=A. |Done.",
            "Really?! |Yes!!! |No.",
            "John F. Kennedy spoke. |J. Smith too.",
            "Acme Inc. Holdings grew. |It was Acme Inc. |It fell.",
            "He won. |5 users lost.",
            "It flies at 2. 4 miles a second.",
            "Smith et al. Showed it.",
            "She has a Ph.D. Degree.",
            "one",
        ],
    );
}

#[test]
fn portuguese_sentences() {
    check(
        Language::Pt,
        &[
            "O Sr. Silva e a Sra. Souza chegaram. |O Dr. João saiu.",
            "A lei n.º 8.078 vale. |O art. 5º também.",
            "Custa R$ 1.234,56. |Pague já!",
            "Traga um documento, p. ex. RG ou CPF. |Obrigado.",
            "Produtos, serviços, etc. |Veja a pág. 12.",
            "O prazo é de 7 dias? |Sim! |Não…",
            "A empresa Acme Ltda. |Ela cresceu.",
            "Por quê?! |Não sei.",
            "“Posso?” perguntou ele. |“Sim.” |Ele entrou.",
        ],
    );
}

#[test]
fn chinese_sentences() {
    check(
        Language::Zh,
        &[
            "退款需要5天。|请联系客服！|可以吗？",
            "真的？！|是的。",
            "他说：“好的。”|然后走了。",
            "他走了。|“你好。”|她笑了。",
            "价格是3.14元。|版本2.0可用。",
            "（见第二页。）|完成。",
            "「可以。」|『不行。』|好。",
            "请访问https://example.com/?a=1。|谢谢。",
            "好!|下一句?|是。",
        ],
    );
}

#[test]
fn initials_titles_and_short_words_end_nothing() {
    check(
        Language::En,
        &[
            "It was built by J. Presper Eckert and Henry A. Walsh. |It ran.",
            "The judges were George C. Walker, J. A. Smith and P. Jones. |They agreed.",
            "He cited Griswold v. Connecticut. |It held.",
            "The painter (d. 1560) and the poet (c. 1480) met. |Then they left.",
            "It holds five (max. Ten) boxes (lit. \"Kisten\") each. |See p. XX for more.",
            "It is vitamin C. |Then more.",
            "(No. |He left.)",
        ],
    );
    check(
        Language::Pt,
        &[
            "Foi feito por J. Presper Eckert e Henry A. Walsh. |Funcionou.",
            "O pintor (m. 1560) e o poeta (c. 1480) viveram ali. |Morreram.",
            "Cabem cinco (máx. 10) caixas. |Veja a p. XX do livro.",
        ],
    );
    check(
        Language::Zh,
        &[
            "由J. Presper Eckert设计。|它运行了。",
            "作者是Henry A. Walsh和乔治·C. 沃克。|他们来了。",
            "他唱了《你好吗？》这首歌。|大家鼓掌。",
            "《你好。再见！》是一部电影。|很好。",
            "美国艺电（Electronic Arts Inc.）是一家公司。|它很大。",
            "画家（d. 1560）住在这里。|他走了。",
            "占六一．五。|好。",
        ],
    );
}

#[test]
fn lists_and_lines() {
    check(
        Language::En,
        &[
            "Steps:\n|1. Open the app.\n|2. Tap Pay.\n|3. Done",
            "- First item\n|- Second item\n|- Third item. |With two sentences.",
            "# Refunds\n|Refunds take 5 days.\n\n|Shipping\n|We ship daily.",
            "This paragraph is wrapped by hand at some column and\ngoes on here. |Next.",
            "The document was signed in the presence of the mayor\nJohn Smith of Dublin. |Next.",
            "a) One\n|b) Two",
            "Fees, taxes,\nDuties and more.\r\n|Done.",
        ],
    );
    check(Language::Zh, &["步骤：\n|一、打开应用\n|二、点击支付\n|完成", "标题\n|正文从这里开始。"]);
    assert_eq!(sentences("| a | b |\n| c | d |", Language::En), ["| a | b |\n", "| c | d |"]);
}

#[test]
fn statements_are_trimmed_and_say_something() {
    assert_eq!(statements("Hi.  \n\n---\n\n 😀 \nBye. ", Language::En), ["Hi.", "Bye."]);
    for empty in ["", "   ", "\n\n", "…", "---", "\u{202E}\u{202C}"] {
        assert!(statements(empty, Language::En).is_empty(), "{empty:?}");
    }
}

#[test]
fn hostile_text_takes_bounded_time() {
    for piece in [
        "a. ", ".", "。", "\n", "1.", "Dr. ", "?\"", "…", "… A", "“", "《。", "（d. ", "A. ", "- ", "x", "\u{202E}",
        "a,\n",
    ] {
        let text = piece.repeat(400_000 / piece.len());
        let begun = std::time::Instant::now();
        assert_eq!(sentences(&text, Language::En).concat(), text);
        assert!(begun.elapsed().as_secs() < 20, "{piece:?} took {:?}", begun.elapsed());
    }
}

proptest! {
    #[test]
    fn no_text_is_lost(text in "(?s)([a-zA-Z0-9áõ。！？.!?…“”\"'「」()\n\r \\-*#|:,，、;]|Dr\\.|U\\.S\\.|退款|.){0,60}") {
        for language in [Language::En, Language::Pt, Language::Zh] {
            let parts = sentences(&text, language);
            prop_assert!(parts.iter().all(|part| !part.is_empty()));
            prop_assert_eq!(parts.concat(), text.as_str());
        }
    }
}
