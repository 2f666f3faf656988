"""The laboratory on the real generator and the real server, where a build has them (KATANA_BUILD)."""
import contextlib
import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from katana_lab import ROOT, peers, runner, visit
from katana_lab.models import Phases, cases_of
from workbench import calmly, fake_peer, make_experiment

BUILD = ROOT / Path(os.environ.get("KATANA_BUILD", "build/bench"))
SHORT = Phases(warm_up_s_max=0.6, measure_s=1.0, cool_down_s=0, rounds=1)

PROGRAMS = ("katana-load", "hello_world_server")
if "KATANA_BUILD" not in os.environ and not all((BUILD / name).exists() for name in PROGRAMS):
    pytest.skip(f"{BUILD} has not both programs, and KATANA_BUILD names no other build", allow_module_level=True)


@pytest.fixture
def real(bench):
    """A bench with katana-load of the build."""
    return visit.Bench(BUILD, str(BUILD / "katana-load"), bench.ports, bench.access, bench.cpus)


def visited(real, places, server, **changes):
    """The visit of an experiment of one case."""
    experiment = make_experiment(**changes)
    case = cases_of(experiment, quick=True)[0]
    return visit.measure(real, server, case, places, experiment, SHORT, 0)[0]


def test_known_latencies_come_back(real, places):
    figures = calmly(lambda: visited(real, places, fake_peer("5 10 60 0"), load={"connections": 4}).figures,
                     lambda figures: figures["latency_p99_us"] < 200_000)
    assert 4_990 <= figures["latency_p50_us"] < 30_000
    assert 59_900 <= figures["latency_p99_us"] < 200_000
    assert 100 < figures["rate_per_s"] < 1.1 * 4 / 0.0105


def test_known_loss_is_counted(real, places):
    found = visited(real, places, fake_peer("1 0 0 10"), load={"connections": 2})
    assert found.errors.get("closed_early") or found.errors.get("reset")
    answered = found.figures["latency_samples"] / found.figures["errors"]
    # Nine answers for each loss. Only those of the window are samples, and a busy machine shortens the window: half of
    # them on a calm one. If answers were counted as losses, too, there would be no sample for each error.
    assert 1 < answered < 10


@pytest.fixture
def hogs(places):
    """Programs that keep the generator's CPU busy."""
    command = ["taskset", "-c", str(places.generator[0]), sys.executable, "-c", "while True: pass"]
    with contextlib.ExitStack() as stack:
        for _ in range(6):
            process = stack.enter_context(subprocess.Popen(command))
            stack.callback(process.kill)
        yield


def test_a_starved_generator_is_void_and_says_so(real, places, hogs):
    found = visited(real, places, peers.load_peers()["katana"], load={"connections": 16, "rate_per_s": 40_000})
    assert "request" in found.void or "generator" in found.void


def test_every_decision_of_the_server_is_an_option_of_its_peer():
    known = set()
    for engine in ("epoll-edge", "io_uring"):
        ended = subprocess.run([BUILD / "ablation_server", "--engine", engine, "--decision", "colour=red"], timeout=20,
                               capture_output=True, text=True, check=False)
        assert ended.returncode == 2 or "io_uring" in ended.stderr, ended.stderr
        known |= set(ended.stderr.strip().rpartition("KEY one of ")[2].split(", "))
    loaded = peers.load_peers()
    options = set(loaded["ablation"].peer.options) - set(loaded["katana"].peer.options)
    assert options >= known if "multishot_receive" not in known else options == known


def test_our_own_server_is_measured_on_every_engine_without_an_error(real):
    experiment = make_experiment(
        variants={name: {"server": "katana", "options": {"engine": name}} for name in ("epoll-edge", "io_uring")},
        load={"connections": 8}, sample={"counters": False},
        quick={"warm_up_s_max": 0.4, "measure_s": 0.6, "cool_down_s": 0, "rounds": 1})
    result = runner.ExperimentRunner("test", experiment, True, real, peers.load_peers(), lambda *_: None).run()
    for case in result.cases:
        assert case.skipped or case.visits, case.failed
        for one in case.visits:
            assert one.figures["errors"] == 0 and one.figures["cpu_us_per_request"] > 0
            requests = sum(value for key, value in one.metrics.items() if key.startswith("katana_http_requests"))
            assert requests >= one.figures["latency_samples"] > 100       # the server counts warm-up, too
    assert any(case.visits for case in result.cases)


def test_a_scenario_of_openapi_is_drawn_filled_and_answered(real, places):
    if not all((BUILD / each).exists() for each in ("fullstack", "katana")):
        pytest.skip(f"{BUILD} has no fullstack or no katana")
    experiment = runner.find_experiments(["openapi_sql"], quick=True)["openapi_sql"]
    case = cases_of(experiment, quick=True)[0]
    load = case.load.model_copy(update={"scenario": case.load.scenario.model_copy(update={"requests": 2_000})})
    case = dataclasses.replace(case, load=load)
    found = calmly(lambda: visit.measure(real, peers.load_peers()["fullstack"], case, places, experiment, SHORT, 0)[0],
                   lambda found: not found.void)                 # only a busy machine may make it void
    assert not found.errors, (found.errors, found.void)
    assert found.figures["latency_samples"] > 100
    served = {key for key, value in found.metrics.items() if "route_requests" in key and value > 0}
    assert all(any(each in key for key in served) for each in ("/api/users/{id}", "/api/data")), sorted(served)

# SPDX-License-Identifier: Apache-2.0
