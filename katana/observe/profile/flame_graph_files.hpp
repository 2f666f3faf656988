// The style and the script of the page of flame_graph.hpp.
//
// Thread     any: constants.
#pragma once

namespace katana::profile {

// In a <style> element.
inline constexpr char flame_graph_style[] = R"(
:root { color-scheme: light dark; --back: #fff; --text: #1b1b1b; --quiet: #595959; }
@media (prefers-color-scheme: dark) {
  :root { --back: #161616; --text: #eee; --quiet: #b5b5b5; }
}
body {
  margin: 1rem; background: var(--back); color: var(--text);
  font: 14px/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.3rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .3rem; }
p { margin: .3rem 0; }
.facts, .help { color: var(--quiet); }
label { margin-right: .5rem; }
input, button { font: inherit; }
#status { min-height: 1.5em; overflow-wrap: anywhere; }
#chart { display: block; width: 100%; font: 11px ui-monospace, monospace; }
.f { cursor: pointer; outline: none; }
.f rect { stroke: var(--back); stroke-width: 1; }
.f text { fill: #1b1b1b; pointer-events: none; }
.f:focus rect { stroke: #0b57d0; stroke-width: 4; }
.c0 rect { fill: #ffd166; } .c1 rect { fill: #ffb870; } .c2 rect { fill: #ff9f80; }
.c3 rect { fill: #f7c59f; } .c4 rect { fill: #ffe08a; } .c5 rect { fill: #f9ae8e; }
.r rect { fill: #b9d6f2; }
.m rect { fill: #d59bff; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .15rem .8rem .15rem 0; text-align: right; font-variant-numeric: tabular-nums; }
th:last-child, td:last-child { text-align: left; overflow-wrap: anywhere; }
)";

// In a <script> element at the end of the page.
inline constexpr char flame_graph_script[] = R"(
"use strict";
const chart = document.getElementById("chart");
const told = document.getElementById("status");
const boxes = Array.from(chart.querySelectorAll(".f")).map(element => ({
  element, x: Number(element.dataset.x), w: Number(element.dataset.w),
  depth: Number(element.dataset.d), text: element.getAttribute("aria-label"), shown: true }));
const byElement = new Map(boxes.map(box => [box.element, box]));
const slack = 1e-6;
let current = boxes[0];
const within = (inner, outer) =>
  inner.x >= outer.x - slack && inner.x + inner.w <= outer.x + outer.w + slack;
function select(box) {
  current.element.setAttribute("tabindex", "-1");
  current = box;
  box.element.setAttribute("tabindex", "0");
  box.element.focus();
  told.textContent = box.text;
}
function zoom(to) {
  for (const box of boxes) {
    const outside = box.depth < to.depth && within(to, box);
    box.shown = outside || (box.depth >= to.depth && within(box, to));
    box.element.setAttribute("visibility", box.shown ? "visible" : "hidden");
    if (!box.shown) continue;
    box.element.setAttribute("x", outside ? "0%" : (box.x - to.x) / to.w * 100 + "%");
    box.element.setAttribute("width", outside ? "100%" : box.w / to.w * 100 + "%");
  }
  select(to);
}
function neighbour(step) {
  const row = boxes.filter(box => box.shown && box.depth === current.depth);
  row.sort((a, b) => a.x - b.x);
  return row[row.indexOf(current) + step];
}
const moves = {
  ArrowLeft: () => neighbour(-1),
  ArrowRight: () => neighbour(1),
  ArrowUp: () => boxes.find(box => box.depth === current.depth - 1 && within(current, box)),
  ArrowDown: () => boxes.filter(box => box.shown && box.depth === current.depth + 1 &&
    within(box, current)).sort((a, b) => b.w - a.w)[0] };
chart.addEventListener("click", event => {
  const element = event.target.closest(".f");
  if (element) zoom(byElement.get(element));
});
chart.addEventListener("mouseover", event => {
  const element = event.target.closest(".f");
  if (element) told.textContent = byElement.get(element).text;
});
chart.addEventListener("keydown", event => {
  if (event.key === "Enter" || event.key === " ") zoom(current);
  else if (event.key === "Escape") zoom(boxes[0]);
  else if (moves[event.key]) {
    const next = moves[event.key]();
    if (next) select(next);
  } else return;
  event.preventDefault();
});
document.getElementById("all").addEventListener("click", () => zoom(boxes[0]));
document.getElementById("search").addEventListener("input", event => {
  const text = event.target.value.toLowerCase();
  let part = 0, end = -1;
  for (const box of boxes) {
    box.found = text !== "" && box.text.toLowerCase().includes(text);
    box.element.classList.toggle("m", box.found);
  }
  // Calls of a function that is counted are within its box.
  const found = boxes.filter(box => box.found);
  for (const box of found.sort((a, b) => a.x - b.x || a.depth - b.depth)) {
    if (box.x < end - slack) continue;
    part += box.w;
    end = box.x + box.w;
  }
  told.textContent = text === "" ? "" : (part * 100).toFixed(2) + " % of the time has '" +
    event.target.value + "'";
});
for (const element of document.querySelectorAll(".scripted")) element.hidden = false;
)";

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
