"""`katana simulate`: seeds for each process, the sum of their reports, findings. A script plays the test program."""
import re
import stat
import subprocess
import textwrap

import pytest

from program_process import built

REPORT = """
import json, os, sys
first, count = map(int, os.environ["KATANA_SEEDS"].split("+"))
with open(os.environ["KATANA_SIMULATE_REPORT"], "a") as report:
    finding = None
    if first <= BAD < first + count:
        finding = {"seed": BAD, "property": "no seat is sold twice", "events": 3, "repeat": f"KATANA_SEED={BAD} it",
                   "text": "the timeline"}
    print(json.dumps({"seeds": count, "operations": 2 * count, "unknown": 1, "faults": {"kill": count, "stop": 0},
                      "finding": finding}), file=report)
with open(LOG, "a") as log:
    print(first, count, *sys.argv[1:], file=log)
sys.exit(1 if finding else 0)
"""


@pytest.fixture
def program(tmp_path):
    """Return a function that makes a program which fails at seed `bad`, and the file of its calls."""
    def make(bad):
        path, log = tmp_path / "booking_test", tmp_path / "calls"
        log.write_text("")
        path.write_text("#!/usr/bin/env python3\n" + f"BAD, LOG = {bad}, {str(log)!r}\n" + textwrap.dedent(REPORT))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path, log
    return make


def simulate(*words):
    return subprocess.run([built("katana"), "simulate", *map(str, words)], capture_output=True, text=True, timeout=120,
                          check=False)


def test_each_seed_is_given_to_one_process_and_figures_are_added(program):
    path, log = program(bad=0)
    done = simulate("--seeds", 10, "--first", 5, "--jobs", 3, path, "--gtest_filter=Booking.*")
    assert done.returncode == 0, done.stdout + done.stderr
    calls = [line.split() for line in log.read_text().splitlines()]
    seeds = sorted(seed for first, count, *_ in calls for seed in range(int(first), int(first) + int(count)))
    assert seeds == list(range(5, 15))
    assert all(rest == ["--gtest_filter=Booking.*"] for _, _, *rest in calls)
    assert re.search(r"10 worlds in .* s, 20 requests", done.stdout), done.stdout
    assert "10 kill" in done.stdout and "0 stop: never tried" in done.stdout


def test_a_finding_is_printed_once_with_the_line_that_repeats_it_and_no_more_seeds_begin(program):
    path, log = program(bad=3)
    done = simulate("--seeds", 100_000, "--jobs", 1, path)
    assert done.returncode == 1
    assert done.stdout.count("the timeline") == 1
    assert "finding: no seat is sold twice\n  KATANA_SEED=3 it" in done.stdout
    assert len(log.read_text().splitlines()) == 1


def test_a_program_that_fails_otherwise_is_shown_with_its_output():
    done = simulate("--jobs", 2, "/bin/sh", "-c", "echo oops; exit 3")
    assert done.returncode == 1
    assert done.stdout.count("oops") == 1
    assert "exit status 3, without a finding" in done.stdout


def test_wrong_words_are_named_with_the_remedy():
    missing = simulate("--seeds", 5, "no_such_program")
    assert missing.returncode == 2
    assert "no program 'no_such_program'" in missing.stderr and "name the path" in missing.stderr
    none = simulate("--seeds", 0, "/bin/true")
    assert none.returncode == 2
    assert "--seeds: expected 1 to 1000000000, got '0'" in none.stderr


def test_a_program_without_a_world_is_an_error_that_says_what_to_name():
    done = simulate("--jobs", 1, "/bin/true")
    assert done.returncode == 1
    assert "calls testing::simulate()" in done.stderr

# SPDX-License-Identifier: Apache-2.0
