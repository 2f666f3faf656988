"""The laboratory on the real generator and the real server, where a build has them (KATANA_BUILD)."""
import os
from pathlib import Path

import pytest

from katana_lab import ROOT, peers, runner, visit
from katana_lab.models import Phases, cases_of
from conftest import fake_peer, make_experiment

BUILD = ROOT / Path(os.environ.get("KATANA_BUILD", "build/bench"))
SHORT = Phases(warm_up_s_max=0.6, measure_s=1.0, cool_down_s=0, rounds=1)

if "KATANA_BUILD" not in os.environ and not (BUILD / "katana-load").exists():
    pytest.skip(f"there is no {BUILD}/katana-load, and no KATANA_BUILD names another build", allow_module_level=True)


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
    figures = visited(real, places, fake_peer("5 10 60 0"), load={"connections": 4}).figures
    assert 5_000 <= figures["latency_p50_us"] < 15_000
    assert 60_000 <= figures["latency_p99_us"] < 100_000
    assert figures["rate_per_s"] == pytest.approx(4 / 0.0105, rel=0.4)


def test_known_loss_is_counted(real, places):
    found = visited(real, places, fake_peer("1 0 0 10"), load={"connections": 2})
    assert found.errors.get("closed_early") or found.errors.get("reset")
    answered = found.figures["latency_samples"] / max(1.0, found.figures["errors"])
    assert 4 < answered < 10                     # nine answers for each loss, and warm-up is not among the answers


def test_a_starved_generator_is_void(real, places):
    found = visited(real, places, fake_peer("20 0 0 0"), load={"connections": 1, "rate_per_s": 2000})
    assert found.void


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
