"""hello_world_server as a program: flags, environment, the ready line, errors and exit statuses."""
import os
import pathlib
import re
import signal
import socket
import sys

import pytest

import without_io_uring
from raw_client import Reader, eventually, exchange, request
from server_process import ENGINES, PROGRAM, Server, assert_refused, free_port, run_program

WITHOUT_IO_URING = (sys.executable, str(pathlib.Path(__file__).with_name("without_io_uring.py")))


def test_help_names_every_flag_and_variable():
    """--help is complete, on standard output, exit 0."""
    result = run_program("--help")
    assert result.returncode == 0 and result.stderr == ""
    for name in ("--port", "--threads", "--engine", "--pin", "--address", "--close-after-each", "--access-log",
                 "--version", "--list-engines", "HELLO_PORT", "HELLO_THREADS", "HELLO_ENGINE", "epoll-edge",
                 "epoll-level",
                 "io_uring", "auto"):
        assert name in result.stdout, f"--help does not name {name}"


def test_version_is_one_line_with_a_number():
    """--version, exit 0."""
    result = run_program("--version")
    assert result.returncode == 0 and result.stderr == ""
    assert re.fullmatch(r"[^\n]*\b\d+\.\d+\.\d+\b[^\n]*\n", result.stdout), result.stdout


@pytest.mark.parametrize("arguments, culprit", [
    (["--no-such-flag"], "--no-such-flag"),
    (["surplus"], "surplus"),
    (["--port"], "--port"),
    (["--port", "65536"], "65536"),
    (["--port", "-1"], "-1"),
    (["--port", "http"], "http"),
    (["--port", "80x"], "80x"),
    (["--port", ""], "port"),
    (["--threads", "0"], "0"),
    (["--threads", "-2"], "-2"),
    (["--threads", "many"], "many"),
    (["--threads", "1.5"], "1.5"),
    (["--engine", "kqueue"], "kqueue"),
    (["--engine", ""], "engine"),
    (["--address", "999.1.1.1"], "999.1.1.1"),
    (["--address", "not an address"], "not an address"),
])
def test_wrong_usage_is_exit_2_and_one_line_that_names_it(arguments, culprit):
    """The line names the mistake; nothing starts."""
    assert_refused(run_program(*arguments), 2, culprit)


@pytest.mark.parametrize("name, value", [("HELLO_PORT", "http"), ("HELLO_PORT", "65536"), ("HELLO_THREADS", "0"),
                                         ("HELLO_THREADS", "x"), ("HELLO_ENGINE", "kqueue")])
def test_a_bad_variable_is_exit_2_and_names_its_value(name, value):
    """The environment is checked as flags are."""
    assert_refused(run_program(**{name: value}), 2, value)


def test_a_port_in_use_is_exit_1_and_names_the_port():
    """Another program listens there."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert_refused(run_program("--port", port), 1, port)


def test_a_port_in_use_by_another_server_of_the_same_kind_is_exit_1(engine):
    """SO_REUSEPORT, which reactors share a port with, must not let a second server in unnoticed."""
    with Server(engine=engine) as first:
        assert_refused(run_program("--port", str(first.port), "--engine", engine), 1, str(first.port))
        assert exchange(first.connect(), request()).status == 200


def test_an_address_that_is_not_ours_is_exit_1():
    """Well-formed, but of another machine."""
    assert_refused(run_program("--address", "192.0.2.1", "--port", str(free_port())), 1, "192.0.2.1")


def test_the_engines_are_listed_and_those_that_are_available_serve():
    """--list-engines is what tests and the laboratory know of engines."""
    listed = dict(line.split(" ", 1) for line in run_program("--list-engines").stdout.splitlines())
    assert tuple(listed) == ENGINES, listed
    assert all(re.match("available$|unavailable: .", said) for said in listed.values()), listed
    for engine, said in listed.items():
        if said == "available":
            with Server(engine=engine):
                pass
        else:
            assert_refused(run_program("--engine", engine), 1, engine)


def test_the_environment_sets_port_threads_and_engine():
    """HELLO_PORT, HELLO_THREADS, HELLO_ENGINE."""
    port = free_port()
    server = Server.bare(variables={"HELLO_PORT": str(port), "HELLO_THREADS": "3", "HELLO_ENGINE": "epoll-level"})
    with server:
        assert server.port == port
        server.check_ready("epoll-level", 3, server.ready["address"])
        assert exchange(server.connect(), request()).body == b"Hello, World!"


def test_flags_win_over_the_environment():
    """A flag has precedence over a variable."""
    port = free_port()
    with Server(engine="epoll-level", threads=1, port=port, variables={
            "HELLO_PORT": str(free_port()), "HELLO_THREADS": "3", "HELLO_ENGINE": "epoll-edge"}) as server:
        assert exchange(server.connect(), request()).status == 200


def test_without_flags_there_is_a_reactor_per_cpu_of_the_affinity_mask():
    """The default of --threads."""
    cpu = min(os.sched_getaffinity(0))
    mask = os.sched_getaffinity(0)
    for cpus in ({cpu}, mask):
        os.sched_setaffinity(0, cpus)
        try:
            server = Server.bare("--port", str(free_port()))
        finally:
            os.sched_setaffinity(0, mask)
        with server:
            assert int(server.ready["reactors"]) == len(cpus)


def test_engine_auto_serves_and_says_which_engine_it_chose():
    """auto picks one of the known engines."""
    with Server.bare("--port", str(free_port()), "--engine", "auto") as server:
        assert server.ready["engine"] in ENGINES
        assert exchange(server.connect(), request()).status == 200


def test_io_uring_that_is_forbidden_is_exit_1_and_says_what_forbids_it_and_what_to_do():
    """Asked for by name, the engine is not replaced in silence."""
    result = run_program("--port", str(free_port()), "--engine", "io_uring", prefix=WITHOUT_IO_URING)
    assert_refused(result, 1, "io_uring is forbidden here", "--engine epoll-edge")


def test_engine_auto_falls_back_to_epoll_where_io_uring_is_forbidden_and_says_why():
    """One line on standard error; the server serves."""
    with Server.bare("--port", str(free_port()), "--engine", "auto", prefix=WITHOUT_IO_URING) as server:
        assert server.ready["engine"] == "epoll-edge"
        assert exchange(server.connect(), request()).status == 200
        notes = re.findall(r"^.*engine auto: epoll-edge, because .*forbidden.*$", server.stderr(), re.MULTILINE)
        assert len(notes) == 1, server.stderr()


def test_pin_gives_each_reactor_a_cpu_of_its_own(engine):
    """--pin: as many threads bound to one CPU as there are reactors."""
    with Server("--pin", engine=engine, threads=1) as server:
        def cpus_of_threads():
            return [os.sched_getaffinity(int(thread)) for thread in os.listdir(f"/proc/{server.pid}/task")]
        assert eventually(lambda: any(len(cpus) == 1 for cpus in cpus_of_threads())), cpus_of_threads()
        assert exchange(server.connect(), request()).status == 200


def test_the_address_flag_chooses_where_to_listen():
    """127.0.0.2 answers there and not on 127.0.0.1."""
    port = free_port()
    with Server.bare("--port", str(port), "--address", "127.0.0.2", "--threads", "1") as server:
        server.check_ready(server.ready["engine"], 1, "127.0.0.2")
        with socket.create_connection(("127.0.0.2", port), timeout=10) as sock:
            assert exchange(sock, request()).status == 200
        with pytest.raises(ConnectionRefusedError):
            server.connect()


def test_close_after_each_closes_after_one_reply(engine):
    """--close-after-each: the reply says so, then the stream ends."""
    with Server("--close-after-each", engine=engine) as server, server.connect() as sock:
        sock.sendall(request() + request())
        reader = Reader(sock)
        assert reader.reply().fields["connection"].lower() == "close"
        assert not reader.data and reader.sock.recv(100) == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_an_idle_server(engine, number):
    """Exit 0 and the report; afterwards the port is free."""
    server = Server(engine=engine)
    with server.connect() as sock:
        assert exchange(sock, request()).status == 200
        report = server.stop(number)
    assert report
    server.kill()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", server.port))


def test_a_signal_right_after_the_ready_line_drains():
    """No window between saying ready and minding signals."""
    for _ in range(5):
        Server(threads=1).stop()


def test_the_log_goes_to_standard_error_only(server):
    """Standard output is for the ready line; whatever requests come."""
    for octets in (request(), request("/nowhere"), b"rubbish\r\n\r\n"):
        with server.connect() as sock:
            exchange(sock, octets)
    assert server.stdout.count("\n") == 1

# SPDX-License-Identifier: Apache-2.0
