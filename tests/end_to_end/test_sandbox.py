"""process.user and process.sandbox: what a program that was taken over cannot do, and all that one that was not can."""
import ctypes
import errno
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile

import httpx
import pytest

from fullstack_process import environment, flags_of
from lineage import Lineage
from program_process import Program, built, stop_reports
from raw_client import eventually
from test_restart_application import Recorder, verify
from test_tls import write_certificate

USER = "daemon"
OUTSIDE = "/etc/hostname"       # readable by all users, and of no use to these programs
# The version of Landlock in the kernel; 0: it has none, and then files are restricted by their modes alone.
LANDLOCK = max(0, ctypes.CDLL(None).syscall(444, None, 0, 1))
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")


class Sandboxed(Program):
    """A program that root starts and that becomes USER, in a folder that belongs to that user."""

    def __init__(self, folder, name="sandbox_server", sets=(), sandbox="on", **options):
        self.folder = folder
        sets = ("process.sandbox=" + sandbox, "process.user=" + USER, "http.drain_notice=0s", "http.reactors=2",
                f"http.forms.folder={folder}/spill", *sets)
        if not any(each.startswith("http.port=") for each in sets):
            sets = (*sets, "http.port=0")
        self._start(name, [built(name), *flags_of(sets)], cwd=folder, env=environment(), **options)

    def get(self, path, **options):
        """Return the text of a reply of 200."""
        reply = httpx.get(self.url(path), timeout=20, **options)
        assert reply.status_code == 200, reply.text
        return reply.text

    def error_of(self, path):
        """Return the error of the system call behind a path."""
        return int(self.get(path))

    def stop(self, number=signal.SIGTERM):
        """Drain it, and check that it ended well, unless that was awaited already."""
        if not self.alive():
            return
        self.send_signal(number)
        assert self.wait() == 0, self.stderr()

    def statuses(self):
        """Return /proc/PID/status of every thread."""
        return [task.joinpath("status").read_text(encoding="utf-8")
                for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()]


@pytest.fixture(name="folder")
def folder_of_the_user():
    """A folder that the user reaches, unlike those of pytest, and that is in none where temporary files are."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="katana_sandbox_", dir="/srv"))
    folder.joinpath("pages").mkdir()
    folder.joinpath("pages", "index.html").write_text("a page", encoding="utf-8")
    shutil.chown(folder, USER, USER)
    yield folder
    shutil.rmtree(folder)


ESCAPES = ("exec", "fork", "ptrace", "io_uring", "write_code", "signal", "root", "unshare", "packets")


def test_every_escape_fails_is_counted_and_harms_nobody(folder, engine):
    """On each engine, with the files of the program at hand and all others out of reach."""
    with Sandboxed(folder, sets=(f"http.engine={engine}",)) as program:
        for escape in ESCAPES:
            assert program.error_of(f"/try/{escape}") == errno.EPERM, escape
        assert program.error_of(f"/connect/{program.port}") == errno.EPERM
        if LANDLOCK:
            assert program.error_of(f"/read?path={OUTSIDE}") == errno.EACCES
        assert program.error_of("/make?path=/var/lib/katana_escape") == errno.EACCES
        assert program.error_of("/read?path=pages/index.html") == 0
        assert program.error_of("/make?path=pages/new.html") == errno.EACCES
        assert program.get("/pages/index.html") == "a page"
        figures = program.get("/metrics")
        refused = int(re.search(r"^katana_sandbox_refused_calls_total (\d+)$", figures, re.MULTILINE)[1])
        assert refused >= len(ESCAPES)
        assert eventually(lambda: "(execve) was refused (process.sandbox)" in program.stderr())
        for status in program.statuses():   # a refused call ends the process where SIGSYS is blocked
            blocked = int(re.search(r"^SigBlk:\t(\w+)$", status, re.MULTILINE)[1], 16)
            assert not blocked & 1 << signal.SIGSYS - 1, status
        enforced = "files by Landlock" if LANDLOCK else "not enforced: files"
        assert f"sandbox: {enforced}" in program.stderr() and "seccomp" in program.stderr()


def test_without_a_sandbox_these_escapes_succeed(folder):
    """The test above could fail: without a sandbox the escapes succeed."""
    with Sandboxed(folder, sandbox="off") as program:
        for escape in ("fork", "write_code"):
            assert program.error_of(f"/try/{escape}") == 0, escape
        assert program.error_of(f"/read?path={OUTSIDE}") == 0
        assert program.error_of(f"/connect/{program.port}") == 0


def test_a_report_refuses_nothing_and_says_what_it_would(folder):
    """process.sandbox: report."""
    with Sandboxed(folder, sandbox="report") as program:
        assert program.error_of("/try/fork") == 0
        assert program.error_of(f"/read?path={OUTSIDE}") == 0
        assert re.search(rf"sandbox: reports only; files to read: .*{folder}/pages.*; to write: ", program.stderr())


def test_a_refused_call_ends_the_process_where_that_is_wanted(folder):
    """process.refused_call: end."""
    with Sandboxed(folder, sets=("process.refused_call=end",)) as program:
        with pytest.raises(httpx.HTTPError):
            program.get("/try/unshare")
        assert program.wait() == -signal.SIGSYS


def test_what_is_allowed_by_name_works(folder):
    """process.sandbox_allow, sandbox_read and sandbox_write."""
    folder.joinpath("more").mkdir()
    shutil.chown(folder / "more", USER, USER)
    sets = ("process.sandbox_allow=[connections, subprocesses]", f"process.sandbox_write=[{folder}/more]",
            f"process.sandbox_read=[{OUTSIDE}]")
    with Sandboxed(folder, sets=sets) as program:
        assert program.error_of("/try/fork") == 0
        assert program.error_of(f"/connect/{program.port}") == 0
        assert program.error_of(f"/make?path={folder}/more/new") == 0
        assert program.error_of(f"/read?path={OUTSIDE}") == 0
        assert program.error_of("/try/ptrace") == errno.EPERM


def low_port():
    """Return a free port that only root may bind."""
    for port in range(800, 1000):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no free port below 1000")


def test_a_low_port_is_bound_and_no_thread_stays_root(folder):
    """Bound by several reactors; then neither user, group, capability nor core dump is left."""
    port = low_port()
    with Sandboxed(folder, sets=(f"http.port={port}",), sandbox="off") as program:
        assert program.port == port and program.error_of("/try/root") == errno.EPERM
        statuses = program.statuses()
        assert len(statuses) > 4
        for status in statuses:
            fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            assert "0" not in fields["Uid"].split() and "0" not in fields["Gid"].split(), status
            assert "0" not in fields["Groups"].split(), status
            assert int(fields["CapPrm"], 16) == 0 == int(fields["CapEff"], 16) and fields["NoNewPrivs"] == "1", status
        limits = pathlib.Path(f"/proc/{program.process.pid}/limits").read_text(encoding="utf-8")
        assert re.search(r"Max core file size\s+0\s+0\s", limits), limits
        assert os.stat(f"/proc/{program.process.pid}/environ").st_uid == 0, "other processes of the user can read it"
        made = folder / "var" / "katana.db"
        assert made.owner() == USER and made.stat().st_mode & 0o777 == 0o640


def test_who_is_not_root_is_told_what_to_do(folder):
    """process.user names another user, and then the user `nobody`."""
    def status_of(user):
        done = subprocess.run([built("sandbox_server"), "--port", "0", "--set", f"process.user={user}"], cwd=folder,
                              env=environment(), user=USER, group=USER, extra_groups=[], capture_output=True, text=True,
                              timeout=20, check=False)
        return done.returncode, done.stderr
    status, text = status_of("bin")
    assert status == 1 and "process.user: become 'bin'" in text and "start as root" in text
    status, text = status_of("no-such-user")
    assert status == 1 and "there is no user 'no-such-user'" in text


def test_everything_of_fullstack_works_in_the_sandbox(folder, engine):
    """Users in SQLite, pages, metrics; a rotated log, a certificate that is replaced, SIGHUP, and a second start."""
    chain, key = write_certificate(folder, "localhost")
    for each in (chain, key):
        shutil.chown(each, USER, USER)
    sets = (f"http.tls.certificates=[{{certificate: {chain}, key: {key}}}]", "http.tls.watch=0s",
            "log.file_bytes_max=4KiB", f"http.engine={engine}")
    with Sandboxed(folder, "fullstack", sets) as program:
        client = httpx.Client(base_url=program.url().replace("http:", "https:"), verify=False, timeout=20)
        for index in range(40):
            added = client.post("/api/users", json={"name": f"user {index}", "email": f"u{index}@example.org"})
            assert added.status_code == 201, added.text
        assert len(client.get("/api/users?limit=100").json()["users"]) == 40
        assert client.get("/").status_code == 200 and client.get("/openapi.json").status_code == 200
        assert client.get("/ready").json()["status"] == "pass"
        assert "process_open_fds" in client.get("/metrics").text
        assert (folder / "var/log/fullstack.log.1").exists() or list((folder / "var/log").glob("*1*")), "not rotated"
        first = certificate_of(program.port)
        for each in write_certificate(folder, "newer", "localhost"):
            shutil.chown(each, USER, USER)
        os.replace(folder / "newer.pem", chain)
        os.replace(folder / "newer.key", key)
        program.send_signal(signal.SIGHUP)
        assert eventually(lambda: certificate_of(program.port) != first), "the new certificate is not shown"
        assert "was refused" not in program.stderr(), program.stderr()
    with Sandboxed(folder, "fullstack", sets) as program:
        assert "was refused" not in program.stderr(), program.stderr()


@pytest.mark.skipif(not os.path.exists("/sys/devices/system/node/node0"), reason="this kernel knows no NUMA nodes")
def test_reactors_are_placed_by_nodes_in_the_sandbox(folder):
    """Where the kernel lists nodes they are read, and told; without them two reactors could be on two by chance."""
    with Sandboxed(folder, "fullstack", ("http.pin=true",)) as program:
        assert re.search(r"reactors on CPUs \d+ \(node \d+\)", program.stderr()), program.stderr()


def test_postgresql_and_a_unix_socket_work_in_the_sandbox(folder, postgres):
    """A far database needs connections and names; a socket's file is made, and removed at the end."""
    path = folder / "app.sock"
    sets = (f"database.url={postgres.new_database()}", f"http.listeners=[{{address: unix:{path}, owner: {USER}}}]")
    with Sandboxed(folder, "fullstack", sets) as program:
        added = httpx.post(program.url("/api/users"), json={"name": "a", "email": "a@example.org"}, timeout=20)
        assert added.status_code == 201, added.text
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as client:
            assert len(client.get("/api/users").json()["users"]) == 1
        assert "was refused" not in program.stderr(), program.stderr()
    assert not path.exists()


def certificate_of(port):
    """Return the certificate that the server shows."""
    return ssl.get_server_certificate(("127.0.0.1", port), timeout=20)


def test_a_sandboxed_program_restarts_by_its_launcher_and_else_says_what_to_set(folder, engine):
    """SIGUSR2: what starts successors is outside of the sandbox, and the successors are inside."""
    sets = (f"http.engine={engine}", "restart.spread=0s", "restart.idle=100ms")
    with Sandboxed(folder, sets=sets) as program:
        program.send_signal(signal.SIGUSR2)
        assert eventually(lambda: "set restart.launcher: true" in program.stderr()), program.stderr()
    with Lineage(Sandboxed(folder, sets=(*sets, "restart.launcher=true"))) as lineage:
        for _ in range(2):
            status = pathlib.Path(f"/proc/{lineage.restart()}/status").read_text(encoding="utf-8")
            assert re.search(r"^Seccomp:\s+2$", status, re.MULTILINE)
            assert not re.search(r"^Uid:.*\s0(\s|$)", status, re.MULTILINE), status
            assert httpx.get(lineage.first.url("/pages/index.html"), timeout=20).text == "a page"
        for each in lineage.processes[:-1]:
            lineage.wait_for_end_of(each)
        lineage.end()


def test_sandboxed_processes_of_a_restart_write_and_rotate_one_audit_log(folder, engine):
    """Locks, reads and renames are allowed to the old process and to the one that its launcher starts."""
    (folder / "key").write_text("k" * 32 + "\n", encoding="ascii")
    shutil.chown(folder / "key", USER, USER)
    sets = (f"http.engine={engine}", "audit.file=audit.jsonl", "audit.key_file=key", "audit.file_bytes_max=64KiB",
            "restart.launcher=true", "restart.idle=60s", "restart.spread=0s", "http.drain_timeout=3600s")
    each = "x" * 6000       # part of the 64 KiB
    with Lineage(Sandboxed(folder, "application_server", sets)) as lineage:
        for _ in range(2):
            kept = [Recorder(lineage.first.port) for _ in range(12)]
            for old in kept:
                assert not old.record("kept")
            before = lineage.pid
            status = pathlib.Path(f"/proc/{lineage.restart()}/status").read_text(encoding="utf-8")
            assert re.search(r"^Seccomp:\s+2$", status, re.MULTILINE)
            new = Recorder(lineage.first.port)
            for old in kept:
                assert not new.record("new" + each)
                assert old.record("old" + each), "it is not the old process"
            new.connection.close()
            lineage.wait_for_end_of(before)
        lineage.end()
        assert "was refused" not in lineage.first.stderr(), lineage.first.stderr()
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("audit.jsonl*"))
    assert len(list(folder.glob("audit.jsonl.[0-9]*"))) >= 2
    assert (text.count('"object":"new'), text.count('"object":"old'), text.count("audit.opened")) == (24, 24, 3)
    verified = verify(folder)
    assert verified.returncode == 0, verified.stderr


def test_a_program_with_a_launcher_ends_in_order_where_a_refused_call_would_end_it(folder):
    """The end of the launcher is awaited without a call that the sandbox refuses."""
    sets = ("restart.launcher=true", "process.refused_call=end", "restart.spread=0s", "restart.idle=100ms")
    with Lineage(Sandboxed(folder, sets=sets)) as lineage:
        first = lineage.pid
        lineage.restart()
        lineage.wait_for_end_of(first)      # with status 0
        lineage.end()
        assert len(stop_reports(lineage.first.stderr())) == 2, lineage.first.stderr()

# SPDX-License-Identifier: Apache-2.0
