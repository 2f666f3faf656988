"""The command line: help, exit statuses, one-line errors; and the doctor."""
import io
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from katana_lab import LAB, cli, doctor, peers, proc
from katana_lab.results import Finding
from workbench import script, wait_until

LAUNCHER = LAB / "katana-lab"


@pytest.mark.parametrize("command", [[], ["list"], ["run"], ["compare"], ["report"], ["engines"], ["doctor"]])
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([*command, "--help"])
    assert ended.value.code == 0 and "usage: katana-lab" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["dance"], ["compare", "one"], ["run", "--rounds", "many"],
                                       ["list", "--dance"]])
def test_wrong_usage_is_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2 and "usage" in capsys.readouterr().err


@pytest.mark.parametrize("arguments, status, culprit", [
    (["run", "nothing"], 2, "there is no experiment 'nothing'"),
    (["run", "pipelinig"], 2, "is it 'pipelining'?"),
    (["run", "churn", "--peers", "apache"], 2, "there is no lab/peers/apache.yaml"),
    (["run", "churn", "--rounds", "0"], 2, "--rounds is 0"),
    (["report", "/nowhere"], 2, "/nowhere: No such file"),
    (["compare", "/nowhere", "/nowhere"], 2, "/nowhere: No such file"),
    (["run", "churn", "--build", "/nowhere"], 1, "katana-load is missing: cmake --preset bench")])
def test_errors_are_one_line_that_names_the_input(arguments, status, culprit, capsys, monkeypatch):
    monkeypatch.delenv("KATANA_LOAD", raising=False)
    assert cli.main(arguments) == status
    err = capsys.readouterr().err
    assert culprit in err and err.startswith("katana-lab: ") and err.count("\n") == 1


def test_the_launcher_runs_from_anywhere(tmp_path):
    run = subprocess.run([LAUNCHER, "list"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0 and "keepalive_throughput" in run.stdout and "the quick suite takes" in run.stdout


def test_a_run_writes_all_three_files_and_its_status_tells_of_failures(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KATANA_LOAD", script(tmp_path / "load", "fake_load.py"))
    experiment = tmp_path / "mine.yaml"
    experiment.write_text("title: Mine\nquestion: Q?\nvariants:\n  floor: {server: fake}\nload: {connections: 2}\n"
                          "quick: {warm_up_s_max: 0.3, measure_s: 0.6, cool_down_s: 0, rounds: 1}\n"
                          "sample: {counters: false, metrics: false}\n")
    from workbench import fake_peer
    monkeypatch.setattr(peers, "load_peers", lambda *_: {"fake": fake_peer("1 0 0 0")})
    monkeypatch.setattr(doctor, "examine", lambda *_: [Finding(what="x", state="good", value="y")])
    out = tmp_path / "out"
    assert cli.main(["run", str(experiment), "--quick", "--out", str(out)]) == 0
    assert {path.name for path in out.iterdir()} == {"results.json", "report.md", "report.html"}
    assert "wrote" in capsys.readouterr().out
    monkeypatch.setattr(peers, "load_peers", lambda *_: {"fake": fake_peer("broken 0 0 0")})
    assert cli.main(["run", str(experiment), "--quick", "--out", str(out)]) == 1
    assert "failed: fake does not answer" in capsys.readouterr().err


def test_peers_narrow_the_rivals_and_leave_ours_and_the_floors():
    servers = peers.load_peers()
    experiments = cli.find_experiments(["rivals", "churn"], quick=False)
    kept = cli.select_peers(experiments, "nginx", servers)["rivals"].variants
    assert set(kept) == {"floor", "epoll-edge", "io_uring", "nginx"}
    assert set(cli.select_peers(experiments, "none", servers)["rivals"].variants) == {"floor", "epoll-edge", "io_uring"}
    assert cli.select_peers(experiments, None, servers) is experiments


def test_the_doctor_says_what_falsifies_figures(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "examine", lambda *_: [Finding(what="governor", state="bad", value="powersave",
                                                               remedy="cpupower")])
    assert cli.main(["doctor"]) == 1
    assert "falsified by: governor" in capsys.readouterr().out
    monkeypatch.setattr(doctor, "examine", lambda *_: [Finding(what="governor", state="note", value="hidden")])
    assert cli.main(["doctor"]) == 0


def test_the_doctor_judges_what_it_reads(monkeypatch, tmp_path):
    values = {"/proc/sys/net/core/somaxconn": "128", "/proc/sys/net/ipv4/ip_local_port_range": "32768 33000",
              "/sys/fs/cgroup/cpu.max": "50000 100000"}
    real = doctor.proc.read
    monkeypatch.setattr(doctor.proc, "read", lambda path: values.get(str(path), real(path)))
    found = {one.what: one for one in [*doctor.check_limits(), *doctor.check_container()]}
    assert found["somaxconn"].state == "bad" and "sysctl" in found["somaxconn"].remedy
    assert found["ephemeral ports"].state == "bad" and found["CPU quota"].value == "0.5 CPUs"
    folder = tmp_path / "cpu0/cpufreq"
    folder.mkdir(parents=True)
    (folder / "scaling_governor").write_text("powersave\n")
    monkeypatch.setattr(doctor, "CPU_FOLDER", tmp_path)
    assert doctor.check_frequency()[0].state == "bad"


def test_every_finding_that_is_not_good_has_a_remedy(tmp_path):
    for finding in doctor.examine(tmp_path, watch_s=0.1):
        assert finding.state in ("good", "note", "bad")
        assert finding.state == "good" or finding.remedy or finding.value == "not visible"


def test_a_busy_neighbour_is_named(busy_process):
    assert busy_process.poll() is None
    found = next(one for one in doctor.check_neighbours(0.6) if one.what == "neighbours")
    assert found.state in ("note", "bad") and "%" in found.value


@pytest.mark.parametrize("measured, kept", [(True, ["churn", "pipelining"]), (False, ["churn"])])
def test_an_interrupted_run_keeps_what_was_measured_and_says_so(measured, kept, tmp_path, monkeypatch, capsys):
    from katana_lab import results
    from workbench import make_run

    class Runner:
        """Finishes the first experiment, and is interrupted in the second."""

        def __init__(self, name, *_):
            self._name = name

        def run(self):
            """One result, then half of one."""
            one = make_run(ours=[10.0, 10.1]).experiments[0]
            if self._name != "churn":
                one.interrupted, one.cases = True, one.cases if measured else []
            return one.model_copy(update={"name": self._name})

    monkeypatch.setenv("KATANA_LOAD", "/bin/true")
    monkeypatch.setattr(cli, "ExperimentRunner", Runner)
    monkeypatch.setattr(doctor, "examine", lambda *_: [])
    assert cli.main(["run", "--quick", "churn", "pipelining", "balance", "--out", str(tmp_path)]) == 1
    run = results.read(tmp_path)
    assert run.interrupted and [one.name for one in run.experiments] == kept
    assert f"{3 - len(kept)} of 3 experiments were not run" in capsys.readouterr().err
    for name in ("report.md", "report.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "the rest was not run" in text
        assert ("not all rounds of this experiment" in text) == measured


def test_a_terminal_has_a_bar_with_the_time_left(tmp_path, monkeypatch):
    from rich.console import Console

    from workbench import make_run

    class Runner:
        """Prints its calls."""

        def __init__(self, *arguments):
            self._progress = arguments[-1]

        def run(self):
            """Steps: the time that is left follows from them."""
            for number in range(1, 5):
                self._progress(f"round {number}/5 of this", 1.0)
            return make_run(ours=[10.0, 10.1]).experiments[0]

    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setenv("KATANA_LOAD", "/bin/true")
    monkeypatch.setattr(cli, "ExperimentRunner", Runner)
    monkeypatch.setattr(cli, "ERR", screen)
    monkeypatch.setattr(cli, "write_report", lambda *_: None)
    monkeypatch.setattr(doctor, "examine", lambda *_: [])
    assert cli.main(["run", "--quick", "churn", "--out", str(tmp_path)]) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.file.getvalue())
    assert re.search(r"round 4/5 of this .*left: +\d+:\d\d", text), text


# katana-lab on a fake server, whose report takes forever: what a second Ctrl-C falls into.
DRIVER = """
import sys, time
sys.path[:0] = [{tests!r}, {lab!r}]
from katana_lab import cli, doctor, peers
from workbench import fake_peer
peers.load_peers = lambda *_: {{"fake": fake_peer("1 0 0 0")}}
doctor.examine = lambda *_: []
def endless(*_):
    print("writing", file=sys.stderr, flush=True)
    time.sleep(60)
cli.write_report = endless
sys.exit(cli.main(sys.argv[1:]))
"""
LONG = """
title: Long
question: Q?
variants:
  floor: {server: fake}
load: {connections: 2}
quick: {warm_up_s_max: 30, measure_s: 30, cool_down_s: 0, rounds: 1}
sample: {counters: false, metrics: false}
"""


def runs(pid, name):
    """True when a descendant of the process has this name on its command line."""
    return any(name in proc.read(f"/proc/{member}/cmdline") for member in proc.tree(pid)[1:])


def test_a_second_ctrl_c_ends_at_once_and_leaves_no_process_behind(tmp_path):
    (tmp_path / "long.yaml").write_text(LONG)
    driver = DRIVER.format(tests=str(Path(__file__).parent), lab=str(LAB))
    environment = {**os.environ, "KATANA_LOAD": script(tmp_path / "load", "fake_load.py")}
    command = [sys.executable, "-c", driver, "run", str(tmp_path / "long.yaml"), "--quick",
               "--out", str(tmp_path / "out")]
    with open(tmp_path / "said", "w+", encoding="utf-8") as said, \
            subprocess.Popen(command, env=environment, stderr=said, start_new_session=True) as run:
        try:
            assert wait_until(lambda: runs(run.pid, "fake_server.py") and runs(run.pid, "fake_load.py")), \
                proc.read(said.name)
            members = proc.tree(run.pid)[1:]
            run.send_signal(signal.SIGINT)
            assert wait_until(lambda: "writing" in proc.read(said.name)), proc.read(said.name)
            assert wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in members)), \
                [proc.read(f"/proc/{pid}/stat") for pid in members]
            run.send_signal(signal.SIGINT)
            assert run.wait(20) == 130
        finally:
            run.kill()
    text = proc.read(said.name)
    assert "interrupted" in text.splitlines()[-1] and "Traceback" not in text


def test_a_ctrl_c_while_a_server_is_ended_comes_after_its_end():
    stubborn = ("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); "
                "time.sleep(60)")
    with subprocess.Popen([sys.executable, "-c", stubborn], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"up\n"
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            proc.stop(process, patience_s=0.3)
            timer.join()
        assert process.poll() == -signal.SIGKILL

# SPDX-License-Identifier: Apache-2.0
