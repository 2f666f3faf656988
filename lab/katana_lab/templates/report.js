// Draws each plot when it comes into view, in the colours of the page; draws again when light turns to dark.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const tone = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const drawn = new Set();

  function coloured(layout) {
    const axis = { gridcolor: tone("--grid"), linecolor: tone("--line"), zerolinecolor: tone("--line"),
      tickfont: { color: tone("--soft"), size: 11 }, automargin: true };
    const result = { ...layout, title: undefined, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, color: tone("--ink"), size: 12 },
      hoverlabel: { bgcolor: tone("--panel"), bordercolor: tone("--line"), font: { color: tone("--ink") } } };
    for (const name of ["xaxis", "yaxis"]) {
      result[name] = { ...axis, ...layout[name] };
      const title = layout[name]?.title;
      if (title) result[name].title = { ...title, font: { color: tone("--soft"), size: 12 } };
    }
    return result;
  }

  function draw(element) {
    const plot = JSON.parse(document.getElementById(element.dataset.plot).textContent);
    for (const trace of plot.data) if (trace.type === "icicle") trace.textfont = { color: "#ffffff", size: 11 };
    const layout = coloured(plot.layout);
    const named = plot.data.filter((trace) => trace.name && trace.showlegend !== false).length;
    if (element.clientWidth < 480 && named > 3) {  // a legend of many lines needs its own room
      layout.height += 12 * named;
      layout.legend = { ...layout.legend, maxheight: 1 };
      element.style.height = `${layout.height}px`;
    }
    Plotly.react(element, plot.data, layout,
      { displayModeBar: false, responsive: true });
    drawn.add(element);
  }

  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "500px" });
  const elements = document.querySelectorAll(".plot");
  // report.html#print draws everything at once: for printing to a file, and for tests.
  elements.forEach((element) => location.hash === "#print" ? draw(element) : watcher.observe(element));
  dark.addEventListener("change", () => drawn.forEach(draw));
  addEventListener("beforeprint", () => elements.forEach((element) => drawn.has(element) || draw(element)));
  document.documentElement.dataset.ready = elements.length;
})();
