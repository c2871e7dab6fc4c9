//! Texts that decline, and texts that only look so.

use super::*;

fn check(language: Language, refusals: &[&str], answers: &[&str]) {
    let wrong: Vec<_> = refusals
        .iter()
        .filter(|text| !is_refusal(text, language))
        .map(|text| format!("missed: {text}"))
        .chain(
            answers
                .iter()
                .filter(|text| is_refusal(text, language))
                .map(|text| format!("wrongly taken as a refusal: {text}")),
        )
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn english_refusals_are_told_from_answers() {
    check(
        Language::En,
        &[
            "I don't know.",
            "I'm sorry, but I don't have enough information to answer that question.",
            "I cannot answer the question because of the insufficient information in documents.",
            "The provided context does not mention the founder of the company.",
            "Sorry, I can't help with that.",
            "I’m afraid I couldn’t find any information about your order.",
            "There is no information about shipping to Mars in the help centre.",
            "Unfortunately, the documents do not contain the answer. Please contact support for further help.",
            "I am unable to determine this from the given passages.",
            "This question is outside the scope of the documentation.",
            "That is beyond my knowledge. I can only help with questions about Acme products.",
            "Based on the provided context, it is not possible to determine the price.",
            "The price is not specified in the provided documents.",
            "No relevant documents were found.",
            "No information available.",
            "Unanswerable",
            "I do not have access to real-time data, so I cannot tell you the score.",
            "As an AI language model, I can't give medical advice. Please consult a doctor.",
            "I must decline to answer.",
            "None of the articles mention a student discount.",
            "I have no information on that topic. Is there anything else I can help you with?",
            "The text only discusses refunds; it does not say anything about exchanges.",
            "We could not find an answer to your question in our help centre.",
            "I'm not sure. You may want to check with customer service.",
            "It cannot be determined from the context who wrote the report.",
            "The documentation does not cover this topic. It only describes refunds and shipping.",
            "Hello! I won't share personal data of other customers.",
            "I'm not able to provide legal advice.",
        ],
        &[
            "",
            "   ",
            "No, you can't return it after 30 days.",
            "You can return it within 30 days.",
            "If you don't know your order number, open the confirmation e-mail.",
            "You cannot find your order number? Look into the confirmation e-mail.",
            "Can't find your order number? It is in the e-mail we sent you.",
            "Choose \"I don't know my password\" on the sign-in page.",
            "The Basic plan costs 10 dollars. I couldn't find the price of the Pro plan.",
            "I don't have the exact figure, but the bridge is about 13 km long.",
            "We do not provide phone support on the Basic plan.",
            "We don't share your data with third parties.",
            "Refunds are not available for gift cards.",
            "The warranty does not cover water damage.",
            "No, the Basic plan has no phone support.",
            "There is no limit on users in the Pro plan.",
            "There is no fee for returns.",
            "The server cannot find the file when the path is wrong, so it answers with 404.",
            "Socrates said that he knew nothing.",
            "Sorry for the trouble! Your parcel arrives on Monday.",
            "Customers who do not have a receipt can show a bank statement.",
            "The context says that refunds take 5 days.",
            "The company is unable to ship batteries by air.",
            "It is not possible to change the address after shipping.",
            "The song \"I Don't Know\" was released in 1980.",
            "Nobody knows the exact date, but historians place it around 1200.",
            "Unfortunately, personalised products cannot be returned.",
            "Please contact support to cancel your order.",
            "As an AI model, I do not have access to live data. However, according to the BBC, the series airs in 2021.",
            "Paris",
        ],
    );
}

#[test]
fn portuguese_refusals_are_told_from_answers() {
    check(
        Language::Pt,
        &[
            "Não sei.",
            "Desculpe, mas não tenho informações suficientes para responder a essa pergunta.",
            "Não encontrei informações sobre isso na documentação.",
            "Infelizmente, não posso ajudar com isso.",
            "O contexto fornecido não menciona o fundador da empresa.",
            "Os documentos não contêm informações sobre o preço do plano.",
            "Não é possível determinar a data com base no contexto.",
            "Essa pergunta está fora do escopo da central de ajuda.",
            "Não há informações disponíveis sobre esse assunto.",
            "Lamento, não consigo responder. Entre em contato com o suporte.",
            "A informação não está disponível nos documentos fornecidos.",
            "Não tenho acesso a dados em tempo real.",
            "Só posso responder a perguntas sobre os produtos da Acme.",
            "Nenhum dos documentos menciona um desconto para estudantes.",
            "Como modelo de linguagem, não posso dar conselhos médicos.",
            "Não tenho certeza. Consulte um advogado.",
            "As informações fornecidas não são suficientes para responder.",
            "Nenhuma informação encontrada.",
            "Sinto muito, não localizei nenhum dado sobre o pedido.",
            "O texto não diz quem escreveu o relatório.",
            "Não foi possível encontrar a resposta nos documentos.",
            "Desconheço a resposta.",
            "Prefiro não comentar esse assunto.",
            "O preço não é mencionado no texto.",
            "Não consta essa informação na base de conhecimento. Você pode falar com o atendimento.",
            "I don't have enough information to answer.",
            "Não disponho dessa informação no momento.",
        ],
        &[
            "Não, o produto não pode ser devolvido.",
            "O prazo é de 7 dias.",
            "Se você não sabe o número do pedido, veja o e-mail de confirmação.",
            "Não encontrou o número do pedido? Veja o e-mail de confirmação.",
            "Clique em \"Não sei minha senha\".",
            "O plano Básico custa R$ 49. Não encontrei o preço do plano Profissional.",
            "Não tenho o valor exato, mas a ponte tem cerca de 13 km.",
            "Não oferecemos suporte por telefone no plano Básico.",
            "Não compartilhamos seus dados com terceiros.",
            "Não há limite de usuários no plano Profissional.",
            "Não há taxa de devolução.",
            "A garantia não cobre danos causados por água.",
            "Infelizmente, produtos personalizados não podem ser devolvidos.",
            "Não é possível alterar o endereço depois do envio.",
            "Desculpe pelo transtorno! O seu pedido chega na segunda-feira.",
            "Entre em contato com o suporte para cancelar o pedido.",
            "Quem não tem o recibo pode mostrar o extrato bancário.",
            "O documento diz que o prazo é de 5 dias.",
            "A loja não envia baterias por avião.",
            "Sim, o frete é pago pela loja.",
            "Gestantes não devem ser vacinadas sem orientação médica.",
            "Sócrates disse que só sabia que nada sabia.",
            "Caso não possua cadastro, crie uma conta.",
            "Machado de Assis",
            "Você não pode usar o cupom duas vezes.",
            "Nenhum plano tem taxa de instalação.",
        ],
    );
}

#[test]
fn chinese_refusals_are_told_from_answers() {
    check(
        Language::Zh,
        &[
            "我不知道。",
            "抱歉，我无法回答这个问题。",
            "对不起，没有找到相关信息。",
            "根据提供的文档，无法确定公司的创始人。",
            "文档中没有提到价格。",
            "上下文未提及该产品的保修期。",
            "很抱歉，提供的资料中没有关于此问题的信息，请联系客服。",
            "由于文档信息不足，我无法回答该问题。",
            "因為文件資訊不足，我無法回答這個問題。",
            "這個問題超出了我的知識範圍。",
            "我只能回答与本公司产品有关的问题。",
            "作为一个人工智能语言模型，我无法提供医疗建议。",
            "无法回答。",
            "暂无相关信息。",
            "我没有足够的信息来回答您的问题。",
            "資料中並未說明退款期限。",
            "这不在我的服务范围内。",
            "抱歉，我不太清楚。您可以咨询客服。",
            "目前没有这方面的资料。",
            "文章没有说明是谁写的报告。",
            "知识库里查不到相关内容。",
            "恕我不能提供其他客户的个人信息。",
            "很遗憾，我帮不了您。",
            "现有信息不足以判断该合同是否有效。",
            "未找到与您的问题匹配的答案。",
            "您好，我不确定这一点。如果还有其他问题，我很乐意帮助您。",
            "I cannot answer this question.",
            "没有任何文档提到学生折扣。",
        ],
        &[
            "不可以，定制商品不能退货。",
            "退款需要5个工作日。",
            "如果您不知道订单号，请查看确认邮件。",
            "找不到订单号？请查看确认邮件。",
            "请点击“我不知道密码”。",
            "基本套餐每月49元。没有找到专业套餐的价格。",
            "我没有确切的数字，但大桥长约13公里。",
            "专业套餐没有用户数量限制。",
            "退货不收取任何费用。",
            "保修不包括进水损坏。",
            "很抱歉，定制商品不能退换。",
            "发货后无法更改地址。",
            "我们不会与第三方共享您的数据。",
            "试用期员工不享受年假。",
            "该手机不支持无线充电。",
            "给您带来不便，非常抱歉！包裹将于周一送达。",
            "取消订单请联系客服。",
            "文档说明退款需要5天。",
            "没有收据的顾客可以出示银行账单。",
            "青藏铁路由西宁通往拉萨。",
            "系统无法识别密码时会锁定账户。",
            "苏格拉底说他一无所知。",
            "普通会员无法享受免费送货，金卡会员可以。",
            "周末客服不提供电话支持。",
            "是的，可以续借一次。",
            "没有，本店不提供礼品包装。",
            "显微技术用来观察不在肉眼分辨率范围内的物体。",
            "北京",
        ],
    );
}

#[test]
fn refusals_at_the_end_and_around_descriptions_of_the_sources_are_told() {
    check(
        Language::En,
        &[
            "The film was shot in Rome. Therefore, I cannot provide an answer.",
            "The passages give the year 1999. So I can't answer this question. Please contact support.",
            "I don't have real-time data, so I cannot provide the score.",
            "We are sorry but the answer cannot be provided from what we have.",
            "There's nothing about this in the docs.",
            "I couldn't find the answer. The search results are about refunds. The documents list shipping fees.",
            "The context appears to be about cats. It does not mention the price.",
        ],
        &[
            "Therefore, we cannot provide refunds for gift cards.",
            "So I can't say the exact figure, but the bridge is about 13 km long.",
            "Refunds cannot be provided without a receipt.",
            "The search results are about refunds.",
            "There's a fee on this plan.",
        ],
    );
    check(
        Language::Pt,
        &[
            "O filme foi rodado em Roma. Portanto, não posso responder à pergunta.",
            "Não encontrei a resposta. Os documentos listam taxas de envio.",
            "Não tenho dados em tempo real, portanto não consigo informar o placar.",
        ],
        &["Portanto, não é possível devolver o produto.", "Os documentos listam taxas de envio."],
    );
    check(
        Language::Zh,
        &[
            "不好意思，这个问题我答不上来。",
            "影片在罗马拍摄。因此，我无法回答这个问题。",
            "没有找到答案。搜索结果主要介绍退款。",
        ],
        &["因此，定制商品无法退货。", "考生答不上来时可以跳过该题。", "搜索结果主要介绍退款。"],
    );
}

#[test]
fn hostile_text_is_no_refusal_and_takes_bounded_time() {
    for text in [
        "x".repeat(2_000_000),
        "a. ".repeat(500_000),
        "\u{202E}".repeat(100_000),
        "\"".repeat(100_000),
        "我".repeat(300_000),
    ] {
        for language in [Language::En, Language::Pt, Language::Zh] {
            assert!(!is_refusal(&text, language));
        }
    }
}
