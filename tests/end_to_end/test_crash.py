"""Crash reports: what a program with planted faults leaves behind, what its next start says, and `katana crash`."""
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

import httpx
import pytest

from fullstack_process import FullStack, environment, flags_of
from program_process import ROOT, Program, built
from raw_client import eventually
from server_process import free_port

NAME = "crash_server"
USER = "daemon"


class Crashing(Program):
    """crash_server in a folder, with its log in log/."""

    def __init__(self, folder, *sets, log=True, variables=None, **options):
        self.folder = folder
        sets = ("http.port=0", "http.reactors=2", "http.drain_notice=0s", *sets)
        if log:
            sets = (*sets, "log.file=log/crash.log")
        variables = {**environment(), "UBSAN_OPTIONS": "", **(variables or {})}
        self._start(NAME, [built(NAME), *flags_of(sets)], cwd=folder, env=variables, **options)

    def stop(self):
        """Drain it, unless it has crashed."""
        if self.alive():
            self.send_signal(signal.SIGTERM)
            assert self.wait() == 0, self.stderr()

    def crash(self, path, number):
        """Ask for a fault, and check that the process ends by that signal."""
        with pytest.raises((urllib.error.URLError, ConnectionError, OSError)):
            urllib.request.urlopen(self.url(path), timeout=30).read()
        assert self.wait() == -number, self.stderr()

    def log(self):
        """The text of its log."""
        path = self.folder.joinpath("log", "crash.log")
        return path.read_text(encoding="utf-8") if path.exists() else ""


def reports(folder):
    """The reports in a folder, the oldest first."""
    return sorted(folder.glob(f"{NAME}-crash-*.txt"))


def the_report(folder):
    """The lines of the only report, which is whole and private."""
    found = reports(folder)
    assert len(found) == 1, found
    lines = found[0].read_text(encoding="utf-8").splitlines()
    assert lines[0] == "katana-crash-report 1" and lines[-1] == "end", lines
    return lines


def value(lines, word):
    """The rest of the first line that begins with the word."""
    return next(line[len(word) + 1:] for line in lines if line.startswith(word + " "))


def threads(lines):
    """The threads by their names: (state, lines)."""
    found, present = [], None
    for line in lines:
        if line.startswith("thread "):
            _, _, state, name = line.split(" ", 3)
            present = (name, state, [])
            found.append(present)
        elif present and line.split(" ")[0] in ("frame", "on", "request", "in-flight", "no-answer"):
            present[2].append(line)
    return found


def printed(folder, *flags):
    """Return the output of `katana crash` for the only report."""
    done = subprocess.run([built("katana"), "crash", str(reports(folder)[0]), *flags], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path, number, word", [
    ("/crash/access", signal.SIGSEGV, "code 2 SEGV_ACCERR"),
    ("/crash/null", signal.SIGSEGV, "address 0x0"),
    ("/crash/recursion", signal.SIGSEGV, "more-frames"),
    ("/crash/abort", signal.SIGABRT, "code -6 SI_TKILL"),
    ("/crash/check", signal.SIGABRT, "reason katana: CHECK failed: how.empty() at "),
    ("/crash/exception", signal.SIGABRT, "reason katana: terminated by std::runtime_error: the planted exception"),
    ("/crash/memory", signal.SIGABRT, "reason katana: terminated by "),
    ("/crash/twice", signal.SIGSEGV, "code 2 SEGV_ACCERR"),
])
def test_each_way_to_crash_leaves_a_report_and_the_status_of_before(tmp_path, path, number, word):
    """The signal, the reason, the thread with its route and request, and all other threads."""
    with Crashing(tmp_path) as program:
        eventually(lambda: "listening on" in program.log())     # its thread needs memory
        program.crash(path, number)
        assert "katana: crashed; the report is log/" in program.stderr()
        assert f"crashed by signal {int(number)}" in program.log()
    lines = the_report(tmp_path / "log")
    assert value(lines, "program") == NAME and value(lines, "version") == "1.2.3"
    assert value(lines, "signal") == f"{int(number)} {number.name}"
    assert any(line.startswith(word) for line in lines), lines
    if path == "/crash/memory":
        assert "bad_alloc" in value(lines, "reason")
        return      # any thread may be the first that gets no memory
    name, state, facts = threads(lines)[0]
    assert state == "crashed" and name == "crash_server"
    assert "on GET /crash/{how}" in facts
    assert any(re.fullmatch(r"request \S+", line) for line in facts), facts
    assert sum(line.startswith("frame ") for line in facts) >= 5
    others = [each for each in threads(lines) if each[1] == "runs"]
    assert {"katana-log", "katana-stalls", "katana-signals", "work/0"} <= {each[0] for each in others}
    for each in others:
        assert any(line.startswith("frame ") for line in each[2]), each
    assert "listening on" in "".join(line for line in lines if line.startswith("record "))
    assert stat.S_IMODE(reports(tmp_path / "log")[0].stat().st_mode) == 0o600


def test_a_crash_on_a_pool_is_in_its_thread_and_the_tool_names_the_function(tmp_path):
    """The request is among those in flight, which its reactor names: a job of a pool has no route."""
    with Crashing(tmp_path) as program:
        program.crash("/pool/access", signal.SIGSEGV)
    lines = the_report(tmp_path / "log")
    name, state, facts = threads(lines)[0]
    assert state == "crashed" and name.startswith("work/")
    assert any(re.fullmatch(r"in-flight age-ms=\d+ request=\S+ on GET /pool/\{how\}", line) for line in lines), lines
    text = printed(tmp_path / "log")
    assert "write_to(" in text and "plant_bad_access(" in text, text
    assert f"signal 11 SIGSEGV at 0x" in text and f"in thread '{name}'" in text
    assert "GET /pool" not in text and "in flight: " in printed(tmp_path / "log", "--all")


def test_requests_in_flight_and_reactors_are_in_the_report(tmp_path, engine):
    """A request that waits on another reactor is in the report, without its query."""
    with Crashing(tmp_path, f"http.engine={engine}") as program:
        waiting = []

        def wait():
            with contextlib.suppress(httpx.HTTPError):
                httpx.get(program.url("/wait?secret=pass"), timeout=60)

        for _ in range(8):
            client = threading.Thread(target=wait, daemon=True)
            client.start()
            waiting.append(client)

        eventually(lambda: httpx.get(program.url("/waiting"), timeout=10).text == "8")
        program.crash("/crash/access", signal.SIGSEGV)
    lines = the_report(tmp_path / "log")
    text = "\n".join(lines)
    found = re.findall(r"^in-flight age-ms=(\d+) request=(\S+) on GET /wait$", text, re.MULTILINE)
    assert len(found) == 8, text
    assert all(request != "-" for _, request in found)
    assert re.search(r"^in-flight age-ms=\d+ request=\S+ on GET /crash/\{how\}$", text, re.MULTILINE)
    reactors = re.findall(r"^reactor (\d+) busy-ms=\d+ connections=\d+ tasks=\d+ on (.*)$", text, re.MULTILINE)
    assert [number for number, _ in reactors] == ["0", "1"]
    assert "GET /crash/{how}" in [site for _, site in reactors]
    assert "secret" not in text and "pass" not in text


def test_the_next_start_tells_of_a_report_once_and_counts_it(tmp_path):
    """One warning with the path, the cause and the first frames."""
    with Crashing(tmp_path) as program:
        program.crash("/crash/check", signal.SIGABRT)
    with Crashing(tmp_path) as program:
        assert re.search(r"^katana_crash_reports 1$", httpx.get(program.url("/metrics"), timeout=10).text, re.MULTILINE)
    with Crashing(tmp_path) as program:
        pass
    path = reports(tmp_path / "log")[0].relative_to(tmp_path)
    told = [line for line in program.log().splitlines() if "the program crashed before" in line]
    assert len(told) == 1, told
    assert " warn " in told[0] and f"signal 6 SIGABRT in thread 'crash_server' on GET /crash/{{how}}" in told[0]
    assert "CHECK failed: how.empty()" in told[0] and f"katana crash {path}" in told[0]
    assert re.search(r"frames=\"?libc\.so\.6\+0x[0-9a-f]+, ", told[0]), told[0]


def test_only_the_newest_reports_are_kept(tmp_path):
    """crash.keep, and a folder of the setting."""
    sets = ("crash.folder=crashes", "crash.keep=2")
    for _ in range(3):
        with Crashing(tmp_path, *sets) as program:
            program.crash("/crash/abort", signal.SIGABRT)
        os.utime(tmp_path)
    with Crashing(tmp_path, *sets) as program:
        pass
    assert len(reports(tmp_path / "crashes")) == 2
    assert not reports(tmp_path / "log")


def test_without_a_folder_the_report_goes_to_standard_error(tmp_path):
    """As in a container that logs to standard error and writes no file."""
    with Crashing(tmp_path, log=False) as program:
        program.crash("/crash/abort", signal.SIGABRT)
        text = program.stderr()
    assert "katana-crash-report 1\n" in text and "\nsignal 6 SIGABRT\n" in text and text.rstrip().endswith("end")


def test_the_state_folder_of_the_service_manager_is_used(tmp_path):
    """STATE_DIRECTORY, as systemd sets it."""
    state = tmp_path / "state"
    state.mkdir()
    with Crashing(tmp_path, log=False, variables={"STATE_DIRECTORY": f"{state}:/other"}) as program:
        program.crash("/crash/abort", signal.SIGABRT)
    the_report(state)


def test_reports_can_be_turned_off(tmp_path):
    """crash.report=false: the log is flushed as before, and there is no report."""
    with Crashing(tmp_path, "crash.report=false") as program:
        program.crash("/crash/access", signal.SIGSEGV)
        assert "crashed by signal 11" in program.log()
        assert "katana-crash-report" not in program.stderr()
    assert not reports(tmp_path / "log")


def test_a_folder_that_cannot_be_used_is_refused_with_its_name(tmp_path):
    """crash.folder names a file."""
    tmp_path.joinpath("file").write_text("x", encoding="utf-8")
    done = subprocess.run([built(NAME), *flags_of(("http.port=0", "crash.folder=file"))], cwd=tmp_path,
                          env=environment(), capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert "crash.folder" in done.stderr and "'file'" in done.stderr, done.stderr


def test_a_core_dump_is_as_before(tmp_path):
    """The kernel ends the process by the signal, so a core dump is made where it is allowed."""
    def allow():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with Crashing(tmp_path, "process.core_dumps=true", preexec_fn=allow) as program:
        with pytest.raises(OSError):
            urllib.request.urlopen(program.url("/crash/access"), timeout=30).read()
        _, status = os.waitpid(program.pid, 0)
        program.process.returncode = -os.WTERMSIG(status)
        assert os.WTERMSIG(status) == signal.SIGSEGV
        assert os.WCOREDUMP(status) or not core_pattern_writes(tmp_path)
    the_report(tmp_path / "log")


def core_pattern_writes(folder):
    """Whether this machine writes core dumps into the folder of the process."""
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text(encoding="ascii").strip()
    return not pattern.startswith(("|", "/")) and os.access(folder, os.W_OK)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_a_program_in_the_sandbox_writes_its_report():
    """process.sandbox and process.user: the folder is in the rules, and the handler's calls are allowed."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="katana_crash_", dir="/srv"))
    shutil.chown(folder, USER, USER)
    try:
        with Crashing(folder, "process.sandbox=on", f"process.user={USER}", f"http.forms.folder={folder}/spill",
                      "crash.folder=crashes") as program:
            program.crash("/crash/access", signal.SIGSEGV)
            assert "was refused" not in program.stderr()
        lines = the_report(folder / "crashes")
        assert "on GET /crash/{how}" in lines
        assert all(any(line.startswith("frame ") for line in each[2]) for each in threads(lines))
    finally:
        shutil.rmtree(folder)


def steps_of_guide():
    """The commands of the guide with their output: (command, lines); an output without a command has None."""
    guide = ROOT.joinpath("docs", "guides", "debugging.md").read_text(encoding="utf-8")
    part = guide[guide.index("## Find a crash, step by step"):guide.index("## What a report contains")]
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", part, re.MULTILINE | re.DOTALL):
        if language:
            continue
        lines = block.splitlines()
        command = lines.pop(0)[2:] if lines[0].startswith("$ ") else None
        yield command, lines


def appears(lines, text):
    """Whether the lines are in the text in this order, where … stands for anything."""
    pattern = r"[^\0]*?".join(r"^" + ".*?".join(re.escape(part) for part in line.split("…")) for line in lines if line)
    return re.search(pattern, text, re.MULTILINE)


def test_the_steps_of_the_guide_do_what_it_says(tmp_path):
    """docs/guides/debugging.md: its program, its commands and what they print."""
    port = str(free_port())
    shutil.copy(built("crash_guide"), tmp_path / "notes")
    path = f"{pathlib.Path(built('katana')).parent}:{os.environ['PATH']}"
    error = tmp_path / "stderr"
    servers = []
    try:
        for command, lines in steps_of_guide():
            lines = [line.replace("8080", port) for line in lines]
            if command is None:
                assert servers[-1].wait(30) == -signal.SIGSEGV
                assert appears(lines, error.read_text(encoding="utf-8")), lines
                continue
            command = command.replace("8080", port)
            if command.startswith("./notes"):
                with open(error, "w", encoding="utf-8") as log:
                    servers.append(subprocess.Popen(["/bin/sh", "-c", f"exec {command}"], cwd=tmp_path, text=True,
                                                    env=environment(), stdout=subprocess.PIPE, stderr=log))
                printed_by = servers[-1].stdout.readline()
                if "listening" not in lines[0]:
                    eventually(lambda: appears(lines, error.read_text(encoding="utf-8")))
                    continue
            else:
                done = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, env={**environment(), "PATH": path},
                                      capture_output=True, text=True, timeout=120, check=False)
                printed_by = done.stdout + done.stderr
            assert appears(lines, printed_by), (command, lines, printed_by)
    finally:
        for server in servers:
            server.kill()
            server.wait()
            server.stdout.close()
    assert len(servers) == 2


@pytest.mark.parametrize("content, message", [
    ("", "the file is empty"),
    ("hello\n", "line 1: this is no crash report: it must begin with 'katana-crash-report 1'"),
    ("katana-crash-report 1\nsignal eleven SIGSEGV\n", "line 2: malformed: 'signal eleven SIGSEGV'"),
])
def test_a_file_that_is_no_report_is_refused(tmp_path, content, message):
    """By its name, with the line and the reason."""
    path = tmp_path / "report.txt"
    path.write_text(content, encoding="utf-8")
    done = subprocess.run([built("katana"), "crash", str(path)], capture_output=True, text=True, timeout=30,
                          check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert str(path) in done.stderr and message in done.stderr, done.stderr


def test_a_program_of_another_build_gives_no_symbols(tmp_path):
    """The tool compares build IDs, says which file has another, and prints the offsets."""
    program = tmp_path / NAME
    shutil.copy(built(NAME), program)
    report = tmp_path / "report.txt"
    report.write_text("katana-crash-report 1\nsignal 11 SIGSEGV\nthread 1 crashed x\n"
                      f"frame 0x5000 00112233 +0x1000 {program}\n"
                      "frame 0x6000 00112244 +0x2000 /nowhere/lib.so\nend\n", encoding="utf-8")
    done = subprocess.run([built("katana"), "crash", str(report)], capture_output=True, text=True, timeout=30,
                          check=False)
    assert done.returncode == 0
    assert f"#0   {NAME}+0x1000" in done.stdout
    assert f"'{program}' has the build ID " in done.stderr and "--debug-dir DIR" in done.stderr
    assert "no symbols of '/nowhere/lib.so', build ID 00112244: no file with it is found" in done.stderr


def test_symbols_of_a_stripped_program_come_from_the_debug_folder(tmp_path):
    """As a package has it: the program is stripped, its symbols are in another file."""
    served, debug = tmp_path / "served", tmp_path / "debug"
    served.mkdir()
    debug.mkdir()
    shutil.copy(built(NAME), debug / f"{NAME}.debug")
    subprocess.run(["strip", "-o", served / NAME, built(NAME)], check=True, timeout=60)
    process = subprocess.Popen([served / NAME, *flags_of(("http.port=0", "log.file=log/crash.log"))], cwd=tmp_path,
                               env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    port = re.search(r":(\d+) \(engine", process.stdout.readline())[1]
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/crash/access", timeout=30).read()
    assert process.wait(30) == -signal.SIGSEGV
    process.stdout.close()
    assert "plant_bad_access(" not in printed(tmp_path / "log")
    assert "plant_bad_access(" in printed(tmp_path / "log", "--debug-dir", str(debug))


@pytest.mark.parametrize("symbolizer, function", [("addr2line", True), ("llvm-symbolizer", True), ("nothing", False)])
def test_the_tool_takes_the_symbolizer_that_is_there(tmp_path, symbolizer, function):
    """addr2line of binutils or llvm-symbolizer; with neither, offsets and an error that names both."""
    with Crashing(tmp_path) as program:
        program.crash("/crash/access", signal.SIGSEGV)
    programs = tmp_path / "programs"
    programs.mkdir()
    if function:
        found = shutil.which(symbolizer)
        if found is None:
            pytest.skip(f"{symbolizer} is not installed")
        programs.joinpath(symbolizer).symlink_to(found)
    done = subprocess.run([built("katana"), "crash", str(reports(tmp_path / "log")[0])], capture_output=True, text=True,
                          timeout=120, check=False, env={**environment(), "PATH": str(programs)})
    assert ("write_to(" in done.stdout) == function, done.stdout
    assert "#1 " in done.stdout
    if function:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 1 and "neither llvm-symbolizer nor addr2line is on PATH" in done.stderr


def test_wrong_flags_of_the_tool_are_refused(tmp_path):
    """A folder that is none, a file that is missing."""
    def run(*words):
        return subprocess.run([built("katana"), "crash", *words], capture_output=True, text=True, timeout=30,
                              check=False)
    done = run("x", "--debug-dir", str(tmp_path / "none"))
    assert done.returncode == 2 and "--debug-dir" in done.stderr
    done = run(str(tmp_path / "none.txt"))
    assert done.returncode == 1 and "there is no such file" in done.stderr


def test_a_program_that_lists_its_own_groups_of_settings_has_this_one(tmp_path):
    sets = (f"crash.folder={tmp_path}", "crash.keep=1")
    with FullStack(tmp_path, sets=sets) as crashed:
        crashed.send_signal(signal.SIGSEGV)
        assert crashed.wait() == -signal.SIGSEGV
    [report] = tmp_path.glob("fullstack-crash-*.txt")
    with FullStack(tmp_path, sets=sets) as started:
        assert f"'katana crash {report}' prints its stacks" in started.stderr()

# SPDX-License-Identifier: Apache-2.0
