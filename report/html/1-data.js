"use strict";
// The data of the page and how elements are made of it. Text never becomes markup: it is set as text.

let textsRead;
// T is the text with an index; the empty one for none.
function T(index) {
  textsRead ??= JSON.parse(document.getElementById("texts").textContent);
  return textsRead[index ?? 0];
}

const dataRead = new Map();
// dataOf is what an endpoint's element holds, read when it is asked for.
function dataOf(section) {
  if (!dataRead.has(section)) {
    dataRead.set(section, JSON.parse(section.querySelector('script[type="application/json"]').textContent));
  }
  return dataRead.get(section);
}

const svgSpace = "http://www.w3.org/2000/svg";

function fill(e, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== undefined && value !== false) e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== "" && c !== false));
  return e;
}

// el makes an element of HTML, and svg one of a picture; children are elements or text.
function el(tag, attributes, ...children) { return fill(document.createElement(tag), attributes, children); }
function svg(tag, attributes, ...children) { return fill(document.createElementNS(svgSpace, tag), attributes, children); }

const verdicts = {
  pass: ["✓", "pass"], fail: ["✗", "FAIL"], error: ["E", "ERROR"], warn: ["!", "warn"], inconclusive: ["?", "inconclusive"], skip: ["-", "skip"],
};

function verdict(v, word) {
  const [sign, name] = verdicts[v] ?? ["-", v];
  return el("span", { class: "verdict " + v }, el("span", { "aria-hidden": "true" }, sign + " "), word ?? name);
}

// slug is a name as it stands in a link, as the writer of the page makes it.
function slug(name) { return name.toLowerCase().split(/[^\p{L}\p{Nd}]+/u).filter(Boolean).join("-"); }

// time is a moment or a span of microseconds as people read it.
function time(us) {
  if (us === null || us === undefined) return "never";
  if (Math.abs(us) < 1000) return Math.round(us) + " us";
  if (Math.abs(us) < 1e6) return (us / 1000).toFixed(us < 1e5 ? 2 : 1) + " ms";
  return (us / 1e6).toFixed(2) + " s";
}

// copyable is text to copy, with a button.
function copyable(text) {
  return el("div", { class: "code" }, el("pre", {}, text), el("button", { type: "button", class: "copy" }, "Copy"));
}

function pairs(rows) {
  const shown = rows.filter(([, value]) => value !== "" && value !== undefined && value !== false);
  return shown.length === 0 ? "" : el("dl", { class: "pairs" }, shown.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function table(label, head, rows) {
  return el("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, el("table", { class: "numbers" },
    el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col", class: h.startsWith("^") && "n" }, h.replace("^", ""))))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, i) => i === 0 ? el("th", { scope: "row" }, cell)
      : el("td", { class: head[i].startsWith("^") && "n" }, cell)))))));
}
