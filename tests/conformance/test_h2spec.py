"""hello_world_server against h2spec, the conformance tests for HTTP/2 (RFC 9113, RFC 7541), strict, over h2c.

h2spec is a Go program. It is built once, by the Go tool chain, into build/tools; without Go the tests are skipped.
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import without_io_uring
from program_process import ROOT
from server_process import ENGINES, Server

MODULE = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible"
FOLDER = ROOT / "build" / "tools"
# A port that serves both versions takes an invalid preface of HTTP/2 for HTTP/1.1, and answers in HTTP/1.1.
ON_A_SHARED_PORT = {"Sends invalid connection preface"}


GROUPS = {"Generic tests for HTTP/2 server": "generic", "Hypertext Transfer Protocol Version 2 (HTTP/2)": "http2",
          "HPACK: Header Compression for HTTP/2": "hpack"}
# The names of all cases, which the table of rules (tools/conformance) refers to.
CASES = ROOT / "tests" / "conformance" / "h2spec_cases.txt"


def cases_of(text):
    """The cases of a report, or of `h2spec --strict --dryrun`: group, section and number, with their descriptions."""
    found, group, section = {}, "", ""
    for line in text.splitlines():
        if line.strip() in GROUPS:
            group = GROUPS[line.strip()]
        elif match := re.match(r" +(\d+(?:\.\d+)*)\. \S", line):
            section = match[1]
        elif match := re.match(r" +(?:✔ )?(\d+): (.*)", line):
            found[f"{group}/{section}/{match[1]}"] = match[2]
    return found


@pytest.fixture(scope="module")
def h2spec():
    """Return the path of h2spec: that of $PATH, or one that is built here."""
    found = shutil.which("h2spec") or (str(FOLDER / "h2spec") if (FOLDER / "h2spec").exists() else None)
    if found:
        return found
    go = shutil.which("go") or ("/usr/local/go/bin/go" if pathlib.Path("/usr/local/go/bin/go").exists() else None)
    if go is None:
        pytest.skip("h2spec needs Go, or an h2spec in $PATH")
    FOLDER.mkdir(parents=True, exist_ok=True)
    run = subprocess.run([go, "install", MODULE], env={**os.environ, "GOBIN": str(FOLDER), "GOFLAGS": "-mod=mod"},
                         capture_output=True, text=True, timeout=300, check=False)
    if run.returncode != 0:
        pytest.skip(f"h2spec could not be built: {run.stderr.strip()[-200:]}")
    return str(FOLDER / "h2spec")


def run_h2spec(program, server):
    """Run all of it and return (tests, passed, skipped, names of those that failed, report)."""
    run = subprocess.run([program, "-h", "127.0.0.1", "-p", str(server.port), "--strict", "--timeout", "5"],
                         capture_output=True, text=True, timeout=240, check=False)
    report = run.stdout + run.stderr
    totals = re.search(r"(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed", report)
    assert totals, report
    failed = set(re.findall(r"× \d+: (.*)", report))
    return int(totals[1]), int(totals[2]), int(totals[3]), failed, report


@pytest.mark.parametrize("engine", ENGINES)
def test_every_case_passes_where_http2_is_all_there_is(engine, h2spec):
    """146 cases, strict, on each engine."""
    if engine == "io_uring" and not without_io_uring.available():
        pytest.skip("io_uring is not allowed here")
    with Server("--http2-only", engine=engine) as server:
        tests, passed, skipped, failed, report = run_h2spec(h2spec, server)
    assert not failed and skipped == 0 and passed == tests, report
    assert tests >= 140, report
    listed = [line.split(" ", 1)[0] for line in CASES.read_text().splitlines() if line and not line.startswith("#")]
    assert sorted(cases_of(report)) == sorted(listed), report


def test_on_a_shared_port_all_pass_but_the_one_that_speaks_http1_there(h2spec):
    """The same handlers behind both protocols."""
    with Server() as server:
        tests, passed, _, failed, report = run_h2spec(h2spec, server)
    assert failed <= ON_A_SHARED_PORT and passed >= tests - 1, report

# SPDX-License-Identifier: Apache-2.0
