"""Tools of the tests: a bench without perf, a generator that needs no build, servers of known behaviour."""
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from katana_lab import generator, machine, perf, proc, results, visit
from katana_lab.models import Experiment, Peer
from katana_lab.peers import Server

HERE = Path(__file__).resolve().parent
FIXTURES = HERE / "fixtures"
NOTHING_PERMITTED = perf.Access((), False, "", False, {"counters": "none here"})


def script(path, name):
    """An executable that runs a script of this folder under the tests' own Python."""
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE / name} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def bench(tmp_path):
    """Ports, the fake generator, and a machine that permits nothing to perf."""
    return visit.Bench(tmp_path, script(tmp_path / "load", "fake_load.py"), proc.free_port(), NOTHING_PERMITTED,
                       tuple(sorted(os.sched_getaffinity(0))))


def fake_peer(arguments, paths=("/plaintext",)):
    """A description of fake_server.py with these arguments."""
    return Server("fake", Peer.model_validate({
        "about": "of known latency", "needs": {"remedy": "none"}, "paths": list(paths),
        "command": f"{sys.executable} {HERE / 'fake_server.py'} {{port}} {arguments}"}))


@pytest.fixture
def places(bench):
    """The first CPU for servers, the last for the generator."""
    return visit.Places((bench.cpus[0],), (bench.cpus[-1],))


def make_experiment(**changes):
    """A small experiment of one fake server."""
    data = {"title": "T", "question": "Q?", "variants": {"one": {"server": "fake"}}, "load": {"connections": 2},
            "sample": {"counters": False, "metrics": False}, **changes}
    return Experiment.model_validate(data)


def make_visit(number, **figures):
    """A visit with figures and a histogram of two values."""
    histogram = generator.merge([])
    histogram.record_value(100_000)
    histogram.record_value(200_000)
    return results.Visit(round=number, figures={"latency_samples": 2.0, **figures},
                         histogram=generator.encode(histogram), warm_up_s=0.2, series=results.Series(
                             at_s=[0.1, 0.2, 0.3, 0.4], rate_per_s=[50, 90, 100, 101], server_cpu=[0.5, 0.9, 1, 1],
                             rss_mib=[5, 5, 5, 5]))


def make_run(**cost):
    """A run of one experiment: variant -> its CPU per request in each round."""
    experiment = make_experiment(
        title="Cost", question="What does it cost?", variants={name: {"server": "fake"} for name in cost},
        claims=[{"source": "a paper", "what": "cost", "value": 20, "unit": "µs", "case": next(iter(cost)),
                 "figure": "cpu_us_per_request"}], why_they_differ="Another machine.")
    cases = [results.CaseResult(
        name=name, variant=name, server="fake", command=["server", name],
        visits=[make_visit(number, cpu_us_per_request=value, rate_per_s=1e6 / value, errors=0.0,
                           kernel_us_per_request=0.8 * value, user_us_per_request=0.2 * value, calls_per_request=2.0)
                for number, value in enumerate(values)]) for name, values in cost.items()]
    cases[0].calls = [results.CallRow(name="read", per_request=1, errors_per_request=0, us_per_call=3)]
    cases[0].stacks = {"main;turn;read_[k]": 30, "main;turn;parse": 10}
    where = machine.Machine(cpu="test CPU", cpus=4, cpus_usable=4, memory_gib=8, kernel="6.1", virtual="", commit="abc",
                            date="2026-01-02T03:04:05+00:00", load_before=0.1, python="3.11")
    return results.Run(machine=where, command="katana-lab run cost", suite="quick", seconds=12.0,
                       unavailable={"counters": "no counters"},
                       doctor=[results.Finding(what="governor", state="bad", value="powersave", remedy="mend it")],
                       experiments=[results.ExperimentResult(name="cost", definition=experiment, cases=cases)])


def calmly(measure, is_calm, attempts=5):
    """The result of a visit; made again while the machine, which may stand still, keeps it from being calm."""
    for _ in range(attempts):
        found = measure()
        if is_calm(found):
            break
    return found


def wait_until(condition, seconds=120):
    """True as soon as the condition is."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@pytest.fixture
def busy_process():
    """A process that spins until the test is over."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        yield process
        process.kill()

# SPDX-License-Identifier: Apache-2.0
