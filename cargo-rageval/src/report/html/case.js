// The page of one case, from its data. Stands after `report.js`, in the same script.
const pieces = new Map();
function piece(name, at) {
  const id = `${name}-${at}`;
  if (!pieces.has(id)) pieces.set(id, read(id));
  return pieces.get(id);
}
const caseAt = (at) => piece("cases", Math.floor(at / index.cases_a_piece))[at % index.cases_a_piece];
const textAt = (at) => piece("texts", Math.floor(at / index.texts_a_piece))[at % index.texts_a_piece];
const isFailing = (claim) => claim.verdict === "unsupported" || claim.verdict === "contradicted";
const MARKS = { supported: "✓", inferred: "~", unsupported: "?", contradicted: "✗" };
/** A metric's name, which breaks after `_` and before `@` alone. */
const metricName = (name) => name.split(/(?<=_)|(?=@)/).map((part, at) => [at > 0 && h("wbr", {}), part]);
const verdictOf = (claim) => h("span", { class: "verdict " + claim.verdict }, MARKS[claim.verdict], " ", claim.said ?? claim.verdict);
const verdict = (word) => h("span", { class: "verdict " + word }, MARKS[word], " ", word);

function table(className, heads, rows) {
  return h("div", { class: "scroll" }, h("table", { class: className },
    heads && h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, rows)));
}

function section(title, ...children) {
  return h("section", {}, h("h2", {}, title), children);
}

function evidence(claim) {
  const beside = claim.evidence;
  if (!beside) return isFailing(claim) ? h("span", { class: "muted" }, "none named") : null;
  const where = beside.rank === undefined ? beside.id && user(beside.id)
    : ["none named; nearest by words (", Math.round(beside.share * 100), " %), rank ", beside.rank, beside.id && [", ", user(beside.id)]];
  return [where && h("div", { class: "muted" }, where), h("div", {}, user(beside.text))];
}

function claims(metric) {
  return table("beside", ["No.", "Claim", "Evidence"], metric.claims.map((claim, at) =>
    h("tr", { class: isFailing(claim) && "failing" },
      h("td", {}, at + 1),
      h("td", {}, verdictOf(claim), h("div", { class: "claim" }, user(claim.text)), claim.reason && h("div", { class: "muted" }, user(claim.reason)),
        claim.at && !claim.at[2] && h("div", { class: "muted" }, "in other words than the answer; the nearest sentence is marked")),
      h("td", {}, evidence(claim)))));
}

/** Where the failing claims of a metric stand in the answer, in its order and without overlap. */
function marksOf(metric) {
  const marks = metric.claims.flatMap((claim, at) =>
    isFailing(claim) && claim.at ? [{ from: claim.at[0], to: claim.at[1], class: claim.verdict, label: String(at + 1) }] : []);
  return marks.sort((a, b) => a.from - b.from);
}

/** Where the evidence of a metric stands in a text. */
function evidenceIn(text, metric) {
  const marks = [];
  for (const [at, claim] of (metric ? metric.claims : []).entries()) {
    const sentence = claim.evidence && claim.evidence.text;
    const from = sentence ? text.indexOf(sentence) : -1;
    if (from >= 0) marks.push({ from, to: from + sentence.length, class: "evidence", label: String(at + 1) });
  }
  return marks.sort((a, b) => a.from - b.from);
}

function answerPart(shown, lang) {
  const answer = shown.answer;
  const judged = shown.metrics.filter((metric) => metric.claims);
  const chosen = judged.find((metric) => metric.is_red) || judged.find((metric) => metric.claims.some((claim) => isFailing(claim) && claim.at)) || judged[0];
  const facts = [answer.is_refusal ? "declined" : "answered", answer.latency_ms !== null && `${answer.latency_ms.toFixed(1)} ms`,
    answer.tokens !== null && count(answer.tokens, "token"), answer.cost_usd !== null && `${answer.cost_usd} USD`, answer.generator && user(answer.generator)];
  const text = h("div", {});
  const beside = h("div", {});
  const contexts = h("div", {});
  const fill = (metric) => {
    text.replaceChildren(answer.text.trim() ? long(answer.text, lang, metric ? marksOf(metric) : []) : h("p", { class: "muted" }, "blank"));
    beside.replaceChildren(...(metric ? [claims(metric)] : []));
    contexts.replaceChildren(contextsPart(shown, lang, metric));
  };
  const select = judged.length > 1 && h("select", { "aria-label": "Claims of which metric", change: (event) => fill(judged[event.target.value]) },
    judged.map((metric, at) => h("option", { value: at, selected: metric === chosen }, metric.name)));
  fill(chosen);
  return [
    section(["Answer ", h("span", { class: "facts" }, facts.filter(Boolean).map((fact, at) => [at > 0 && " · ", fact]))], text),
    chosen && section(["Claims of ", select || chosen.name], beside),
    contexts,
  ];
}

function contextsPart(shown, lang, metric) {
  const golden = shown.golden;
  const all = shown.answer.contexts;
  const retrieved = new Set(all.map((context) => context.id));
  const missed = ((golden && golden.relevant) || []).filter(([id, grade]) => grade > 0 && !retrieved.has(id));
  const list = all.map((context, at) => {
    const text = textAt(context.text);
    const isRelevant = context.grade !== null && context.grade > 0;
    return h("li", { class: isRelevant && "relevant" },
      h("div", { class: "rank" }, `${at + 1}. `, context.id === null ? "without an id" : h("strong", {}, user(context.id)), " ",
        isRelevant && h("span", { class: "state passed" }, context.grade === 1 ? "relevant" : `relevant, grade ${context.grade}`), " ",
        h("span", { class: "muted" }, [
          !isRelevant && golden && golden.relevant && "not relevant",
          context.is_repeated && "again",
          context.score !== null && `score ${context.score.toPrecision(4)}`,
        ].filter(Boolean).join(", "))),
      text.trim() ? long(text, lang, evidenceIn(text, metric)) : h("p", { class: "muted" }, "blank"));
  });
  return section(["Retrieved ", h("span", { class: "n" }, all.length)],
    missed.length > 0 && h("p", { class: "red" }, "Relevant and not retrieved: ", missed.map(([id], at) => [at > 0 && ", ", user(id)])),
    all.length ? h("ol", { class: "contexts" }, list) : h("p", { class: "muted" }, "Nothing was retrieved."));
}

function metricsPart(shown) {
  const told = (value) => (value === undefined ? "–" : number(value));
  // Whether a note tells the measured number already.
  const tells = (note, raw) => note !== undefined && (note.match(/\d+(\.\d+)?/g) || []).some((one) => Number(one) === raw);
  const rows = shown.metrics.map((metric) => {
    const cell = (label, attributes, ...children) => h("td", { "data-label": label, ...attributes }, children);
    const what = metric.not_applicable !== undefined ? ["does not apply: ", user(metric.not_applicable)]
      : metric.unmeasured ? [h("span", { class: "red" }, "unmeasured: ", user(metric.unmeasured[0])), ": ", user(metric.unmeasured[1])]
      : [metric.k_of_n && `${metric.k_of_n[0]} of ${metric.k_of_n[1]}`, metric.note !== undefined && user(metric.note),
        metric.raw !== undefined && !tells(metric.note, metric.raw) && `measured ${metric.raw}`, metric.similarity !== undefined && `similarity ${metric.similarity.toFixed(3)}`,
        metric.first !== undefined && `first reading ${number(metric.first)}`, metric.reduced,
        metric.found && ["found ", metric.found.map(([id, rank], at) => [at > 0 && ", ", user(id), ` (${rank})`])],
        metric.missed && h("span", { class: "red" }, "missed ", metric.missed.map((id, at) => [at > 0 && ", ", user(id)]))]
        .filter(Boolean).map((fact, at) => [at > 0 && "; ", fact]);
    const counts = (metric.claims || []).map((claim) => MARKS[claim.verdict]).join(" ");
    return h("tr", { class: metric.is_red && "failing" },
      h("th", { scope: "row" }, metricName(metric.name)), cell("Score", { class: metric.is_red && "red" }, told(metric.score)), cell("Baseline", {}, told(metric.before)),
      cell("Change", {}, metric.score !== undefined && metric.before !== undefined ? change(metric.score - metric.before) : "–"),
      cell("min", {}, told(metric.min)), cell("max_drop", {}, told(metric.max_drop)),
      h("td", { class: "wide" }, what, counts && h("div", { class: "muted" }, "claims ", counts),
        metric.readings && h("details", {}, h("summary", {}, count(metric.readings.length, "line") + " on further readings"),
          metric.readings.map((line) => h("div", {}, user(line))))));
  });
  return section("Metrics", table("numbers verdicts", ["Metric", "Score", "Baseline", "Change", "min", "max_drop", "What it is made of"], rows));
}

function beforePart(shown, lang) {
  const before = shown.before;
  if (!before) return section("Against the baseline", h("p", { class: "muted" }, "The baseline has no such case."));
  const answer = before.answer;
  const text = answer.is === "same" ? h("p", { class: "muted" }, "The answer is the same, word for word.")
    : answer.is === "apart" ? h("div", { class: "pair" }, [["Before", answer.before], ["Now", answer.now]].map(([when, words]) =>
      h("div", {}, h("h3", {}, when), words.trim() ? long(words, lang) : h("p", { class: "muted" }, shown.answer || when === "Before" ? "blank" : "there is no answer"))))
    : answer.is === "long" ? [h("p", { class: "muted" }, "Too long to compare word by word. The baseline's answer:"), long(answer.before, lang)]
    : h("div", { class: "text", dir: "auto", lang }, answer.pieces.map(([mark, words]) => {
        const element = h(mark < 0 ? "del" : mark > 0 ? "ins" : "span", {});
        write(element, words);
        return element;
      }));
  const now = shown.answer ? shown.answer.contexts.map((context) => context.id) : [];
  const isSame = now.length === before.retrieved.length && now.every((id, at) => id === before.retrieved[at]);
  return section("Against the baseline",
    !before.is_paired && h("p", {}, "The question or the right answer changed since: scores are not compared."), text,
    h("p", { class: "muted" }, isSame ? "The same documents in the same order."
      : ["Retrieved then: ", before.retrieved.length ? before.retrieved.map((id, at) => [at > 0 && ", ", id === null ? "without an id" : user(id)]) : "nothing"]));
}

function repeatsPart(shown, lang) {
  if (!shown.repeats) return null;
  return section("Repeats", table("numbers left", ["No.", "Answer", "Scores"], shown.repeats.map((repeat, at) =>
    h("tr", {}, h("td", {}, at + 1, repeat.is_shown && " (above)"),
      h("td", { class: "wide" }, repeat.text !== null ? long(textAt(repeat.text), lang) : [h("span", { class: "red" }, user(repeat.fault.cause)), ": ", user(repeat.fault.why)],
        (repeat.failing || []).map(([name, failing]) => h("details", {}, h("summary", {}, count(failing.length, "claim"), " failed in ", name), claims({ claims: failing })))),
      h("td", {}, repeat.scores.map(([name, score]) => h("div", {}, name, " ", score === null ? "–" : number(score))))))));
}

function casePage(at) {
  const shown = caseAt(at);
  const golden = shown.golden;
  const lang = golden ? golden.language : null;
  const failure = golden && golden.known_failure;
  // One line says that it is known, how it fails and why.
  const known = failure ? shown.findings.filter(([level]) => level === "known") : [];
  const told = shown.findings.filter((finding) => !known.includes(finding));
  const place = found.indexOf(at);
  const step = (by, text) => {
    const to = place < 0 ? undefined : found[place + by];
    return to !== undefined && h("a", { href: address(index.ids[to]), rel: by < 0 ? "prev" : "next" }, text);
  };
  const fields = golden ? Object.entries(golden.fields).flatMap(([field, values]) => values.map((value) => [h("span", { class: "field" }, user(`${field}=${value}`)), " "])) : [];
  return [
    h("nav", { "aria-label": "Cases" }, h("a", { href: "#cases" }, "← All cases"), step(-1, "previous"), step(1, "next"), place >= 0 && h("span", { class: "muted" }, `${thousands(place + 1)} of ${thousands(found.length)}`)),
    h("h1", {}, state(shown.state), " ", user(shown.id)),
    h("p", { class: "muted" }, golden && user(golden.place), " ", fields),
    h("ul", { class: "findings" },
      shown.fault && h("li", { class: "red" }, user(shown.fault.cause), ": ", user(shown.fault.why)),
      told.map(([level, text]) => h("li", { class: level === "red" && "red" }, level === "known" ? "known: " : level === "warned" ? "warns only: " : null, user(text))),
      shown.snapshot && h("li", { class: "red" }, "snapshot: ", user(shown.snapshot[0])),
      failure && h("li", {}, known.length ? ["known failure: ", known.map(([, text], at) => [at > 0 && "; ", user(text)])] : ["known failure of ", failure.metrics.join(", ")],
        ": ", user(failure.reason)),
      shown.notices.filter((notice) => !(failure && known.length && notice.startsWith("known failure: "))).map((notice) => h("li", { class: "muted" }, user(notice)))),
    shown.snapshot && shown.snapshot[1].length > 0 && h("details", {}, h("summary", {}, "What the snapshot changed"),
      h("pre", { class: "diff", dir: "auto" }, shown.snapshot[1].map(([tone, line]) => [h("span", { class: tone }, user(line)), "\n"]))),
    shown.alone !== undefined && h("p", { class: "alone" }, h("span", { class: "muted" }, "Run it alone: "), h("code", { dir: "ltr" }, user(shown.alone))),
    golden && h("div", { class: "pair" }, section("Question", long(golden.query, lang)), section("Expected", golden.should_refuse && h("p", {}, "To decline."),
      golden.references.map((reference) => long(reference, lang)),
      !golden.should_refuse && !golden.references.length && h("p", { class: "muted" }, "The case names no right answer."))),
    shown.answer ? answerPart(shown, lang) : section("Answer", h("p", { class: "muted" }, shown.fault ? "There is none." : "The run did not come to this case.")),
    shown.metrics.length > 0 && metricsPart(shown),
    beforePart(shown, lang),
    repeatsPart(shown, lang),
  ];
}

setUp();
route();
