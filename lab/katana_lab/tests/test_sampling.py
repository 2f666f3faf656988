"""The values that are read from perf, strace, /proc and /metrics."""
import http.server
import os
import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest

from katana_lab import LabError, perf, proc, sampling
from workbench import FIXTURES, wait_until


def test_the_calls_of_perf_trace_are_added_up_over_threads():
    text = (FIXTURES / "perf_trace.txt").read_text()
    calls = {call.name: call for call in perf.parse_trace(text)}
    assert (calls["sendto"].calls, calls["recvfrom"].calls, calls["epoll_wait"].calls) == (6345, 6344, 429)
    assert calls["sendto"].total_ms == pytest.approx(267.703)
    twice = perf.parse_trace(text + text)
    assert {call.name: call.calls for call in twice}["sendto"] == 2 * 6345


def test_the_calls_of_strace_have_the_same_form():
    calls = {call.name: call for call in perf.parse_trace((FIXTURES / "strace.txt").read_text())}
    assert set(calls) == {"sendto", "recvfrom", "epoll_wait"}
    assert calls["sendto"].calls == 5102 and calls["sendto"].total_ms == pytest.approx(107.681)


# Writes its text when it is told to end, as perf does; `script` prints it.
PERF = """#!/bin/sh
printf '%s\\n' "$*" >> {folder}/asked
if [ "$1" = script ]; then exec cat {stacks}; fi
while [ "$1" != -o ]; do shift; done
trap 'cp {written} "$2"; exit 0' INT
touch {folder}/attached
while :; do sleep 0.02; done
"""


@pytest.fixture
def fake_perf(tmp_path, monkeypatch):
    """A program called perf, which is attached before anything goes on; call it with the text to write."""
    def make(written):
        path = tmp_path / "bin/perf"
        path.parent.mkdir()
        path.write_text(PERF.format(folder=tmp_path, written=written, stacks=FIXTURES / "perf_script.txt"))
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
        attached = types.SimpleNamespace(sleep=lambda _: wait_until((tmp_path / "attached").exists))
        monkeypatch.setattr(perf, "time", attached)
        return tmp_path / "asked"
    return make


def test_perf_counts_the_events_of_a_server(fake_perf, tmp_path):
    (tmp_path / "counted").write_text("1234,,instructions:u,5000,100.00,,\n")
    asked = fake_perf(tmp_path / "counted")
    with perf.EventCounter(os.getpid(), ("instructions:u", "cycles"), tmp_path) as counter:
        assert counter.counts == {}
    assert counter.counts == {"instructions:u": 1234}
    assert "-e instructions:u,cycles -p" in asked.read_text() and str(os.getpid()) in asked.read_text()


def test_perf_names_the_calls_of_a_server_and_all_it_started(fake_perf, tmp_path, busy_process):
    asked = fake_perf(FIXTURES / "perf_trace.txt")
    with perf.Trace(os.getpid(), "perf", tmp_path) as trace:
        assert trace.calls == []
    assert trace.calls[0].name in ("sendto", "recvfrom") and trace.calls[0].calls > 6000
    assert asked.read_text().startswith("trace -s ") and str(busy_process.pid) in asked.read_text()
    assert trace.lost == 0


def test_system_calls_that_perf_could_not_follow_are_told(fake_perf, tmp_path):
    (tmp_path / "traced").write_text("LOST 40 events!\nLOST 2 events!\n" + (FIXTURES / "perf_trace.txt").read_text())
    fake_perf(tmp_path / "traced")
    with perf.Trace(os.getpid(), "perf", tmp_path) as trace:
        pass
    assert trace.lost == 42 and trace.calls


def test_perf_samples_the_stacks_of_a_server(fake_perf, tmp_path):
    asked = fake_perf("/dev/null")
    with perf.StackRecorder(os.getpid(), tmp_path) as recorder:
        pass
    assert recorder.stacks() == perf.fold((FIXTURES / "perf_script.txt").read_text()) != {}
    assert "record -q -e cpu-clock" in asked.read_text() and "script -i" in asked.read_text()


def test_an_event_that_is_not_counted_is_left_out():
    text = ("1234,,instructions:u,5000,100.00,,\n<not supported>,,cycles,0,100.00,,\n"
            "29,,raw_syscalls:sys_enter,1,100.00,,\n")
    assert perf.parse_stat(text) == {"instructions:u": 1234, "raw_syscalls:sys_enter": 29}


def test_stacks_are_folded_from_the_root_and_the_kernel_is_marked():
    stacks = perf.fold((FIXTURES / "perf_script.txt").read_text())
    assert sum(stacks.values()) >= 3
    deepest = max(stacks, key=len)
    assert 0 <= deepest.index("main;") < deepest.index("ReactorOn") < deepest.index("do_syscall_64_[k]")
    assert "[unknown]" not in deepest and perf.fold("") == {}


class Metrics(http.server.BaseHTTPRequestHandler):
    """A /metrics page."""

    text = ('# TYPE a_total counter\na_total{reactor="0"} 5\na_total{reactor="1"} 15\n'
            '# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n# TYPE g gauge\ng 3\n')

    def do_GET(self):
        """Answer."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.text.encode())

    def log_message(self, *_):
        """Say nothing."""


def test_a_metrics_page_gives_counters_and_shares_of_reactors():
    with http.server.HTTPServer(("127.0.0.1", 0), Metrics) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = sampling.scrape(server.server_port, "/metrics")
        server.shutdown()
    assert found == {'a_total{reactor="0"}': 5, 'a_total{reactor="1"}': 15, "g": 3}
    before = {'a_total{reactor="0"}': 5.0, 'a_total{reactor="1"}': 5.0}
    assert sampling.shares_by_reactor(before, found, "a") == [0, 10]


def test_a_server_without_metrics_has_none():
    assert sampling.scrape(next(proc.free_port()), "/metrics") == {}


def test_the_sampler_sees_what_a_busy_process_uses(busy_process):
    cpus = [0]
    with sampling.Sampler(busy_process.pid, cpus, cpus, 0.01) as sampler:
        assert wait_until(lambda: len(sampler.samples) >= 6 and sampler.samples[-1].usage.cpu_s
                          - sampler.samples[0].usage.cpu_s > 0.1)
    first, last = sampler.samples[0], sampler.samples[-1]
    used, elapsed = last.usage.cpu_s - first.usage.cpu_s, last.at_s - first.at_s
    assert 0.1 < used <= 1.1 * elapsed + 0.02                     # a tick on each side
    assert last.usage.rss_kib > 1000 and last.usage.descriptors >= 3 and last.usage.threads


def test_a_sampler_that_yields_waits_for_everybody_else():
    def policies():
        return [os.sched_getscheduler(int(task)) for task in os.listdir("/proc/self/task")]

    with sampling.Sampler(os.getpid(), [0], [0], 0.01):
        assert os.SCHED_IDLE not in policies()
    with sampling.Sampler(os.getpid(), [0], [0], 0.01, yields=True):
        assert wait_until(lambda: os.SCHED_IDLE in policies())
    assert os.sched_getscheduler(0) != os.SCHED_IDLE


def test_a_process_that_is_gone_uses_nothing():
    assert proc.usage(2 ** 22 - 1).cpu_s == 0
    with pytest.raises(LabError, match="has no cpu4711"):
        proc.cpu_busy_s(4711)


def test_the_nearest_samples_are_taken():
    samples = [proc.Sample(at, None, 0, 0) for at in (0.0, 1.0, 2.0, 3.0)]
    first, last = sampling.between(samples, 0.9, 2.2)
    assert (first.at_s, last.at_s) == (1.0, 2.0)


def test_what_the_machine_permits_has_a_reason_for_each_refusal():
    access = perf.probe()
    assert bool(access.hardware) != ("counters" in access.reasons)
    assert bool(access.calls) != ("calls" in access.reasons)


def test_a_port_is_given_to_one_process_only():
    first = next(proc.free_port())
    # From where the other process would begin with this very port.
    code = ("import os; os.getpid = lambda: 0; from katana_lab import proc; "
            f"print(next(proc.free_port({first}, {first + 50})))")
    other = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True,
                           cwd=Path(proc.__file__).parents[1]).stdout
    assert first < int(other) < first + 50


def test_a_server_is_up_when_it_listens_itself_and_not_when_somebody_else_does(tmp_path):
    port, log = next(proc.free_port()), tmp_path / "log"
    everybody = sorted(os.sched_getaffinity(0))
    serve = [sys.executable, str(Path(__file__).with_name("fake_server.py")), str(port), "0", "0", "0", "0"]
    owner = proc.start(serve, everybody, log)
    idle = proc.start([sys.executable, "-c", "import time; time.sleep(60)"], everybody, tmp_path / "idle")
    try:
        proc.wait_until_up("owner", port, "/plaintext", owner, log=log)
        assert proc.listens(owner, port) and not proc.listens(idle, port)
        with pytest.raises(LabError, match="silent for 0.2 s, another process answers there"):
            proc.wait_until_up("idle", port, "/plaintext", idle, 0.2)
    finally:
        proc.stop(idle)
        proc.stop(owner)

# SPDX-License-Identifier: Apache-2.0
