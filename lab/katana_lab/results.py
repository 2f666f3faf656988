"""results.json: its schema, version 1. docs/guides/laboratory.md describes it; this file is its one definition.

The file is also a Google Benchmark file: `context` and `benchmarks` on top, so that its tools and ours read both kinds.
Ours stands under `katana_lab`. A file of a newer schema is refused, not guessed at.
"""
from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, field_serializer

from katana_lab import UsageError
from katana_lab.figures import FIGURES
from katana_lab.files import parse, read_json, shown, write_whole
from katana_lab.machine import Machine
from katana_lab.models import Experiment, Value

SCHEMA = 1
DIGITS = 6


def _round(value: float) -> float | None:
    """Six significant digits; JSON has no infinity and no NaN."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Series(_Record):
    """The course of a visit over time; `at_s` counts from the start of the load."""

    at_s: list[float] = []
    rate_per_s: list[float] = []
    server_cpu: list[float] = []
    rss_mib: list[float] = []

    @field_serializer("at_s", "rate_per_s", "server_cpu", "rss_mib")
    def _short(self, values: list[float]) -> list[float]:
        return [_round(value) or 0.0 for value in values]


class Visit(_Record):
    """One run of one case. `void`: why its figures do not count, or empty. `notes`: what limits them."""

    round: int
    figures: dict[str, float | None] = {}
    void: str = ""
    notes: list[str] = []
    warm_up_s: float = 0.0
    steady: bool = True
    errors: dict[str, int] = {}
    reactor_shares: list[float] = []
    histogram: str = ""                  # HdrHistogram V2, nanoseconds, the measured window
    series: Series = Series()
    metrics: dict[str, float] = {}       # how much the server's own counters grew

    @field_serializer("figures", "metrics")
    def _short(self, values: dict[str, float | None]) -> dict[str, float | None]:
        return {name: None if value is None else _round(value) for name, value in values.items()}


class CallRow(_Record):
    """One system call by name: per request, and its share of failures; `us_per_call` includes waiting."""

    name: str
    per_request: float
    errors_per_request: float
    us_per_call: float


class CaseResult(_Record):
    """All visits of a case."""

    name: str
    variant: str
    value: Value | None = None
    label: str = ""
    note: str = ""
    server: str = ""
    skipped: str = ""                    # why it did not run at all
    failed: str = ""                     # why it ended early
    command: list[str] = []
    visits: list[Visit] = []
    calls: list[CallRow] = []
    calls_by: str = ""                   # 'perf' or 'strace'
    calls_n: int = 0                     # requests in the run that was traced
    stacks: dict[str, int] = {}

    def values(self, figure: str) -> list[float]:
        """The figure in every round that counts; NaN where it was not measured."""
        found = [visit.figures.get(figure) for visit in self.visits if not visit.void]
        return [math.nan if value is None else value for value in found]

    def by_round(self, figure: str) -> dict[int, float]:
        """The figure of every round that counts and has it."""
        return {visit.round: value for visit in self.visits
                if not visit.void and (value := visit.figures.get(figure)) is not None and math.isfinite(value)}


class CheckResult(_Record):
    """A condition of the experiment and how it went."""

    text: str
    passed: bool


class ExperimentResult(_Record):
    """An experiment as it was defined, and what came of it."""

    name: str
    definition: Experiment
    cases: list[CaseResult] = []
    checks: list[CheckResult] = []
    seconds: float = 0.0
    server_cpus: int = 1                 # CPUs that its servers could use
    interrupted: bool = False            # some of its visits were not made

    def case(self, name: str) -> CaseResult | None:
        """The case of this name, or None."""
        return next((case for case in self.cases if case.name == name), None)


class Finding(_Record):
    """A finding of the doctor: 'good', 'note' or 'bad'."""

    what: str
    state: str
    value: str
    remedy: str = ""


class Run(_Record):
    """Everything under `katana_lab`."""

    schema_version: int = SCHEMA
    machine: Machine
    command: str
    suite: str
    seconds: float = 0.0
    interrupted: bool = False            # the measured part is here, the rest was not run
    unavailable: dict[str, str] = {}     # kind of sample -> why this machine has none
    doctor: list[Finding] = []
    experiments: list[ExperimentResult] = []

    def experiment(self, name: str) -> ExperimentResult | None:
        """The experiment of this name, or None."""
        return next((one for one in self.experiments if one.name == name), None)


def _benchmark(experiment: str, case: CaseResult, visit: Visit, index: int, count: int) -> dict[str, Any] | None:
    rate, cpu = visit.figures.get("rate_per_s"), visit.figures.get("cpu_us_per_request")
    if not rate or cpu is None:
        return None
    name = f"{experiment}/{case.variant}" + (f"/{case.label}" if case.label else "")
    counters = {key: _round(value) for key, value in visit.figures.items()
                if value is not None and math.isfinite(value) and key in FIGURES}
    return {"name": name, "run_name": name, "run_type": "iteration", "repetitions": count, "repetition_index": index,
            "threads": 1, "iterations": int(visit.figures.get("latency_samples") or 0), "real_time": _round(1e6 / rate),
            "cpu_time": _round(cpu), "time_unit": "us", **counters}


def google_benchmark(run: Run) -> dict[str, Any]:
    """`context` and `benchmarks`: real_time is the time between replies, cpu_time the server's CPU per request."""
    benchmarks = []
    for experiment in run.experiments:
        for case in experiment.cases:
            counted = [visit for visit in case.visits if not visit.void]
            rows = [_benchmark(experiment.name, case, visit, index, len(counted))
                    for index, visit in enumerate(counted)]
            benchmarks += [row for row in rows if row]
    context = {"date": run.machine.date, "host_name": "", "executable": "katana-lab", "num_cpus": run.machine.cpus,
               "mhz_per_cpu": 0, "cpu_scaling_enabled": False, "caches": [], "load_avg": [run.machine.load_before],
               "library_build_type": "release"}
    return {"context": context, "benchmarks": benchmarks}


def slim(run: Run) -> Run:
    """The run without the parts that only a report needs: series, histograms, stacks. A repository keeps it as
    baseline."""
    def small(case: CaseResult) -> CaseResult:
        visits = [visit.model_copy(update={"series": Series(), "histogram": "", "metrics": {}})
                  for visit in case.visits]
        return case.model_copy(update={"visits": visits, "stacks": {}, "command": []})

    experiments = [one.model_copy(update={"cases": [small(case) for case in one.cases]}) for one in run.experiments]
    return run.model_copy(update={"experiments": experiments, "doctor": []})


def write(run: Run, path: Path) -> None:
    """Write the whole file or nothing."""
    text = json.dumps({**google_benchmark(run), "katana_lab": run.model_dump(mode="json")}, indent=None,
                      separators=(",", ":"), allow_nan=False)
    write_whole(path, text + "\n")


def read(path: Path) -> Run:
    """A results.json, or the one in a folder; UsageError when it is none of ours, or newer."""
    path = path / "results.json" if path.is_dir() else path
    data = read_json(path)
    ours = data.get("katana_lab") if isinstance(data, dict) else None
    if not isinstance(ours, dict):
        raise UsageError(f"{shown(path)}: no results of katana-lab: it has no 'katana_lab'")
    version = ours.get("schema_version")
    if not isinstance(version, int) or not 1 <= version <= SCHEMA:
        raise UsageError(f"{shown(path)}: its schema is {version!r}, this laboratory reads up to {SCHEMA}")
    # A key that this version of the laboratory no longer has is no reason to refuse a baseline.
    return parse(Run, ours, shown(path), extra="ignore")

# SPDX-License-Identifier: Apache-2.0
