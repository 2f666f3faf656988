"""HttpArena's score, over the servers that are present.

A profile's rate is the mean over its connection counts, and gives 100 × rate / best. Memory gives up to 50 more by
√rate / MiB; in json-comp the rate is weighted by (smallest reply / own)² first, with heads. The score is the sum.
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

POINTS_MAX, BONUS_MAX = 100.0, 50.0
WEIGHTED_BY_SIZE = ("json-comp",)


@dataclasses.dataclass(frozen=True)
class Entry:
    """A server in a profile, the mean over its connection counts."""

    rate: float
    mib: float
    reply_bytes: float = 0.0


@dataclasses.dataclass(frozen=True)
class Points:
    """The points of a server in a profile, or in all."""

    rate: float = 0.0
    memory: float = 0.0

    @property
    def total(self) -> float:
        """Both."""
        return self.rate + self.memory

    def __add__(self, other: Points) -> Points:
        return Points(self.rate + other.rate, self.memory + other.memory)


Entries = Mapping[str, Mapping[str, Entry]]                      # profile -> server -> entry


def weighted_rates(profile: str, entries: Mapping[str, Entry]) -> dict[str, float]:
    """The rates that count."""
    if profile not in WEIGHTED_BY_SIZE:
        return {name: entry.rate for name, entry in entries.items()}
    smallest = min((entry.reply_bytes for entry in entries.values() if entry.reply_bytes), default=1.0)
    return {name: entry.rate * (smallest / entry.reply_bytes) ** 2 if entry.reply_bytes else 0.0
            for name, entry in entries.items()}


def points_of(profile: str, entries: Mapping[str, Entry]) -> dict[str, Points]:
    """The points of each server in a profile."""
    rates = weighted_rates(profile, entries)
    thrifts = {name: math.sqrt(rate) / entries[name].mib for name, rate in rates.items()}
    best, best_thrift = max(rates.values()), max(thrifts.values())
    if best <= 0:
        return {name: Points() for name in rates}
    return {name: Points(POINTS_MAX * rate / best, BONUS_MAX * thrifts[name] / best_thrift)
            for name, rate in rates.items()}


def score(entries: Entries) -> tuple[dict[str, dict[str, Points]], dict[str, Points]]:
    """Points by profile and server, and the sums by server, the best first."""
    by_profile = {profile: points_of(profile, present) for profile, present in entries.items() if present}
    sums: dict[str, Points] = {}
    for points in by_profile.values():
        for name, one in points.items():
            sums[name] = sums.get(name, Points()) + one
    return by_profile, dict(sorted(sums.items(), key=lambda pair: -pair[1].total))

# SPDX-License-Identifier: Apache-2.0
