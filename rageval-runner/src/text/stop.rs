//! Tells words that carry content from those that only hold a sentence together.

use std::{collections::BTreeSet, sync::LazyLock};

use super::{normal::normalise, word::words};
use crate::model::Language;

/// The content words of a text in order, normalised: all but articles, pronouns, prepositions, conjunctions and auxiliaries.
///
/// Negations count as function words here; whoever needs them looks for them. In Chinese a word is one character, so this is a rough
/// sieve there.
pub fn content_words(text: &str, language: Language) -> Vec<String> {
    words(&normalise(text), language)
        .into_iter()
        .filter(|word| !is_stop_word(word, language))
        .map(str::to_owned)
        .collect()
}

/// Whether a normalised word is a function word of the language.
pub fn is_stop_word(word: &str, language: Language) -> bool {
    match language {
        Language::En => ENGLISH.contains(word),
        Language::Pt => PORTUGUESE.contains(word),
        Language::Zh => CHINESE.contains(word),
    }
}

type Words = LazyLock<BTreeSet<&'static str>>;

static ENGLISH: Words = LazyLock::new(|| {
    "a an the this that these those such same other another each every either neither both all any some \
     i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its \
     itself they them their theirs themselves one who whom whose which what when where why how whatever whichever \
     is am are was were be been being do does did doing done have has had having can could may might must shall should will would \
     i'm i've i'd i'll you're you've you'll he's she's it's we're we've we'll they're they've they'll that's there's here's let's \
     isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't cannot couldn't mustn't shouldn't won't wouldn't \
     of in on at by for with from to into onto upon about as than through during within between among over under out off up down \
     per via toward towards against around across along \
     and or but nor so yet if then else because while although though unless whether until since \
     not no never also too very just only even still already again once there here now more most much many"
        .split_whitespace()
        .collect()
});

static PORTUGUESE: Words = LazyLock::new(|| {
    "o a os as um uma uns umas de do da dos das em no na nos nas num numa nuns numas ao aos à às por pelo pela pelos pelas \
     para pra pro com sem sob sobre entre até desde ante contra perante durante mediante conforme segundo \
     e ou mas nem que se como porque pois porém contudo todavia entretanto portanto logo quando onde enquanto embora caso \
     eu tu ele ela nós vós eles elas você vocês me te lhe lhes nos vos mim ti si comigo contigo conosco \
     meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos nossas dele dela deles delas \
     este esta estes estas esse essa esses essas aquele aquela aqueles aquelas isto isso aquilo deste desta destes destas desse dessa \
     desses dessas neste nesta nestes nestas nesse nessa nesses nessas daquele daquela naquele naquela \
     qual quais quem cujo cuja cujos cujas quanto quanta quantos quantas \
     é são era eram foi foram ser sendo sido seja sejam fosse será serão seria seriam sou somos \
     está estão estava estavam estar estando estado esteja estejam esteve estou estamos \
     há havia houve haver haja tem têm tinha tinham ter tendo tido tenha tenham teve tiveram terá terão teria tenho temos \
     pode podem podia poder possa possam poderá poderia deve devem dever deverá deveria \
     vai vão ir fica ficam \
     não nunca jamais nem já ainda também só somente apenas muito muita muitos muitas mais menos tão todo toda todos todas \
     outro outra outros outras cada algum alguma alguns algumas nenhum nenhuma mesmo mesma mesmos mesmas próprio própria \
     aqui ali lá então assim"
        .split_whitespace()
        .collect()
});

static CHINESE: Words = LazyLock::new(|| {
    "的 了 着 过 地 得 之 其 是 在 有 和 与 及 或 而 且 但 也 都 就 才 又 还 再 很 更 最 把 被 让 给 对 对于 向 从 由 到 至 于 以 为 \
     因 所 如 若 则 虽 然 我 你 您 他 她 它 们 这 那 哪 谁 什 么 怎 此 该 某 各 每 个 些 吗 呢 吧 啊 呀 嘛 不 没 未 无 非 \
     可 能 会 要 应 将 已 即 使 并 等 来 去 上 下 里 \
     著 過 與 對 於 為 從 還 個 這 們 沒 無 來 應 將 並 給 讓 會 麼 嗎 裡 後 當 當 时 時 当"
        .split_whitespace()
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_are_left_out() {
        for (language, text, expected) in [
            (Language::En, "The refund is NOT issued within 30 days.", vec!["refund", "issued", "30", "days"]),
            (Language::Pt, "O frete não é pago pela loja.", vec!["frete", "pago", "loja"]),
            (Language::Zh, "退款是在30天内", vec!["退", "款", "30", "天", "内"]),
            (Language::En, "it is what it is", vec![]),
        ] {
            assert_eq!(content_words(text, language), expected, "{text:?}");
        }
    }
}
