"""katana-load, seen from here: its command line, its JSON and its interval log, turned into one result.

The interval log (HdrHistogram V2) permits the end of warm-up to be decided afterwards. Intervals before that moment are
left out, the others are merged without loss. `Histogram` values are whole nanoseconds, except where the log says
otherwise (LOG_UNITS_PER_US).
"""
from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import tempfile
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from pydantic import BaseModel, ConfigDict

from katana_lab import LabError, proc, scenario
from katana_lab.files import parse, read_json
from katana_lab.models import Load

PROGRAM = "katana-load"
LOG_UNITS_PER_US = 1000.0
LOWEST, HIGHEST, DIGITS = 1, 3_600_000_000_000, 3
GRACE_S = 20                      # beyond its duration, before it is called hung
PERCENTILES = {"latency_p50_us": 50, "latency_p90_us": 90, "latency_p95_us": 95, "latency_p99_us": 99,
               "latency_p999_us": 99.9, "latency_max_us": 100}


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="allow")


class LatencyReport(_Lenient):
    """`latency_us` of the JSON."""

    p50: float = 0
    p90: float = 0
    p99: float = 0
    p999: float = 0
    max: float = 0
    samples: int = 0


class GeneratorReport(_Lenient):
    """`generator` of the JSON: how busy it was itself. `send_lag_us` is a number or percentiles."""

    cpu_share: float = 0
    send_lag_us: float | dict[str, float] = 0
    saturated: bool = False

    @property
    def lag_p99_us(self) -> float:
        """The lag of sending behind the schedule, 99th percentile."""
        lag = self.send_lag_us
        return float(lag.get("p99", max(lag.values(), default=0.0))) if isinstance(lag, dict) else float(lag)


class LoadReport(_Lenient):
    """The JSON that `katana-load --json` writes (the contract's keys; others are kept and ignored)."""

    requests: int
    duration_s: float
    rate_per_s: float
    bytes: int = 0
    latency_us: LatencyReport
    errors: dict[str, int] = {}
    generator: GeneratorReport
    void: bool = False
    void_reasons: list[str] = []

    @property
    def error_classes(self) -> dict[str, int]:
        """Errors by class, without the sum that may stand among them and without what did not happen."""
        return {name: count for name, count in self.errors.items() if count and name != "total"}


@dataclasses.dataclass(frozen=True)
class LogInterval:
    """One interval of the log. Times are time.monotonic() of this process."""

    start_s: float
    end_s: float
    histogram: HdrHistogram

    @property
    def count(self) -> int:
        """Requests answered in it."""
        return self.histogram.get_total_count()


@dataclasses.dataclass(frozen=True)
class LoadRun:
    """A finished load."""

    report: LoadReport
    intervals: list[LogInterval]
    started_s: float
    ended_s: float


def find_program(build: Path) -> str:
    """The generator of the build (or KATANA_LOAD), or LabError with the command that makes it."""
    return os.environ.get("KATANA_LOAD") or proc.built(PROGRAM, build)


def arguments(load: Load, port: int, duration_s: float, cpus: int = 1) -> list[str]:
    """The flags of a load, without those that say where results go. `cpus`: how many the generator has."""
    threads = min(load.threads or cpus, load.connections)
    flags = ["-t", str(threads), "-c", str(load.connections), "-d", f"{duration_s:g}s"]
    if load.rate_per_s is not None:
        flags += ["-R", f"{load.rate_per_s:g}"]
    if load.protocol != "http1":
        flags.append(f"--{load.protocol}")
    if load.pipeline > 1:
        flags += ["--streams" if load.protocol == "http2" else "--pipeline", str(load.pipeline)]
    if load.message_bytes is not None:
        flags += ["--message-bytes", str(load.message_bytes)]
    if load.requests_per_connection is not None:
        flags += [f"--churn={load.requests_per_connection}"]
    if load.method != "GET":
        flags += ["--method", load.method]
    for name, value in {**load.headers, **filler_headers(load.header_bytes)}.items():
        flags += ["--header", f"{name}: {value}"]
    if load.body is not None:
        flags += ["--body", load.body]
    return [*flags, f"http://127.0.0.1:{port}{load.target}"]


def filler_headers(size: int, value_bytes_max: int = 200) -> dict[str, str]:
    """Headers that add `size` bytes to a head, several of the usual length rather than one that is endless."""
    headers, index = {}, 0
    while size > 0:
        name = f"X-Filler-{index}"
        rest = size - len(name) - 4                              # ': ' and CR LF
        # The remaining bytes must hold another name, or go into this one.
        value = rest if rest <= value_bytes_max + len(name) + 5 else value_bytes_max
        headers[name] = "x" * max(1, value)
        size -= len(name) + 4 + len(headers[name])
        index += 1
    return headers


def read_log(path: Path) -> list[LogInterval]:
    """Every interval of a HdrHistogram V2 log."""
    reader = HistogramLogReader(str(path), HdrHistogram(LOWEST, HIGHEST, DIGITS))
    offset_s, found = time.time() - time.monotonic(), []
    try:
        while (histogram := reader.get_next_interval_histogram()) is not None:
            found.append(LogInterval(histogram.start_time_stamp_msec / 1000 - offset_s,
                                     histogram.end_time_stamp_msec / 1000 - offset_s, histogram))
    except (ValueError, IndexError, TypeError, zlib.error, HdrCookieException, HdrLengthException) as error:
        raise LabError(f"{path.name} is no HdrHistogram log: {error or type(error).__name__}") from None
    finally:
        reader.close()
    return found


def merge(histograms: Sequence[HdrHistogram]) -> HdrHistogram:
    """One histogram of several, without loss."""
    whole = HdrHistogram(LOWEST, HIGHEST, DIGITS)
    for histogram in histograms:
        whole.add(histogram)
    return whole


def encode(histogram: HdrHistogram) -> str:
    """HdrHistogram's V2 text: small, lossless, read by every implementation."""
    return histogram.encode().decode("ascii")


def decode(text: str) -> HdrHistogram:
    """The histogram of such a text."""
    return HdrHistogram.decode(text)


def percentiles_us(histogram: HdrHistogram) -> dict[str, float]:
    """The latency figures of a histogram; empty when it has no values."""
    count = histogram.get_total_count()
    if count == 0:
        return {"latency_samples": 0.0}

    def at(percentile: float) -> float:
        return histogram.get_value_at_percentile(percentile) / LOG_UNITS_PER_US

    figures = {name: at(percentile) for name, percentile in PERCENTILES.items()}
    return {**figures, "latency_mean_us": histogram.get_mean_value() / LOG_UNITS_PER_US,
            "latency_iqr_us": at(75) - at(25), "latency_samples": float(count)}


def spectrum(histogram: HdrHistogram, points_per_half: int = 5) -> list[tuple[float, float]]:
    """(share of slower requests, µs) with more points the rarer: what a plot with a logarithmic tail wants."""
    count, found = histogram.get_total_count(), []
    if count == 0:
        return found
    slower = 1.0
    while slower * count >= 1:
        found.append((slower, histogram.get_value_at_percentile(100 * (1 - slower)) / LOG_UNITS_PER_US))
        slower *= 0.5 ** (1 / points_per_half)
    found.append((1 / count, histogram.get_max_value() / LOG_UNITS_PER_US))
    return found


def run(program: str, load: Load, port: int, duration_s: float, cpus: Sequence[int],
        interval_s: float = 0.1) -> LoadRun:
    """Run the generator once, pinned, to its end; its log has intervals of `interval_s`."""
    with tempfile.TemporaryDirectory(prefix="katana-lab-load-") as folder:
        report, log = Path(folder) / "load.json", Path(folder) / "load.hdr"
        drawn = scenario.prepare(load.scenario, port, Path(program).with_name("katana"), Path(folder))
        command = [proc.tool("taskset"), "-c", ",".join(map(str, cpus)), program, "--quiet", "--json", str(report),
                   "--hdr", str(log), "--interval", f"{1000 * interval_s:.0f}ms", *drawn,
                   *arguments(load, port, duration_s, len(cpus))]
        started = time.monotonic()
        said = _finish(command, duration_s + GRACE_S)
        ended = time.monotonic()
        if not report.exists():
            raise LabError(f"{Path(program).name} wrote no result: {said or 'it said nothing'}")
        return LoadRun(parse(LoadReport, read_json(report), f"the JSON of {PROGRAM}"),
                       read_log(log) if log.exists() else [], started, ended)


def _last_words(process: subprocess.Popen, seconds_max: float) -> str:
    try:
        return process.communicate(timeout=seconds_max)[0]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=5)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]


def _finish(command: Sequence[str], seconds_max: float) -> str:
    """The last line that a generator says; one that does not end is told to, then ended."""
    process = None
    try:
        with proc.uninterrupted():                               # or it might start and have no owner
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
        said = _last_words(process, seconds_max)
    finally:
        if process is not None:                                  # Ctrl-C: its result will not be read
            process.kill()
            process.wait()
            process.stdout.close()
    lines = (said or "").strip().splitlines()
    return lines[-1] if lines else ""

# SPDX-License-Identifier: Apache-2.0
