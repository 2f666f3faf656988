"""The tables of main_job.py, made of its rounds; main_job.visit has the members of a round."""
from __future__ import annotations

import statistics
from collections.abc import Sequence

from katana_lab.contest import measured
from katana_lab.contest.servers import Server
from katana_lab.costs import harness
from katana_lab.main_job import servers
from katana_lab.main_job.loads import LOADS

SAMPLES_OF_P999 = 1000
MODERATE = ("20%", "5,000/s")            # rates at which p99 is compared
YARDSTICK = "axum"                       # whose p99 is the limit
TEST_COLUMNS = ("server", "CPU us/request", "ratio", "requests/s", "p99 us", "server", "client", "errors")


def of_test(rounds: harness.Rounds, test: str) -> harness.Rounds:
    """The rounds of one test; a server that failed has nothing in it."""
    return [{name: found["tests"].get(test, measured.FAILED) for name, found in one.items()} for one in rounds]


def of_rate(rounds: harness.Rounds, rate: str, name: str) -> list[dict]:
    """A server's figures at a rate, of the rounds that have any."""
    return [one[name]["rates"][rate] for one in rounds if rate in one[name]["rates"]]


def test_row(rounds: harness.Rounds, name: str) -> tuple[str, ...]:
    """The cells of a server in a test."""
    calm, median, first = harness.calm(rounds, name), harness.median, next(iter(rounds[0]))
    return (name, median(calm, "us"), harness.spread(harness.ratios(rounds, name, first)),
            measured.rate_cell(calm), median(calm, "p99_us", ",.0f"), *measured.last_cells(rounds, name))


def process_table(rounds: harness.Rounds) -> list[str]:
    """Start and memory."""
    rows = []
    for name in rounds[0]:
        found = [one[name] for one in rounds]
        rows.append((name, harness.median(found, "start_ms", ".1f"), *measured.mib_cells(found, "rest_kib",
                                                                                         "most_kib")))
    return harness.markdown(("server", "start ms", "MiB at rest", "MiB loaded"), rows)


def rates_of(rounds: harness.Rounds) -> list[str]:
    """All that any server had, in their order."""
    return list(dict.fromkeys(rate for one in rounds for found in one.values() for rate in found["rates"]))


def latency_cells(found: Sequence[dict]) -> tuple[str, str]:
    """The rate, and p50, p99 and p99.9 with their mark."""
    if not found:
        return "n/a", "over its capacity"
    mark = "*" if any(one["void"] or one["errors"] for one in found) else ""
    large = [one for one in found if one["samples"] >= SAMPLES_OF_P999]
    return (harness.median(found, "rate", ",.0f"),
            f"{harness.median(found, 'p50', ',.0f')} / {harness.median(found, 'p99', ',.0f')}"
            f" / {harness.median(large, 'p999', ',.0f')}{mark}")


def latency_table(rounds: harness.Rounds) -> list[str]:
    """p50, p99 and p99.9 at each rate."""
    rates = rates_of(rounds)
    columns = ("server", *(cell for rate in rates for cell in
                           ((f"{rate} is",) if rate.endswith("%") else ()) + (f"at {rate}: p50 / p99 / p99.9 us",)))
    rows = []
    for name in rounds[0]:
        cells = [name]
        for rate in rates:
            is_at, latency = latency_cells(of_rate(rounds, rate, name))
            cells += [f"{is_at}/s", latency] if rate.endswith("%") else [latency]
        rows.append(tuple(cells))
    return harness.markdown(columns, rows)


def median_ratios(rounds: harness.Rounds) -> dict[str, dict[str, float]]:
    """By test: CPU for each request of each server over the first one's, for servers that have any."""
    first = next(iter(rounds[0]))
    by_test = {load.title: {name: harness.ratios(of_test(rounds, test), name, first) for name in rounds[0]}
               for test, load in LOADS.items()}
    return {title: {name: statistics.median(values) for name, values in found.items() if values}
            for title, found in by_test.items()}


# ---- limits --------------------------------------------------------------------------------------

def is_own(name: str) -> bool:
    """It is this tree's, and no rival."""
    return bool(servers.SERVERS[name].target)


def nearest(rounds: harness.Rounds, test: str, first: str) -> tuple[str, list[float]]:
    """The rival whose CPU is the least in a test, and its ratios to the first server's."""
    rivals = [name for name in rounds[0] if name != first and not is_own(name)]
    by_name = {name: harness.ratios(of_test(rounds, test), name, first) for name in rivals}
    by_name = {name: ratios for name, ratios in by_name.items() if ratios}
    if not by_name:
        return "", []
    name = min(by_name, key=lambda one: statistics.median(by_name[one]))
    return name, by_name[name]


def p99_ratios(rounds: harness.Rounds, rate: str, first: str, other: str) -> list[float]:
    """first / other in each round that has both."""
    both = [(one[first]["rates"][rate]["p99"], one[other]["rates"][rate]["p99"]) for one in rounds
            if rate in one[first]["rates"] and rate in one.get(other, {"rates": {}})["rates"]]
    return [mine / theirs for mine, theirs in both if mine and theirs]


def verdict(values: Sequence[float], is_held: bool) -> str:
    """In the median of the rounds."""
    return "not measured" if not values else "held" if is_held else "NOT held"


def limits_table(rounds: harness.Rounds) -> list[str]:
    """The limits that were set: ahead of each rival in CPU for each request, and a p99 at moderate rates at most
    axum's."""
    first = next(iter(rounds[0]))
    rows = []
    for test, load in LOADS.items():
        name, values = nearest(rounds, test, first)
        rows.append((f"CPU for each request below every rival's: {load.title}",
                     verdict(values, bool(values) and statistics.median(values) > 1),
                     f"the nearest, {name}, takes {harness.spread(values)} of it" if values else ""))
    for rate in MODERATE:
        values = p99_ratios(rounds, rate, first, YARDSTICK)
        at = "20 % of its own rate" if rate == MODERATE[0] else rate
        is_held = bool(values) and statistics.median(values) <= 1
        rows.append((f"p99 at {at} at most {YARDSTICK}'s", verdict(values, is_held),
                     f"{harness.spread(values)} of it" if values else ""))
    return harness.markdown(("limit", first, "by how much: median over rounds, smallest and largest"), rows)


def tables(rounds: harness.Rounds, entered: Sequence[Server], flush_us: float) -> list[str]:
    """All of them."""
    lines = [*measured.heading("Users over SQLite, durable, on one CPU", "lab/main_job.py",
                               f"The disk takes {flush_us:,.0f} us to append and flush 4 KiB.", entered),
             "## Limits", "", *limits_table(rounds), "", "## Start and memory", "", *process_table(rounds),
             "", "## Latency of GET /users/{id} at a rate", "", *latency_table(rounds)]
    for test, load in LOADS.items():
        each = of_test(rounds, test)
        lines += ["", f"## {load.title}", ""]
        lines += harness.markdown(TEST_COLUMNS, [test_row(each, name) for name in each[0]])
    return lines

# SPDX-License-Identifier: Apache-2.0
