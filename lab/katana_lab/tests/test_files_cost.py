"""files_cost.py: its results from rounds, and the replies that it refuses. No test measures with it."""
import subprocess
import sys

import pytest

from katana_lab import LAB, LabError, proc
from katana_lab.costs import files as files_cost


def result(cpu_us, other=0.0, **events):
    """The figures of cost.py for one server in one round."""
    return {"us": cpu_us, "other": other, "client": 0.5, "errors": 0, **events}


def test_the_ratio_is_taken_within_a_round_and_the_cost_by_the_byte():
    rounds = [{"nginx": result(10), "io_uring": result(5, **{"raw_syscalls:sys_enter": 1.25})},
              {"nginx": result(20), "io_uring": result(20, **{"raw_syscalls:sys_enter": 1.25})},
              {"nginx": result(40), "io_uring": result(30, **{"raw_syscalls:sys_enter": 1.25})}]
    assert files_cost.row(2048, "io_uring", rounds) == (
        "2 KiB", "io_uring", "20.00", "10000.0", "0.75 (0.50–1.00)", "1.25", "50 %", "0")
    assert files_cost.row(2048, "nginx", rounds)[4:6] == ("1.00 (1.00–1.00)", "n/a")
    assert len(files_cost.table({1024: rounds, 1 << 20: rounds})) == 2 + 4


def test_a_round_in_which_strangers_had_the_cpu_is_left_out_where_calmer_ones_exist():
    rounds = [{"nginx": result(10)}, {"nginx": result(90, other=0.5)}, {"nginx": result(12)}]
    assert files_cost.row(1024, "nginx", rounds)[2] == "11.00"


@pytest.mark.parametrize("arguments, culprit", [
    (["--engines", "epoll-edge,iocp"], "'iocp'"), (["--sizes", "0"], "1 to 1073741824 bytes"),
    (["--sizes", "1k"], "1k"), (["--rounds", "0"], "--rounds"),
])
def test_wrong_usage_names_what_is_wrong(arguments, culprit, capsys):
    with pytest.raises(SystemExit) as ended:
        files_cost.parse_options(arguments)
    assert ended.value.code == 2 and culprit in capsys.readouterr().err


def test_a_server_that_answers_something_else_ends_the_run(tmp_path):
    served = files_cost.write_files(tmp_path, [1000]) / "1000"
    ports = proc.free_port(11_000, 12_000)
    def command(port, _):
        return [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--protocol", "HTTP/1.1",
                "--directory", str(tmp_path)]

    files_cost.check_content("python", command, served, ports)
    served_elsewhere = tmp_path / "elsewhere" / "1000"
    served_elsewhere.parent.mkdir()
    served_elsewhere.write_bytes(b"other")
    with pytest.raises(LabError, match="python answers 1000 bytes"):
        files_cost.check_content("python", command, served_elsewhere, ports)


def test_help_is_the_programs_own():
    done = subprocess.run([sys.executable, LAB / "files_cost.py", "--help"], capture_output=True, text=True, check=True)
    assert "nginx with sendfile" in done.stdout and "--sizes" in done.stdout

# SPDX-License-Identifier: Apache-2.0
