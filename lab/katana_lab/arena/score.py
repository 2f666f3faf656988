"""HttpArena's points, over the servers that are present.

A profile gives 1,000 × own / best. In most, that is of the rate, the mean over connection counts. In json-comp the rate
is weighted by (smallest reply / own)² first, with heads. A paced profile multiplies the share of the planned rate by a
sum of ratios to the best. They are 0.50 × CPU, 0.25 × p99 and 0.25 × mean latency. Boards are added up on their own.
There is no total over them, and memory gives no points.
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from katana_lab.arena import BOARDS
from katana_lab.arena.loads import LOADS

POINTS_MAX = 1000.0
WEIGHTED_BY_SIZE = ("json-comp",)
RATE_SHARE = 0.95                        # of the planned rate counts as all of it
CPU_WEIGHT, P99_WEIGHT, MEAN_WEIGHT = 0.50, 0.25, 0.25


@dataclasses.dataclass(frozen=True)
class Entry:
    """A server in a profile: the mean over its connection counts. CPU and latencies are in microseconds."""

    rate: float
    reply_bytes: float = 0.0
    cpu_us: float = 0.0
    p99_us: float = 0.0
    mean_us: float = 0.0


Entries = Mapping[str, Mapping[str, Entry]]                      # profile -> server -> entry


def weighted_rates(profile: str, entries: Mapping[str, Entry]) -> dict[str, float]:
    """The rates that count."""
    if profile not in WEIGHTED_BY_SIZE:
        return {name: entry.rate for name, entry in entries.items()}
    smallest = min((entry.reply_bytes for entry in entries.values() if entry.reply_bytes), default=1.0)
    return {name: entry.rate * (smallest / entry.reply_bytes) ** 2 if entry.reply_bytes else 0.0
            for name, entry in entries.items()}


def paced_scores(target: float, entries: Mapping[str, Entry]) -> dict[str, float]:
    """The scores of a paced profile, each 0 to 100. A server that did not answer has 0, and is the best in nothing."""
    present = {name: entry for name, entry in entries.items() if min(entry.rate, entry.cpu_us, entry.p99_us,
                                                                     entry.mean_us) > 0}
    if not present:
        return dict.fromkeys(entries, 0.0)
    best = {figure: min(getattr(entry, figure) for entry in present.values())
            for figure in ("cpu_us", "p99_us", "mean_us")}

    def share(lost: float) -> float:
        return min(1.0, max(0.0, 1 - lost))

    def score_of(entry: Entry) -> float:
        rate = min(1.0, entry.rate / (RATE_SHARE * target))
        p99 = share(math.log10(entry.p99_us / best["p99_us"]) / 3)
        mean = share(math.log10(entry.mean_us / best["mean_us"]))
        return 100 * rate * (CPU_WEIGHT * best["cpu_us"] / entry.cpu_us + P99_WEIGHT * p99 + MEAN_WEIGHT * mean)

    return {name: score_of(present[name]) if name in present else 0.0 for name in entries}


def points_of(profile: str, entries: Mapping[str, Entry]) -> dict[str, float]:
    """The points of each server in a profile."""
    target = LOADS[profile].rate
    values = paced_scores(target, entries) if target else weighted_rates(profile, entries)
    best = max(values.values())
    return {name: POINTS_MAX * value / best if best > 0 else 0.0 for name, value in values.items()}


def score(entries: Entries) -> dict[str, dict[str, dict[str, float]]]:
    """Points by board, server and profile, the servers with the largest sum of a board first."""
    boards: dict[str, dict[str, dict[str, float]]] = {}
    for board, profiles in BOARDS.items():
        by_server: dict[str, dict[str, float]] = {}
        for profile in profiles:
            if not entries.get(profile):
                continue
            for name, points in points_of(profile, entries[profile]).items():
                by_server.setdefault(name, {})[profile] = points
        if by_server:
            boards[board] = dict(sorted(by_server.items(), key=lambda pair: -sum(pair[1].values())))
    return boards

# SPDX-License-Identifier: Apache-2.0
