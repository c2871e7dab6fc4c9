// Elements and text, the list of cases, ways and keys; `case.js` makes the page of one case. Every text of the run enters the page through `document.createTextNode`, never as markup, and
// every address is `#case=` and an id, so that nothing in an answer can act.
"use strict";
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

// On paper nothing can be unfolded; afterwards all is folded again as it was.
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const details of unfolded) details.open = true;
});
window.addEventListener("afterprint", () => {
  for (const details of unfolded) details.open = false;
  unfolded = [];
});

/** What is wider than its place is scrolled by keys too, once it has the focus. */
function reach() {
  for (const one of document.querySelectorAll(".scroll, figure details, section > details")) {
    const isWide = one.scrollWidth > one.clientWidth + 1;
    if (!isWide) one.removeAttribute("tabindex");
    else one.tabIndex = 0;
    if (isWide && one.matches(".scroll")) {
      const part = one.closest("section, main").querySelector("h1, h2");
      one.setAttribute("role", "group");
      one.setAttribute("aria-label", "Table, wider than the window: " + (part ? part.textContent : ""));
    }
  }
}
window.addEventListener("resize", reach);
document.addEventListener("toggle", reach, true);
window.addEventListener("hashchange", reach);
setTimeout(reach, 0);
