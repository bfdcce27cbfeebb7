// Requests in a table, and answers side by side with their differences marked.

function requestTable(round, requests) {
  const rows = requests.map((r) => ["#" + r.id, T(r.what), time(r.started), time(r.sent), r.left !== undefined ? "left at " + time(r.left) : time(r.first), r.status || "-", T(r.class) || "-", T(r.over)]);
  const more = round.more ? el("p", { class: "soft" }, `and ${round.more} more requests in the JSON document`) : "";
  const name = T(round.name);
  const readings = (round.readings ?? []).map((r) => [T(r.name), time(r.at), T(r.values)]);
  const arrivals = (round.arrivals ?? []).map((a) => ["@" + a.id, T(a.sink), time(a.at), T(a.what)]);
  const pauses = (round.pauses ?? []).map((p) => [T(p.what), time(p.from), time(p.to), T(p.error) || "went well"]);
  return [
    table("Requests of " + name, ["Id", "Request", "^began", "^last byte sent", "^first byte answered", "^Status", "Read as", "Over"], rows), more,
    readings.length > 0 && [el("h5", {}, "Counts in " + name.toLowerCase()), table("Counts of " + name, ["Reading", "^read at", "Values"], readings)],
    arrivals.length > 0 && [el("h5", {}, "Sent out in " + name.toLowerCase()), table("Sent out in " + name, ["Id", "Sink", "^arrived", "What"], arrivals)],
    pauses.length > 0 && [el("h5", {}, "Waits and hooks in " + name.toLowerCase()), table("Waits and hooks of " + name, ["What", "^began", "^ended", "Result"], pauses)],
  ];
}

// marked is text by lines, of which some differ.
function marked(lines, differing) {
  const marks = new Set(differing ?? []);
  return el("pre", {}, lines.map((line, i) => el("span", marks.has(i) ? { class: "differs" } : {}, line || " ")));
}

function headerLines(names) {
  const out = [];
  for (let i = 0; i < (names ?? []).length; i += 2) out.push(T(names[i]) + ": " + T(names[i + 1]));
  return out;
}

function differences(side, first) {
  if (first === undefined) return "";
  const list = (side.differences ?? []).map((d) => el("li", { class: d.volatile && "soft" }, el("strong", {}, T(d.where)), ": ",
    T(d.here) || "absent", d.there ? ` where #${first.id} has ` + T(d.there) : ` which #${first.id} has not`, d.volatile && " (may differ)"));
  if (side.more) list.push(el("li", {}, `and ${side.more} more`));
  if (list.length === 0) return el("p", {}, `The same as #${first.id}.`);
  return [el("p", {}, `Differs from #${first.id} in:`), el("ul", {}, list)];
}

function sideOf(side, requests, first) {
  const r = requests[side.request];
  const sent = [T(r.line), ...headerLines(r.asked), ...(r.sends ? ["", ...T(r.sends).split("\n")] : [])];
  const title = el("h6", {}, `#${r.id} ${T(r.what)}: ${r.status || "no answer"} `, T(r.class) && el("span", { class: "soft" }, "read as " + T(r.class)));
  const request = el("details", {}, el("summary", {}, "The request"), marked(sent));
  if (!r.status) return el("div", { class: "side" }, title, el("p", {}, T(r.none)), request);
  const status = (side.differences ?? []).some((d) => T(d.where) === "status") ? [0] : [];
  return el("div", { class: r === first || first === undefined ? "side first" : "side" }, title, r === first ? el("p", {}, "The others are compared with this one.") : differences(side, first),
    marked([String(r.status), ...headerLines(r.headers)], [...status, ...(side.headers ?? []).map((i) => i + 1)]),
    r.body ? marked(T(r.body).split("\n"), side.lines) : el("p", { class: "soft" }, "(no body)"),
    r.note && el("p", { class: "soft" }, T(r.note)), request);
}

function sides(group, requests) {
  const first = requests[group.with.find((s) => requests[s.request].status)?.request];
  const alone = group.with.length === 1;
  const name = T(group.name) === "answers" ? "" : ": " + T(group.name);
  return [el("h5", {}, (alone ? "The answer" : "Answers side by side") + name),
    el("div", { class: "sides" }, group.with.map((s) => sideOf(s, requests, alone ? undefined : first)))];
}
