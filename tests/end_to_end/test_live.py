"""The pages below /operations, `katana top` and `katana doctor`, of a program with planted faults."""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import threading
import time
import urllib.request

import pytest

from browser import Browser
from fullstack_process import environment, flags_of
from program_process import Program, built
from raw_client import eventually

NAME = "crash_server"


class Live(Program):
    """crash_server with two reactors, in a folder."""

    def __init__(self, folder, *sets, shared=False):
        sets = ("http.port=0", "http.reactors=2", "http.drain_notice=0s", "http.drain_timeout=1s", *sets)
        self._start(NAME, [built(NAME), *flags_of(sets)], shared, cwd=folder, env=environment())

    def stop(self):
        """End it; the request for /wait is cut off."""
        self.send_signal(signal.SIGTERM)
        assert self.wait() == 0, self.stderr()

    def get(self, path):
        """The JSON of a page."""
        with urllib.request.urlopen(self.url(path), timeout=30) as reply:
            return json.load(reply)


@pytest.fixture(name="program")
def running(tmp_path):
    """A program whose request for /wait is in flight."""
    with Live(tmp_path) as program:
        asking = threading.Thread(target=ask, args=(program, "/wait"), daemon=True)
        asking.start()
        assert eventually(lambda: program.get("/operations/requests?route=/wait")["matched"] == 1)
        yield program


def ask(program, path):
    """A request whose end does not matter."""
    try:
        urllib.request.urlopen(program.url(path), timeout=90).read()
    except OSError:
        pass


def katana(*words, status=0):
    """The output of the tool."""
    run = subprocess.run([built("katana"), *words], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == status, run.stdout + run.stderr
    return run.stdout if status == 0 or run.stdout else run.stderr


def needs_gdb():
    """Skips the test where there is no gdb."""
    if shutil.which("gdb") is None:
        pytest.skip("there is no gdb (tools/setup test)")


def test_top_prints_one_screen_of_80_columns(program):
    """The screen has the oldest request."""
    screen = katana("top", program.url(""), "--once", "--interval", "0.2")
    assert all(len(line) <= 80 for line in screen.splitlines()), screen
    assert "crash_server 1.2.3" in screen
    assert re.search(r"handling +127\.0\.0\.1:\d+ +GET /wait", screen), screen


def test_stack_shows_where_a_coroutine_waits(program):
    """The handler of /wait, with its place in the source."""
    single = katana("stack", program.url(""), "--route", "/wait", "--single")
    assert re.search(r"^waits for .*: GET /wait, request \w+, reactor [01]$", single, re.MULTILINE), single
    assert re.search(r"^    \S.*crash_server\.cpp:\d+  awaits katana::net::Sleep$", single, re.MULTILINE), single
    found = json.loads(katana("stack", program.url(""), "--json"))
    assert any(each["route"] == "GET /wait" for each in found["coroutines"])
    assert katana("stack", program.url(""), "--older", "1h") == "no coroutine waits\n"
    assert "parameter 'older': expected a duration" in katana("stack", program.url(""), "--older", "soon", status=1)


def test_stack_of_a_process_has_its_threads_and_coroutines(program):
    """By gdb, which leaves the process as it was."""
    needs_gdb()
    shown = katana("stack", str(program.pid))
    assert re.search(r"^thread \d+ 'crash_server'$", shown, re.MULTILINE), shown
    assert re.search(r"^    #\d+ +katana::net::Reactor::run\(\)", shown, re.MULTILINE), shown
    assert re.search(r"^coroutines: \d+ wait$", shown, re.MULTILINE), shown
    assert re.search(r"^waits for [0-9.]+ m?s: GET /wait, request \w+$", shown, re.MULTILINE), shown
    assert re.search(r"^    .*crash_server\.cpp:\d+  awaits katana::net::Sleep$", shown, re.MULTILINE), shown
    assert program.get("/operations/requests?route=/wait")["matched"] == 1


def test_stack_of_a_core_file_has_the_same(program, tmp_path):
    """The process is over, and its core file tells where its coroutines waited."""
    needs_gdb()
    core = tmp_path / "core"
    subprocess.run(["gdb", "-nx", "-batch", "-p", str(program.pid), "-ex", f"generate-core-file {core}"], check=True,
                   capture_output=True, timeout=120)
    shown = katana("stack", "--program", built(NAME), str(core))
    assert re.search(r"^    #\d+ +katana::net::Reactor::run\(\)", shown, re.MULTILINE), shown
    assert re.search(r"^waits: GET /wait, request \w+$", shown, re.MULTILINE), shown
    assert re.search(r"^    .*crash_server\.cpp:\d+  awaits katana::net::Sleep$", shown, re.MULTILINE), shown


def test_stack_says_what_is_missing(tmp_path):
    """Without gdb, without the process, and for a file that is no core."""
    other = tmp_path / "text"
    other.write_text("no core", encoding="utf-8")
    assert "no URL, no number of a process and no core file" in katana("stack", "nowhere", status=2)
    assert "are for a URL" in katana("stack", "--json", str(os.getpid()), status=2)
    run = subprocess.run([built("katana"), "stack", "1"], capture_output=True, text=True, timeout=60, check=False,
                         env={**os.environ, "PATH": str(tmp_path)})
    assert run.returncode == 1 and "install gdb" in run.stderr, run.stderr
    needs_gdb()
    assert "gdb cannot look into process 4194305" in katana("stack", "4194305", status=1)
    assert "gdb finds no stack" in katana("stack", str(other), status=1)


def test_top_prints_json(program):
    """Scripts get the state and the rates."""
    found = json.loads(katana("top", program.url(""), "--json", "--interval", "0.2"))
    assert found["state"]["requests"][0]["route"] == "/wait"
    assert any(each["name"] == "GET /operations/state" for each in found["routes"])


def test_top_shows_a_screen_and_ends_with_q(program):
    """On a terminal it shows the program until q."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(built("katana"), ["katana", "top", program.url(""), "--interval", "0.2"])
    shown = b""
    end = time.monotonic() + 60
    while b"REACTOR" not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 65536)
    assert b"REACTOR" in shown, shown
    os.write(terminal, b"s/wait\nq")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0


def test_doctor_names_a_reactor_that_spins(program):
    """The reactor that does not answer, and its route."""
    over = threading.Event()

    def spin():
        while not over.is_set():  # the kernel may give the tool's connection to the reactor that spins
            ask(program, "/spin")
    asking = threading.Thread(target=spin, daemon=True)
    asking.start()

    def found():
        run = subprocess.run([built("katana"), "doctor", program.url("")], capture_output=True, text=True, timeout=60,
                             check=False)
        return run.returncode == 1 and "does not answer" in run.stdout and "GET /spin" in run.stdout
    was_found = eventually(found, seconds=90)
    over.set()
    asking.join()
    assert was_found


def test_the_page_fits_a_phone_and_keeps_its_place(program, tmp_path):
    """A table that is scrolled and has the focus keeps both when the page asks again."""
    with Browser(tmp_path / "browser") as browser:
        browser.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
        browser.open(program.url("/operations"))
        browser.see("GET", "tables")
        assert browser.value("document.documentElement.scrollWidth") == 390
        browser.value("window.frame = document.querySelector('#tables section > div');"
                      "frame.scrollLeft = 40; frame.focus();")
        browser.eventually(lambda: browser.value("frame.isConnected") is False)
        assert browser.value("document.querySelector('#tables section > div').scrollLeft") == 40
        assert browser.value("document.activeElement === document.querySelector('#tables section > div')")
        assert browser.value("violations.length") == 0


def test_wrong_uses_are_told():
    """A wrong command line is status 2, a program that is not there status 1."""
    assert "no terminal" in katana("top", "http://127.0.0.1:1", status=2)
    assert "127.0.0.1:1" in katana("doctor", "http://127.0.0.1:1", status=1)
    assert "127.0.0.1:1" in katana("stack", "http://127.0.0.1:1", status=1)
    assert "cannot be read" in katana("stack", "http://127.0.0.1:1", "--token-file", "/nonexistent", status=2)
    assert "no process" in katana("doctor", "4194305", status=1)


def test_a_process_is_looked_at_without_its_pages(program):
    """The last line says what was looked at."""
    run = subprocess.run([built("katana"), "doctor", str(program.pid)], capture_output=True, text=True, timeout=60,
                         check=False)
    assert run.returncode in (0, 1) and f"process {program.pid}: " in run.stdout, run.stdout + run.stderr

# SPDX-License-Identifier: Apache-2.0
