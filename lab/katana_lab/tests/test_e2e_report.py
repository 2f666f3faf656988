"""lab/e2e/report.py: the tables beside the claims. And that it names only benchmarks that there are."""
import json
import os
import subprocess
import sys

import pytest

from katana_lab import LAB, ROOT, e2e_report

SCRIPT = LAB / "e2e/report.py"


def result(name, real_time=2.0, **counters):
    """One entry of Google Benchmark's JSON."""
    return {"name": name, "run_type": "iteration", "real_time": real_time, "cpu_time": 1.0, "time_unit": "us",
            **counters}


def test_a_figure_stands_beside_what_was_claimed():
    data = {"context": {"num_cpus": 2, "load_avg": [0.25, 1, 2]}, "benchmarks": [
        *(result("LoggedServer/off/manual_time", req_per_s=rate) for rate in (1000.0, 3000.0, 2000.0)),
        result("LoggedServer/cost_of_logging/iterations:3/manual_time", background_ratio=1.02, background_low=1.01,
               background_high=1.031, off_cpu_us=5.0, background_cpu_us=5.1),
        result("Integration/lookup/by_type/threads:8", 0.0042)]}
    text = e2e_report.write(data, "a command")
    assert "| no logging: rate | 328,450 req/s | 2,000 req/s |" in text          # the median of three repetitions
    assert "| CPU per request, background / none | 1.05 (rate); 1.02 wanted | 1.02 [1.01 – 1.03] |" in text
    assert "| server CPU in turns, background |  | 5.10 µs per request |" in text
    assert "2 CPUs, load average 0.25 when it began" in text
    assert "| lookup, 8 threads | 18 ns | 4.20 ns |" in text
    assert "| synchronous: rate | 156,800 req/s | n/a |" in text
    assert "`a command`" in text


def test_a_benchmark_that_failed_says_why(tmp_path):
    data = {"context": {"cpus_shared_by_server_and_client": "true"}, "benchmarks": [
        {"name": "LoggedServer/off", "error_occurred": True, "error_message": "it is not ready"}]}
    text = e2e_report.write(data, "")
    assert "failed: it is not ready" in text and "shared one CPU" in text
    path = tmp_path / "results.json"
    path.write_text(json.dumps(data))
    assert subprocess.run([sys.executable, SCRIPT, path], capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize("content", ["", "{}", "[]"])
def test_what_is_no_result_is_one_line_and_status_2(content, tmp_path):
    path = tmp_path / "results.json"
    path.write_text(content)
    run = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True, check=False)
    assert run.returncode == 2 and run.stderr.count("\n") == 1 and str(path) in run.stderr


def test_every_row_names_a_benchmark_that_there_is():
    program = os.path.join(os.environ.get("KATANA_BENCH", ROOT / "build/bench"), "e2e_benchmarks")
    if not os.path.exists(program):
        pytest.skip("e2e_benchmarks is not built: cmake --build --preset bench --target e2e_benchmarks")
    listed = subprocess.run([program, "--benchmark_list_tests"], capture_output=True, text=True, check=True).stdout
    known = {e2e_report.plain(name) for name in listed.split()}
    has_application = any(name.startswith("FullStack/application/") for name in known)
    for section in e2e_report.SECTIONS:
        for row in section.rows:
            if has_application or not row.benchmark.startswith("FullStack/application/"):
                assert row.benchmark in known, row

# SPDX-License-Identifier: Apache-2.0
