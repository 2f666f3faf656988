#include "katana/app/live_page_files.hpp"

#include "katana/http/handlers/html.hpp"

namespace katana::app {

std::string live_page_html(const std::string& program, const std::string& version) {
  return html(R"(<!doctype html><html lang="en"><head><meta charset="utf-8">)"
              R"(<title>{} — live state</title>)"
              R"(<meta name="viewport" content="width=device-width, initial-scale=1">)"
              R"(<link rel="stylesheet" href="/operations/page.css"></head><body>)"
              R"(<header><h1>{} <small>{}</small></h1>)"
              R"(<p id="status" role="status">Asking the program …</p>)"
              R"(<p><label><input type="checkbox" id="running" checked> Ask every 2 s</label></p>)"
              R"(</header><main id="tables"></main>)"
              R"(<footer><p>Also as JSON: <a href="/operations/state">state</a>, )"
              R"(<a href="/operations/requests">requests</a>, )"
              R"(<a href="/operations/connections">connections</a>, )"
              R"(<a href="/operations/coroutines">coroutines</a>, )"
              R"(<a href="/operations/statements">statements</a>; as text: )"
              R"(<a href="/operations/configuration">configuration</a>, )"
              R"(<a href="/metrics">metrics</a>.</p></footer>)"
              R"(<script src="/operations/page.js"></script></body></html>)",
              program, program, version)
      .markup();
}

const Bytes live_page_js = R"js("use strict";
const tables = document.getElementById("tables");
const status = document.getElementById("status");
const running = document.getElementById("running");

const time = (ms) => ms < 1000 ? ms + " ms" : ms < 120000 ? (ms / 1000).toFixed(1) + " s"
  : ms < 7200000 ? Math.floor(ms / 60000) + " min" : Math.floor(ms / 3600000) + " h";
const bytes = (count) => count < 10240 ? count + " B" : count < 10485760
  ? Math.floor(count / 1024) + " KiB" : Math.floor(count / 1048576) + " MiB";
const yes = (value) => value ? "yes" : "no";

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

// Replaces the tables. Those that were scrolled or have the focus keep that.
function show(state) {
  const frames = () => Array.from(tables.querySelectorAll("section > div"));
  const label = (frame) => frame.getAttribute("aria-label");
  const places = new Map(frames().map((frame) => [label(frame), frame.scrollLeft]));
  const active = frames().find((frame) => frame === document.activeElement);
  tables.replaceChildren(facts(state), ...shown.map(([heading, member, columns]) =>
    table(heading, state[member] ?? [], columns)));
  for (const frame of frames()) {
    frame.scrollLeft = places.get(label(frame)) ?? 0;
    if (active && label(frame) === label(active)) frame.focus({preventScroll: true});
  }
}

let asking = false;

async function ask() {
  if (asking) return;
  asking = true;
  try {
    const reply = await fetch("/operations/state?limit=50");
    if (!reply.ok) throw new Error("status " + reply.status);
    const state = await reply.json();
    show(state);
    status.textContent = "As of " + new Date().toLocaleTimeString();
  } catch (error) {
    status.textContent = "The program did not answer: " + error.message;
  } finally {
    asking = false;
  }
}

ask();
setInterval(() => { if (running.checked && !document.hidden) ask(); }, 2000);
)js";

const Bytes live_page_css = R"css(:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 110rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 1rem 0 0; }
h1 small { font-weight: normal; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .3rem; }
header p { margin: .2rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 1rem 0; }
dd { margin: 0; overflow-wrap: anywhere; }
section > div { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #8886; padding: .15rem .8rem .15rem 0; text-align: left; }
td { vertical-align: top; white-space: nowrap; }
td.long { min-width: 20rem; overflow-wrap: anywhere; white-space: normal; }
)css";

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
