"""The figures that the laboratory knows: their names in results.json, titles, units and which way is better."""
from __future__ import annotations

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Figure:
    """`better`: 'lower', 'higher' or 'neither'. `scale` turns the stored value into the shown unit."""

    title: str
    unit: str
    better: str = "lower"
    scale: float = 1.0
    about: str = ""


FIGURES: dict[str, Figure] = {
    "rate_per_s": Figure("requests per second", "req/s", "higher", about="answered in the measured window"),
    "cpu_us_per_request": Figure("CPU per request", "µs", about="user and kernel time of the server's processes"),
    "user_us_per_request": Figure("user CPU per request", "µs"),
    "kernel_us_per_request": Figure("kernel CPU per request", "µs"),
    "kernel_share": Figure("kernel share of CPU", "%", "neither", 100),
    "calls_per_request": Figure("system calls per request", "calls"),
    "instructions_user_per_request": Figure("user instructions per request", "instr."),
    "instructions_kernel_per_request": Figure("kernel instructions per request", "instr."),
    "cycles_per_request": Figure("cycles per request", "cycles"),
    "cache_misses_per_request": Figure("cache misses per request", "misses"),
    "instructions_per_cycle": Figure("instructions per cycle", "", "higher"),
    "switches_voluntary_per_request": Figure("voluntary context switches per request", "switches"),
    "switches_involuntary_per_s": Figure("involuntary context switches", "per s"),
    "latency_p50_us": Figure("latency p50", "µs"),
    "latency_p90_us": Figure("latency p90", "µs"),
    "latency_p95_us": Figure("latency p95", "µs"),
    "latency_p99_us": Figure("latency p99", "µs"),
    "latency_p999_us": Figure("latency p99.9", "µs"),
    "latency_max_us": Figure("latency max", "µs"),
    "latency_mean_us": Figure("latency mean", "µs"),
    "latency_iqr_us": Figure("latency interquartile range", "µs"),
    "latency_samples": Figure("latency samples", "", "higher"),
    "rss_mib": Figure("resident memory", "MiB"),
    "rss_growth_mib_per_h": Figure("memory growth", "MiB/h"),
    "rate_drift": Figure("drift of the rate over the window", "%", "neither", 100),
    "descriptors_max": Figure("open descriptors, most", "", "neither"),
    "errors": Figure("errors", ""),
    "balance": Figure("balance over reactors (Jain)", "", "higher", about="1: all reactors did the same"),
    "largest_share": Figure("share of the busiest reactor", "%", "lower", 100),
    "busiest_connections": Figure("connections of the busiest reactor / mean", "", "lower", about="1: all had as many"),
    "server_cpu": Figure("server CPU used", "%", "neither", 100, about="100 %: one CPU"),
    "generator_cpu": Figure("generator CPU used", "%", "neither", 100, about="100 %: one CPU"),
    "strangers_cpu": Figure("CPU of the server taken by strangers", "%", "lower", 100),
    "send_lag_p99_us": Figure("send lag of the generator p99", "µs"),
    "warm_up_s": Figure("detected warm-up", "s", "neither"),
}


def significant(value: float | None, digits: int = 3) -> str:
    """A number with three significant digits and separators; 'n/a' for a figure that was not measured."""
    if value is None or not math.isfinite(value):
        return "n/a"
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - magnitude)
    if rounded and math.floor(math.log10(abs(rounded))) > magnitude:
        magnitude += 1
    return f"{rounded:,.{max(0, digits - 1 - magnitude)}f}"


def show(name: str, value: float | None) -> str:
    """A figure in its unit, without the unit's name."""
    if value is None or not math.isfinite(value):
        return "n/a"
    return significant(value * FIGURES[name].scale)


def title_of(name: str) -> str:
    """Title and unit."""
    figure = FIGURES[name]
    return f"{figure.title}, {figure.unit}" if figure.unit else figure.title

# SPDX-License-Identifier: Apache-2.0
