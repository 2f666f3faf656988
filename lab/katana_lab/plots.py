"""Plots, drawn by plotly: each function returns a figure as plain data, or None when there is nothing to draw.

Colours of text, grid and background are set in the browser, so that one file serves light and dark. A variant has the
same colour in every plot of a report.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from katana_lab import analysis, generator
from katana_lab.figures import FIGURES, title_of
from katana_lab.results import CaseResult, ExperimentResult

Plot = dict[str, Any]
# Mid-tones that stand out from white and from near-black alike.
COLOURS = {"floor": "#8b93a1", "floor_uring": "#b08968", "epoll-edge": "#3b82f6", "epoll-level": "#14a394",
           "io_uring": "#f2762e", "nginx": "#3ba55d", "h2o": "#a06cf0", "hyper": "#e0518d", "fasthttp": "#c9a227"}
SPARE = ("#3b82f6", "#f2762e", "#14a394", "#a06cf0", "#e0518d", "#3ba55d", "#c9a227", "#b08968")
USER, KERNEL = "#f2762e", "#5b7db8"
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
LINES_MAX = 8
FLAME_SHARE_MIN = 0.004
SPECTRUM_TICKS = ((0.5, "50 %"), (0.1, "90 %"), (0.01, "99 %"), (0.001, "99.9 %"), (1e-4, "99.99 %"),
                  (1e-5, "99.999 %"), (1e-6, "99.9999 %"))


def colour_of(variant: str, variants: Sequence[str]) -> str:
    """The variant's own colour, or one that no named variant of the experiment has."""
    if variant in COLOURS:
        return COLOURS[variant]
    free = [one for one in SPARE if one not in {COLOURS.get(name) for name in variants}] or list(SPARE)
    return free[[name for name in variants if name not in COLOURS].index(variant) % len(free)]


def _layout(title: str, height: int = 340, **more: Any) -> dict[str, Any]:
    """The title stands in the page, above the plot: within it, a legend of two lines would cover it."""
    return {"title": {"text": title}, "height": height, "margin": {"l": 8, "r": 12, "t": 12, "b": 8},
            "hovermode": "closest", "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor":
                                               "left", "font": {"size": 11}}, **more}


def _plain(figure: go.Figure) -> Plot:
    figure.layout.template = None
    return figure.to_plotly_json()


def rounds_of(cases: Sequence[CaseResult], name: str) -> str:
    """The number of rounds of a figure: 'n = 3', or the range of it."""
    counts = sorted({len(case.by_round(name)) for case in cases})
    return f"n = {counts[0]}" if counts[0] == counts[-1] else f"n = {counts[0]} to {counts[-1]}"


def _measured(result: ExperimentResult) -> list[CaseResult]:
    return [case for case in result.cases if any(not visit.void for visit in case.visits)]


def _variants(result: ExperimentResult) -> list[str]:
    return list(result.definition.variants)


def _line(case: CaseResult, result: ExperimentResult) -> dict[str, Any]:
    """Colour by variant and dashes by value; of one variant alone the values have colours."""
    values = list(dict.fromkeys(one.value for one in result.cases))
    index = values.index(case.value)
    if len(values) > 1 and len({one.variant for one in result.cases}) == 1:
        return {"color": SPARE[index % len(SPARE)], "width": 2}
    return {"color": colour_of(case.variant, _variants(result)), "width": 2, "dash": DASHES[index % len(DASHES)]}


def _reach(result: ExperimentResult, name: str) -> list[float]:
    """The axis from zero to a little beyond the measured values; an interval of few rounds may exceed it."""
    values = [value for case in _measured(result) for value in case.by_round(name).values()]
    low, high = min(values), max(values)
    scale = FIGURES[name].scale
    return [1.15 * scale * min(0.0, low), 1.3 * scale * high if high > 0 else 1.0]


def _chosen(result: ExperimentResult) -> list[CaseResult]:
    """At most LINES_MAX cases: all of them, else the first and last values of the sweep."""
    cases = _measured(result)
    if len(cases) <= LINES_MAX:
        return cases
    values = list(dict.fromkeys(case.value for case in cases))
    edge = {values[0], values[len(values) // 2], values[-1]}
    return [case for case in cases if case.value in edge][:LINES_MAX]


def latency(result: ExperimentResult) -> Plot | None:
    """Latency over percentiles, the tail on a logarithmic scale. Void rounds are drawn only where there is no other."""
    figure, rarest, samples, void = go.Figure(), 1.0, [], not _measured(result)
    for case in result.cases[:LINES_MAX] if void else _chosen(result):
        histogram = analysis.merged_histogram(case, void)
        points = generator.spectrum(histogram) if histogram else []
        if len(points) < 3:
            continue
        rarest = min(rarest, points[-1][0])
        samples.append(histogram.get_total_count())
        shares = [100 * (1 - share) for share, _ in points]
        figure.add_scatter(x=[1 / share for share, _ in points], y=[us for _, us in points], mode="lines",
                           name=case.name, customdata=shares, opacity=0.35 if void else 1,
                           line=_line(case, result),
                           hovertemplate="%{customdata:.4f} % within %{y:,.1f} µs<extra>" + case.name + "</extra>")
    if not figure.data:
        return None
    ticks = [(1 / share, text) for share, text in SPECTRUM_TICKS if share >= rarest / 3]
    loop = "counted from the intended moment" if result.definition.load.rate_per_s else "closed loop: queueing included"
    least, most = min(samples), max(samples)
    n = f"n = {least:,}" if least == most else f"n = {least:,} to {most:,}"
    warning = "; every round is void: the tail is the generator's own" if void else ""
    figure.update_layout(_layout(f"Latency by percentile ({loop}; {n}{warning})", height=380))
    figure.update_xaxes(type="log", tickvals=[at for at, _ in ticks], ticktext=[text for _, text in ticks],
                        tickangle=0,
                        title={"text": "percentile"})
    figure.update_yaxes(type="log", dtick=1, separatethousands=True, exponentformat="none", title={"text": "µs"})
    return _plain(figure)


def figure_plot(result: ExperimentResult, name: str) -> Plot | None:
    """One figure with its interval: over the sweep's values, or case by case."""
    cases = [case for case in _measured(result) if case.by_round(name)]
    if not cases or (len(cases) == 1 and not result.definition.sweep):
        return None                                              # a single point is a number: the table has it
    return _swept(result, name, cases) if result.definition.sweep else _side_by_side(result, name, cases)


def _centre(case: CaseResult, name: str) -> tuple[float, float, float, int]:
    """Median, and how far its interval reaches on both sides, in the shown unit."""
    median = analysis.summary(case, name).median
    scale = FIGURES[name].scale
    values = list(case.by_round(name).values())
    low = median.low if math.isfinite(median.low) else min(values)
    high = median.high if math.isfinite(median.high) else max(values)
    return scale * median.estimate, scale * (median.estimate - low), scale * (high - median.estimate), median.n


def _side_by_side(result: ExperimentResult, name: str, cases: list[CaseResult]) -> Plot:
    figure, scale = go.Figure(), FIGURES[name].scale
    for case in reversed(cases):
        middle, below, above, n = _centre(case, name)
        colour = colour_of(case.variant, _variants(result))
        values = [scale * value for value in case.by_round(name).values()]
        figure.add_scatter(x=values, y=[case.name] * len(values), mode="markers", showlegend=False,
                           marker={"color": colour, "size": 6, "opacity": 0.4},
                           hovertemplate="%{x:,.4~g}<extra>one round</extra>")
        figure.add_scatter(x=[middle], y=[case.name], mode="markers", showlegend=False,
                           marker={"color": colour, "size": 12, "symbol": "diamond"},
                           error_x={"array": [above], "arrayminus": [below], "color": colour, "thickness": 2,
                                    "width": 5},
                           hovertemplate=f"median %{{x:,.4~g}}, n = {n}<extra>{case.name}</extra>")
    figure.update_layout(_layout(f"{title_of(name)} ({rounds_of(cases, name)})", height=120 + 34 * len(cases)))
    figure.update_xaxes(range=_reach(result, name))
    return _plain(figure)


def _swept(result: ExperimentResult, name: str, cases: list[CaseResult]) -> Plot:
    figure, sweep = go.Figure(), result.definition.sweep
    numeric = all(isinstance(case.value, (int, float)) for case in cases) and not sweep.labels
    for variant in dict.fromkeys(case.variant for case in cases):
        rows = [(case, *_centre(case, name)) for case in cases if case.variant == variant]
        colour = colour_of(variant, _variants(result))
        figure.add_scatter(x=[case.value if numeric else case.label for case, *_ in rows],
                           y=[middle for _, middle, *_ in rows], name=variant,
                           mode="lines+markers" if numeric else "markers", line={"color": colour, "width": 2},
                           marker={"size": 9, "color": colour},
                           error_y={"array": [row[3] for row in rows], "arrayminus": [row[2] for row in rows],
                                    "color": colour, "thickness": 1.5, "width": 4},
                           hovertemplate="%{x}: %{y:,.4~g}<extra>" + variant + "</extra>")
    figure.update_layout(_layout(f"{title_of(name)} ({rounds_of(cases, name)})", scattergap=0.6,
                                 scattermode="overlay" if numeric else "group"))
    values = [case.value for case in cases if isinstance(case.value, (int, float))]
    if numeric and min(values) > 0 and max(values) / min(values) >= 8:
        ticks = sorted(set(values))
        figure.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{value:,}" for value in ticks])
    figure.update_xaxes(title={"text": sweep.parameter.removeprefix("option:").replace("_", " ")})
    figure.update_yaxes(range=_reach(result, name))
    return _plain(figure)


def scaling_plot(result: ExperimentResult) -> Plot | None:
    """Measured rates with the fitted scaling law and its limit."""
    figure, points = go.Figure(), 0
    for one in analysis.scalings(result):
        if not one.fit:
            continue
        points += one.fit.n
        colour = colour_of(one.variant, _variants(result))
        figure.add_scatter(x=[n for n, _ in one.points], y=[rate for _, rate in one.points], mode="markers",
                           name=f"{one.variant}, measured", marker={"color": colour, "size": 7, "opacity": 0.6})
        largest = max(n for n, _ in one.points)
        end = min(max(largest, one.fit.peak_n if math.isfinite(one.fit.peak_n) else largest), 4 * largest)
        counts = [math.exp(math.log(end) * step / 80) for step in range(81)]
        figure.add_scatter(x=counts, y=[one.fit.rate_at(count) for count in counts], mode="lines",
                           name=f"{one.variant}, law", line={"color": colour, "width": 2, "dash": "dash"})
        if math.isfinite(one.fit.peak_n) and one.fit.peak_n <= end:
            figure.add_scatter(x=[one.fit.peak_n], y=[one.fit.peak_rate], mode="markers", name="predicted peak",
                               marker={"color": colour, "size": 13, "symbol": "star"})
    if not figure.data:
        return None
    figure.update_layout(_layout(f"Universal Scalability Law (n = {points})", height=380))
    ticks = sorted({n for one in analysis.scalings(result) for n, _ in one.points})
    figure.update_xaxes(type="log", title={"text": result.definition.sweep.parameter.removeprefix("option:")},
                        tickvals=ticks, ticktext=[f"{count:,g}" for count in ticks])
    figure.update_yaxes(rangemode="tozero", title={"text": "req/s"})
    return _plain(figure)


def cpu_split(result: ExperimentResult) -> Plot | None:
    """User and kernel time of a request."""
    cases = [case for case in _measured(result) if case.by_round("kernel_us_per_request")]
    if not cases:
        return None
    figure, names = go.Figure(), [case.name for case in reversed(cases)]
    for label, name, colour in (("kernel", "kernel_us_per_request", KERNEL), ("user", "user_us_per_request", USER)):
        figure.add_bar(y=names, x=[_centre(case, name)[0] for case in reversed(cases)], orientation="h", name=label,
                       marker={"color": colour}, hovertemplate="%{x:,.3~g} µs<extra>" + label + "</extra>")
    figure.update_layout(_layout(f"CPU of a request, µs ({rounds_of(cases, 'cpu_us_per_request')})",
                                 height=130 + 28 * len(cases), barmode="stack"))
    return _plain(figure)


def _traced(cases: Sequence[CaseResult]) -> str:
    """The number of requests whose system calls were counted."""
    counts = sorted(case.calls_n for case in cases)
    if not counts[0]:
        return "a run of its own"
    return f"n = {counts[0]:,}{'' if counts[0] == counts[-1] else f' to {counts[-1]:,}'} requests"


def calls(result: ExperimentResult) -> Plot | None:
    """System calls per request by name."""
    cases = [case for case in result.cases if case.calls]
    if not cases:
        return None
    names = [name for name in dict.fromkeys(call.name for case in cases for call in case.calls)
             if any(call.name == name and call.per_request >= 0.005 for case in cases for call in case.calls)]
    figure = go.Figure()
    for index, name in enumerate(names):
        counts = [next((call.per_request for call in case.calls if call.name == name), 0.0) for case in reversed(cases)]
        figure.add_bar(y=[case.name for case in reversed(cases)], x=counts, orientation="h", name=name,
                       marker={"color": SPARE[index % len(SPARE)]}, hovertemplate="%{x:.3f}<extra>" + name + "</extra>")
    figure.update_layout(_layout(f"System calls per request ({_traced(cases)})", height=160 + 34 * len(cases),
                                 barmode="stack"))
    return _plain(figure)


def series(result: ExperimentResult) -> Plot | None:
    """Rate over time in the first round; warm-up is faint and ends in a mark."""
    figure = go.Figure()
    for case in _chosen(result):
        visit = next((visit for visit in case.visits if visit.series.at_s and not visit.void), None)
        if visit is None:
            continue
        style, at, rate = _line(case, result), visit.series.at_s, visit.series.rate_per_s
        cut = sum(moment <= visit.warm_up_s + 1e-6 for moment in at)
        figure.add_scatter(x=at[:cut + 1], y=rate[:cut + 1], mode="lines", opacity=0.3, showlegend=False, line=style,
                           legendgroup=case.name, hoverinfo="skip")
        figure.add_scatter(x=at[cut:], y=rate[cut:], mode="lines", name=case.name, line=style, legendgroup=case.name,
                           hovertemplate="%{x:.1f} s: %{y:,.0f} req/s<extra>" + case.name + "</extra>")
        if cut and cut < len(at):
            figure.add_scatter(x=[at[cut]], y=[rate[cut]], mode="markers", showlegend=False, legendgroup=case.name,
                               marker={"color": style["color"], "size": 9, "symbol": "line-ns-open",
                                       "line": {"width": 3}},
                               hovertemplate="warm-up ended<extra></extra>")
    if not figure.data:
        return None
    figure.update_layout(_layout("Rate over time, first round (faint: warm-up)"))
    figure.update_xaxes(title={"text": "seconds of load"})
    figure.update_yaxes(rangemode="tozero", title={"text": "req/s"})
    return _plain(figure)


def memory(result: ExperimentResult) -> Plot | None:
    """Resident memory over time, for runs long enough to see it move."""
    figure = go.Figure()
    for case in _chosen(result):
        visit = next((visit for visit in case.visits if visit.series.at_s and visit.series.at_s[-1] >= 10), None)
        if visit:
            figure.add_scatter(x=visit.series.at_s, y=visit.series.rss_mib, mode="lines", name=case.name,
                               line={"color": colour_of(case.variant, _variants(result)), "width": 2})
    if not figure.data:
        return None
    figure.update_layout(_layout("Resident memory over time, first round"))
    figure.update_xaxes(title={"text": "seconds of load"})
    figure.update_yaxes(rangemode="tozero", title={"text": "MiB"})
    return _plain(figure)


def life(result: ExperimentResult) -> Plot | None:
    """A connection's life by stage: the time of its system calls."""
    if result.definition.load.requests_per_connection != 1:
        return None
    cases = [case for case in result.cases if case.calls]
    rows = {case.name: analysis.stages(case) for case in cases}
    stages = [name for name in (*analysis.STAGES, "other") if name != "wait"
              and any(stage == name for row in rows.values() for stage, *_ in row)]
    if not rows or not stages:
        return None
    figure, names = go.Figure(), list(reversed(rows))
    for index, stage in enumerate(stages):
        times = [next((us for name, _, us in rows[case] if name == stage), 0.0) for case in names]
        figure.add_bar(y=names, x=times, orientation="h", name=stage, marker={"color": SPARE[index % len(SPARE)]},
                       hovertemplate="%{x:.1f} µs<extra>" + stage + "</extra>")
    figure.update_layout(_layout(f"Life of a connection: µs in system calls, under the tracer ({_traced(cases)})",
                                 height=160 + 34 * len(rows), barmode="stack"))
    return _plain(figure)


def balance(result: ExperimentResult) -> Plot | None:
    """Shares of the reactors in the first round."""
    cases = [case for case in _measured(result) if case.visits[0].reactor_shares]
    if not cases or result.definition.sweep is None and len(cases) < 1:
        return None
    figure, count = go.Figure(), max(len(case.visits[0].reactor_shares) for case in cases)
    for index in range(count):
        shares = [100 * case.visits[0].reactor_shares[index] if index < len(case.visits[0].reactor_shares) else 0
                  for case in reversed(cases)]
        figure.add_bar(y=[case.name for case in reversed(cases)], x=shares, orientation="h", name=f"reactor {index}",
                       marker={"color": SPARE[index % len(SPARE)]}, hovertemplate="%{x:.1f} %<extra></extra>")
    figure.update_layout(_layout("Requests by reactor, % (first round)", height=150 + 30 * len(cases), barmode="stack"))
    return _plain(figure)


def arena_score(boards: dict[str, dict[str, dict[str, float]]]) -> Plot:
    """HttpArena's points of each server by board and profile, the best of a board on top."""
    rows = [(board, name) for board, by_server in boards.items() for name in by_server][::-1]
    profiles = list(dict.fromkeys(profile for by_server in boards.values() for points in by_server.values()
                                  for profile in points))
    figure, names = go.Figure(), [f"{name} ({board})" for board, name in rows]
    for number, profile in enumerate(profiles):
        figure.add_bar(y=names, x=[boards[board][name].get(profile, 0) for board, name in rows], name=profile,
                       orientation="h", marker={"color": SPARE[number % len(SPARE)],
                                                "opacity": 1.0 if number < len(SPARE) else 0.55},
                       hovertemplate=f"{profile}: %{{x:.0f}}<extra></extra>")
    figure.update_layout(_layout("HttpArena's points on one CPU, over the servers of this run",
                                 height=240 + 30 * len(names), barmode="stack"), legend_traceorder="normal")
    return _plain(figure)


def cpu_ratios(by_test: dict[str, dict[str, float]], first: str) -> Plot:
    """CPU for each request of each server, over that of the first, by test."""
    figure = go.Figure()
    names = list(dict.fromkeys(name for found in by_test.values() for name in found))[::-1]
    for number, (test, found) in enumerate(by_test.items()):
        figure.add_bar(y=names, x=[found.get(name) for name in names], name=test, orientation="h",
                       marker={"color": SPARE[number % len(SPARE)]}, hovertemplate=f"{test}: %{{x:.2f}}<extra></extra>")
    figure.update_layout(_layout(f"CPU for each request, as a multiple of {first}'s", height=240 + 90 * len(names),
                                 barmode="group"), legend_traceorder="normal")
    figure.update_xaxes(type="log")
    return _plain(figure)


def write_page(plot: Plot, path: Path) -> None:
    """A plot as its own page, which needs nothing from elsewhere."""
    figure = go.Figure(plot)
    figure.update_layout(margin={"l": 90, "r": 12, "t": 150, "b": 40}, title={"x": 0})
    figure.write_html(path, include_plotlyjs=True)


def flame(case: CaseResult) -> Plot | None:
    """The flame graph of a case: width is the share of samples; hover and click to go in."""
    if not case.stacks:
        return None
    totals: dict[tuple[str, ...], int] = {}
    for stack, samples in case.stacks.items():
        path = tuple(stack.split(";"))
        for depth in range(1, len(path) + 1):
            totals[path[:depth]] = totals.get(path[:depth], 0) + samples
    whole = sum(case.stacks.values())
    kept = [path for path, samples in totals.items() if samples >= FLAME_SHARE_MIN * whole]
    ids = {path: str(index) for index, path in enumerate(kept)}
    labels = ["all", *(path[-1].removesuffix("_[k]") for path in kept)]
    figure = go.Figure(go.Icicle(
        ids=["root", *(ids[path] for path in kept)], labels=labels,
        parents=["", *(ids.get(path[:-1], "root") for path in kept)], values=[whole, *(totals[path] for path in kept)],
        branchvalues="total", leaf={"opacity": 1}, root={"color": "rgba(0,0,0,0)"},
        tiling={"orientation": "v", "flip": "y", "pad": 1},
        marker={"colors": ["#8b93a1", *(KERNEL if path[-1].endswith("_[k]") else USER for path in kept)]},
        hovertemplate="%{label}<br>%{percentRoot:.1%} of samples<extra></extra>", textposition="middle center",
        pathbar={"visible": True}, sort=False))
    depth = max((len(path) for path in kept), default=1)
    figure.update_layout(_layout(f"Flame graph of {case.name}: {whole:,} samples (orange: user, blue: kernel)",
                                 height=min(820, 120 + 19 * depth), uniformtext={"minsize": 9, "mode": "hide"}))
    return _plain(figure)

# SPDX-License-Identifier: Apache-2.0
