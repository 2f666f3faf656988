// The script that draws the charts of the operations page.
#include "katana/app/live_page_files.hpp"

namespace katana::app {

const Bytes live_charts_js = R"js("use strict";
// Charts of /operations/history, as SVG: each has a title with its unit and interval, a scale, and
// a text with its latest values for those who do not see it.
const drawn = (() => {
  const space = "http://www.w3.org/2000/svg";
  const width = 600, height = 150, left = 52, bottom = 18, top = 6;
  const classes = ["no status", "1xx", "2xx", "3xx", "4xx", "5xx"];

  function svg(kind, attributes, text) {
    const made = document.createElementNS(space, kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function html(kind, text, name) {
    const made = document.createElement(kind);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  }
  // The least of 1, 2, 5, 10, 20 … that is no less.
  function ceiling(value) {
    let step = 1;
    for (;;) {
      for (const factor of [1, 2, 5]) if (value <= step * factor) return step * factor;
      step *= 10;
    }
  }
  const rounded = (value) => value >= 100 || Number.isInteger(value)
    ? String(Math.round(value)) : value.toPrecision(2);
  const clock = (ms) => new Date(ms).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit"});
  const duration = (us) => us < 1000000 ? us / 1000 + " ms" : us / 1000000 + " s";

  class Chart {
    constructor(history, title, said) {
      this.history = history;
      this.figure = html("figure");
      this.figure.append(html("figcaption", title));
      this.picture = svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img",
        "aria-label": title + ". " + said});
      this.figure.append(this.picture);
      this.column = (width - left) / history.columns_max;
      this.bottom = height - bottom;
    }
    // The newest column is at the right end.
    x(index) {
      return width - (this.history.columns.length - index) * this.column;
    }
    y(share) {
      return this.bottom - share * (this.bottom - top);
    }
    add(kind, attributes, text) {
      this.picture.append(svg(kind, attributes, text));
    }
    label(y, text) {
      this.add("text", {x: left - 6, y: y + 4, class: "scale", "text-anchor": "end"}, text);
    }
    scale(most, unit) {
      for (const share of [0, 0.5, 1]) {
        const y = this.y(share);
        this.add("line", {x1: left, x2: width, y1: y, y2: y, class: "grid"});
        this.label(y, rounded(most * share) + unit);
      }
    }
    times() {
      const columns = this.history.columns;
      if (columns.length === 0) return;
      const last = columns[columns.length - 1].at_ms;
      for (const minutes of [15, 10, 5, 0]) {
        const back = minutes * 60 / this.history.interval_s * this.column;
        const anchor = minutes === 15 ? "start" : minutes === 0 ? "end" : "middle";
        this.add("text", {x: width - back, y: height - 4, class: "scale", "text-anchor": anchor},
          clock(last - minutes * 60000));
      }
    }
    bar(index, from, to, name) {
      const height = Math.max(this.y(from) - this.y(to), 0);
      this.add("rect", {x: this.x(index), y: this.y(to), width: this.column, height, class: name});
    }
    line(values, most, name) {
      const points = values.map((value, index) =>
        `${this.x(index) + this.column / 2},${this.y(value / most)}`);
      this.add("polyline", {points: points.join(" "), class: "line " + name});
    }
    legend(entries) {
      const list = html("ul", undefined, "legend");
      for (const [name, text] of entries) {
        const item = html("li");
        item.append(html("span", "", "key " + name), text);
        list.append(item);
      }
      this.figure.append(list);
    }
  }

  const every = (history) => `every ${history.interval_s} s, last 15 minutes`;
  const rate = (column, count) => count * 1000 / column.span_ms;
  const latest = (history) => history.columns[history.columns.length - 1];

  function requests(history) {
    const rates = history.columns.map((column) =>
      column.statuses.map((count) => rate(column, count)));
    const sums = rates.map((each) => each.reduce((sum, value) => sum + value, 0));
    const now = rates.length ? rates[rates.length - 1] : [];
    const said = "Latest: " + classes.map((name, index) => [name, now[index] ?? 0])
      .filter(([, value]) => value > 0).map(([name, value]) => rounded(value) + " of " + name)
      .join(", ");
    const chart = new Chart(history, `Requests by class of status, per second, ${every(history)}`,
      said);
    const most = ceiling(Math.max(1, ...sums));
    chart.scale(most, "");
    rates.forEach((each, index) => {
      let from = 0;
      each.forEach((value, status) => {
        if (value > 0) chart.bar(index, from / most, (from + value) / most, "status" + status);
        from += value;
      });
    });
    chart.times();
    const is_shown = (status) =>
      status >= 2 || history.columns.some((each) => each.statuses[status] > 0);
    chart.legend(classes.map((name, status) => ["status" + status, name])
      .filter((_, status) => is_shown(status)));
    return chart.figure;
  }

  function heat(history, chosen) {
    const buckets = history.bounds_us.length + 1;
    const counts = new Map();
    let most = 0, slowest = -1;
    for (const each of history.routes) {
      if (chosen && each.route !== chosen) continue;
      for (let at = 0; at < each.cells.length; at += 3) {
        const key = each.cells[at] * buckets + each.cells[at + 1];
        counts.set(key, (counts.get(key) ?? 0) + each.cells[at + 2]);
        most = Math.max(most, counts.get(key));
        slowest = Math.max(slowest, each.cells[at + 1]);
      }
    }
    const end = (bucket) => bucket < history.bounds_us.length
      ? "up to " + duration(history.bounds_us[bucket])
      : "more than " + duration(history.bounds_us[bucket - 1]);
    const said = slowest < 0 ? "No requests." : "The slowest took " + end(slowest) + ".";
    const chart = new Chart(history,
      `Duration of requests: number of requests in each step, ${every(history)}`, said);
    for (let bucket = 0; bucket < buckets; ++bucket) {
      const share = bucket / buckets;
      if (bucket > 0 && bucket % 2 === 0) {
        chart.label(chart.y(share), duration(history.bounds_us[bucket - 1]));
      }
    }
    for (const [key, count] of counts) {
      const index = Math.floor(key / buckets), bucket = key % buckets;
      const depth = Math.min(5, Math.ceil(5 * Math.log(1 + count) / Math.log(1 + most)));
      chart.bar(index, bucket / buckets, (bucket + 1) / buckets, "heat" + depth);
    }
    chart.times();
    chart.legend([["heat1", "few"], ["heat3", "more"], ["heat5", most + " requests"]]);
    return chart.figure;
  }

  function reactors(history) {
    const column = latest(history);
    const busy = column ? column.busy_permille : [];
    const stalls = history.columns.reduce((sum, each) => sum + each.stalls, 0);
    const shown = busy.map((value, index) => `reactor ${index} ${rounded(value / 10)} %`);
    const chart = new Chart(history, `Load of reactors, percent of a CPU, ${every(history)}`,
      `Latest: ${shown.join(", ")}. Stalls in 15 minutes: ${stalls}.`);
    chart.scale(100, " %");
    busy.forEach((_, reactor) => chart.line(
      history.columns.map((each) => (each.busy_permille[reactor] ?? 0) / 10), 100,
      "series" + reactor % 6));
    history.columns.forEach((each, index) => {
      if (each.stalls > 0) chart.bar(index, 0, 0.06, "status5");
    });
    chart.times();
    chart.legend([...busy.slice(0, 6).map((_, index) => ["series" + index, "reactor " + index]),
      ["status5", `stalls: ${stalls} in 15 minutes`]]);
    return chart.figure;
  }

  function memory(history) {
    const values = history.columns.map((each) => each.resident_bytes / 1048576);
    const now = values.length ? values[values.length - 1] : 0;
    const chart = new Chart(history, `Resident memory, MiB, ${every(history)}`,
      `Latest: ${rounded(now)} MiB.`);
    const most = ceiling(Math.max(1, ...values));
    chart.scale(most, "");
    chart.line(values, most, "series0");
    chart.times();
    return chart.figure;
  }

  function database(history) {
    const of = (member) => history.columns.map((each) => rate(each, each[member]));
    const reads = of("database_reads"), writes = of("database_writes");
    const now = (values) => rounded(values.length ? values[values.length - 1] : 0);
    const chart = new Chart(history, `Statements of the database, per second, ${every(history)}`,
      `Latest: ${now(reads)} reads, ${now(writes)} writes.`);
    const most = ceiling(Math.max(1, ...reads, ...writes));
    chart.scale(most, "");
    chart.line(reads, most, "series0");
    chart.line(writes, most, "series1");
    chart.times();
    chart.legend([["series0", "reads"], ["series1", "writes"]]);
    return chart.figure;
  }

  // All charts. `chosen`: the route of the heat map; empty: all.
  return (history, chosen) => {
    const charts = [requests(history), heat(history, chosen), reactors(history), memory(history)];
    if (history.has_database) charts.push(database(history));
    return charts;
  };
})();
)js";

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
