//! How Portuguese answers decline.

use super::{Patterns, table};
use crate::{model::Language, text::normal::pattern};

pub(super) fn patterns() -> Patterns {
    Patterns {
        language: Language::Pt,
        declining: table(DECLINING, NAMES),
        empty: table(EMPTY, NAMES),
        closing: pattern(
            r"^(?:portanto|assim|logo|por isso|dessa forma|desse modo|sendo assim),? (?:eu )?não (?:posso|consigo|é possível|sou capaz de) (?:responder|fornecer|dar uma resposta|determinar|dizer|informar)\b",
        ),
        conditional: pattern(r"^(?:se|caso|quando|sempre que|a menos que|quem|clientes que|pessoas que|onde)\b"),
        joint: pattern(
            r",? (?:mas|porém|contudo|no entanto|todavia|entretanto|embora)[, ]|; |, (?:portanto|então|por isso|pois|logo|e) (?:(?:eu|nós) )?|(?:^|, )(?:no entanto|porém|contudo|entretanto),? | - ",
        ),
    }
}

/// Every declining pattern needs one of these.
pub(super) const NEEDED: &[&str] = &[
    "não",
    "nenhum",
    "nada",
    "nem",
    "incapaz",
    "impossível",
    "desconhe",
    "ignoro",
    "sem ",
    "insuficiente",
    "falta",
    "fora",
    "além",
    "ao meu",
    "foge",
    "só ",
    "apenas",
    "somente",
    "prefiro",
    "recusar",
    "n/a",
];

const NAMES: &[(&str, &str)] = &[
    (
        "source",
        r"contextos?|documentos?|documentação|passagens?|passagem|textos?|fontes?|artigos?|informações|trechos?|base de conhecimento|central de ajuda|resultados|materia(?:l|is)|parágrafos?|conteúdos?|manua(?:l|is)|dados|páginas?|arquivos?|registros?|excertos?|base de dados|ficheiros?",
    ),
    (
        "knowing",
        r"informaç(?:ão|ões)|dados?|resposta|detalhes?|conhecimento|ideia|registros?|registos?|elementos|evidências?|acesso|contexto|certeza|condições|como|menção|referências?",
    ),
    (
        "tell",
        r"responder|ajudar|ajudá-l[oa]|auxiliar|fornecer|encontrar|localizar|determinar|dizer|dar|informar|confirmar|verificar|compartilhar|partilhar|comentar|afirmar|identificar|precisar|atender|opinar|recomendar|prestar|saber|achar|indicar|oferecer|garantir|discutir|falar sobre",
    ),
    (
        "unable",
        r"não (?:posso|consigo|consegui|pude|poderei|poderia|sou capaz de|fui capaz de|estou autorizad[oa] a|tenho permissão para|sei|conseguimos|foi possível|é possível|é viável|dá para|há como|estou em condições de|tenho como|tenho condições de|me é possível|vou|irei)",
    ),
];

const DECLINING: &[&str] = &[
    r"<unable> (?:\w+mente )?(?:te |lhe |me )?(?:<tell>)\b",
    r"\b(?:sou|fui|estou|fico) incapaz de (?:<tell>)\b|\bé impossível (?:<tell>)\b|\bimpossível (?:responder|determinar|dizer)\b",
    r"\b(?:eu )?não (?:sei|faço ideia|tenho certeza|tenho a certeza|estou cert[oa]|conheço)\b(?: (?:responder|informar|dizer|a resposta|qual|quem|quando|onde|como|se|isso|essa|o|a|ao certo|com certeza)\b.*)?$",
    r"\b(?:eu |ainda )?não (?:tenho|possuo|disponho|temos|dispomos|possuímos|encontrei|achei|localizei|obtive|encontramos|localizamos|vejo|vi)\b (?:de )?(?:\w+ ){0,3}?(?:<knowing>|nada|nenhuma?)\b",
    r"\bnão encontrei (?:isso|essa|esta|o que|a resposta|resposta|nada|nenhum)",
    r"\b(?:desconheço|ignoro) (?:a|o|essa|esse|qual|se)\b",
    r"\bnão (?:há|existe|existem|havia|houve|consta|constam|foram? encontrad[oa]s?|foi encontrad[oa]|se encontra|encontram-se) (?:\w+ ){0,3}?(?:informaç(?:ão|ões)|dados|resposta|detalhes|menção|referências?|registros?|elementos|nada|resultados?|documentos?)\b",
    r"^(?:desculpe,? ?|lamento,? ?)?(?:nenhuma?|sem) (?:\w+ ){0,2}?(?:informaç(?:ão|ões)|resposta|dados|menção|documento|resultado|detalhes|trecho)\b(?: .*)?$",
    r"\b(?:informaç(?:ão|ões)|dados|contexto|elementos|detalhes) (?:\w+ ){0,3}?(?:insuficientes?|não (?:são|é|foi|foram) (?:suficientes?|fornecid[oa]s?|disponíve(?:l|is)))\b|\bfaltam? (?:\w+ )?(?:informaç(?:ão|ões)|dados|elementos)\b|\binsuficientes? para\b",
    r"\b(?:o|a|os|as|este|esta|estes|estas|esse|essa|esses|essas|nenhum dos|nenhuma das|nenhum|meus|minha|nossos|nossa) (?:\w+ ){0,2}?(?:<source>)\b (?:\w+ ){0,5}?(?:não|nada|nem) (?:\w+ )?(?:mencionam?|especificam?|dizem|diz|informam?|respondem?|abordam?|tratam?|indicam?|esclarecem?|explicam?|revelam?|afirmam?|citam?|fornecem?|contêm|contém|traz|trazem|incluem?|apresentam?|falam?|oferecem?|descrevem?|permitem?|cobrem|cobre|são suficientes|é suficiente|têm informaç|tem informaç|há)",
    r"\bnenhum[a]? (?:dos |das )?(?:\w+ )?(?:<source>) (?:\w+ ){0,2}?(?:mencionam?|diz|dizem|informa|informam|responde|respondem|aborda|abordam|trata|tratam|contém|indica|explica|fala)\b",
    r"\b(?:no|na|nos|nas|em nenhum dos) (?:\w+ ){0,2}?(?:<source>)\b.*\bnão (?:há|existe|consta|constam|encontrei|se encontra|aparece|menciona|está|foi)\b",
    r"\bnão (?:é|foi|são|foram|está|estão|vem|aparece|consta|constam|se encontra|é explicitamente) ?(?:\w+mente )?(?:mencionad[oa]s?|especificad[oa]s?|informad[oa]s?|fornecid[oa]s?|encontrad[oa]s?|disponíve(?:l|is)|descrit[oa]s?|indicad[oa]s?|abordad[oa]s?|citad[oa]s?|explicad[oa]s?|respondid[oa]s?|presentes?|incluíd[oa]s?|coberta?o?s?|clar[oa]s?)? ?(?:\w+ ){0,2}?(?:no|na|nos|nas|pelo|pela|pelos|pelas|em|por) (?:\w+ ){0,3}?(?:<source>)\b",
    r"\b(?:está|fica|é|foge|sai|estão|encontra-se) (?:\w+ )?(?:fora|além|do meu|ao meu) (?:do|da|dos|das|de|alcance|meu|escopo|âmbito)\b ?(?:\w+ ){0,2}?(?:escopo|âmbito|alcance|área|conhecimento|tema|documentação|base|competência|que posso|assunto|central)?\b",
    r"\bsó (?:posso|consigo|sei) (?:responder|ajudar|falar|tratar|auxiliar)\b|\bposso (?:apenas|somente) (?:responder|ajudar)\b",
    r"\bprefiro não\b|\b(?:devo|tenho que|preciso) recusar\b|\bnão (?:me )?(?:é permitido|cabe a mim)\b|\bnão vou (?:responder|ajudar|fornecer)\b",
    r"^(?:desconhecido|sem resposta|não sei|não encontrado|não disponível|não informado|não especificado|não mencionado|não consta|n/a|não há resposta|não há informação|não há informações)$",
    r"\bcomo (?:um |uma )?(?:ia|modelo de linguagem|inteligência artificial|assistente)\b.*\bnão\b",
    r"\ba pergunta não (?:pode|tem como) ser respondida\b|\bnão pode ser (?:respondid|determinad|inferid|confirmad)[oa]\b|\bnão é possível (?:responder|determinar|saber|afirmar|inferir|dizer|informar|concluir|identificar)\b",
];

const EMPTY: &[&str] = &[
    r"^(?:peço |mil )?(?:sinto muito|desculpas?|desculpe|lamento|lamentavelmente|infelizmente|perdão|olá|oi|bom dia|boa tarde|boa noite|obrigad[oa]|agradeço|boa pergunta|ótima pergunta|prezad[oa])\b(?:[^.]{0,40})$",
    r"^(?:por favor|favor|entre em contato|entre em contacto|contate|contacte|consulte|verifique|procure|tente|reformule|fale com|acesse|visite|recomendo|recomenda-se|sugiro|sugere-se|aconselho|você (?:pode|poderia|deve|precisa|talvez)|pode (?:tentar|consultar|contatar|verificar|entrar|procurar|reformular|falar)|para (?:mais|outras|maiores|obter|saber|esse|isso|essa)|talvez|quem sabe|nossa equipe|nosso suporte|a equipe|o suporte|o atendimento|um (?:médico|advogado|profissional|atendente))\b",
    r"^(?:se|caso)\b.*\b(?:ajudar|posso|por favor|avise|entre em contato|contato|ficarei|estou|terei|informe|envie|pergunte|fale|suporte|disposição)\b",
    r"\b(?:fico à disposição|estou à disposição|posso ajudar (?:com|em)|ficarei feliz|terei prazer|mais alguma coisa|em que mais)\b",
    r"^(?:ele|ela|eles|elas|o|a|os|as|este|esta|estes|esse|essa|esses|apenas|só|eles só)\b(?: \w+){0,4}? (?:apenas |só |somente |se )?(?:falam?|tratam?|mencionam?|abordam?|descrevem?|referem-se|refere-se|referem|cobrem|cobre|discutem?|focam?|é sobre|são sobre|diz respeito|dizem respeito|contêm informações|limitam-se)\b",
    r"^(?:os?|as?|est[ea]s?|ess[ea]s?) (?:\w+ ){0,2}?(?:<source>)(?: \w+){0,4}? (?:apresentam?|listam?|trazem|traz|incluem?|parecem? (?:tratar|falar))\b",
    r"^(?:você (?:perguntou|quer saber|está perguntando)|a (?:sua )?pergunta|sua pergunta|consultei|procurei|pesquisei|verifiquei|li)\b",
    r"^(?:sobre|quanto a|com base|de acordo com|segundo) [^,]*$",
    r"^(?:como (?:um |uma )?(?:ia|modelo de linguagem|inteligência artificial|assistente)|sou (?:um|uma|apenas|só)|meu (?:conhecimento|papel|escopo|treinamento)|minha (?:base|função|tarefa)|respondo (?:apenas|só|somente)|só respondo|eu só)\b",
    r"^(?:portanto|assim|logo|por isso|dessa forma|desse modo|sem (?:isso|essa|esses|mais))\b.*\bnão\b",
    r"^(?:sim|não|ok|bem|certo|resposta|nota|fonte|_|no momento|por enquanto|atualmente)$",
];
