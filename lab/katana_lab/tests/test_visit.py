"""Visits to servers of known behaviour: latency, loss, warm-up, a starved generator."""
import os
import time

import pytest

from katana_lab import LabError, runner, visit
from katana_lab.models import Phases, cases_of
from workbench import calmly, fake_peer, make_experiment, make_visit

SHORT = Phases(warm_up_s_max=0.5, measure_s=1.0, cool_down_s=0, rounds=1)


def visited(bench, places, server, phases=SHORT, **changes):
    """The visit of an experiment of one case."""
    experiment = make_experiment(**changes)
    case = cases_of(experiment, quick=True)[0]
    return visit.measure(bench, server, case, places, experiment, phases, 0)[0]


def test_known_latencies_come_back(bench, places):
    found = calmly(lambda: visited(bench, places, fake_peer("5 10 60 0"), load={"connections": 4}),
                   lambda found: found.figures["latency_p99_us"] < 200_000 and found.figures["latency_p50_us"] < 30_000)
    figures = found.figures
    # No reply can be faster than the server's setting; how much slower depends on the machine.
    assert 4_990 <= figures["latency_p50_us"] < 30_000
    assert 59_900 <= figures["latency_p99_us"] < 200_000         # one of ten waits 60 ms
    assert figures["latency_samples"] > 30 and not found.void
    assert 100 < figures["rate_per_s"] < 1.1 * 4 / 0.0105        # 4 connections, 10.5 ms on average


def test_known_loss_is_counted_as_errors_and_never_as_replies(bench, places):
    found = visited(bench, places, fake_peer("2 0 0 10"), load={"connections": 2})
    assert found.errors and sum(found.errors.values()) == found.figures["errors"]
    # Every tenth request is lost: nine answers for each loss, of which those of the window are samples.
    assert 1 < found.figures["latency_samples"] / found.figures["errors"] <= 9 * 1.2


def test_warm_up_is_detected_and_left_out(bench, places):
    phases = Phases(warm_up_s_max=2.0, measure_s=1.6, cool_down_s=0, rounds=1)
    found = calmly(lambda: visited(bench, places, fake_peer("5 0 0 0 1.0 100"), phases, load={"connections": 4}),
                   lambda found: found.figures["latency_p90_us"] < 100_000
                   and (not found.steady or 0.8 <= found.warm_up_s <= 1.9))
    assert not found.steady or 0.8 <= found.warm_up_s <= 1.9     # only a machine too busy to settle may spoil it
    assert found.figures["latency_p90_us"] < 100_000             # the slow beginning is not in the histogram
    assert max(found.series.rate_per_s[:8]) < max(found.series.rate_per_s[-8:])


def test_a_starved_generator_is_void_in_open_loop(bench, places):
    # One connection, 20 ms for each reply: 50 of the 400 requests that are due each second can be sent in time.
    found = visited(bench, places, fake_peer("20 0 0 0"), load={"connections": 1, "rate_per_s": 400})
    assert "could not keep its schedule" in found.void
    assert found.figures["send_lag_p99_us"] > 1000


def test_a_kept_schedule_is_not_void(bench, places):
    found = visited(bench, places, fake_peer("1 0 0 0"), load={"connections": 4, "rate_per_s": 40})
    late = found.figures["send_lag_p99_us"] > 1000               # only a busy machine may spoil it
    assert bool(found.void) == late
    assert late or found.figures["rate_per_s"] == pytest.approx(40, rel=0.25)


def test_costs_are_of_the_server_alone(bench, places):
    found = visited(bench, places, fake_peer("0 0 0 0"), load={"connections": 2})
    figures = found.figures
    assert figures["cpu_us_per_request"] > 5                     # a server in Python
    assert figures["user_us_per_request"] + figures["kernel_us_per_request"] == pytest.approx(
        figures["cpu_us_per_request"])
    assert 1 < figures["rss_mib"] < 200 and figures["server_cpu"] <= 1.1
    # Two ways to the same figure, over windows that differ by a sample at each end.
    assert figures["cpu_us_per_request"] * figures["rate_per_s"] == pytest.approx(1e6 * figures["server_cpu"], rel=0.5)


def test_counters_are_of_a_request_and_instructions_of_a_cycle():
    found = visit._per_request({"instructions:u": 300.0, "instructions:k": 900.0, "cycles": 800.0, "cache-misses": 2.0})
    assert found == {"instructions_user_per_request": 300, "instructions_kernel_per_request": 900,
                     "cycles_per_request": 800, "cache_misses_per_request": 2, "instructions_per_cycle": 1.5}
    assert visit._per_request({"raw_syscalls:sys_enter": 2.25}) == {"calls_per_request": 2.25}


def test_a_server_that_does_not_start_is_an_error_with_its_last_words(bench, places):
    server = fake_peer("not a number 0 0")
    with pytest.raises(LabError, match="fake does not answer 200 to /plaintext .* ended with status 1 .*not"):
        visited(bench, places, server)


def run(bench, servers, **changes):
    """An experiment to its end, and what its progress said."""
    said = []
    phases = {"warm_up_s_max": 0.3, "measure_s": 0.6, "cool_down_s": 0, "rounds": 2}
    experiment = make_experiment(quick=phases, **changes)
    progress = lambda text, _: said.append(text)  # noqa: E731
    result = runner.ExperimentRunner("test", experiment, True, bench, servers, progress).run()
    return result, said


def test_rounds_are_interleaved_and_every_visit_is_a_fresh_process(bench):
    servers = {"a": fake_peer("1 0 0 0"), "b": fake_peer("4 0 0 0")}
    result, said = run(bench, servers, variants={"a": {"server": "a"}, "b": {"server": "b"}})
    order = [text.split()[-1] for index, text in enumerate(said) if index % 2 == 0]
    assert order == ["a", "b", "a", "b"]
    ports = {text for case in result.cases for text in case.command if text.isdigit() and int(text) > 10_000}
    assert len(ports) == 2 and all(len(case.visits) == 2 for case in result.cases)
    assert all(check.passed for check in result.checks) and result.checks
    for case, least_us in zip(result.cases, (990, 3_990), strict=True):
        assert all(one.figures["latency_p50_us"] >= least_us for one in case.visits)


def test_an_interrupted_experiment_keeps_the_visits_that_were_made(bench, monkeypatch):
    made = []

    def measure(*_):
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(make_visit(len(made) // 2, errors=0.0))
        return made[-1], ["server"]

    monkeypatch.setattr(runner, "measure", measure)
    result, _ = run(bench, {"fake": fake_peer("0 0 0 0")}, variants={name: {"server": "fake"} for name in "ab"})
    assert result.interrupted and [len(case.visits) for case in result.cases] == [2, 1]
    assert os.sched_getaffinity(0) == set(bench.cpus)
    assert len(result.checks) == 2 and all(check.passed for check in result.checks)


def test_what_fails_after_a_visit_does_not_take_it_away(bench, monkeypatch):
    def fail(*_):
        raise LabError("perf has gone")

    monkeypatch.setattr(runner, "measure", lambda *_: (make_visit(0), ["server"]))
    monkeypatch.setattr(runner, "count", fail)
    result, _ = run(bench, {"fake": fake_peer("0 0 0 0")}, variants={"a": {"server": "fake"}},
                    sample={"counters": True, "metrics": False})
    assert result.cases[0].failed == "perf has gone" and len(result.cases[0].visits) == 1


def test_a_case_that_cannot_run_is_skipped_and_one_that_fails_stops_nobody(bench):
    missing = fake_peer("0 0 0 0")
    missing = type(missing)("missing", missing.peer.model_copy(update={
        "needs": missing.peer.needs.model_copy(update={"programs": ["no-such-program"], "remedy": "install it"})}))
    servers = {"good": fake_peer("1 0 0 0"), "missing": missing, "broken": fake_peer("broken 0 0 0")}
    began = time.monotonic()
    result, _ = run(bench, servers, variants={name: {"server": name} for name in servers})
    good, skipped, failed = result.cases
    assert len(good.visits) == 2 and not good.failed
    assert skipped.skipped == "no-such-program is missing: install it" and not skipped.visits
    assert "ended with status 1" in failed.failed
    assert time.monotonic() - began < 20


def test_errors_fail_the_check_of_an_experiment(bench):
    result, _ = run(bench, {"fake": fake_peer("1 0 0 5")})
    assert [check.passed for check in result.checks] == [False]
    assert "errors" in result.checks[0].text


def test_more_connections_than_descriptors_are_skipped_with_the_remedy(bench):
    result, _ = run(bench, {"fake": fake_peer("1 0 0 0")}, load={"connections": 100_000})
    assert "hard limit" in result.cases[0].skipped


def test_more_threads_than_cpus_are_noted(bench):
    experiment = make_experiment()
    one = runner.ExperimentRunner("test", experiment, True, bench, {}, lambda *_: None)
    notes = []
    case = cases_of(experiment, True)[0]
    one._note_cores(type(case)(**{**case.__dict__, "options": {"threads": 64}}), notes)
    assert "the cores ran out: 64 threads" in notes[0]


def test_the_laboratory_works_beside_both_sides_and_never_on_the_servers_cpu():
    assert runner.home_of(visit.Places((0,), (3,)), [0, 1, 2, 3]) == {1, 2}
    assert runner.home_of(visit.Places((0,), (1,)), [0, 1]) == {1}
    assert runner.home_of(visit.Places((0, 1), (0, 1)), [0, 1]) == {0, 1}


def test_places_leave_the_generator_its_own_cpu():
    places = runner.places_of(make_experiment(), [0, 1, 2, 3])
    assert places.server == (0, 1, 2) and places.generator == (3,) and not places.shared
    assert runner.one_cpu_places(places, make_experiment()).server == (0,)
    assert runner.places_of(make_experiment(), [5]).shared
    halves = runner.places_of(make_experiment(pinning={"generator": "half"}), [0, 1, 2, 3])
    assert halves.server == (0, 1) and halves.generator == (2, 3)
    with pytest.raises(LabError, match="CPU 9 is not among those"):
        runner.places_of(make_experiment(pinning={"server": [9]}), [0, 1])

# SPDX-License-Identifier: Apache-2.0
