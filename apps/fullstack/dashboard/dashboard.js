"use strict";

const kept = 120; // seconds of the chart
const linesKept = 200;
let seen = 0; // the number of the last line that is shown
let life = 0; // of the program that counts them
let paused = false;

const byId = (id) => document.getElementById(id);
const say = (id, text) => {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
};
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const number = (value) => (value < 10 && value % 1 ? short : whole).format(value);

const time = (us) => {
  if (us === null || us === undefined) return "–";
  if (us < 1000) return `${number(us)} µs`;
  if (us < 1e6) return `${short.format(us / 1000)} ms`;
  return `${short.format(us / 1e6)} s`;
};
const bytes = (value) => {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${short.format(value)} ${units[unit]}`;
};
const span = (seconds) => {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${Math.floor(seconds)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
};

const setState = (text, good) => {
  say("state", text);
  byId("state").className = `pill ${good ? "good" : "bad"}`;
};

const drawRates = (rates) => {
  const top = Math.max(1, ...rates);
  const at = (rate, index) => `${index + kept - rates.length},${(31 - 29 * rate / top).toFixed(2)}`;
  const points = rates.map(at);
  const [area, line] = byId("rate-chart").children;
  line.setAttribute("d", `M${points.join("L")}`);
  area.setAttribute("d", `M${kept - rates.length},32L${points.join("L")}L${kept - 1},32Z`);
  say("rate-top", number(Math.max(...rates)));
};

const cell = (tag, text, className) => {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  if (tag === "th") made.scope = "row";
  return made;
};

const showReactors = (reactors) => {
  byId("reactors").replaceChildren(...reactors.map((each, index) => {
    const row = document.createElement("tr");
    const load = cell("td", "", "load");
    const bar = document.createElement("span");
    const filled = document.createElement("span");
    bar.className = "bar";
    bar.ariaHidden = "true";
    filled.style.width = `${Math.min(100, each.load * 100)}%`;
    bar.append(filled);
    load.append(bar, `${Math.round(each.load * 100)} %`);
    row.append(cell("th", String(index)), load, cell("td", number(each.connections), "number"));
    return row;
  }));
};

const showChecks = (checks) => {
  byId("checks").replaceChildren(...checks.map((each) => {
    const row = document.createElement("tr");
    const good = each.status === "pass";
    const state = cell("td", each.detail ? `${each.status}: ${each.detail}` : each.status, good ? "good" : "bad");
    row.append(cell("th", each.name), cell("td", each.kind), state);
    return row;
  }));
};

const showDatabase = (database) => {
  say("db-state", database.state || "ready");
  byId("db-state").className = database.state ? "bad" : "good";
  say("db-reads", number(database.reads_per_s));
  say("db-writes", number(database.writes_per_s));
  say("db-commits", number(database.commits_per_s));
  say("db-writes-waiting", number(database.writes_waiting));
  say("db-reads-waiting", number(database.reads_waiting));
  say("db-readers", `${database.readers_busy} of ${database.readers}`);
};

const showFigures = (figures) => {
  if (paused) return;
  const ill = figures.checks.filter((each) => each.status !== "pass");
  setState(ill.length ? `not healthy: ${ill.map((each) => each.name).join(", ")}` : "healthy", !ill.length);
  say("uptime", span(figures.uptime_s));
  say("rate", number(figures.requests_per_s));
  say("requests", number(figures.requests));
  drawRates(figures.rates);
  for (const name of ["p50", "p90", "p99", "p999"]) {
    say(name, figures.latency ? time(figures.latency[`${name}_us`]) : "–");
  }
  say("latency-note", figures.latency ? "of the last second" : "no request in the last second");
  showReactors(figures.reactors);
  showDatabase(figures.database);
  say("log-rate", number(figures.log.records_per_s));
  say("log-waiting", bytes(figures.log.waiting_bytes));
  say("log-fullest", String(Math.round(100 * figures.log.fullest_ring)));
  say("log-dropped", number(figures.log.dropped));
  say("log-lost", number(figures.log.lost));
  say("cpu", `${short.format(figures.process.processors)} busy`);
  say("memory", bytes(figures.process.resident_bytes));
  say("files", number(figures.process.open_files));
  say("threads", number(figures.process.threads));
  showChecks(figures.checks);
};

const showLines = ({ lines, until, life: present }) => {
  if (paused) return;
  if (present !== life) [life, seen] = [present, 0]; // the program was started anew
  if (until <= seen) return; // told before
  const fresh = Math.min(lines.length, until - seen);
  const passedOver = seen ? until - seen - fresh : 0;
  seen = until;
  const list = byId("lines");
  const following = list.scrollTop < 8; // the newest stand on top
  const items = lines.slice(-fresh).map((line) => cell("li", line));
  if (passedOver) items.unshift(cell("li", `… ${number(passedOver)} more`, "quiet"));
  list.prepend(...items.reverse());
  while (list.children.length > linesKept) list.lastChild.remove();
  if (following) list.scrollTop = 0;
};

byId("pause").addEventListener("click", (event) => {
  paused = !paused;
  event.currentTarget.setAttribute("aria-pressed", String(paused));
  say("pause", paused ? "Go on" : "Pause");
});

const source = new EventSource("dashboard/events");
// What was written before is asked for once the events come, so that no line falls between the two.
let earlier = Promise.resolve();
source.addEventListener("open", () => {
  earlier = fetch("dashboard/lines").then((reply) => reply.json()).then(showLines);
});
source.addEventListener("figures", (event) => showFigures(JSON.parse(event.data)));
source.addEventListener("lines", (event) => earlier.then(() => showLines(JSON.parse(event.data))));
source.addEventListener("error", () => setState("no connection; trying again", false));
