"""report.html and report.md of a run: one self-contained page, and the same statements as text.

The page needs no network and no server. Plots are drawn when they come into view; every figure stands in a table, too.
"""
from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from pathlib import Path

import jinja2
import markupsafe
from plotly.offline import get_plotlyjs

from katana_lab import analysis, plots, statistics
from katana_lab.figures import FIGURES, show, significant, title_of
from katana_lab.files import write_whole
from katana_lab.results import CaseResult, ExperimentResult, Finding, Run

TEMPLATES = Path(__file__).parent / "templates"


@dataclasses.dataclass(frozen=True)
class Cell:
    """A figure of a case as the table has it. `best`: better than all others beside it, and its interval says so."""

    text: str
    interval: str
    n: int
    best: bool


@dataclasses.dataclass(frozen=True)
class Spread:
    """A figure of a case by its mean, with and without Tukey's outliers, and the rounds for a mean within ± 5 %."""

    case: str
    figure: str
    n: int
    mean: str
    outliers: str
    without: str                         # mean and median; empty without outliers
    needed: str


@dataclasses.dataclass
class Row:
    """A case in the table of an experiment."""

    case: CaseResult
    cells: list[Cell]
    flags: list[str]


@dataclasses.dataclass(frozen=True)
class Top:
    """The functions that the CPU was found in, in one case: all, and those of the program alone. `n`: samples."""

    case: str
    n: int
    tables: list[tuple[str, list[tuple[str, float, bool]]]]


@dataclasses.dataclass
class Section:
    """An experiment, ready to be shown."""

    result: ExperimentResult
    state: str                           # 'good', 'note', 'bad'
    sentences: list[str]
    figures: list[str]
    rows: list[Row]
    ratios: list[analysis.Comparison]
    claims: list[analysis.ClaimRow]
    scaling: list[str]
    drift: list[str]
    notes: list[tuple[str, int, int]]    # a note, in how many visits of how many
    tops: list[Top]
    spreads: list[Spread]
    rest: list[str]                      # figures beyond the headline
    rest_rows: list[tuple[str, list[tuple[str, int]]]]           # case: the shown figures, and n
    counters: list[tuple[str, list[str]]]                        # the server's own: name, growth in each case
    plots: list[plots.Plot]
    wide_plots: list[plots.Plot]


def _cell(case: CaseResult, name: str, best: str) -> Cell:
    summary = analysis.summary(case, name)
    if summary.n == 0:
        return Cell("n/a", "", 0, False)
    low, high = summary.median.low, summary.median.high
    interval = f"{show(name, low)} – {show(name, high)}" if math.isfinite(low) and summary.n > 1 else "one round"
    return Cell(show(name, summary.median.estimate), interval, summary.n, case.name == best)


def _spread(case: CaseResult, name: str) -> Spread | None:
    summary = analysis.summary(case, name)
    if summary.n < 2:
        return None
    mean, needed = summary.mean, summary.needed_n
    without = f"{show(name, summary.mean_without)}, {show(name, summary.median_without)}" if summary.outliers else ""
    return Spread(case.name, name, summary.n,
                  f"{show(name, mean.estimate)} [{show(name, mean.low)}, {show(name, mean.high)}]",
                  ", ".join(show(name, one) for one in summary.outliers) or "none", without,
                  "" if needed is None else f"{needed:,}")


def _best(cases: list[CaseResult], name: str) -> str:
    """The case whose median is better than that of all others and whose interval excludes the next one's."""
    medians = {case.name: analysis.summary(case, name).median for case in cases}
    order = sorted((one for one in medians if math.isfinite(medians[one].estimate)),
                   key=lambda one: medians[one].estimate, reverse=FIGURES[name].better == "higher")
    if FIGURES[name].better == "neither" or len(order) < 2:
        return ""
    best, following = medians[order[0]], medians[order[1]].estimate
    return "" if best.low <= following <= best.high else order[0]


def _rows(result: ExperimentResult, figures: list[str]) -> list[Row]:
    rows = []
    best = {}
    for name in figures:
        groups: dict[object, list[CaseResult]] = {}
        for case in result.cases:
            groups.setdefault(case.value, []).append(case)
        best |= {(value, name): _best(cases, name) for value, cases in groups.items()}
    for case in result.cases:
        flags = [text for text in (f"skipped: {case.skipped}" if case.skipped else "",
                                   f"failed: {case.failed}" if case.failed else "", case.note) if text]
        void = sum(bool(visit.void) for visit in case.visits)
        if void:
            reason = next(visit.void for visit in case.visits if visit.void)
            flags.append(f"{void} of {len(case.visits)} rounds are void: {reason}")
        rows.append(Row(case, [_cell(case, name, best[case.value, name]) for name in figures], flags))
    return rows


def _notes(result: ExperimentResult) -> list[tuple[str, int, int]]:
    """Notes of visits, each once, in how many visits it stands. Shares of strangers count as one note."""
    counts: dict[str, int] = {}
    total = 0
    for case in result.cases:
        for visit in case.visits:
            total += 1
            for note in visit.notes:
                text = "strangers took more than 8 % of the server's CPU" if note.startswith("strangers") else note
                counts[text] = counts.get(text, 0) + 1
    return [(text, count, total) for text, count in sorted(counts.items(), key=lambda item: -item[1])]


def _scaling_sentences(result: ExperimentResult) -> list[str]:
    found, server_cpus = [], result.server_cpus
    for one in analysis.scalings(result):
        if one.left_out:
            counts = ", ".join(f"{value:g}" for value in one.left_out)
            found.append(f"{one.variant}: the cores ran out at {counts} reactors: this machine gives the server "
                         f"{server_cpus} CPU{'s' if server_cpus != 1 else ''}. Those rates say what sharing costs, not "
                         "how the server scales.")
        fit = one.fit
        if fit is None:
            found.append(f"{one.variant}: no scaling law: fewer than three counts could be fitted.")
            continue
        limit = (f"a peak of {significant(fit.peak_rate)} req/s at {significant(fit.peak_n)}"
                 if math.isfinite(fit.peak_n) else
                 f"no peak, a ceiling of {significant(fit.peak_rate)} req/s" if math.isfinite(fit.peak_rate)
                 else "no limit in sight")
        found.append(f"{one.variant}: one alone {significant(fit.rate_one)} req/s, contention σ = {fit.contention:.3f} "
                     f"(± {fit.contention_error:.3f}), coherency κ = {fit.coherency:.2e} "
                     f"(± {fit.coherency_error:.1e}), R² = {fit.r_squared:.3f}, {fit.levels} levels, "
                     f"n = {fit.n}: the law predicts {limit}.")
    return found


def _drift_sentences(result: ExperimentResult) -> list[str]:
    """Trends and changes of level in runs that are long enough for them."""
    found = []
    for case in result.cases:
        visit = next((visit for visit in case.visits if not visit.void and "rate_drift" in visit.figures), None)
        if visit is None:
            continue
        start = next((index for index, at in enumerate(visit.series.at_s) if at > visit.warm_up_s), 0)
        at, rates, rss = (values[start:] for values in (visit.series.at_s, visit.series.rate_per_s,
                                                        visit.series.rss_mib))
        rate, memory = statistics.drift(at, rates), statistics.drift(at, rss)
        if rate is None or memory is None:
            continue
        changes = statistics.change_points(rates)
        places = ", ".join(f"{at[index]:.0f} s" for index in changes)
        found.append(
            f"{case.name}: the rate {'drifts by' if rate.significant else 'does not drift:'} "
            f"{100 * rate.relative:+.1f} % over {at[-1] - at[0]:.0f} s (slope {rate.slope:+.3g} "
            f"[{rate.slope_low:+.3g}, {rate.slope_high:+.3g}] req/s per s, Theil–Sen; "
            f"p = {rate.p:.2g}, Kendall; n = {rate.n}); "
            f"{f'its level changes at {places}' if places else 'its level does not change'}; memory moves by "
            f"{3600 * memory.slope:+.2f} [{3600 * memory.slope_low:+.2f}, {3600 * memory.slope_high:+.2f}] MiB per "
            "hour.")
    return found


def _sentences(result: ExperimentResult, ratios: list[analysis.Comparison]) -> list[str]:
    """The answer in words: at most one sentence for each case, of the first headline figure."""
    figure = next((name for name in result.definition.headline if name in FIGURES), None)
    found = []
    for one in ratios:
        if one.figure != figure:
            continue
        percent = 100 * (one.ratio.estimate - 1)
        if one.ratio.n == 1:
            found.append(f"{one.case}: {one.ratio.estimate:.2f} times the {FIGURES[figure].title} of {one.base}; "
                         "one round, so no interval.")
            continue
        interval = f"{one.ratio.estimate:.2f} [{one.ratio.low:.2f}, {one.ratio.high:.2f}], n = {one.ratio.n}"
        if one.verdict == "equivalent":
            found.append(f"{one.case} and {one.base} are equivalent in {FIGURES[figure].title}: {interval}.")
        elif one.verdict == "undecided":
            found.append(f"{one.case} against {one.base}, {FIGURES[figure].title}: {interval}; not decided.")
        else:
            found.append(f"{one.case} has {abs(percent):.0f} % {'more' if percent > 0 else 'less'} "
                         f"{FIGURES[figure].title} than {one.base}: {interval}.")
    return found


def _plain_sentences(result: ExperimentResult, doctor: list[Finding]) -> list[str]:
    """The answer without a comparison: the measured values of the first headline figure, variant by variant."""
    if result.definition.kind == "machine":
        bad = [one.what for one in doctor if one.state == "bad"]
        return [f"Figures are falsified by: {', '.join(bad)}." if bad else "Nothing here falsifies figures."]
    figure, found = next(iter(result.definition.headline), "rate_per_s"), []
    for variant in dict.fromkeys(case.variant for case in result.cases):
        cases = [case for case in result.cases if case.variant == variant]
        shown = [f"{show(figure, median.estimate)}{f' at {case.label}' if case.label else ''}" for case in cases
                 if (median := analysis.summary(case, figure).median).n]
        if shown:
            counts = plots.rounds_of([case for case in cases if case.by_round(figure)], figure)
            found.append(f"{variant}: {title_of(figure)}: {'; '.join(shown)} ({counts}).")
        elif any(case.visits for case in cases):
            reason = next((visit.void for case in cases for visit in case.visits if visit.void), "not measured")
            found.append(f"{variant}: no round counts: {reason}.")
    return found


def _state(result: ExperimentResult, notes: list[tuple[str, int, int]]) -> str:
    if any(case.failed for case in result.cases) or any(not check.passed for check in result.checks):
        return "bad"
    skipped = any(case.skipped or any(visit.void for visit in case.visits) for case in result.cases)
    return "note" if skipped or notes or result.interrupted else "good"


def _plots(result: ExperimentResult) -> tuple[list[plots.Plot], list[plots.Plot]]:
    """Plots that stand two in a row, and plots that need the whole width."""
    pairs = [plots.figure_plot(result, name) for name in result.definition.headline[:4]]
    pairs += [plots.cpu_split(result), plots.calls(result), plots.life(result), plots.balance(result),
              plots.latency(result), plots.scaling_plot(result), plots.series(result),
              plots.memory(result)]
    wide = [plots.flame(case) for case in result.cases]
    return [one for one in pairs if one], [one for one in wide if one]


def section(result: ExperimentResult, doctor: list[Finding]) -> Section:
    """Everything that the page says of one experiment."""
    have = analysis.shown_figures(result)
    headline = [name for name in result.definition.headline if name in have]
    rest = [name for name in have if name not in headline]
    ratios = [one for name in headline for one in analysis.comparisons(result, name)]
    notes = _notes(result)
    tops = [Top(case.name, sum(case.stacks.values()), [
        ("functions that the CPU was found in", analysis.top_functions(case.stacks)),
        ("… of the program", analysis.top_functions(case.stacks, kernel=False))])
        for case in result.cases if case.stacks]
    visited = [case for case in result.cases if case.visits]
    spreads = [one for case in visited for name in headline if (one := _spread(case, name))]
    rest_rows = [(case.name, [_median(case, name) for name in rest]) for case in visited]
    pairs, wide = _plots(result)
    scaling, drift = _scaling_sentences(result), _drift_sentences(result)
    sentences = _sentences(result, ratios) or drift or _plain_sentences(result, doctor)
    return Section(result=result, state=_state(result, notes), sentences=sentences, figures=headline,
                   rows=_rows(result, headline), ratios=ratios, claims=analysis.claim_rows(result, doctor),
                   scaling=scaling, drift=[] if sentences is drift else drift, notes=notes,
                   tops=tops, spreads=spreads, rest=rest, rest_rows=rest_rows, counters=_counters(visited),
                   plots=pairs, wide_plots=wide)


def _median(case: CaseResult, name: str) -> tuple[str, int]:
    median = analysis.summary(case, name).median
    return show(name, median.estimate), median.n


def _counters(cases: list[CaseResult]) -> list[tuple[str, list[str]]]:
    """The growth of the server's own counters in the first round, from start to end of the load."""
    columns = [case.visits[0].metrics for case in cases]
    names = sorted({name for column in columns for name in column})
    return [(name, [f"{column.get(name, 0):,.0f}" for column in columns]) for name in names]


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), undefined=jinja2.StrictUndefined,
                                     autoescape=lambda name: bool(name and ".html" in name), trim_blocks=True,
                                     lstrip_blocks=True)
    filters: dict[str, Callable] = {"title_of": title_of, "show": show, "significant": significant,
                                    "cell": lambda text: str(text).replace("|", "\\|").replace("\n", " ")}
    environment.filters.update(filters)
    return environment


def _safe_json(value: object) -> markupsafe.Markup:
    """JSON that may stand within a script element: no '<' in it can end the element."""
    text = json.dumps(value, separators=(",", ":"), default=lambda one: one.tolist())
    return markupsafe.Markup(text.replace("<", "\\u003c"))


def render(run: Run) -> tuple[str, str]:
    """(HTML, Markdown) of a run."""
    sections = [section(result, run.doctor) for result in run.experiments]
    visits = [visit for result in run.experiments for case in result.cases for visit in case.visits]
    totals = {"experiments": len(sections), "cases": sum(len(one.cases) for one in run.experiments),
              "visits": len(visits), "requests": sum(visit.figures.get("latency_samples") or 0 for visit in visits),
              "errors": sum(sum(visit.errors.values()) for visit in visits),
              "void": sum(bool(visit.void) for visit in visits),
              "failed": sum(one.state == "bad" for one in sections)}
    context = {"run": run, "sections": sections, "totals": totals, "FIGURES": FIGURES,
               "bad": [one for one in run.doctor if one.state == "bad"],
               "plotly": markupsafe.Markup(get_plotlyjs().replace("</script", "<\\/script")), "json": _safe_json,
               "css": markupsafe.Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),
               "javascript": markupsafe.Markup((TEMPLATES / "report.js").read_text(encoding="utf-8"))}
    environment = _environment()
    return (environment.get_template("report.html.j2").render(context),
            environment.get_template("report.md.j2").render(context))


def write(run: Run, folder: Path) -> None:
    """Write report.html and report.md."""
    page, text = render(run)
    write_whole(folder / "report.html", page)
    write_whole(folder / "report.md", text)

# SPDX-License-Identifier: Apache-2.0
