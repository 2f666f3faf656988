"""drivers.py: the command of each generator of load, and the reading of its output. And the commands that use them."""
import subprocess
import sys
from pathlib import Path

import pytest

from katana_lab import ROOT, LabError, commands, drivers, proc
from katana_lab.costs import harness
from katana_lab.drivers import DRIVERS, Job

WRK = """Running 1s test @ http://127.0.0.1:80/
  91234 requests in 1.00s, 10.00MB read
  Socket errors: connect 1, read 2, write 0, timeout 3
  Non-2xx or 3xx responses: 4
Requests/sec:  91000.50
"""
H2LOAD = """finished in 12.34ms, 810.37 req/s, 1.2KB/s
requests: 10 total, 10 started, 10 done, 9 succeeded, 1 failed, 0 errored, 0 timeout
status codes: 9 2xx, 0 3xx, 1 4xx, 0 5xx
"""
S_TIME = "100 connections in 0.50s; 200.00 connections/user sec\n80 connections in 2 real seconds, 0 bytes read\n"


@pytest.mark.parametrize("name, output, requests, rate, errors", [
    ("wrk", WRK, 91234, 91000.5, 10), ("h2load", H2LOAD, 9, 810.37, 1), ("tls_handshakes", S_TIME, 80, 40, 0),
    ("katana-load", '{"requests": 7, "rate_per_s": 3.5, "errors": {"reset": 2, "total": 2}}', 7, 3.5, 2),
    ("chat_load", '{"delivered": 7, "rate_per_s": 1, "deliveries_per_s": 5, "missing": 3}', 7, 5, 3),
])
def test_a_driver_reads_what_its_generator_wrote(name, output, requests, rate, errors):
    done = DRIVERS[name].read(output)
    assert (done.requests, done.rate_per_s, done.errors) == (requests, rate, errors)


@pytest.mark.parametrize("name", DRIVERS)
def test_what_is_no_result_is_an_error_that_quotes_it(name):
    with pytest.raises(LabError, match="wrote no result: connection refused"):
        DRIVERS[name].read("connection refused")


def test_a_job_becomes_the_flags_of_each_mode(tmp_path):
    (tmp_path / "katana-load").touch()
    job = Job(80, tmp_path, "/x", connections=3, seconds=2, in_flight=4, flags=("--more",))
    flags = {name: " ".join(DRIVERS[name].command(job)) for name in ("katana-load", "churn", "http2", "websocket")}
    for name, part in (("katana-load", "-c 3 -d 2s --pipeline 4 --more"), ("churn", "--churn --reset"),
                       ("http2", "--http2 --streams 4"), ("websocket", "--websocket")):
        assert part in flags[name] and flags[name].endswith("--json - http://127.0.0.1:80/x")
    counted = DRIVERS["katana-load"].command(Job(80, tmp_path, requests=9))
    assert "-n 9" in " ".join(counted) and "-d" not in counted


def test_a_driver_runs_pinned_to_its_end(monkeypatch):
    class Fake(drivers.KatanaLoad):
        """Says on which CPUs it may run."""

        def command(self, job):
            return [sys.executable, "-c", "import os; print('{\"requests\": %d, \"rate_per_s\": 0}'"
                                          " % sum(1 + cpu for cpu in os.sched_getaffinity(0)))"]

    monkeypatch.setitem(DRIVERS, "fake", Fake())
    assert drivers.drive("fake", Job(80, Path()), [0]).requests == 1


def test_the_cost_of_a_load_is_read_from_the_server(monkeypatch, busy_process):
    class Fake(drivers.KatanaLoad):
        """Answers four requests in half a second."""

        def command(self, job):
            return ["sh", "-c", "sleep 0.5; echo '{\"requests\": 4, \"rate_per_s\": 8}'"]

    monkeypatch.setitem(DRIVERS, "fake", Fake())
    figures, _ = harness.measure_load(busy_process.pid, "fake", Job(80, Path()))
    assert figures["cpu_s"] > 0.02 and figures["us"] == pytest.approx(1e6 * figures["cpu_s"] / 4)
    assert 0 < figures["server"] <= 1.1 and figures["errors"] == 0


def test_spent_is_the_difference_of_two_samples():
    def usage(cpu_s, switches):
        return proc.Usage(cpu_s, cpu_s / 4, 3 * cpu_s / 4, 100, switches, 2 * switches, 5, {})

    spent = proc.Spent(proc.Sample(10.0, usage(1.0, 5), 7.0, 3.0), proc.Sample(12.0, usage(2.0, 9), 8.5, 5.0))
    assert (spent.elapsed_s, spent.cpu_s, spent.user_s, spent.switches) == (2.0, 1.0, 0.25, (4, 8))
    assert (spent.server, spent.generator, spent.others) == (0.5, 1.0, 0.25)


def test_ratios_are_taken_within_a_round_and_only_where_both_were_measured():
    rounds = [{"a": {"us": 2.0}, "b": {"us": 1.0}}, {"a": {"us": None}, "b": {"us": 1.0}},
              {"a": {"us": 3}, "b": {"us": 2}}]
    assert harness.ratios(rounds, "a", "b") == [2.0, 1.5]
    assert harness.spread([2.0, 1.5]) == "1.75 (1.50–2.00)" and harness.spread([], nothing="busy") == "busy"


def test_the_largest_share_of_others_decides_which_rounds_count():
    rounds = [{"a": {"other": 0.5, "us": 9}}, {"a": {"other": 0.01, "us": 1}}]
    assert [one["us"] for one in harness.calm(rounds, "a")] == [1]
    assert [one["us"] for one in harness.calm(rounds[:1], "a")] == [9]


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_every_command_has_a_file_that_says_what_it_does(name):
    done = subprocess.run([ROOT / commands.COMMANDS[name].file, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: ")


@pytest.mark.parametrize("file", sorted(path for folder in ("lab", "lab/micro", "lab/e2e", "lab/load", "scripts")
                                        for path in (ROOT / folder).glob("*.py") if path.is_symlink()))
def test_every_link_to_the_entry_is_a_command(file):
    assert str(file.relative_to(ROOT)) in {command.file for command in commands.COMMANDS.values()}


@pytest.mark.parametrize("arguments, culprit", [
    (["lab/cost.py", "--tests", "keepalive,nonsense"], "unknown test 'nonsense'"),
    (["lab/cost.py", "--with", "iis"], "unknown server 'iis'"), (["lab/cost.py", "--rounds", "0"], "at least 1"),
    (["lab/chat_cost.py", "--engines", "iocp"], "unknown engine 'iocp'"),
    (["lab/tls_cost.py", "--key", "dsa"], "invalid choice"),
])
def test_wrong_usage_is_status_2_and_names_what_is_wrong(arguments, culprit):
    done = subprocess.run([ROOT / arguments[0], *arguments[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and culprit in done.stderr


def test_a_missing_build_is_one_line_and_status_1(tmp_path):
    done = subprocess.run([ROOT / "lab/cost.py", "--build", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("cost.py: ") and "is missing: cmake --preset bench" in done.stderr

# SPDX-License-Identifier: Apache-2.0
