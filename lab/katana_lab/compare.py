"""Two result files side by side: which figures got worse, by how much, and how sure that is.

Reads Google Benchmark's JSON and the laboratory's. A regression is told only when the whole interval of the ratio
current / baseline lies beyond the threshold. Equivalence is told when the whole interval lies within it; everything
else is undecided, which is not the same.

A single figure without repetitions has no interval. It is given ± 10 %, for which docs/decisions/0030 has the reasons,
and is marked as assumed. That is enough to find a figure that doubled, and too wide to call noise a regression.
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

import numpy
from scipy import stats

from katana_lab import UsageError, results, statistics
from katana_lab.figures import FIGURES, significant
from katana_lab.files import read_json, shown

ASSUMED = 0.10
TIME_METRICS = ("real_time", "cpu_time")
TIME_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclasses.dataclass
class Sample:
    """One figure of one benchmark: its values by repetition, or mean and deviation when only those were kept."""

    name: str
    metric: str
    unit: str
    better: str = "lower"
    values: list[float] = dataclasses.field(default_factory=list)
    mean: float | None = None
    median: float | None = None
    deviation: float | None = None
    repetitions: int = 0

    @property
    def centre(self) -> float:
        """The figure that is shown."""
        if self.values:
            return float(numpy.median(self.values))
        return next((one for one in (self.median, self.mean) if one is not None), math.nan)


@dataclasses.dataclass(frozen=True)
class Row:
    """One figure in both files. `ratio` is current / baseline; `worse`: the direction counts as a regression."""

    name: str
    metric: str
    unit: str
    baseline: float
    current: float
    ratio: statistics.Interval
    verdict: str                  # 'regression', 'improvement', 'equivalent', 'undecided'
    p: float

    @property
    def sentence(self) -> str:
        """Both figures, the ratio and its interval."""
        return (f"{self.name} {self.metric}: {significant(self.current, 4)} {self.unit} against "
                f"{significant(self.baseline, 4)} {self.unit}, ratio {self.ratio.estimate:.3f} "
                f"[{self.ratio.low:.3f}, {self.ratio.high:.3f}] ({self.ratio.method}, n = {self.ratio.n}"
                f"{'' if math.isnan(self.p) else f', p = {self.p:.3f} Mann–Whitney'})")


@dataclasses.dataclass(frozen=True)
class Comparison:
    """All rows, and what stood in one file only."""

    rows: list[Row]
    only_baseline: list[str]
    only_current: list[str]
    threshold: float

    @property
    def regressions(self) -> list[Row]:
        """The figures that got worse beyond doubt."""
        return [row for row in self.rows if row.verdict == "regression"]


def _google(data: dict, metric: str, source: str) -> dict[tuple[str, str], Sample]:
    benchmarks = data.get("benchmarks")
    if not isinstance(benchmarks, list):
        raise UsageError(f"{source}: neither Google Benchmark's JSON nor katana-lab's: it has no list 'benchmarks'")
    samples: dict[tuple[str, str], Sample] = {}
    for number, one in enumerate(benchmarks):
        name = one.get("run_name") or one.get("name") if isinstance(one, dict) else None
        if not name:
            raise UsageError(f"{source}: benchmarks[{number}]: it has no name")
        if one.get("error_occurred") or one.get("skipped"):
            continue
        value = one.get(metric)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise UsageError(f"{source}: benchmarks[{number}] ({name}): '{metric}' is {value!r}, expected a number")
        unit = one.get("time_unit", "ns")
        if unit not in TIME_UNITS:
            raise UsageError(f"{source}: benchmarks[{number}] ({name}): time_unit is {unit!r}, expected "
                             f"{', '.join(TIME_UNITS)}")
        _take(samples.setdefault((name, metric), Sample(name, metric, "ns")), one, value * TIME_UNITS[unit] * 1e9)
    return samples


def _take(sample: Sample, one: dict, value_ns: float) -> None:
    aggregate = one.get("aggregate_name")
    sample.repetitions = max(sample.repetitions, int(one.get("repetitions") or 0))
    if one.get("run_type") != "aggregate" and not aggregate:
        sample.values.append(value_ns)
    elif aggregate == "mean":
        sample.mean = value_ns
    elif aggregate == "median":
        sample.median = value_ns
    elif aggregate == "stddev":
        sample.deviation = value_ns


def _laboratory(path: Path) -> dict[tuple[str, str], Sample]:
    samples = {}
    for experiment in results.read(path).experiments:
        for case in experiment.cases:
            for figure in experiment.definition.gate:
                values = [value for value in case.values(figure) if math.isfinite(value)]
                if values:
                    name = f"{experiment.name}/{case.name}"
                    samples[name, figure] = Sample(name, figure, FIGURES[figure].unit, FIGURES[figure].better, values)
    return samples


def read_samples(path: Path, metric: str = "real_time") -> dict[tuple[str, str], Sample]:
    """Every figure of a file of either kind (or of the results in a folder)."""
    path = path / "results.json" if path.is_dir() else path
    data = read_json(path)
    if isinstance(data, dict) and "katana_lab" in data:
        return _laboratory(path)
    if not isinstance(data, dict):
        raise UsageError(f"{shown(path)}: neither Google Benchmark's JSON nor katana-lab's: it is no object")
    return _google(data, metric, shown(path))


def _moments(sample: Sample) -> tuple[float, float, int] | None:
    """Mean, relative standard error and n, where only aggregates were kept."""
    if sample.values or sample.deviation is None or sample.mean is None or sample.repetitions < 2 or sample.mean <= 0:
        return None
    return sample.mean, sample.deviation / sample.mean / math.sqrt(sample.repetitions), sample.repetitions


def _moments_of(sample: Sample) -> tuple[float, float, int] | None:
    if len(sample.values) < 2:
        return _moments(sample)
    mean = float(numpy.mean(sample.values))
    return mean, float(stats.sem(sample.values)) / mean, len(sample.values)


def ratio_of(current: Sample, baseline: Sample) -> statistics.Interval:
    """current / baseline with the best interval that the files allow."""
    if len(current.values) >= 2 and len(baseline.values) >= 2:
        return statistics.unpaired_ratio(current.values, baseline.values)
    if not baseline.centre > 0 or not math.isfinite(current.centre):
        return statistics.Interval(math.nan, math.nan, math.nan, 0, "none")
    ratio, ours, theirs = current.centre / baseline.centre, _moments_of(current), _moments_of(baseline)
    if ours and theirs:
        error = math.hypot(ours[1], theirs[1])
        freedom = min(ours[2], theirs[2]) - 1                    # the careful choice of Welch's
        reach = math.exp(float(stats.t.ppf(0.975, freedom)) * error)
        return statistics.Interval(ratio, ratio / reach, ratio * reach, min(ours[2], theirs[2]), "from deviations")
    return statistics.Interval(ratio, ratio / (1 + ASSUMED), ratio * (1 + ASSUMED), 1,
                               f"one run: ± {100 * ASSUMED:.0f} % assumed")


def _verdict(ratio: statistics.Interval, better: str, threshold: float) -> str:
    word = statistics.verdict(ratio, threshold)
    if word in ("equivalent", "undecided") or better == "neither":
        return "undecided" if better == "neither" and word != "equivalent" else word
    return "regression" if (word == "greater") == (better == "lower") else "improvement"


def compare(baseline: dict[tuple[str, str], Sample], current: dict[tuple[str, str], Sample],
            threshold: float) -> Comparison:
    """Every figure that both have. Raises UsageError when they share nothing."""
    shared = [key for key in current if key in baseline]
    if not shared:
        raise UsageError("the two files have no benchmark in common: are they of the same suite?")
    rows = []
    for key in shared:
        ours, theirs = current[key], baseline[key]
        ratio = ratio_of(ours, theirs)
        rows.append(Row(ours.name, ours.metric, ours.unit, theirs.centre, ours.centre, ratio,
                        _verdict(ratio, ours.better, threshold), statistics.mann_whitney(ours.values, theirs.values)))
    return Comparison(rows, sorted({name for name, _ in baseline.keys() - current.keys()}),
                      sorted({name for name, _ in current.keys() - baseline.keys()}), threshold)


def lines(comparison: Comparison, everything: bool = False) -> Sequence[str]:
    """The lines of the report: regressions first, then the rest, then a line that counts."""
    order = ("regression", "improvement", "undecided", "equivalent")
    labels = {"regression": "REGRESSION", "improvement": "better", "undecided": "undecided", "equivalent": "equivalent"}
    found = []
    for verdict in order:
        rows = [row for row in comparison.rows if row.verdict == verdict]
        if verdict in ("regression", "improvement") or everything:
            found += [f"{labels[verdict]}: {row.sentence}, threshold {comparison.threshold:g}" for row in rows]
    for title, names in (("only in the baseline", comparison.only_baseline),
                         ("only in current", comparison.only_current)):
        if names:
            found.append(f"{title}: {', '.join(names)}")
    counts = {verdict: sum(row.verdict == verdict for row in comparison.rows) for verdict in order}
    found.append(f"{len(comparison.rows)} figures compared at threshold {comparison.threshold:g}: "
                 f"{counts['regression']} regressions, {counts['improvement']} improvements, "
                 f"{counts['equivalent']} equivalent, {counts['undecided']} undecided")
    return found

# SPDX-License-Identifier: Apache-2.0
