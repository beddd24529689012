// Draws status.json every two seconds. Everything that came with a record is set as text and never as markup.
"use strict";

const EVERY_MS = 2000, LETTERS_EVERY_MS = 10000;
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 480, HEIGHT = 190, LEFT = 8, RIGHT = 8, TOP = 22, BOTTOM = 24;
const at = id => document.getElementById(id);
const count = new Intl.NumberFormat("en").format;
const short = new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 1}).format;
const clock = new Intl.DateTimeFormat("en-GB", {hour: "2-digit", minute: "2-digit", second: "2-digit"});
const known = number => number === null ? "?" : count(number);
const many = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

let lettersShown, lettersReadAt = 0;

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function drawn(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

function duration(seconds) {
  for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (seconds >= 2 * size) return many(Math.floor(seconds / size), unit);
  }
  return seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds)} s`;
}

function list(target, facts) {
  target.replaceChildren(...facts.map(([name, value, className = ""]) =>
    element("div", {className}, element("dt", {textContent: name}), element("dd", {textContent: value}))));
}

// A cell is text, or text and a class, or a node.
function table(target, headings, rows, empty) {
  if (!rows.length) {
    const cell = element("td", {className: "empty", textContent: empty});
    target.replaceChildren(element("tbody", {}, element("tr", {}, cell)));
    return;
  }
  const cell = (name, value) => {
    const [content, className] = Array.isArray(value) ? value : [value, ""];
    return element(name, {className}, content instanceof Node ? content : String(content));
  };
  target.replaceChildren(
    element("thead", {}, element("tr", {}, ...headings.map(each => cell("th", each)))),
    element("tbody", {}, ...rows.map(row => element("tr", {}, ...row.map(each => cell("td", each))))),
  );
}

// Lines over the time of the history; the first one has its area filled.
function chart(svg, history, names) {
  const known = history.filter(point => point[names[0]] !== null);
  svg.replaceChildren();
  if (known.length < 2) {
    svg.append(drawn("text", {x: WIDTH / 2, y: HEIGHT / 2, "text-anchor": "middle"}, "a few seconds more"));
    return;
  }
  const first = known[0].at, last = known[known.length - 1].at;
  const top = Math.max(1, ...known.flatMap(point => names.map(name => point[name])));
  const x = time => LEFT + (time - first) / (last - first) * (WIDTH - LEFT - RIGHT);
  const y = value => HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM);
  for (const value of [0, top / 2, top]) {
    svg.append(drawn("line", {class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value)}));
  }
  names.forEach((name, index) => {
    const places = known.map(point => `${x(point.at).toFixed(1)},${y(point[name]).toFixed(1)}`).join(" ");
    if (!index) {
      const ground = y(0).toFixed(1);
      svg.append(drawn("polygon", {class: "area", points: `${x(first)},${ground} ${places} ${x(last)},${ground}`}));
    }
    svg.append(drawn("polyline", {class: index ? "line second" : "line", points: places}));
  });
  svg.append(
    drawn("text", {x: LEFT, y: y(top) - 7}, short(top)),
    drawn("text", {x: LEFT, y: HEIGHT - 6}, clock.format(first * 1000)),
    drawn("text", {x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end"}, clock.format(last * 1000)),
  );
}

function bar(share) {
  const svg = drawn("svg", {viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true"});
  svg.append(drawn("rect", {x: 0, y: 5, width: Math.max(.5, share * 100), height: 10}));
  return svg;
}

function showHead(status) {
  const healthy = {running: "Running", finishing: "Finishing the last batch"}[status.phase];
  const verdict = status.healthy ? healthy : status.phase === "running" ? "Not healthy" : {
    starting: "Starting", ended: "Ended", failed: "Failed",
  }[status.phase] ?? "Not healthy";
  document.title = `${status.pipeline}: ${verdict}`;
  at("head").className = status.healthy ? "ok" : status.phase === "starting" || status.phase === "ended" ? "" : "error";
  at("pipeline").textContent = status.pipeline;
  at("mode").textContent = status.mode;
  at("verdict").textContent = verdict;
  at("activity").textContent = status.trouble ?? status.activity;
  list(at("facts"), [
    ["lag", status.lag === null ? "not known yet" : many(status.lag, "record")],
    ["records per second", status.batches ? `${count(status.rate)} in the last batch` : "not known yet"],
    ["last batch", status.batches ? `number ${status.last_batch}` : "none yet"],
    ["last progress", `${duration(status.seconds_since_progress)} ago`],
    ["running for", duration(status.now - status.started_at)],
    ["starts with this checkpoint", count(status.starts)],
  ]);
}

function showRecords(records) {
  const causes = Object.entries(records.causes).sort((one, other) => other[1] - one[1]);
  list(at("records"), [
    ["received", count(records.received)],
    ["tags", count(records.tags)],
    ["dead letters", count(records.dead_letters)],
    ["filtered", count(records.filtered)],
    ...(causes.length
      ? [["dead letters by cause", causes.map(([cause, number]) => `${cause} ${count(number)}`).join(" · "), "more"]]
      : []),
  ]);
}

function path(route) {
  const reachable = element("span", {className: "code", textContent: `→ ${route.reachable}`});
  return element("span", {}, element("span", {className: "code", textContent: route.advertised}), " ", reachable);
}

function showTables(status) {
  table(at("routes"), ["cluster", "node", "advertised → reachable", "proved by"], status.routes.map(route => [
    route.cluster, route.node_id, [path(route), "path"],
    route.proved_by.length
      ? [`✓ ${route.proved_by.join(", ")}`, "ok"]
      : [`reached by ${route.not_provable_by.join(", ")}; no right to ask for the id`, "doubtful"],
  ]), "not proved yet");
  const waiting = [...status.partitions].sort((one, other) => (other.lag ?? 0) - (one.lag ?? 0));
  table(at("partitions"), ["partition", ["committed", "number"], ["end", "number"], ["lag", "number"]],
    waiting.map(each => [[`${each.topic}/${each.partition}`, "place"], [count(each.end), "number"],
      [known(each.latest), "number"], [known(each.lag), "number"]]), "no batch is committed yet");
  const steps = Object.entries(status.steps).filter(([name]) => name !== "triggerExecution");
  const longest = Math.max(.001, ...steps.map(([, took]) => took));
  table(at("steps"), ["Spark’s step", "", ["seconds", "number"]],
    steps.sort((one, other) => other[1] - one[1]).map(([name, took]) =>
      [[name, "code"], [bar(took / longest), "bar"], [took.toFixed(3), "number"]]), "no batch is committed yet");
  table(at("maps"), ["JVM", "host", "cluster", "fingerprint of the map", "agent"], status.maps.map(each => [
    each.executor, each.host, each.cluster, [each.fingerprint ? each.fingerprint.slice(0, 12) : "no map", "code"],
    each.agent ?? "none",
  ]), "not proved yet");
  table(at("references"), ["reference", "version", ["as of", "number"], ""], status.references.map(each =>
    [each.name, [each.version, "code"], [`${duration(each.age)} ago`, "number"],
      [each.trouble ?? "", "doubtful"]]), "no batch was joined with one");
}

function letter(each) {
  const size = each.value === null ? "no value" : many(each.size, "byte");
  const shown = each.value === null ? [] : [element("pre", {tabIndex: 0, textContent: each.value})];
  return element("article", {className: "letter"},
    element("p", {}, element("strong", {textContent: each.cause}), ` ${each.message}`),
    element("p", {className: "source"},
      `${each.source} · ${new Date(each.at * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC · key ${each.key ?? "none"} · ${size}`),
    ...shown);
}

async function showLetters(total) {
  if (total === lettersShown || Date.now() - lettersReadAt < LETTERS_EVERY_MS) return;
  lettersReadAt = Date.now();
  const view = await (await fetch("dead-letters.json")).json();
  lettersShown = total;
  const none = element("p", {className: "letter empty", textContent: view.problem
    ? `They cannot be read: ${view.problem}` : "There are none."});
  at("letters").replaceChildren(...(view.letters.length ? view.letters.map(letter) : [none]));
}

function show(status) {
  showHead(status);
  chart(at("lag-chart"), status.history, ["lag"]);
  at("lag-words").textContent = status.lag === null ? "not known yet" : `${many(status.lag, "record")} behind the end of the topics`;
  chart(at("rate-chart"), status.history, ["received_rate", "dead_letter_rate"]);
  at("rate-words").replaceChildren(element("span", {className: "swatch"}), "received",
    element("span", {className: "swatch second"}), "dead letters");
  showRecords(status.records);
  showTables(status);
  at("made").textContent = `brokernat ${status.brokernat}.`;
}

async function refresh() {
  try {
    const status = await (await fetch("status.json")).json();
    show(status);
    if (status.phase !== "starting") await showLetters(status.records.dead_letters);
  } catch {
    at("head").className = "error";
    at("verdict").textContent = "No answer";
    at("activity").textContent = "The run has ended, or cannot be reached from here. What is below is its last state.";
  }
  setTimeout(refresh, EVERY_MS);
}

refresh();
