#include "katana/app/live_page_files.hpp"

namespace katana::app {

const Bytes live_page_html = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Operations</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/operations/page.css">
</head>
<body>
<header>
<h1 id="title">Operations</h1>
<p id="status" role="status">Asking the program …</p>
<p id="controls"><label><input type="checkbox" id="running" checked> Ask every 2 s</label></p>
</header>
<main>
<form id="login" hidden>
<h2>Token</h2>
<p>This program shows its state to those who have <code>operations.token</code>. The page keeps the
token in memory until it is closed.</p>
<p><label for="token">Token</label>
<input id="token" type="password" autocomplete="off" required>
<button type="submit">Show the state</button></p>
</form>
<section id="charts" aria-label="The last 15 minutes" hidden>
<h2>The last 15 minutes</h2>
<p><label for="route">Route of the durations</label>
<select id="route"><option value="">all routes</option></select></p>
<div id="drawn"></div>
</section>
<div id="tables"></div>
</main>
<footer>
<p>Also as JSON: <a href="/operations/state">state</a>,
<a href="/operations/requests">requests</a>, <a href="/operations/connections">connections</a>,
<a href="/operations/coroutines">coroutines</a>, <a href="/operations/statements">statements</a>,
<a href="/operations/history">history</a>, <a href="/operations/log">log</a>; as text:
<a href="/operations/configuration">configuration</a>, <a href="/metrics">metrics</a>.</p>
</footer>
<script src="/operations/charts.js"></script>
<script src="/operations/page.js"></script>
</body>
</html>
)html";

const Bytes live_page_js = R"js("use strict";
const tables = document.getElementById("tables");
const status = document.getElementById("status");
const running = document.getElementById("running");
const login = document.getElementById("login");
const charts = document.getElementById("charts");
const drawing = document.getElementById("drawn");
const route = document.getElementById("route");
let token = "";  // kept here only

const time = (ms) => ms < 1000 ? ms + " ms" : ms < 120000 ? (ms / 1000).toFixed(1) + " s"
  : ms < 7200000 ? Math.floor(ms / 60000) + " min" : Math.floor(ms / 3600000) + " h";
const bytes = (count) => count < 10240 ? count + " B" : count < 10485760
  ? Math.floor(count / 1024) + " KiB" : Math.floor(count / 1048576) + " MiB";
const yes = (value) => value ? "yes" : "no";

const moment = (ms) => new Date(ms).toLocaleTimeString();

// Heading, list in the state, and columns: title, member, and how it is shown.
const shown = [
  ["Requests in flight, oldest first", "requests", [["Age", "age_ms", time],
    ["Method", "method"], ["Route", "route"], ["State", "state"], ["Client", "client"],
    ["Request id", "request_id"], ["Trace", "trace_id"], ["Reactor", "reactor"]]],
  ["Statements, oldest first", "statements", [["Age", "age_ms", time],
    ["Statement", "statement"], ["State", "state"], ["Request id", "request_id"],
    ["Reactor", "reactor"]]],
  ["Reactors", "reactors", [["Reactor", "number"], ["Answers", "answered", yes],
    ["Listed", "unlisted", (unlisted) => yes(!unlisted)],
    ["Busy for", "busy_ms", time], ["Busy with", "busy_with"], ["Requests", "requests_in_flight"],
    ["Connections", "connections"], ["Tasks", "tasks"], ["CPU time", "cpu_ms", time]]],
  ["Pools", "pools", [["Pool", "name"], ["Threads", "threads"], ["Asleep", "threads_parked"],
    ["Queued", "queued"], ["Wait, 99 %", "wait_p99_ms", time], ["Ran", "ran"],
    ["Failed", "failed"], ["Refused", "refused"]]],
  ["Jobs", "jobs", [["Job", "name"], ["Runs now", "running", yes], ["Overdue", "overdue", yes],
    ["Runs", "runs"], ["Failures", "failures"], ["Took last", "last_duration_ms", time],
    ["Last success", "last_success"], ["Last failure", "last_failure"]]],
  ["Queues", "queues", [["Queue", "queue"], ["Ready", "ready"], ["Delayed", "delayed"],
    ["Running", "running"], ["Dead", "dead"], ["Waited", "waited_ms", time]]],
  ["Caches", "caches", [["Cache", "name"], ["Entries", "entries"], ["Memory", "bytes", bytes],
    ["Hits", "hits"], ["Misses", "misses"], ["Evictions", "evictions"],
    ["Loads now", "loads_running"]]],
  ["Memory, largest first", "memory", [["Holder", "holder"], ["Used", "used_bytes", bytes],
    ["Limit", "limit_bytes", (limit) => limit === 0 ? "" : bytes(limit)]]],
];

function cell(kind, text) {
  const made = document.createElement(kind);
  made.textContent = text;
  if (kind === "th") made.scope = "col";
  if (kind === "td" && text.length > 60) made.className = "long";
  return made;
}

function table(heading, rows, columns) {
  const section = document.createElement("section");
  section.append(cell("h2", heading));
  if (rows.length === 0) {
    section.append(cell("p", "None."));
    return section;
  }
  const made = document.createElement("table");
  const head = made.createTHead().insertRow();
  for (const [title] of columns) head.append(cell("th", title));
  const body = made.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [, member, show] of columns) {
      const value = row[member] ?? "";
      line.append(cell("td", show ? show(value) : String(value)));
    }
  }
  const frame = document.createElement("div");
  frame.tabIndex = 0;
  frame.setAttribute("role", "region");
  frame.setAttribute("aria-label", heading);
  frame.append(made);
  section.append(frame);
  return section;
}

function facts(state) {
  const list = [["Process", state.pid], ["Runs for", time(state.uptime_ms)],
    ["Draining", yes(state.draining)], ["Requests in flight", state.requests_in_flight],
    ["Connections", state.connections_open], ["Statements", state.statements_running]];
  if (state.database) {
    const of = state.database;
    list.push(["Database", of.system + (of.usable ? "" : ": " + of.problem) + ", "
      + of.connections_busy + " of " + of.connections + " connections busy, "
      + (of.reads_waiting + of.writes_waiting) + " calls wait"]);
  }
  if (state.bus) {
    list.push(["Bus", state.bus.state + ", " + state.bus.subscriptions + " subscriptions, "
      + state.bus.waiting + " messages wait"]);
  }
  if (state.insecure.length > 0) list.push(["Insecure settings", state.insecure.join("; ")]);
  const made = document.createElement("dl");
  for (const [name, value] of list) made.append(cell("dt", name), cell("dd", value));
  return made;
}

const slowest = ["Slowest requests of the last 15 minutes", [["Duration", "duration_ms", time],
  ["At", "at_ms", moment], ["Method", "method"], ["Route", "route"],
  ["Status", "status", (status) => status === 0 ? "none" : String(status)],
  ["Request id", "request_id"], ["Trace", "trace_id"]]];
let past = null;  // of /operations/history
let records = [];

function log() {
  const section = document.createElement("section");
  section.append(cell("h2", "Log, the last records"));
  const frame = document.createElement("div");
  frame.tabIndex = 0;
  frame.className = "log";
  frame.setAttribute("role", "region");
  frame.setAttribute("aria-label", "Log, the last records");
  if (records.length === 0) frame.append(cell("p", "None."));
  for (const record of records.slice().reverse()) frame.append(cell("p", record));
  section.append(frame);
  return section;
}

// Replaces the tables. Those that were scrolled or have the focus keep that.
function show(state) {
  const frames = () => Array.from(tables.querySelectorAll("section > div"));
  const label = (frame) => frame.getAttribute("aria-label");
  const places = new Map(frames().map((frame) =>
    [label(frame), [frame.scrollLeft, frame.scrollTop]]));
  const active = frames().find((frame) => frame === document.activeElement);
  document.title = state.program + " " + state.version + " — operations";
  const name = document.getElementById("title");
  name.textContent = state.program + " ";
  name.append(cell("small", state.version));
  tables.replaceChildren(facts(state), ...shown.map(([heading, member, columns]) =>
    table(heading, state[member] ?? [], columns)));
  tables.append(table(slowest[0], past ? past.slowest : [], slowest[1]), log());
  for (const frame of frames()) {
    [frame.scrollLeft, frame.scrollTop] = places.get(label(frame)) ?? [0, 0];
    if (active && label(frame) === label(active)) frame.focus({preventScroll: true});
  }
}

function draw() {
  if (!past) return;
  const names = past.routes.map((each) => each.route);
  if (names.join() !== Array.from(route.options).slice(1).map((each) => each.value).join()) {
    const chosen = route.value;
    while (route.options.length > 1) route.remove(1);
    for (const each of names) route.add(new Option(each, each));
    route.value = names.includes(chosen) ? chosen : "";
  }
  charts.hidden = false;
  if (past.columns.length === 0) {
    drawing.replaceChildren(cell("p", "The first figures come after " + 2 * past.interval_s
      + " s."));
  } else {
    drawing.replaceChildren(...drawn(past, route.value));
  }
}

function headers() {
  return token ? {Authorization: "Bearer " + token} : {};
}

async function get(path) {
  const reply = await fetch(path, {headers: headers()});
  if (reply.status === 401) {
    login.hidden = false;
    charts.hidden = true;
    tables.replaceChildren();
    throw new Error(token ? "the token is wrong" : "it asks for its token");
  }
  if (!reply.ok) throw new Error("status " + reply.status);
  login.hidden = true;
  return reply;
}

const json = async (path) => (await get(path)).json();

let asking = false;
let asked = 0;  // when the past was

async function ask() {
  if (asking) return;
  asking = true;
  try {
    const state = await json("/operations/state?limit=50");
    records = (await json("/operations/log")).records;
    // A program whose pool is full has a state, and no history.
    let missing = "";
    if (Date.now() - asked > 9000) {
      try {
        past = await json("/operations/history");
        asked = Date.now();
        draw();
      } catch (error) {
        missing = "; no history: " + error.message;
      }
    }
    show(state);
    status.textContent = "As of " + new Date().toLocaleTimeString() + missing;
  } catch (error) {
    status.textContent = "No answer: " + error.message;
  } finally {
    asking = false;
  }
}

login.addEventListener("submit", (event) => {
  event.preventDefault();
  const field = document.getElementById("token");
  token = field.value.trim();
  field.value = "";
  ask();
});
route.addEventListener("change", draw);
// A link has no header with the token: the page fetches the file itself.
document.querySelector("footer").addEventListener("click", async (event) => {
  const link = event.target.closest("a");
  if (!link || !token) return;
  event.preventDefault();
  try {
    const content = await (await get(link.getAttribute("href"))).blob();
    const made = document.createElement("a");
    made.href = URL.createObjectURL(content);
    made.download = link.textContent + (content.type.includes("json") ? ".json" : ".txt");
    made.click();
    setTimeout(() => URL.revokeObjectURL(made.href), 10000);
  } catch (error) {
    status.textContent = "No answer: " + error.message;
  }
});
ask();
setInterval(() => {
  if (running.checked && !document.hidden && login.hidden) ask();
}, 2000);
)js";

const Bytes live_page_css = R"css(:root {
  color-scheme: light dark;
  --text: #16181d; --faint: #565b66; --page: #ffffff; --line: #d5d8de; --focus: #0b57d0;
  --heat1: #f9d8a4; --heat2: #f5a95b; --heat3: #e8743b; --heat4: #c0392b; --heat5: #7b1e3a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6e8ec; --faint: #a4abb8; --page: #14161a; --line: #3a3f49; --focus: #8ab4f8;
    --heat1: #4a2734; --heat2: #7d2f3d; --heat3: #c0452f; --heat4: #ee8a45; --heat5: #fbe0a8;
  }
}
body { background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif;
  margin: 0 auto; max-width: 180rem; padding: 0 1rem; }
a { color: var(--focus); }
h1 { font-size: 1.4rem; margin: 1rem 0 0; }
h1 small { font-weight: normal; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .3rem; }
header p { margin: .2rem 0; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
[hidden] { display: none !important; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 1rem 0; }
dd { margin: 0; overflow-wrap: anywhere; }
input, select, button { font: inherit; max-width: 100%; }
section > div { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .15rem .8rem .15rem 0; text-align: left; }
td { vertical-align: top; white-space: nowrap; }
td.long { min-width: 20rem; overflow-wrap: anywhere; white-space: normal; }
.log { max-height: 20rem; overflow: auto; font: 13px/1.5 ui-monospace, monospace; }
.log p { margin: 0; overflow-wrap: anywhere; }
#drawn { display: grid; gap: 1rem 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); }
figure { margin: 0; }
figcaption { color: var(--faint); font-size: .9rem; }
svg { display: block; width: 100%; }
.scale { fill: var(--faint); font-size: 11px; }
.grid { stroke: var(--line); }
.line { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; }
.legend { color: var(--faint); display: flex; flex-wrap: wrap; font-size: .85rem; gap: .2rem 1rem;
  list-style: none; margin: .2rem 0 0; padding: 0; }
.key { background: currentColor; display: inline-block; height: .7em; margin-right: .4em;
  width: .7em; }
.status0 { fill: #8a8f99; color: #8a8f99; }
.status1 { fill: #7e57c2; color: #7e57c2; }
.status2 { fill: #2e7d5b; color: #2e7d5b; }
.status3 { fill: #4285c4; color: #4285c4; }
.status4 { fill: #d39a1f; color: #d39a1f; }
.status5 { fill: #d1403b; color: #d1403b; }
.heat1 { fill: var(--heat1); color: var(--heat1); }
.heat2 { fill: var(--heat2); color: var(--heat2); }
.heat3 { fill: var(--heat3); color: var(--heat3); }
.heat4 { fill: var(--heat4); color: var(--heat4); }
.heat5 { fill: var(--heat5); color: var(--heat5); }
.series0 { stroke: #2f78c4; color: #2f78c4; }
.series1 { stroke: #d1703b; color: #d1703b; }
.series2 { stroke: #2e9d6b; color: #2e9d6b; }
.series3 { stroke: #a05cc4; color: #a05cc4; }
.series4 { stroke: #b8892b; color: #b8892b; }
.series5 { stroke: #c44f7f; color: #c44f7f; }
)css";

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
