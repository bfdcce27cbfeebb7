// What an endpoint and a case show when they are opened.

function finding(f, section, data) {
  const counts = (f.counts ?? []).map((c) => [T(c.name), c.before, c.after, c.expected]);
  const cause = f.cause ? data.diagnoses[f.cause - 1] : undefined;
  return el("div", { class: "finding " + (f.fails ? "fail" : "warn") },
    el("h5", {}, verdict(f.fails ? "fail" : "warn", T(f.severity)), " ", T(f.rule)),
    T(f.title) && el("p", {}, el("strong", {}, T(f.title))), el("p", {}, T(f.message)),
    pairs([["expected", T(f.expected)], ["actual", T(f.actual)], ["accepted", T(f.accepted)], ["rounds", T(f.seen)],
      ["diagnosis", cause && el("a", { href: "#" + section.id + "/diagnosis/" + slug(T(cause.id)) }, T(cause.title))], ["why", T(f.why)], ["fix", T(f.fix)]]),
    counts.length > 0 && table("Counts of " + T(f.rule), ["Counter", "^before", "^after", "^expected"], counts),
    f.curl && [el("p", {}, "By hand:"), f.curl.map((line) => copyable(T(line)))]);
}

function roundOf(k, round, columns) {
  const requests = round.requests.map((i) => k.requests[i]);
  return [el("h5", {}, "Timeline of " + T(round.name).toLowerCase()), (round.fired ?? []).map((f) => el("p", { class: "soft" }, T(f))),
    timeline(round, requests, columns), requestTable(round, requests)];
}

function fillCase(box) {
  const made = pending.get(box);
  if (!made) return;
  pending.delete(box);
  const { section, data, k } = made;
  const columns = Math.min(document.documentElement.clientWidth || 1000, 1180) - 90;
  box.append(el("div", { class: "inside" },
    T(k.t) && el("p", {}, T(k.t)),
    pairs([["why", T(k.r)], ["try", T(k.y)], ["counters", k.u && "no counter backed this: effects were judged by creation fields alone"],
      ["would have caught", T(k.p)], ["fired", T(k.f)], ["rounds", k.n && T(k.n) + (k.k ? ", judged on the control's requests" : "")]]),
    k.e && [el("p", {}, T(k.w) + ":"), copyable(T(k.e))],
    (k.findings ?? []).map((f) => finding(f, section, data)),
    (k.rounds ?? []).map((r) => roundOf(k, r, columns)),
    (k.sides ?? []).map((s) => sides(s, k.requests)),
    k.more && el("p", { class: "soft" }, `${k.more} more rounds are in the JSON document.`),
    !k.requests && ["pass", "warn", "fail"].includes(k.v) && el("p", { class: "soft" }, "The requests of this case are in the JSON document."),
    el("p", { class: "soft link" }, el("a", { href: "#" + box.id }, "Link to this case"))));
}

// pending are the cases that are shown, and not yet what they hold.
const pending = new Map();

function caseOf(section, data, k) {
  const box = el("details", { class: "case", id: section.id + "/" + slug(T(k.s)) },
    el("summary", {}, el("h4", {}, verdict(k.v), " ", T(k.s)), " ", el("span", { class: "more" }, [T(k.n), T(k.d)].filter(Boolean).join(", "))));
  pending.set(box, { section, data, k });
  return box;
}

function diagnosis(section, d) {
  return el("div", { class: "diagnosis", id: section.id + "/diagnosis/" + slug(T(d.id)), tabindex: "-1" },
    el("h4", {}, "Diagnosis: " + T(d.title)),
    pairs([["why", T(d.why)], ["fix", T(d.fix)]]), T(d.example) && copyable(T(d.example)),
    el("p", {}, "Symptoms:"), el("ul", {}, d.symptoms.map((s) => el("li", {}, `${T(s.grade)} ${T(s.rule)} in `,
      s.scenarios.map((id, i) => [i > 0 && ", ", el("a", { href: "#" + section.id + "/" + slug(T(id)) }, T(id))])))));
}

function fillEndpoint(section) {
  if (section.dataset.filled) return;
  section.dataset.filled = "yes";
  const data = dataOf(section);
  const rank = Object.fromEntries(["fail", "error", "inconclusive", "warn", "pass", "skip"].map((v, i) => [v, i]));
  const ordered = [...data.cases].sort((a, b) => rank[a.v] - rank[b.v]);
  section.append(el("div", { class: "inside" }, data.learned && el("p", { class: "soft" }, "Learned from plain requests: " + T(data.learned) + "."),
    (data.diagnoses ?? []).map((d) => diagnosis(section, d)), ordered.map((k) => caseOf(section, data, k))));
  filterCases(section);
}
