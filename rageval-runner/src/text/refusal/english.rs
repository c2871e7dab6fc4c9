//! How English answers decline.

use super::{Patterns, table};
use crate::{model::Language, text::normal::pattern};

pub(super) fn patterns() -> Patterns {
    Patterns {
        language: Language::En,
        declining: table(DECLINING, NAMES),
        empty: table(EMPTY, NAMES),
        closing: pattern(
            r"^(?:therefore|so|thus|hence|as such|consequently|as a result),? (?:i (?:am |'m )?(?:cannot|can not|can't|could not|couldn't|unable to|not able to) (?:provide|answer|determine|give|say|tell|help|assist)|we (?:cannot|can't|are unable to) (?:answer|determine)|(?:the|this|your) question (?:cannot|can't) be answered)\b",
        ),
        conditional: pattern(
            r"^(?:if|when|whenever|in case|unless|should you|where|once|people who|customers who|anyone who)\b",
        ),
        joint: pattern(
            r",? (?:but|however|although|though|yet|while)[, ]|; |, (?:so|and|as|since|because) (?:i|we|it|the|they|my)\b|(?:^|, )however,? | - ",
        ),
    }
}

/// Every declining pattern needs one of these.
pub(super) const NEEDED: &[&str] = &[
    "not",
    "n't",
    "no ",
    "no_",
    "none",
    "nothing",
    "neither",
    "never",
    "unable",
    "unsure",
    "uncertain",
    "unaware",
    "unanswerable",
    "unknown",
    "insufficient",
    "inadequate",
    "lack",
    "little",
    "impossible",
    "decline",
    "refuse",
    "rather",
    "prefer",
    "pass",
    "outside",
    "beyond",
    "out of",
    "n/a",
    "only",
    "dunno",
    "don't",
    "there",
];

const NAMES: &[(&str, &str)] = &[
    // What an answer is made from.
    (
        "source",
        r"context|documents?|documentation|docs?|passages?|texts?|sources?|articles?|information|info|excerpts?|extracts?|knowledge base|help cent(?:er|re)|(?:search )?results|snippets?|materials?|paragraphs?|content|manual|faqs?|records?|data|database|files?|pages?|references?",
    ),
    ("any", r"(?:[\w'-]+ ){0,4}"),
    ("few", r"(?:[\w'-]+ ){0,2}"),
    (
        "not",
        r"(?:do|does|did|is|are|was|were|has|have|had|can|could|would|will) ?(?:not|n't)|cannot|can not|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|hasn't|haven't|can't|couldn't|won't|wouldn't|never|no longer",
    ),
    (
        "unable",
        r"cannot|can not|can't|could not|couldn't|am not able to|'m not able to|was not able to|wasn't able to|were not able to|am unable to|'m unable to|was unable to|were unable to|are unable to|'re unable to|won't be able to|will not be able to|would not be able to|wouldn't be able to|have not been able to|haven't been able to|am not permitted to|'m not permitted to|am not allowed to|'m not allowed to|don't have the ability to|do not have the ability to|won't|will not|must decline to|have to decline to|decline to|prefer not to|'d rather not|'d prefer not to",
    ),
    (
        "knowing",
        r"information|info|knowledge|idea|clue|details?|data|answer|record|records|evidence|context|access|documentation|documents?|specifics|mention|indication",
    ),
    (
        "tell",
        r"answer|help|assist|provide|find|locate|determine|tell|say|give|comply|verify|confirm|share|comment|discuss|respond|fulfill?|advise|identify|retrieve|look up|access|offer|be (?:sure|certain)|speak to|complete (?:this|that|your) request|do that|engage|recommend|see (?:any|that|this)",
    ),
];

const DECLINING: &[&str] = &[
    // The answerer's own inability. "We" only where a shop would not say it of its service.
    r"\bi (?:really |simply |just |am afraid i |currently |also |still |therefore |honestly )?(?:<unable>) (?:\w+ly )?(?:<tell>)\b",
    r"\bi(?:<unable>) (?:\w+ly )?(?:<tell>)\b",
    r"\bwe (?:<unable>) (?:\w+ly )?(?:find|locate|answer|determine)\b(?:.* (?:information|answer|details|question|this|that|it|anything|from|in the))?",
    r"^(?:sorry,? ?)?(?:unable to|cannot|can not|can't|could not|couldn't) (?:\w+ly )?(?:answer|help|assist|find|determine|provide|say|tell|locate)\b",
    r"\bi (?:really |simply |just |honestly |currently |also |still )?(?:do not|don't|did not|didn't) (?:actually |currently |really |yet )?(?:know|have|find|see|possess) (?:[\w'-]+ ){0,3}(?:<knowing>)\b",
    r"\bi (?:really |simply |just |honestly )?(?:do not|don't) (?:actually |really )?(?:know|have (?:the|an|that|this|a) (?:\w+ ){0,2}answer|have (?:that|this|enough|it|anything))\b",
    r"\bi (?:have|had|found|see|find|possess) (?:no|insufficient|not enough|nothing|too little) ?(?:\w+ ){0,3}(?:<knowing>|about|on|to (?:say|answer|go on))\b",
    r"\bi(?: am|'m) (?:really |simply |honestly )?(?:not (?:sure|certain|aware|familiar|qualified|authorized|authorised|designed|equipped|trained)|unsure|uncertain|unaware)\b",
    r"\bi(?:'d| would) (?:rather|prefer) not\b|\bi (?:must|have to|need to|will have to) (?:decline|refuse|pass)\b|\bi (?:respectfully )?decline\b",
    r"\b(?:as an ai|as a language model|as an assistant)\b.*\b(?:<not>)\b",
    r"^(?:it|they) (?:<not>) (?:\w+ly )?(?:mention|say|specify|state|tell|answer|address|indicate|explain)\b",
    r"\b(?:not possible|impossible) to (?:determine|say|tell|answer|know|infer|establish)\b",
    // Nothing there.
    r"\bthere(?: is| was| are| were|'s| isn't| wasn't| aren't| appears to be| seems to be) (?:no|not|not any|not enough|any|insufficient|nothing|little)\b ?(?:\w+ ){0,3}(?:<knowing>|about|on)\b.*\b(?:<source>|about|on|regarding|to (?:answer|determine|say)|available|that|whether|how|this|of)\b",
    r"^(?:sorry,? )?(?:there is )?(?:no|not enough|insufficient) (?:\w+ ){0,3}(?:information|info|answer|mention|details|context|evidence|data|documents?|results?)\b(?: (?:\w+ ){0,3}(?:found|available|provided|given|present|on|about|regarding|to|in|for|of|that)\b.*)?$",
    r"\b(?:insufficient|not enough|lack of|lacks?|not sufficient|inadequate) (?:\w+ ){0,2}(?:information|info|context|detail|details|data|evidence) (?:\w+ ){0,4}(?:to|in|for|about|on|available|provided)\b",
    r"^(?:(?:no|nothing) (?:\w+ ){0,3}(?:was|were|could be|can be) (?:found|retrieved|located))",
    r"\b(?:nothing|none) (?:in|of|from) (?:any |all |the |these |those |this |my |our |your )?(?:\w+ ){0,3}(?:<source>)\b",
    r"\bno (?:\w+ )?(?:<source>) (?:\w+ ){0,3}(?:mentions?|says?|states?|covers?|addresses|answers?|about|on|matched|match|describes?)\b",
    r"\b(?:no|neither) (?:answer|mention|information|details?) (?:\w+ ){0,4}(?:given|found|made|provided|available|in (?:the|this|these))\b",
    // The sources don't say.
    r"\b(?:the|this|that|these|those|my|our|your|any|provided|given|available|retrieved|any of the) (?:\w+ ){0,3}?(?:<source>) (?:\w+ ){0,6}?(?:<not>) (?:\w+ly )?(?:\w+ )?(?:mention|specify|specified|state|say|answer|address|discuss|indicate|reveal|tell|clarify|explain|disclose|provide (?:any |enough |sufficient |specific |further |the |an |details|information)|contain (?:any |enough |sufficient |specific |further |the |an |details|information|this|that)|include (?:any |enough |sufficient )?(?:\w+ )?(?:information|details|answer|mention)|have (?:any |enough |sufficient |the )?(?:\w+ )?(?:information|details|answer|mention)|give (?:any |enough |an |the )?(?:\w+ )?(?:information|details|answer|indication)|offer (?:any )?(?:information|details|answer)|cover (?:this|that|it|the question|your question)|describe (?:how|what|when|who|this|that)|list (?:any|the)|enough|sufficient|support an answer)\b",
    r"\b(?:the|this|these|those|provided|given|available|retrieved) (?:\w+ ){0,3}?(?:<source>) (?:\w+ ){0,4}?(?:contains?|provides?|has|have|gives?|includes?|offers?|makes?|says?|say|mentions?) (?:no|nothing|insufficient)\b",
    r"\b(?:<not>) (?:\w+ly )?(?:been )?(?:mentioned|specified|stated|provided|given|included|found|covered|available|discussed|described|addressed|listed|answered|explained|present|contained|disclosed|clear|part of)\b.*\b(?:in|from|by|within|at|of|on) (?:any of |any |the |this |these |those |my |our |your )?(?:\w+ ){0,3}?(?:<source>|moment|time)\b",
    r"\bnot (?:explicitly |specifically |directly )?(?:mentioned|specified|stated|provided|given|found|covered|available|discussed|described|addressed|answered) (?:\w+ ){0,2}(?:in|by|within) (?:the|this|these|any|my|our|your)? ?(?:\w+ ){0,3}?(?:<source>)\b",
    r"\b(?:cannot|can not|can't|could not|couldn't|not possible to|impossible to) (?:be )?(?:\w+ly )?(?:answered?|determined?|inferred?|found|established?|say|tell|know|derived?|deduced?|answer)\b(?:.*\b(?:<source>|provided|given|available|without|from|based|question|here)\b|$)",
    r"^(?:the|an|any|your|this|that) (?:answer|question) (?:cannot|can not|can't|could not|couldn't) be (?:\w+ly )?(?:provided|given|answered|determined|found)\b",
    r"\b(?:is|it's|that's|this is|falls|are|lies|seems|appears to be) (?:\w+ )?(?:outside|beyond|out of|not within|not in|not part of) (?:of )?(?:the |my |our |what |this )?(?:scope|range|remit|area|knowledge|expertise|capabilit|i |domain|topics?|help cent|documentation|information|field)",
    r"^(?:sorry,? ?)?(?:that|this|it|the question|your question)?(?: is|'s)? ?(?:out of scope|outside (?:the|my) scope|unanswerable|not answerable)\b",
    r"^(?:unknown|unanswerable|n/a|no answer|not found|not available|none found|no idea|no comment|refused|\[?no answer\]?|not specified|not mentioned|not stated|not provided|don't know|do not know|dunno)$",
    r"\bi can (?:not|only (?:help|answer|assist|respond|discuss|provide|speak|offer))\b|\bi(?: am|'m) only (?:able|here|designed|meant|allowed) to\b",
    r"\bcan'?t (?:help|assist) (?:you )?with (?:that|this)\b|\bnot something i can\b|\bno way for me to\b|\boutside what i can\b",
    r"\bi (?:couldn't|could not|can't|cannot|did not|didn't|do not|don't) (?:\w+ly )?(?:find|see|locate|have) (?:any|an|the|that|this|anything|enough|specific|relevant|what|it|sufficient|information|access)\b",
];

const EMPTY: &[&str] = &[
    r"^(?:(?:i|we)(?: am|'m| are|'re)? )?(?:so |very |really |truly |deeply )?(?:sorry|apologi[sz]e|my apologies|apologies|unfortunately|regrettably|i regret|i'm afraid|i am afraid|thank you|thanks|hello|hi|dear|hey|good (?:morning|day|afternoon)|great question|good question)\b(?:[^.]{0,40})$",
    r"^(?:please|kindly|feel free|you (?:can|may|could|might|should|will need|would need)(?: \w+)? (?:want|wish|try|contact|check|consult|ask|reach|refer|visit|find|look|call|email|e-mail|write|search|need|get|speak|provide)|try |contact |consult |check |for (?:more|further|help|assistance|details|that|this)|i(?:'d| would)? (?:recommend|suggest|advise|encourage)|it (?:may|might|would) be (?:best|better|helpful|worth)|perhaps |maybe |our (?:support|team|staff)|the (?:support|customer|service) (?:team|staff|desk)|a (?:doctor|lawyer|professional|colleague|human))",
    r"^(?:if|should) (?:you|there|this|that)\b.*\b(?:let me know|please|happy to|glad to|contact|reach|ask|share|provide|check|help|i can|i'll|feel free|support)\b",
    r"\b(?:let me know|happy to help|glad to help|glad to assist|happy to assist|be able to help|i can (?:look|try|help|assist)|is there anything else|anything else i can)\b",
    r"^(?:instead |rather )?(?:it|they|this|these|those|(?:the|my|our|this|these|those|all) (?:\w+ ){0,3}?(?:<source>)|what (?:i|we) (?:found|have))(?: \w+){0,3}? (?:only |seem to |seems to |appear to |appears to |are (?:mostly |mainly |all |only )?|mainly |primarily |mostly |just |instead |do |does |simply )?(?:discuss(?:es)?|mentions?|talks? about|focus(?:es)?|covers?|describes?|deals? with|concerns?|is about|are about|(?:be )?about|(?:be )?(?:related|unrelated|irrelevant)|lists?|outlines?|relates? to|refers? to|addresses|provides? (?:information|details)|contains? (?:information|details)|goes? only|stops? at|include(?:s)? (?:information|details))\b",
    r"^(?:you (?:asked|are asking|'re asking|want)|you're asking|the question|your question|this question|the user|i (?:have |'ve )?(?:checked|searched|looked|reviewed|read|went))\b",
    r"^(?:regarding|as for|about your|based on|according to|after (?:checking|searching|looking|reviewing)) [^,]*$",
    r"^(?:as an ai|as a language model|as an assistant|i(?:'m| am) (?:an?|the|here|only|just|designed|happy|glad|still|limited)|my (?:knowledge|training|role|purpose|job|task|information)|i (?:only|answer|can only|specialis|specializ|was made))\b",
    r"^(?:therefore|thus|hence|so|as a result|for (?:this|that) reason|consequently|without (?:that|this|it|more|further|additional))\b.*\b(?:cannot|can't|unable|not)\b",
    r"^(?:yes|no|ok|okay|well|hmm|right|sure|answer|note|source|sources|_|at the moment|at this time|right now|currently)$",
];
