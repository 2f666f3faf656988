"""One visit: a fresh server, a load, and samples of both, turned into figures."""
from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy

from katana_lab import generator, peers, perf, proc, sampling, statistics
from katana_lab.generator import LoadRun, LogInterval
from katana_lab.models import Case, Experiment, Phases
from katana_lab.results import CallRow, Series, Visit

STRANGERS_MAX = 0.08              # The share of the server's CPUs that others may take before a visit is called noisy.
SATURATED, UNSATURATED = 0.9, 0.9
TAIL_S = 0.005                    # An interval may end this much later than it should and still count.
DRIFT_SECONDS_MIN = 10.0          # A slope per hour from less is magnified noise.
EXTRA_SECONDS_MAX = 3.0           # The most for a run that counts or traces; those figures repeat well.


@dataclasses.dataclass(frozen=True)
class Places:
    """CPUs of the server and of the generator."""

    server: tuple[int, ...]
    generator: tuple[int, ...]

    @property
    def shared(self) -> bool:
        """Both sides meet on a CPU."""
        return bool(set(self.server) & set(self.generator))


@dataclasses.dataclass
class Bench:
    """The tools of every visit: the build, the generator, ports, the access that the machine permits."""

    build: Path
    program: str
    ports: Iterator[int]
    access: perf.Access
    cpus: tuple[int, ...]                # CPUs that the laboratory may give away


@dataclasses.dataclass(frozen=True)
class Running:
    """A server that answers."""

    process: subprocess.Popen
    port: int
    work: Path
    command: list[str]


@contextlib.contextmanager
def serving(bench: Bench, server: peers.Server, case: Case, places: Places) -> Iterator[Running]:
    """A fresh server in its own folder; gone afterwards, whatever happens."""
    with tempfile.TemporaryDirectory(prefix="katana-lab-") as folder:
        work, port = Path(folder), next(bench.ports)
        work.chmod(0o755)                                        # nginx's workers are another user
        command = peers.command_of(server, case.options, port, bench.build, work)
        log = work / "server.log"
        process = None
        try:
            with proc.uninterrupted():                           # or it might start and have no owner
                process = proc.start(command, places.server, log)
            is_plain = case.load.method == "GET" and case.load.protocol != "websocket" and case.load.scenario is None
            probe = case.load.target if is_plain else server.peer.paths[0]
            proc.wait_until_up(server.name, port, probe, process, log=log)
            yield Running(process, port, work, command)
        finally:
            if process is not None:
                proc.stop(process)


def measure(bench: Bench, server: peers.Server, case: Case, places: Places, experiment: Experiment,
            phases: Phases, number: int) -> tuple[Visit, list[str]]:
    """The undisturbed run: time, latency, CPU, memory. Returns the visit and the server's command."""
    with serving(bench, server, case, places) as running:
        path = server.peer.metrics if experiment.sample.metrics else None
        before = sampling.scrape(running.port, path) if path else {}
        with sampling.Sampler(running.process.pid, places.server, places.generator, experiment.sample.every_s,
                              yields=case.load.rate_per_s is not None) as sampler:
            load = generator.run(bench.program, case.load, running.port, phases.warm_up_s_max + phases.measure_s,
                                 places.generator, experiment.sample.every_s)
        after = sampling.scrape(running.port, path) if path else {}
        visit = evaluate(load, sampler.samples, places, phases, case)
        visit.round = number
        visit.metrics = {key: value - before.get(key, 0.0) for key, value in after.items()
                         if "_total" in key and value != before.get(key, 0.0)}
        add_connections(visit, sampling.shares_by_reactor(before, after, "katana_connections_accepted"))
        add_balance(visit, sampling.shares_by_reactor(before, after, "katana_http_requests"), sampler.samples)
        return visit, running.command


def evaluate(load: LoadRun, samples: Sequence[proc.Sample], places: Places, phases: Phases, case: Case) -> Visit:
    """Figures of a finished load: finds where warm-up ended, and measures from there."""
    intervals = within(load.intervals, phases.warm_up_s_max + phases.measure_s)
    visit = Visit(round=0, errors=load.report.error_classes)
    if not intervals:
        visit.void = "the generator wrote no interval log"
        return visit
    rates = [one.count / max(1e-9, one.end_s - one.start_s) for one in intervals]
    origin, limit_s = intervals[0].start_s, intervals[0].start_s + phases.warm_up_s_max
    start = statistics.steady_from(rates)
    late = start is None or intervals[start].start_s > limit_s + 1e-3
    if late:
        start = next((index for index, one in enumerate(intervals) if one.end_s > limit_s), 0)
        visit.steady = False
        visit.notes.append("warm-up did not end in its time: the rate still changes within the window")
    window = intervals[start:]
    histogram = generator.merge([one.histogram for one in window])
    visit.warm_up_s = intervals[start].start_s - origin
    visit.histogram = generator.encode(histogram)
    visit.series = _series(intervals, rates, samples, origin)
    visit.figures = {"warm_up_s": visit.warm_up_s, "errors": float(sum(visit.errors.values())),
                     **generator.percentiles_us(histogram), **_costs(window, samples, places),
                     "send_lag_p99_us": load.report.generator.lag_p99_us if case.load.rate_per_s else None,
                     "generator_cpu": load.report.generator.cpu_share, **_trends(window, rates[start:], samples)}
    _judge(visit, load, case, places)
    return visit


def within(intervals: Sequence[LogInterval], seconds: float) -> Sequence[LogInterval]:
    """The intervals that lie wholly within the load: intervals while it ends are not valid."""
    return [one for one in intervals if one.end_s <= intervals[0].start_s + seconds + TAIL_S]


def _costs(window: Sequence[LogInterval], samples: Sequence[proc.Sample], places: Places) -> dict[str, float]:
    """CPU, memory and switches between the samples nearest to the window's ends; requests of exactly that time."""
    first, last = sampling.between(samples, window[0].start_s, window[-1].end_s)
    spent = proc.Spent(first, last)
    moments = [window[0].start_s, *(one.end_s for one in window)]
    counts = numpy.concatenate([[0], numpy.cumsum([one.count for one in window])])
    low, high = numpy.interp([first.at_s, last.at_s], moments, counts)
    requests = float(high - low)
    span = window[-1].end_s - window[0].start_s
    figures = {"rate_per_s": float(counts[-1]) / span if span > 0 else 0.0, "rss_mib": spent.rss_kib / 1024,
               "descriptors_max": float(max(sample.usage.descriptors for sample in samples))}
    if spent.elapsed_s <= 0 or requests <= 0:
        return figures
    both = spent.user_s + spent.kernel_s
    share, per_request = spent.kernel_s / both if both > 0 else 0.0, 1e6 * spent.cpu_s / requests
    return {**figures, "cpu_us_per_request": per_request, "kernel_us_per_request": share * per_request,
            "user_us_per_request": (1 - share) * per_request, "kernel_share": share, "server_cpu": spent.server,
            "strangers_cpu": spent.others / len(places.server) if not places.shared else float("nan"),
            "switches_voluntary_per_request": spent.switches[0] / requests,
            "switches_involuntary_per_s": spent.switches[1] / spent.elapsed_s}


def _trends(window: Sequence[LogInterval], rates: Sequence[float],
            samples: Sequence[proc.Sample]) -> dict[str, float]:
    """The change of the rate and of the memory within the window."""
    inside = [sample for sample in samples if window[0].start_s <= sample.at_s <= window[-1].end_s]
    rate = statistics.drift([one.start_s for one in window], rates)
    rss = statistics.drift([sample.at_s for sample in inside], [sample.usage.rss_kib / 1024 for sample in inside])
    seconds, found = window[-1].end_s - window[0].start_s, {}
    if rate and seconds >= DRIFT_SECONDS_MIN:
        found["rate_drift"] = rate.relative
    if rss and seconds >= DRIFT_SECONDS_MIN:
        found["rss_growth_mib_per_h"] = 3600 * rss.slope
    return found


def _series(intervals: Sequence[LogInterval], rates: Sequence[float], samples: Sequence[proc.Sample],
            origin: float) -> Series:
    times = [one.end_s for one in intervals]
    at = [sample.at_s for sample in samples]
    cpu = numpy.interp(times, at, [sample.usage.cpu_s for sample in samples])
    starts = numpy.interp([one.start_s for one in intervals], at, [sample.usage.cpu_s for sample in samples])
    spans = [max(1e-9, one.end_s - one.start_s) for one in intervals]
    rss = numpy.interp(times, at, [sample.usage.rss_kib / 1024 for sample in samples])
    return Series(at_s=[moment - origin for moment in times], rate_per_s=list(rates),
                  server_cpu=[float(value) for value in (cpu - starts) / spans], rss_mib=[float(one) for one in rss])


def _judge(visit: Visit, load: LoadRun, case: Case, places: Places) -> None:
    """Say what limits the figures, and void those that a starved generator falsifies."""
    report, figures = load.report, visit.figures
    server = (figures.get("server_cpu") or 0.0) / len(places.server)
    if case.load.rate_per_s:
        if report.void or report.generator.saturated:
            visit.void = "; ".join(report.void_reasons) or \
                "the generator could not keep its schedule: latency would be its own, not the server's"
    elif figures["generator_cpu"] > SATURATED and server < UNSATURATED:
        visit.notes.append("the generator was the limit: the rate is a lower bound, the cost of a request stands")
    if (figures.get("strangers_cpu") or 0.0) > STRANGERS_MAX:
        visit.notes.append(f"strangers took {100 * figures['strangers_cpu']:.0f} % of the server's CPU")
    if places.shared:
        visit.notes.append("server and generator share CPUs: the rate says nothing about the server alone")
    if report.requests == 0:
        visit.void = "no request was answered"


def add_balance(visit: Visit, shares: Sequence[float], samples: Sequence[proc.Sample]) -> None:
    """The distribution of work over reactors: requests of each, else CPU time of each thread."""
    if len(shares) < 2:
        first, last = samples[0].usage.threads, samples[-1].usage.threads
        shares = [spent - first.get(task, 0.0) for task, spent in last.items() if spent - first.get(task, 0.0) > 0.01]
    if len(shares) < 2 or sum(shares) <= 0:
        return
    visit.reactor_shares = [float(share) / sum(shares) for share in shares]
    visit.figures["balance"] = statistics.jain_index(shares)
    visit.figures["largest_share"] = max(visit.reactor_shares)


def add_connections(visit: Visit, accepted: Sequence[float]) -> None:
    """The distribution of connections over reactors, of which each serves those that it counts as accepted."""
    if len(accepted) > 1 and sum(accepted) > 0:
        visit.figures["busiest_connections"] = max(accepted) * len(accepted) / sum(accepted)


def _extra_seconds(phases: Phases) -> float:
    return min(EXTRA_SECONDS_MAX, max(1.0, phases.measure_s))


def count(bench: Bench, server: peers.Server, case: Case, places: Places, phases: Phases) -> dict[str, float]:
    """Counters per request, from separate runs: counting slows the server."""
    hardware, groups = bench.access.hardware, []
    if hardware:
        groups.append(hardware)
    if bench.access.calls:
        groups.append((perf.CALLS_EVENT,))                   # apart: a tracepoint's own instructions would count
    figures: dict[str, float] = {}
    for events in groups:
        figures |= _per_request(_counted(bench, server, case, places, phases, events))
    return figures


def _counted(bench: Bench, server: peers.Server, case: Case, places: Places, phases: Phases,
             events: Sequence[str]) -> dict[str, float]:
    with serving(bench, server, case, places) as running, \
            perf.EventCounter(running.process.pid, events, running.work) as counter:
        load = generator.run(bench.program, case.load, running.port, _extra_seconds(phases), places.generator)
    requests = max(1, load.report.requests)
    return {name: value / requests for name, value in counter.counts.items()}


def _per_request(counts: dict[str, float]) -> dict[str, float]:
    names = {"instructions:u": "instructions_user_per_request", "instructions:k": "instructions_kernel_per_request",
             "cycles": "cycles_per_request", "cache-misses": "cache_misses_per_request",
             perf.CALLS_EVENT: "calls_per_request"}
    figures = {names[event]: value for event, value in counts.items() if event in names}
    instructions = counts.get("instructions:u", 0) + counts.get("instructions:k", 0)
    if instructions and counts.get("cycles"):
        figures["instructions_per_cycle"] = instructions / counts["cycles"]
    return figures


def trace_calls(bench: Bench, server: peers.Server, case: Case, places: Places,
                phases: Phases) -> tuple[list[CallRow], int, str]:
    """Return system calls by name per request, the number of those requests, and a warning about them.

    They come from a separate run: tracing slows the server several times over.
    """
    with serving(bench, server, case, places) as running:
        with perf.Trace(running.process.pid, bench.access.names, running.work) as trace:
            load = generator.run(bench.program, case.load, running.port, _extra_seconds(phases), places.generator)
    requests = max(1, load.report.requests)
    rows = [CallRow(name=call.name, per_request=call.calls / requests, errors_per_request=call.errors / requests,
                    us_per_call=1000 * call.total_ms / call.calls) for call in trace.calls if call.calls]
    lost = "perf could not follow every system call: those by name are too few" if trace.lost else ""
    return rows, load.report.requests, lost


def profile(bench: Bench, server: peers.Server, case: Case, places: Places, phases: Phases) -> dict[str, int]:
    """Folded stacks under load, from its own run."""
    with serving(bench, server, case, places) as running:
        with perf.StackRecorder(running.process.pid, running.work) as recorder:
            generator.run(bench.program, case.load, running.port, max(2.0, _extra_seconds(phases)), places.generator)
        return recorder.stacks()

# SPDX-License-Identifier: Apache-2.0
