"""Runs experiments: rounds of interleaved visits (A B C A B C …), extra runs that count, trace and profile, checks.

A case that cannot run is skipped with its reason; one that fails is told and the others go on.
"""
from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from katana_lab import LAB, LabError, UsageError, analysis, generator, peers, perf, proc
from katana_lab.files import read_yaml
from katana_lab.models import Case, Experiment, cases_of
from katana_lab.results import CaseResult, ExperimentResult
from katana_lab.visit import Bench, Places, count, measure, profile, trace_calls

EXPERIMENTS = LAB / "experiments"
START_S = 0.5                     # a server's start and end, for the estimate of time
RESERVE_DESCRIPTORS = 200
COUNTED_ROUNDS = {True: 1, False: 3}
Progress = Callable[[str, float], None]                          # the present step, and its share of planned seconds


def find_experiments(names: Sequence[str], quick: bool, folder: Path = EXPERIMENTS) -> dict[str, Experiment]:
    """The experiments named (or files), or all of the suite."""
    known = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    if not names:
        suite = "quick" if quick else "full"
        every = {name: read_yaml(Experiment, path) for name, path in known.items()}
        return {name: one for name, one in every.items() if suite in one.suites}
    found = {}
    for name in names:
        path = Path(name) if name.endswith(".yaml") else known.get(name)
        if path is None:
            near = " or ".join(f"'{one}'" for one in difflib.get_close_matches(name, known, 2))
            raise UsageError(f"there is no experiment '{name}'{f' (is it {near}?)' if near else ''}; "
                             "`katana-lab list` names them")
        found[path.stem] = read_yaml(Experiment, path)
    return found


def places_of(experiment: Experiment, cpus: Sequence[int]) -> Places:
    """CPUs of both sides among those usable, or LabError when the experiment names others."""
    usable = sorted(cpus)
    pinning = experiment.pinning
    count = {"last": 1, "half": max(1, len(usable) // 2)}
    own = usable[-count[pinning.generator]:] if isinstance(pinning.generator, str) else pinning.generator
    if pinning.server == "all":
        server = usable
    elif pinning.server == "all_but_generator":
        server = [cpu for cpu in usable if cpu not in own] or usable
    else:
        server = pinning.server
    for cpu in {*own, *server} - set(usable):
        raise LabError(f"CPU {cpu} is not among those this process may use: {', '.join(map(str, usable))}")
    return Places(tuple(server), tuple(own))


def one_cpu_places(places: Places, experiment: Experiment) -> Places:
    """Servers of one thread get one CPU, unless the experiment says otherwise."""
    threads = max([int(variant.options.get("threads", 1)) for variant in experiment.variants.values()] or [1])
    swept = experiment.sweep is not None and experiment.sweep.parameter == "option:threads"
    if experiment.pinning.server == "all_but_generator" and threads == 1 and not swept:
        return Places(places.server[:1], places.generator)
    return places


def home_of(places: Places, cpus: Sequence[int]) -> set[int]:
    """Where the laboratory itself works: beside both sides, or else on the generator's CPUs, never on the server's."""
    return set(cpus) - set(places.server) - set(places.generator) or set(places.generator)


def planned_seconds(experiment: Experiment, quick: bool) -> float:
    """The seconds that the experiment takes, if every case runs."""
    if experiment.kind == "machine":
        return 1.0
    phases, sample, cases = experiment.phases(quick), experiment.sample, len(cases_of(experiment, quick))
    one = phases.warm_up_s_max + phases.measure_s + phases.cool_down_s + START_S
    extra = min(3.0, max(1.0, phases.measure_s)) + START_S + perf.ATTACH_S
    counted = min(phases.rounds, COUNTED_ROUNDS[quick]) * extra * (1 if sample.counters else 0)
    return cases * (one * phases.rounds + counted + extra * sample.calls + (extra + 1.5) * sample.profile)


class Skip(LabError):
    """This case cannot run here."""


class ExperimentRunner:
    """One experiment, from its first visit to its checks."""

    def __init__(self, name: str, experiment: Experiment, quick: bool, bench: Bench, servers: dict[str, peers.Server],
                 progress: Progress):
        self._experiment, self._quick, self._bench = experiment, quick, bench
        self._servers, self._progress = servers, progress
        self._phases = experiment.phases(quick)
        self._places = one_cpu_places(places_of(experiment, bench.cpus), experiment)
        self._cases = cases_of(experiment, quick)
        self._result = ExperimentResult(name=name, definition=experiment, server_cpus=len(self._places.server))

    def run(self) -> ExperimentResult:
        """Run all rounds. Returns the results so far, also after a failure or an interruption."""
        began, usable = time.monotonic(), os.sched_getaffinity(0)
        try:
            os.sched_setaffinity(0, home_of(self._places, self._bench.cpus))
            self._visit_all(self._open_cases())
        except KeyboardInterrupt:
            self._result.interrupted = True                      # the figures until then are worth having
        finally:
            os.sched_setaffinity(0, usable)
        self._result.checks = analysis.check_results(self._result)
        self._result.seconds = time.monotonic() - began
        return self._result

    def _open_cases(self) -> dict[str, CaseResult]:
        """A row for each case; returned are those that can run."""
        rows = {}
        for case in self._cases:
            row = CaseResult(name=case.name, variant=case.variant, value=case.value, label=case.label, note=case.note,
                             server=case.server)
            self._result.cases.append(row)
            try:
                self._check(case)
            except Skip as reason:
                row.skipped = str(reason)
                self._progress(f"{case.name}: skipped, {reason}", self._case_seconds())
            else:
                rows[case.name] = row
        return rows

    def _visit_all(self, rows: dict[str, CaseResult]) -> None:
        """Rounds of all cases, interleaved."""
        for number in range(self._phases.rounds):
            for case in self._cases:
                row = rows.get(case.name)
                if row is not None and not row.failed and not row.skipped:
                    self._visit(case, row, number)

    def _case_seconds(self) -> float:
        return planned_seconds(self._experiment, self._quick) / max(1, len(self._cases))

    def _check(self, case: Case) -> None:
        """Skip with a reason cases that cannot run; UsageError for mistakes in the file."""
        server = self._servers.get(case.server)
        if server is None:
            raise UsageError(f"lab/experiments/{self._result.name}.yaml: variants.{case.variant}.server: there is no "
                             f"lab/peers/{case.server}.yaml")
        peers.check_options(server, case.options, f"lab/experiments/{self._result.name}.yaml: variants.{case.variant}")
        if case.load.target.split("?")[0] not in server.peer.paths and not server.peer.ours and \
                not case.load.target.startswith("/plaintext"):
            raise Skip(f"{case.server} does not answer {case.load.target}")
        try:
            peers.prepare(server, self._bench.build)
        except peers.Unavailable as error:
            raise Skip(str(error)) from None
        limit = proc.descriptors_max()
        if case.load.connections + RESERVE_DESCRIPTORS > limit:
            raise Skip(f"{case.load.connections} connections need as many descriptors, the hard limit is {limit}: "
                       "raise LimitNOFILE or /etc/security/limits.conf")

    def _visit(self, case: Case, row: CaseResult, number: int) -> None:
        server = self._servers[case.server]
        text = f"{self._result.name}: round {number + 1}/{self._phases.rounds} {case.name}"
        self._progress(text, 0.0)
        try:
            visit, row.command = measure(self._bench, server, case, self._places, self._experiment, self._phases,
                                         number)
            self._note_cores(case, visit.notes)
            row.visits.append(visit)                             # a later failure or interruption does not lose it
            if self._experiment.sample.counters and number < COUNTED_ROUNDS[self._quick]:
                visit.figures |= count(self._bench, server, case, self._places, self._phases)
            if number == 0:
                self._extras(case, row, text)
            time.sleep(self._phases.cool_down_s)
        except LabError as error:
            self._fail(row, server, str(error))
        self._progress(text, self._case_seconds() / self._phases.rounds)

    def _note_cores(self, case: Case, notes: list[str]) -> None:
        threads = int(case.options.get("threads", 1))
        if threads > len(self._places.server):
            cpus = len(self._places.server)
            notes.append(f"the cores ran out: {threads} threads on {cpus} CPU{'s' if cpus != 1 else ''} of the server")

    def _fail(self, row: CaseResult, server: peers.Server, message: str) -> None:
        """An engine that the kernel forbids is skipped, as a missing rival is; anything else failed."""
        if server.peer.ours and "io_uring" in message and not row.visits:
            row.skipped = message
        else:
            row.failed = message

    def _extras(self, case: Case, row: CaseResult, text: str) -> None:
        server, sample, access = self._servers[case.server], self._experiment.sample, self._bench.access
        if sample.calls and access.names:
            self._progress(f"{text}: tracing calls", 0.0)
            row.calls, row.calls_n, lost = trace_calls(self._bench, server, case, self._places, self._phases)
            row.visits[-1].notes += [lost] if lost else []
            row.calls_by = access.names
        if sample.profile and access.profile:
            self._progress(f"{text}: profiling", 0.0)
            row.stacks = profile(self._bench, server, case, self._places, self._phases)


def make_bench(build: Path) -> Bench:
    """Everything that visits need, checked now and not in the middle of a run."""
    for name in ("taskset", "prlimit"):
        proc.tool(name)
    return Bench(build, generator.find_program(build), proc.free_port(), perf.probe(),
                 tuple(sorted(os.sched_getaffinity(0))))

# SPDX-License-Identifier: Apache-2.0
