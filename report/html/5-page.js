// Opening, links, filters, copying, and printing.

const sections = [...document.querySelectorAll("details.endpoint")];
const form = document.getElementById("filter");

document.addEventListener("toggle", (event) => {
  const box = event.target;
  if (!box.open) return;
  if (box.classList.contains("endpoint")) fillEndpoint(box);
  else if (box.classList.contains("case")) fillCase(box);
  else if (box.id === "grid") fillGrid(box);
}, true);

function filterNow() {
  const chosen = [...form.querySelectorAll("input[name=verdict]:checked")].map((i) => i.value);
  return { verdicts: chosen, rule: form.elements.rule.value, text: form.elements.text.value.trim().toLowerCase() };
}

function textOf(data, k) {
  const parts = [data.name, data.request, k.s, k.t, k.r].map(T);
  for (const f of k.findings ?? []) parts.push(T(f.rule), T(f.title), T(f.message), T(f.expected), T(f.actual));
  return parts.join(" ").toLowerCase();
}

function matches(f, data, k) {
  return (f.verdicts.length === 0 || f.verdicts.includes(k.v)) && (f.rule === "" || (k.findings ?? []).some((x) => T(x.rule) === f.rule)) &&
    (f.text === "" || textOf(data, k).includes(f.text));
}

function idle(f) { return f.verdicts.length === 0 && f.rule === "" && f.text === ""; }

// filterCases hides the cases of an endpoint that do not match.
function filterCases(section) {
  const f = filterNow(), data = idle(f) ? undefined : dataOf(section);
  const shown = data && new Set(data.cases.filter((k) => matches(f, data, k)).map((k) => section.id + "/" + slug(T(k.s))));
  for (const box of section.querySelectorAll("details.case")) box.hidden = shown !== undefined && !shown.has(box.id);
}

function applyFilter() {
  const f = filterNow();
  let endpoints = 0, cases = 0;
  for (const section of sections) {
    let n = 0;
    if (!idle(f)) {
      const data = dataOf(section);
      n = data.cases.filter((k) => matches(f, data, k)).length;
    }
    section.hidden = !idle(f) && n === 0;
    if (!section.hidden) endpoints++;
    cases += n;
    if (section.dataset.filled) filterCases(section);
  }
  document.getElementById("status").textContent = idle(f) ? "" : `Filtered: ${cases} cases on ${endpoints} of ${sections.length} endpoints.`;
}

function filterToHash() {
  const f = filterNow(), q = new URLSearchParams();
  if (f.verdicts.length > 0) q.set("verdict", f.verdicts.join(","));
  if (f.rule) q.set("rule", f.rule);
  if (f.text) q.set("text", f.text);
  history.replaceState(null, "", idle(f) ? "#evidence" : "#?" + q);
}

function filterFromHash(text) {
  const q = new URLSearchParams(text), chosen = (q.get("verdict") ?? "").split(",");
  for (const box of form.querySelectorAll("input[name=verdict]")) box.checked = chosen.includes(box.value);
  form.elements.rule.value = q.get("rule") ?? "";
  form.elements.text.value = q.get("text") ?? "";
  applyFilter();
  document.getElementById("evidence").scrollIntoView();
}

// follow opens what the address names: an endpoint, a case, a diagnosis, or a filter.
function follow() {
  let hash = location.hash.slice(1);
  try { hash = decodeURIComponent(hash); } catch { /* as it is */ }
  if (hash.startsWith("?")) return filterFromHash(location.hash.slice(2));
  const section = document.getElementById(hash.split("/")[0]);
  if (!section?.classList.contains("endpoint")) return;
  section.open = true;
  fillEndpoint(section);
  const target = document.getElementById(hash) ?? section;
  section.hidden = target.hidden = false;
  if (target.classList.contains("case")) {
    target.open = true;
    fillCase(target);
  }
  target.scrollIntoView();
  (target.querySelector("summary") ?? target).focus({ preventScroll: true });
}

async function copy(button) {
  const source = button.parentElement.querySelector("pre");
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

// fillGrid shows every verdict of a large run: a row for each endpoint, a sign for each scenario.
function fillGrid(box) {
  const room = box.querySelector(".scroll");
  if (room.firstChild) return;
  const ids = [...new Set(sections.flatMap((s) => dataOf(s).cases.map((k) => T(k.s))))];
  const rows = sections.map((s) => {
    const data = dataOf(s), at = new Map(data.cases.map((k) => [T(k.s), k.v]));
    return el("tr", {}, el("th", { scope: "row" }, el("a", { href: "#" + s.id }, T(data.name))), ids.map((id) => el("td", {}, at.has(id) && verdict(at.get(id)))));
  });
  room.append(el("table", { class: "grid" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Endpoint"), ids.map((id) => el("th", { scope: "col" }, id)))), el("tbody", {}, rows)));
}

// For print everything that did not pass is opened, and closed again afterwards.
const openedForPrint = [];
function openForPrint(box) {
  if (box.open) return;
  box.open = true;
  openedForPrint.push(box);
}
addEventListener("beforeprint", () => {
  for (const section of sections) {
    if (section.hidden || !dataOf(section).cases.some((k) => !["pass", "skip"].includes(k.v))) continue;
    fillEndpoint(section);
    openForPrint(section);
    for (const box of section.querySelectorAll("details.case")) {
      if (box.hidden || box.querySelector(".verdict.pass, .verdict.skip")?.closest("summary")) continue;
      fillCase(box);
      openForPrint(box);
    }
  }
  document.querySelectorAll("details.all, .side.first > details").forEach(openForPrint);
});
addEventListener("afterprint", () => { while (openedForPrint.length > 0) openedForPrint.pop().open = false; });

document.addEventListener("click", (event) => { if (event.target.closest(".copy")) copy(event.target.closest(".copy")); });
form.addEventListener("input", () => { applyFilter(); filterToHash(); });
form.addEventListener("reset", () => setTimeout(() => { applyFilter(); filterToHash(); }));
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", follow);

form.hidden = false;
document.querySelectorAll(".copy[hidden], #grid").forEach((e) => { e.hidden = false; });
const failing = sections.filter((s) => s.querySelector("summary .verdict.fail"));
const first = failing.length > 0 ? failing : sections;
if (first.length <= 3) first.forEach((s) => { s.open = true; });
follow();
addEventListener("load", () => setTimeout(() => { if (location.hash) follow(); })); // the browser itself takes the focus away before
