"""Looking at a server while it works: /proc several times a second, and its /metrics.

Thread    the Sampler has its own, pinned with the laboratory to the generator's CPUs, so as not to take the server's.
"""
from __future__ import annotations

import os
import re
import threading
import time
import urllib.request
from collections.abc import Sequence

from prometheus_client.parser import text_string_to_metric_families

from katana_lab import proc


class Sampler:
    """Reads /proc every `every_s` until stopped; the first and last samples are the moments of start and stop.

    `yields`: to everything else on its CPU, at once. The sampler runs on the generator's CPU, and must not delay the
    generator's schedule. But where the generator takes all of its CPU the sampler would never run.
    """

    def __init__(self, pid: int, server_cpus: Sequence[int], generator_cpus: Sequence[int], every_s: float,
                 yields: bool = False):
        self._pid, self._cpus, self._every_s = pid, (tuple(server_cpus), tuple(generator_cpus)), every_s
        self._yields = yields
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.samples: list[proc.Sample] = []

    def __enter__(self) -> Sampler:
        self._take()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._take()

    def _take(self) -> None:
        self.samples.append(proc.sample(self._pid, *self._cpus))

    def _run(self) -> None:
        if self._yields:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))       # this thread
        due = time.monotonic() + self._every_s
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            self._take()
            due = max(due + self._every_s, time.monotonic())


def between(samples: Sequence[proc.Sample], start_s: float, end_s: float) -> tuple[proc.Sample, proc.Sample]:
    """The samples nearest to two moments; their own times say which window they really span."""
    first = min(samples, key=lambda sample: abs(sample.at_s - start_s))
    last = min(samples, key=lambda sample: abs(sample.at_s - end_s))
    return first, last


# ---- the server's own figures --------------------------------------------------------------------

def scrape(port: int, path: str) -> dict[str, float]:
    """Counters and gauges of a /metrics page by `name{label="value",…}`; empty when there is none."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as reply:
            text = reply.read().decode()
    except OSError:
        return {}
    found = {}
    for family in text_string_to_metric_families(text):
        if family.type not in ("counter", "gauge", "untyped", "unknown"):
            continue
        for sample in family.samples:
            labels = ",".join(f'{key}="{value}"' for key, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


def shares_by_reactor(before: dict[str, float], after: dict[str, float], name: str) -> list[float]:
    """The growth of a counter on each reactor."""
    pattern = re.compile(rf'^{re.escape(name)}(?:_total)?\{{reactor="(\d+)"\}}$')
    grown = {}
    for key, value in after.items():
        if found := pattern.match(key):
            grown[int(found.group(1))] = value - before.get(key, 0.0)
    return [grown[index] for index in sorted(grown)]

# SPDX-License-Identifier: Apache-2.0
