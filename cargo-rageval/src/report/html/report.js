// The list of cases and the page of one case. Every text of the run enters the page through `document.createTextNode`, never as markup, and
// every address is `#case=` and an id, so that nothing in an answer can act.
"use strict";
(() => {
  const PAGE = 100; // Rows of the list at once.
  const WHOLE = 4000; // Characters of a text that are shown without being asked for.
  const HIDDEN =
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

  const byId = (id) => document.getElementById(id);
  const read = (id) => JSON.parse(byId(id).textContent);
  const index = read("index");
  const size = index.ids.length;
  const number = (score) => score.toFixed(3);
  const change = (by) => (Math.abs(by) < 0.0005 ? "0.000" : (by < 0 ? "−" : "+") + number(Math.abs(by)));
  const thousands = (n) => n.toLocaleString("en");
  const count = (n, what) => `${thousands(n)} ${what}${n === 1 ? "" : "s"}`;

  // ---- Elements and text

  /** An element with attributes (`class`, `href`, ...; functions are listeners) and children: elements, texts, lists of both, nothing. */
  function h(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") element.addEventListener(key, value);
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    for (const child of children.flat(Infinity)) {
      if (child !== null && child !== undefined && child !== false) {
        element.append(child instanceof Node ? child : document.createTextNode(String(child)));
      }
    }
    return element;
  }

  /** Appends a text to an element, with what shows nothing or turns round what follows spelled out. */
  function write(element, text) {
    let from = 0;
    for (const found of text.matchAll(HIDDEN)) {
      if (found.index > from) element.append(document.createTextNode(text.slice(from, found.index)));
      const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      element.append(h("span", { class: "ctl" }, "U+" + code));
      from = found.index + found[0].length;
    }
    element.append(document.createTextNode(text.slice(from)));
  }

  /** A text from outside on one or more lines; `lang` helps to choose the font. */
  function user(text, lang) {
    const element = h("bdi", { dir: "auto", lang });
    write(element, text);
    return element;
  }

  /** A long text from outside with marks (`{from, to, class, label}`), cut with a button that shows the whole. */
  function long(text, lang, marks = []) {
    const element = h("div", { class: "text", dir: "auto", lang });
    const fill = (end) => {
      element.replaceChildren();
      let at = 0;
      for (const mark of marks) {
        if (mark.from < at || mark.from >= end) continue;
        write(element, text.slice(at, mark.from));
        const piece = h("mark", { class: mark.class });
        write(piece, text.slice(mark.from, mark.to));
        if (mark.label) piece.append(h("sup", {}, mark.label));
        element.append(piece);
        at = mark.to;
      }
      if (at < end) write(element, text.slice(at, end));
    };
    if (text.length <= WHOLE) {
      fill(text.length);
      return element;
    }
    fill(WHOLE);
    const button = h("button", { type: "button", click: () => { fill(text.length); button.remove(); element.focus(); } },
      `Show all ${thousands(text.length)} characters`);
    element.tabIndex = -1;
    return h("div", {}, element, button);
  }

  const address = (id) => "#case=" + encodeURIComponent(id);
  const state = (word) => h("span", { class: "state " + word.replace(/ /g, "-") }, word);

  // ---- The list

  const positions = new Map(index.ids.map((id, at) => [id, at]));
  const flaky = new Set(index.flaky);
  let haystacks = null;
  let found = [];
  let page = 0;

  const isRed = (at) => index.states[at] === "failed" || index.states[at] === "undecided";

  function options(select, entries) {
    for (const entry of entries) {
      if (entry.group !== undefined) {
        const group = h("optgroup", { label: entry.group });
        options(group, entry.entries);
        select.append(group);
      } else select.append(h("option", { value: entry.value }, entry.text));
    }
  }

  function setUp() {
    const states = new Map();
    for (const word of index.states) states.set(word, (states.get(word) || 0) + 1);
    const red = index.states.filter((_, at) => isRed(at)).length;
    options(byId("state"), [
      { value: "", text: `all (${thousands(size)})` },
      { value: "red", text: `red (${thousands(red)})` },
      ...[...states].map(([word, n]) => ({ value: word, text: `${word} (${thousands(n)})` })),
      { value: "flaky", text: `flaky (${thousands(flaky.size)})` },
    ]);
    options(byId("metric"), [{ value: "", text: "none" }, ...Object.keys(index.scores).map((name) => ({ value: name, text: name }))]);
    options(byId("slice"), [
      { value: "", text: "all" },
      ...Object.entries(index.values).map(([field, values]) => ({
        group: field,
        entries: values.map((value, at) => ({ value: JSON.stringify([field, at]), text: `${field}=${value}` })),
      })),
    ]);
    options(byId("order"), [
      { value: "", text: "red first" },
      { value: "score", text: "lowest score first" },
      { value: "drop", text: "highest score first" },
      { value: "id", text: "by id" },
    ]);
    for (const id of ["state", "slice", "order"]) byId(id).addEventListener("change", filter);
    byId("metric").addEventListener("change", () => {
      byId("order").value = byId("metric").value ? "score" : "";
      filter();
    });
    byId("search").addEventListener("input", filter);
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("previous").addEventListener("click", () => turn(-1));
    byId("next").addEventListener("click", () => turn(1));
    for (const id of ["filters", "list", "pages"]) byId(id).hidden = false;
    filter();
  }

  function filter() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = byId("state").value;
    const metric = byId("metric").value;
    const [field, value] = byId("slice").value ? JSON.parse(byId("slice").value) : [];
    if (words.length && !haystacks) {
      haystacks = index.ids.map((id, at) =>
        [id, index.questions[at], index.answers[at], index.whys[at], index.places[at]].join("\n").toLowerCase());
    }
    found = [];
    for (let at = 0; at < size; at++) {
      if (wanted === "red" ? !isRed(at) : wanted === "flaky" ? !flaky.has(at) : wanted && index.states[at] !== wanted) continue;
      if (field !== undefined && !index.fields[field][at].includes(value)) continue;
      if (metric && index.scores[metric][at] === -3) continue;
      if (words.length && !words.every((word) => haystacks[at].includes(word))) continue;
      found.push(at);
    }
    const order = byId("order").value;
    if (order === "id") found.sort((a, b) => (index.ids[a] < index.ids[b] ? -1 : 1));
    if ((order === "score" || order === "drop") && metric) {
      const scores = index.scores[metric];
      // Unmeasured first, then by score; what does not apply comes last.
      const rank = (at) => (scores[at] === -2 ? -1 : scores[at] < 0 ? 2 : order === "score" ? scores[at] : 1 - scores[at]);
      found.sort((a, b) => rank(a) - rank(b) || a - b);
    }
    page = 0;
    show();
  }

  function score(at, metric) {
    const score = metric ? index.scores[metric][at] : -3;
    return score === -1 ? "n/a" : score === -2 ? "unmeasured" : score === -3 ? "" : number(score);
  }

  function show() {
    const metric = byId("metric").value;
    byId("scored").textContent = metric || "Score";
    byId("list").classList.toggle("without-score", !metric);
    const rows = found.slice(page * PAGE, (page + 1) * PAGE).map((at) =>
      h("tr", {},
        h("td", {}, state(index.states[at]), flaky.has(at) && [" ", h("span", { class: "state flaky" }, "flaky")]),
        h("td", {}, h("a", { href: address(index.ids[at]) }, user(index.ids[at])), h("div", { class: "place" }, user(index.places[at]))),
        h("td", {}, score(at, metric)),
        h("td", {}, h("div", {}, user(index.questions[at])), index.whys[at] && h("div", { class: "why" }, user(index.whys[at])))));
    byId("rows").replaceChildren(...rows);
    byId("found").textContent = found.length === size ? count(size, "case") : `${thousands(found.length)} of ${count(size, "case")}`;
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    byId("page").textContent = `page ${page + 1} of ${thousands(pages)}`;
    byId("previous").disabled = page === 0;
    byId("next").disabled = page + 1 >= pages;
    byId("pages").hidden = pages === 1;
  }

  function turn(by) {
    page += by;
    show();
    byId("cases").scrollIntoView();
  }

  // ---- The page of a case

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
    return table("beside", ["", "Claim", "Evidence"], metric.claims.map((claim, at) =>
      h("tr", { class: isFailing(claim) && "failing" },
        h("td", {}, at + 1),
        h("td", {}, verdict(claim.verdict), h("div", { class: "claim" }, user(claim.text)), claim.reason && h("div", { class: "muted" }, user(claim.reason)),
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
    const rows = shown.metrics.map((metric) => {
      const what = metric.not_applicable !== undefined ? ["does not apply: ", user(metric.not_applicable)]
        : metric.unmeasured ? [h("span", { class: "red" }, "unmeasured: ", user(metric.unmeasured[0])), ": ", user(metric.unmeasured[1])]
        : [metric.k_of_n && `${metric.k_of_n[0]} of ${metric.k_of_n[1]}`, metric.note !== undefined && user(metric.note),
          metric.raw !== undefined && `measured ${metric.raw}`, metric.similarity !== undefined && `similarity ${metric.similarity.toFixed(3)}`,
          metric.first !== undefined && `first reading ${number(metric.first)}`, metric.reduced,
          metric.found && ["found ", metric.found.map(([id, rank], at) => [at > 0 && ", ", user(id), ` (${rank})`])],
          metric.missed && h("span", { class: "red" }, "missed ", metric.missed.map((id, at) => [at > 0 && ", ", user(id)]))]
          .filter(Boolean).map((fact, at) => [at > 0 && "; ", fact]);
      const counts = (metric.claims || []).map((claim) => MARKS[claim.verdict]).join(" ");
      return h("tr", { class: metric.is_red && "failing" },
        h("th", { scope: "row" }, metric.name), h("td", { class: metric.is_red && "red" }, told(metric.score)), h("td", {}, told(metric.before)),
        h("td", {}, metric.score !== undefined && metric.before !== undefined ? change(metric.score - metric.before) : "–"),
        h("td", {}, told(metric.min)), h("td", {}, told(metric.max_drop)),
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
    return section("Repeats", table("numbers left", ["", "Answer", "Scores"], shown.repeats.map((repeat, at) =>
      h("tr", {}, h("td", {}, at + 1, repeat.is_shown && " (above)"),
        h("td", { class: "wide" }, repeat.text !== null ? long(textAt(repeat.text), lang) : [h("span", { class: "red" }, user(repeat.fault.cause)), ": ", user(repeat.fault.why)]),
        h("td", {}, repeat.scores.map(([name, score]) => h("div", {}, name, " ", score === null ? "–" : number(score))))))));
  }

  function casePage(at) {
    const shown = caseAt(at);
    const golden = shown.golden;
    const lang = golden ? golden.language : null;
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
        shown.findings.map(([level, text]) => h("li", { class: level === "red" && "red" }, level === "known" ? "known: " : level === "warned" ? "warns only: " : null, user(text))),
        shown.snapshot && h("li", { class: "red" }, "snapshot: ", user(shown.snapshot[0])),
        golden && golden.known_failure && h("li", {}, "known failure of ", golden.known_failure.metrics.join(", "), ": ", user(golden.known_failure.reason)),
        shown.notices.map((notice) => h("li", { class: "muted" }, user(notice)))),
      shown.snapshot && shown.snapshot[1].length > 0 && h("details", {}, h("summary", {}, "What the snapshot changed"),
        h("pre", { class: "diff", dir: "auto" }, shown.snapshot[1].map((line) => [h("span", { class: line[0] === "+" ? "ins" : line[0] === "-" ? "del" : null }, user(line)), "\n"]))),
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

  // ---- Ways and keys

  let left = null; // Where the report was left for a case.

  function route() {
    const hash = location.hash;
    const isCase = hash.startsWith("#case=");
    if (isCase) {
      if (left === null) left = window.scrollY;
      let id = null;
      try { id = decodeURIComponent(hash.slice("#case=".length)); } catch { /* No id of ours. */ }
      const at = positions.get(id);
      const page = at === undefined
        ? [h("nav", {}, h("a", { href: "#cases" }, "← All cases")), h("p", {}, "This run has no case of this id.")] : casePage(at);
      byId("case").replaceChildren(...page.flat(Infinity).filter(Boolean));
      document.title = at === undefined ? "rageval" : `${id} · rageval`;
    }
    byId("case").hidden = !isCase;
    for (const id of ["report", "top"]) byId(id).hidden = isCase;
    if (isCase) {
      window.scrollTo(0, 0);
      byId("case").focus({ preventScroll: true });
    } else {
      document.title = title;
      const target = hash.length > 1 && byId(hash.slice(1));
      if (left !== null && (!target || hash === "#cases")) {
        window.scrollTo(0, left);
        const last = opened !== null && [...byId("rows").querySelectorAll("a")].find((a) => a.getAttribute("href") === opened);
        if (last) last.focus();
      } else if (target) target.scrollIntoView();
      left = null;
    }
    opened = isCase ? hash : opened;
  }

  const title = document.title;
  let opened = null;

  function move(by) {
    const links = [...byId("rows").querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    const to = at < 0 ? (by > 0 ? 0 : -1) : at + by;
    if (to >= 0 && to < links.length) links[to].focus();
    else if (to < 0) byId("search").focus();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest("input, select, textarea");
    const isCase = !byId("case").hidden;
    const inList = event.target.id === "search" || event.target.closest("#rows");
    if (event.key === "/" && !field) {
      event.preventDefault();
      if (isCase) location.hash = "#cases";
      // Once the list is there again.
      setTimeout(() => { byId("search").focus(); byId("search").select(); }, 0);
    } else if (event.key === "Escape" && isCase) location.hash = "#cases";
    else if (event.key === "Escape" && event.target.id === "search" && byId("search").value) {
      byId("search").value = "";
      filter();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !isCase && inList) {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && isCase && !field) {
      const link = byId("case").querySelector(event.key === "ArrowLeft" ? "a[rel=prev]" : "a[rel=next]");
      if (link) location.hash = link.getAttribute("href");
    } else return;
  });
  window.addEventListener("hashchange", route);
  // On paper nothing can be unfolded.
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((details) => { details.open = true; }));

  setUp();
  route();
})();
