// The picture of a round: when each request was written, released, answered or cut, where counts were read, and what was waited for.

// scaleOf places moments so that microseconds and seconds can both be seen: a gap takes room by its logarithm. It gives percent.
function scaleOf(moments) {
  const sorted = [...new Set(moments)].sort((a, b) => a - b);
  const at = new Map();
  let sum = 0;
  sorted.forEach((m, i) => {
    if (i > 0) sum += Math.log2(1 + (m - sorted[i - 1]) / 5);
    at.set(m, sum);
  });
  return { sorted, x: (m) => 2 + 93 * (sum === 0 ? 0 : at.get(m) / sum) };
}

function momentsOf(round, requests) {
  const all = requests.flatMap((r) => [r.started, r.sent, r.first, r.done, r.left, r.effect])
    .concat((round.readings ?? []).map((r) => r.at), (round.arrivals ?? []).map((a) => a.at), (round.pauses ?? []).flatMap((p) => [p.from, p.to]));
  return all.filter((m) => m !== null && m !== undefined);
}

// ticksOf are moments far enough apart that their labels do not meet, the first and the last among them.
function ticksOf(scale, room) {
  const last = scale.sorted.at(-1);
  const ticks = [];
  for (const m of scale.sorted) {
    const free = ticks.length === 0 || scale.x(m) - scale.x(ticks.at(-1)) >= room;
    if (free && (m === last || scale.x(last) - scale.x(m) >= room)) ticks.push(m);
  }
  if (ticks.at(-1) !== last) ticks.push(last);
  return ticks;
}

const rowHeight = 34, barTop = 17, barHeight = 9;

function bar(x1, x2, y, kind) {
  return svg("rect", { x: x1 + "%", width: Math.max(0, x2 - x1) + "%", y: y, height: barHeight, class: kind });
}

function diamond(x, y) {
  return svg("svg", { x: x + "%", y: y, overflow: "visible" }, svg("path", { d: "M0 -1 L5.5 4.5 L0 10 L-5.5 4.5 Z", class: "count" }));
}

function triangle(x, y) {
  return svg("svg", { x: x + "%", y: y, overflow: "visible" }, svg("path", { d: "M-5 0 L5 0 L0 9 Z", class: "arrival" }));
}

function cross(x, y) {
  return svg("svg", { x: x + "%", y: y, overflow: "visible" }, svg("path", { d: "M-4.5 0 L4.5 9 M4.5 0 L-4.5 9", class: "cut" }));
}

function requestMarks(r, scale, y) {
  const out = [], top = y + barTop, x = scale.x;
  if (r.started !== null) {
    const sent = r.sent ?? r.done ?? r.started;
    out.push(bar(x(r.started), x(sent), top + 3, "write"));
    out.at(-1).setAttribute("height", 3);
    if (r.sent !== null) {
      const until = r.first ?? r.left ?? r.done ?? r.sent;
      out.push(bar(x(r.sent), x(until), top, "wait"));
      out.push(svg("line", { x1: x(r.sent) + "%", x2: x(r.sent) + "%", y1: top - 3, y2: top + barHeight + 3, class: "release" }));
    }
    if (r.first !== null && r.done !== null) {
      const answer = bar(x(r.first), x(r.done), top, "answer");
      out.push(answer, svg("svg", { x: x(r.first) + "%", y: top, overflow: "visible" }, svg("rect", { x: -1.5, width: 4, height: barHeight, class: "answer" })));
    }
    if (r.left !== undefined) out.push(cross(x(r.left), top));
    else if (!r.status && r.done !== null) out.push(cross(x(r.done), top));
    if (r.effect !== undefined && r.effect !== null) out.push(diamond(x(r.effect), top));
  }
  return out;
}

function outcome(r) {
  return r.status ? r.status + (T(r.class) ? " " + T(r.class) : "") : T(r.none) || "no answer";
}

// rowsOf are the rows of the picture, in the order of time.
function rowsOf(round, requests, scale) {
  const rows = requests.map((r) => ({
    at: r.started ?? -1, label: `#${r.id} ${T(r.what)}: ${outcome(r)}`, soft: r.setup, draw: (y) => requestMarks(r, scale, y),
  }));
  for (const r of round.readings ?? []) {
    if (r.at === null) continue;
    rows.push({ at: r.at, label: `counts ${T(r.name)}: ${T(r.values)}`, draw: (y) => [diamond(scale.x(r.at), y + barTop)] });
  }
  for (const a of round.arrivals ?? []) {
    rows.push({ at: a.at, label: `@${a.id} ${T(a.sink)} got ${T(a.what)}`, draw: (y) => [triangle(scale.x(a.at), y + barTop)] });
  }
  for (const p of round.pauses ?? []) {
    if (p.from === null || p.to === null) continue;
    rows.push({
      at: p.from, label: `${T(p.what)}, ${time(p.to - p.from)}${p.error ? ": " + T(p.error) : ""}`, soft: true, draw: (y) => [bar(scale.x(p.from), scale.x(p.to), y + barTop, "pause")],
    });
  }
  return rows.sort((a, b) => a.at - b.at);
}

function cut(label, most) { return label.length > most ? label.slice(0, most - 1) + "…" : label; }

function legend() {
  const sample = (...marks) => svg("svg", { width: 26, height: 14, "aria-hidden": "true" }, marks);
  const entry = (text, ...marks) => el("li", {}, sample(...marks), text);
  const box = (kind, height, y) => svg("rect", { x: 1, width: 24, y, height, class: kind });
  return el("ul", { class: "legend" },
    entry("writing", box("write", 3, 6)),
    entry("last byte released", svg("line", { x1: 13, x2: 13, y1: 0, y2: 14, class: "release" })),
    entry("waiting for the answer", box("wait", 9, 3)),
    entry("answer arriving", box("answer", 9, 3)),
    entry("cut or broken", svg("path", { d: "M8 2 L17 11 M17 2 L8 11", class: "cut" })),
    entry("counts read or effect seen", svg("path", { d: "M13 1 L18.5 6.5 L13 12 L7.5 6.5 Z", class: "count" })),
    entry("a sink got something", svg("path", { d: "M8 2 L18 2 L13 11 Z", class: "arrival" })),
    entry("waiting or a hook", box("pause", 9, 3)));
}

// timeline draws a round; empty where nothing has a time.
function timeline(round, requests, columns) {
  const scale = scaleOf(momentsOf(round, requests));
  if (scale.sorted.length === 0) return "";
  const rows = rowsOf(round, requests, scale), narrow = columns < 480;
  const height = 20 + rows.length * rowHeight;
  const ticks = ticksOf(scale, narrow ? 24 : 12).map((m) => [
    svg("line", { x1: scale.x(m) + "%", x2: scale.x(m) + "%", y1: 16, y2: height, class: "rule" }),
    svg("text", { x: scale.x(m) + "%", y: 11, class: "tick", "text-anchor": scale.x(m) > 85 ? "end" : scale.x(m) < 8 ? "start" : "middle" }, time(m)),
  ]);
  const drawn = rows.map((row, i) => {
    const y = 20 + i * rowHeight;
    return svg("g", {}, svg("title", {}, row.label), svg("text", { x: 0, y: y + 11, class: row.soft && "soft" }, cut(row.label, Math.floor(columns / 6.6))), row.draw(y));
  });
  const label = `Timeline of ${T(round.name).toLowerCase()}: ${requests.length} requests over ${time(scale.sorted.at(-1) - scale.sorted[0])}; the same times are in the table below`;
  return el("figure", { class: "timeline" },
    svg("svg", { role: "img", "aria-label": label, height }, ticks, drawn),
    el("figcaption", {}, "Not to scale: gaps are drawn by their logarithm, so that microseconds and seconds both show. Times count from the beginning of the round."),
    legend());
}
