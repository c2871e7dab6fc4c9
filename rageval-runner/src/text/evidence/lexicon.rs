//! Small tables of general words: what means the same, what excludes each other, what turns a statement round.
//!
//! None of it comes from the data that the screen is measured on. The tables are short on purpose: a screen that guesses at paraphrase
//! with a large thesaurus accepts what the evidence does not say.

use std::{collections::HashMap, sync::LazyLock};

use super::super::stem::stem;
use crate::model::Language;

/// One language's tables, keyed by stem.
pub(super) struct Lexicon {
    /// Group of words that may stand for each other.
    pub(super) same: HashMap<String, usize>,
    /// Stems that exclude each other, both ways.
    pub(super) opposite: HashMap<String, Vec<String>>,
}

pub(super) fn lexicon(language: Language) -> &'static Lexicon {
    static ENGLISH: LazyLock<Lexicon> = LazyLock::new(|| read(Language::En, ENGLISH_SAME, ENGLISH_OPPOSITE));
    static PORTUGUESE: LazyLock<Lexicon> = LazyLock::new(|| read(Language::Pt, PORTUGUESE_SAME, PORTUGUESE_OPPOSITE));
    static CHINESE: LazyLock<Lexicon> = LazyLock::new(|| read(Language::Zh, "", CHINESE_OPPOSITE));
    match language {
        Language::En => &ENGLISH,
        Language::Pt => &PORTUGUESE,
        Language::Zh => &CHINESE,
    }
}

fn read(language: Language, same: &str, opposite: &str) -> Lexicon {
    let mut lexicon = Lexicon { same: HashMap::new(), opposite: HashMap::new() };
    for (group, line) in same.lines().enumerate() {
        for word in line.split_whitespace() {
            lexicon.same.entry(stem(word, language)).or_insert(group);
        }
    }
    for line in opposite.lines() {
        let mut sides =
            line.split('/').map(|side| side.split_whitespace().map(|word| stem(word, language)).collect::<Vec<_>>());
        let (Some(one), Some(other)) = (sides.next(), sides.next()) else { continue };
        for word in &one {
            lexicon.opposite.entry(word.clone()).or_default().extend(other.iter().cloned());
        }
        for word in other {
            lexicon.opposite.entry(word).or_default().extend(one.iter().cloned());
        }
    }
    lexicon
}

/// Words that negate what follows, in normal form, and how many words they reach at most.
pub(super) fn negation_reach(word: &str, language: Language) -> Option<usize> {
    match language {
        Language::En => match word {
            "not" | "never" | "cannot" | "neither" | "nor" | "hardly" | "nobody" | "nothing" => Some(8),
            "no" | "without" | "none" | "lacks" | "lack" => Some(4),
            word if word.ends_with("n't") => Some(8),
            _ => None,
        },
        Language::Pt => match word {
            "não" | "nunca" | "jamais" | "ninguém" | "nada" | "nem" => Some(8),
            "sem" | "nenhum" | "nenhuma" | "tampouco" => Some(4),
            _ => None,
        },
        Language::Zh => match word {
            "不" | "没" | "沒" | "無" | "无" | "未" | "非" | "勿" | "莫" | "免" => Some(10),
            _ => None,
        },
    }
}

/// Words after which a negation turns nothing round (`no more than`, `not only`, `not until`, `不仅`, `不超过`, `没有...`).
pub(super) fn voids_negation(next: &str, language: Language) -> bool {
    match language {
        Language::En => {
            matches!(next, "more" | "less" | "fewer" | "only" | "later" | "just" | "until" | "least" | "doubt")
        }
        Language::Pt => matches!(next, "só" | "somente" | "apenas" | "mais" | "menos"),
        Language::Zh => matches!(
            next,
            "仅" | "僅"
                | "但"
                | "只"
                | "超"
                | "少"
                | "同"
                | "过"
                | "断"
                | "得"
                | "久"
                | "来"
                | "论"
                | "费"
                | "常"
                | "线"
                | "線"
        ),
    }
}

/// Words that confine a statement to what it names.
pub(super) fn is_exclusive(word: &str, language: Language) -> bool {
    match language {
        Language::En => matches!(word, "only" | "solely" | "exclusively" | "merely"),
        Language::Pt => matches!(word, "só" | "somente" | "apenas" | "unicamente" | "exclusivamente"),
        Language::Zh => matches!(word, "只" | "仅" | "僅"),
    }
}

/// Words that point back to the sentence before.
pub(super) fn points_back(word: &str, language: Language) -> bool {
    match language {
        Language::En => matches!(
            word,
            "it" | "its"
                | "he"
                | "his"
                | "him"
                | "she"
                | "her"
                | "they"
                | "their"
                | "them"
                | "this"
                | "these"
                | "that"
                | "those"
                | "who"
                | "which"
        ),
        Language::Pt => matches!(
            word,
            "ele"
                | "ela"
                | "eles"
                | "elas"
                | "seu"
                | "sua"
                | "seus"
                | "suas"
                | "este"
                | "esta"
                | "esse"
                | "essa"
                | "isso"
                | "isto"
                | "dele"
                | "dela"
        ),
        Language::Zh => matches!(word, "它" | "他" | "她" | "其" | "该" | "該" | "此" | "这" | "這"),
    }
}

/// Words that begin a new clause and so end a negation's reach.
pub(super) fn begins_clause(word: &str, language: Language) -> bool {
    match language {
        Language::En => matches!(
            word,
            "but"
                | "because"
                | "although"
                | "though"
                | "while"
                | "whereas"
                | "when"
                | "if"
                | "unless"
                | "which"
                | "who"
                | "where"
                | "however"
                | "since"
                | "until"
        ),
        Language::Pt => matches!(
            word,
            "mas" | "porque" | "embora" | "enquanto" | "quando" | "se" | "caso" | "que" | "onde" | "porém" | "pois"
        ),
        Language::Zh => matches!(word, "但" | "而"),
    }
}

const ENGLISH_SAME: &str = "\
buy purchase acquire
begin start commence launch open
end finish conclude complete stop cease close
answer respond reply response
help assist aid support
big large huge
car vehicle automobile
pay cover
cost price charge fee worth
send ship deliver dispatch
customer client user buyer shopper consumer
refund reimburse reimbursement
return give-back
get receive obtain gain
show display reveal demonstrate
need require demand necessary
use utilise utilize employ
choose select pick
build construct erect
create make produce manufacture
die death dead kill
say tell state claim announce
job work occupation
child kid
doctor physician
company firm business
film movie
allow permit let enable
forbid ban prohibit
keep retain
change modify alter
fix repair
error fault failure
find discover locate
leave depart
arrive reach come
injure hurt wound
boss manager
house home
town city
quick fast rapid
approximately about
maximum most max limit
minimum least min
yearly annual annually
monthly month
daily day
weekly week
shop store
retire discontinue
cancel terminate
delete remove erase
phone telephone
email e-mail mail
exceed surpass
often frequently
usually typically normally
near close
rise increase grow climb
fall decrease drop decline
win beat defeat victory
murder kill
arrest detain
baby infant
police officer
run operate
accident crash collision";

const ENGLISH_OPPOSITE: &str = "\
before / after
open opened / close closed shut
include / exclude
minimum / maximum
increase rise grow / decrease fall drop decline shrink
win won / lose lost
allow permit / forbid ban prohibit deny
accept approve / reject refuse decline
first / last
high higher / low lower
begin start / end finish
buy / sell
male / female
north northern / south southern
east eastern / west western
free / paid
required mandatory compulsory / optional voluntary
always / never
day / night
mother / father
son / daughter
brother / sister
husband / wife
safe / dangerous unsafe harmful
success succeed / fail failure
guilty / innocent
alive / dead
same / different
public / private
early earlier / late later
old older / young younger
cheap / expensive
inside indoor / outside outdoor
enable / disable
import / export
best / worst
positive / negative
present / absent
temporary / permanent
weekday weekdays / weekend weekends
morning / evening
hot / cold
full / empty
add / remove
upper / lower
above / below
arrive / depart
love / hate
strong / weak
fast / slow";

const PORTUGUESE_SAME: &str = "\
comprar adquirir compra aquisição
começar iniciar início começo
terminar acabar encerrar concluir fim término
responder resposta
ajudar auxiliar ajuda auxílio
grande enorme
carro veículo automóvel
pagar arcar custear
custo preço valor custar
enviar envio remeter despachar frete
cliente consumidor usuário comprador
devolver devolução retornar
reembolso reembolsar
receber obter
mostrar exibir
precisar necessitar exigir necessário requerer
usar utilizar uso
escolher selecionar
construir construção
criar produzir fabricar
morrer morte
dizer afirmar declarar
trabalho emprego
criança menino
médico doutor
empresa companhia firma
filme longa
permitir autorizar
proibir vedar
mudar alterar modificar
consertar reparar
erro falha
encontrar achar localizar
sair partir
chegar alcançar
ferir machucar
casa residência
loja estabelecimento
vacina vacinação imunização vacinar imunizar
prazo período
máximo limite
anual ano anualmente
mensal mês mensalmente
diário dia diariamente
telefone telefônico
inaugurar abrir
crescer aumentar subir
cair diminuir reduzir
vencer ganhar vitória derrotar
ligar conectar
produto item artigo mercadoria
oferecer incluir
chamar denominar nomear
fundar criar
localizado situado
principal maior
cancelar rescindir";

const PORTUGUESE_OPPOSITE: &str = "\
antes / depois após
abrir aberto / fechar fechado
incluir / excluir
mínimo / máximo
aumentar subir crescer / diminuir cair reduzir
ganhar vencer / perder
permitir autorizar / proibir vedar
aceitar aprovar / rejeitar recusar
primeiro primeira / último última
alto alta / baixo baixa
começar iniciar / terminar acabar
comprar / vender
masculino homem homens menino / feminino mulher mulheres menina
norte / sul
leste / oeste
grátis gratuito / pago
obrigatório / opcional facultativo
sempre / nunca
dia / noite
mãe / pai
filho / filha
irmão / irmã
marido / esposa
seguro / perigoso
sucesso / fracasso
culpado / inocente
vivo / morto
igual / diferente
público / privado
cedo / tarde
velho / novo jovem
barato / caro
dentro / fora
ativar / desativar
importar / exportar
melhor / pior
esquerda / direita
positivo / negativo
temporário / permanente
manhã / noite
quente / frio
maior / menor
rápido / lento
entrada / saída";

const CHINESE_OPPOSITE: &str = "\
之前 以前 / 之后 以后
包括 包含 / 排除 除外
最低 最少 至少 / 最高 最多 至多
增加 上升 增长 / 减少 下降 降低
允许 可以 / 禁止 不得
接受 批准 / 拒绝
开始 / 结束
买 购买 / 出售 卖
男性 男子 / 女性 女子
免费 / 收费 付费
必须 / 可选 自愿
总是 / 从不
白天 / 晚上
父亲 / 母亲
儿子 / 女儿
丈夫 / 妻子
安全 / 危险
成功 / 失败
胜利 / 战败
相同 / 不同
公立 公开 / 私立 私人
进口 / 出口
北部 北方 / 南部 南方
东部 东方 / 西部 西方
工作日 / 周末
上午 / 下午
室内 / 室外
永久 / 临时
增强 / 减弱
国内 / 国外
支持 / 反对";
